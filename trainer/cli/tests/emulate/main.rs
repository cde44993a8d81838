//! The emulated card as XRT itself meets it. Where XRT is not installed, these tests say so and pass.

mod signals;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, SubGraph};
use hw::{
    card::{self, OffsetRecord},
    registers::{ARGS, KernelArgs},
    status::{STATUS_BYTES, StatusBlock, code},
};
use tempfile::TempDir;
use test_support::plain;
use zerocopy::{FromBytes, IntoBytes};

/// Elements of each output buffer.
const ELEMENTS: usize = 64;

/// `trisage emulate` with a folder of its own, which ignores no signal, wherever tests run.
fn emulate(folder: &Path, options: &[&str]) -> Command {
    let mut command = plain("env");
    command.args(["--default-signal=INT,TERM,HUP,QUIT", env!("CARGO_BIN_EXE_trisage"), "emulate", "--folder"]);
    command.arg(folder).args(options);
    command
}

/// Whether XRT is here; says so if it is not.
fn has_xrt() -> bool {
    let folder = TempDir::new().unwrap();
    let output = emulate(folder.path(), &["--shim", "noop", "--", "true"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let missing = output.status.code() == Some(2) && message.contains("libxrt1");
    assert!(missing || output.status.success(), "{message}");
    if missing {
        eprintln!("skipped: {message}");
    }
    !missing
}

/// Nothing is left of an environment.
fn is_clean(folder: &Path, process: u32) {
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{}", folder.display());
    let own = format!("trisage-xrt-{process}-");
    let left = fs::read_dir("/tmp").unwrap().flatten().any(|e| e.file_name().to_string_lossy().starts_with(&own));
    assert!(!left, "sockets are left in /tmp");
}

/// Each node has its neighbours in a ring as in-neighbours.
fn ring() -> CscGraph {
    let nodes = 6u32;
    let around = |v| [(v + nodes - 1) % nodes, (v + 1) % nodes];
    let mut indices: Vec<_> = (0..nodes).map(around).collect();
    indices.iter_mut().for_each(|both| both.sort_unstable());
    CscGraph::new((0..=nodes).map(|v| 2 * v).collect(), indices.concat().into_iter().map(NodeId::new).collect())
        .unwrap()
}

fn request() -> Request {
    Request {
        seed: 1,
        minibatch: 7,
        seeds: vec![NodeId::new(0), NodeId::new(3)],
        fanouts: vec![Fanout::Count(1), Fanout::All],
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0xF])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// What the host program reads: the arguments of one run.
fn run(graph: &CscGraph, request: &Request, channels: usize) -> String {
    let args = KernelArgs::of(request, graph, Capacity { nodes: ELEMENTS, edges: ELEMENTS });
    let records: Vec<OffsetRecord> = card::offset_records(graph).collect();
    let elements = |ids: &[NodeId]| hex(ids.as_bytes());
    let mut lines = String::new();
    for (arg, value) in ARGS.iter().zip(args.values()).take(20 + channels) {
        let line = match arg.name {
            "offsets" => format!("in {}", hex(records.as_bytes())),
            "seeds" => format!("in {}", elements(&request.seeds)),
            "node_list" => format!("in {}", hex(&vec![0; 4 * graph.nodes()])),
            "status" => format!("out {STATUS_BYTES}"),
            "samples" | "rows" | "cols" | "edges" => format!("out {}", 4 * ELEMENTS),
            name => match name.strip_prefix("indices") {
                Some(channel) => {
                    let dealt = card::dealt_indices(graph, channel.parse().unwrap(), channels).flatten().copied();
                    format!("in {}", elements(&dealt.collect::<Vec<_>>()))
                }
                None => format!("{} {value}", arg.bytes),
            },
        };
        lines += &(line + "\n");
    }
    lines
}

/// The host program, compiled.
fn host(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("host.c"), folder.join("host"));
    fs::write(&source, include_str!("host.c")).unwrap();
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler).args(["-O1", "-Wall", "-o"]).arg(&program).arg(&source).arg("-ldl").output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// What the host prints when it has run this with an emulated card.
fn with_host(flags: &str, run: &str) -> Output {
    let (folder, build) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let program = host(build.path());
    let mut command = emulate(folder.path(), &[]);
    command.arg("--").arg(program).arg(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let process = child.id();
    child.stdin.take().unwrap().write_all(run.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    is_clean(folder.path(), process);
    output
}

#[test]
fn xrt_drives_the_rtl_of_all_three_kernels() {
    const P2P: &str = "0x40000000";
    if !has_xrt() {
        return;
    }
    let (graph, request) = (ring(), request());
    let expected: SubGraph = golden::sample(&graph, &request, Capacity::UNBOUNDED).unwrap();
    let channels = 4;
    for flags in ["0", P2P] {
        let output = with_host(flags, &run(&graph, &request, channels));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{message}");
        let lines: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
        assert_eq!(lines.len(), 3 * 6, "{message}");
        for kernel in lines.chunks(6) {
            assert_eq!(kernel[0], format!("54524931 {:08x}", channels << 8 | 0x13));
            let status = StatusBlock::read_from_bytes(&unhex(kernel[1])).unwrap();
            assert_eq!((status.code.get(), u64::from(status.minibatch)), (code::OK, 7));
            assert_eq!(status.nodes.get() as usize, expected.samples.len());
            for (buffer, line) in Buffer::ALL.into_iter().zip(&kernel[2..]) {
                let ids = unhex(line)
                    .chunks_exact(4)
                    .map(|id| i32::from_le_bytes(id.try_into().unwrap()))
                    .collect::<Vec<_>>();
                let expected = expected.buffer(buffer);
                assert_eq!(&ids[..expected.len()], expected, "{}", buffer.name());
                assert!(ids[expected.len()..].iter().all(|id| *id == 0), "nothing is written past the end");
            }
        }
    }
}

#[test]
fn a_command_that_crashes_leaves_nothing_and_its_status_is_kept() {
    if !has_xrt() {
        return;
    }
    for (script, code) in [("kill -SEGV $$", 128 + 11), ("sleep 1000 & exit 7", 7), ("exit 0", 0)] {
        let folder = TempDir::new().unwrap();
        let mut command = emulate(folder.path(), &["--shim", "noop", "--", "sh", "-c", script]);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        let process = child.id();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{script}");
        let said = if code > 128 { "'sh' was ended by signal 11\n" } else { "" };
        assert_eq!(String::from_utf8_lossy(&output.stderr), said, "{script}");
        is_clean(folder.path(), process);
    }
}

/// What `trisage verify` on Cora says with a card behind XRT.
fn verify(options: &[&str], folder: &Path) -> Command {
    let mut command = emulate(folder, options);
    command.args(["--", "trisage", "verify"]);
    let cora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cora");
    command.args(["--backend", "xrt", "--xclbin", "{xclbin}", "--fanouts", "10,10", "--batch-size", "64"]);
    command.arg("--graph").arg(cora).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command that reads a terminal in the background would be stopped, and never end.
#[test]
fn a_command_reads_nothing_from_a_terminal() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    // Python, which the project needs anyway, gives a command a terminal.
    let terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut command = plain("python3");
    command.args(["-I", "-c", terminal, env!("CARGO_BIN_EXE_trisage"), "emulate", "--shim", "noop"]);
    command.args(["--folder", ".", "--", "cat"]).current_dir(folder.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_script_may_have_two_cards_at_a_time() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let validate = format!("{} device validate --xclbin \"$TRISAGE_XCLBIN\"", env!("CARGO_BIN_EXE_trisage"));
    let script = format!("{validate} & {validate}; wait");
    let output = emulate(folder.path(), &["--kernels", "model", "--", "sh", "-c", &script]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("EQUAL").count(), 2, "{message}");
}

#[test]
fn without_a_user_it_is_a_sentence() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let own = env!("CARGO_BIN_EXE_trisage");
    let words = ["--kernels", "model", "--", "env", "-u", "USER", own, "device", "validate", "--xclbin", "{xclbin}"];
    let output = emulate(folder.path(), &words).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("USER is not set, and XRT's software emulation needs it"), "{message}");
}

/// XRT hands names to a shell, and `LD_PRELOAD` has spaces and colons between its libraries.
#[test]
fn a_folder_that_would_not_reach_xrt_is_refused() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let output = emulate(&folder.path().join("it's here"), &["--", "true"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("it's here has a character in its name"), "{message}");
}

#[test]
fn the_back_end_for_cards_agrees_with_the_reference_also_side_by_side() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let both = ["rtl", "model"].map(|kernels| verify(&["--kernels", kernels], folder.path()).spawn().unwrap());
    let processes = both.each_ref().map(std::process::Child::id);
    for child in both {
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
        assert!(stdout.contains("EQUAL: back end 'xrt' agrees with the reference"), "{stdout}");
    }
    for process in processes {
        is_clean(folder.path(), process);
    }
}

/// XRT's stand-in that does nothing: xclbin, kernels, buffers, starts and the end are as with a card, results are not there.
#[test]
fn noop_goes_all_the_way_to_the_missing_result() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let output = verify(&["--shim", "noop"], folder.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let last = stderr.lines().last().unwrap();
    assert!(last.starts_with("error: iteration 0, SLR") && last.contains("it wrote no status block"), "{stderr}");
}

#[test]
fn a_read_past_a_buffer_is_a_bus_error() {
    if !has_xrt() {
        return;
    }
    let (graph, mut request) = (ring(), request());
    request.seeds = vec![NodeId::new(100_000)];
    let small = run(&graph, &request, 4);
    let mut lines: Vec<_> = small.lines().collect();
    assert_eq!((ARGS[2].name, lines[2]), ("num_nodes", "4 6"));
    lines[2] = "4 1000000"; // of which the buffer holds 512
    let output = with_host("0", &(lines.join("\n") + "\n"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("goes where it may not"), "{message}");
    let lines: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    let status = StatusBlock::read_from_bytes(&unhex(lines[1])).unwrap();
    assert_eq!((status.code.get(), status.detail.get()), (code::READ_ERROR, 3), "DECERR on port 0, the offsets");
}

#[test]
fn a_fault_of_the_card_fails_a_command_that_saw_none() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let script = "echo 'it is on fire' >> \"$TRISAGE_EMULATED_CARD/faults\"";
    let output = emulate(folder.path(), &["--shim", "noop", "--", "sh", "-c", script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, b"emulated card: it is on fire\n");
}

#[test]
fn without_xrt_it_is_a_sentence_and_code_2() {
    let folder = TempDir::new().unwrap();
    let run = |more: &[&str]| {
        let options = [&["--shim", "noop"], more, &["--", "true"]].concat();
        let output = emulate(folder.path(), &options).env("XILINX_XRT", folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(message.starts_with("error: libxrt_coreutil.so.2 is in none of /"), "{message}");
    let (code, message) = run(&["--skip-without-xrt"]);
    assert_eq!(code, Some(0));
    assert!(message.starts_with("skipped: libxrt_coreutil.so.2 is in none of "), "{message}");
}
