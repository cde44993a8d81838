//! Data sets: what is read of a folder, what is refused, and what is made of what people download.

mod bundles;
mod command;
mod hostile;
mod import;
mod masks;
mod names;
mod pieces;
mod tables;
mod torch;
mod unread;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use golden::Silent;
use tempfile::TempDir;
use trainer::dataset::{Dataset, DatasetError, Splits};

/// A folder of files.
struct Files(TempDir);

impl Files {
    fn new<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Self {
        let folder = Self(TempDir::new().unwrap());
        files.into_iter().for_each(|(name, bytes)| folder.write(name, &bytes));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), bytes).unwrap();
    }

    fn load(&self) -> Result<Dataset, String> {
        Dataset::load(self.path(), &Silent).map_err(|error| sentence(&error, self.path()))
    }

    fn refusal(&self) -> String {
        self.load().unwrap_err()
    }
}

/// Of each part of a split the nodes.
fn parts(splits: &Splits) -> [Vec<u32>; 3] {
    [&splits.train, &splits.valid, &splits.test].map(|nodes| ids(nodes))
}

/// The one sentence that an error is, without the folder that its path starts with.
fn sentence(error: &DatasetError, folder: &Path) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    let folder = folder.display().to_string();
    assert!(text.starts_with(&folder), "the path comes first: {text}");
    text[folder.len()..].trim_start_matches([':', '/', ' ']).to_owned()
}

/// The graph 1 -> 0, 0 -> 1, 3 -> 2, 2 -> 3.
fn graph() -> [(&'static str, Vec<u8>); 2] {
    [("indptr.npy", int64(&[0, 1, 2, 3, 4])), ("indices.npy", int32(&[1, 0, 3, 2]))]
}

/// The features of all examples: four rows of three.
fn x() -> Vec<f32> {
    (0..12u8).map(|i| 0.5 * f32::from(i) - 1.0).collect()
}

fn npy(dtype: &str, shape: &str, data: impl IntoIterator<Item = u8>) -> Vec<u8> {
    array(dtype, "False", shape, data)
}

fn array(dtype: &str, fortran: &str, shape: &str, data: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let start = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat();
    start.into_iter().chain(data).collect()
}

fn bools(shape: &str, marks: &[u8]) -> Vec<u8> {
    npy("|b1", shape, marks.iter().copied())
}

fn int32(values: &[i32]) -> Vec<u8> {
    npy("<i4", &format!("({},)", values.len()), values.iter().flat_map(|v| v.to_le_bytes()))
}

fn int64(values: &[i64]) -> Vec<u8> {
    npy("<i8", &format!("({},)", values.len()), values.iter().flat_map(|v| v.to_le_bytes()))
}

fn float32(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, values.iter().flat_map(|v| v.to_le_bytes()))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A `.safetensors` with this header and data.
fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn ids(nodes: &[golden::NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.get()).collect()
}
