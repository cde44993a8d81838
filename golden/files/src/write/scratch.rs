//! Folders for what is unfinished. No run leaves one behind for good, however it ends.
//!
//! A folder is removed when it is dropped, by [`abandon`] when a signal ends the process, and after a SIGKILL or a power
//! failure by the next run that makes one beside it. The file `lock` in it says whose it is: it holds a fixed text, and its
//! owner has locked it (`flock`) as long as it lives, which is seen from other containers too. A folder without that file,
//! with another text in it, of another user, or whose lock is held is left alone.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::{self, Read, Write},
    mem,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{OFlags, fstatfs},
    process::geteuid,
};

/// How folders of one purpose are called: `prefix`, the number of the process, `-`, six letters or digits, `suffix`.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// What a name begins with.
    pub prefix: &'static str,
    /// What a name ends with.
    pub suffix: &'static str,
    /// What belongs to a folder but lies elsewhere, if anything does. It is removed before the folder.
    pub companion: Option<fn(&Path) -> PathBuf>,
}

/// A folder for what is unfinished. Dropping it removes it with all that it still holds.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    names: Names,
    /// Held as long as this process lives.
    lock: File,
}

/// The file that says whose a folder is.
const LOCK: &str = "lock";
/// What stands in it.
const OWNER: &str = "A run of trisage makes something here, and removes this folder when it is done.\n\
                     If that run was killed, the next one that writes beside this folder removes it.\n";
/// Letters and digits that are drawn for a name.
const DRAWN: usize = 6;
/// How often something is tried of which others can keep us.
const ATTEMPTS: usize = 1000;
/// How long nothing has changed in a folder whose owner is gone, where a lock does not prove that.
const QUIET: Duration = Duration::from_hours(24);

/// What this process has under way.
struct Live {
    /// The process is being ended: nothing new begins.
    ended: bool,
    folders: Vec<(PathBuf, Names)>,
}

static LIVE: Mutex<Live> = Mutex::new(Live { ended: false, folders: Vec::new() });

/// What is under way, as long as the process is not being ended; then this never returns.
fn live() -> MutexGuard<'static, Live> {
    let live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if !live.ended {
        return live;
    }
    drop(live);
    loop {
        thread::park();
    }
}

/// Puts what is finished in its place. A signal that ends the process waits until `put` is done, or comes before it.
pub(super) fn publish<T>(put: impl FnOnce() -> T) -> T {
    let _live = live();
    put()
}

/// Removes every folder that this process has made and not dropped. From now on whoever makes one, or puts something in its
/// place, waits for ever: this is for the end of the process.
pub fn abandon() {
    let mut folders = vec![];
    for _ in 0..ATTEMPTS {
        match LIVE.try_lock() {
            Ok(mut live) => {
                live.ended = true;
                folders = mem::take(&mut live.folders);
                break;
            }
            // Whoever holds it is done soon; but its file system may not answer any more.
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
    for (folder, names) in folders {
        remove(&folder, names);
    }
}

impl Names {
    /// Whether a folder of this purpose can have this name.
    fn fit(self, name: &OsStr) -> bool {
        let middle = name.to_str().and_then(|name| name.strip_prefix(self.prefix)?.strip_suffix(self.suffix));
        middle.and_then(|middle| middle.split_once('-')).is_some_and(|(process, drawn)| {
            let digits = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
            digits && drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    }

    fn make(self, parent: &Path) -> io::Result<PathBuf> {
        let prefix = format!("{}{}-", self.prefix, process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(self.suffix).rand_bytes(DRAWN).permissions(Permissions::from_mode(0o700));
        Ok(builder.tempdir_in(parent)?.keep())
    }
}

impl Scratch {
    /// Makes a folder in `parent`, and removes those that runs which were killed have left there.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(parent: &Path, names: Names) -> io::Result<Self> {
        sweep(parent, names);
        let mut live = live();
        for _ in 0..ATTEMPTS {
            let folder = names.make(parent)?;
            match own(&folder) {
                Ok(Some(lock)) => {
                    live.folders.push((folder.clone(), names));
                    return Ok(Self { folder, names, lock });
                }
                Ok(None) => remove(&folder, names),
                Err(error) => {
                    remove(&folder, names);
                    return Err(error);
                }
            }
        }
        Err(io::Error::other("other processes remove every new folder"))
    }

    /// Where it is. Make folders in it one by one: it may be removed at any moment, and is not to come back.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The lock that keeps it: whoever has it open keeps the folder from being taken for left behind, also when this process is no
    /// more.
    pub fn lock(&self) -> &File {
        &self.lock
    }

    /// Makes a folder in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(name);
        DirBuilder::new().create(&folder)?;
        Ok(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.folder, self.names);
        live().folders.retain(|(folder, _)| *folder != self.folder);
    }
}

/// Removes the folders of this purpose in `parent` whose runs were killed. What cannot be removed now stays for the next time.
pub fn sweep(parent: &Path, names: Names) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| names.fit(&entry.file_name())) {
        // The lock is held meanwhile, so two runs do not do the same.
        if let Some(_lock) = left_behind(&entry.path()) {
            remove(&entry.path(), names);
        }
    }
}

/// Takes a new folder into possession. `None` if another run has taken it for left behind before it was locked.
fn own(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let mut lock = match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        lock => lock?,
    };
    // Where there are no locks, nobody takes a folder for left behind.
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        return Ok(None);
    }
    lock.write_all(OWNER.as_bytes())?;
    let (ours, there) = (lock.metadata()?, fs::symlink_metadata(&path));
    Ok(there.is_ok_and(|there| there.ino() == ours.ino()).then_some(lock))
}

