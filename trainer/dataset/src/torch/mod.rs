//! `features.pt`: a dict of tensors and numbers as `torch.save` writes it, read without torch.
//!
//! The dict has `x`, the features, `[nodes, columns]`; and where they are there, `y`, the labels, `[nodes]` or `[nodes, 1]`,
//! and `num_classes`, a number or a tensor of one. The file is a zip file: `data.pkl` says what there is, and each of
//! `data/0`, `data/1`, ... is the elements of a storage, as they lie in memory.

mod pickle;

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

use golden::{Meter, Progress, Silent};
use golden_files::{read, read::Source};
use zip::ZipArchive;

use self::pickle::{Item, Tensor};
use super::{
    array::Array,
    error::{DatasetError, Problem},
    labels::{self, Labels},
};

/// The longest `data.pkl` that is looked at: one of a dict of three tensors has some hundred bytes.
const PICKLE_LIMIT: u64 = 1 << 16;

/// Bytes that are read at a time; a multiple of the width of every type.
const CHUNK: usize = 1 << 18;

/// An opened `features.pt`.
pub(super) struct TorchFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// The folder in the zip file in which everything lies.
    root: String,
    items: Vec<(Rc<str>, Item)>,
}

impl TorchFile {
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        let refused = |found: String| Problem::Archive { found }.at(path);
        let file = File::open(path).map_err(|error| Problem::Open(error).at(path))?;
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| refused(error.to_string()))?;
        let names: Vec<_> = archive.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
        let mut roots = names.iter().filter_map(|name| name.strip_suffix("/data.pkl"));
        let (Some(root), None) = (roots.next(), roots.next()) else {
            return Err(refused("it has not one data.pkl".to_owned()));
        };
        let mut member = |name: &str| {
            let mut bytes = Vec::new();
            let member =
                archive.by_name(&format!("{root}/{name}")).map_err(|error| refused(format!("{name}: {error}")))?;
            let read = member.take(PICKLE_LIMIT + 1).read_to_end(&mut bytes);
            read.map_err(|error| refused(format!("{name}: {error}")))?;
            if bytes.len() as u64 > PICKLE_LIMIT {
                return Err(refused(format!("{name} has more than {PICKLE_LIMIT} bytes")));
            }
            Ok(bytes)
        };
        // Torch 1 did not say it, and was at home on little-endian machines only.
        if names.iter().any(|name| *name == format!("{root}/byteorder")) && member("byteorder")? != b"little" {
            return Err(refused("its byteorder is not 'little'".to_owned()));
        }
        let items = pickle::read(&member("data.pkl")?);
        let items = items.map_err(|refusal| Problem::Pickle { byte: refusal.byte, found: refusal.found }.at(path))?;
        if let Some((name, _)) = items.iter().find(|(name, _)| !["x", "y", "num_classes"].contains(&&**name)) {
            return Err(Problem::Name { found: read::excerpt(name) }.at(path));
        }
        Ok(Self { path: path.to_owned(), archive, root: root.to_owned(), items })
    }

    pub(super) fn features(&mut self) -> Result<TorchArray<'_>, DatasetError> {
        let none = Problem::Lacks { what: "features", accepted: "a tensor x" }.at(&self.path);
        self.tensor("x")?.ok_or(none)
    }

    /// The labels of `nodes` nodes, if it has some.
    pub(super) fn labels(&mut self, nodes: usize, progress: &dyn Progress) -> Result<Option<Labels>, DatasetError> {
        let classes = self.classes()?;
        match self.tensor("y")? {
            Some(array) => labels::read(array, nodes, classes, progress).map(Some),
            None => Ok(None),
        }
    }

    fn classes(&mut self) -> Result<Option<usize>, DatasetError> {
        if let Some(Item::Number(number)) = self.item("num_classes") {
            // Any number that is one of classes is exact.
            #[expect(clippy::cast_precision_loss)]
            let number = number as f64;
            return labels::classes(number).map(Some).map_err(|problem| problem.at(&self.path));
        }
        self.tensor("num_classes")?.map(single).transpose()
    }

    fn item(&self, name: &str) -> Option<Item> {
        self.items.iter().find(|(found, _)| &**found == name).map(|(_, item)| item.clone())
    }

    fn tensor(&mut self, name: &'static str) -> Result<Option<TorchArray<'_>>, DatasetError> {
        match self.item(name) {
            None => Ok(None),
            Some(Item::Tensor(tensor)) => TorchArray::open(self, name, tensor).map(Some),
            Some(Item::Number(number)) => {
                let found = format!("int ({number})");
                Err(Problem::Type { what: name, found, accepted: "tensors" }.at(&self.path))
            }
        }
    }
}

/// The number of classes in an array of one element.
pub(super) fn single(array: impl Array) -> Result<usize, DatasetError> {
    let (path, found) = (array.path(), array.shape().to_vec());
    if found.iter().any(|&extent| extent != 1) {
        return Err(Problem::Shape { what: "the number of classes", found, accepted: "[]".to_owned() }.at(&path));
    }
    let classes = array.elements(&Silent, |value, _| labels::classes(value))?;
    Ok(classes[0])
}

