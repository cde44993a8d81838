//! Training that is interrupted and goes on, and the folder for its results.

use std::fs;

use golden::Fanout;
use learn::train::{Output, Presence, Settings, TrainError};

use super::{
    runs::{everything, files, performance, stop_in, train},
    world::{World, alone, model, settings},
};

#[test]
fn it_goes_on_bit_for_bit() {
    let _alone = alone();
    let world = World::new();
    // A rate that has all 17 digits.
    let of = |epochs| Settings { epochs, weight_decay: 1e-3, lr: 0.1 / 3.0, ..settings() };
    let whole = train(&world, "whole", Presence::Refuse, &of(6)).unwrap();
    train(&world, "parts", Presence::Refuse, &of(1)).unwrap();
    for epochs in [4, 4, 6] {
        train(&world, "parts", Presence::Resume, &of(epochs)).unwrap();
    }
    assert_eq!(files(&world.path("parts")), files(&world.path("whole")));
    let history = fs::read_to_string(world.path("whole").join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 7);
    assert!(history.starts_with("epoch,loss,valid_accuracy,test_accuracy\n1,"), "{history}");

    // What it took is told of all sessions, and of each.
    let parts = performance(&world.path("parts"));
    assert_eq!(parts["backend"], "model");
    assert_eq!((&parts["epochs"], &parts["minibatches"]), (&6.into(), &30.into()));
    assert_eq!(parts["edges"], whole.performance.whole.edges);
    let sessions = parts["sessions"].as_array().unwrap();
    let epochs: Vec<_> = sessions.iter().map(|session| [&session["first_epoch"], &session["epochs"]]).collect();
    assert_eq!(epochs, [[1, 1], [2, 3], [5, 2]]);
    for figure in ["minibatches", "nodes", "edges"] {
        let sum: u64 = sessions.iter().map(|session| session[figure].as_u64().unwrap()).sum();
        assert_eq!(parts[figure], sum, "{figure}");
    }
    let wall: f64 = sessions.iter().map(|session| session["pipeline"]["wall"].as_f64().unwrap()).sum();
    assert!((parts["pipeline"]["wall"].as_f64().unwrap() - wall).abs() < 1e-6, "{parts}");
    assert!(sessions.iter().all(|session| session["settings"]["epochs"].is_u64() && session.get("before").is_none()));
}

#[test]
fn nothing_is_changed_where_nothing_is_left_to_do() {
    let _alone = alone();
    let world = World::new();
    let settings = Settings { epochs: 3, ..settings() };
    let first = train(&world, "out", Presence::Refuse, &settings).unwrap();
    assert!(first.worked);
    let before = everything(&world.path("out"));
    assert_eq!(before.len(), 4);
    for presence in [Presence::Resume, Presence::ResumeOrBegin] {
        let again = train(&world, "out", presence, &settings).unwrap();
        assert!(!again.worked && again.repaired.is_empty());
        assert_eq!(again.history, first.history);
        assert_eq!(again.best, first.best);
        assert_eq!(again.performance, first.performance);
        assert_eq!(again.model.snapshot().unwrap(), first.model.snapshot().unwrap());
        assert_eq!(everything(&world.path("out")), before);
    }
}

#[test]
fn a_session_that_is_interrupted_counts_with_its_whole_epochs() {
    let _alone = alone();
    let world = World::new();
    let settings = Settings { epochs: 6, ..settings() };
    stop_in(&world, 3, &settings, "out", Presence::Refuse);
    let figures = |field: &str| performance(&world.path("out"))[field].clone();
    assert_eq!((figures("epochs"), figures("minibatches")), (2.into(), 10.into()));
    // One that ends in its first epoch leaves nothing.
    let before = everything(&world.path("out"));
    stop_in(&world, 3, &settings, "out", Presence::Resume);
    assert_eq!(everything(&world.path("out")), before);
    stop_in(&world, 5, &settings, "out", Presence::Resume);
    assert_eq!((figures("epochs"), figures("minibatches")), (4.into(), 20.into()));
    let done = train(&world, "out", Presence::Resume, &settings).unwrap();
    let epochs: Vec<_> = done.performance.sessions.iter().map(|session| session.figures.epochs).collect();
    assert_eq!(epochs, [2, 2, 2]);
    assert_eq!(figures("epochs"), 6);
}

#[test]
fn a_checkpoint_needs_no_evaluation() {
    let _alone = alone();
    let world = World::new();
    let of = |epochs| Settings { epochs, eval_every: 5, checkpoint_every: Some(2), ..settings() };
    train(&world, "whole", Presence::Refuse, &of(7)).unwrap();
    // What a run leaves that ended after epoch 4: its checkpoint, and no evaluation.
    let fourth = world.path("fourth");
    stop_in(&world, 5, &of(7), "fourth", Presence::Refuse);
    let history = fs::read_to_string(fourth.join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 5, "{history}");
    assert!(!fourth.join("best.safetensors").exists());
    train(&world, "fourth", Presence::Resume, &of(7)).unwrap();
    assert_eq!(files(&fourth), files(&world.path("whole")));
}

