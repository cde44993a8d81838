//! Training that is interrupted and goes on, and the folder for its results.

use std::{fs, path::Path};

use golden::Fanout;
use learn::train::{Output, Presence, Settings, TrainError};

use super::world::{TRAIN, World, alone, model, settings};

fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["history.csv", "best.safetensors", "last.safetensors"].map(|name| fs::read(folder.join(name)).unwrap())
}

fn train(world: &World, name: &str, presence: Presence, settings: &Settings) -> Result<(), TrainError> {
    let output = Output::open(&world.path(name), presence)?;
    world.train(&model(), settings, Some(&output)).map(|_| ())
}

#[test]
fn it_goes_on_bit_for_bit() {
    let _alone = alone();
    let world = World::new();
    let of = |epochs| Settings { epochs, weight_decay: 1e-3, ..settings() };
    train(&world, "whole", Presence::Refuse, &of(6)).unwrap();
    train(&world, "parts", Presence::Refuse, &of(1)).unwrap();
    for epochs in [4, 4, 6] {
        train(&world, "parts", Presence::Resume, &of(epochs)).unwrap();
    }
    assert_eq!(files(&world.path("parts")), files(&world.path("whole")));
    let history = fs::read_to_string(world.path("whole").join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 7);
    assert!(history.starts_with("epoch,loss,valid_accuracy,test_accuracy\n1,"), "{history}");
    let performance = fs::read(world.path("parts").join("performance.json")).unwrap();
    let performance: serde_json::Value = serde_json::from_slice(&performance).unwrap();
    assert_eq!(performance["epochs"], 2);
    assert_eq!(performance["backend"], "model");
}

#[test]
fn a_checkpoint_needs_no_evaluation() {
    let _alone = alone();
    let world = World::new();
    let of = |epochs| Settings { epochs, eval_every: 5, checkpoint_every: Some(2), ..settings() };
    train(&world, "whole", Presence::Refuse, &of(7)).unwrap();
    // What a run leaves that ended after epoch 4: its checkpoint, and no evaluation.
    let fourth = world.path("fourth");
    let stopped = world.train_and_stop_in(5, &of(7), &fourth);
    assert!(stopped.to_string().contains("stopped"), "{stopped}");
    let history = fs::read_to_string(fourth.join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 5, "{history}");
    assert!(!fourth.join("best.safetensors").exists());
    train(&world, "fourth", Presence::Resume, &of(7)).unwrap();
    assert_eq!(files(&fourth), files(&world.path("whole")));
}

#[test]
fn parameters_are_written_with_the_names_of_pytorch() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let tensors = tch::Tensor::read_safetensors(world.path("out").join("best.safetensors")).unwrap();
    let mut found: Vec<_> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.size())).collect();
    found.sort_unstable();
    let expected = [
        ("convs.0.lin_l.bias", vec![16]),
        ("convs.0.lin_l.weight", vec![16, 12]),
        ("convs.0.lin_r.weight", vec![16, 12]),
        ("convs.1.lin_l.bias", vec![3]),
        ("convs.1.lin_l.weight", vec![3, 16]),
        ("convs.1.lin_r.weight", vec![3, 16]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let _alone = alone();
    let world = World::new();
    let folder = world.path("out");
    let refusal = |presence, settings: &Settings| {
        let text = train(&world, "out", presence, settings).unwrap_err().to_string();
        text.replace(&folder.display().to_string(), "OUT")
    };
    assert_eq!(
        refusal(Presence::Resume, &settings()),
        "OUT: there is no last.safetensors to go on from; leave --resume away to begin"
    );
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    assert_eq!(
        refusal(Presence::Resume, &settings()),
        "OUT: there is no last.safetensors to go on from; give --overwrite instead of --resume to begin"
    );
    assert_eq!(
        refusal(Presence::Refuse, &settings()),
        "OUT: the folder is not empty; give --resume to go on with what is there, or --overwrite"
    );
    train(&world, "out", Presence::Overwrite, &settings()).unwrap();
    train(&world, "out", Presence::Overwrite, &settings()).unwrap();
    assert_eq!(fs::read_to_string(folder.join("notes.txt")).unwrap(), "mine");

    let other = refusal(Presence::Resume, &Settings { hidden: 17, ..settings() });
    assert_eq!(
        other,
        "OUT/last.safetensors: training cannot go on with other settings: hidden is 16 there, and 17 here"
    );
    // What is refused before it begins has overwritten nothing.
    let whole = files(&folder);
    refusal(Presence::Overwrite, &Settings { layers: 99, fanouts: vec![Fanout::All], ..settings() });
    assert_eq!(files(&folder), whole);
    let fewer = refusal(Presence::Resume, &Settings { epochs: 1, ..settings() });
    assert_eq!(fewer, "OUT/last.safetensors: 2 epochs are done already, and 1 are asked for");
}

#[test]
fn a_folder_is_one_runs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let open = |presence| Output::open(folder.path(), presence);
    let first = open(Presence::Refuse).unwrap();
    for presence in [Presence::Refuse, Presence::Overwrite, Presence::Resume] {
        let error = open(presence).unwrap_err();
        assert!(matches!(&error, TrainError::InUse(path) if path == folder.path()), "{error}");
    }
    drop(first);
    open(Presence::Overwrite).unwrap();
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let _alone = alone();
    let world = World::new();
    train(&world, "out", Presence::Refuse, &settings()).unwrap();
    let [last, history] = ["last.safetensors", "history.csv"].map(|name| world.path("out").join(name));
    let whole = fs::read(&last).unwrap();
    let refusal = || train(&world, "out", Presence::Resume, &settings()).unwrap_err();
    for damaged in [&whole[..whole.len() - 1], &whole[..20], b"", b"\0\0\0\0\0\0\0\0"] {
        fs::write(&last, damaged).unwrap();
        let error = refusal();
        assert!(matches!(&error, TrainError::Resume { path, .. } if *path == last), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    fs::copy(world.path("out").join("best.safetensors"), &last).unwrap();
    assert!(refusal().to_string().contains("it was written by another version of trisage"));

    fs::write(&last, &whole).unwrap();
    let mut other = World::new();
    other.data.train.truncate(TRAIN / 2);
    let output = Output::open(&world.path("out"), Presence::Resume).unwrap();
    let error = other.train(&model(), &settings(), Some(&output)).unwrap_err().to_string();
    assert!(error.contains("it is of 2 epochs in 10 steps, which on this data set are 6; "), "{error}");
    drop(output);

    fs::write(&history, "epoch,loss,valid_accuracy,test_accuracy\n1,0.5,,\n").unwrap();
    assert!(refusal().to_string().ends_with("it ends with epoch 1, and last.safetensors is of epoch 2"));
    fs::write(&history, "epoch,loss,valid_accuracy,test_accuracy\n1,0.5,,\n3,1,,\n").unwrap();
    assert!(refusal().to_string().ends_with("line 3 is not that of epoch 2"));
}
