//! Arrays under names: those of a folder, or of one file that holds several.

use std::{
    io,
    path::{Path, PathBuf},
};

use golden_files::Compression;

use super::{
    array::{AnyArray, Array, NpyArray},
    bundle::Bundle,
    error::{DatasetError, Problem},
    names::{self, Role},
    python,
    text::Reading,
    unread::{Other, Unread, below, unread},
};

/// Arrays whose names say what they hold.
pub(super) struct Arrays {
    /// The folder or the file.
    path: PathBuf,
    bundles: Vec<Bundle>,
    entries: Vec<Entry>,
    /// What has a name that says nothing.
    others: Vec<Other>,
    /// How text is read, if it counts, too.
    text: Option<Reading>,
}

struct Entry {
    role: Role,
    /// The file, or the array in a file.
    name: String,
    place: Place,
    /// Whether it has been read.
    taken: bool,
}

enum Place {
    /// An `.npy`.
    File(PathBuf),
    /// Text.
    Text(PathBuf),
    /// An array of this name in one of the bundles.
    Member { bundle: usize, array: String },
}

/// An array that is there.
#[derive(Clone, Copy)]
pub(super) struct Found(usize);

impl Arrays {
    /// The arrays that lie in a folder.
    pub(super) fn of_folder(path: &Path) -> Result<Self, DatasetError> {
        let mut arrays = Self::none(path);
        for file in files(path)? {
            let name = file_name(&file);
            let Some((stem, ending, compressed)) = split(&name) else {
                arrays.others.extend(unread(&file, &name));
                continue;
            };
            match names::role(&stem) {
                Some(role) if ending == "npy" => arrays.enter(role, name, Place::File(file)),
                role if (role.is_some() || names::is_split(&stem)) && !compressed => {
                    match Bundle::open(&file, &ending)? {
                        Some(bundle) => arrays.add(&file, bundle, role, true)?,
                        None => arrays.others.extend(unread(&file, &name)),
                    }
                }
                _ => arrays.others.extend(unread(&file, &name)),
            }
        }
        arrays.others.extend(below(path, true));
        Ok(arrays)
    }

    /// The parts of a split that lie in a folder, as arrays or as text that is read in a given way.
    pub(super) fn of_split(path: &Path, reading: Reading) -> Result<Self, DatasetError> {
        let mut arrays = Self::none(path);
        arrays.text = Some(reading);
        for file in files(path)? {
            let name = file_name(&file);
            let Some((stem, ending, compressed)) = split(&name) else { continue };
            let role = names::role(&stem).filter(|role| matches!(role, Role::Part(..)));
            match (role, ending.as_str()) {
                (Some(role), "csv" | "tsv" | "txt") => arrays.enter(role, name, Place::Text(file)),
                (Some(role), "npy") => arrays.enter(role, name, Place::File(file)),
                _ if (role.is_some() || names::is_split(&stem)) && !compressed => {
                    if let Some(bundle) = Bundle::open(&file, &ending)? {
                        arrays.add(&file, bundle, role, true)?;
                    }
                }
                _ => {}
            }
        }
        Ok(arrays)
    }

    /// The array in one file that is of such a role whatever its name is; `None` if the file is text.
    pub(super) fn of_role(path: &Path, role: Role) -> Result<Option<Self>, DatasetError> {
        let mut arrays = Self::none(path);
        let name = file_name(path);
        let (_, ending, _) = split(&name).unwrap_or_default();
        if ending == "npy" {
            arrays.enter(role, name, Place::File(path.to_owned()));
        } else if let Some(bundle) = Bundle::open(path, &ending)? {
            arrays.add(path, bundle, Some(role), true)?;
        } else if let Some(found) = python::object(path) {
            return Err(Problem::Object { found }.at(path));
        } else {
            return Ok(None);
        }
        Ok(Some(arrays))
    }