/// The lock of a folder whose owner is gone.
fn left_behind(folder: &Path) -> Option<File> {
    let user = geteuid().as_raw();
    let found = fs::symlink_metadata(folder).ok()?;
    if !found.is_dir() || found.uid() != user {
        return None;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let lock =
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(folder.join(LOCK));
    if lock.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        // Its run was killed before it could lock it. If it is not empty, it is no folder of ours, and this does nothing.
        let _ = fs::remove_dir(folder);
    }
    let lock = lock.ok()?;
    let about = lock.metadata().ok()?;
    if !about.is_file() || about.uid() != user {
        return None;
    }
    lock.try_lock().ok()?;
    let mut text = Vec::new();
    (&lock).take(OWNER.len() as u64 + 1).read_to_end(&mut text).ok()?;
    let begun = || text.is_empty() && fs::read_dir(folder).is_ok_and(|entries| entries.count() == 1);
    if text != OWNER.as_bytes() && !begun() {
        return None;
    }
    // A lock of another machine may not be seen here.
    let quiet = || newest(folder).is_some_and(|newest| newest.elapsed().is_ok_and(|time| time > QUIET));
    (is_local(&lock) || quiet()).then_some(lock)
}

/// Whether a file is on a file system that this machine alone writes, so that a lock tells of everybody.
fn is_local(file: &File) -> bool {
    /// ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, F2FS, ZFS, bcachefs, ReiserFS, JFS, NILFS.
    const LOCAL: [u64; 12] = [
        0xEF53,
        0x5846_5342,
        0x9123_683E,
        0x0102_1994,
        0x8584_58F6,
        0x794C_7630,
        0xF2F5_2010,
        0x2FC1_2FC1,
        0xCA45_1A4E,
        0x5265_4973,
        0x3153_464A,
        0x3434,
    ];
    fstatfs(file).is_ok_and(|system| LOCAL.contains(&(system.f_type.cast_unsigned() & 0xFFFF_FFFF)))
}

/// When something was last written in a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    let found = fs::symlink_metadata(path).ok()?;
    let mut newest = found.modified().ok()?;
    if found.is_dir() {
        for entry in fs::read_dir(path).ok()? {
            newest = newest.max(self::newest(&entry.ok()?.path())?);
        }
    }
    Some(newest)
}

/// Removes a folder and what belongs to it. Its lock goes last: until then the next run knows whose it is.
fn remove(folder: &Path, names: Names) {
    if let Some(companion) = names.companion {
        let _ = fs::remove_dir_all(companion(folder));
    }
    for _ in 0..ATTEMPTS {
        match empty(folder).and_then(|()| fs::remove_dir(folder)) {
            // Another thread, or a process that is about to end, still writes into it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => thread::sleep(Duration::from_millis(1)),
            _ => return,
        }
    }
}

fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        let removed =
            if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
        removed.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })?;
    }
    fs::remove_file(folder.join(LOCK)).or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

