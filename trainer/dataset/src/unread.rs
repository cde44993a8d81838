//! What lies beside a data set and is not read, though it may hold arrays.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use super::{
    arrays::{file_name, split},
    names::KNOWN,
    python,
};

/// Files, and arrays in files, of which nothing was read, though they hold arrays or may hold some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    others: Vec<Other>,
    /// What would be read.
    known: &'static str,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Other {
    /// Its name within the folder.
    pub(super) name: String,
    /// What the object in it is, if only Python reads it.
    pub(super) object: Option<String>,
}

impl Default for Unread {
    fn default() -> Self {
        Self { others: Vec::new(), known: KNOWN }
    }
}

impl Unread {
    /// Of a list of files those that may hold an array, by their names within `folder`. `known` is what would be read.
    pub(super) fn of(folder: &Path, files: impl IntoIterator<Item = PathBuf>, known: &'static str) -> Self {
        let named = files.into_iter().filter_map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            unread(&path, &name)
        });
        Self { others: named.collect(), known }
    }

    /// These, beside arrays.
    pub(super) fn beside(mut others: Vec<Other>) -> Self {
        others.sort_unstable();
        Self { others, ..Self::default() }
    }

    /// What lies in the folders of a folder.
    pub(super) fn below(folder: &Path) -> Self {
        Self { others: below(folder, false), ..Self::default() }
    }

    /// These and others.
    pub(super) fn and(mut self, others: Self) -> Self {
        self.others.extend(others.others);
        self.others.sort_unstable();
        self.others.dedup();
        self
    }

    /// These but for those of such names.
    pub(super) fn without(mut self, names: &[String]) -> Self {
        self.others.retain(|other| !names.contains(&other.name));
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// What is to be said of them.
    pub fn note(&self) -> String {
        format!("not read: {self}; known names are {}", self.known)
    }

    /// Whether one of them is an array for certain: text may be about anything.
    pub(super) fn has_arrays(&self) -> bool {
        self.others.iter().any(|other| split(&other.name).is_none_or(|(_, ending, _)| ending != "txt"))
    }

    /// Whether one of them is an object that only Python reads.
    pub(super) fn has_objects(&self) -> bool {
        self.others.iter().any(|other| other.object.is_some())
    }

    /// Whether all of them are.
    pub(super) fn are_objects(&self) -> bool {
        !self.is_empty() && self.others.iter().all(|other| other.object.is_some())
    }
}

/// The names, of many the first ones.
impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        for (place, Other { name, object }) in self.others.iter().take(SHOWN).enumerate() {
            write!(f, "{}{name}", if place == 0 { "" } else { ", " })?;
            object.as_ref().map_or(Ok(()), |object| write!(f, " ({object})"))?;
        }
        match self.others.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Files that hold arrays, or might, in the folders of a folder, by their names within it; if `apart`, without those of folders
/// that hold a graph of their own, or results of training.
pub(super) fn below(folder: &Path, apart: bool) -> Vec<Other> {
    // Whoever has more folders in one another, or more files, does not read a list of them.
    const DEPTH: usize = 3;
    const LIMIT: usize = 10_000;
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((parent, depth)) = folders.pop() {
        // What cannot be looked at is no concern of a data set that lies elsewhere.
        let entries: Vec<_> = fs::read_dir(&parent).into_iter().flatten().flatten().take(LIMIT - seen).collect();
        seen += entries.len();
        let is_apart = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("indptr.npy") || name == "last.safetensors"
        };
        if apart && depth > 0 && entries.iter().any(is_apart) {
            continue;
        }
        for entry in entries {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if depth < DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((path, depth + 1));
            } else if depth > 0 && path.is_file() {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.extend(unread(&path, &name));
            }
        }
    }
    found
}

/// What is to be said of a file of which nothing is read, if it may hold an array.
pub(super) fn unread(path: &Path, name: &str) -> Option<Other> {
    const ENDINGS: [&str; 14] = [
        "npy",
        "npz",
        "pt",
        "pth",
        "safetensors",
        "csv",
        "tsv",
        "txt",
        "pkl",
        "pickle",
        "mat",
        "h5",
        "hdf5",
        "parquet",
    ];
    const PROSE: [&str; 9] =
        ["readme", "license", "licence", "copying", "citation", "notes", "release", "requirements", "changelog"];
    let object = python::object(path);
    let is_prose = |stem: &str| PROSE.iter().any(|prose| stem.to_lowercase().starts_with(prose));
    let is_array = split(&file_name(path))
        .is_some_and(|(stem, ending, _)| ENDINGS.contains(&&*ending) && (ending != "txt" || !is_prose(&stem)));
    (is_array || object.is_some()).then(|| Other { name: name.to_owned(), object })
}
