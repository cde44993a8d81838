//! A run goes on with its own files: those that are damaged, or of another run, epoch or version, are refused.

use std::{collections::HashMap, fs, path::Path, process::Command};

use learn::{train::Presence, train::Settings};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::{
    identity::{moved, put_integers},
    runs::{NAMES, copy, files, refusal, train},
    world::{World, alone, settings},
};

/// Spoils a file.
type Spoil<'a> = Box<dyn Fn() + 'a>;

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
            "it is no file",
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
        assert!(rest.ends_with(&wanted) || problem == "it is no file", "{text}");
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

#[test]
fn what_is_no_file_is_refused() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    for name in ["history.csv", "performance.json", "best.safetensors"] {
        let path = world.path("out").join(name);
        let own = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = train(&world, "out", Presence::Resume, &settings()).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: it is no file", path.display()));
        fs::remove_file(&path).unwrap();
        fs::write(&path, own).unwrap();
    }
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
