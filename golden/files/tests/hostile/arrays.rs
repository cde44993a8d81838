//! Folders of arrays, and matrices of `SciPy`.

use std::fs;

use golden::{NodeId, Silent};
use golden_files::read;
use tempfile::TempDir;

use super::{PLAIN, folder_refusal, gzip, int32, int64, npy, npy_of, npz, read_with, refusal};

/// What is wrong with `indptr.npy` if it has this content.
fn indptr_refusal(bytes: Vec<u8>) -> String {
    let text = folder_refusal(&[("indptr.npy", bytes), ("indices.npy", int32(&[0, 1]))]);
    text.strip_prefix("indptr.npy: ").unwrap().to_owned()
}

#[test]
fn folders_of_arrays() {
    let good = int64(&[0, 1, 2]);
    let lacks = |array: &str| {
        format!(
            ": the folder has no {array}.npy, nor one with .gz, .bz2, .xz or .zst; a graph folder holds indptr and indices"
        )
    };
    assert_eq!(folder_refusal(&[]), lacks("indptr"));
    assert_eq!(folder_refusal(&[("indptr.npy", good.clone())]), lacks("indices"));
    assert_eq!(
        folder_refusal(&[("indptr.npy", good.clone()), ("indptr.npy.gz", gzip(&good))]),
        ": the folder has indptr.npy and indptr.npy.gz; keep one of the two"
    );
    let graph = |indptr, indices| folder_refusal(&[("indptr.npy", indptr), ("indices.npy", indices)]);
    let cases = [
        (int64(&[0, 2, 1]), int32(&[0]), ": indptr falls from 2 to 1 at node 1; it must never fall"),
        (int64(&[1, 2]), int32(&[0]), ": indptr[0] is 1; it must be 0"),
        (int64(&[0, 1, 3]), int32(&[0, 1]), ": indptr ends at 3, but indices has 2 entries; the two must be equal"),
        (int64(&[]), int32(&[]), ": indptr is empty; a graph of N nodes needs N + 1 entries"),
        (good.clone(), int32(&[0, 2]), "indices.npy: element 1 is 2; accepted are 0 to 1"),
        (good.clone(), int32(&[-1, 0]), "indices.npy: element 0 is -1; accepted are 0 to 1"),
        (good.clone(), int64(&[0, 1 << 32]), "indices.npy: element 1 is 4294967296; accepted are 0 to 1"),
        (int64(&[0, -5]), int32(&[]), "indptr.npy: element 1 is -5; accepted are 0 to 2147483647"),
        (
            npy("<u8", "(1,)", &[255; 8]),
            int32(&[]),
            "indptr.npy: element 0 is 18446744073709551615; accepted are 0 to 2147483647",
        ),
    ];
    for (indptr, indices, sentence) in cases {
        assert_eq!(graph(indptr, indices), sentence);
    }
}

