//! Every function of XRT's C API, and every way in which it is known to go wrong: no hang, no crash, no leak, and one sentence.

use std::{
    collections::BTreeSet, env, fs::File, io::Read, os::fd::OwnedFd, path::Path, process::Command, sync::Arc,
    time::Duration,
};

use fake_xrt::Control;
use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, Silent};
use hw::{
    Deadline, DeviceError, DmaBuf, HostMemory, MemorySpace, OutputBuffers, OutputMemory, SamplerDevice, Slot, Slr,
    xrt::{CardId, XrtDevice, XrtOptions},
};

/// How long a run may take that does not end. Those that do are waited for.
const PATIENCE: Duration = Duration::from_millis(20);

const CAPACITY: Capacity = Capacity { nodes: 50, edges: 200 };
const SLRS: [Slr; hw::SLRS] = Slr::ALL;

fn graph() -> Arc<CscGraph> {
    let (nodes, degree) = (40, 5);
    let indptr = (0..=nodes).map(|node| node * degree).collect();
    let indices = (0..nodes * degree).map(|edge| NodeId::new(edge * 7 % nodes)).collect();
    Arc::new(CscGraph::new(indptr, indices).unwrap())
}

fn request(minibatch: u64) -> Request {
    let seeds = (0..10).map(NodeId::new).collect();
    Request { seed: 3, minibatch, seeds, fanouts: vec![Fanout::Count(3), Fanout::All] }
}

/// What the buffers should hold.
fn expected(minibatch: u64) -> [Vec<i32>; 4] {
    let graph = golden::sample(&graph(), &request(minibatch), CAPACITY).unwrap();
    Buffer::ALL.map(|buffer| graph.buffer(buffer).to_vec())
}

/// A file in place of another device's memory, in which a buffer begins at byte 64.
fn exported(folder: &Path, name: &str, len: usize) -> OutputMemory {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(folder.join(name)).unwrap();
    file.set_len(64 + 4 * len as u64).unwrap();
    OutputMemory::DmaBuf(Arc::new(DmaBuf { fd: OwnedFd::from(file), offset: 64, len }))
}

