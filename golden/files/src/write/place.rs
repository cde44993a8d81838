//! Files and folders that appear whole or not at all.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use super::{
    error::{WriteError, WriteProblem},
    scratch::{Names, Scratch, publish, sweep},
};

/// The folders in which files and folders are until they are whole: beside their place.
pub const PARTS: Names = Names { prefix: ".trisage-", suffix: ".part", companion: None };

/// Where the content of a file goes.
pub type Out<'a> = BufWriter<&'a mut File>;

/// Whether [`file()`] may make `path`, as far as can be known before.
///
/// # Errors
/// What is in its way.
pub fn check_file(path: &Path, what: &'static str, overwrite: bool) -> Result<(), WriteError> {
    target(path, what, overwrite).map(|_| ())
}

/// Where the file really is: what a link leads to, so that it is not the link that is replaced.
fn target(path: &Path, what: &'static str, overwrite: bool) -> Result<PathBuf, WriteError> {
    let failed = |error| WriteProblem::Write { error }.at(path);
    // Names there stand for what is open or attached, also where they lead to a regular file.
    let of_system = |path: &Path| ["/dev", "/proc"].iter().any(|system| path.starts_with(system));
    let device = || WriteProblem::Kind { found: "device", what, needed: "file" }.at(path);
    if of_system(&std::path::absolute(path).map_err(failed)?) {
        return Err(device());
    }
    let place = if path.is_symlink() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
    if of_system(&place) {
        return Err(device());
    }
    match place.metadata() {
        Ok(found) if !found.is_file() => {
            let found = match found.file_type() {
                kind if kind.is_dir() => "folder",
                kind if kind.is_fifo() => "pipe",
                kind if kind.is_socket() => "socket",
                _ => "device",
            };
            return Err(WriteProblem::Kind { found, what, needed: "file" }.at(path));
        }
        Ok(_) if !overwrite => return Err(WriteProblem::Exists { what: "file" }.at(path)),
        _ => {}
    }
    parent(&place)?;
    Ok(place)
}

/// Makes the file `path` of what `content` writes. `what` is written there, as it reads in an error.
///
/// # Errors
/// [`WriteError`]; nothing was changed then.
pub fn file(
    path: &Path,
    what: &'static str,
    overwrite: bool,
    content: impl FnOnce(&mut Out) -> io::Result<()>,
) -> Result<(), WriteError> {
    let target = target(path, what, overwrite)?;
    let parent = parent(&target)?;
    let write = || {
        let scratch = Scratch::new(parent, PARTS)?;
        let staged = stage(scratch.path(), content)?;
        if let Ok(old) = target.metadata() {
            // It stays as private as it was.
            staged.as_file().set_permissions(old.permissions())?;
        }
        publish(|| if overwrite { staged.persist(&target) } else { staged.persist_noclobber(&target) })
            .map_err(|refused| refused.error)
    };
    match write() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(WriteProblem::Exists { what: "file" }.at(path))
        }
        Err(error) => Err(WriteProblem::Write { error }.at(path)),
    }
}

/// A file of a folder: its name and what writes it.
pub(super) type Member<'a> = (&'a str, &'a dyn Fn(&mut Out) -> io::Result<()>);

/// Makes a folder with `members`. One that is there keeps its other files, but for those of `stale` names.
///
/// A new folder appears whole. In one that is there all members are complete before the first takes its place, but they
/// take their places one after the other.
pub(super) fn folder(
    path: &Path,
    what: &'static str,
    overwrite: bool,
    members: &[Member],
    stale: &[&str],
) -> Result<(), WriteError> {
    let at = |error| WriteProblem::Write { error }.at(path);
    match check_folder(path, what, overwrite)? {
        Found::Folder => fill(path, members, stale).map_err(at),
        Found::Nothing => new_folder(path, parent(path)?, members).map_err(at),
    }
}

/// What is at the place of a folder.
pub(super) enum Found {
    /// A folder, which may be filled.
    Folder,
    /// Nothing, but the folder that it would be in is there.
    Nothing,
}

/// Whether a folder may be made at `path`, as far as can be known before.
pub(super) fn check_folder(path: &Path, what: &'static str, overwrite: bool) -> Result<Found, WriteError> {
    let at = |error| WriteProblem::Write { error }.at(path);
    sweep(path, PARTS);
    match path.metadata() {
        Ok(found) if !found.is_dir() => Err(WriteProblem::Kind { found: "file", what, needed: "folder" }.at(path)),
        Ok(_) if !overwrite && fs::read_dir(path).map_err(at)?.next().is_some() => {
            Err(WriteProblem::Exists { what: "folder that is not empty" }.at(path))
        }
        Ok(_) => Ok(Found::Folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => parent(path).map(|_| Found::Nothing),
        Err(error) => Err(at(error)),
    }
}

fn new_folder(path: &Path, parent: &Path, members: &[Member]) -> io::Result<()> {
    let scratch = Scratch::new(parent, PARTS)?;
    let whole = scratch.folder(WHOLE)?;
    for (name, content) in members {
        stage(&whole, content)?.persist(whole.join(name))?;
    }
    // A folder that came into being meanwhile is replaced only if it is empty.
    publish(|| fs::rename(&whole, path))
}

/// The name of a folder until it is in its place.
pub(super) const WHOLE: &str = "whole";

/// Puts `members` into a folder that is there when all of them are complete, and removes `stale` ones.
fn fill(folder: &Path, members: &[Member], stale: &[&str]) -> io::Result<()> {
    let scratch = Scratch::new(folder, PARTS)?;
    let staged = members.iter().map(|(name, content)| Ok((name, stage(scratch.path(), content)?)));
    let staged = staged.collect::<io::Result<Vec<_>>>()?;
    publish(|| {
        for (name, file) in staged {
            file.persist(folder.join(name))?;
        }
        remove_files(folder, stale)
    })
}

/// Removes those of these files that are in a folder.
pub(super) fn remove_files(folder: &Path, names: &[&str]) -> io::Result<()> {
    for name in names {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A complete file under a temporary name, which is removed if it is dropped.
fn stage(folder: &Path, content: impl FnOnce(&mut Out) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let mut staged = Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    let mut out = BufWriter::with_capacity(1 << 18, staged.as_file_mut());
    content(&mut out)?;
    out.flush()?;
    drop(out);
    staged.as_file().sync_all()?;
    Ok(staged)
}

/// The folder that `path` is in.
pub(super) fn parent(path: &Path) -> Result<&Path, WriteError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if parent.is_dir() { Ok(parent) } else { Err(WriteProblem::NoParent { parent: parent.to_owned() }.at(path)) }
}

#[cfg(test)]
#[cfg(not(miri))] // files
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn write(path: &Path, text: &str) -> Result<(), WriteError> {
        file(path, "text", true, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_link_stays_and_leads_to_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, lost] = ["real", "link", "lost"].map(|name| folder.path().join(name));
        write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o600)).unwrap();
        symlink(&real, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        symlink(folder.path().join("nowhere"), &lost).unwrap();
        assert!(write(&lost, "x").unwrap_err().to_string().contains("lost"));
        assert!(lost.is_symlink());
    }

    #[test]
    fn names_of_the_system_are_refused() {
        for path in ["/dev/stdout", "/dev/null", "/proc/self/fd/1"] {
            let message = check_file(Path::new(path), "text", true).unwrap_err().to_string();
            assert!(message.starts_with(path) && message.contains("device"), "{message}");
        }
    }
}
