//! A small bus master against the memory, in every profile.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use golden::{Buffer, CscGraph, NodeId};
use hw::{
    BusAccess, HostMemory,
    card::{LINE_ELEMENTS, Port, place_of_edge},
    registers::KernelArgs,
};
use strum::VariantArray;
use verilator_sys::Pins;

use super::{Fault, FaultAt, Line, Memory, MemoryOptions, Place, Profile, Response, Space};

const CHANNELS: usize = 2;
const NODES: u32 = 100;
const EDGES: u32 = 3000;
const OUT: usize = 1;

/// A read burst: port (as the pins number them), id, address, beats.
type Read = (usize, u8, u64, u64);
/// A write burst: port, id, address, lines and strobes.
type Write = (usize, u8, u64, Vec<(Line, u64)>);

struct Bench {
    memory: Memory,
    pins: Pins,
    args: KernelArgs,
    samples: Arc<HostMemory>,
    now: u64,
}

impl Bench {
    fn new(options: &MemoryOptions) -> Self {
        let ends = (0..=NODES).map(|v| v * 30);
        let graph = CscGraph::new(ends.collect(), (0..EDGES).map(|e| NodeId::new(e % NODES)).collect()).unwrap();
        let mut space = Space::new(&Arc::new(graph), CHANNELS, 0x40);
        let buffer = |len| Arc::new(HostMemory::new(len));
        let samples = buffer(1000);
        let seeds: Vec<_> = (0..20).map(NodeId::new).collect();
        space.prepare(&seeds, &[Arc::clone(&samples), buffer(5), buffer(5), buffer(5)]);
        let mut args = KernelArgs::default();
        space.fill_bases(&mut args);
        let memory = Memory::new(space, CHANNELS, options);
        Self { memory, pins: Pins::default(), args, samples, now: 0 }
    }

    fn of(profile: Profile) -> Self {
        Self::new(&MemoryOptions { profile, seed: 5, ..MemoryOptions::default() })
    }

    fn tick(&mut self) {
        self.memory.tick(&mut self.pins, self.now);
        self.now += 1;
        assert!(self.now < 1_000_000, "it hangs");
    }

    fn is_idle(&self) -> bool {
        self.memory.waiting(&self.pins).is_empty()
    }

    /// Makes read bursts, as many at a time as are taken. Gives the beats of each burst, and the order in which bursts ended.
    fn read(&mut self, reads: &[Read]) -> (Vec<Vec<(Line, u8)>>, Vec<usize>) {
        let mut queues: HashMap<usize, VecDeque<usize>> = HashMap::new();
        for (at, read) in reads.iter().enumerate() {
            queues.entry(read.0).or_default().push_back(at);
        }
        let mut asked: HashMap<(usize, u8), VecDeque<usize>> = HashMap::new();
        let (mut beats, mut ended) = (vec![vec![]; reads.len()], vec![]);
        while ended.len() < reads.len() {
            for (&port, queue) in &queues {
                let pins = &mut self.pins.read[port];
                pins.arvalid = u8::from(!queue.is_empty());
                if let Some(&at) = queue.front() {
                    let (_, id, address, beats) = reads[at];
                    (pins.arid, pins.araddr, pins.arlen) = (id, address, beats as u8 - 1);
                    (pins.arsize, pins.arburst) = (6, 1);
                }
                pins.rready = u8::from(!self.now.is_multiple_of(5));
            }
            self.tick();
            for (&port, queue) in &mut queues {
                let pins = &mut self.pins.read[port];
                if pins.rvalid & pins.rready != 0 {
                    // Within an id, answers come in the order of the questions.
                    let waiting = asked.get_mut(&(port, pins.rid)).expect("nothing was asked with this id");
                    let at = waiting[0];
                    beats[at].push((pins.rdata, pins.rresp));
                    assert_eq!(pins.rlast != 0, beats[at].len() as u64 == reads[at].3);
                    if pins.rlast != 0 {
                        ended.extend(waiting.pop_front());
                    }
                }
                if pins.arvalid & pins.arready != 0 {
                    let at = queue.pop_front().unwrap();
                    asked.entry((port, reads[at].1)).or_default().push_back(at);
                }
            }
        }
        (beats, ended)
    }

