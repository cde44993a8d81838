//! A process may end between any two files of a checkpoint.

use std::{fs, path::Path};

use learn::{train::Presence, train::Settings};

use super::{
    runs::{NAMES, copy, files, stop_in, train},
    world::{World, alone, settings},
};

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
