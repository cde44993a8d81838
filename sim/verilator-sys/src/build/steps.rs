//! The steps from `SystemVerilog` to a library.

use std::{
    cmp::Reverse,
    fs,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use sha2::{Digest, Sha256};

use super::{
    BuildError, ModelSpec, Top, Variant, at,
    cache::LIBRARY,
    compression, files_below, hex,
    process::run_tool,
    tools::{Compiler, Verilator},
};

/// Our sources in C: those that are compiled, then those that are included. Part of this crate, so that a cached model
/// belongs to them.
const WRAPPER: (&str, &str) = ("trisage_model.cpp", include_str!("../../c/trisage_model.cpp"));
const HEADERS: [(&str, &str); 4] = [
    ("trisage_bench.h", include_str!("../../c/trisage_bench.h")),
    ("trisage_kernel.h", include_str!("../../c/trisage_kernel.h")),
    ("trisage_model.h", include_str!("../../c/trisage_model.h")),
    ("trisage_print.h", include_str!("../../c/trisage_print.h")),
];

/// Nothing but the C interface is visible from outside.
const EXPORTS: &str = "{ global: trisage_model_*; local: *; };\n";

/// Asks the C++ compiler for messages without colours, as they are read as text, whatever `CXX` asks for.
const PLAIN: &str = "-fdiagnostics-color=never";

/// C++ compilers that run at the same time.
const JOBS: usize = 2;
/// Lines of a tool's output that an error repeats.
const LINES: usize = 40;

/// Everything that decides what the library is.
pub(super) struct Steps<'a> {
    pub(super) spec: &'a ModelSpec,
    pub(super) rtl: &'a Path,
    pub(super) bench: &'a Path,
    pub(super) verilator: &'a Verilator,
    pub(super) compiler: &'a Compiler,
}