fn contents(folder: &Path, buffer: Buffer, len: usize) -> Vec<i32> {
    let mut bytes = vec![];
    File::open(folder.join(buffer.name())).unwrap().read_to_end(&mut bytes).unwrap();
    bytes[64..].chunks_exact(4).take(len).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// All that a device can do: three ways to the results, on all SLRs.
fn everything(options: &XrtOptions, folder: &Path, deadline: Deadline) -> Result<(), String> {
    let text = |error: DeviceError| error.to_string();
    let device = XrtDevice::open(options).map_err(|error| error.to_string())?;
    device.load_graph(&graph(), &Silent).map_err(text)?;
    for (slr, minibatch) in SLRS.into_iter().zip(0..) {
        let host = OutputBuffers::host(CAPACITY);
        let bar = device.bar_outputs(slr, CAPACITY).map_err(text)?;
        let imported =
            OutputBuffers::new(Buffer::ALL.map(|buffer| exported(folder, buffer.name(), CAPACITY.len_of(buffer))));
        for (slot, outputs) in [&host, &bar, &imported].into_iter().enumerate() {
            let slot = Slot(slot as u32);
            device.bind_outputs(slr, slot, outputs.clone()).map_err(text)?;
            device.start(slr, slot, &request(minibatch)).map_err(text)?;
            device.wait(slr, deadline).map_err(text)?;
        }
        for (buffer, expected) in Buffer::ALL.into_iter().zip(expected(minibatch)) {
            for outputs in [&host, &bar] {
                let found = outputs.get(buffer).elements().unwrap();
                assert_eq!(found.to_vec(0..expected.len()), expected, "{}", buffer.name());
            }
            assert_eq!(contents(folder, buffer, expected.len()), expected, "{}", buffer.name());
        }
    }
    Ok(())
}

struct Card {
    folder: tempfile::TempDir,
    options: XrtOptions,
    control: Control,
}

fn card() -> Card {
    let folder = tempfile::tempdir().unwrap();
    let options = XrtOptions { peer_to_peer: true, import_dma_buf: true, ..fake_xrt::options(folder.path(), 4) };
    let control = Control::of(&options);
    Card { folder, options, control }
}

impl Card {
    fn everything(&self, deadline: Deadline) -> Result<(), String> {
        everything(&self.options, self.folder.path(), deadline)
    }

    /// A sentence without what changes from one run to the next.
    fn stable(&self, sentence: &str) -> String {
        let CardId::Index(index) = self.options.card else { unreachable!() };
        let folder = self.folder.path().display().to_string();
        sentence
            .replace(&folder, "DIR")
            .replace(&format!("card {index}:"), "card N:")
            .replace(&format!("into card {index}"), "into card N")
            .replace(&format!("ask card {index} "), "ask card N ")
            .replace(&format!("open card {index}"), "open card N")
    }
}

/// Faults after which everything is closed.
const CLEAN: &[&str] = &[
    "xrtDeviceOpen=0",
    "xrtDeviceOpen=0:2",
    "xrtDeviceLoadXclbinFile=-1",
    "xrtDeviceLoadXclbinFile=-1:22",
    "xrtDeviceLoadXclbinFile=-1:16",
    "xrtDeviceLoadXclbinFile=-1:1",
    "xrtDeviceGetXclbinUUID=-1:22",
    "xrtDeviceGetXclbinUUID=0",
    "xrtPLKernelOpenExclusive=0:22",
    "xrtPLKernelOpenExclusive=0:16@1",
    "xrtPLKernelOpenExclusive=0@2",
    "xrtKernelArgGroupId=-1",
    "xrtKernelArgGroupId=65535@9",
    "xrtKernelArgGroupId=5@3*1",
    "xrtKernelArgOffset=4294967295:22",
    "xrtKernelArgOffset=68@4",
    "xrtKernelReadRegister=-1",
    "xrtKernelReadRegister=0",
    "register=7",
    "register=4294967295@1",
    "xrtRunOpen=0:12",
    "xrtRunOpen=0@2",
    "xrtRunSetArg=-1:22",
    "xrtRunSetArg=-1@20",
    "xrtRunStart=-1",
    "xrtRunStart=-1:5@1",
    "xrtBOAlloc=0:12",
    "xrtBOAlloc=0:12@6",
    "xrtBOAlloc=0:12@9",
    "xrtBOAlloc.p2p=0:22",
    "xrtBOAlloc.p2p=0:28@1",
    "xrtBOAllocUserPtr=0:22",
    "xrtBOAllocUserPtr=0:12@1",
    "xrtBOImport=0:95",
    "xrtBOImport=0:22@2",
    "xrtBOSize=-1",
    "xrtBOSize=64",
    "xrtBOAddress=-1:22",
    "xrtBOAddress=1088",
    "xrtBOAddress=4096@1",
    "xrtBOMap=0:12",
    "xrtBOMap=4098",
    "xrtBOSync=-1:5",
    "xrtBOSync=-1:5@8",
    "xrtBOSync=-1:5@40",
    "xrtBOWrite=-1:22",
    "xrtBORead=-1:22",
    "xrtBOCopy=-1:5",
];

/// Faults of a run: after those that are marked, the kernel may still write, and its handles stay open.
const OF_A_RUN: &[(&str, bool)] = &[
    ("hang", true),
    ("lost", true),
    ("silent", false),
    ("lying", false),
    ("crash=5", true),
    ("crash=6", true),
    ("crash=8", true),
    ("crash=9", true),
    ("crash=10", true),
    ("crash=11", true),
    ("xrtRunState=-1", true),
    ("xrtRunState=0", true),
];

/// Functions whose failure nobody can do anything about: nothing is said, and XRT keeps what it keeps.
const OF_THE_END: &[&str] =
    &["xrtDeviceClose=-1:22", "xrtKernelClose=-1:22", "xrtRunClose=-1:22", "xrtBOFree=-1:22", "xrtBOFree=-1:22@3*2"];

#[test]
fn without_a_fault_everything_works_and_is_closed() {
    let card = card();
    for _ in 0..2 {
        assert_eq!(card.everything(Deadline::never()), Ok(()));
        assert_eq!((card.control.open_handles(), card.control.violations()), (0, 0));
    }
}

#[test]
fn every_fault_is_one_sentence_and_leaks_nothing() {
    let mut said = vec![];
    for fault in CLEAN {
        let card = card();
        card.control.inject(fault);
        let sentence = card.everything(Deadline::never()).expect_err(fault);
        assert!(!sentence.contains('\n'), "{fault}: {sentence}");
        let left = (card.control.open_handles(), card.control.violations());
        assert_eq!(left, (0, 0), "{fault}: handles that are open, violations; it says: {sentence}");
        said.push(format!("{fault}\n    {}", card.stable(&sentence)));
        // Nothing is left over that would keep the card from working.
        card.control.inject("");
        assert_eq!(card.everything(Deadline::never()), Ok(()), "after {fault}");
    }
    insta::assert_snapshot!("faults", said.join("\n"));
}

#[test]
fn a_run_that_goes_wrong_is_told_and_what_it_uses_is_left_alone() {
    let mut said = vec![];
    for &(fault, open) in OF_A_RUN {
        let card = card();
        card.control.inject(fault);
        // What ends by itself is waited for, so that a slow machine says the same.
        let ends = !matches!(fault, "hang" | "lost");
        let deadline = if ends { Deadline::never() } else { Deadline::after(PATIENCE) };
        let sentence = card.everything(deadline).expect_err(fault);
        assert!(!sentence.contains('\n'), "{fault}: {sentence}");
        let left = (card.control.open_handles() > 0, card.control.violations());
        assert_eq!(left, (open, 0), "{fault}: handles are open, violations; it says: {sentence}");
        assert!(hw::xrt::is_open() || !open, "{fault}");
        said.push(format!("{fault}\n    {}", card.stable(&sentence)));
    }
    insta::assert_snapshot!("runs", said.join("\n"));
}

#[test]
fn a_failure_to_close_changes_no_result() {
    for fault in OF_THE_END {
        let card = card();
        card.control.inject(fault);
        assert_eq!(card.everything(Deadline::never()), Ok(()), "{fault}");
    }
}

#[test]
fn every_function_has_a_fault() {
    let source = include_str!("../src/exports.rs");
    let functions: BTreeSet<_> = source
        .split("extern \"C\" fn xrt")
        .skip(1)
        .map(|rest| format!("xrt{}", rest.split('(').next().unwrap()))
        .collect();
    let faults = CLEAN.iter().chain(OF_A_RUN.iter().map(|(fault, _)| fault)).chain(OF_THE_END);
    let met: BTreeSet<_> = faults
        .map(|fault| fault.split(['=', '@', '.']).next().unwrap().to_owned())
        .filter(|f| f.starts_with("xrt"))
        .collect();
    let without: Vec<_> = functions.difference(&met).collect();
    assert_eq!(without, ["xrtDeviceOpenByBDF"], "that one has a test of its own");
    assert!(met.is_subset(&functions));
}

#[test]
fn a_card_is_found_by_its_place_on_the_bus() {
    let Card { folder, mut options, .. } = card();
    let bus = 0xF0; // no other test has so many cards
    options.card = CardId::Bdf(format!("0000:{bus:02x}:00.1"));
    assert_eq!(everything(&options, folder.path(), Deadline::never()), Ok(()));
    options.card = CardId::Bdf("0000:f0:00.1".to_owned());
    let control = Control::of(&XrtOptions { card: CardId::Index(bus), ..options.clone() });
    assert_eq!((control.open_handles(), control.violations()), (0, 0));
    control.inject("xrtDeviceOpenByBDF=0:19");
    let sentence = everything(&options, folder.path(), Deadline::never()).unwrap_err();
    assert!(
        sentence.starts_with("cannot open card 0000:f0:00.1: xrtDeviceOpenByBDF failed: No such device"),
        "{sentence}"
    );
}

#[test]
fn a_busy_card_is_tried_again() {
    let Card { folder, mut options, control } = card();
    options.patience = Duration::from_mins(1);
    control.inject("xrtDeviceLoadXclbinFile=-1:16*2,xrtPLKernelOpenExclusive=0:16*1");
    assert_eq!(everything(&options, folder.path(), Deadline::never()), Ok(()));
    // Two devices cannot have the same compute units.
    control.inject("");
    let first = XrtDevice::open(&options).unwrap();
    options.patience = Duration::ZERO;
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.contains("trisage_sampler_1") && sentence.contains("another process uses the card"), "{sentence}");
    drop(first);
    assert_eq!(control.open_handles(), 0);
    XrtDevice::open(&options).unwrap();
}