/// A tensor in a `features.pt`.
pub(super) struct TorchArray<'a> {
    file: &'a mut TorchFile,
    name: &'static str,
    tensor: Rc<Tensor>,
}

impl<'a> TorchArray<'a> {
    fn open(file: &'a mut TorchFile, name: &'static str, tensor: Rc<Tensor>) -> Result<Self, DatasetError> {
        let array = Self { file, name, tensor };
        match array.last() {
            Some(needed) if needed >= u128::from(array.tensor.storage.elements) => {
                let (storage, elements) = (array.tensor.storage.key.clone(), array.tensor.storage.elements);
                Err(Problem::Storage { storage, needed, elements }.at(&array.path()))
            }
            _ => Ok(array),
        }
    }

    /// The last element of the storage that the tensor needs.
    fn last(&self) -> Option<u128> {
        let Tensor { offset, shape, strides, .. } = &*self.tensor;
        let wide = |(&extent, &stride): (&u64, &u64)| {
            extent.checked_sub(1).map(|extent| u128::from(extent).saturating_mul(stride.into()))
        };
        let reach = shape.iter().zip(strides).map(wide).collect::<Option<Vec<_>>>()?;
        Some(reach.into_iter().fold(u128::from(*offset), u128::saturating_add))
    }

    /// Whether the elements lie one after the other.
    fn is_contiguous(&self) -> bool {
        let mut step = 1;
        self.tensor.shape.iter().zip(&self.tensor.strides).rev().all(|(&extent, &stride)| {
            let follows = extent <= 1 || u128::from(stride) == step;
            step = step.saturating_mul(extent.into());
            follows
        })
    }

    /// Hands on all elements of the storage; those after the last one that is stated are refused.
    fn storage(
        &mut self,
        progress: &dyn Progress,
        mut take: impl FnMut(f64, u64) -> Result<(), Problem>,
    ) -> Result<(), DatasetError> {
        let storage = Rc::clone(&self.tensor.storage);
        let member = format!("{}/data/{}", self.file.root, storage.key);
        let path = self.file.path.join(&member);
        let member = self.file.archive.by_name(&member);
        let member = member.map_err(|error| Problem::Archive { found: error.to_string() }.at(&path))?;
        let mut source = Source::member(member, path);
        let what = format!("reading {}", source.path().display());
        let mut meter = Meter::new(progress, &what, storage.elements);
        let (width, mut chunk, mut done) = (storage.dtype.width(), vec![0; CHUNK], 0);
        while done < storage.elements {
            let elements = (storage.elements - done).min((CHUNK / width) as u64);
            let wanted = elements as usize * width;
            if source.fill(&mut chunk[..wanted])? < wanted {
                let bytes = u128::from(storage.elements) * width as u128;
                let expected = format!("data.pkl states {} elements, {bytes} bytes", storage.elements);
                return Err(read::Problem::Truncated { byte: source.position(), expected }.at(source.path()).into());
            }
            let mut place = done;
            storage.dtype.each(&chunk[..wanted], |value| {
                take(value, place).map_err(|problem| problem.at(&self.file.path))?;
                place += 1;
                Ok::<_, DatasetError>(())
            })?;
            done = place;
            meter.at(done);
        }
        // Reading on to the end also has the checksum of the zip file compared.
        let byte = source.position();
        if source.fill(&mut [0])? > 0 {
            return Err(read::Problem::Trailing { elements: done, byte }.at(source.path()).into());
        }
        meter.finish();
        Ok(())
    }
}

impl Array for TorchArray<'_> {
    fn path(&self) -> PathBuf {
        self.file.path.join(self.name)
    }

    fn shape(&self) -> &[u64] {
        &self.tensor.shape
    }

    fn elements<T: Copy>(
        mut self,
        progress: &dyn Progress,
        mut convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError> {
        let tensor = Rc::clone(&self.tensor);
        let Some(last) = self.last() else { return Ok(Vec::new()) };
        // Both are below the number of elements of the storage.
        let (first, last) = (tensor.offset, last as u64);
        let mut elements = Vec::new();
        if self.is_contiguous() {
            self.storage(progress, |value, place| {
                if (first..=last).contains(&place) {
                    elements.push(convert(value, place - first)?);
                }
                Ok(())
            })?;
            return Ok(elements);
        }
        let mut stored = Vec::new();
        self.storage(progress, |value, place| {
            if (first..=last).contains(&place) {
                stored.push(value);
            }
            Ok(())
        })?;
        let mut index = vec![0; tensor.shape.len()];
        let total: u64 = tensor.shape.iter().product();
        for place in 0..total {
            let at: u64 = index.iter().zip(&tensor.strides).map(|(index, stride)| index * stride).sum();
            elements.push(convert(stored[at as usize], place).map_err(|problem| problem.at(&self.file.path))?);
            for (index, &extent) in index.iter_mut().zip(&tensor.shape).rev() {
                *index += 1;
                if *index < extent {
                    break;
                }
                *index = 0;
            }
        }
        Ok(elements)
    }
}