/// A run is to end with the epoch that was last in its checkpoint, and that was not evaluated: it is, now.
#[test]
fn the_last_epoch_is_evaluated() {
    let _alone = alone();
    let world = World::new();
    let of = |epochs| Settings { epochs, eval_every: 5, checkpoint_every: Some(2), ..settings() };
    stop_in(&world, 5, &of(7), "out", Presence::Refuse);
    let done = train(&world, "out", Presence::Resume, &of(4)).unwrap();
    assert!(done.worked);
    assert_eq!((done.best.epoch, done.history.len()), (4, 4));
    train(&world, "whole", Presence::Refuse, &of(4)).unwrap();
    assert_eq!(files(&world.path("out")), files(&world.path("whole")));
    assert_eq!(performance(&world.path("out"))["epochs"], 4);
    assert!(!train(&world, "out", Presence::Resume, &of(4)).unwrap().worked);
}

#[test]
fn what_may_change_is_recorded() {
    let _alone = alone();
    let world = World::new();
    let settings = Settings { epochs: 2, ..settings() };
    train(&world, "out", Presence::Refuse, &settings).unwrap();
    let more = Settings { epochs: 5, eval_every: 2, checkpoint_every: Some(1), ..settings };
    train(&world, "out", Presence::Resume, &more).unwrap();
    let sessions = performance(&world.path("out"))["sessions"].clone();
    assert_eq!(sessions[0]["settings"], serde_json::json!({"epochs": 2, "eval-every": 1, "checkpoint-every": null}));
    assert_eq!(sessions[1]["settings"], serde_json::json!({"epochs": 5, "eval-every": 2, "checkpoint-every": 1}));
    for session in [&sessions[0], &sessions[1]] {
        assert_eq!((&session["backend"], &session["slots"]), (&"model".into(), &2.into()));
        assert_eq!(session["sink"], "in-place");
        assert!(session["threads"].as_u64().unwrap() > 0 && session["accelerator"]["name"].is_string());
    }
}

/// What crossed the bus for one training is not told of the next one.
#[test]
fn crossings_are_those_of_one_run() {
    let _alone = alone();
    let world = World::new();
    let crossings = || {
        let done = world.train(&model(), &settings(), None).unwrap();
        done.performance.whole.transfers.unwrap().crossings
    };
    let (first, second) = (crossings(), crossings());
    let losses = |crossings: &[pipeline::ledger::Crossing<String>]| {
        crossings.iter().find(|crossing| crossing.site == "losses").unwrap().count
    };
    assert_eq!((losses(&first), losses(&second)), (2, 2));
    // The data set went there once.
    assert!(first.iter().any(|crossing| crossing.site == "features"));
    assert!(second.iter().all(|crossing| crossing.site != "features"));
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
    assert!(!folder.exists());
    fs::create_dir(&folder).unwrap();
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
        refusal(Presence::ResumeOrBegin, &settings()),
        "OUT: there is no last.safetensors to go on from; empty the folder, and this run begins"
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
        "OUT/last.safetensors: training cannot go on with other settings: hidden is 16 there, and 17 here, and the parameters \
         have so many columns; give 16 again, or another folder for the results"
    );
    // What is refused before it begins has overwritten nothing.
    let whole = everything(&folder);
    refusal(Presence::Overwrite, &Settings { layers: 99, fanouts: vec![Fanout::All], ..settings() });
    assert_eq!(everything(&folder), whole);
    let fewer = refusal(Presence::Resume, &Settings { epochs: 1, ..settings() });
    assert_eq!(fewer, "OUT/last.safetensors: 2 epochs are done already, and 1 are asked for; give --epochs 2 or more");
}

#[test]
fn a_folder_is_one_runs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let open = |presence| Output::open(folder.path(), presence);
    let first = open(Presence::Refuse).unwrap();
    for presence in [Presence::Refuse, Presence::Overwrite, Presence::Resume, Presence::ResumeOrBegin] {
        let error = open(presence).unwrap_err();
        assert!(matches!(&error, TrainError::InUse(path) if path == folder.path()), "{error}");
    }
    drop(first);
    open(Presence::Overwrite).unwrap();
}

/// The epochs that are done get a checkpoint, also those that were to have none.
#[test]
fn what_is_stopped_keeps_its_whole_epochs() {
    let _alone = alone();
    let world = World::new();
    for (eval_every, checkpoint_every) in [(100, None), (2, None), (100, Some(2)), (5, Some(2))] {
        let name = |what: &str| format!("{what}-{eval_every}-{}", checkpoint_every.unwrap_or(0));
        let settings = Settings { epochs: 6, eval_every, checkpoint_every, ..settings() };
        train(&world, &name("whole"), Presence::Refuse, &settings).unwrap();
        let whole = world.path(&name("whole"));
        for stopped in [2, 4, 5] {
            let name = name(&format!("stopped-{stopped}"));
            stop_in(&world, stopped, &settings, &name, Presence::Refuse);
            let history = fs::read_to_string(world.path(&name).join("history.csv")).unwrap();
            assert_eq!(history.lines().count() as u64, stopped, "the first line, and one for each epoch that is done");
            let done = performance(&world.path(&name));
            assert_eq!((&done["epochs"], &done["minibatches"]), (&(stopped - 1).into(), &(5 * (stopped - 1)).into()));
            train(&world, &name, Presence::Resume, &settings).unwrap();
            assert_eq!(files(&world.path(&name)), files(&whole), "{name}");
        }
    }
}
