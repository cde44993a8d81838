//! `--backend xrt` and `trisage device`, with a library in place of XRT's that has small cards behind it; and what Debian's XRT does
//! in its noop mode, where it is installed.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;
use test_support::plain;

/// A folder with what a process needs to find a card.
struct Card {
    folder: TempDir,
}

impl Card {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fake_xrt::options(folder.path(), 4);
        Self { folder }
    }

    fn xclbin(&self) -> PathBuf {
        self.folder.path().join("card.xclbin")
    }

    /// Runs a line in which `CARD` stands for the options of the card.
    fn run(&self, line: &str, faults: &str) -> Output {
        let (xclbin, library) = (self.xclbin(), fake_xrt::library());
        let card = format!("--xclbin {} --xrt-library {}", xclbin.display(), library.display());
        let mut command = trisage(&line.replace("CARD", &card));
        command.env("XILINX_XRT", self.folder.path().join("xrt")).env("TRISAGE_FAKE_XRT", faults);
        command.env_remove("XCL_EMULATION_MODE").output().unwrap()
    }

    fn succeeds(&self, line: &str) -> String {
        let output = self.run(line, "");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The last message of a command that fails.
    fn fails(&self, line: &str, faults: &str) -> String {
        let output = self.run(line, faults);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        said.lines().last().unwrap().to_owned()
    }
}

fn trisage(line: &str) -> Command {
    let mut command = plain(env!("CARGO_BIN_EXE_trisage"));
    command.args(line.split_whitespace());
    command
}

#[test]
fn verify_says_equal() {
    let graph = "--graph gen:hub:nodes=3000,hubs=4 --fanouts 10,10,5 --iterations 6";
    let text = Card::new().succeeds(&format!("verify --backend xrt CARD {graph}"));
    assert!(text.contains("EQUAL: back end 'xrt' agrees with the reference"), "{text}");
}

#[test]
fn an_accelerator_gets_results_through_the_bar_or_a_region_of_the_host() {
    let card = Card::new();
    let line = "verify --backend xrt CARD --graph gen:multi:nodes=500 --fanouts 4,4 --accelerator simulated";
    for way in ["--p2p --sink bar", "--sink staged"] {
        let text = card.succeeds(&format!("{line} {way}"));
        assert!(text.contains("EQUAL: back end 'xrt'"), "{way}: {text}");
    }
    let refused = card.fails(&format!("{line} --sink bar"), "");
    assert!(refused.ends_with("back end 'xrt' cannot write the card's memory behind its BAR"), "{refused}");
    let refused = card.fails(&format!("{line} --p2p"), "xrtBOAlloc.p2p=0:22");
    assert!(refused.contains("peer-to-peer memory has to be enabled as root"), "{refused}");
}

#[test]
fn sampling_one_mini_batch_is_what_the_model_samples() {
    let card = Card::new();
    let sample = |backend: &str| {
        let file = card.folder.path().join("sub.npz");
        let line =
            format!("sample {backend} --graph gen:multi:nodes=500 --seeds 1,2,3 --fanouts 5,5 --overwrite --out");
        card.succeeds(&format!("{line} {}", file.display()));
        fs::read(file).unwrap()
    };
    assert_eq!(sample("--backend xrt CARD"), sample("--backend model"));
}

/// XRT would crash at the end of a process with open handles: it is left without that.
#[test]
fn a_run_that_hangs_ends_the_command_with_a_sentence() {
    let card = Card::new();
    let line = "verify --backend xrt CARD --graph gen:multi:nodes=500 --fanouts 4,4";
    let said = card.fails(&format!("{line} --timeout 1"), "hang");
    assert!(said.contains("was not done after 1s: XRT says that it is still running"), "{said}");
    let said = card.fails(&format!("{line} --run-limit 1"), "lost@1");
    assert!(said.contains("was not done after 1s: the watchdog of back end 'xrt' ends it"), "{said}");
    let said = card.fails(line, "crash=9");
    assert!(said.contains("its run ended in state 9, NORESPONSE"), "{said}");
}

#[test]
fn a_card_is_validated_and_probed() {
    let card = Card::new();
    let text = card.succeeds("device validate CARD");
    assert!(text.contains("platform  trisage_fake_gen0_1\n"), "{text}");
    assert!(text.contains("SLR2      4 index channels, a hash table of 524288 slots; memory: offs DDR[4]"), "{text}");
    assert!(text.ends_with("EQUAL: every SLR samples what the reference does\n"), "{text}");
    let text = card.succeeds("device probe CARD --megabytes 1");
    assert!(text.contains("to the host") && text.contains("read by the processor"), "{text}");
    let refused = card.run("device probe CARD --megabytes 1", "xrtBOAlloc.p2p=0:22");
    let text = String::from_utf8(refused.stdout).unwrap();
    assert!(
        refused.status.success() && text.contains("behind its BAR (--p2p): not possible; cannot allocate"),
        "{text}"
    );
    let said = card.fails("device validate CARD", "silent");
    assert!(said.contains("it wrote no status block"), "{said}");
    let said = card.fails("device validate", "");
    assert!(said.contains("needs --xclbin"), "{said}");
}

#[test]
fn another_number_of_channels_is_another_xclbin() {
    let card = Card::new();
    for channels in [1, 2, 8] {
        fs::write(card.xclbin(), fake_xrt::xclbin(channels).write().unwrap()).unwrap();
        let text = card.succeeds("device validate CARD");
        assert!(text.contains(&format!("SLR0      {channels} index channels")), "{text}");
        assert!(text.contains("EQUAL"), "{text}");
    }
}

#[test]
fn listing_cards_needs_nothing() {
    let output = trisage("device list").env_remove("XILINX_XRT").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.is_empty() && output.stderr.is_empty());
}

/// Where Debian's package `libxrt1` has put its libraries.
fn debian() -> Option<&'static Path> {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu");
    let there =
        ["libxrt_coreutil.so.2", "libxrt_core.so.2", "libxrt_noop.so.2"].iter().all(|f| folder.join(f).exists());
    if !there {
        eprintln!("skipped: the Debian package libxrt1 (2.13) is not installed");
    }
    there.then_some(folder)
}

/// XRT's own code: it loads the xclbin, hands out buffers, takes every argument, starts a run and says that it is done, though
/// nothing has been done; and it survives the order in which everything is closed.
#[test]
fn real_xrt_in_noop_mode_takes_everything_and_is_left_in_order() {
    let Some(libraries) = debian() else { return };
    let card = Card::new();
    let root = card.folder.path().join("debian");
    fs::create_dir_all(root.join("lib")).unwrap();
    for name in ["libxrt_core.so.2", "libxrt_noop.so.2"] {
        symlink(libraries.join(name), root.join("lib").join(name)).unwrap();
    }
    let run = |line: &str, mode: &str| {
        let line = line.replace("CARD", &format!("--xclbin {}", card.xclbin().display()));
        let output = trisage(&line).env("XILINX_XRT", &root).env("XCL_EMULATION_MODE", mode).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said, _) = run("verify --backend xrt CARD --graph gen:multi:nodes=500 --fanouts 4,4", "noop");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("it wrote no status block (first word 0x00000000)"), "{said}");
    assert!(!said.contains("[XRT] ERROR"), "{said}");
    // In order even without a run.
    let (code, said, text) = run("device probe CARD", "noop");
    assert_eq!(code, Some(2), "{said}");
    assert!(text.contains("SLR1      4 index channels") && said.contains("nothing is moved"), "{text}{said}");
    let (code, said, _) = run("device validate CARD", "hw_emu");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("libxrt_hwemu.so.2 is missing"), "{said}");
}
