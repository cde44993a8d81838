//! Compiles the RTL into a shared library: Verilator, then g++, cached by content.

mod cache;
mod compression;
mod process;
mod steps;
mod tools;

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{self, Path, PathBuf},
    time::Instant,
};

use cache::{Content, Entry};
use steps::Steps;
use tools::{Compiler, Verilator};

pub use process::{end_tools, run_tool};

/// The top module of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Top {
    /// The kernel, with [`crate::Pins`].
    #[default]
    Kernel,
    /// The benches of single modules, with [`crate::BenchPins`].
    Bench,
}

impl Top {
    /// Its name in the source.
    const fn module(self) -> &'static str {
        match self {
            Self::Kernel => "trisage_sampler",
            Self::Bench => "module_bench",
        }
    }
}

impl fmt::Display for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "kernel",
            Self::Bench => "module benches",
        })
    }
}

/// What a model is compiled for.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Variant {
    /// To find mistakes: every unknown (X, registers before reset) is filled as the model is asked to.
    Test,
    /// Made for speed: unknowns are whatever is fastest. Assertions are checked in every variant.
    Fast,
    /// As `Test`, and can write waves.
    Waves,
    /// As `Test`, and collects line and cover-point coverage.
    Coverage,
}

/// Which model is wanted. Equal specifications on equal sources give the same library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// What is compiled.
    pub top: Top,
    /// Parameters of the top module by name; those not named keep their default.
    pub parameters: BTreeMap<String, u64>,
    /// What it is compiled for.
    pub variant: Variant,
}

impl ModelSpec {
    /// The benches of single modules.
    pub fn bench(variant: Variant) -> Self {
        Self { top: Top::Bench, parameters: BTreeMap::new(), variant }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.top != Top::Kernel {
            write!(f, "{}, ", self.top)?;
        }
        write!(f, "{}", self.variant)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, ", {name}={value}"))
    }
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool is not there, or too old.
    #[error("{0}")]
    Tool(String),
    /// A tool says no.
    #[error("{step} failed:\n{output}\n(everything it said is in {})", .log.display())]
    Failed {
        /// What was done.
        step: String,
        /// The tool's own words, the last lines of them.
        output: String,
        /// The log, which stays.
        log: PathBuf,
    },
    /// A source was changed while it was compiled, so nobody knows of which state the model is.
    #[error("the RTL was changed while its model was compiled; try again")]
    Changed,
    /// RTL or models cannot be where they are said to be.
    #[error("{place} {}: {error}; name another folder in {}", .path.display(), .place.variables())]
    Place {
        /// Which place.
        place: Place,
        /// The folder.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

/// Gives an [`io::Error`] its path.
fn at(path: &Path) -> impl FnOnce(io::Error) -> BuildError + '_ {
    |error| BuildError::Io { path: path.to_owned(), error }
}

/// One of [`Places`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// [`Places::rtl`].
    Rtl,
    /// [`Places::cache`].
    Cache,
}

impl Place {
    /// The environment variable that names it.
    const fn variable(self) -> &'static str {
        match self {
            Self::Rtl => "TRISAGE_RTL",
            Self::Cache => "TRISAGE_CACHE",
        }
    }

    /// Those that may name it, for messages.
    const fn variables(self) -> &'static str {
        match self {
            Self::Rtl => self.variable(),
            Self::Cache => "TRISAGE_CACHE, or in TRISAGE_HOME for tools and models",
        }
    }

    /// Its folder as the environment names it, if it does.
    fn named(self) -> Option<PathBuf> {
        tools::named(self.variable()).map(PathBuf::from)
    }

    /// Gives an [`io::Error`] its place.
    fn at(self, path: &Path) -> impl FnOnce(io::Error) -> BuildError + '_ {
        move |error| BuildError::Place { place: self, path: path.to_owned(), error }
    }

    /// The folder from the root, as tools run in others.
    fn absolute(self, folder: &Path) -> Result<PathBuf, BuildError> {
        path::absolute(folder).map_err(self.at(folder))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rtl => "the RTL cannot be read from",
            Self::Cache => "compiled RTL models cannot be kept in",
        })
    }
}

