//! The scripts themselves.

use std::{fs, path::PathBuf};

use setup::{root, stdout};

/// All scripts of the project.
fn scripts() -> Vec<PathBuf> {
    let folders = [root().join(".setup"), root().join("hw/vitis")];
    let found = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let shell = found.filter(|path| path.extension().is_some_and(|end| end == "sh"));
    shell.chain([root().join("just"), root().join(".ci/run")]).collect()
}

#[test]
fn shellcheck_finds_nothing() {
    let check = |scripts: &[PathBuf]| {
        test_support::plain(root().join(".setup/shellcheck.sh"))
            .arg("--external-sources")
            .args(scripts)
            .output()
            .unwrap()
    };
    let all = scripts();
    assert!(all.len() > 10, "{all:?}");
    let output = check(&all);
    assert!(output.status.success(), "{}", stdout(&output));
    // It can fail.
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.sh");
    fs::write(&bad, "#!/usr/bin/env bash\nrm -rf $1\n").unwrap();
    assert!(!check(&[bad]).status.success());
}

/// With -p, bash runs nothing of the user's before the script: no `BASH_ENV`, and no exported functions.
#[test]
fn every_script_begins_without_the_users_shell() {
    for script in scripts().iter().filter(|path| !path.ends_with("common.sh") && !path.ends_with("environment.sh")) {
        let text = fs::read_to_string(script).unwrap();
        assert!(text.starts_with("#!/usr/bin/env -S bash -p\n"), "{}", script.display());
    }
}
