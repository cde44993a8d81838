//! `features.pt`. The files in `pt/` are made by `pt/make.py`.

use dataset::NO_LABEL;

use super::{Files, Load, graph, x, zip};

fn folder(pt: &[u8]) -> Files {
    Files::new(graph().into_iter().chain([("features.pt", pt.to_vec())]))
}

pub(super) const PLAIN: &[u8] = include_bytes!("pt/plain.pt");

#[test]
fn what_torch_saves() {
    let cases = [
        (PLAIN, vec![0, 2, 1, NO_LABEL], 5),
        (include_bytes!("pt/strided.pt"), vec![0, 2, 1, 0], 3),
        (include_bytes!("pt/small.pt"), vec![0, 2, 1, 0], 3),
        (include_bytes!("pt/shared.pt"), vec![0, 1, 2, 0], 3),
    ];
    for (pt, labels, classes) in cases {
        let files = folder(pt);
        let dataset = files.load().unwrap();
        assert_eq!((dataset.labels, dataset.classes), (labels, classes));
        assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x());
    }
}

/// A `features.pt` of this pickle, with one storage of twelve elements of float32.
pub(super) fn pt(pickle: &[u8]) -> Vec<u8> {
    let data = x().into_iter().flat_map(f32::to_le_bytes).collect();
    zip(&[("a/data.pkl", pickle.to_vec()), ("a/byteorder", b"little".to_vec()), ("a/data/0", data)])
}

/// The pickle of `{"x": tensor}`, its storage and the rest of it as these opcodes.
pub(super) fn tensor(storage: &[u8], rest: &[u8]) -> Vec<u8> {
    let name = b"\x80\x02}X\x01\x00\x00\x00xctorch._utils\n_rebuild_tensor_v2\n(";
    [name, storage, rest, b"tRs."].concat()
}

