//! The `trisage` command as its user meets it: output, messages and exit codes.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use test_support::plain;

fn trisage(line: &str) -> Output {
    command(line).output().unwrap()
}

fn command(line: &str) -> Command {
    let mut command = plain(env!("CARGO_BIN_EXE_trisage"));
    command.args(line.split_whitespace());
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one message of a command that fails.
fn error(line: &str) -> String {
    let output = trisage(line);
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(code(&output), 2, "{line}: {message}");
    assert_eq!(stdout(&output), "", "{line}");
    // The way through the pipeline may stand before it.
    let message = match message.split_once('\n') {
        Some((way, rest)) if !way.starts_with("error: ") && way.contains(", sink '") => rest.to_owned(),
        _ => message,
    };
    assert!(message.starts_with("error: "), "{line}: {message}");
    assert!(!message.contains("panicked"), "{line}: {message}");
    message
}

fn json(line: &str) -> serde_json::Value {
    let output = trisage(line);
    assert_eq!(code(&output), 0, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn verify_says_equal() {
    let output =
        trisage("verify --backend model --graph gen:star:nodes=5000 --fanouts 10,10,10 --iterations 6 --seed 1");
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("EQUAL: back end 'model'"), "{}", stdout(&output));
    let report = json("verify --graph gen:multi:nodes=500 --fanouts -1,0,3 --batch-size 64 --channels 2 --json");
    assert_eq!(report["iterations"], 3);
    assert_eq!(report["difference"], serde_json::Value::Null);
    assert_eq!(report["slrs"][2]["ports"].as_array().unwrap().len(), 5);
}

#[test]
fn graphs_that_are_hardly_there_can_be_verified() {
    for graph in ["gen:empty:nodes=0", "gen:empty:nodes=1", "gen:path:nodes=2", "gen:star:nodes=1"] {
        assert_eq!(code(&trisage(&format!("verify --graph {graph} --fanouts all,5"))), 0, "{graph}");
    }
}

#[test]
fn golden_and_model_sample_the_same() {
    let line = "sample --graph gen:multi:nodes=300 --fanouts 4,all --seed 9 --minibatch 5 --json";
    for seeds in ["--batch-size 20", "--seeds 7,3,250", "--seeds="] {
        let [golden, model] = ["golden", "model"].map(|b| json(&format!("{line} {seeds} --backend {b}")));
        assert_eq!(golden["sha256"], model["sha256"], "{seeds}");
        assert_eq!(golden["nodes_per_hop"], model["nodes_per_hop"]);
    }
    let text = stdout(&trisage("sample --graph gen:path:nodes=5 --seeds 4,2 --fanouts 1,1"));
    assert!(text.starts_with("nodes   5 = 2 + 2 + 1\nedges   4 = 2 + 2\nsha256  "), "{text}");
}

#[test]
fn a_sub_graph_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub.npz");
    let line = format!("sample --graph gen:star:nodes=50 --out {}", file.display());
    assert_eq!(code(&trisage(&line)), 0);
    assert!(error(&line).contains("sub.npz"));
    assert_eq!(code(&trisage(&(line + " --overwrite"))), 0);
}

#[test]
fn a_disk_without_room_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Of the limits some end the .npz in its arrays, some where it is finished.
    let cases = [
        ("g", 8),
        ("g.mtx", 8),
        ("g.txt.gz", 8),
        ("g.csv.bz2", 8),
        ("g.mtx.xz", 8),
        ("g.edges.zst", 8),
        ("g.npz", 0),
        ("g.npz", 8),
        ("g.npz", 60),
        ("g.npz", 600),
    ];
    for (name, limit) in cases {
        let program = env!("CARGO_BIN_EXE_trisage");
        // No file may have more blocks of 512 bytes, and the signal that would say so is ignored.
        let script =
            format!("trap '' XFSZ; ulimit -f {limit}; exec '{program}' graph generate multi:nodes=50000 {name}");
        let output = plain("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(code(&output), 2, "{name}: {message}");
        assert!(message.starts_with(&format!("error: {name}: cannot be written: ")), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn graphs_go_from_format_to_format() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    assert_eq!(code(&trisage(&format!("graph generate multi:nodes=40,seed=3 {}", at("g")))), 0);
    assert_eq!(code(&trisage(&format!("graph convert {} {}", at("g"), at("g.npz")))), 0);
    assert_eq!(code(&trisage(&format!("graph convert {} {}", at("g.npz"), at("g.mtx")))), 0);
    let inspect = |name: &str| json(&format!("graph inspect --graph {name} --json"));
    let figures = inspect(&at("g"));
    assert_eq!(figures["nodes"], 40);
    assert_eq!(inspect("gen:multi:nodes=40,seed=3"), figures);
    assert_eq!(inspect(&at("g.mtx")), figures);
    let text = stdout(&trisage("graph inspect --graph gen:star:nodes=1001"));
    for line in ["nodes           1,001\n", "symmetric       yes\n", "in-degree     1  2.00  1,000"] {
        assert!(text.contains(line), "{text}");
    }
}

/// What is said on stderr of a graph with this content, which is read.
fn notes(line: &str, name: &str, content: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, content).unwrap();
    let output = trisage(&format!("{line} {}", file.display()));
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(code(&output), 0, "{message}");
    message.lines().map(|line| line.replace(&format!("{}/", folder.path().display()), "")).collect()
}

#[test]
fn notes_name_the_option_that_settles_them() {
    let inspect = |name: &str, content: &str| notes("graph inspect --graph", name, content);
    assert!(inspect("a.csv", "source,target\n0,1\n").is_empty());
    assert_eq!(
        inspect("a.csv", ",source,target,weight\n0,12,45,1\n1,3,7,1\n"),
        ["note: a.csv: columns used: source (2), target (3); passed over: column 1, weight"]
    );
    for (content, option) in [
        ("a,b\n0,1\n", "(--columns SOURCE,DESTINATION)"),
        ("0 1 5\n0 2 5\n", "(--columns SOURCE,DESTINATION)"),
        ("% sym unweighted\n1 2\n", "(--symmetrise)"),
        ("% bip unweighted\n1 1\n", "(--symmetrise)"),
        ("1 2\n2 3\n", "(--first-id 1)"),
    ] {
        let said = inspect("a.txt", content);
        assert!(said.len() == 1 && said[0].starts_with("note: a.txt: ") && said[0].ends_with(option), "{said:?}");
        for line in ["verify --graph", "sample --graph", "bench model --predict u280 --graph"] {
            assert!(notes(line, "a.txt", content).contains(&said[0]), "{line}");
        }
    }
    assert!(inspect("a.txt", "0 1 5\n1 2 5\n")[1].ends_with("(--columns 2,3)"));
    let settled = |options: &str, content: &str| notes(&format!("graph inspect {options} --graph"), "a.txt", content);
    assert!(settled("--columns 2,3", "0 1 5\n1 2 5\n").is_empty());
    assert!(settled("--columns b,a", "a,b\n0,1\n").is_empty());
    assert!(settled("--symmetrise", "% sym unweighted\n1 2\n").is_empty());
    assert!(settled("--first-id 1", "1 2\n2 3\n").is_empty());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let output = trisage(&format!("graph generate empty:nodes=7 {}", file.display()));
    assert!(String::from_utf8_lossy(&output.stderr).trim_end().ends_with("(--nodes 7)"));
}

#[test]
fn refusals_name_the_option_that_settles_them() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, option) in [
        ("a.strange", "0 1\n", "(--graph-format FORMAT)"),
        ("a.csv", "a,b,c\n0,1,2\n", "(--columns SOURCE,DESTINATION)"),
        ("a.csv", "head,tail\n0,1\n", "(--columns SOURCE,DESTINATION)"),
        ("a.txt", "0 1 x\n", "(--columns 1,2)"),
        ("a.txt", "0 1 2 3\n1 2 3\n", "(--graph-format metis)"),
        ("a.txt", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", "(--graph-format mtx)"),
        ("a.txt", "% sym unweighted\n0 1\n", "(--first-id 0)"),
        ("a.txt", "\n", "(--nodes N)"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let message = error(&format!("graph inspect --graph {}", file.display()));
        assert!(message.trim_end().ends_with(option), "{message}");
    }
    for option in ["--columns 1,2", "--first-id 1", "--graph-format csv"] {
        let message = error(&format!("graph inspect --graph gen:star:nodes=5 {option}"));
        assert!(message.contains("is for graphs in files"), "{message}");
    }
    assert!(error("graph inspect --graph x.txt --columns 1").contains("source,target or 1,2"));
    assert!(error("graph inspect --graph x.txt --first-id 2").contains("2 is not in 0..=1"));
}

#[test]
fn a_name_need_not_be_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(OsStr::from_bytes(b"\xff.txt"));
    std::fs::write(&file, "0 1\n").unwrap();
    for line in ["graph inspect --graph", "sample --graph", "graph convert"] {
        let mut command = command(line);
        command.arg(&file);
        if line.ends_with("convert") {
            command.arg(folder.path().join(OsStr::from_bytes(b"\xfe.mtx")));
        }
        let output = command.output().unwrap();
        assert_eq!(code(&output), 0, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn seed_nodes_of_a_file_are_checked_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("train.txt");
    let good = (0..40).fold(String::new(), |text, id| text + &format!("{id}\n"));
    for (last, words) in [("40", "line 41: node 40 is not in the graph"), ("7", "line 41: node 7 is given twice")] {
        std::fs::write(&file, good.clone() + last).unwrap();
        // The mini-batches that are sampled need not have the node in them.
        for line in ["verify --batch-size 1", "sample --batch-size 1", "sample"] {
            let message = error(&format!("{line} --graph gen:path:nodes=40 --seeds-file {}", file.display()));
            assert!(message.contains("train.txt") && message.contains(words), "{line}: {message}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let cases = [
        ("verify --graph /nowhere", "/nowhere"),
        ("verify --graph gen:circle:nodes=5", "circle"),
        ("verify --graph gen:star:nodes=5 --symmetrise", "--symmetrise is for graphs in files"),
        ("verify --graph gen:star:nodes=5 --fanouts 2000", "fan-out 2000 of hop 1 is too large; the software model"),
        ("verify --graph gen:star:nodes=50 --node-capacity 3", "the capacity of 3 was reached in hop 0"),
        ("verify --graph gen:star:nodes=50 --node-capacity 3", "omit --node-capacity and --edge-capacity"),
        ("verify --graph gen:star:nodes=5 --waves w.fst", "--waves is an option of back end 'rtl'"),
        ("verify --graph gen:star:nodes=5 --iterations 0", "--iterations"),
        ("verify --graph gen:star:nodes=5 --fanouts 1,x", "whole number"),
        ("verify --graph gen:star:nodes=5 --channels 3", "1, 2, 4 or 8"),
        ("verify --graph gen:star:nodes=5 --seeds-file /nowhere", "/nowhere"),
        ("sample --graph gen:star:nodes=5 --seeds 1,x", "'x' is not a node id"),
        ("sample --graph gen:star:nodes=5 --seeds 4294967295", "'4294967295' is not a node id"),
        ("sample --graph gen:star:nodes=5 --seeds 5", "seed node 5"),
        ("sample --graph gen:star:nodes=5 --seeds 1,1", "given twice"),
        ("sample --graph gen:star:nodes=5 --seeds 1 --batch-size 3", "--batch-size"),
        ("sample --graph gen:star:nodes=5 --backend golden --channels 2", "back end 'golden' has none of that name"),
        ("graph convert gen:star:nodes=5 /tmp/x.jpg", "x.jpg"),
        ("graph convert gen:star:nodes=0 /tmp/x.txt", "error: FROM: nodes=0 is not possible"),
        ("graph generate star:nodes=0 /tmp/x.txt", "error: SPEC: nodes=0 is not possible"),
        ("verify --graph gen:star:nodes=0", "error: --graph: nodes=0 is not possible"),
    ];
    for (line, words) in cases {
        let message = error(line);
        assert!(message.contains(words), "{line}: {message}");
    }
}

#[test]
fn a_tool_that_cannot_be_used_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let cases = [
        ("CXX", "/nowhere/g++", "the C++ compiler /nowhere/g++ cannot be used: No such file"),
        ("CXX", "false", "the C++ compiler false cannot be used: it ends with exit status: 1; install g++"),
        ("TRISAGE_VERILATOR", "/bin/false", "Verilator (/bin/false) cannot be used: it ends with exit status: 1; name"),
        ("TRISAGE_VERILATOR", "/bin/cat", "Verilator (/bin/cat) cannot be used: it says \"cat "),
        ("TRISAGE_CACHE", "/dev/null", "RTL models cannot be kept in /dev/null: "),
        ("TRISAGE_RTL", "/nowhere", "the RTL cannot be read from /nowhere: "),
    ];
    for (variable, value, words) in cases {
        let mut command = command("rtl build");
        let output = command.env("TRISAGE_CACHE", cache.path()).env(variable, value).output().unwrap();
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(code(&output), 2, "{variable}={value}: {message}");
        assert!(message.contains(words) && message.lines().count() == 1, "{variable}={value}: {message}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = command("graph inspect --graph gen:star:nodes=100000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), output.stderr.len()), (0, 0));
}

#[test]
fn seed_nodes_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("train.txt");
    std::fs::write(&file, "# three\n40\n7\n21\n").unwrap();
    let line = |more: &str, file: &Path| {
        json(&format!("sample --graph gen:path:nodes=50 --fanouts 0 --json --seeds-file {} {more}", file.display()))
    };
    assert_eq!(
        line("", &file)["sha256"],
        json("sample --graph gen:path:nodes=50 --fanouts 0 --json --seeds 40,7,21")["sha256"]
    );
    assert_eq!(line("--batch-size 2", &file)["nodes"], 2);
}

#[test]
fn verify_says_which_way_it_took_and_what_crossed_the_bus() {
    let line = "verify --graph gen:star:nodes=500 --fanouts 5,5 --batch-size 64 --accelerator simulated --slots 3";
    let output = trisage(&format!("{line} --transfers --iterations 4"));
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(code(&output), 0, "{message}");
    assert!(
        message.starts_with("simulated accelerator, sink 'dma-buf' (the card writes accelerator memory): "),
        "{message}"
    );
    let words: Vec<_> = stdout(&output).split_whitespace().map(str::to_owned).collect();
    assert!(words.windows(4).any(|words| words == ["p2p", "in", "all", "48"]), "{}", stdout(&output));
    assert!(stdout(&output).contains("stages at a time; wall time is "), "{}", stdout(&output));
    let report = json(&format!("{line} --transfers --iterations 4 --sink staged --json"));
    assert_eq!(report["sink"], "staged");
    let crossings = report["transfers"]["crossings"].as_array().unwrap();
    let site = |name: &str| crossings.iter().find(|crossing| crossing["site"] == name).unwrap()["count"].clone();
    assert_eq!([site("copy of the host region"), site("verdict")], [48, 1]);
    assert_eq!(json(&format!("{line} --json"))["transfers"], serde_json::Value::Null);
}

#[test]
fn verify_finds_a_fault_on_request() {
    for (fault, words) in [
        ("skipped-write", "rows[0] is -1 (never written)"),
        ("stale-slot", "(stale: iteration 2 has left it there)"),
        ("flipped-bit", "(one bit is wrong: bit 3)"),
        ("short-count", "in the reference"),
    ] {
        let line = format!("verify --graph gen:multi:nodes=500 --fanouts 5,5 --iterations 6 --inject {fault}@4:1");
        let output = trisage(&line);
        assert_eq!(code(&output), 1, "{line}");
        assert!(stdout(&output).contains("DIFFERENT: back end 'model', iteration 4, SLR1, mini-batch 2: "), "{line}");
        assert!(stdout(&output).contains(words), "{line}: {}", stdout(&output));
    }
}

#[test]
fn a_trace_is_written_whole_or_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let line = |path: &Path| format!("verify --graph gen:path:nodes=50 --fanouts 2 --trace {}", path.display());
    assert_eq!(code(&trisage(&line(&file))), 0);
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["name"] == "sample").count(), 9);
    assert!(error(&line(folder.path())).contains("a trace"));
    assert!(error(&line(&folder.path().join("none/trace.json"))).contains("none"));
}

