//! From `SystemVerilog` to a clocked model: what is built, what is cached, what is said when it fails.

use std::{
    cell::RefCell,
    env, fs, io, mem,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
};

use verilator_sys::{
    BenchLibrary, BenchModel, Fill, LoadError, Model, ModelLibrary,
    build::{ModelSpec, Places, Top, Variant, compile_in},
};

/// A module with the kernel's ports and this body.
fn module(body: &str) -> String {
    let kernel = include_str!("../../../hw/rtl/trisage_sampler.sv");
    let ports = &kernel[..kernel.find(");").expect("its port list ends") + 2];
    format!("/* verilator lint_off UNDRIVEN */\n/* verilator lint_off UNUSED */\n{ports}\n{body}\nendmodule\n")
}

/// Counts the writes of the value that it holds, checks that it is not 13, and has one register without reset.
const COUNTER: &str = "
  logic [31:0] count, unknown;
  always_ff @(posedge ap_clk) begin
    if (!ap_rst_n) count <= 0;
    else if (s_axi_control_awvalid) count <= count + 1;
    if (ap_rst_n && s_axi_control_awvalid) unknown <= s_axi_control_wdata;
  end
  assign s_axi_control_rdata = s_axi_control_araddr_q ? unknown : count;
  logic s_axi_control_araddr_q;
  always_ff @(posedge ap_clk) s_axi_control_araddr_q <= s_axi_control_araddr[0];
  NoThirteen: assert property (@(posedge ap_clk) disable iff (!ap_rst_n) count != 13)
    else $error(\"%m: thirteen\");
";

struct Fixture {
    folder: tempfile::TempDir,
    places: Places,
}

impl Fixture {
    fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [rtl, bench, cache] = ["rtl", "bench", "cache"].map(|name| folder.path().join(name));
        let places = Places { rtl, bench, cache };
        fs::create_dir(&places.rtl).unwrap();
        fs::write(places.rtl.join("files.f"), "trisage_pkg.sv\ntrisage_sampler.sv\n").unwrap();
        fs::write(places.rtl.join("trisage_pkg.sv"), include_str!("../../../hw/rtl/trisage_pkg.sv")).unwrap();
        let waivers =
            "`verilator_config\nlint_off -rule UNUSEDPARAM\nlint_off -rule SYMRSVDWORD\nlint_off -rule UNUSEDSIGNAL\n";
        fs::write(places.rtl.join("lint.vlt"), waivers).unwrap();
        let fixture = Self { folder, places };
        fixture.set(body);
        fixture
    }

    fn set(&self, body: &str) {
        fs::write(self.places.rtl.join("trisage_sampler.sv"), module(body)).unwrap();
    }

    /// The library, and whether it was made now.
    fn compile(&self, variant: Variant) -> Result<(PathBuf, bool), String> {
        let (path, said) = self.compile_and_tell(variant)?;
        Ok((path, said.iter().any(|line| line.starts_with("compiled"))))
    }

    /// The library, and what was said.
    fn compile_and_tell(&self, variant: Variant) -> Result<(PathBuf, Vec<String>), String> {
        let said = RefCell::new(vec![]);
        let parameters = [("INDEX_CHANNELS".to_owned(), 2)].into();
        let spec = ModelSpec { top: Top::Kernel, parameters, variant };
        let path = compile_in(&self.places, &spec, &|line| said.borrow_mut().push(line.to_owned()));
        path.map(|path| (path, said.into_inner())).map_err(|error| error.to_string())
    }

    fn model(&self, variant: Variant, fill: Fill) -> Model {
        let library = ModelLibrary::load(&self.compile(variant).unwrap().0).unwrap();
        Model::new(&library, fill).unwrap()
    }
}

/// What is in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_model_is_made_once_for_each_content() {
    let fixture = Fixture::new(COUNTER);
    let (first, made) = fixture.compile(Variant::Fast).unwrap();
    assert!(made);
    assert_eq!(fixture.compile(Variant::Fast).unwrap(), (first.clone(), false));
    let key = first.parent().unwrap();
    assert_eq!(names(&fixture.places.cache), [key.file_name().unwrap().to_str().unwrap(), "lock"]);
    assert_eq!(names(key), ["build.log", "model.sha256", "model.so"]);

    fixture.set(&COUNTER.replace("13", "14"));
    let (second, made) = fixture.compile(Variant::Fast).unwrap();
    assert!(made && second != first, "a source changed");
    fixture.set(COUNTER);
    assert_eq!(fixture.compile(Variant::Fast).unwrap(), (first, false), "the source is again as it was");
}

#[test]
fn two_at_once_make_it_once() {
    let fixture = Fixture::new(COUNTER);
    let outcomes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| fixture.compile(Variant::Fast).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(outcomes[0].0, outcomes[1].0);
    assert_eq!(outcomes.iter().filter(|(_, made)| *made).count(), 1);
}