    /// The arrays in one file.
    pub(super) fn of_file(path: &Path) -> Result<Self, DatasetError> {
        let mut arrays = Self::none(path);
        let name = file_name(path);
        let (stem, ending, _) = split(&name).unwrap_or_default();
        if let Some(bundle) = Bundle::open(path, &ending)? {
            arrays.add(path, bundle, names::role(&stem), false)?;
            return Ok(arrays);
        }
        let accepted = "a file with several arrays: .npz, .pt or .safetensors";
        Err(Problem::Unknown { found: "a file of another kind".to_owned(), accepted }.at(path))
    }

    fn none(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, bundles: Vec::new(), entries: Vec::new(), others: Vec::new(), text: None }
    }

    fn enter(&mut self, role: Role, name: String, place: Place) {
        self.entries.push(Entry { role, name, place, taken: false });
    }

    /// Enters the arrays of a file, which is one of several if they are `named` with its name; `role` is what its own name
    /// says.
    fn add(&mut self, path: &Path, mut bundle: Bundle, role: Option<Role>, named: bool) -> Result<(), DatasetError> {
        let (file, arrays) = (file_name(path), bundle.names());
        let alone = arrays.len() == 1;
        let is_matrix = arrays.iter().any(|array| array == "format");
        for array in arrays {
            let name = match () {
                () if array.is_empty() => file.clone(),
                () if named => format!("{file}/{array}"),
                () => array.clone(),
            };
            let meant = match (role, array.as_str()) {
                (Some(role), "" | "arr_0") if alone => Some(role),
                // Features as SciPy writes a sparse matrix.
                (Some(Role::Features), "format") => match bundle.word(&array)? {
                    Some(format) if format != "csr" => {
                        let accepted = "csr (scipy.sparse.csr_matrix makes it)";
                        let what = "the sparse features";
                        return Err(Problem::Type { what, found: format, accepted }.at(path));
                    }
                    _ => continue,
                },
                (Some(Role::Features), piece) if names::piece(piece).is_some() => names::piece(piece).map(Role::Sparse),
                // By rows or by columns, as its format says: nothing is made of it here.
                (_, piece) if is_matrix && names::piece(piece).is_some() => None,
                (_, array) => names::role(array),
            };
            match meant {
                Some(role) => {
                    let place = Place::Member { bundle: self.bundles.len(), array };
                    self.enter(role, name, place);
                }
                None => self.others.push(Other { name, object: None }),
            }
        }
        self.bundles.push(bundle);
        Ok(())
    }

    /// The one array with such a role, which holds `what`.
    pub(super) fn only(
        &self,
        what: &'static str,
        wanted: impl Fn(Role) -> bool,
    ) -> Result<Option<Found>, DatasetError> {
        let mut there = (0..self.entries.len()).map(Found).filter(|&found| wanted(self.role(found)));
        match (there.next(), there.next()) {
            (Some(first), Some(second)) => {
                let (first, second) = (self.name(first).to_owned(), self.name(second).to_owned());
                Err(Problem::Ambiguous { what, first, second }.at(&self.path))
            }
            (first, _) => Ok(first),
        }
    }

    pub(super) fn role(&self, found: Found) -> Role {
        self.entries[found.0].role
    }

    /// The file, or the file and the name within it.
    pub(super) fn name(&self, found: Found) -> &str {
        &self.entries[found.0].name
    }

    /// The file with the lines of an array that is text, and how they are read. It is then no longer one of which nothing was
    /// read.
    pub(super) fn text(&mut self, found: Found) -> Option<(&Path, Reading)> {
        let Entry { place, taken, .. } = &mut self.entries[found.0];
        match (place, self.text) {
            (Place::Text(path), Some(reading)) => {
                *taken = true;
                Some((path, reading))
            }
            _ => None,
        }
    }

    /// Opens an array, which is then no longer one of which nothing was read.
    pub(super) fn open(&mut self, found: Found) -> Result<AnyArray<'_>, DatasetError> {
        self.entries[found.0].taken = true;
        self.look(found)
    }

    /// The extents of an array.
    pub(super) fn shape(&mut self, found: Found) -> Result<Vec<u64>, DatasetError> {
        Ok(self.look(found)?.shape().to_vec())
    }

    fn look(&mut self, found: Found) -> Result<AnyArray<'_>, DatasetError> {
        match &self.entries[found.0].place {
            // Text is read by whoever asks for it.
            Place::File(path) | Place::Text(path) => NpyArray::open(path).map(AnyArray::Npy),
            Place::Member { bundle, array } => self.bundles[*bundle].array(array),
        }
    }

    /// A thing of which there is `found`, but not what is `missing`.
    pub(super) fn half(&self, found: Found, missing: &'static str) -> DatasetError {
        Problem::Half { found: self.name(found).to_owned(), missing }.at(&self.path)
    }

    /// Whether text counts as an array, too.
    pub(super) fn takes_text(&self) -> bool {
        self.text.is_some()
    }

    /// The id of the first node, where nodes are named.
    pub(super) fn first_id(&self) -> u32 {
        self.text.map_or(0, |reading| reading.first_id)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All of which nothing was read. A graph that is also there in another form is no loss.
    pub(super) fn unread(self) -> Unread {
        let lost =
            |entry: &Entry| !entry.taken && !matches!(entry.role, Role::Csc(_) | Role::Lists(_) | Role::Adjacency(_));
        let entries = self.entries.into_iter().filter(lost).map(|entry| Other { name: entry.name, object: None });
        Unread::beside(entries.chain(self.others).collect())
    }

    /// The names of the arrays that were read.
    pub(super) fn taken(&self) -> Vec<String> {
        self.entries.iter().filter(|entry| entry.taken).map(|entry| entry.name.clone()).collect()
    }

    /// The names of all that is there, as they stand in an error: of many the first ones.
    fn names(&self) -> String {
        let entries = self.entries.iter().map(|entry| Other { name: entry.name.clone(), object: None });
        let others: Vec<_> = entries.chain(self.others.iter().cloned()).collect();
        if others.is_empty() { "nothing".to_owned() } else { Unread::beside(others).to_string() }
    }

    /// That there are no arrays with `what`; `accepted` are the names that those would have.
    pub(super) fn lack(&self, what: &'static str, accepted: &'static str) -> DatasetError {
        Problem::Absent { what, found: self.names(), accepted }.at(&self.path)
    }
}