    /// Makes write bursts on one port, addresses and data each as fast as they are taken. Gives the responses by id, and
    /// whether ever data was taken before its address.
    fn write(&mut self, writes: &[Write]) -> (Vec<(u8, u8)>, bool) {
        let port = writes[0].0;
        let mut addresses: VecDeque<_> = writes.iter().collect();
        let last = |write: &Write, at: usize| u8::from(at + 1 == write.3.len());
        let mut data: VecDeque<_> =
            writes.iter().flat_map(|w| w.3.iter().enumerate().map(move |(at, beat)| (beat, last(w, at)))).collect();
        let (mut answers, mut early) = (vec![], false);
        let all = data.len();
        while answers.len() < writes.len() {
            let pins = &mut self.pins.write[port];
            pins.awvalid = u8::from(!addresses.is_empty());
            if let Some((_, id, address, beats)) = addresses.front() {
                (pins.awid, pins.awaddr, pins.awlen, pins.awsize, pins.awburst) =
                    (*id, *address, beats.len() as u8 - 1, 6, 1);
            }
            pins.wvalid = u8::from(!data.is_empty());
            if let Some(&(&(line, strobe), last)) = data.front() {
                (pins.wdata, pins.wstrb, pins.wlast) = (line, strobe, last);
            }
            pins.bready = u8::from(!self.now.is_multiple_of(3));
            self.tick();
            let pins = &self.pins.write[port];
            if pins.awvalid & pins.awready != 0 {
                addresses.pop_front();
            }
            if pins.wvalid & pins.wready != 0 {
                data.pop_front();
                let needed: usize = writes[..writes.len() - addresses.len()].iter().map(|w| w.3.len()).sum();
                early |= all - data.len() > needed;
            }
            if pins.bvalid & pins.bready != 0 {
                answers.push((pins.bid, pins.bresp));
            }
        }
        (self.pins.write[port].awvalid, self.pins.write[port].wvalid) = (0, 0);
        (answers, early)
    }
}