/// The pickle of a tensor alone.
pub(super) fn alone(class: &str, elements: u8, rest: &[u8]) -> Vec<u8> {
    [b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(", &storage(class, elements)[..], rest, HOOKS, b"tR."].concat()
}

/// A storage with key 0 and so many elements.
pub(super) fn storage(class: &str, elements: u8) -> Vec<u8> {
    let id = b"(X\x07\x00\x00\x00storagec";
    let rest = b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK";
    [id, class.as_bytes(), rest, &[elements], b"tQ"].concat()
}

const HOOKS: &[u8] = b"\x89ccollections\nOrderedDict\n)R";

fn rest(opcodes: &[u8]) -> Vec<u8> {
    [opcodes, HOOKS].concat()
}

#[test]
fn pickles_by_hand() {
    let float = storage("torch\nFloatStorage", 12);
    let load = |pickle: Vec<u8>| folder(&pt(&pickle)).load();
    let dataset = load(tensor(&float, &rest(b"K\x00K\x04K\x03\x86K\x03K\x01\x86"))).unwrap();
    assert_eq!(dataset.features.dense("x".as_ref()).unwrap().values(), x());
    // Words and other numbers beside it are named.
    let mut with_words = tensor(&float, &rest(b"K\x00K\x04K\x03\x86K\x03K\x01\x86"));
    with_words.pop();
    with_words.extend(b"X\x04\x00\x00\x00nameX\x04\x00\x00\x00coras");
    with_words.extend(b"X\x01\x00\x00\x00pG?\xe0\x00\x00\x00\x00\x00\x00sX\x01\x00\x00\x00bNs.");
    assert_eq!(load(with_words).unwrap().unread.to_string(), "features.pt/b, features.pt/name, features.pt/p");
    // Overlapping rows; a stride of 0.
    let dataset = load(tensor(&float, &rest(b"K\x02K\x04K\x03\x86K\x00K\x01\x86"))).unwrap();
    assert_eq!(dataset.features.dense("x".as_ref()).unwrap().values(), [0.0, 0.5, 1.0].repeat(4));
}

#[test]
fn what_torch_does_not_save() {
    let save = "save the arrays instead, for example with numpy.savez('data.npz', edge_index=..., x=..., y=..., \
                train_mask=..., val_mask=..., test_mask=...), and import that file; objects will be taken by the Python \
                module, which is planned";
    let end = format!(
        "accepted is what torch.save makes of a tensor, or of a dict of tensors, numbers and words; of anything else {save}"
    );
    for (pickle, name) in [
        (&b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00lstR."[..], "os.system"),
        (b"\x80\x02c__builtin__\neval\n", "__builtin__.eval"),
        (b"\x80\x02ctorch._utils\n_rebuild_parameter\n", "torch._utils._rebuild_parameter"),
        (b"\x80\x02ctorch_geometric.data.data\nData\nq\x00)\x81q\x01.", "torch_geometric.data.data.Data"),
        (b"\x80\x02}X\x01\x00\x00\x00xcnumpy.core.multiarray\n_reconstruct\n", "numpy.core.multiarray._reconstruct"),
        (
            &tensor(&storage("torch\nComplexFloatStorage", 12), &rest(b"K\x00K\x04K\x03\x86K\x03K\x01\x86")),
            "torch.ComplexFloatStorage",
        ),
    ] {
        let expected = format!("features.pt: this is a Python object, {name}, which only Python reads; {save}");
        assert_eq!(folder(&pt(pickle)).refusal(), expected);
    }
    let float = || storage("torch\nFloatStorage", 12);
    let number = |length: u8| [&b"\x80\x02}X\x01\x00\x00\x00y\x8a"[..], &[length], &[1; 9], b"s."].concat();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"\x80\x04\x95".to_vec(), "there is no pickle of protocol 2 at byte 0"),
        (b"\x80\x02}\x93.".to_vec(), "there is opcode 0x93 at byte 3"),
        (b"\x80\x02".to_vec(), "the pickle ends at byte 2"),
        (b"\x80\x02}".to_vec(), "the pickle ends at byte 3"),
        (b"\x80\x02X\xff\xff\xff\xffa".to_vec(), "the pickle ends at byte 2"),
        (b"\x80\x02)R.".to_vec(), "there are too few values for an opcode at byte 3"),
        (b"\x80\x02N)R.".to_vec(), "None is called at byte 4"),
        (b"\x80\x02h\x05.".to_vec(), "there is no value 5 to take again at byte 2"),
        (b"\x80\x02u.".to_vec(), "a mark is missing at byte 2"),
        (b"\x80\x02}(K\x01s.".to_vec(), "there are too few values for an opcode at byte 6"),
        (b"\x80\x02}K\x01K\x02s.".to_vec(), "there is a dict from an int to an int at byte 7"),
        (b"\x80\x02}(X\x01\x00\x00\x00yu.".to_vec(), "a dict has a key without a value at byte 10"),
        (b"\x80\x02}X\x01\x00\x00\x00y}s.".to_vec(), "there is a dict in a dict at byte 9"),
        (b"\x80\x02}X\x01\x00\x00\x00yK\x01sX\x01\x00\x00\x00yK\x01s.".to_vec(), "there is \"y\" twice at byte 20"),
        (number(9), "there is an int of 9 bytes at byte 9"),
        (b"\x80\x02N.".to_vec(), "None is at the end, not one tensor or dict alone at byte 3"),
        (b"\x80\x02)\x85\x85\x85.".to_vec(), "there is a tuple of tuples of tuples, or one with a dict at byte 4"),
        (b"\x80\x02K\x01Q.".to_vec(), "there is a persistent id of something else than a storage at byte 4"),
        (
            tensor(&float(), &rest(b"K\x00K\x04K\x03\x86J\xfd\xff\xff\xffK\x01\x86")),
            "there is a tensor with the stride -3 at byte 134",
        ),
        (
            tensor(&float(), &rest(b"K\x00J\xff\xff\xff\xffK\x03\x86K\x03K\x01\x86")),
            "there is a tensor with the extent -1 at byte 134",
        ),
        (
            tensor(&float(), &rest(b"J\xff\xff\xff\xffK\x04K\x03\x86K\x03K\x01\x86")),
            "there is a tensor with the offset -1 at byte 134",
        ),
        (
            tensor(&float(), &rest(b"K\x00K\x04K\x03\x86K\x01\x85")),
            "there is a tensor of 2 extents and 1 strides at byte 128",
        ),
    ];
    for (pickle, found) in cases {
        let refusal = folder(&pt(&pickle)).refusal();
        let (sentence, accepted) = refusal.split_once("; ").unwrap();
        let sentence = sentence.strip_prefix("features.pt: ").unwrap();
        // The places of what lies behind a tensor are not counted by hand.
        let without = |text: &str| text.rsplit_once(" at byte ").map(|(what, _)| what.to_owned());
        if found.contains("tensor") {
            assert_eq!(without(sentence), without(found));
        } else {
            assert_eq!(sentence.strip_suffix(" of data.pkl"), Some(found));
        }
        assert_eq!(accepted, end);
    }
}

#[test]
fn tensors_that_are_no_features() {
    let float = || storage("torch\nFloatStorage", 12);
    let refusal = |pickle: Vec<u8>| folder(&pt(&pickle)).refusal();
    assert_eq!(
        refusal(tensor(&float(), &rest(b"K\x01K\x04K\x03\x86K\x03K\x01\x86"))),
        "features.pt/x: a tensor needs element 12 of storage \"0\", which has 12"
    );
    assert_eq!(
        refusal(tensor(&float(), &rest(b"K\x00K\x03K\x04\x86K\x04K\x01\x86"))),
        "features.pt/x: the features have the extents [3, 4]; accepted is [4, any number], a row for each node of the graph (these look \
         transposed)"
    );
    assert_eq!(
        refusal(tensor(&storage("torch\nFloatStorage", 13), &rest(b"K\x00K\x04K\x03\x86K\x03K\x01\x86"))),
        "features.pt/a/data/0: the file ends at byte 48, but data.pkl states 13 elements, 52 bytes"
    );
    assert_eq!(
        refusal(tensor(&storage("torch\nHalfStorage", 12), &rest(b"K\x00K\x04K\x03\x86K\x03K\x01\x86"))),
        "features.pt/a/data/0: there is data after the last of 12 elements, from byte 24 on; the file must end there"
    );
    assert_eq!(
        refusal(b"\x80\x02}X\x01\x00\x00\x00xK\x01s.".to_vec()),
        "features.pt/x: the features have the extents []; accepted is [4, any number], a row for each node of the graph"
    );
    assert_eq!(
        refusal(b"\x80\x02}X\x01\x00\x00\x00xX\x04\x00\x00\x00coras.".to_vec()),
        "features.pt/x: the elements are of type a string; accepted are numbers"
    );
    // A row of 2^40 elements, all of them the same.
    let wide = rest(b"K\x00K\x04\x8a\x06\x00\x00\x00\x00\x00\x01\x86K\x00K\x00\x86");
    assert!(refusal(tensor(&float(), &wide)).contains("the features have the extents [4, 1099511627776]"));
    // As many as may be: 32 GB, or all this machine has.
    let wide = rest(b"K\x00K\x04J\xff\xff\xff\x7f\x86K\x00K\x00\x86");
    let found = refusal(tensor(&float(), &wide));
    assert!(found.starts_with("features.pt/x: the features take 34.4 GB of memory"), "{found}");
}

#[test]
fn archives_that_torch_does_not_write() {
    let accepted = "accepted is the zip file that torch 1.6 and newer write";
    let start = "features.pt: cannot be read as what torch.save writes: ";
    let refusal = |bytes: &[u8]| folder(bytes).refusal();
    let pickle = || ("a/data.pkl", b"\x80\x02}.".to_vec());
    assert_eq!(refusal(&zip(&[])), format!("{start}it has not one data.pkl; {accepted}"));
    assert_eq!(
        refusal(&zip(&[pickle(), ("b/data.pkl", vec![])])),
        format!("{start}it has not one data.pkl; {accepted}")
    );
    assert_eq!(
        refusal(&zip(&[pickle(), ("a/byteorder", b"big".to_vec())])),
        format!("{start}its byteorder is not 'little'; {accepted}")
    );
    assert_eq!(
        refusal(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02"),
        format!("{start}it is a file of torch before 1.6; {accepted}")
    );
    assert!(
        refusal(b"\x80\x04\x95").starts_with("features.pt: this is a pickled Python object, which only Python reads; ")
    );
    assert_eq!(
        refusal(&zip(&[("a/data.pkl", vec![b')'; 1 << 17])])),
        format!("{start}data.pkl has more than 65536 bytes; {accepted}")
    );
    for cut in [0, 10, PLAIN.len() / 2, PLAIN.len() - 1] {
        let found = refusal(&PLAIN[..cut]);
        assert!(found.starts_with(start) && found.ends_with(accepted), "{cut}: {found}");
    }
    // An element that is changed after its checksum was made.
    let mut damaged = PLAIN.to_vec();
    let place = damaged.windows(4).position(|bytes| bytes == 4.5f32.to_le_bytes()).unwrap();
    damaged[place] ^= 1;
    let found = refusal(&damaged);
    assert!(found.starts_with("features.pt/plain/data/0: the compressed data is damaged after 48 bytes"), "{found}");
}
