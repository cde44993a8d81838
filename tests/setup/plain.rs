//! What is read as text is the same whether or not the user has asked for colours.

use std::{fs, path::Path};

use setup::{root, stdout};

/// What `.setup/cargo_test.sh` repeats at the end of a run that fails.
fn repeated(crate_: &Path, target: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = test_support::plain(root().join(".setup/cargo_test.sh"));
    command.args(arguments).current_dir(crate_).env("CARGO_TARGET_DIR", target).env_remove("NO_COLOR");
    // Of the cargo that runs this test, for this package.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CARGO_PKG")) {
        command.env_remove(name);
    }
    let output = command.env_remove("RUST_BACKTRACE").envs(environment.iter().copied()).output().unwrap();
    assert!(!output.status.success());
    let said = stdout(&output);
    said.split_once("\n== what has failed, once more\n").unwrap_or_else(|| panic!("{said}")).1.to_owned()
}

#[test]
fn a_summary_of_tests_does_not_depend_on_colours() {
    let folder = tempfile::tempdir().unwrap();
    let (crate_, target) = (folder.path(), folder.path().join("target"));
    fs::create_dir(crate_.join("src")).unwrap();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(crate_.join("Cargo.toml"), manifest).unwrap();
    let failing = "#[test]\nfn it_fails() { assert!(false, \"as it has to\") }\n";
    for (text, line) in
        [("fn broken( {}\n", "error: could not compile `tiny`"), (failing, "test result: FAILED. 0 passed")]
    {
        fs::write(crate_.join("src/lib.rs"), text).unwrap();
        let without = repeated(crate_, &target, &[("CARGO_TERM_COLOR", "never")], &[]);
        assert!(without.contains(line), "{without}");
        assert!(line.starts_with("error") || without.contains("     Running unittests src/lib.rs"), "{without}");
        let with = [("CARGO_TERM_COLOR", "always"), ("CLICOLOR_FORCE", "1"), ("FORCE_COLOR", "1")];
        let clean = |said: String| {
            // How long it took, and the number of a thread, differ from run to run;
            let lines = said.lines().map(|line| line.split("; finished in").next().unwrap_or_default());
            let mut lines: Vec<_> = lines.filter(|line| !line.contains("panicked at")).map(str::to_owned).collect();
            lines.sort(); // and so does which of two compilations fails first
            lines
        };
        let without = clean(without);
        assert_eq!(clean(repeated(crate_, &target, &with, &[])), without);
        assert_eq!(clean(repeated(crate_, &target, &with, &["--", "--color", "always"])), without);
    }
}
