//! A run goes on with its own data set and its own files, and refuses any others.

use std::{collections::HashMap, fs, path::Path};

use golden::Silent;
use golden_files::write;
use learn::{train::Presence, train::Settings};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use tempfile::TempDir;

use super::{
    resume::{files, stop_in, train},
    world::{World, alone, folder, settings},
};

const NAMES: [&str; 4] = ["history.csv", "performance.json", "last.safetensors", "best.safetensors"];

/// Changes a data set.
type Change = fn(&Path);
/// Spoils a file.
type Spoil<'a> = Box<dyn Fn() + 'a>;

fn contents(folder: &Path) -> Vec<Option<Vec<u8>>> {
    NAMES.iter().map(|name| fs::read(folder.join(name)).ok()).collect()
}

fn copy(from: &Path, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for name in names.iter().filter(|name| from.join(name).exists()) {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Why training does not go on in a folder, with its name as OUT; that it is one line, and that nothing was changed.
fn refusal(world: &World, name: &str, settings: &Settings) -> String {
    let folder = world.path(name);
    let before = contents(&folder);
    let text = train(world, name, Presence::Resume, settings).unwrap_err().to_string();
    assert_eq!(contents(&folder), before, "{text}");
    assert!(!text.contains('\n'), "{text}");
    text.replace(&folder.display().to_string(), "OUT")
}

/// The elements of an array of int64 of one dimension.
fn integers(path: &Path) -> Vec<i64> {
    let bytes = fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[header..].as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
}

fn put_integers(path: &Path, elements: Vec<i64>) {
    let mut bytes = Vec::new();
    write::npy(&mut bytes, "<i8", elements.into_iter().map(i64::to_le_bytes), "test", &Silent).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Rows, columns and elements of the features.
fn features(folder: &Path) -> ([u64; 2], Vec<f32>) {
    let bytes = fs::read(folder.join("features.npy")).unwrap();
    let values: Vec<f32> = bytes[128..].as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    assert_eq!(bytes[127], b'\n');
    ([values.len() as u64 / 12, 12], values)
}

fn put_features<const WIDTH: usize>(folder: &Path, dtype: &str, elements: impl Iterator<Item = [u8; WIDTH]>) {
    let (shape, _) = features(folder);
    let bytes: Vec<u8> = write::npy_header(dtype, &shape).into_iter().chain(elements.flatten()).collect();
    fs::write(folder.join("features.npy"), bytes).unwrap();
}

/// A run of two epochs in the folder `out` of a world, put into the world of another data set.
fn moved(from: &World, change: impl FnOnce(&Path)) -> World {
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

/// Writes a file of tensors again, with the same words beside them, after a change of a tensor's extents and elements.
fn edit(path: &Path, which: &str, change: impl Fn(&mut Vec<usize>, &mut Vec<f32>)) {
    let bytes = fs::read(path).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensors = file.tensors().into_iter().map(|(name, view)| {
        let mut values = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let mut shape = view.shape().to_vec();
        if name == which {
            change(&mut shape, &mut values);
        }
        (name, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
    });
    let tensors: Vec<_> = tensors.collect();
    let views =
        tensors.iter().map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    let metadata = metadata.metadata().clone();
    fs::write(path, safetensors::serialize(views, metadata).unwrap()).unwrap();
}

/// Replaces words of what is beside the tensors, by others of the same length.
fn reword(path: &Path, old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let mut bytes = fs::read(path).unwrap();
    let place = bytes.windows(old.len()).position(|bytes| bytes == old.as_bytes()).unwrap();
    bytes[place..][..old.len()].copy_from_slice(new.as_bytes());
    fs::write(path, bytes).unwrap();
}

/// A run whose best epoch is not its last one, in the folder `out`; returns its settings and its best epoch.
fn with_an_early_best(world: &World) -> (Settings, u64) {
    for seed in 0..20 {
        // So large a rate leads back and forth.
        let settings = Settings { epochs: 4, seed, lr: 0.3, ..settings() };
        let done = train(world, "out", Presence::Overwrite, &settings).unwrap();
        if (2..4).contains(&done.best.epoch) {
            return (settings, done.best.epoch);
        }
    }
    panic!("every run is best at its end or at its begin");
}

#[test]
fn the_best_parameters_are_those_of_the_run() {
    let _alone = alone();
    let world = World::new();
    let (settings, best) = with_an_early_best(&world);
    let out = world.path("out");
    let original = world.path("original");
    copy(&out, &original, &NAMES);
    // Another seed; and the same run, ended before.
    train(&world, "seed", Presence::Refuse, &Settings { seed: 99, epochs: 2, ..settings.clone() }).unwrap();
    train(&world, "early", Presence::Refuse, &Settings { epochs: best - 1, ..settings.clone() }).unwrap();
    let data = moved(&world, |folder| put_integers(&folder.join("train_idx.npy"), (1..141).collect()));
    train(&data, "other", Presence::Refuse, &settings).unwrap();

    let path = out.join("best.safetensors");
    let wanted = format!(
        "; last.safetensors wants the parameters of epoch {best}; put them back, or begin again with --overwrite"
    );
    let cases: [(&str, Spoil<'_>); 14] = [
        ("it is missing", Box::new(|| fs::remove_file(&path).unwrap())),
        ("it is damaged, or no safetensors file: ", Box::new(|| fs::write(&path, "").unwrap())),
        (
            "it is damaged, or no safetensors file: ",
            Box::new(|| {
                let bytes = fs::read(&path).unwrap();
                fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
            }),
        ),
        (
            "it is a last.safetensors under the name of best.safetensors",
            Box::new(|| _ = fs::copy(out.join("last.safetensors"), &path).unwrap()),
        ),
        (
            "it is of another run, with other settings: seed is 99 there, and ",
            Box::new(|| copy(&world.path("seed"), &out, &["best.safetensors"])),
        ),
        (
            "it is of another run, with another data set, which differs in the split (",
            Box::new(|| copy(&data.path("other"), &out, &["best.safetensors"])),
        ),
        ("it has those of epoch ", Box::new(|| copy(&world.path("early"), &out, &["best.safetensors"]))),
        (
            "convs.1.lin_l.bias has elements that are infinite or not numbers",
            Box::new(|| edit(&path, "convs.1.lin_l.bias", |_, values| values[1] = f32::NAN)),
        ),
        (
            "convs.0.lin_l.bias is F32 [15], and F32 [16] is needed",
            Box::new(|| {
                edit(&path, "convs.0.lin_l.bias", |shape, values| {
                    shape[0] -= 1;
                    values.pop();
                });
            }),
        ),
        (
            "it is damaged: its digest is not the one of what was written",
            Box::new(|| edit(&path, "convs.0.lin_r.weight", |_, values| values[3] = -values[3])),
        ),
        (
            "it is damaged: its digest is not the one of what was written",
            Box::new(|| reword(&path, &format!("\\\"epoch\\\":{best},"), "\\\"epoch\\\":1,")),
        ),
        ("it was not written by trisage", Box::new(|| reword(&path, "\"trisage\"", "\"another\""))),
        (
            "it was written by another version of trisage, in format 9, and this one reads format 2",
            Box::new(|| reword(&path, "\\\"format\\\":2", "\\\"format\\\":9")),
        ),
        (
            "cannot be read: ",
            Box::new(|| {
                fs::remove_file(&path).unwrap();
                fs::create_dir(&path).unwrap();
            }),
        ),
    ];
    for (problem, spoil) in cases {
        spoil();
        let text = refusal(&world, "out", &settings);
        let rest = text.strip_prefix("OUT/best.safetensors: ").unwrap_or_else(|| panic!("{text}"));
        assert!(rest.starts_with(problem), "{text}, not {problem}");
        assert!(rest.ends_with(&wanted) || problem.starts_with("cannot be read"), "{text}");
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        }
        copy(&original, &out, &NAMES);
    }
    assert!(!train(&world, "out", Presence::Resume, &settings).unwrap().worked);
}

#[test]
fn the_last_parameters_are_whole() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let (out, original) = (world.path("out"), world.path("original"));
    copy(&out, &original, &NAMES);
    let path = out.join("last.safetensors");
    let whole = fs::read(&path).unwrap();
    let cases: [(&str, Spoil<'_>); 8] = [
        ("it is damaged, or no safetensors file: ", Box::new(|| fs::write(&path, &whole[..whole.len() - 1]).unwrap())),
        ("it is damaged, or no safetensors file: ", Box::new(|| fs::write(&path, &whole[..20]).unwrap())),
        ("it is damaged, or no safetensors file: ", Box::new(|| fs::write(&path, b"\0\0\0\0\0\0\0\0").unwrap())),
        (
            "it is a best.safetensors under the name of last.safetensors",
            Box::new(|| _ = fs::copy(out.join("best.safetensors"), &path).unwrap()),
        ),
        (
            "convs.0.lin_r.weight has elements that are infinite or not numbers",
            Box::new(|| edit(&path, "convs.0.lin_r.weight", |_, values| values[0] = f32::INFINITY)),
        ),
        (
            "it is damaged: its digest is not the one of what was written",
            Box::new(|| edit(&path, "adam.mean.convs.0.lin_r.weight", |_, values| values[0] += 1.0)),
        ),
        (
            "it is damaged: its digest is not the one of what was written",
            Box::new(|| reword(&path, "\\\"steps\\\":10", "\\\"steps\\\":15")),
        ),
        (
            "it is damaged: its digest is not the one of what was written",
            Box::new(|| reword(&path, "\\\"hidden\\\":16", "\\\"hidden\\\":17")),
        ),
    ];
    for (problem, spoil) in cases {
        spoil();
        let text = refusal(&world, "out", &settings());
        assert!(text.starts_with(&format!("OUT/last.safetensors: {problem}")), "{text}, not {problem}");
        copy(&original, &out, &NAMES);
    }
}

/// As an earlier trisage wrote them: without a word about the data set.
#[test]
fn files_of_an_older_version_are_refused() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let values = 1.5_f32.to_le_bytes();
    let tensor = TensorView::new(Dtype::F32, vec![1], &values).unwrap();
    for old in [r#"{"settings":{"layers":2},"epochs":2,"steps":10,"best":null}"#, "null", r#"{"epoch":1,"loss":0.5}"#] {
        let words = HashMap::from([("trisage".to_owned(), old.to_owned())]);
        let bytes = safetensors::serialize([("convs.0.lin_l.bias", &tensor)], Some(words)).unwrap();
        fs::write(world.path("out").join("last.safetensors"), bytes).unwrap();
        assert_eq!(
            refusal(&world, "out", &settings()),
            "OUT/last.safetensors: it was written by an older trisage, which did not note what a run is made of: whether it \
             belongs to this data set and these settings cannot be known; begin again with --overwrite, or give another folder \
             for the results"
        );
    }
}

#[test]
fn history_and_performance_are_those_of_the_run() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    train(&world, "seed", Presence::Refuse, &Settings { seed: 99, ..settings() }).unwrap();
    train(&world, "early", Presence::Refuse, &Settings { epochs: 1, ..settings() }).unwrap();
    let (out, original) = (world.path("out"), world.path("original"));
    copy(&out, &original, &NAMES);
    let text = fs::read_to_string(out.join("history.csv")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let [head, first, second] = lines[..] else { panic!("{text}") };
    let histories = [
        (String::new(), "line 1 is not 'epoch,loss,valid_accuracy,test_accuracy'"),
        (format!("{first}\n{second}\n"), "line 1 is not '"),
        (format!("{head}\n{first}\n"), "it ends with epoch 1, and last.safetensors is of epoch 2"),
        (format!("{head}\n{first}\n3,1,,\n"), "line 3 is not that of epoch 2"),
        (format!("{text}\n"), "line 4 is not that of epoch 3"),
        (format!("{text}nonsense\n"), "line 4 is not that of epoch 3"),
        (
            text.replace("\n2,", "\n2,1"),
            "its lines up to epoch 2 are not those that were written with last.safetensors; ",
        ),
    ];
    for (history, problem) in histories {
        fs::write(out.join("history.csv"), history).unwrap();
        let text = refusal(&world, "out", &settings());
        assert!(text.starts_with(&format!("OUT/history.csv: {problem}")), "{text}, not {problem}");
    }
    fs::write(out.join("history.csv"), b"\xff\xfe").unwrap();
    assert_eq!(refusal(&world, "out", &settings()), "OUT/history.csv: it is no text in UTF-8");
    fs::remove_file(out.join("history.csv")).unwrap();
    assert!(refusal(&world, "out", &settings()).starts_with("OUT/history.csv: it is missing"));
    copy(&world.path("seed"), &out, &["history.csv"]);
    assert!(refusal(&world, "out", &settings()).starts_with("OUT/history.csv: its lines up to epoch 2 are not those"));
    copy(&original, &out, &NAMES);

    let path = out.join("performance.json");
    copy(&world.path("seed"), &out, &["performance.json"]);
    let other = refusal(&world, "out", &settings());
    assert!(other.starts_with("OUT/performance.json: it is of another run ("), "{other}");
    copy(&world.path("early"), &out, &["performance.json"]);
    let early = refusal(&world, "out", &settings());
    assert!(
        early.starts_with("OUT/performance.json: it ends with epoch 1, and last.safetensors is of epoch 2; "),
        "{early}"
    );
    for damaged in ["", "{}", "[]", "{\"epochs\": 2}", "{\"run\": 7, \"sessions\": []}"] {
        fs::write(&path, damaged).unwrap();
        let text = refusal(&world, "out", &settings());
        assert!(text.starts_with("OUT/performance.json: it is damaged, or of another version of trisage: "), "{text}");
    }
    fs::remove_file(&path).unwrap();
    assert!(refusal(&world, "out", &settings()).starts_with("OUT/performance.json: it is missing, and what earlier"));
    copy(&original, &out, &NAMES);
    assert!(!train(&world, "out", Presence::Resume, &settings()).unwrap().worked);
}

/// A table that was saved with other ends of lines has the same lines.
#[test]
fn ends_of_lines_do_not_matter() {
    let _alone = alone();
    let world = World::new();
    let more = Settings { epochs: 3, ..settings() };
    train(&world, "whole", Presence::Refuse, &more).unwrap();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let path = world.path("out").join("history.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    train(&world, "out", Presence::Resume, &more).unwrap();
    assert_eq!(files(&world.path("out")), files(&world.path("whole")));
}

/// A process may end between any two files of a checkpoint: whatever it leaves, training goes on from it to the same result.
#[test]
fn a_process_may_end_within_a_checkpoint() {
    let _alone = alone();
    let world = World::new();
    let settings = Settings { epochs: 5, lr: 0.1, ..settings() };
    train(&world, "whole", Presence::Refuse, &settings).unwrap();
    let whole = files(&world.path("whole"));
    let mut better = [false; 2];
    for epoch in 1..5 {
        let [old, new] = [format!("after-{}", epoch - 1), format!("after-{epoch}")];
        stop_in(&world, epoch + 1, &settings, &new, Presence::Refuse);
        let [old, new] = [old, new].map(|name| world.path(&name));
        let best = |folder: &Path| fs::read(folder.join("best.safetensors")).ok();
        better[usize::from(best(&old) != best(&new))] = true;
        // Of each file the old or the new one; in the order of writing, the first so many are new.
        for mask in 0..16_u32 {
            let name = format!("state-{epoch}-{mask}");
            for (i, file) in NAMES.iter().enumerate() {
                copy(if mask >> i & 1 == 1 { &new } else { &old }, &world.path(&name), &[file]);
            }
            let in_order = (mask + 1).is_power_of_two();
            match train(&world, &name, Presence::ResumeOrBegin, &settings) {
                Ok(done) => {
                    assert_eq!(files(&world.path(&name)), whole, "{name}");
                    assert_eq!((done.performance.whole.epochs, done.performance.whole.minibatches), (5, 25), "{name}");
                    let repaired = done.repaired.iter().map(|sentence| {
                        NAMES.into_iter().find(|file| sentence.contains(&format!("/{file}: "))).unwrap()
                    });
                    let further: &[&str] = match mask {
                        _ if epoch == 1 && mask < 4 => &[],
                        1 => &["history.csv"],
                        3 => &["history.csv", "performance.json"],
                        7 if best(&old) != best(&new) => &["best.safetensors"],
                        _ => &[],
                    };
                    if in_order {
                        assert_eq!(repaired.collect::<Vec<_>>(), further, "{name}");
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(!in_order, "{name}: {text}");
                    assert!(
                        text.starts_with(&world.path(&name).display().to_string()) && !text.contains('\n'),
                        "{text}"
                    );
                }
            }
        }
    }
    assert_eq!(better, [true; 2], "some epochs are better than those before, and some are not");
}

/// The same where nothing is left to do but to put files right, and where all that is left is an evaluation.
#[test]
fn files_are_put_right_without_training() {
    let _alone = alone();
    let world = World::new();
    let of = |epochs| Settings { epochs, lr: 0.1, ..settings() };
    stop_in(&world, 3, &of(5), "second", Presence::Refuse);
    stop_in(&world, 4, &of(5), "third", Presence::Refuse);
    train(&world, "whole", Presence::Refuse, &of(2)).unwrap();
    copy(&world.path("second"), &world.path("out"), &NAMES);
    copy(&world.path("third"), &world.path("out"), &NAMES[..2]);
    let done = train(&world, "out", Presence::Resume, &of(2)).unwrap();
    assert_eq!((done.worked, done.repaired.len()), (false, 2), "{:?}", done.repaired);
    assert_eq!(files(&world.path("out")), files(&world.path("whole")));
    assert_eq!(done.performance.whole.epochs, 2);
    assert!(train(&world, "out", Presence::Resume, &of(2)).unwrap().repaired.is_empty());

    let of = |epochs| Settings { epochs, eval_every: 5, checkpoint_every: Some(2), ..settings() };
    stop_in(&world, 5, &of(7), "unevaluated", Presence::Refuse);
    copy(&world.path("unevaluated"), &world.path("evaluated"), &NAMES);
    train(&world, "evaluated", Presence::Resume, &of(4)).unwrap();
    for new in 0..=NAMES.len() {
        let name = format!("evaluated-{new}");
        copy(&world.path("unevaluated"), &world.path(&name), &NAMES);
        copy(&world.path("evaluated"), &world.path(&name), &NAMES[..new]);
        train(&world, &name, Presence::Resume, &of(4)).unwrap();
        assert_eq!(files(&world.path(&name)), files(&world.path("evaluated")), "{name}");
    }
}
