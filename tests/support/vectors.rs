//! Digests of sub-graphs that an independent implementation has made.

use std::{fmt::Write as _, fs, path::Path};

use golden::{Buffer, Request};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use zerocopy::IntoBytes;

use crate::request;

/// One row of `vectors.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    /// Name of the graph.
    pub graph: String,
    seeds: Seeds,
    fanouts: Vec<i32>,
    seed: u64,
    minibatch: u64,
    /// Nodes of each hop, the seeds first.
    pub nodes_per_hop: Vec<u32>,
    /// Edges of each hop.
    pub edges_per_hop: Vec<u32>,
    /// sha256 over the four buffers as int32 little-endian, in hexadecimal.
    pub sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Seeds {
    List(Vec<u32>),
    Range { range: (u32, u32, usize) },
}

impl Vector {
    /// The request that was sampled.
    pub fn request(&self) -> Request {
        let seeds = match &self.seeds {
            Seeds::List(list) => list.clone(),
            Seeds::Range { range: (first, end, step) } => (*first..*end).step_by(*step).collect(),
        };
        request(self.seed, self.minibatch, seeds, &self.fanouts)
    }
}

/// The rows of a file.
///
/// # Panics
/// If it cannot be read, or has no row: a test over nothing would not fail.
pub fn vectors_in(path: &Path) -> Vec<Vector> {
    #[derive(Deserialize)]
    struct File {
        vectors: Vec<Vector>,
    }
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file: File = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!file.vectors.is_empty(), "{} has no vector", path.display());
    file.vectors
}

/// The digest of four buffers in the order of [`Buffer::ALL`].
pub fn digest<'a>(buffer: impl Fn(Buffer) -> &'a [i32]) -> String {
    let mut hash = Sha256::new();
    for each in Buffer::ALL {
        // Buffers are little-endian as every machine is that this runs on.
        hash.update(buffer(each).as_bytes());
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
}
