//! Relative paths are those of the user, wherever `./just` is called from and however.

use std::{fs, os::unix::fs::symlink, process::Output};

use setup::{Machine, just, stderr};

/// Runs a recipe that calls cargo once; returns what cargo was told.
fn told(machine: &Machine, output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", stderr(output));
    let told = machine.told();
    assert_eq!(told.iter().filter(|line| line.starts_with("cwd=")).count(), 1, "{told:?}");
    told
}

#[test]
fn a_recipe_runs_in_the_checkout_and_trisage_where_the_user_is() {
    let machine = Machine::new();
    let cwd = format!("cwd={}", machine.checkout().display());
    let user = machine.user().display().to_string();
    for line in ["train sage --data mine --out results", "bench-overlap 5 --trace t.json", "bench-rtl --graph mine"] {
        let words: Vec<&str> = line.split(' ').collect();
        let told = told(&machine, &machine.just(&words).output().unwrap());
        assert_eq!(told[0], cwd, "{line}");
        let at = told.iter().position(|word| word == "-C").unwrap_or_else(|| panic!("{line}: {told:?}"));
        assert_eq!(told[at - 1..=at + 1], ["--", "-C", &user], "{line}");
        assert!(told.contains(&words[words.len() - 1].to_owned()), "{line}: {told:?}");
    }
    assert_eq!(machine.just(&["bench-train", "--trace", "t.json"]).status().unwrap().code(), Some(0));
    assert_eq!(machine.told().iter().filter(|word| *word == &user).count(), 2, "two graphs");
}

/// Ways to call it, and what users have in their environment.
#[test]
fn it_does_not_matter_how_it_is_called() {
    let machine = Machine::new();
    let (checkout, user) = (machine.checkout(), machine.user());
    symlink(checkout.join("just"), user.join("link")).unwrap();
    symlink("link", user.join("just")).unwrap();
    fs::write(user.join("rc"), "echo from the user; cd /; function cd { echo no; }; set -o posix\n").unwrap();
    fs::create_dir(user.join("a checkout")).unwrap();
    let justfile = checkout.join("Justfile");
    let relative = std::path::Path::new("../a checkout/just");
    let mut commands = vec![
        machine.just(&[]),
        machine.command(user.join("just")),
        machine.command(relative),
        machine.command("bash"),
        machine.command(just()),
        machine.command(just()),
        machine.just(&[]),
        machine.just(&[]),
    ];
    commands[3].arg(relative);
    commands[4].arg("--justfile").arg(&justfile);
    commands[5].arg("--working-directory").arg("/").arg("--justfile").arg(&justfile);
    commands[6].env("CDPATH", format!("{}:/", user.display())).env("POSIXLY_CORRECT", "1").env("GLOBIGNORE", "*");
    commands[7].env("BASH_ENV", user.join("rc")).env("BASH_FUNC_cargo%%", "() { echo no; }").env("SHELLOPTS", "noglob");
    for (number, mut command) in commands.into_iter().enumerate() {
        let output = command.args(["train", "sage", "--data", "mine"]).output().unwrap();
        let told = told(&machine, &output);
        assert_eq!(told[0], format!("cwd={}", checkout.display()), "{number}");
        let at = told.iter().position(|word| word == "-C").unwrap();
        assert_eq!(told[at + 1], user.display().to_string(), "{number}");
    }
}

#[test]
fn a_copy_of_just_is_told_what_it_is_for() {
    let machine = Machine::new();
    fs::copy(machine.checkout().join("just"), machine.path("bin/just-copy")).unwrap();
    let output = machine.command("just-copy").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).ends_with("is no checkout of trisage; make a link to the checkout's just, not a copy\n"));
}

#[test]
fn paths_in_variables_are_the_users_too() {
    let machine = Machine::new();
    fs::create_dir_all(machine.user().join("graphs/cnr_2000")).unwrap();
    let mut command = machine.just(&["bench-rtl"]);
    command.env("TRISAGE_GRAPHS", "graphs").env("TRISAGE_CACHE", "../cache").env("XILINX_XRT", "xrt");
    command.env("CXX", "./my-g++ -m64").env("CARGO_TARGET_DIR", "target").env("TRISAGE_VECTORS", "/elsewhere");
    let told = told(&machine, &command.output().unwrap());
    let user = machine.user().display().to_string();
    for expected in [
        format!("{user}/graphs/cnr_2000"),
        format!("TRISAGE_CACHE={user}/../cache"),
        format!("XILINX_XRT={user}/xrt"),
        format!("CXX={user}/./my-g++ -m64"),
        format!("CARGO_TARGET_DIR={user}/target"),
        "TRISAGE_VECTORS=/elsewhere".to_owned(),
    ] {
        assert!(told.contains(&expected), "{expected}: {told:?}");
    }
    let mut command = machine.just(&["train-demo"]);
    let output = command.env("TRISAGE_GRAPHS", "graphs").output().unwrap();
    assert!(stderr(&output).contains(&format!("(TRISAGE_GRAPHS is '{user}/graphs')")), "{}", stderr(&output));
}

