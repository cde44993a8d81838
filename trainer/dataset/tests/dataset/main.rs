//! Data sets: what is read of a folder, what is refused, and what is made of what people download.

mod bundles;
mod hostile;
mod import;
mod masks;
mod names;
mod pieces;
mod tables;
mod torch;
mod unread;

use std::{io::Write, path::Path};

use dataset::{Dataset, DatasetError, Splits};
use flate2::{Compression, write::GzEncoder};
use golden::Silent;
use test_support::files::{Files, array, bools, float32, graph, ids, int32, int64, npy, x};

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