/// Where sources are read and models are kept.
#[derive(Debug, Clone)]
pub struct Places {
    /// The RTL, with `files.f` in it.
    pub rtl: PathBuf,
    /// The benches of its modules, with `files.f` in it.
    pub bench: PathBuf,
    /// Compiled models, a folder each.
    pub cache: PathBuf,
}

impl Places {
    /// `hw/rtl`, `hw/bench` and `target/rtl-models` of the project from which this crate was compiled; the environment
    /// variables `TRISAGE_RTL` and `TRISAGE_CACHE` name others of the first and the last, and `TRISAGE_HOME` a folder in place
    /// of the project for what is written, if they are not empty.
    pub fn of_project() -> Self {
        Self {
            rtl: Place::Rtl.named().unwrap_or_else(|| project().join("hw/rtl")),
            bench: project().join("hw/bench"),
            cache: Place::Cache.named().unwrap_or_else(|| home().join("target/rtl-models")),
        }
    }
}

/// The project's root.
fn project() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).expect("the crate lies in sim/ of the project").to_owned()
}

/// Where tools and models are: what `TRISAGE_HOME` names, or the project's root.
fn home() -> PathBuf {
    tools::named("TRISAGE_HOME").map_or_else(project, PathBuf::from)
}

/// The library of the model that `spec` asks for, from the cache or newly made. `progress` is told in a line what takes
/// time, and then how long it took.
///
/// Processes that want the same model at the same time make it once, and none sees a part of one.
///
/// # Errors
/// [`BuildError`]: no Verilator, what it or the compiler says of the sources, or a file that cannot be read or written.
pub fn compile(spec: &ModelSpec, progress: &dyn Fn(&str)) -> Result<PathBuf, BuildError> {
    compile_in(&Places::of_project(), spec, progress)
}

/// As [`compile`], with sources and cache elsewhere.
///
/// # Errors
/// As [`compile`].
pub fn compile_in(places: &Places, spec: &ModelSpec, progress: &dyn Fn(&str)) -> Result<PathBuf, BuildError> {
    let (rtl, cache) = (Place::Rtl.absolute(&places.rtl)?, Place::Cache.absolute(&places.cache)?);
    fs::read_dir(&rtl).map_err(Place::Rtl.at(&rtl))?;
    let compiler = Compiler::find()?;
    let verilator = Verilator::find(&home())?;
    let steps = Steps { spec, rtl: &rtl, bench: &places.bench, verilator: &verilator, compiler: &compiler };
    let key = steps.key()?;
    let entry = Entry::new(&cache, &key);
    if let Content::Model(library) = entry.content() {
        return Ok(library);
    }
    let _lock = entry.lock(progress)?;
    match entry.content() {
        Content::Model(library) => return Ok(library),
        Content::Broken(why) => {
            progress(&format!("the RTL model in {} is broken and is made again: {why}", entry.folder().display()));
        }
        Content::Nothing => {}
    }
    progress(&format!("compiling the RTL model ({spec})"));
    let begin = Instant::now();
    let work = entry.begin()?;
    steps.run(work.path(), &work.path().join(cache::LOG)).map_err(|error| match error {
        BuildError::Failed { step, output, .. } => match entry.keep_log(work.path()) {
            Ok(log) => BuildError::Failed { step, output, log },
            Err(error) => error,
        },
        error => error,
    })?;
    if steps.key()? != key {
        return Err(BuildError::Changed);
    }
    let library = entry.publish(work.path())?;
    progress(&format!("compiled the RTL model ({spec}) in {:.1} s", begin.elapsed().as_secs_f64()));
    Ok(library)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The files below `folder` with one of these extensions, sorted.
fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.is_dir() {
            found.extend(files_below(&path, extensions)?);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
