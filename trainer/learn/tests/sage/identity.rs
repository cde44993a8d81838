//! A run goes on with its own data set, which it knows by its content.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use std::{fs, path::Path};

use golden::Silent;
use golden_files::write;
use learn::train::{Presence, Settings};
use tempfile::TempDir;

use super::{
    runs::{NAMES, copy, files, refusal, train},
    world::{World, alone, folder, settings},
};

/// Changes a data set.
type Change = fn(&Path);

/// Where the elements of an `.npy` file begin.
fn data(bytes: &[u8]) -> usize {
    10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))
}

/// The elements of an array of int64 of one dimension.
fn integers(path: &Path) -> Vec<i64> {
    let bytes = fs::read(path).unwrap();
    bytes[data(&bytes)..].as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
}

/// Writes an array of int64 of one dimension.
pub fn put_integers(path: &Path, elements: Vec<i64>) {
    let mut bytes = Vec::new();
    write::npy(&mut bytes, "<i8", elements.into_iter().map(i64::to_le_bytes), "test", &Silent).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Rows, columns and elements of the features.
fn features(folder: &Path) -> ([u64; 2], Vec<f32>) {
    let bytes = fs::read(folder.join("features.npy")).unwrap();
    let values: Vec<f32> = bytes[data(&bytes)..].as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    ([values.len() as u64 / 12, 12], values)
}

fn put_features<const WIDTH: usize>(folder: &Path, dtype: &str, elements: impl Iterator<Item = [u8; WIDTH]>) {
    let (shape, _) = features(folder);
    let bytes: Vec<u8> = write::npy_header(dtype, &shape).into_iter().chain(elements.flatten()).collect();
    fs::write(folder.join("features.npy"), bytes).unwrap();
}

/// The run in the folder `out` of a world, put into the world of another data set.
pub fn moved(from: &World, change: impl FnOnce(&Path)) -> World {
    let folder: TempDir = folder();
    change(folder.path());
    let world = World::of(folder);
    copy(&from.path("out"), &world.path("out"), &NAMES);
    world
}

#[test]
fn another_data_set_is_refused() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let more = Settings { epochs: 4, ..settings() };
    // All of them have the shapes, classes and numbers of mini-batches of the first.
    let changes: [(&str, Change); 7] = [
        ("the graph", |folder| {
            let path = folder.join("indices.npy");
            let mut bytes = fs::read(&path).unwrap();
            let last = bytes.len() - 4;
            // The source of the last edge.
            bytes[last] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
        ("the features", |folder| {
            let (_, mut values) = features(folder);
            *values.last_mut().unwrap() += 1e-3;
            put_features(folder, "<f4", values.into_iter().map(f32::to_le_bytes));
        }),
        ("the labels", |folder| {
            let mut labels = integers(&folder.join("labels.npy"));
            *labels.last_mut().unwrap() = 2 - *labels.last().unwrap() / 2;
            put_integers(&folder.join("labels.npy"), labels);
        }),
        ("the split", |folder| put_integers(&folder.join("train_idx.npy"), (1..141).collect())),
        ("the split", |folder| put_integers(&folder.join("val_idx.npy"), (700..900).collect())),
        ("the split", |folder| put_integers(&folder.join("test_idx.npy"), (1000..1501).collect())),
        ("the features", |folder| {
            let (_, values) = features(folder);
            put_features(folder, "<f4", values.into_iter().map(|value| (value * 2.0).to_le_bytes()));
        }),
    ];
    for (part, change) in changes {
        let text = refusal(&moved(&world, change), "out", &more);
        let rest =
            text.strip_prefix("OUT/last.safetensors: training cannot go on with another data set, which differs in ");
        let (digests, advice) =
            rest.and_then(|rest| rest.strip_prefix(part)?.split_once("; ")).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(advice, "give the data set that it was made with, or another folder for the results");
        let digest = |text: &str| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (there, here) =
            digests.strip_prefix(" (").and_then(|text| text.strip_suffix(" here)")?.split_once(" there, ")).unwrap();
        assert!(digest(there) && digest(here) && there != here, "{text}");
    }
    let all = refusal(
        &moved(&world, |folder| {
            put_integers(&folder.join("train_idx.npy"), (1..141).collect());
            let mut labels = integers(&folder.join("labels.npy"));
            labels[2000] = (labels[2000] + 1) % 3;
            put_integers(&folder.join("labels.npy"), labels);
        }),
        "out",
        &more,
    );
    assert!(all.contains("the labels (") && all.contains(" and the split ("), "{all}");
    // A run that is complete is of its data set as well.
    let complete = refusal(&moved(&world, changes[1].1), "out", &settings());
    assert!(complete.contains("another data set"), "{complete}");
}

#[test]
fn the_same_data_set_in_other_files_is_the_same() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let more = Settings { epochs: 3, ..settings() };
    let changes: [fn(&Path); 4] = [
        |_| {},
        // As float64.
        |folder| {
            let (_, values) = features(folder);
            put_features(folder, "<f8", values.into_iter().map(|value| f64::from(value).to_le_bytes()));
        },
        // As a sparse matrix, and the split as masks.
        |folder| {
            let ([rows, columns], values) = features(folder);
            fs::remove_file(folder.join("features.npy")).unwrap();
            put_integers(
                &folder.join("feat_indptr.npy"),
                (0..=rows).map(|row| (row * columns).cast_signed()).collect(),
            );
            let columns = (0..values.len() as u64).map(|place| (place % columns).cast_signed()).collect();
            put_integers(&folder.join("feat_indices.npy"), columns);
            let mut bytes = Vec::new();
            write::npy(&mut bytes, "<f4", values.into_iter().map(f32::to_le_bytes), "test", &Silent).unwrap();
            fs::write(folder.join("feat_values.npy"), bytes).unwrap();
        },
        |folder| {
            for part in ["train", "val", "test"] {
                let path = folder.join(format!("{part}_idx.npy"));
                let mut mask = vec![0_u8; 2708];
                integers(&path).into_iter().for_each(|node| mask[usize::try_from(node).unwrap()] = 1);
                let bytes: Vec<u8> = write::npy_header("|u1", &[2708]).into_iter().chain(mask).collect();
                fs::write(folder.join(format!("{part}_mask.npy")), bytes).unwrap();
                fs::remove_file(path).unwrap();
            }
        },
    ];
    let [first, others @ ..] = changes.map(|change| {
        let world = moved(&world, change);
        train(&world, "out", Presence::Resume, &more).unwrap();
        files(&world.path("out"))
    });
    assert!(others.iter().all(|files| *files == first));
}
