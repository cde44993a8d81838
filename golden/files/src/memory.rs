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

use std::{
    collections::HashMap,
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

    /// What every control group leaves that has a limit.
    fn groups(&self) -> Vec<Free> {
        let own = self.read(Path::new("/proc/self/cgroup")).unwrap_or_default();
        let mounts = self.read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
        mounts.lines().filter_map(Mount::parse).flat_map(|mount| self.groups_in(&mount, &own)).collect()
    }

    /// Those that a file system shows.
    fn groups_in(&self, mount: &Mount, own: &str) -> Vec<Free> {
        let path = own.lines().find_map(|line| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let memory = controllers.split(',').any(|controller| controller == "memory");
            (if mount.version == Version::One { memory } else { controllers.is_empty() }).then_some(path)
        });
        let Some(path) = path else { return vec![] };
        // In a container the file system may begin with its group, or with that of another process.
        let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let below = if below.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
            below
        } else {
            Path::new("")
        };
        let mut free = vec![];
        for group in below.ancestors() {
            let folder = if group == Path::new("") { mount.place.clone() } else { mount.place.join(group) };
            match mount.version {
                Version::Two => free.extend(self.version_two(&folder)),
                Version::One => {
                    free.extend(self.version_one(&folder, group == below));
                    let above = folder.parent().map(|above| above.join("memory.use_hierarchy"));
                    // Without this, groups above do not count what those below them have.
                    if above.and_then(|above| self.read(&above)).is_some_and(|flag| flag.trim() == "0") {
                        break;
                    }
                }
            }
        }
        free
    }

    fn version_two(&self, folder: &Path) -> Vec<Free> {
        let used = self.number(&folder.join("memory.current"));
        let stat = self.statistics(folder);
        let cache =
            ["inactive_file", "active_file", "slab_reclaimable"].iter().filter_map(|name| stat.get(*name)).sum();
        let free = |name| left(self.number(&folder.join(name))?, used?, cache, folder.join(name));
        ["memory.max", "memory.high"].into_iter().filter_map(free).collect()
    }

    fn version_one(&self, folder: &Path, own: bool) -> Vec<Free> {
        let used = self.number(&folder.join("memory.usage_in_bytes"));
        let stat = self.statistics(folder);
        let cache = ["total_inactive_file", "total_active_file"].iter().filter_map(|name| stat.get(*name)).sum();
        let limit = folder.join("memory.limit_in_bytes");
        let free = || left(self.number(&limit)?, used?, cache, limit.clone());
        // Of groups that are not to be seen from here: they have this process's memory at least.
        let above =
            || left(*stat.get("hierarchical_memory_limit").filter(|_| own)?, used?, cache, folder.join("memory.stat"));
        [free(), above()].into_iter().flatten().collect()
    }

    /// The number in a file; `None` for "max".
    fn number(&self, file: &Path) -> Option<u64> {
        self.read(file)?.trim().parse().ok()
    }

    fn statistics(&self, folder: &Path) -> HashMap<String, u64> {
        let stat = self.read(&folder.join("memory.stat")).unwrap_or_default();
        let line = |line: &str| {
            line.split_once(' ').and_then(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)))
        };
        stat.lines().filter_map(line).collect()
    }
}

/// What a limit leaves of which so much is used, `cache` of that for files.
fn left(limit: u64, used: u64, cache: u64, file: PathBuf) -> Option<Free> {
    /// Version 1 has no word for no limit, but the largest number of pages.
    const NONE: u64 = 1 << 62;
    let bytes = limit.saturating_sub(used.saturating_sub(cache));
    (limit < NONE).then_some(Free { bytes, limit: Limit::Group { file } })
}

/// The value of a line in kB, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A file system that shows control groups with limits of memory.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The group that it begins with.
    root: PathBuf,
    place: PathBuf,
}

impl Mount {
    /// Of a line of `mountinfo`.
    fn parse(line: &str) -> Option<Self> {
        let (first, last) = line.split_once(" - ")?;
        let mut last = last.split(' ');
        let version = match (last.next()?, last.nth(1)) {
            ("cgroup2", _) => Version::Two,
            ("cgroup", Some(options)) if options.split(',').any(|option| option == "memory") => Version::One,
            _ => return None,
        };
        let mut first = first.split(' ').skip(3).map(unescaped);
        Some(Self { version, root: first.next()?, place: first.next()? })
    }
}

/// A path in which a blank is written as `\040`, and so on.
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if byte.is_ascii() => {
                path.push(char::from(byte));
                path.push_str(&part[3..]);
            }
            _ => {
                path.push('\\');
                path.push_str(part);
            }
        }
    }
    path.into()
}

#[cfg(test)]
#[cfg(not(miri))] // files
mod tests {
    use tempfile::TempDir;

    use super::*;

    const GIB: u64 = 1 << 30;

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

    fn free(files: &[(&str, &str)]) -> Option<Free> {
        system(files).1.available()
    }

    fn sentence(files: &[(&str, &str)]) -> String {
        free(files).unwrap().to_string()
    }