#[test]
fn a_cancelled_run_ends_its_waiter_and_leaves_the_other_slrs() {
    let Card { folder: _folder, options, control } = card();
    let device = XrtDevice::open(&options).unwrap();
    device.load_graph(&graph(), &Silent).unwrap();
    for slr in SLRS {
        device.bind_outputs(slr, Slot(0), OutputBuffers::host(CAPACITY)).unwrap();
    }
    control.inject("hang*1");
    let [hangs, other, _] = SLRS;
    device.cancel(hangs); // nothing is in flight
    device.start(hangs, Slot(0), &request(1)).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| device.wait(hangs, Deadline::never()));
        while !waiter.is_finished() {
            device.cancel(hangs);
            std::thread::yield_now();
        }
        let outcome = waiter.join().unwrap();
        // Whoever comes after the cancellation is told that the SLR is poisoned.
        assert!(
            matches!(outcome, Err(DeviceError::Cancelled { slr } | DeviceError::Poisoned { slr, .. }) if slr == hangs),
            "{outcome:?}"
        );
    });
    assert!(matches!(device.start(hangs, Slot(0), &request(1)), Err(DeviceError::Poisoned { .. })));
    assert!(matches!(device.load_graph(&graph(), &Silent), Err(DeviceError::Poisoned { .. })));
    device.start(other, Slot(0), &request(1)).unwrap();
    assert_eq!(device.wait(other, Deadline::never()).unwrap().hops.nodes[0], 10);
}

