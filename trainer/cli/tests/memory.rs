//! Limits of memory on the process, as its user meets them: a sentence with exit code 2, and never a signal.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// Exit code and stderr of a command under a limit (`ulimit`) of so many kB.
fn limited(limit: &str, kibibytes: u64, line: &str) -> (Option<i32>, String) {
    let script = format!("ulimit -c 0; ulimit {limit} {kibibytes}; exec '{}' {line}", env!("CARGO_BIN_EXE_trisage"));
    let output = Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// kB that the program has before it has done anything, mapped and private.
fn base() -> (u64, u64) {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_trisage"));
    command.args(["graph", "inspect", "--graph-format", "edges", "--graph"]).arg(&pipe).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    // It has opened the pipe, too, when this is done.
    let mut arcs = File::options().write(true).open(&pipe).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let both = (value("VmSize:"), value("VmData:"));
    arcs.write_all(b"0 1\n").unwrap();
    drop(arcs);
    assert!(child.wait().unwrap().success());
    both
}

/// A file of an array whose elements are all 0 and take no room on the disk.
fn zeros(path: &Path, dtype: &str, shape: &str, bytes: u64) {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let start = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
    let mut file = File::create(path).unwrap();
    file.write_all(&start).unwrap();
    file.set_len(start.len() as u64 + bytes).unwrap();
}

#[test]
fn what_is_larger_than_a_limit_is_refused_before_it_is_made() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    // A gigabyte of indices, and of features of one node.
    zeros(&data.join("indptr.npy"), "<i8", "(2,)", 16);
    zeros(&data.join("indices.npy"), "<i4", "(268435456,)", 1 << 30);
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    zeros(&small.join("indptr.npy"), "<i8", "(2,)", 16);
    zeros(&small.join("indices.npy"), "<i4", "(0,)", 0);
    zeros(&small.join("features.npy"), "<f4", "(1, 268435456)", 1 << 30);

    let generated = format!("graph generate uniform:nodes=1000,edges=300000000 {}", at("g"));
    let cases = [
        (
            &*generated,
            "error: SPEC: gen:uniform:nodes=1000,edges=300000000,seed=0 needs about 3.6 GB of memory to be generated",
        ),
        (
            "graph inspect --graph gen:path:nodes=200000000",
            "error: --graph: gen:path:nodes=200000000 needs about 2.4 GB",
        ),
        (&format!("graph inspect --graph {}", at("data")), "indices.npy: 1.1 GB of memory are needed"),
        (&format!("dataset info {}", at("small")), "features.npy: the features take 1.1 GB of memory"),
        (
            "verify --graph gen:uniform:nodes=100000,edges=2000000 --fanouts 30,30,30 --slots 64",
            "error: --slots: 64 slots for the worst case need 4.7 GB of memory",
        ),
    ];
    let (mapped, private) = base();
    for (line, words) in cases {
        for (limit, base, name) in [
            ("-v", mapped, "the address-space limit of this process (ulimit -v) leaves "),
            ("-d", private, "the data limit of this process (ulimit -d) leaves "),
        ] {
            let (code, said) = limited(limit, base + 400_000, line);
            let last = said.lines().last().unwrap_or_default();
            assert_eq!(code, Some(2), "{limit} {line}: {said}");
            assert!(last.contains(words) && last.contains(name) && last.contains(" MB"), "{limit} {line}: {said}");
        }
    }
    assert!(!folder.path().join("g").exists());
}

#[test]
fn text_that_holds_more_than_there_is_memory_for_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.txt");
    let lines = "0 1\n".repeat(1 << 16);
    let mut file = File::create(&path).unwrap();
    // Eight million arcs of 8 bytes each.
    for _ in 0..128 {
        file.write_all(lines.as_bytes()).unwrap();
    }
    let line = format!("graph inspect --graph {}", path.display());
    let (mapped, _) = base();
    let (code, said) = limited("-v", mapped + 60_000, &line);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.starts_with(&format!("error: {}: ", path.display())), "{said}");
    assert!(
        said.contains("of memory are needed, and the address-space limit of this process (ulimit -v) leaves "),
        "{said}"
    );
    assert_eq!(limited("-v", mapped + 400_000, &line).0, Some(0));
}

/// Whatever the limit: what was looked at before is refused, and what was not ends in a sentence when it is.
#[test]
fn no_limit_ends_in_a_signal() {
    let folder = TempDir::new().unwrap();
    let (mapped, _) = base();
    let mut sentences = (0, 0);
    let line = "graph inspect --graph gen:empty:nodes=20000000";
    for more in (0..500_000).step_by(20_000) {
        match limited("-v", mapped + more, line) {
            (Some(0), said) => assert_eq!(said, "", "{more}"),
            (Some(2), said) if said.contains("to be generated") => sentences.0 += 1,
            (Some(2), said) => {
                assert!(said.starts_with("error: out of memory: ") && said.lines().count() == 1, "{more}: {said}");
                assert!(said.contains("the address-space limit of this process (ulimit -v) leaves "), "{more}: {said}");
                sentences.1 += 1;
            }
            (code, said) => panic!("{more}: {code:?}: {said}"),
        }
    }
    assert!(sentences.0 > 0 && sentences.1 > 0, "{sentences:?}");
    // What was being written is gone.
    let line = format!("graph generate empty:nodes=20000000 {}", folder.path().join("g.npz").display());
    for more in (100_000..300_000).step_by(50_000) {
        let (code, said) = limited("-v", mapped + more, &line);
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert!(code == Some(0) && left == 1 || code == Some(2) && left == 0, "{more}: {code:?}: {said}");
        let _ = fs::remove_file(folder.path().join("g.npz"));
    }
}