impl Steps<'_> {
    /// A digest of everything that decides what the library is.
    pub(super) fn key(&self) -> Result<String, BuildError> {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        for text in [&self.verilator.version, &self.compiler.version, EXPORTS] {
            add(text.as_bytes());
        }
        let flags = [self.verilator_flags(), self.cxx_flags(Speed::Fast), self.cxx_flags(Speed::Slow)];
        for flag in flags.iter().flatten().chain(&self.compiler.words) {
            add(flag.as_bytes());
        }
        for (name, content) in self.compression() {
            add(name.as_bytes());
            add(content);
        }
        for (name, text) in HEADERS.iter().chain([&WRAPPER]) {
            add(name.as_bytes());
            add(text.as_bytes());
        }
        for folder in self.folders() {
            for path in files_below(folder, &["f", "sv", "svh", "v", "vh", "vlt"])? {
                add(path.strip_prefix(folder).unwrap_or(&path).as_os_str().as_encoded_bytes());
                add(&fs::read(&path).map_err(at(&path))?);
            }
        }
        Ok(hex(&hash.finalize()[..16]))
    }

    /// The folders of the sources, each with `files.f` and perhaps `lint.vlt`.
    fn folders(&self) -> Vec<&Path> {
        match self.spec.top {
            Top::Kernel => vec![self.rtl],
            Top::Bench => vec![self.rtl, self.bench],
        }
    }

    /// Makes the library in `folder`; `log` takes every command and what it says.
    pub(super) fn run(&self, folder: &Path, log: &Path) -> Result<(), BuildError> {
        let log = Log { folder, path: log, file: Mutex::new(File::create(log).map_err(at(log))?) };
        for (name, text) in HEADERS.into_iter().chain([WRAPPER, ("exports", EXPORTS)]) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(at(&path))?;
        }
        for (name, content) in self.compression() {
            let path = folder.join(name);
            fs::write(&path, content).map_err(at(&path))?;
        }

        // Names such as rtl/fifo.sv are what the waivers match, and are short in messages.
        let home = self.rtl.parent().unwrap_or(self.rtl);
        let mut verilate = self.verilator.command();
        verilate.current_dir(home).args(self.verilator_flags()).arg("--Mdir").arg(folder);
        let sources: Vec<_> = self.folders().into_iter().map(|path| path.strip_prefix(home).unwrap_or(path)).collect();
        for source in &sources {
            verilate.arg(format!("-I{}", source.display()));
            verilate.args(Some(source.join("lint.vlt")).filter(|waivers| home.join(waivers).exists()));
        }
        for source in &sources {
            verilate.arg("-F").arg(source.join("files.f"));
        }
        log.run(&format!("Verilator ({})", self.spec), &mut verilate)?;

        let classes = folder.join(format!("V{}_classes.mk", self.spec.top.module()));
        made(&classes).map_err(|why| self.verilator.useless(&why))?;
        let classes = Classes::parse(&fs::read_to_string(&classes).map_err(at(&classes))?);
        let mut sources = vec![(folder.join(WRAPPER.0), Speed::Fast)];
        for (class, speed, of_runtime) in &classes.sources {
            let home = if *of_runtime { self.verilator.root.join("include") } else { folder.to_owned() };
            sources.push((home.join(class).with_extension("cpp"), *speed));
        }
        // What takes longest begins first.
        let size = |source: &Path| fs::metadata(source).map_or(0, |metadata| metadata.len());
        sources.sort_by_key(|(source, speed)| (*speed, Reverse(size(source))));
        let mut objects: Vec<_> =
            sources.iter().map(|(source, speed)| self.compilation(folder, source, *speed, &classes)).collect();
        run_all(&log, &mut objects, &|object| made(&folder.join(object)).map_err(|why| self.compiler.useless(&why)))?;

        let mut link = self.compiler.command();
        link.current_dir(folder).args(["-shared", "-pthread", "-o", LIBRARY, "-Wl,--version-script=exports"]);
        link.args(objects.iter().map(|(object, _)| object)).args(self.libraries().map(|(name, _)| name)).arg(PLAIN);
        log.run("linking the model", &mut link)?;
        made(&folder.join(LIBRARY)).map_err(|why| self.compiler.useless(&why))
    }

    fn verilator_flags(&self) -> Vec<String> {
        let mut flags = vec!["--cc", "-Wall", "--no-timing", "-O3", "--top-module", self.spec.top.module()];
        match self.spec.variant {
            Variant::Fast => flags.extend(["--assert", "--x-assign", "fast", "--x-initial", "fast"]),
            _ => flags.extend(["--assert", "--x-assign", "unique", "--x-initial", "unique"]),
        }
        match self.spec.variant {
            Variant::Waves => flags.extend(["--trace-fst", "--trace-structs"]),
            Variant::Coverage => flags.extend(["--coverage-line", "--coverage-user"]),
            Variant::Test | Variant::Fast => {}
        }
        let parameters = self.spec.parameters.iter().map(|(name, value)| format!("-G{name}={value}"));
        flags.into_iter().map(str::to_owned).chain(parameters).collect()
    }

    fn cxx_flags(&self, speed: Speed) -> Vec<String> {
        let optimise = if speed == Speed::Fast { "-O3" } else { "-O1" };
        let mut flags = vec![optimise, "-std=c++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-pthread"];
        flags.extend(["-fcf-protection=none", "-w", "-include", "trisage_print.h", "-DVERILATOR=1", "-DVM_SC=0"]);
        match self.spec.variant {
            Variant::Test => flags.push("-DTRISAGE_CHECK_PATHS"),
            Variant::Waves => flags.extend(["-DTRISAGE_CHECK_PATHS", "-DTRISAGE_WAVES"]),
            Variant::Coverage => flags.push("-DTRISAGE_COVERAGE"),
            Variant::Fast => {}
        }
        if self.spec.top == Top::Bench {
            flags.push("-DTRISAGE_BENCH");
        }
        flags.into_iter().map(str::to_owned).collect()
    }

    /// The files of LZ4 and zlib, which the writer of waves is compiled with and linked to.
    fn compression(&self) -> impl Iterator<Item = compression::File> {
        let headers = compression::HEADERS.into_iter().filter(|_| self.has_waves());
        headers.chain(self.libraries())
    }

    /// Those of them that are linked.
    fn libraries(&self) -> impl Iterator<Item = compression::File> {
        compression::LIBRARIES.into_iter().filter(|_| self.has_waves())
    }

    fn has_waves(&self) -> bool {
        self.spec.variant == Variant::Waves
    }

    /// The command that compiles one source, and the name of its object.
    fn compilation(&self, folder: &Path, source: &Path, speed: Speed, classes: &Classes) -> (PathBuf, Command) {
        let object = Path::new(source.file_name().expect("a source has a name")).with_extension("o");
        let include = self.verilator.root.join("include");
        let mut command = self.compiler.command();
        command.current_dir(folder).args(self.cxx_flags(speed)).args(&classes.defines);
        // Folders that CPATH names come after those of -I, but before those of -isystem.
        command.arg("-I.").arg("-I").arg(&include).arg("-I").arg(include.join("vltstd"));
        command.arg("-c").arg(source).arg("-o").arg(&object).arg(PLAIN);
        (object, command)
    }
}