#[test]
fn the_watchdog_ends_a_run_that_nobody_limits() {
    let Card { folder, mut options, control } = card();
    options.watchdog = PATIENCE;
    control.inject("hang");
    let sentence = everything(&options, folder.path(), Deadline::never()).unwrap_err();
    assert_eq!(sentence, "SLR0 was not done after 20ms: the watchdog of back end 'xrt' ends it");
}

#[test]
fn a_device_with_a_run_that_never_ends_can_be_dropped() {
    for fault in ["hang", "crash=9"] {
        let Card { folder: _folder, mut options, control } = card();
        options.watchdog = PATIENCE;
        let device = XrtDevice::open(&options).unwrap();
        device.load_graph(&graph(), &Silent).unwrap();
        device.bind_outputs(SLRS[0], Slot(0), OutputBuffers::host(CAPACITY)).unwrap();
        let before = control.open_handles();
        control.inject(fault);
        device.start(SLRS[0], Slot(0), &request(1)).unwrap();
        drop(device);
        // What the other two SLRs had is closed: a kernel, its command, and four buffers of their own at least.
        let left = control.open_handles();
        assert!(left > 0 && left + 2 * 6 <= before, "{fault}: {left} of {before} handles are open");
        assert_eq!(control.violations(), 0, "{fault}");
    }
}

#[test]
fn only_what_was_produced_is_copied_back() {
    let Card { folder: _folder, options, control } = card();
    let device = XrtDevice::open(&options).unwrap();
    device.load_graph(&graph(), &Silent).unwrap();
    let memories = Buffer::ALL.map(|buffer| Arc::new(HostMemory::new(CAPACITY.len_of(buffer))));
    let outputs = OutputBuffers::new(memories.each_ref().map(|memory| OutputMemory::Host(Arc::clone(memory))));
    device.bind_outputs(SLRS[1], Slot(4), outputs).unwrap();
    // Card memory holds zeros; what the host writes after binding stays where the kernel does not write.
    memories.iter().for_each(|memory| memory.fill(-7));
    device.start(SLRS[1], Slot(4), &request(2)).unwrap();
    device.wait(SLRS[1], Deadline::never()).unwrap();
    for (memory, expected) in memories.iter().zip(expected(2)) {
        let (valid, rest) = (memory.to_vec(0..expected.len()), memory.to_vec(expected.len()..memory.len()));
        assert_eq!(valid, expected);
        assert!(!rest.is_empty() && rest.iter().all(|&element| element == -7));
    }
    drop(device);
    assert_eq!((control.open_handles(), control.violations()), (0, 0));
}

