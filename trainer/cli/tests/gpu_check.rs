//! `.setup/gpu_check.py --build`, with programs in place of cargo and libtorch.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

/// Has `cargo` build these programs, and puts them into `folder`.
fn build(machine: &Path, programs: &[&str], folder: &Path) -> Output {
    let cargo = machine.join("cargo");
    let messages: Vec<_> = programs
        .iter()
        .map(|name| {
            let program = machine.join(format!("built-{name}"));
            fs::write(&program, *name).unwrap();
            serde_json::json!({"target": {"name": name, "kind": ["test"]}, "executable": program}).to_string()
        })
        .collect();
    fs::write(&cargo, format!("#!/bin/sh\ncat <<'END'\n{}\nEND\n", messages.join("\n"))).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let libtorch = machine.join("libtorch");
    fs::create_dir_all(libtorch.join("lib")).unwrap();
    for part in ["libtorch_cpu.so", "libtorch_cuda.so"] {
        fs::write(libtorch.join("lib").join(part), "").unwrap();
    }
    fs::write(libtorch.join("version.py"), "__version__ = '2.11.0'\n").unwrap();
    let path = std::env::var("PATH").unwrap();
    // Tests run in the folder of their package.
    let mut command = test_support::plain("../../.setup/gpu_check.py");
    command.arg("--build").arg(folder).env("PATH", format!("{}:{path}", machine.display()));
    command.env("LIBTORCH", &libtorch).env("TRISAGE_LIBTORCH", &libtorch).output().unwrap()
}

#[test]
fn what_else_is_in_the_folder_stays() {
    let machine = tempfile::tempdir().unwrap();
    let folder = machine.path().join("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("thesis.tex"), "mine").unwrap();
    let built = build(machine.path(), &["trisage", "sage", "stranger"], &folder);
    assert!(built.status.success(), "{built:?}");
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(), ["sage", "thesis.tex", "trisage"]);
    assert_eq!(fs::read_to_string(folder.join("sage")).unwrap(), "sage");

    // Nor does a program that this build has not made.
    assert!(build(machine.path(), &["trisage"], &folder).status.success());
    assert_eq!(names(), ["thesis.tex", "trisage"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_one_sentence() {
    let machine = tempfile::tempdir().unwrap();
    let file = machine.path().join("file");
    fs::write(&file, "mine").unwrap();
    let built = build(machine.path(), &["trisage"], &file);
    let said = String::from_utf8(built.stderr).unwrap();
    assert_eq!(built.status.code(), Some(2), "{said}");
    assert_eq!(said, format!("gpu-check: the programs cannot be put into {}: File exists\n", file.display()));
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}
