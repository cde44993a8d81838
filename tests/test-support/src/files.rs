//! Files as `NumPy` writes them, in a folder of their own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder of files.
pub struct Files(TempDir);

impl Files {
    /// A new folder with these files.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Self {
        let folder = Self(TempDir::new().unwrap());
        files.into_iter().for_each(|(name, bytes)| folder.write(name, &bytes));
        folder
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and makes the folders on the way.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), bytes).unwrap();
    }
}

/// An `.npy` file in row order.
pub fn npy(dtype: &str, shape: &str, data: impl IntoIterator<Item = u8>) -> Vec<u8> {
    array(dtype, "False", shape, data)
}

/// An `.npy` file.
pub fn array(dtype: &str, fortran: &str, shape: &str, data: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let start = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
    start.into_iter().chain(data).collect()
}

/// A vector of int32.
pub fn int32(values: &[i32]) -> Vec<u8> {
    npy("<i4", &format!("({},)", values.len()), values.iter().flat_map(|v| v.to_le_bytes()))
}

/// A vector of int64.
pub fn int64(values: &[i64]) -> Vec<u8> {
    npy("<i8", &format!("({},)", values.len()), values.iter().flat_map(|v| v.to_le_bytes()))
}

/// An array of float32 of this shape.
pub fn float32(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, values.iter().flat_map(|v| v.to_le_bytes()))
}

/// An array of bool of this shape.
pub fn bools(shape: &str, marks: &[u8]) -> Vec<u8> {
    npy("|b1", shape, marks.iter().copied())
}

/// The graph 1 -> 0, 0 -> 1, 3 -> 2, 2 -> 3, as the files of a folder.
pub fn graph() -> [(&'static str, Vec<u8>); 2] {
    [("indptr.npy", int64(&[0, 1, 2, 3, 4])), ("indices.npy", int32(&[1, 0, 3, 2]))]
}

/// Features of its nodes: four rows of three.
pub fn x() -> Vec<f32> {
    (0..12u8).map(|i| 0.5 * f32::from(i) - 1.0).collect()
}

/// Nodes as numbers.
pub fn ids(nodes: &[golden::NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.get()).collect()
}
