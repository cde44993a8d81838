//! Files that hold several arrays under names: `.npz`, `.pt` and `.safetensors`.

use std::path::Path;

use golden_files::read::Npz;

use super::{
    array::{AnyArray, NpyArray},
    error::DatasetError,
    safetensors::TensorFile,
    torch::TorchFile,
};

/// An opened file.
pub(super) enum Bundle {
    Npz(Npz),
    Torch(TorchFile),
    Safetensors(TensorFile),
}

impl Bundle {
    /// Opens the file, if its ending is of one that holds several arrays.
    pub(super) fn open(path: &Path, ending: &str) -> Result<Option<Self>, DatasetError> {
        Ok(Some(match ending {
            "npz" => Self::Npz(Npz::open(path)?),
            "pt" | "pth" => Self::Torch(TorchFile::open(path)?),
            "safetensors" => Self::Safetensors(TensorFile::open(path)?),
            _ => return Ok(None),
        }))
    }

    /// The names of its arrays. The one tensor of a `.pt` that holds nothing else has the empty name.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Npz(npz) => npz.names(),
            Self::Torch(torch) => torch.names(),
            Self::Safetensors(tensors) => tensors.names(),
        }
    }

    /// The array of a name that it has.
    pub(super) fn array(&mut self, name: &str) -> Result<AnyArray<'_>, DatasetError> {
        match self {
            Self::Npz(npz) => NpyArray::of(npz.named(name)?).map(AnyArray::Npy),
            Self::Torch(torch) => torch.array(name),
            Self::Safetensors(tensors) => tensors.array(name).map(AnyArray::Safetensors),
        }
    }

    /// The word in an array of a name that it has, such as the format of a sparse matrix.
    pub(super) fn word(&mut self, name: &str) -> Result<Option<String>, DatasetError> {
        match self {
            Self::Npz(npz) => Ok(Some(npz.named(name)?.word()?)),
            Self::Torch(_) | Self::Safetensors(_) => Ok(None),
        }
    }
}
