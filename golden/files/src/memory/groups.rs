//! Limits of control groups, of both versions: of the group of this process, and of all above it that can be seen.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
};

use super::{Free, Limit, System};

impl System {
    /// What every control group leaves that has a limit.
    pub(super) fn groups(&self) -> Vec<Free> {
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
        let below =
            if below.components().all(|part| matches!(part, Component::Normal(_))) { below } else { Path::new("") };
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
    use super::{
        super::tests::{MEMINFO, free},
        *,
    };

    const GIB: u64 = 1 << 30;

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
}
