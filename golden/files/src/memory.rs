//! How much memory this process may still take: what the machine has, and every limit that is set on the process.
//!
//! Limits are looked at before memory is asked for, as that of a control group ends the process (SIGKILL) in place of
//! refusing. What is counted, with Linux's names:
//!
//! - the machine: `MemAvailable`, and where it promises no more than it has (`vm.overcommit_memory` 2) also `CommitLimit`
//!   less `Committed_AS`;
//! - the process: `RLIMIT_AS` less what is mapped (`VmSize`), and `RLIMIT_DATA` less its private memory (`VmData`);
//! - control groups, of this process and all above it: `memory.max` and `memory.high` (version 2), or
//!   `memory.limit_in_bytes` and `hierarchical_memory_limit` (version 1), less what the group has, of which the cache of files
//!   does not count, as the system takes that back first.
//!
//! The smallest wins.

mod groups;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// What can still be had, and what does not let it be more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    /// Bytes.
    pub bytes: u64,
    /// Who sets the limit.
    pub limit: Limit,
}

/// What limits the memory of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The memory of the machine.
    Machine,
    /// What the machine may promise.
    Promise,
    /// `RLIMIT_AS`.
    AddressSpace,
    /// `RLIMIT_DATA`.
    Data,
    /// A control group.
    Group {
        /// The file with the limit.
        file: PathBuf,
    },
}

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = Gigabytes(self.bytes);
        match &self.limit {
            Limit::Machine => write!(f, "this machine has {bytes} left"),
            Limit::Promise => write!(f, "this machine promises only {bytes} more (vm.overcommit_memory is 2)"),
            Limit::AddressSpace => write!(f, "the address-space limit of this process (ulimit -v) leaves {bytes}"),
            Limit::Data => write!(f, "the data limit of this process (ulimit -d) leaves {bytes}"),
            Limit::Group { file } => write!(f, "the limit of its control group ({}) leaves {bytes}", file.display()),
        }
    }
}

/// More memory than can be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{needed} of memory are needed, and {free}")]
pub struct Shortage {
    /// What is asked for.
    pub needed: Gigabytes,
    /// What there is.
    pub free: Free,
}

/// What can be had without ending this process or making the system short of memory, if the system says.
pub fn available() -> Option<Free> {
    System { root: PathBuf::from("/") }.available()
}

/// Whether so many bytes can be had; yes if the system does not say.
///
/// # Errors
/// What there is instead.
pub fn check(needed: u64) -> Result<(), Shortage> {
    match available() {
        Some(free) if needed > free.bytes => Err(Shortage { needed: Gigabytes(needed), free }),
        _ => Ok(()),
    }
}

/// Makes room for one more element, as [`Vec::push`] does, if there is memory for it.
///
/// # Errors
/// What there is instead.
#[inline]
pub fn reserve<T>(elements: &mut Vec<T>) -> Result<(), Shortage> {
    if elements.len() < elements.capacity() { Ok(()) } else { double(elements) }
}

#[cold]
fn double<T>(elements: &mut Vec<T>) -> Result<(), Shortage> {
    const FIRST: usize = 1 << 16;
    let most = elements.len().max(FIRST);
    grow(elements, FIRST, most)
}

/// Makes room for `most` more elements, or for as many as there is memory for.
///
/// # Errors
/// What there is, if that is not enough for `least`.
pub fn grow<T>(elements: &mut Vec<T>, least: usize, most: usize) -> Result<(), Shortage> {
    let bytes = |more: usize| (more as u64).saturating_mul(size_of::<T>() as u64);
    let mut more = most;
    while let Err(shortage) = check(bytes(more)) {
        if more <= least {
            return Err(shortage);
        }
        more = least.max(more / 2);
    }
    elements.reserve_exact(more);
    Ok(())
}

/// Bytes, written in units of 10^9, or of 10^6 where those are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gigabytes(pub u64);

impl fmt::Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        if bytes < 1e9 { write!(f, "{:.0} MB", bytes / 1e6) } else { write!(f, "{:.1} GB", bytes / 1e9) }
    }
}

/// Where the system says what it has: `/`, but in tests.
struct System {
    root: PathBuf,
}

impl System {
    fn available(&self) -> Option<Free> {
        let mut free: Vec<Free> =
            [self.machine(), self.promise(), self.address_space(), self.data()].into_iter().flatten().collect();
        free.extend(self.groups());
        free.into_iter().min_by_key(|free| free.bytes)
    }

    fn read(&self, path: &Path) -> Option<String> {
        fs::read_to_string(self.root.join(path.strip_prefix("/").unwrap_or(path))).ok()
    }

    fn machine(&self) -> Option<Free> {
        let bytes = kibibytes(&self.read(Path::new("/proc/meminfo"))?, "MemAvailable:")?;
        Some(Free { bytes, limit: Limit::Machine })
    }

