//! What a run keeps when it goes on, and what may change.
//!
//! The data set is kept, by its content: its folder may have another name, and its files another format. So are most settings;
//! [`RULES`] has them all. Where and how it is computed may change, and each session records it: back end, accelerator,
//! threads, slots and sink. On the processor none of these changes a result but the number of threads, by which libtorch may
//! add in another order; dropout draws other numbers on a GPU. What is only reported may change as well: `--transfers`, `--trace`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Settings;

/// What becomes of a setting in a run that goes on.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// It stays as it was when the run was begun.
    Kept,
    /// It may change; each session records its value.
    Free,
}
use Rule::{Free, Kept};

/// Every setting, what becomes of it, and why. The reasons of those that are kept end a sentence.
const RULES: [(&str, Rule, &str); 13] = [
    ("layers", Kept, "the parameters have so many layers"),
    ("fanouts", Kept, "other sub-graphs would be sampled"),
    ("hidden", Kept, "the parameters have so many columns"),
    ("dropout", Kept, "losses before and after would not compare"),
    ("lr", Kept, "the optimizer would make other steps"),
    ("weight-decay", Kept, "the optimizer would make other steps"),
    ("decay-layers", Kept, "the optimizer would make other steps"),
    ("batch-size", Kept, "other mini-batches would be sampled"),
    ("seed", Kept, "all random choices come from it"),
    ("normalise-features", Kept, "the features would be others"),
    ("epochs", Free, "a run is resumed to have more of them; there can be no fewer than are done"),
    ("eval-every", Free, "an evaluation changes no parameter; only an evaluated epoch can be the best"),
    ("checkpoint-every", Free, "a checkpoint changes no parameter"),
];

/// The settings under one of the rules, with one value for each meaning.
fn under(rule: Rule, settings: &Settings) -> BTreeMap<String, Value> {
    let layers = settings.layers;
    let canonical = Settings {
        fanouts: settings.fanouts(),
        decay_layers: Some(settings.decay_layers.map_or(layers, |decaying| decaying.min(layers))),
        ..settings.clone()
    };
    let values = match serde_json::to_value(canonical) {
        Ok(Value::Object(values)) => values,
        _ => serde_json::Map::new(),
    };
    let of = |name: &str| RULES.iter().find(|(setting, ..)| *setting == name).map(|&(_, rule, _)| rule);
    // One without a rule is kept.
    values.into_iter().filter(|(name, _)| of(name).unwrap_or(Kept) == rule).collect()
}

/// The settings that a run keeps.
pub(super) fn kept(settings: &Settings) -> BTreeMap<String, Value> {
    under(Kept, settings)
}

/// The settings that may change from one session of a run to the next.
pub(super) fn free(settings: &Settings) -> BTreeMap<String, Value> {
    under(Free, settings)
}

/// The first kept setting that is another one there than here, and what to do about it; `None` if all are the same.
pub(super) fn differs(here: &BTreeMap<String, Value>, there: &BTreeMap<String, Value>) -> Option<[String; 2]> {
    let reason = |name: &str| RULES.iter().find(|(setting, ..)| *setting == name).map(|&(.., reason)| reason);
    let mut names: Vec<_> = RULES.iter().map(|&(name, ..)| name).collect();
    names.extend(here.keys().chain(there.keys()).map(String::as_str).filter(|name| reason(name).is_none()));
    let name = names.into_iter().find(|&name| here.get(name) != there.get(name))?;
    let [here, there] = [here, there].map(|settings| word(settings.get(name)));
    let reason = reason(name).map_or_else(String::new, |reason| format!(", and {reason}"));
    let advice = format!("give {there} again, or another folder for the results");
    Some([format!("{name} is {there} there, and {here} here{reason}"), advice])
}

/// A value as it is written on the command line.
fn word(value: Option<&Value>) -> String {
    match value {
        None => "not known".to_owned(),
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().map(|value| word(Some(value))).collect::<Vec<_>>().join(","),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use golden::Fanout;

    use super::*;

    #[test]
    fn every_setting_has_a_rule() {
        let settings = Settings::default();
        let mut names: Vec<_> = kept(&settings).into_keys().chain(free(&settings).into_keys()).collect();
        let mut ruled: Vec<_> = RULES.iter().map(|&(name, ..)| name.to_owned()).collect();
        names.sort_unstable();
        ruled.sort_unstable();
        assert_eq!(names, ruled);
    }

    /// What is said of a run with other settings that goes on from one with the usual ones.
    fn refusal(other: &Settings) -> Option<String> {
        differs(&kept(other), &kept(&Settings::default())).map(|sentence| sentence.join("; "))
    }

    #[test]
    fn what_may_change_is_no_difference() {
        let usual = Settings::default();
        let free = Settings { epochs: 99, eval_every: 5, checkpoint_every: Some(2), ..usual.clone() };
        assert_eq!(refusal(&free), None);
        // Other words for the same.
        assert_eq!(refusal(&Settings { fanouts: vec![Fanout::Count(10); 3], ..usual.clone() }), None);
        assert_eq!(refusal(&Settings { decay_layers: Some(7), ..usual }), None);
    }

    #[test]
    fn what_is_kept_is_a_difference() {
        type Change = fn(&mut Settings);
        let changes: [(&str, Change); 10] = [
            ("layers", |s| s.layers = 2),
            ("fanouts", |s| s.fanouts = vec![Fanout::All]),
            ("hidden", |s| s.hidden = 17),
            ("dropout", |s| s.dropout = 0.25),
            ("lr", |s| s.lr = 0.1 + 0.2),
            ("weight-decay", |s| s.weight_decay = 1e-300),
            ("decay-layers", |s| s.decay_layers = Some(1)),
            ("batch-size", |s| s.batch_size = 1023),
            ("seed", |s| s.seed = u64::MAX),
            ("normalise-features", |s| s.normalise_features = true),
        ];
        let mut names: Vec<_> = changes.iter().map(|&(name, _)| name.to_owned()).collect();
        names.sort_unstable();
        assert_eq!(names, kept(&Settings::default()).into_keys().collect::<Vec<_>>());
        for (name, change) in changes {
            let mut other = Settings::default();
            change(&mut other);
            let sentence = refusal(&other).unwrap();
            assert!(sentence.starts_with(&format!("{name} is ")), "{sentence}");
        }
        assert_eq!(
            refusal(&Settings { hidden: 17, ..Settings::default() }).unwrap(),
            "hidden is 256 there, and 17 here, and the parameters have so many columns; give 256 again, or another folder for \
             the results"
        );
        let fanouts = refusal(&Settings { fanouts: vec![Fanout::All], ..Settings::default() }).unwrap();
        assert!(fanouts.starts_with("fanouts is 10,10,10 there, and all,all,all here, "), "{fanouts}");
    }

    #[test]
    fn a_setting_of_another_version_is_a_difference() {
        let mut other = kept(&Settings::default());
        other.insert("momentum".to_owned(), 0.5.into());
        let [sentence, _] = differs(&kept(&Settings::default()), &other).unwrap();
        assert_eq!(sentence, "momentum is 0.5 there, and not known here");
    }
}