#[test]
fn a_shell_without_dma_gets_whole_lines_and_changes_no_element_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let options = fake_xrt::options(folder.path(), 4);
    let mut file = fake_xrt::xclbin(4);
    file.platform = "xilinx_u250_gen3x16_nodma_1".to_owned();
    std::fs::write(&options.xclbin, file.write().unwrap()).unwrap();
    let control = Control::of(&options);
    control.inject("whole-lines");
    let device = XrtDevice::open(&options).unwrap();
    device.load_graph(&graph(), &Silent).unwrap();
    let memories = Buffer::ALL.map(|buffer| Arc::new(HostMemory::new(CAPACITY.len_of(buffer))));
    memories.iter().for_each(|memory| memory.fill(-7));
    let outputs = OutputBuffers::new(memories.each_ref().map(|memory| OutputMemory::Host(Arc::clone(memory))));
    device.bind_outputs(SLRS[0], Slot(0), outputs).unwrap();
    device.start(SLRS[0], Slot(0), &request(2)).unwrap();
    device.wait(SLRS[0], Deadline::never()).unwrap();
    for (memory, expected) in memories.iter().zip(expected(2)) {
        assert_eq!(memory.to_vec(0..expected.len()), expected);
        assert!(memory.to_vec(expected.len()..memory.len()).iter().all(|&element| element == -7));
    }
    // Another platform moves what there is, which such a shell refuses.
    drop(device);
    std::fs::write(&options.xclbin, fake_xrt::xclbin(4).write().unwrap()).unwrap();
    let sentence = everything(
        &XrtOptions { peer_to_peer: true, import_dma_buf: true, ..options },
        folder.path(),
        Deadline::never(),
    );
    assert!(sentence.unwrap_err().contains("bytes that the card wrote: xrtBOSync failed: Invalid argument"));
}

#[test]
fn a_way_that_was_not_asked_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = fake_xrt::options(folder.path(), 2);
    let device = XrtDevice::open(&options).unwrap();
    let refused = |space| DeviceError::OutputSpace { backend: "xrt", space, possible: vec![MemorySpace::Host] };
    assert_eq!(device.bar_outputs(SLRS[0], CAPACITY).unwrap_err(), refused(MemorySpace::CardBar));
    let foreign = OutputBuffers::new_in(CAPACITY, OutputMemory::CardBar);
    assert_eq!(device.bind_outputs(SLRS[0], Slot(0), foreign.clone()), Err(refused(MemorySpace::CardBar)));
    // Card memory of another card is none of this one's.
    let Card { folder: _folder, options, .. } = card();
    let device = XrtDevice::open(&options).unwrap();
    let sentence = device.bind_outputs(SLRS[0], Slot(0), foreign).unwrap_err().to_string();
    assert!(sentence.contains("'samples' of SLR0 is card memory that this device has not handed out"), "{sentence}");
}

#[test]
fn memory_behind_the_bar_outlives_the_device() {
    let Card { folder: _folder, options, control } = card();
    let device = XrtDevice::open(&options).unwrap();
    let outputs = device.bar_outputs(SLRS[2], CAPACITY).unwrap();
    drop(device);
    assert_eq!(control.open_handles(), 5, "four buffers and the card");
    outputs.get(Buffer::Rows).elements().unwrap().store(3, 9);
    drop(outputs);
    assert_eq!((control.open_handles(), control.violations()), (0, 0));
}

