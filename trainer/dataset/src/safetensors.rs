//! Files of `safetensors`: tensors under names.
//!
//! The header is read by the crate `safetensors`; the tensors are read as they are asked for, so that the file need not stand
//! in memory beside them.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use golden::Meter;
use golden_files::{Listener, read, read::Source};
use safetensors::tensor::Metadata;

use super::{
    array::Array,
    dtype::Dtype,
    error::{DatasetError, Problem},
};

/// The longest header that is looked at; one of ten tensors has a thousand bytes.
const HEADER_LIMIT: u64 = 1 << 16;

/// Bytes that are read at a time; a multiple of the width of every type.
const CHUNK: usize = 1 << 18;

/// An opened file.
pub(super) struct TensorFile {
    path: PathBuf,
    file: File,
    metadata: Metadata,
    /// The byte at which the tensors start.
    start: u64,
}

impl TensorFile {
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        let refused = |found: String| Problem::Safetensors { found }.at(path);
        let mut file = File::open(path).map_err(|error| Problem::Open(error).at(path))?;
        let size = file.metadata().map_err(|error| Problem::Open(error).at(path))?.len();
        let mut read = |length: u64| {
            let mut bytes = vec![0; length as usize];
            file.read_exact(&mut bytes).map_err(|error| refused(format!("its header: {error}")))?;
            Ok::<_, DatasetError>(bytes)
        };
        let length = read(8)?.try_into().map_or(u64::MAX, u64::from_le_bytes);
        if length > HEADER_LIMIT {
            return Err(refused(format!("its header has {length} bytes; accepted are {HEADER_LIMIT}")));
        }
        let metadata: Metadata =
            serde_json::from_slice(&read(length)?).map_err(|error| refused(format!("its header: {error}")))?;
        let (start, data) = (8 + length, metadata.data_len() as u64);
        if size.checked_sub(start) != Some(data) {
            return Err(refused(format!("it has {size} bytes; its header states {start} and {data} of data")));
        }
        Ok(Self { path: path.to_owned(), file, metadata, start })
    }

    /// The names of all tensors.
    pub(super) fn names(&self) -> Vec<String> {
        self.metadata.offset_keys()
    }

    /// The tensor of a name that it has.
    pub(super) fn array(&mut self, name: &str) -> Result<Tensor<'_>, DatasetError> {
        let path = self.path.join(name);
        let lacks = || Problem::Lacks { what: "tensors of this name", accepted: "those that are in it" }.at(&path);
        let info = self.metadata.info(name).ok_or_else(lacks)?;
        let dtype = Dtype::of_safetensors(info.dtype).ok_or_else(|| {
            let accepted = "F16, BF16, F32, F64, BOOL, and I and U of 8 to 64 bits";
            Problem::Type { what: "the elements", found: format!("{:?}", info.dtype), accepted }.at(&path)
        })?;
        let (begin, end) = info.data_offsets;
        self.file
            .seek(SeekFrom::Start(self.start + begin as u64))
            .map_err(|error| read::Problem::Read { byte: 0, error }.at(&path))?;
        let shape = info.shape.iter().map(|&extent| extent as u64).collect();
        let data = (&self.file).take((end - begin) as u64);
        Ok(Tensor { source: Source::member(data, path), shape, dtype })
    }
}

/// A tensor, in C order.
pub(super) struct Tensor<'a> {
    source: Source<'a>,
    shape: Vec<u64>,
    dtype: Dtype,
}

impl Array for Tensor<'_> {
    fn path(&self) -> PathBuf {
        self.source.path().to_owned()
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn elements<T: Copy>(
        mut self,
        progress: &dyn Listener,
        mut convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError> {
        let path = self.path();
        let what = format!("reading {}", path.display());
        // The header has been checked: the extents make as many bytes as there are.
        let total: u64 = self.shape.iter().product();
        let mut meter = Meter::new(progress, &what, total);
        let (mut chunk, mut elements) = (vec![0; CHUNK], Vec::with_capacity(total as usize));
        loop {
            let found = self.source.fill(&mut chunk)?;
            self.dtype.each(&chunk[..found], |value| {
                elements.push(convert(value, elements.len() as u64).map_err(|problem| problem.at(&path))?);
                Ok::<_, DatasetError>(())
            })?;
            meter.at(elements.len() as u64);
            if found < CHUNK {
                break;
            }
        }
        if (elements.len() as u64) < total {
            let expected = format!("its header states {total} elements");
            return Err(read::Problem::Truncated { byte: self.source.position(), expected }.at(&path).into());
        }
        meter.finish();
        Ok(elements)
    }
}