#[test]
fn what_is_not_there_is_refused_in_a_sentence() {
    let line = "verify --graph gen:path:nodes=50 --fanouts 2";
    assert_eq!(
        error(&format!("{line} --sink dma-buf")),
        "error: sink 'dma-buf' is not possible here: the consumer reads host memory\n"
    );
    let message = error(&format!("{line} --accelerator-seed 3"));
    assert!(message.starts_with("error: --accelerator-seed is an option of --accelerator simulated"), "{message}");
    assert_eq!(
        error(&format!("{line} --inject flipped-bit@3:0")),
        "error: --inject: there is no iteration 3; with --iterations 3 they are 0 to 2\n"
    );
    let nothing = "verify --graph gen:path:nodes=50 --fanouts 2 --iterations 9 --slots 3 --inject stale-slot@5:1";
    let output = trisage(nothing);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((code(&output), message.contains("the fault has changed nothing")), (2, true), "{message}");
    let message = error(&format!("{line} --trace /dev/stdout"));
    assert!(message.contains("/dev/stdout"), "{message}");
    for (option, words) in [
        ("--batch-size 0", "1 seed node or more"),
        ("--slots 1", "2..=64"),
        ("--sink usb", "in-place, dma-buf, bar, staged"),
        ("--inject x@1:1", "flipped-bit@4:1"),
    ] {
        let output = trisage(&format!("{line} {option}"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((code(&output), message.contains(words)), (2, true), "{message}");
    }
}

#[test]
fn ctrl_c_ends_a_run_in_a_sentence() {
    // Where tests run in the background, children ignore the signal; this one is not to.
    let mut child = plain("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_trisage"), "verify", "--graph", "gen:star:nodes=500"])
        .args(["--fanouts", "5,5", "--iterations", "2000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has begun when it says which way it takes; then it is in the loop, or will be.
    let mut line = String::new();
    let mut messages = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut messages, &mut line).unwrap();
    assert!(line.starts_with("host memory, sink 'in-place'"), "{line}");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let status = child.wait().unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut messages, &mut rest).unwrap();
    assert_eq!(status.code(), Some(130), "{rest}");
    assert!(
        rest.starts_with("error: interrupted by SIGINT: stopped after ") && rest.ends_with(" iterations\n"),
        "{rest}"
    );
}

#[test]
fn overlap_is_measured_against_one_by_one() {
    let line = "bench overlap --graph gen:star:nodes=3000 --fanouts 5,5 --batch-size 64 --iterations 5 --json";
    for accelerator in ["host", "simulated"] {
        let result = json(&format!("{line} --accelerator {accelerator}"));
        assert_eq!(result["pipelined"]["iterations"], 5);
        assert_eq!(result["one_by_one"]["iterations"], 5);
        assert!(result["speedup"].as_f64().unwrap() > 0.0, "{result}");
    }
    // A card in slow motion: some 900 cycles for an iteration, which is as long as the consumer takes then.
    let result = json(&format!("{line} --accelerator simulated --clock 0.1"));
    let [consumer, wall] = [&result["consumer"], &result["pipelined"]["wall"]].map(|time| time.as_f64().unwrap());
    assert!(consumer > 3e-3 && wall > 5.0 * 3e-3, "{result}");
}

#[cfg(not(feature = "torch"))]
#[test]
fn training_needs_a_build_with_libtorch() {
    let message = error("train sage --data nowhere --help --lr 0.5");
    assert!(message.contains("run it with `./just train sage --data nowhere --help --lr 0.5`"), "{message}");
}
