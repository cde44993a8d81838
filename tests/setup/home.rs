//! A checkout that its user may not write: a sentence, or another place for everything that is written.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use setup::{Machine, files, root, stderr, stdout};

/// A file where a folder would be keeps everyone from writing there, root too.
#[test]
fn a_place_that_cannot_be_written_is_one_sentence() {
    let machine = Machine::new();
    for place in ["target", ".tools"] {
        fs::write(machine.checkout().join(place), "").unwrap();
    }
    let said = |command: &mut Command| {
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert!(!output.status.success() && machine.told().is_empty(), "{said}");
        said.lines().find(|line| line.contains(" cannot be written by ")).unwrap_or(&said).to_owned()
    };
    let checkout = machine.checkout().display().to_string();
    let sentence = |place: &str| {
        let user = stdout(&Command::new("id").arg("-un").output().unwrap());
        format!(
            "trisage: {checkout}/{place} cannot be written by {}; set TRISAGE_HOME to a folder that can, which then takes all \
             tools, programs and models in place of {checkout}.",
            user.trim()
        )
    };
    for recipe in ["build", "sim-verify", "hw-verify", "rtl-lint", "model-check", "xrt-verify"] {
        assert_eq!(said(&mut machine.just(&[recipe])), sentence("target"), "{recipe}");
    }
    for script in ["shellcheck", "nvrtc", "libclang"] {
        let script = machine.checkout().join(".setup").join(script).with_extension("sh");
        assert_eq!(said(&mut machine.command(script)), sentence(".tools"));
    }
    let elsewhere = said(machine.just(&["build"]).env("TRISAGE_HOME", "/dev/null/home"));
    assert!(elsewhere.contains("/dev/null/home/target cannot be written by "), "{elsewhere}");
    assert!(elsewhere.ends_with("; TRISAGE_HOME (/dev/null/home) has to be a folder that can."), "{elsewhere}");
    let vitis = said(machine.just(&["hw-build", "U280"]).env("PATH", "/usr/bin:/bin"));
    assert!(vitis.starts_with("trisage: ") || vitis.starts_with("hw-build: "), "{vitis}");
}

#[test]
fn another_place_takes_everything() {
    let machine = Machine::new();
    let home = machine.user().join("home");
    // Where it is looked for, as the scripts themselves put it there.
    let tool = home.join(".tools/shellcheck-0.11.0");
    fs::create_dir_all(&tool).unwrap();
    let pin = Command::new("sha256sum").arg(root().join(".setup/shellcheck.txt")).output().unwrap();
    fs::write(tool.join(".pin"), &pin.stdout[..64]).unwrap();
    fs::write(tool.join("shellcheck"), "#!/bin/sh\necho \"ours: $*\"\n").unwrap();
    fs::set_permissions(tool.join("shellcheck"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = files(&machine.checkout());

    let mut command = machine.command(machine.checkout().join(".setup/shellcheck.sh"));
    let output = command.arg("x.sh").env("TRISAGE_HOME", "home").output().unwrap();
    assert_eq!(stdout(&output), "ours: x.sh\n", "{}", stderr(&output));

    for (recipe, nobody) in [("build", false), ("rtl-lint", false), ("model-check", false), ("build", true)] {
        let mut command = machine.just(&[recipe]);
        command.env("TRISAGE_HOME", "home").env_remove("CARGO_HOME");
        if nobody {
            command.env("HOME", "/dev/null/nobody");
        }
        // Miri's toolchain is not there, and so installed.
        machine.tool("rustup", "mkdir -p \"$RUSTUP_HOME\"");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{recipe}: {}", stderr(&output));
        let told = machine.told();
        assert!(told.contains(&format!("CARGO_TARGET_DIR={}/target", home.display())), "{recipe}: {told:?}");
        let cargo_home = format!("CARGO_HOME={}/.cargo", home.display());
        assert_eq!(told.contains(&cargo_home), nobody, "{recipe}: {told:?}");
    }
    assert_eq!(files(&machine.checkout()), before, "nothing is written into the checkout");
}

#[test]
fn without_a_home_for_cargo_it_is_one_sentence() {
    let machine = Machine::new();
    let output = machine.just(&["build"]).env_remove("CARGO_HOME").env("HOME", "/dev/null/nobody").output().unwrap();
    let said = stderr(&output);
    let sentence = "trisage: cargo's folder /dev/null/nobody/.cargo cannot be made; set CARGO_HOME, or TRISAGE_HOME, which \
                    then takes that too.";
    assert_eq!((output.status.success(), said.lines().next()), (false, Some(sentence)), "{said}");
    // That there is no HOME at all is no reason to stop: cargo knows the user's.
    let output = machine.just(&["build"]).env_remove("HOME").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_python_without_pip_is_one_sentence() {
    let machine = Machine::new();
    machine.tool("python3", "echo No module named pip >&2; exit 1");
    let output = machine.command(machine.checkout().join(".setup/shellcheck.sh")).output().unwrap();
    let sentence = "trisage: Python's pip is missing; install it first (Debian: apt-get install python3-pip).\n";
    assert_eq!((output.status.success(), &*stderr(&output)), (false, sentence));
}