#[test]
fn a_broken_source_is_an_error_in_verilators_words() {
    let fixture = Fixture::new("assign interrupt = nowhere;");
    let message = fixture.compile(Variant::Test).unwrap_err();
    assert!(message.starts_with("Verilator (test, INDEX_CHANNELS=2) failed:"), "{message}");
    assert!(message.contains("nowhere"), "{message}");
    let log = message.rsplit_once(" is in ").unwrap().1.trim_end_matches(')');
    assert!(fs::read_to_string(log).unwrap().contains("nowhere"));
    let log = Path::new(log).file_name().unwrap().to_str().unwrap();
    let left = names(&fixture.places.cache);
    assert_eq!(left, [log, "lock"]);
}

#[test]
fn a_part_of_a_model_is_made_again() {
    let fixture = Fixture::new(COUNTER);
    let (library, _) = fixture.compile(Variant::Fast).unwrap();
    let whole = fs::read(&library).unwrap();
    fs::write(&library, &whole[..4096]).unwrap();
    let (again, said) = fixture.compile_and_tell(Variant::Fast).unwrap();
    assert!(again == library && said[0].contains("is broken and is made again: model.so"), "{said:?}");
    assert_eq!(fs::read(&library).unwrap().len(), whole.len());
    assert!(!fixture.compile(Variant::Fast).unwrap().1);
}

#[test]
fn places_are_named_when_they_cannot_be_used() {
    let mut fixture = Fixture::new(COUNTER);
    let rtl = mem::replace(&mut fixture.places.rtl, "/nowhere".into());
    let message = fixture.compile(Variant::Fast).unwrap_err();
    assert!(message.starts_with("the RTL cannot be read from /nowhere: No such file"), "{message}");
    assert!(message.ends_with("name another folder in TRISAGE_RTL"), "{message}");
    (fixture.places.rtl, fixture.places.cache) = (rtl, "/dev/null/cache".into());
    let message = fixture.compile(Variant::Fast).unwrap_err();
    assert!(message.starts_with("compiled RTL models cannot be kept in /dev/null/cache: Not a dir"), "{message}");
    assert!(message.ends_with("another folder in TRISAGE_CACHE, or in TRISAGE_HOME for tools and models"), "{message}");
}

#[test]
fn a_relative_cache_is_one_of_the_current_folder() {
    let mut fixture = Fixture::new(COUNTER);
    // Up to the root, as nothing may be written where the sources are.
    let up: PathBuf = env::current_dir().unwrap().iter().skip(1).map(|_| "..").collect();
    fixture.places.cache = up.join(fixture.places.cache.strip_prefix("/").unwrap());
    let (library, made) = fixture.compile(Variant::Fast).unwrap();
    assert!(made && library.is_absolute());
    ModelLibrary::load(&library).unwrap();
}

#[test]
fn the_loaders_words_are_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("model.so");
    fs::write(&library, "text").unwrap();
    let message = ModelLibrary::load(&library).unwrap_err().to_string();
    assert!(message.contains("too short"), "{message}");
}

#[test]
fn a_model_counts_and_a_failed_assertion_is_an_error() {
    let fixture = Fixture::new(COUNTER);
    let mut model = fixture.model(Variant::Test, Fill::Ones);
    // It may move to another thread.
    let mut model = thread::spawn(move || {
        model.clock().unwrap();
        model
    })
    .join()
    .unwrap();
    model.pins_mut().control.araddr = 1;
    model.clock().unwrap();
    assert_eq!(model.pins().control.rdata, u32::MAX, "a register without reset is filled as asked");
    model.pins_mut().control.araddr = 0;
    model.pins_mut().control.rst_n = 1;
    model.pins_mut().control.awvalid = 1;
    for count in 1..=13 {
        model.clock().unwrap();
        assert_eq!(model.pins().control.rdata, count);
    }
    let error = model.clock().unwrap_err();
    assert_eq!(error.cycle, 16);
    assert!(error.message.contains("NoThirteen: thirteen"), "{}", error.message);
    assert_eq!(model.clock(), Err(error), "the same again");
}

#[test]
fn models_of_one_library_are_strangers() {
    let fixture = Fixture::new(COUNTER);
    let library = ModelLibrary::load(&fixture.compile(Variant::Test).unwrap().0).unwrap();
    assert!(!library.has_waves() && !library.has_coverage() && library.verilator().starts_with('5'));
    let run = |clocks: u32, library: &Arc<ModelLibrary>| {
        let mut model = Model::new(library, Fill::Random(7)).unwrap();
        model.clock().unwrap();
        (model.pins_mut().control.rst_n, model.pins_mut().control.awvalid) = (1, 1);
        (0..clocks).find_map(|_| model.clock().err()).map_or(model.pins().control.rdata, |error| {
            assert!(error.message.contains("thirteen"));
            0
        })
    };
    thread::scope(|scope| {
        let failing = scope.spawn(|| run(30, &library));
        let fine = scope.spawn(|| run(12, &library));
        assert_eq!((failing.join().unwrap(), fine.join().unwrap()), (0, 12));
    });
}

#[test]
fn an_output_that_follows_an_input_at_once_is_an_error() {
    let fixture = Fixture::new("assign m_axi_offs_rready = m_axi_offs_rvalid;");
    let mut model = fixture.model(Variant::Test, Fill::Zeros);
    model.pins_mut().control.rst_n = 1;
    model.clock().unwrap();
    model.pins_mut().read[0].rvalid = 1;
    let error = model.clock().unwrap_err();
    assert_eq!(error.message, "output m_axi_offs_rready follows an input combinationally");
}