    const MEMINFO: (&str, &str) = (
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

    /// Files of a group of version 2.
    fn group(folder: &str, max: &str, high: &str, current: u64) -> Vec<(String, String)> {
        let stat =
            "anon 5\nfile 9\ninactive_file 1073741824\nactive_file 1073741824\nslab_reclaimable 1073741824\nslab 7\n";
        [
            ("max", max.to_owned()),
            ("high", high.to_owned()),
            ("current", current.to_string()),
            ("stat", stat.to_owned()),
        ]
        .map(|(name, text)| (format!("{folder}/memory.{name}"), text + "\n"))
        .to_vec()
    }

    fn bytes_in(files: &[(&str, &str)], groups: &[Vec<(String, String)>]) -> Option<Free> {
        let groups = groups.iter().flatten().map(|(path, text)| (&**path, &**text));
        free(&files.iter().copied().chain(groups).collect::<Vec<_>>())
    }

    const TWO: &str = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_smallest_limit_of_all_groups_above_wins_in_version_2() {
        let files = [MEMINFO, ("/proc/self/cgroup", "0::/user.slice/job\n"), ("/proc/self/mountinfo", TWO)];
        let (user, job) = ("/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/user.slice/job");
        let max = 10 * GIB;
        for (groups, file, left) in [
            // Three of the four GiB that it has are cache.
            ([group(user, "max", "max", 9 * GIB), group(job, &max.to_string(), "max", 4 * GIB)], "job/memory.max", 9),
            (
                [group(user, "max", "max", 9 * GIB), group(job, &max.to_string(), "8589934592", 4 * GIB)],
                "job/memory.high",
                7,
            ),
            ([group(user, &max.to_string(), "max", 9 * GIB), group(job, "max", "max", GIB)], "memory.max", 4),
            (
                [group(user, &max.to_string(), "max", 14 * GIB), group(job, &max.to_string(), "max", GIB)],
                "memory.max",
                0,
            ),
        ] {
            let expected = Free { bytes: left * GIB, limit: Limit::Group { file: Path::new(user).join(file) } };
            assert_eq!(bytes_in(&files, &groups), Some(expected));
        }
        let none = [group(user, "max", "max", 9 * GIB), group(job, "max", "max", 4 * GIB)];
        assert_eq!(bytes_in(&files, &none).unwrap().limit, Limit::Machine);
        let free = bytes_in(&files, &[group(job, &max.to_string(), "max", 4 * GIB)]).unwrap();
        let sentence = "the limit of its control group (/sys/fs/cgroup/user.slice/job/memory.max) leaves 9.7 GB";
        assert_eq!(free.to_string(), sentence);
    }

    #[test]
    fn in_a_container_the_file_system_may_begin_with_its_group() {
        for (own, root) in
            [("/", "/"), ("/docker/1f/job", "/docker/1f/job"), ("/../other", "/"), ("/elsewhere", "/docker/1f")]
        {
            let own = format!("0::{own}\n");
            let mount = TWO.replace(" / /sys", &format!(" {root} /sys"));
            let files = [MEMINFO, ("/proc/self/cgroup", &*own), ("/proc/self/mountinfo", &*mount)];
            let free = bytes_in(&files, &[group("/sys/fs/cgroup", "5368709120", "max", 4 * GIB)]).unwrap();
            assert_eq!(free.bytes, 4 * GIB, "{own}{mount}");
        }
        // A group below that of the container.
        let mount = TWO.replace(" / /sys", " /docker/1f /sys");
        let files = [MEMINFO, ("/proc/self/cgroup", "0::/docker/1f/job\n"), ("/proc/self/mountinfo", &*mount)];
        let free = bytes_in(&files, &[group("/sys/fs/cgroup/job", "5368709120", "max", 4 * GIB)]).unwrap();
        assert_eq!(free.bytes, 4 * GIB);
    }

    const ONE: &str = "31 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                       36 23 0:33 / /sys/fs/cgroup/my\\040memory rw shared:9 - cgroup cgroup rw,memory\n\
                       42 23 0:39 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n";

    /// Files of a group of version 1.
    fn old_group(folder: &str, limit: u64, above: u64, usage: u64, hierarchy: &str) -> Vec<(String, String)> {
        let stat = format!(
            "cache 9\ninactive_file 7\nhierarchical_memory_limit {above}\ntotal_inactive_file 1073741824\ntotal_active_file 0\n"
        );
        let files = [("limit_in_bytes", limit.to_string()), ("usage_in_bytes", usage.to_string()), ("stat", stat)];
        let files = files.map(|(name, text)| (format!("/sys/fs/cgroup/my memory{folder}/memory.{name}"), text + "\n"));
        let flag = (format!("/sys/fs/cgroup/my memory{folder}/memory.use_hierarchy"), hierarchy.to_owned() + "\n");
        files.into_iter().chain([flag]).collect()
    }

    #[test]
    fn version_1_counts_groups_above_where_they_are_hierarchical() {
        const NONE: u64 = 9_223_372_036_854_771_712;
        let own = ("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/user/job\n0::/\n");
        let files = [MEMINFO, own, ("/proc/self/mountinfo", ONE)];
        let bytes = |groups: &[Vec<(String, String)>]| bytes_in(&files, groups).unwrap().bytes;
        let root = old_group("", NONE, NONE, 9 * GIB, "1");
        let job = |limit, above| old_group("/user/job", limit, above, 2 * GIB, "1");
        let user = |limit, hierarchy| old_group("/user", limit, limit, 6 * GIB, hierarchy);
        assert_eq!(bytes(&[root.clone(), user(NONE, "1"), job(NONE, NONE)]), 20_000_000 * 1024);
        assert_eq!(bytes(&[root.clone(), user(NONE, "1"), job(4 * GIB, 4 * GIB)]), 3 * GIB);
        assert_eq!(bytes(&[root.clone(), user(8 * GIB, "1"), job(NONE, 8 * GIB)]), 3 * GIB);
        // The limit above is not its limit.
        assert_eq!(bytes(&[root, user(8 * GIB, "0"), job(NONE, NONE)]), 20_000_000 * 1024);
        // Groups above are not to be seen, but their limit is.
        let free = bytes_in(&files, &[job(NONE, 5 * GIB)]).unwrap();
        let file = PathBuf::from("/sys/fs/cgroup/my memory/user/job/memory.stat");
        assert_eq!(free, Free { bytes: 4 * GIB, limit: Limit::Group { file } });
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