    fn promise(&self) -> Option<Free> {
        let strict = self.read(Path::new("/proc/sys/vm/overcommit_memory"))?.trim() == "2";
        let memory = self.read(Path::new("/proc/meminfo")).filter(|_| strict)?;
        let bytes = kibibytes(&memory, "CommitLimit:")?.saturating_sub(kibibytes(&memory, "Committed_AS:")?);
        Some(Free { bytes, limit: Limit::Promise })
    }

    fn address_space(&self) -> Option<Free> {
        let bytes = self.process("Max address space", "VmSize:")?;
        Some(Free { bytes, limit: Limit::AddressSpace })
    }

    fn data(&self) -> Option<Free> {
        let bytes = self.process("Max data size", "VmData:")?;
        Some(Free { bytes, limit: Limit::Data })
    }

    /// A soft limit of this process less what it has.
    fn process(&self, limit: &str, used: &str) -> Option<u64> {
        let limits = self.read(Path::new("/proc/self/limits"))?;
        let soft = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let soft: u64 = soft.split_whitespace().next()?.parse().ok()?;
        Some(soft.saturating_sub(kibibytes(&self.read(Path::new("/proc/self/status"))?, used)?))
    }
}

/// The value of a line in kB, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
#[cfg(not(miri))] // files
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A system with these files.
    fn system(files: &[(&str, &str)]) -> (TempDir, System) {
        let folder = TempDir::new().unwrap();
        let root = folder.path().to_owned();
        for (path, text) in files {
            let path = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, System { root })
    }

    pub(super) fn free(files: &[(&str, &str)]) -> Option<Free> {
        system(files).1.available()
    }

    fn sentence(files: &[(&str, &str)]) -> String {
        free(files).unwrap().to_string()
    }

    pub(super) const MEMINFO: (&str, &str) = (
        "/proc/meminfo",
        "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\nCommitLimit:    11000000 kB\nCommitted_AS:    1000000 kB\n",
    );
    const STATUS: (&str, &str) = ("/proc/self/status", "Name:\tx\nVmSize:\t 1000000 kB\nVmData:\t  250000 kB\n");

    fn limits(address_space: &str, data: &str) -> String {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max data size             {data:<20} unlimited            bytes     \n\
             Max address space         {address_space:<20} unlimited            bytes     \n"
        )
    }

    #[test]
    fn what_the_machine_has() {
        assert_eq!(free(&[MEMINFO]), Some(Free { bytes: 20_000_000 * 1024, limit: Limit::Machine }));
        assert_eq!(sentence(&[MEMINFO]), "this machine has 20.5 GB left");
        for text in ["", "MemAvailable: lots", "MemAvailable: 18446744073709551615 kB"] {
            assert_eq!(free(&[("/proc/meminfo", text)]), None, "{text}");
        }
        for (mode, sentence_of_it) in [
            ("0\n", "this machine has 20.5 GB left"),
            ("1\n", "this machine has 20.5 GB left"),
            ("2\n", "this machine promises only 10.2 GB more (vm.overcommit_memory is 2)"),
        ] {
            assert_eq!(sentence(&[MEMINFO, ("/proc/sys/vm/overcommit_memory", mode)]), sentence_of_it);
        }
    }

    #[test]
    fn limits_of_the_process_count_from_what_it_has() {
        let of = |address_space: &str, data: &str| {
            sentence(&[MEMINFO, STATUS, ("/proc/self/limits", &limits(address_space, data))])
        };
        assert_eq!(of("unlimited", "unlimited"), "this machine has 20.5 GB left");
        assert_eq!(of("2048000000", "unlimited"), "the address-space limit of this process (ulimit -v) leaves 1.0 GB");
        assert_eq!(of("unlimited", "2048000000"), "the data limit of this process (ulimit -d) leaves 1.8 GB");
        assert_eq!(of("1000", "unlimited"), "the address-space limit of this process (ulimit -v) leaves 0 MB");
    }

    #[test]
    fn this_system_says_something() {
        let free = available().unwrap();
        assert!(free.bytes > 0 && check(free.bytes / 2).is_ok());
        let sentence = check(u64::MAX).unwrap_err().to_string();
        assert!(sentence.starts_with("18446744073.7 GB of memory are needed, and "), "{sentence}");
    }

    #[test]
    fn a_vector_grows_as_long_as_there_is_memory() {
        let mut elements = vec![];
        for element in 0..200_000_u32 {
            reserve(&mut elements).unwrap();
            let capacity = elements.capacity();
            elements.push(element);
            assert_eq!(elements.capacity(), capacity);
        }
        assert!(elements.capacity() < 400_000 + (1 << 17), "{}", elements.capacity());
    }
}
