//! Where an environment's folder lies, and its sockets.

use std::path::{Path, PathBuf};

use golden_files::write::Names;

/// Where XRT's sockets lie: it asks nobody.
const SOCKETS: &str = "/tmp";
/// XRT puts its sockets into the folder of a user there; ours have names that begin so.
const USER: &str = "trisage-xrt-";
/// What the name of an environment's folder begins with.
const FOLDER: &str = "trisage-card-";
/// How they are called. The sockets go with the folder.
pub(super) const NAMES: Names = Names { prefix: FOLDER, suffix: "", companion: Some(sockets) };

/// Whether a shell and the dynamic linker take a name as it is.
pub(super) fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || "/._-+@%=,".contains(c)))
}

/// The name of the user whose sockets belong to an environment's folder.
pub(super) fn user(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{USER}{}", name.strip_prefix(FOLDER).unwrap_or(&name))
}

/// Where they lie.
pub(super) fn socket_folder(user: impl AsRef<Path>) -> PathBuf {
    Path::new(SOCKETS).join(user)
}

fn sockets(folder: &Path) -> PathBuf {
    socket_folder(user(folder))
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

    use golden_files::write::Scratch;

    use super::*;

    #[test]
    fn sockets_go_with_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = Scratch::new(place.path(), NAMES).unwrap();
        let sockets = socket_folder(user(folder.path()));
        fs::create_dir(&sockets).unwrap();
        fs::write(sockets.join("socket"), "").unwrap();
        fs::create_dir(place.path().join("trisage-card-mine")).unwrap();
        drop(folder);
        assert!(!sockets.exists());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "what the user has made stays");
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
