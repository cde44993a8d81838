//! Data sets: what is read of a folder, what is refused, and what is made of what people download.

mod hostile;
mod import;
mod pieces;
mod torch;

use std::{io::Write, path::Path};

use dataset::{Dataset, DatasetError};
use flate2::{Compression, write::GzEncoder};
use golden::Silent;
use test_support::files::{Files, array, float32, int32, int64, npy};

/// A folder as a data set.
trait Load {
    fn load(&self) -> Result<Dataset, String>;

    fn refusal(&self) -> String;
}

impl Load for Files {
    fn load(&self) -> Result<Dataset, String> {
        Dataset::load(self.path(), &Silent).map_err(|error| sentence(&error, self.path()))
    }

    fn refusal(&self) -> String {
        self.load().unwrap_err()
    }
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