#[test]
fn npy_files() {
    let accepted = "accepted are '<i4', '<i8', '<u4' and '<u8' (int32, int64, uint32 and uint64, little-endian)";
    let dictionary = "it must be a dictionary of descr, fortran_order and shape for a plain array";
    let brackets = "[".repeat(60_000);
    let cases = [
        (vec![], "the file ends at byte 0, but the .npy header needs at least 10".to_owned()),
        (
            b"\x93NUMPY\x01\x00\x76".to_vec(),
            "the file ends at byte 9, but the length of the .npy header is missing".into(),
        ),
        (b"\x93NUMPY\x01\x00\x76\x00{".to_vec(), "the file ends at byte 11, but the .npy header goes on".into()),
        (
            b"0 1\n1 2\n2 3\n".to_vec(),
            r#"this is not a .npy file; it starts with "0 1\n1 2\n", not with "\x93NUMPY""#.into(),
        ),
        (b"\x93NUMPY\x09\x01\x00\x00".to_vec(), "the .npy version is 9.1; accepted are 1.0, 2.0 and 3.0".into()),
        (npy_of(&brackets[..9], &[]), format!(r#"the .npy header is "[[[[[[[[["; {dictionary}"#)),
        (npy_of(&brackets, &[]), format!(r#"the .npy header is "60000 bytes long"; {dictionary}"#)),
        (
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(),
            format!(r#"the .npy header is "4294967295 bytes long"; {dictionary}"#),
        ),
        (npy("<f4", "(2,)", &[0; 8]), format!(r#"the dtype is "<f4"; {accepted}"#)),
        (npy(">i4", "(2,)", &[0; 8]), format!(r#"the dtype is ">i4"; {accepted}"#)),
        (npy("<i4", "(1, 2)", &[0; 8]), "the array has 2 dimensions [1, 2]; it must have 1".into()),
        (npy("<i4", "()", &[0; 4]), "the array has 0 dimensions []; it must have 1".into()),
        (
            npy_of("{'descr': '<i4', 'fortran_order': True, 'shape': (1, 2)}", &[0; 8]),
            "the array has 2 dimensions [1, 2] in Fortran order; it must have 1".into(),
        ),
        (
            npy("<i4", "(4,)", &[0; 8]),
            "the file ends at byte 76, but its header states 4 elements, 16 bytes of data".into(),
        ),
        (
            npy("<i8", "(2000000000,)", &[0; 8]),
            "the file ends at byte 85, but its header states 2000000000 elements, 16000000000 bytes of data".into(),
        ),
        (
            npy("<i8", "(18446744073709551615,)", &[0; 8]),
            "the array has 18446744073709551615 elements; it must have at most 2147483648".into(),
        ),
        (
            npy("<i4", "(1,)", &[0; 8]),
            "there is data after the last of 1 elements, from byte 72 on; the file must end there".into(),
        ),
    ];
    for (bytes, sentence) in cases {
        assert_eq!(indptr_refusal(bytes), sentence);
    }
}

#[test]
fn compressed_files() {
    let damaged = |bytes: Vec<u8>| folder_refusal(&[("indptr.npy.gz", bytes)]);
    let whole = gzip(&int64(&(0..5000).map(|v| v * v % 977).collect::<Vec<_>>()));
    let cases = [
        whole[..whole.len() / 2].to_vec(),
        whole[..whole.len() - 4].to_vec(),
        [&whole[..whole.len() - 8], &[1; 8]].concat(),
        [&whole[..], b"more"].concat(),
        whole[..3].to_vec(),
    ];
    for bytes in cases {
        let text = damaged(bytes);
        assert!(text.starts_with("indptr.npy.gz: the compressed data is damaged after "), "{text}");
    }
    for name in ["a.txt.gz", "a.txt"] {
        let text = refusal(name, &gzip(b"0 1\n1 2\n")[..20]);
        assert!(text.starts_with(&format!("{name}: the compressed data is damaged after ")), "{text}");
    }
    // What is not compressed is not damaged, whatever it is called.
    assert_eq!(
        folder_refusal(&[("indptr.npy.gz", b"not gzip at all".to_vec())]),
        r#"indptr.npy.gz: this is not a .npy file; it starts with "not gzip", not with "\x93NUMPY""#
    );
    let plain = [("indptr.npy.xz", int64(&[0, 1])), ("indices.npy.zst", int32(&[0]))];
    let folder = TempDir::new().unwrap();
    plain.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    assert_eq!(read::graph(folder.path(), &PLAIN, &Silent).unwrap().edges(), 1);
}

#[test]
fn compressed_text() {
    let text = b"0 1\n1 2\n";
    let zeros = [&gzip(text)[..], &[0; 700]].concat();
    let twice = [gzip(text), gzip(b"2 0\n")].concat();
    for (bytes, edges) in [(text.to_vec(), 2), (gzip(text), 2), (zeros, 2), (twice, 3)] {
        for name in ["a.txt", "a.txt.gz", "a.txt.bz2", "a.txt.xz", "a.edges.zst"] {
            assert_eq!(read_with(name, &bytes, &PLAIN).unwrap().edges(), edges, "{name}");
        }
    }
    for short in [&b""[..], b"\x1f", b"B", b"\xfd", b"(", b"\0"] {
        refusal("a.txt.gz", short);
    }
    // Far more content than file: refused where the first line does not end.
    let bomb = gzip(&vec![b'1'; 1 << 26]);
    assert!(bomb.len() < 1 << 17);
    assert_eq!(refusal("a.txt", &bomb), "a.txt: line 1 is longer than 65536 bytes; no line may be");

    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"a.mtx");
    let sum: u32 = tar[..512].iter().map(|byte| u32::from(*byte)).sum::<u32>() + 8 * 32;
    tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let only = "unpack it, and give the file that is in it (gzip, bzip2, xz and zstd around one file are read)";
    for (bytes, what) in [
        (npz(&[("a.txt", text.to_vec())]), "a zip archive"),
        (npz(&[]), "a zip archive"),
        (tar.clone(), "a tar archive"),
        (gzip(&tar), "a tar archive inside gzip"),
        (gzip(&gzip(text)), "gzip inside gzip"),
        (gzip(&npz(&[])), "a zip archive inside gzip"),
        (b"7z\xbc\xaf\x27\x1c\0\0".to_vec(), "a 7z archive"),
        (b"\x04\x22\x4d\x18\0".to_vec(), "an lz4 file"),
    ] {
        for name in ["a.txt", "a.mtx.gz", "a.graph"] {
            assert_eq!(refusal(name, &bytes), format!("{name}: this is {what}; {only}"));
        }
    }
    let packed = gzip(&npz(&[]));
    assert_eq!(
        refusal("a.npz", &packed),
        "a.npz: this is gzip, and an .npz is a zip file, compressed in itself; unpack what is around it"
    );
}

#[test]
fn scipy_matrices() {
    let word = |text: &str| npy(&format!("|S{}", text.len()), "()", text.as_bytes());
    let members = |layout: &str, shape: &[i64], indptr: &[i32]| {
        npz(&[
            ("format.npy", word(layout)),
            ("shape.npy", int64(shape)),
            ("indptr.npy", int32(indptr)),
            ("indices.npy", int32(&[1, 0])),
        ])
    };
    let good = members("csc", &[2, 2], &[0, 1, 2]);
    assert_eq!(read_with("a.npz", &good, &PLAIN).unwrap().indices(), [1, 0].map(NodeId::new));

    // (row 0, columns 1 and 0), so both arcs are out of node 0.
    let rows = read_with("a.npz", &members("csr", &[2, 2], &[0, 2, 2]), &PLAIN).unwrap();
    assert_eq!((rows.indptr(), rows.indices()), (&[0, 1, 2][..], &[0, 0].map(NodeId::new)[..]));

    let coordinates = |nodes: i64, rows: &[i32], columns: &[i32]| {
        let shape = ("shape.npy", int64(&[nodes; 2]));
        npz(&[("format.npy", word("coo")), shape, ("row.npy", int32(rows)), ("col.npy", int32(columns))])
    };
    let entries = read_with("a.npz", &coordinates(3, &[2, 0, 2], &[1, 1, 0]), &PLAIN).unwrap();
    assert_eq!((entries.indptr(), entries.indices()), (&[0, 1, 3, 3][..], &[2, 2, 0].map(NodeId::new)[..]));
    assert_eq!(read_with("a.npz", &coordinates(0, &[], &[]), &PLAIN).unwrap().nodes(), 0);

    let unicode = npy("<U3", "()", &"csc".bytes().flat_map(|b| [b, 0, 0, 0]).collect::<Vec<_>>());
    let unicode = [("format.npy", unicode), ("shape.npy", int64(&[0, 0])), ("indptr.npy", int32(&[0]))];
    let empty = npz(&[&unicode[..], &[("indices.npy", int32(&[]))]].concat());
    assert_eq!(read_with("a.npz", &empty, &PLAIN).unwrap().nodes(), 0);

    let has = "a SciPy sparse matrix has format, shape, and indptr and indices or row and col";
    let cases = [
        (npz(&[]), format!("the .npz has no array 'format', but []; {has}")),
        (npz(&[("x.npy", vec![])]), format!(r#"the .npz has no array 'format', but ["x.npy"]; {has}"#)),
        (
            members("dia", &[2, 2], &[0, 1, 2]),
            r#"the sparse matrix has format "dia"; accepted are "csc", "csr" and "coo""#.into(),
        ),
        (
            members("csc", &[2, 3], &[0, 1, 2]),
            "the matrix has 2 rows and 3 columns; the adjacency of a graph is square".into(),
        ),
        (
            members("csc", &[3, 3], &[0, 1, 2]),
            "indptr has 3 elements, but shape says 3 nodes; there must be one more than nodes".into(),
        ),
        (coordinates(3, &[2, 0], &[1]), "row has 2 elements, but col has 1; each entry has one of both".into()),
        (members("csc", &[2, 2], &[0, 2, 1]), "indptr falls from 2 to 1 at node 1; it must never fall".into()),
    ];
    for (bytes, sentence) in cases {
        assert_eq!(refusal("a.npz", &bytes), format!("a.npz: {sentence}"));
    }
    assert_eq!(
        refusal("a.npz", &members("csc", &[2], &[0, 1, 2])),
        "a.npz/shape.npy: the array has 1 elements; it must have 2, rows and columns"
    );
    assert_eq!(
        refusal("a.npz", &coordinates(3, &[2, 3], &[1, 1])),
        "a.npz/row.npy: element 1 is 3; accepted are 0 to 2"
    );
    assert_eq!(
        refusal("a.npz", &coordinates(0, &[0], &[0])),
        "a.npz/row.npy: the array has 1 elements; it must have none: shape says 0 nodes"
    );
    assert_eq!(
        refusal("a.npz", &members("csc", &[1, 1], &[0, 2])),
        "a.npz/indices.npy: element 0 is 1; accepted are 0 to 0"
    );
    assert_eq!(
        refusal("a.npz", &npz(&[("format.npy", int32(&[1]))])),
        "a.npz/format.npy: the dtype is \"<i4\"; accepted are '|S3' and '<U3' (a word)"
    );
    for bytes in [&[][..], b"PK", &good[..good.len() / 2]] {
        let text = refusal("a.npz", bytes);
        assert!(text.starts_with("a.npz: the .npz cannot be read as a zip file: "), "{text}");
    }
}