/// The files in a folder that are not hidden, in the order of their names.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let entries = folder.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let paths = entries.map_err(|error| Problem::Open(error).at(folder))?.into_iter().map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file() && !file_name(path).starts_with('.')).collect();
    files.sort_unstable();
    Ok(files)
}

/// Whether a file of this name in the folder of a data set is one that is read.
pub(super) fn is_read(name: &str) -> bool {
    let Some((stem, ending, compressed)) = split(name) else { return false };
    match (names::role(&stem), ending.as_str()) {
        (Some(Role::EdgeIndex | Role::Edges | Role::Adjacency(_) | Role::Nodes), _) => false,
        (role, "npy") => role.is_some(),
        (role, "npz" | "pt" | "pth" | "safetensors") => !compressed && (role.is_some() || names::is_split(&stem)),
        _ => false,
    }
}

/// The name of a file in parts: what comes before its ending, the ending without what says that it is compressed, and
/// whether it is. Endings are in lower case.
pub(super) fn split(name: &str) -> Option<(String, String, bool)> {
    let compressed = Compression::of_name(Path::new(name)).is_some();
    let plain = if compressed { name.rsplit_once('.')?.0 } else { name };
    let (stem, ending) = plain.rsplit_once('.')?;
    Some((stem.to_owned(), ending.to_lowercase(), compressed))
}

/// The name of a file.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
