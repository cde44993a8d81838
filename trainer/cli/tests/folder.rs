//! The folder in which `trisage` runs: another one than it was started in (`-C`), one that was deleted, one whose name is longer
//! than the system tells; and where it finds libtorch.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use test_support::plain;

const TRISAGE: &str = env!("CARGO_BIN_EXE_trisage");

/// Exit code, stdout and stderr.
fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// `trisage` in a folder that was deleted while it was the current one.
fn in_a_deleted_folder(line: &str) -> Command {
    let folder = tempfile::tempdir().unwrap();
    let mut command = plain("sh");
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
    command.args(["-c", script, "sh", TRISAGE]).args(line.split_whitespace());
    // The shell comes first; its folder is not needed any more when it has started.
    command.current_dir(folder.keep());
    command
}

#[test]
fn paths_are_seen_from_the_folder_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        outcome(&plain(TRISAGE).arg("-C").arg(folder.path()).args(line.split_whitespace()).output().unwrap())
    };
    let (code, _, said) = run("graph generate star:nodes=20 mine.npz");
    assert_eq!(code, Some(0), "{said}");
    assert!(folder.path().join("mine.npz").exists());
    let (code, told, said) = run("graph inspect --graph mine.npz --json");
    assert!(code == Some(0) && told.contains("20"), "{told}{said}");

    let output =
        plain(TRISAGE).args(["-C", "/no/such", "graph", "inspect", "--graph", "gen:star:nodes=5"]).output().unwrap();
    let sentence = "error: -C: /no/such: No such file or directory (os error 2)\n";
    assert_eq!(outcome(&output), (Some(2), String::new(), sentence.to_owned()));
}

/// With libtorch, its libraries have ended the process before.
#[test]
fn a_deleted_folder_is_no_reason_to_stop() {
    let (code, told, said) = outcome(&in_a_deleted_folder("graph inspect --graph gen:star:nodes=50").output().unwrap());
    assert!(code == Some(0) && told.contains("50"), "{told}{said}");

    // What is named in it is not looked for elsewhere: from /, there is an etc.
    let (code, told, said) = outcome(&in_a_deleted_folder("graph inspect --graph etc").output().unwrap());
    assert_eq!((code, &*told), (Some(2), ""), "{said}");
    assert!(said.starts_with("error: etc: ") && said.contains("No such file") && said.lines().count() == 1, "{said}");
    let (code, _, said) = outcome(&in_a_deleted_folder("graph generate star:nodes=5 g.npz").output().unwrap());
    assert!(code == Some(2) && said.starts_with("error: ") && said.lines().count() == 1, "{said}");
}

/// The system tells names of up to 4,096 bytes.
#[test]
fn nor_is_a_folder_with_a_very_long_name() {
    let folder = tempfile::tempdir().unwrap();
    let script = "\
import os, sys
for _ in range(25):
    os.mkdir(200 * 'd')
    os.chdir(200 * 'd')
os.execv(sys.argv[1], sys.argv[1:])
";
    let run = |line: &str| {
        let mut command = plain("python3");
        command.args(["-I", "-c", script, TRISAGE]).args(line.split_whitespace());
        outcome(&command.current_dir(folder.path()).output().unwrap())
    };
    let (code, told, said) = run("graph inspect --graph gen:star:nodes=50");
    assert!(code == Some(0) && told.contains("50"), "{told}{said}");
    fs::remove_dir_all(folder.path().join("d".repeat(200))).unwrap();
    // It goes back to where it was started: the file is made there.
    let (code, _, said) = run("graph generate star:nodes=5 g.txt");
    let here = Command::new("find").arg(folder.path()).args(["-name", "g.txt"]).output().unwrap();
    assert_eq!(code == Some(0), !here.stdout.is_empty(), "{said}");
    assert!(code == Some(0) || (said.starts_with("error: ") && said.lines().count() == 1), "{said}");
    assert!(!Path::new("/g.txt").exists());
}

#[cfg(feature = "torch")]
mod torch {
    use super::*;

    #[test]
    fn it_trains_in_a_deleted_folder_too() {
        let data = tempfile::tempdir().unwrap();
        crate::small_data_set(data.path());
        let line = |folder: &Path| {
            format!("train sage --data {} --fanouts 3,3 --hidden 4 --epochs 1 --batch-size 8", folder.display())
        };
        let out = data.path().join("run");
        let command = format!("{} --out {}", line(data.path()), out.display());
        let (code, _, said) = outcome(&in_a_deleted_folder(&command).env("OMP_NUM_THREADS", "1").output().unwrap());
        assert_eq!(code, Some(0), "{said}");
        assert!(out.join("history.csv").is_file());
        let (code, _, said) =
            outcome(&in_a_deleted_folder(&format!("{} --out run", line(data.path()))).output().unwrap());
        assert_eq!(code, Some(2), "{said}");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: run") && !said.contains("panicked"), "{said}");
    }

    /// Another torch's libraries in `LD_LIBRARY_PATH` come after those that the program was linked to.
    #[test]
    fn it_finds_its_own_libtorch() {
        let folder = tempfile::tempdir().unwrap();
        for library in ["libtorch_cpu.so", "libc10.so", "libtorch.so"] {
            let path = folder.path().join(library);
            let mut compile = Command::new("g++");
            compile.args(["-shared", "-x", "c++", "/dev/null", "-o"]).arg(path).arg(format!("-Wl,-soname,{library}"));
            assert!(compile.status().unwrap().success());
        }
        let output = plain(TRISAGE).arg("--version").env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
        let (code, told, said) = outcome(&output);
        assert!(code == Some(0) && told.starts_with("trisage "), "{told}{said}");
    }
}

/// Twenty nodes in a ring, with a feature and a label each.
#[cfg(feature = "torch")]
fn small_data_set(folder: &Path) {
    let array = |name: &str, kind: &str, shape: &str, bytes: Vec<u8>| {
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape},), }}");
        header += &" ".repeat((64 - (header.len() + 11) % 64) % 64);
        header.push('\n');
        let start = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        fs::write(folder.join(name), [start, bytes].concat()).unwrap();
    };
    let integers = |values: &mut dyn Iterator<Item = i64>| values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    array("indptr.npy", "<i8", "21", integers(&mut (0..21)));
    array("indices.npy", "<i8", "20", integers(&mut (0..20).map(|node| (node + 1) % 20)));
    array("features.npy", "<f4", "20, 1", (0..20u8).flat_map(|node| f32::from(node % 2).to_le_bytes()).collect());
    array("labels.npy", "<i8", "20", integers(&mut (0..20).map(|node| node % 2)));
    for (name, nodes) in [("train", 0..12), ("val", 12..16), ("test", 16..20)] {
        let mut nodes = nodes;
        let count = nodes.clone().count();
        array(&format!("{name}_idx.npy"), "<i8", &count.to_string(), integers(&mut nodes));
    }
}