#[cfg(test)]
#[cfg(not(miri))] // files
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    const NAMES: Names = Names { prefix: ".trisage-", suffix: ".part", companion: None };

    /// A folder as a run has left it that was killed.
    fn killed(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir_all(folder.join("whole")).unwrap();
        fs::write(folder.join("whole/indices.npy"), "half of it").unwrap();
        fs::write(folder.join(LOCK), OWNER).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_goes_with_its_owner() {
        let place = TempDir::new().unwrap();
        let scratch = Scratch::new(place.path(), NAMES).unwrap();
        fs::write(scratch.folder("whole").unwrap().join("a"), "").unwrap();
        assert!(NAMES.fit(scratch.path().file_name().unwrap()), "{}", scratch.path().display());
        assert_eq!(scratch.path().metadata().unwrap().mode() & 0o777, 0o700);
        drop(scratch);
        assert_eq!(names(place.path()), [""; 0]);
    }

    #[test]
    fn what_the_killed_have_left_goes_and_what_the_living_have_stays() {
        let place = TempDir::new().unwrap();
        let alive = Scratch::new(place.path(), NAMES).unwrap();
        fs::write(alive.path().join("content"), "").unwrap();
        let lost = [killed(place.path(), ".trisage-1-abcDE9.part"), killed(place.path(), ".trisage-99-000000.part")];
        // Killed when it was made, and when its lock was.
        let [bare, begun] = ["aaaaaa", "bbbbbb"].map(|name| place.path().join(format!(".trisage-7-{name}.part")));
        fs::create_dir(&bare).unwrap();
        fs::create_dir(&begun).unwrap();
        fs::write(begun.join(LOCK), "").unwrap();
        let next = Scratch::new(place.path(), NAMES).unwrap();
        for folder in lost.iter().chain([&bare, &begun]) {
            assert!(!folder.exists(), "{}", folder.display());
        }
        assert!(alive.path().join("content").exists() && next.path().exists());
    }

    #[test]
    fn what_a_user_has_made_stays_whatever_it_is_called() {
        let place = TempDir::new().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at(".trisage-1-afile0.part"), "").unwrap();
        fs::create_dir_all(at(".trisage-1-nolock.part/whole")).unwrap();
        fs::create_dir(at(".trisage-1-other0.part")).unwrap();
        fs::write(at(".trisage-1-other0.part/lock"), "my own").unwrap();
        fs::create_dir_all(at(".trisage-1-empty0.part/whole")).unwrap();
        fs::write(at(".trisage-1-empty0.part/lock"), "").unwrap();
        fs::create_dir_all(at(".trisage-1-folder.part/lock")).unwrap();
        killed(place.path(), "elsewhere");
        symlink(at("elsewhere"), at(".trisage-1-link00.part")).unwrap();
        fs::create_dir(at(".trisage-1-linked.part")).unwrap();
        symlink(at("elsewhere/lock"), at(".trisage-1-linked.part/lock")).unwrap();
        for name in
            ["trisage-1-abcdef.part", ".trisage-1-abcdef.par", ".trisage-x-abcdef.part", ".trisage--abcdef.part"]
        {
            killed(place.path(), name);
        }
        for name in [".trisage-1-abcde.part", ".trisage-1-abcdefg.part", ".trisage-1-abc_ef.part", ".abcdef.part"] {
            killed(place.path(), name);
        }
        let before = names(place.path());
        drop(Scratch::new(place.path(), NAMES).unwrap());
        assert_eq!(names(place.path()), before);
        assert!(at("elsewhere/whole/indices.npy").exists());
    }

    #[test]
    fn what_lies_elsewhere_goes_too() {
        const NAMES: Names = Names { prefix: "card-", suffix: "", companion: Some(sockets) };
        fn sockets(folder: &Path) -> PathBuf {
            folder.with_extension("sockets")
        }
        let place = TempDir::new().unwrap();
        let left = killed(place.path(), "card-5-abcdef");
        let mine = Scratch::new(place.path(), NAMES).unwrap();
        for folder in [&*left, mine.path()] {
            fs::create_dir(sockets(folder)).unwrap();
        }
        killed(place.path(), "card-5-abcdef");
        sweep(place.path(), NAMES);
        assert_eq!(names(place.path()).len(), 2, "{:?}", names(place.path()));
        drop(mine);
        assert_eq!(names(place.path()), [""; 0]);
    }

    #[test]
    fn a_folder_in_which_something_happened_lately_is_not_quiet() {
        let place = TempDir::new().unwrap();
        let folder = killed(place.path(), ".trisage-1-abcdef.part");
        let old = SystemTime::now() - 2 * QUIET;
        for path in ["whole/indices.npy", "whole", LOCK, "."] {
            File::open(folder.join(path)).unwrap().set_modified(old).unwrap();
        }
        let age = |folder: &Path| newest(folder).unwrap().elapsed().unwrap();
        assert!(age(&folder) > QUIET);
        fs::write(folder.join("whole/indices.npy"), "more").unwrap();
        assert!(age(&folder) < QUIET);
    }
}