#[test]
fn an_xclbin_that_does_not_fit_is_refused_before_xrt_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = fake_xrt::options(folder.path(), 4);
    let control = Control::of(&options);
    let refusal = |change: &dyn Fn(&mut hw::xclbin::Xclbin)| {
        let mut file = fake_xrt::xclbin(4);
        change(&mut file);
        std::fs::write(&options.xclbin, file.write().unwrap()).unwrap();
        let sentence = XrtDevice::open(&options).unwrap_err().to_string();
        assert_eq!(control.open_handles(), 0);
        sentence.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(
        refusal(&|file| file.ips[1].name = "other:other_1".to_owned()),
        "xclbin DIR/card.xclbin: it has no compute unit 'trisage_sampler_2' of a kernel 'trisage_sampler'"
    );
    assert_eq!(
        refusal(&|file| file.ips[2].properties = 3 << 8),
        "xclbin DIR/card.xclbin: its compute unit 'trisage_sampler_3' has control protocol 3, not ap_ctrl_chain (1)"
    );
    assert_eq!(
        refusal(&|file| file.mode = hw::xclbin::Mode::SoftwareEmulation),
        "xclbin DIR/card.xclbin: it is made for software emulation, but XCL_EMULATION_MODE asks for a card"
    );
    let unconnected = hw::registers::id_of("rows") as u32;
    assert!(
        refusal(&|file| file.connections.retain(|c| c.arg != unconnected))
            .starts_with("argument 'rows' of SLR0 is not connected to a memory bank; link the xclbin with one")
    );
    let third = hw::registers::id_of("indices3") as u32;
    assert_eq!(
        refusal(&|file| file.connections.retain(|c| c.arg != third || c.ip != 1)),
        "SLR1 has 3 connected index channels; a kernel has 1, 2, 4 or 8"
    );
    std::fs::write(&options.xclbin, "xclbin2").unwrap();
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.contains("it has 7 bytes"), "{sentence}");
    std::fs::remove_file(&options.xclbin).unwrap();
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.contains("No such file or directory"), "{sentence}");
    for endless in ["/dev/zero", "/"] {
        let options = XrtOptions { xclbin: endless.into(), ..options.clone() };
        let sentence = XrtDevice::open(&options).unwrap_err().to_string();
        assert_eq!(sentence, format!("xclbin {endless}: it is no regular file"));
    }
}

#[test]
fn a_graph_that_does_not_fit_a_bank_is_refused_before_anything_is_moved() {
    let folder = tempfile::tempdir().unwrap();
    let options = fake_xrt::options(folder.path(), 4);
    let mut file = fake_xrt::xclbin(4);
    file.memories[0].kib = 1;
    std::fs::write(&options.xclbin, file.write().unwrap()).unwrap();
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.ends_with("Cannot allocate memory (os error 12); the memory bank is full"), "{sentence}");
    file.memories[0].kib = 512;
    file.memories[1].kib = 16;
    std::fs::write(&options.xclbin, file.write().unwrap()).unwrap();
    let device = XrtDevice::open(&options).unwrap();
    let nodes = 40_000;
    let large = CscGraph::new((0..=nodes).collect(), (0..nodes).map(NodeId::new).collect()).unwrap();
    let refused = device.load_graph(&Arc::new(large), &Silent).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the graph needs 40000 bytes for the indices of a channel, but the memory bank of the card has 16384"
    );
    assert_eq!(device.load_graph(&graph(), &Silent), Ok(()));
}

#[test]
fn the_environment_is_looked_at_before_xrt_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = fake_xrt::options(folder.path(), 1);
    XrtDevice::open(&options).unwrap();
    options.library = Some(folder.path().join("none.so"));
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.contains("none.so cannot be loaded") && sentence.ends_with("is XRT installed?"), "{sentence}");
    assert!(sentence.contains("cannot open shared object file"), "the dynamic linker's words: {sentence}");
    options.library = Some("/dev/zero".into());
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.contains("/dev/zero cannot be loaded: it is no regular file"), "{sentence}");
    options.environment.root = None;
    let sentence = XrtDevice::open(&options).unwrap_err().to_string();
    assert!(sentence.starts_with("XILINX_XRT is not set"), "{sentence}");
}

/// The driver ends a process whose card has hung itself up. The test runs itself, as only a process can die.
#[test]
fn a_bus_error_ends_the_process_with_a_sentence() {
    const NAME: &str = "a_bus_error_ends_the_process_with_a_sentence";
    if env::var_os("TRISAGE_BUS_ERROR").is_some() {
        let card = card();
        card.control.inject("bus");
        let _ = card.everything(Deadline::never());
        panic!("the bus error has passed unnoticed");
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", NAME, "--nocapture"]).env("TRISAGE_BUS_ERROR", "1");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(128 + 7), "{said}");
    assert!(said.contains("error: bus error (SIGBUS)") && said.contains("xbutil reset"), "{said}");
}
