//! A data set to train with.

use std::{fs, path::Path};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use tempfile::TempDir;

use crate::files::{float32, int64};

/// Nodes of Cora.
const NODES: usize = 2708;

/// A folder with Cora's graph, random features of so many columns in 0 .. 1, and labels that can be learnt: the largest of a
/// node's first features, one for each class. The first `train` nodes are for training, 200 others to choose a model by, 500
/// to judge it by.
pub fn learnable(columns: usize, classes: usize, train: i64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    let cora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/cora");
    for name in ["indptr.npy", "indices.npy"] {
        write(name, fs::read(cora.join(name)).unwrap());
    }
    let mut words = ChaCha8Rng::seed_from_u64(77);
    let features: Vec<f32> = (0..NODES * columns).map(|_| (words.next_u32() >> 8) as f32 / (1 << 24) as f32).collect();
    let labels: Vec<i64> = features
        .chunks(columns)
        .map(|row| (0i64..).zip(&row[..classes]).max_by(|a, b| a.1.total_cmp(b.1)).map_or(-1, |(class, _)| class))
        .collect();
    write("features.npy", float32(&format!("({NODES}, {columns})"), &features));
    write("labels.npy", int64(&labels));
    for (part, nodes) in [("train", 0..train), ("val", 500..700), ("test", 1000..1500)] {
        write(&format!("{part}_idx.npy"), int64(&nodes.collect::<Vec<_>>()));
    }
    folder
}