fn words(line: &Line) -> Vec<u32> {
    line.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn line_of(first: u32) -> Line {
    let mut line = [0; 64];
    for (word, value) in line.chunks_exact_mut(4).zip(first..) {
        word.copy_from_slice(&value.to_le_bytes());
    }
    line
}

#[test]
fn every_profile_reads_the_graph() {
    for &profile in Profile::VARIANTS {
        let mut bench = Bench::of(profile);
        let lines = EDGES.div_ceil(16) as usize;
        // Offsets in short bursts that end at 4 KiB, indices line by line with many ids, seeds in one burst.
        let mut reads: Vec<Read> = (0..12).map(|n| (0, (n % 3) as u8, bench.args.offsets.0 + 64 * n, 1)).collect();
        for line in 0..lines {
            let (channel, element) = place_of_edge(line * LINE_ELEMENTS, CHANNELS);
            reads.push((1 + channel, (line % 64) as u8, bench.args.indices[channel].0 + 4 * element as u64, 1));
        }
        reads.push((9, 1, bench.args.seeds.0, 2));
        let (beats, ended) = bench.read(&reads);
        assert_eq!(bench.memory.violation(), None, "{profile}");
        assert_eq!(bench.memory.take_stray(), None, "{profile}");
        assert!(bench.is_idle());
        let records = beats[..12].iter().flat_map(|burst| words(&burst[0].0));
        let expected = (0..96).flat_map(|node| [node * 30, 30]);
        assert!(records.eq(expected), "{profile}");
        let indices: Vec<u32> = beats[12..12 + lines].iter().flat_map(|burst| words(&burst[0].0)).collect();
        assert!(indices[..EDGES as usize].iter().copied().eq((0..EDGES).map(|e| e % NODES)), "{profile}");
        assert_eq!(words(&beats[12 + lines][0].0), (0..16).collect::<Vec<_>>());
        let in_order = ended.iter().filter(|&&at| reads[at].0 == 1).is_sorted();
        assert_eq!(in_order, profile != Profile::Hostile, "{profile} and the order between ids");
    }
}

#[test]
fn every_profile_writes_what_is_strobed() {
    for &profile in Profile::VARIANTS {
        let mut bench = Bench::of(profile);
        let base = bench.args.outputs[0].0;
        bench.samples.fill(-1);
        let all = u64::MAX;
        let writes: Vec<Write> = vec![
            (OUT, 0, base, vec![(line_of(0), all), (line_of(16), all)]),
            (OUT, 1, base + 128, vec![(line_of(32), 0xF0)]),
            (OUT, 0, base + 192, vec![(line_of(0x0102_0304), 0x3)]),
            (OUT, 2, base + 12 * 64, vec![(line_of(192), 0xFFFF_FFFF)]),
        ];
        // As long as the kernel's are, and as one line.
        let lines = |first: u64, count: u64| (first..first + count).map(|line| (line_of(line as u32), all)).collect();
        let bursts = (2..6).map(|n| (OUT, n as u8 % 4, base + 512 * n, lines(8 * n, 8)));
        let many: Vec<Write> = bursts.chain((48..62).map(|n| (OUT, n as u8 % 4, base + 64 * n, lines(n, 1)))).collect();
        let (answers, early) = bench.write(&[&writes[..], &many[..]].concat());
        assert_eq!(bench.memory.violation(), None, "{profile}");
        assert!(answers.iter().all(|(_, response)| *response == 0));
        assert_eq!(bench.samples.to_vec(0..34), [(0..32).collect(), vec![-1, 33]].concat(), "{profile}");
        assert_eq!(bench.samples.load(48), 0xFFFF_0304_u32.cast_signed());
        assert_eq!(bench.samples.to_vec(191..202), [vec![-1], (192..200).collect(), vec![-1; 2]].concat(), "{profile}");
        assert!((16..62).zip(16..).all(|(line, word)| bench.samples.load(16 * line) == word), "{profile}");
        assert!(early || profile != Profile::Hostile, "data is taken before its address");
    }
}

#[test]
fn a_write_is_seen_after_its_answer() {
    let mut bench = Bench::of(Profile::Hbm);
    let base = bench.args.node_list.0;
    // The write is taken, its answer is not there yet: a read that is asked now reads what was there before.
    (bench.pins.write[0].awvalid, bench.pins.write[0].awaddr) = (1, base);
    (bench.pins.write[0].awsize, bench.pins.write[0].awburst, bench.pins.write[0].wlast) = (6, 1, 1);
    (bench.pins.write[0].wvalid, bench.pins.write[0].wdata, bench.pins.write[0].wstrb) = (1, line_of(7), u64::MAX);
    bench.tick();
    (bench.pins.write[0].awvalid, bench.pins.write[0].wvalid) = (0, 0);
    let (beats, _) = bench.read(&[(9, 0, base, 1)]);
    assert_eq!(beats[0][0].0, [0xA5; 64]);
    bench.pins.write[0].bready = 1;
    while !bench.is_idle() {
        bench.tick();
    }
    assert_eq!(bench.read(&[(9, 0, base, 1)]).0[0][0].0, line_of(7));
}

#[test]
fn an_access_to_nowhere_is_answered_and_told() {
    let bench = Bench::of(Profile::Ideal);
    let args = &bench.args;
    let past_offsets = args.offsets.0 + 64 * u64::from(NODES.div_ceil(8));
    // Past the end of a place, before its begin, and in another port's place.
    for (port, address) in [(0, past_offsets), (0, args.offsets.0 - 64), (1, args.indices[1].0), (9, args.status.0)] {
        let mut bench = Bench::of(Profile::Ideal);
        let (beats, _) = bench.read(&[(port, 3, address, 1)]);
        assert_eq!(beats[0][0].1, Response::DecErr.code());
        assert!(bench.memory.take_stray().unwrap().contains(&format!("read at {address:#x}")));
        assert_eq!(bench.memory.take_stray(), None);
    }
    let mut bench = Bench::of(Profile::Ideal);
    let (answers, _) = bench.write(&[(0, 4, bench.args.seeds.0, vec![(line_of(0), 1)])]);
    assert_eq!(answers, [(4, Response::DecErr.code())]);
    assert!(bench.memory.take_stray().unwrap().contains("write at"));
}

#[test]
fn what_axi_forbids_is_told() {
    let told = |act: &dyn Fn(&mut Bench)| {
        let mut bench = Bench::of(Profile::Ideal);
        act(&mut bench);
        bench.memory.violation().unwrap().to_owned()
    };
    let crossing = told(&|bench| {
        bench.pins.read[1].rready = 1;
        bench.read(&[(1, 0, bench.args.indices[0].0 + 4096 - 128, 2)]);
    });
    assert!(crossing.starts_with("idx0.AR at 0x") && crossing.contains("crosses a 4 KiB boundary"), "{crossing}");
    let silent = told(&|bench| {
        bench.pins.read[5].arvalid = 1;
        bench.tick();
    });
    assert!(silent.starts_with("idx4.AR is used"), "{silent}");
    let changed = told(&|bench| {
        let base = bench.args.outputs[0].0;
        // The queue of early data fills, so that a beat waits.
        (bench.pins.write[OUT].wvalid, bench.pins.write[OUT].wlast) = (1, 1);
        for _ in 0..66 {
            bench.tick();
        }
        bench.pins.write[OUT].wdata = line_of(9);
        bench.tick();
        bench.pins.write[OUT].awaddr = base;
    });
    assert!(changed.starts_with("out.W changed its payload"), "{changed}");
    let last = told(&|bench| {
        let pins = &mut bench.pins.write[OUT];
        (pins.awvalid, pins.awaddr, pins.awlen, pins.awsize, pins.awburst) = (1, bench.args.outputs[0].0, 1, 6, 1);
        (pins.wvalid, pins.wlast) = (1, 1);
        bench.tick();
    });
    assert!(last.starts_with("out.W has last = true in beat 1 of 2"), "{last}");
    let no_last = told(&|bench| {
        let pins = &mut bench.pins.write[OUT];
        (pins.awvalid, pins.awaddr, pins.awlen, pins.awsize, pins.awburst) = (1, bench.args.outputs[0].0, 0, 6, 1);
        pins.wvalid = 1;
        bench.tick();
    });
    assert!(no_last.starts_with("out.W has last = false in beat 1 of 1"), "{no_last}");
    let past = told(&|bench| {
        bench.write(&[(OUT, 0, bench.args.outputs[0].0 + 62 * 64, vec![(line_of(0), u64::MAX)])]);
    });
    assert!(past.starts_with("out.W writes element 1000 of samples, which has 1000"), "{past}");
    let twice = told(&|bench| {
        let write = |strobe| (OUT, 0, bench.args.outputs[0].0 + 64, vec![(line_of(0), strobe)]);
        let writes = [write(0xFFF), write(0xF000), write(0xFF00)];
        bench.write(&writes);
    });
    assert!(twice.starts_with("out.W writes element 18 of samples a second time"), "{twice}");
}

#[test]
fn faults_are_answered_as_asked() {
    let fault = |access, port, at, response| Fault { port, access, at, response };
    let faults = vec![
        fault(BusAccess::Read, Port::Idx(1), FaultAt::Burst(1), Response::SlvErr),
        fault(BusAccess::Write, Port::Out, FaultAt::Line(Place::Output(Buffer::Samples), 70), Response::DecErr),
    ];
    let mut bench = Bench::new(&MemoryOptions { faults, ..MemoryOptions::default() });
    let base = bench.args.indices[1].0;
    let (beats, _) = bench.read(&[(2, 0, base, 1), (2, 0, base, 1), (2, 0, base, 1)]);
    assert_eq!(beats.iter().map(|burst| burst[0].1).collect::<Vec<_>>(), [0, 2, 0]);
    let base = bench.args.outputs[0].0;
    let (answers, _) = bench.write(&[(OUT, 0, base, vec![(line_of(1), u64::MAX), (line_of(2), u64::MAX)])]);
    assert_eq!(answers, [(0, 3)]);
    assert_eq!(bench.samples.load(0), 0, "nothing of a failed burst is written");
    assert_eq!(bench.memory.take_stray(), None);
}

#[test]
fn rates_are_those_of_the_profile() {
    for (profile, expected) in [(Profile::Ideal, 1020), (Profile::Hbm, 4070), (Profile::Ddr4, 4050)] {
        let mut bench = Bench::of(profile);
        let reads: Vec<Read> = (0..1000u64).map(|n| (1, (n % 64) as u8, bench.args.indices[0].0, 1)).collect();
        bench.read(&reads);
        // The master takes four beats in five cycles.
        let expected = if profile == Profile::Ideal { 1270 } else { expected };
        assert!(bench.now.abs_diff(expected) < 40, "{profile}: {} cycles", bench.now);
    }
}

#[test]
fn writes_go_at_the_rates_of_the_profile() {
    // Cycles for 60 lines, one a burst and 6 a burst. The master takes two answers in three cycles.
    for (profile, expected) in [(Profile::Ideal, [90, 60]), (Profile::Hbm, [240, 80]), (Profile::Ddr4, [240, 60])] {
        for (lines, expected) in [1, 6].into_iter().zip(expected) {
            let mut bench = Bench::of(profile);
            let base = bench.args.outputs[0].0;
            let burst = |n: u64| (OUT, 0, base + 64 * lines * n, vec![(line_of(0), u64::MAX); lines as usize]);
            bench.write(&(0..60 / lines).map(burst).collect::<Vec<_>>());
            let timing = profile.timing();
            let taken = bench.now - u64::from(timing.latency);
            assert!(taken >= expected && taken < expected + u64::from(timing.jitter) + 8, "{profile}: {taken} cycles");
        }
    }
}

#[test]
fn the_log_has_no_cycles() {
    let log = |profile| {
        let mut bench = Bench::new(&MemoryOptions { profile, log: true, ..MemoryOptions::default() });
        bench.read(&[(0, 1, bench.args.offsets.0 + 64, 1), (0, 2, bench.args.offsets.0, 1)]);
        bench.write(&[(OUT, 0, bench.args.outputs[2].0, vec![(line_of(3), 0xFF)])]);
        bench.memory.log().unwrap()
    };
    let expected = "offs.AR offsets+0x40 id 1 beats 1\noffs.AR offsets+0x0 id 2 beats 1\n\
                    offs.R id 1 beat 1 of 1 resp 0\noffs.R id 2 beat 1 of 1 resp 0\n\
                    out.AW cols+0x0 id 0 beats 1\nout.B id 0 resp 0\nout.W strobe 00000000000000ff last: 3 4\n";
    assert_eq!(log(Profile::Ideal), expected);
    assert_eq!(log(Profile::Hbm), expected);
}