/// How hard the C++ compiler tries: code that runs in each cycle, or once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Speed {
    Fast,
    Slow,
}

/// What Verilator says of the C++ that it made, in `*_classes.mk`.
#[derive(Debug, PartialEq, Eq)]
struct Classes {
    /// `-DVM_TRACE=0` and so on.
    defines: Vec<String>,
    /// Sources without their extension; whether each is one of the runtime's.
    sources: Vec<(String, Speed, bool)>,
}

impl Classes {
    fn parse(makefile: &str) -> Self {
        let mut classes = Self { defines: vec![], sources: vec![] };
        for line in makefile.replace("\\\n", " ").lines().filter(|line| line.starts_with("VM_")) {
            if let Some((list, names)) = line.split_once("+=") {
                let of_runtime = list.starts_with("VM_GLOBAL");
                // What a cycle needs of the runtime is in its headers.
                let fast = list.trim().ends_with("_FAST") && !of_runtime;
                let speed = if fast { Speed::Fast } else { Speed::Slow };
                classes.sources.extend(names.split_whitespace().map(|name| (name.to_owned(), speed, of_runtime)));
            } else if let Some((name, value)) = line.split_once('=') {
                classes.defines.push(format!("-D{}={}", name.trim(), value.trim()));
            }
        }
        classes
    }
}

/// Whether a tool that ended well has made its file.
fn made(path: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().display();
    if path.is_file() { Ok(()) } else { Err(format!("it ends well but makes no {name}")) }
}

/// Runs the commands, some at a time, until all are done or one has failed. `check` is told each object that was made.
fn run_all(
    log: &Log<'_>,
    commands: &mut [(PathBuf, Command)],
    check: &(dyn Fn(&Path) -> Result<(), BuildError> + Sync),
) -> Result<(), BuildError> {
    let queue = Mutex::new((commands.iter_mut(), Ok(())));
    let lock = || queue.lock().expect("no holder panics");
    thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let mut state = lock();
                    let (Some((object, command)), Ok(())) = (state.0.next(), &state.1) else { return };
                    drop(state);
                    let name = format!("compiling {}", object.with_extension("cpp").display());
                    if let Err(error) = log.run(&name, command).and_then(|()| check(object)) {
                        lock().1 = Err(error);
                    }
                }
            });
        }
    });
    queue.into_inner().expect("no holder panics").1
}

/// The log of a build.
struct Log<'a> {
    /// Where tools have their own files for a while.
    folder: &'a Path,
    path: &'a Path,
    file: Mutex<File>,
}

impl Log<'_> {
    fn run(&self, step: &str, command: &mut Command) -> Result<(), BuildError> {
        let program = PathBuf::from(command.get_program());
        let output = run_tool(command.env("TMPDIR", self.folder)).map_err(at(&program))?;
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        let entry = format!("# {step}\n{command:?}\n{said}\n");
        self.file.lock().expect("no holder panics").write_all(entry.as_bytes()).map_err(at(self.path))?;
        if output.status.success() {
            return Ok(());
        }
        let mut lines: Vec<_> = said.lines().collect();
        // Errors come first; what follows is often their echo.
        lines.truncate(LINES);
        let output = if lines.is_empty() { output.status.to_string() } else { lines.join("\n") };
        Err(BuildError::Failed { step: step.to_owned(), output, log: self.path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_classes_is_read() {
        let text = "# x\nVM_TRACE = 0\nVM_CLASSES_FAST += \\\n  Va \\\n  Va__1 \\\n\nVM_SUPPORT_SLOW += \\\n  Va__Syms \\\n\n\
                    VM_GLOBAL_FAST += \\\n  verilated \\\n\nVM_GLOBAL_SLOW += \\\n\n";
        let source = |name: &str, speed, of_runtime| (name.to_owned(), speed, of_runtime);
        let expected = Classes {
            defines: vec!["-DVM_TRACE=0".to_owned()],
            sources: vec![
                source("Va", Speed::Fast, false),
                source("Va__1", Speed::Fast, false),
                source("Va__Syms", Speed::Slow, false),
                source("verilated", Speed::Slow, true),
            ],
        };
        assert_eq!(Classes::parse(text), expected);
    }
}
