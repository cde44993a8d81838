//! Files that `torch.save` makes of one tensor, or of a dict of tensors, numbers and words, read without torch.
//!
//! Such a file is a zip file: `data.pkl` says what there is, and each of `data/0`, `data/1`, ... is the elements of a storage,
//! as they lie in memory. The names in a dict are those of [`super`]; `num_classes` is a number or a tensor of one.

mod pickle;

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

use golden::Meter;
use golden_files::{Listener, read, read::Source};
use zip::ZipArchive;

use self::pickle::{Item, Tensor};
use super::{
    array::{AnyArray, Array, Number},
    dtype::Dtype,
    error::{DatasetError, Problem},
};

/// The longest `data.pkl` that is looked at: one of a dict of three tensors has some hundred bytes.
const PICKLE_LIMIT: u64 = 1 << 16;

/// Bytes that are read at a time; a multiple of the width of every type.
const CHUNK: usize = 1 << 18;

/// The first bytes of a file of torch before 1.6: the pickle of its magic number.
const OLD: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

/// An opened file.
pub(super) struct TorchFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// The folder in the zip file in which everything lies.
    root: String,
    /// What was saved, by name; one tensor alone has the empty name.
    items: Vec<(Rc<str>, Item)>,
}

impl TorchFile {
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        let refused = |found: String| Problem::Archive { found }.at(path);
        let mut file = BufReader::new(File::open(path).map_err(|error| Problem::Open(error).at(path))?);
        let start = file.fill_buf().map_err(|error| Problem::Open(error).at(path))?;
        if start.starts_with(OLD) {
            return Err(refused("it is a file of torch before 1.6".to_owned()));
        }
        if start.first() == Some(&0x80) {
            return Err(Problem::Object { found: "a pickled Python object".to_owned() }.at(path));
        }
        let mut archive = ZipArchive::new(file).map_err(|error| refused(error.to_string()))?;
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
        let items = pickle::read(&member("data.pkl")?).map_err(|refusal| {
            match refusal.object {
                Some(object) => Problem::Object { found: format!("a Python object, {object}") },
                None => Problem::Pickle { byte: refusal.byte, found: refusal.found },
            }
            .at(path)
        })?;
        Ok(Self { path: path.to_owned(), archive, root: root.to_owned(), items })
    }

    /// The names of all that is in it.
    pub(super) fn names(&self) -> Vec<String> {
        self.items.iter().map(|(name, _)| name.to_string()).collect()
    }

    /// The array of a name that it has.
    pub(super) fn array(&mut self, name: &str) -> Result<AnyArray<'_>, DatasetError> {
        let path = if name.is_empty() { self.path.clone() } else { self.path.join(name) };
        match self.items.iter().find(|(found, _)| &**found == name) {
            Some((_, Item::Tensor(tensor))) => {
                let tensor = Rc::clone(tensor);
                TorchArray::open(self, path, tensor).map(AnyArray::Torch)
            }
            Some((_, Item::Number(value))) => Ok(AnyArray::Number(Number { path, value: *value })),
            Some((_, Item::Other(kind))) => {
                let found = (*kind).to_owned();
                Err(Problem::Type { what: "the elements", found, accepted: "numbers" }.at(&path))
            }
            None => Err(Problem::Lacks { what: "tensors of this name", accepted: "those that are in it" }.at(&path)),
        }
    }
}

/// A tensor in a file of torch's.
pub(super) struct TorchArray<'a> {
    file: &'a mut TorchFile,
    path: PathBuf,
    tensor: Rc<Tensor>,
}

impl<'a> TorchArray<'a> {
    fn open(file: &'a mut TorchFile, path: PathBuf, tensor: Rc<Tensor>) -> Result<Self, DatasetError> {
        let array = Self { file, path, tensor };
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
        progress: &dyn Listener,
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
                take(value, place).map_err(|problem| problem.at(&self.path))?;
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
        self.path.clone()
    }

    fn dtype(&self) -> Dtype {
        self.tensor.storage.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.tensor.shape
    }

    fn elements<T: Copy>(
        mut self,
        progress: &dyn Listener,
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
            elements.push(convert(stored[at as usize], place).map_err(|problem| problem.at(&self.path))?);
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
