//! Wheels are the pinned ones whatever pip is told elsewhere; but where it fetches them from, its user says.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use setup::{Machine, stderr};

/// Makes a wheel, without pip, and a file that pins it; returns the name of the wheel.
fn make_wheel(folder: &Path, pins: &Path) {
    let script = "\
import hashlib, sys, zipfile
folder, pins = sys.argv[1:]
wheel = folder + '/trisage_toy-1.0-py3-none-any.whl'
with zipfile.ZipFile(wheel, 'w') as archive:
    archive.writestr('toy/tool', 'the tool')
    archive.writestr('trisage_toy-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: trisage-toy\\nVersion: 1.0\\n')
    archive.writestr('trisage_toy-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    archive.writestr('trisage_toy-1.0.dist-info/RECORD', '')
digest = hashlib.sha256(open(wheel, 'rb').read()).hexdigest()
open(pins, 'w').write(f'trisage-toy==1.0 --hash=sha256:{digest}\\n')
";
    fs::create_dir_all(folder).unwrap();
    assert!(Command::new("python3").args(["-I", "-c", script]).args([folder, pins]).status().unwrap().success());
}

/// Has the scripts fetch the wheel from the user's folder `wheels`.
fn fetch(machine: &Machine, change: impl FnOnce(&mut Command)) -> Output {
    let (wheels, pins) = (machine.user().join("wheels"), machine.path("toy.txt"));
    make_wheel(&wheels, &pins);
    let script = "set -euo pipefail; source \"$1/.setup/common.sh\"; mkdir -p \"$tools\"; make_tmp
                  fetch_wheel \"$2\" \"$3\"";
    let mut command = machine.command("bash");
    command.args(["-p", "-c", script, "bash"]).arg(machine.checkout()).arg(pins).arg(machine.path("unpacked"));
    // The machine's own settings.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"PIP_")) {
        command.env_remove(name);
    }
    command.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", "wheels");
    change(&mut command);
    command.output().unwrap()
}

fn is_fetched(machine: &Machine, output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
    let tool = machine.path("unpacked/toy/tool");
    assert_eq!(fs::read_to_string(&tool).unwrap(), "the tool");
    fs::remove_file(tool).unwrap();
}

#[test]
fn variables_for_other_installations_change_nothing() {
    let machine = Machine::new();
    fs::write(machine.path("constraint.txt"), "trisage-toy==2.0\n").unwrap();
    let output = fetch(&machine, |command| {
        command.env("PIP_CONSTRAINT", machine.path("constraint.txt"));
        for (name, value) in [
            ("USER", "1"),
            ("TARGET", "/nowhere"),
            ("PREFIX", "/nowhere"),
            ("ROOT", "/nowhere"),
            ("SRC", "/nowhere"),
            ("REQUIREMENT", "/nowhere/requirements.txt"),
            ("REQUIRE_VIRTUALENV", "1"),
            ("NO_BINARY", ":all:"),
            ("PLATFORM", "win32"),
            ("PYTHON_VERSION", "2.7"),
            ("ABI", "none"),
            ("PYTHON", "/nowhere/python"),
            ("DEST", "/nowhere"),
            ("QUIET", "3"),
            ("LOG", "/nowhere/log"),
        ] {
            command.env(format!("PIP_{name}"), value);
        }
    });
    is_fetched(&machine, &output);
}

#[test]
fn files_of_configuration_say_where_from_and_nothing_else() {
    let machine = Machine::new();
    let config = machine.path("pip.conf");
    let links = machine.user().join("wheels");
    fs::write(machine.path("constraint.txt"), "trisage-toy==2.0\n").unwrap();
    let constraint = machine.path("constraint.txt");
    let text = format!(
        "[global]\nquiet = 2\nrequire-virtualenv = true\nconstraint = {}\nno-index = true\nfind-links = /nowhere\n\
         [download]\nfind-links =\n  /elsewhere\n  {}\nplatform = win32\n[install]\nuser = true\n",
        constraint.display(),
        links.display()
    );
    fs::write(&config, text).unwrap();
    let output = fetch(&machine, |command| {
        command.env_remove("PIP_NO_INDEX").env_remove("PIP_FIND_LINKS").env("PIP_CONFIG_FILE", &config);
    });
    is_fetched(&machine, &output);
    // A variable says more than a file, and its relative paths are seen from the user's folder.
    fs::write(&config, "[global]\nfind-links = /nowhere\nno-index = 1\n").unwrap();
    let output = fetch(&machine, |command| {
        command.env_remove("PIP_NO_INDEX").env("PIP_CONFIG_FILE", &config);
    });
    is_fetched(&machine, &output);
    // Without it, the file's setting counts.
    let output = fetch(&machine, |command| {
        command.env_remove("PIP_FIND_LINKS").env("PIP_CONFIG_FILE", &config);
    });
    assert!(!output.status.success() && stderr(&output).contains("the download of toy failed"), "{}", stderr(&output));
}

#[test]
fn modules_of_the_users_are_not_imported() {
    let machine = Machine::new();
    for name in ["json.py", "zipfile.py", "pip.py", "ast.py", "torch.py", "typing.py"] {
        fs::write(machine.user().join(name), "raise SystemExit('of the user')\n").unwrap();
    }
    let output = fetch(&machine, |command| {
        command.env("PYTHONPATH", machine.user()).env("PYTHONHOME", "/nowhere").env("PYTHONWARNINGS", "error");
        command.env("PYTHONVERBOSE", "1").env("PYTHONINSPECT", "1").env("FORCE_COLOR", "1").env("CLICOLOR_FORCE", "1");
    });
    is_fetched(&machine, &output);
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_user_without_a_home_is_no_reason_to_warn() {
    let machine = Machine::new();
    let output = fetch(&machine, |command| {
        command.env("HOME", "/dev/null/nobody").env_remove("XDG_CACHE_HOME");
    });
    is_fetched(&machine, &output);
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_wheel_that_is_not_the_pinned_one_is_refused() {
    let machine = Machine::new();
    let output = fetch(&machine, |_| {
        let pins = machine.path("toy.txt");
        let text = fs::read_to_string(&pins).unwrap();
        let (start, digest) = text.split_at(text.find("sha256:").unwrap() + 7);
        fs::write(pins, format!("{start}{}", digest.replace(|c: char| c.is_ascii_digit(), "0"))).unwrap();
    });
    assert!(!output.status.success() && !machine.path("unpacked").exists());
    assert!(stderr(&output).contains("trisage: the download of toy failed (see above)"), "{}", stderr(&output));
}