/// Adds up its inputs' first word, and shows the sum with the word of the same cycle in it.
const ADDER: &str = "
module module_bench (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [31:0]     bench_i,
  input  logic [32*128-1:0] in_i,
  output logic [32*128-1:0] out_o
);
  logic [31:0] sum_q;
  logic [31:0] shown;
  assign shown = sum_q + in_i[31:0] + bench_i;
  assign out_o = (32*128)'(shown);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) sum_q <= 0;
    else         sum_q <= sum_q + in_i[31:0];
  end
endmodule
";

#[test]
fn benches_are_a_top_of_their_own() {
    let fixture = Fixture::new(COUNTER);
    fs::create_dir(&fixture.places.bench).unwrap();
    fs::write(fixture.places.bench.join("files.f"), "module_bench.sv\n").unwrap();
    fs::write(fixture.places.bench.join("module_bench.sv"), ADDER).unwrap();
    let compile = || {
        let said = RefCell::new(0);
        let path = compile_in(&fixture.places, &ModelSpec::bench(Variant::Test), &|_| *said.borrow_mut() += 1);
        path.map(|path| (path, said.into_inner() > 0)).map_err(|error| error.to_string())
    };
    let (path, made) = compile().unwrap();
    assert!(made && compile() == Ok((path.clone(), false)));
    assert!(matches!(ModelLibrary::load(&path), Err(LoadError::Top { .. })));
    let (kernel, _) = fixture.compile(Variant::Test).unwrap();
    assert!(matches!(BenchLibrary::load(&kernel), Err(LoadError::Top { .. })));

    let mut model = BenchModel::new(&BenchLibrary::load(&path).unwrap(), Fill::Zeros).unwrap();
    model.clock().unwrap();
    (model.pins_mut().bench, model.pins_mut().rst_n, model.pins_mut().inputs[0]) = (100, 1, 1);
    for sum in 1..5 {
        model.clock().unwrap();
        assert_eq!(model.pins().outputs[0], 100 + sum, "as it stood before the edge, with the inputs of that cycle");
    }

    // A change of a bench is none of the kernel.
    fs::write(fixture.places.bench.join("module_bench.sv"), ADDER.replace("+ bench_i", "- bench_i")).unwrap();
    assert!(compile().unwrap().1 && !fixture.compile(Variant::Test).unwrap().1);
}

#[test]
fn coverage_is_a_variant() {
    let fixture = Fixture::new(COUNTER);
    let file = fixture.folder.path().join("file");
    let mut fast = fixture.model(Variant::Fast, Fill::Zeros);
    assert!(!fast.open_waves(&file) && !fast.write_coverage(&file), "the fast variant has neither it nor waves");

    let mut model = fixture.model(Variant::Coverage, Fill::Zeros);
    model.clock().unwrap();
    assert!(model.write_coverage(&file));
    assert!(fs::read_to_string(&file).unwrap().contains("trisage_sampler"));
}

#[test]
fn waves_are_a_variant() {
    let fixture = Fixture::new(COUNTER);
    let file = fixture.folder.path().join("file");
    let mut model = fixture.model(Variant::Waves, Fill::Zeros);
    let library = fs::read(fixture.compile(Variant::Waves).unwrap().0).unwrap();
    for foreign in ["liblz4.so", "libz.so"] {
        assert!(!library.windows(foreign.len()).any(|part| part == foreign.as_bytes()), "it needs {foreign}");
    }
    assert!(!model.open_waves(&fixture.folder.path().join("no/such/folder")));
    assert!(model.open_waves(&file) && !model.open_waves(&file));
    model.clock().unwrap();
    assert!(model.close_waves() && model.close_waves());
    assert!(fs::metadata(&file).unwrap().len() > 100);

    // A full disk is no reason to crash.
    assert!(model.open_waves(Path::new("/dev/full")));
    model.clock().unwrap();
    assert!(!model.close_waves() && model.close_waves());
    model.clock().unwrap();
}

/// As on a machine without the packages that bring headers of LZ4 and zlib: here others are found before those of the system,
/// and no compiler accepts them. (Their libraries are no part of a model, as the test of waves looks.)
#[test]
fn waves_need_no_header_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let spoilt = |command: &mut Command| command.env("CPATH", folder.path()).output().unwrap();
    for header in ["lz4.h", "zlib.h", "zconf.h"] {
        fs::write(folder.path().join(header), "#error of the system\n").unwrap();
        // It is what is found where nothing else comes first.
        let uses = folder.path().join("uses.cpp");
        fs::write(&uses, format!("#include <{header}>\n")).unwrap();
        let output = spoilt(Command::new("g++").arg("-fsyntax-only").arg(&uses));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("#error of the system"), "{said}");
    }
    let test = ["--exact", "waves_are_a_variant"];
    let output = spoilt(Command::new(env::current_exe().unwrap()).args(test));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