#[test]
fn what_cargo_is_handed_on_is_seen_from_there_too() {
    let machine = Machine::new();
    fs::write(machine.user().join("mine.toml"), "").unwrap();
    let user = machine.user().display().to_string();
    let words = ["build", "--target-dir", "out", "--config", "mine.toml", "--config=net.retry=1", "--lockfile-path=l"];
    let told = told(&machine, &machine.just(&words).output().unwrap());
    let expected = [
        "build",
        "--release",
        "--target-dir",
        &format!("{user}/out"),
        "--config",
        &format!("{user}/mine.toml"),
        "--config=net.retry=1",
        &format!("--lockfile-path={user}/l"),
    ];
    assert_eq!(told[1..=expected.len()], expected);

    // What follows -- is not cargo's.
    let output =
        machine.command(machine.checkout().join(".setup/cargo.sh")).args(["test", "--", "--config", "x"]).output();
    assert!(output.unwrap().status.success());
    assert_eq!(machine.told()[1..5], ["test", "--", "--config", "x"]);
}

#[test]
fn scripts_for_cards_and_gpus_run_where_the_user_is() {
    let machine = Machine::new();
    fs::write(machine.user().join("my.xclbin"), "").unwrap();
    let say = |words: &[&str], environment: &[(&str, &str)]| {
        let output = machine.just(words).env_remove("XILINX_XRT").envs(environment.iter().copied()).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (code, said) = say(&["hw-verify", "my.xclbin"], &[]);
    assert!(code == Some(2) && said.contains("XILINX_XRT is not set"), "{said}");
    let (code, said) = say(&["hw-verify", "other.xclbin"], &[]);
    assert!(code == Some(2) && said.contains("the xclbin other.xclbin does not exist"), "{said}");

    // A machine with a card, whose XRT is named by a relative path.
    fs::create_dir_all(machine.user().join("xrt/lib")).unwrap();
    fs::write(machine.user().join("xrt/lib/libxrt_core.so.2"), "").unwrap();
    fs::create_dir_all(machine.user().join("sys/bus/pci/drivers/xocl/0000:03:00.1")).unwrap();
    let (code, said) = say(&["hw-verify", "my.xclbin"], &[("XILINX_XRT", "xrt"), ("TRISAGE_SYSFS", "sys")]);
    assert_eq!(code, Some(0), "{said}");
    let told = machine.told();
    let xclbin = machine.user().join("my.xclbin").display().to_string();
    assert_eq!(told.iter().filter(|word| **word == xclbin).count(), 6, "{told:?}");
    assert!(told.contains(&"-C".to_owned()) && told.contains(&machine.user().display().to_string()));

    // A platform, a licence and the place of the results.
    machine.tool("kernel-files", "if (($# == 1)); then echo platform 4; else mkdir -p \"$3\"; fi");
    machine.tool("vivado", "for last; do :; done; echo xo >\"$last\"; echo \"$XILINXD_LICENSE_FILE\" >>\"$TOLD\"");
    machine.tool("v++", "echo \"$*\" >>\"$TOLD\"; while [[ $1 != --output ]]; do shift; done; echo xclbin >\"$2\"");
    for name in ["my.xpfm", "my.lic"] {
        fs::write(machine.user().join(name), "").unwrap();
    }
    let kernel_files = machine.path("bin/kernel-files").display().to_string();
    let environment = [
        ("TRISAGE_PLATFORM", "my.xpfm"),
        ("XILINXD_LICENSE_FILE", "2100@server:my.lic"),
        ("TRISAGE_VITIS_OUT", "out"),
        ("TRISAGE_KERNEL_FILES", &kernel_files),
    ];
    let (code, said) = say(&["hw-build", "U280"], &environment);
    assert_eq!(code, Some(0), "{said}");
    let told = machine.told();
    let user = machine.user().display().to_string();
    assert_eq!(told[0], format!("2100@server:{user}/my.lic"));
    assert!(told[1].contains(&format!("--platform {user}/my.xpfm ")), "{told:?}");
    let built = fs::read_dir(machine.user().join("out/u280")).unwrap();
    assert!(built.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "xclbin")));

    // gpu-check puts programs where it is told to.
    let torch = machine.user().join("torch");
    fs::create_dir_all(torch.join("lib")).unwrap();
    fs::write(torch.join("lib/libtorch_cuda.so"), "").unwrap();
    fs::write(torch.join("version.py"), "__version__ = '2.11.0'\n").unwrap();
    machine.tool("cargo", "true");
    let (code, said) = say(&["gpu-check", "--build", "programs"], &[("TRISAGE_LIBTORCH", "torch")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(machine.user().join("programs").is_dir());
}
