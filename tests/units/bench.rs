//! A module in its bench.

use std::{
    env,
    marker::PhantomData,
    path::PathBuf,
    process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use verilator_sys::{
    BenchLibrary, BenchModel, Fill,
    build::{ModelSpec, Variant, compile},
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Cycles of reset.
const RESET_CYCLES: usize = 4;

/// A module under test: its place in `hw/bench/module_bench.sv`, and what its bench takes and gives, word for word.
pub(crate) trait Module {
    /// The number of its bench; of the first, if there are some of different sizes.
    const NUMBER: u32;
    type In: IntoBytes + Immutable + Default;
    type Out: FromBytes;
}

/// A module, its pins and its clock.
pub(crate) struct Bench<M> {
    library: Arc<BenchLibrary>,
    model: BenchModel,
    number: u32,
    failed: bool,
    module: PhantomData<M>,
}

impl<M: Module> Bench<M> {
    pub(crate) fn new() -> Self {
        Self::nth(0)
    }

    /// The module in its `n`-th size.
    pub(crate) fn nth(n: u32) -> Self {
        let library = library();
        let model = new_model(&library);
        let mut bench = Self { library, model, number: M::NUMBER + n, failed: false, module: PhantomData };
        bench.reset();
        bench
    }

    /// Resets the module, for the next case. Registers without a reset keep what the case before left in them.
    pub(crate) fn reset(&mut self) {
        if self.failed {
            self.model = new_model(&self.library);
            self.failed = false;
        }
        self.model.pins_mut().rst_n = 0;
        for _ in 0..RESET_CYCLES {
            self.clock(&M::In::default()).expect("no assertion is checked in reset");
        }
        self.model.pins_mut().rst_n = 1;
    }

    /// One cycle with these inputs; gives the outputs that stood there before the clock rose.
    pub(crate) fn clock(&mut self, input: &M::In) -> Result<M::Out, String> {
        let pins = self.model.pins_mut();
        pins.bench = self.number;
        let bytes = input.as_bytes();
        pins.inputs.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        self.model.clock().map_err(|error| {
            self.failed = true;
            error.to_string()
        })?;
        let (out, _) = M::Out::read_from_prefix(self.model.pins().outputs.as_bytes()).expect("there are words enough");
        Ok(out)
    }
}

impl<M> Drop for Bench<M> {
    fn drop(&mut self) {
        static BENCHES: AtomicU32 = AtomicU32::new(0);
        if let Some(folder) = coverage() {
            let number = BENCHES.fetch_add(1, Relaxed);
            let path = folder.join(format!("coverage-units-{}-{number}.dat", process::id()));
            assert!(self.model.write_coverage(&path), "no coverage could be written to {}", path.display());
        }
    }
}

/// Where coverage is to be left, if it is asked for.
fn coverage() -> Option<PathBuf> {
    env::var_os("TRISAGE_COVERAGE").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

fn library() -> Arc<BenchLibrary> {
    static LIBRARY: OnceLock<Arc<BenchLibrary>> = OnceLock::new();
    let load = || {
        let variant = if coverage().is_some() { Variant::Coverage } else { Variant::Test };
        let path = compile(&ModelSpec::bench(variant), &|line| eprintln!("{line}")).unwrap_or_else(|e| panic!("{e}"));
        BenchLibrary::load(&path).unwrap_or_else(|e| panic!("{e}"))
    };
    Arc::clone(LIBRARY.get_or_init(load))
}

fn new_model(library: &Arc<BenchLibrary>) -> BenchModel {
    BenchModel::new(library, Fill::Random(1)).expect("there is memory for a model")
}
