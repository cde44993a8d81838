//! Where an environment's folder lies, and its sockets. A lock on the folder tells that its process lives: what one that was killed
//! has left is removed by the next.

use std::{
    fs::{self, File},
    io,
    path::Path,
    process,
};

use tempfile::TempDir;

/// Where XRT's sockets lie: it asks nobody.
pub(super) const SOCKETS: &str = "/tmp";
/// XRT puts its sockets into the folder of a user there; ours have names that begin so.
const USER: &str = "trisage-xrt-";
/// What the name of an environment's folder begins with, and nobody else's.
const FOLDER: &str = "trisage-card-";

/// Whether a shell and the dynamic linker take a name as it is.
pub(super) fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || "/._-+@%=,".contains(c)))
}

/// The name of the user whose sockets belong to an environment's folder.
pub(super) fn user(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{USER}{}", name.strip_prefix(FOLDER).unwrap_or(&name))
}

/// Makes a folder in `place`, and removes those whose processes had no time to do it.
pub(super) fn make(place: &Path) -> io::Result<(TempDir, File)> {
    // Nobody sees a folder that is made and not locked yet. Where there are no locks, nobody takes a folder for left behind.
    let making = File::open(place)?;
    let _ = making.lock();
    for entry in fs::read_dir(place)?.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(FOLDER)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if ours && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(Path::new(SOCKETS).join(user(&entry.path())));
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = tempfile::Builder::new().prefix(&format!("{FOLDER}{}-", process::id())).tempdir_in(place)?;
    let lock = File::open(folder.path())?;
    let _ = lock.lock();
    Ok((folder, lock))
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn folders_of_processes_that_are_gone_are_removed_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let (alive, _lock) = make(place.path()).unwrap();
        let (killed, lock) = make(place.path()).unwrap();
        let killed = killed.keep();
        fs::write(killed.join("buffer-0"), "").unwrap();
        drop(lock);
        fs::create_dir(place.path().join("run-1")).unwrap();
        let (next, _lock) = make(place.path()).unwrap();
        assert!(!killed.exists());
        for folder in [alive.path(), next.path(), &place.path().join("run-1")] {
            assert!(folder.exists(), "{}", folder.display());
        }
    }

    #[test]
    fn names_that_a_shell_would_take_apart_are_not_plain() {
        assert!(is_plain(Path::new("/home/j\u{fc}rg/trisage-0.1+x/target/xrt")));
        for name in ["a b", "a'b", "a:b", "a;b", "$a", "a\nb"] {
            assert!(!is_plain(Path::new(name)), "{name}");
        }
        assert!(!is_plain(Path::new(OsStr::from_bytes(b"\xff"))));
    }
}
