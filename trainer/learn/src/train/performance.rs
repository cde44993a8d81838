//! What training took: of the whole run, and of each session of it.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use pipeline::{
    Filled, Totals,
    accelerator::Properties,
    ledger::Tally,
    units::{read_seconds, seconds},
};

use super::digest::Digest;

/// What was done, and what it took. Epochs that were done after the last checkpoint of a session that ended before its time are
/// lost, and not counted: the next session does them again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Epochs.
    pub epochs: u64,
    /// Mini-batches.
    pub minibatches: u64,
    /// Sampled nodes.
    pub nodes: u64,
    /// Sampled edges.
    pub edges: u64,
    /// Time of evaluations; JSON: seconds.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub evaluation: Duration,
    /// Time of the epochs without it, and what each stage took of that.
    pub pipeline: Totals,
    /// What crossed the bus; `None` where it was not counted all the time.
    pub transfers: Option<Tally<String>>,
}

impl Figures {
    /// Counts a mini-batch.
    pub(super) fn count(&mut self, filled: &Filled) {
        let [nodes, edges, ..] = filled.counts.map(|count| count as u64);
        self.minibatches += 1;
        self.nodes += nodes;
        self.edges += edges;
    }

    /// Adds those of another session.
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.epochs, other.epochs),
            (&mut self.minibatches, other.minibatches),
            (&mut self.nodes, other.nodes),
            (&mut self.edges, other.edges),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.evaluation = self.evaluation.saturating_add(other.evaluation);
        self.pipeline.add(&other.pipeline);
        self.transfers = match (self.transfers.take(), &other.transfers) {
            (Some(mut sum), Some(more)) => {
                sum.add(more);
                Some(sum)
            }
            _ => None,
        };
    }
}

/// One session of a run: from its begin, or a resumption, to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its first epoch, counted from 1.
    pub first_epoch: u64,
    /// What sampled.
    pub backend: String,
    /// What trained.
    pub accelerator: Properties,
    /// Threads that libtorch computed with.
    pub threads: i32,
    /// Slots of the pipeline.
    pub slots: usize,
    /// How sub-graphs got from the card to the accelerator.
    pub sink: Option<String>,
    /// Those settings that may change from one session to the next.
    pub settings: BTreeMap<String, Value>,
    /// What was done.
    #[serde(flatten)]
    pub figures: Figures,
    /// The figures of the checkpoint before, as long as the session goes on: this file is written before the last parameters
    /// are, and a process can end in between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Figures>,
}

impl Session {
    /// The last epoch, counted from 1.
    fn last_epoch(&self, figures: &Figures) -> u64 {
        (self.first_epoch - 1).saturating_add(figures.epochs)
    }
}

/// What a run took, in all of its sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Performance {
    /// What the run is made of, as a digest.
    pub run: Digest,
    /// What sampled, if it was the same in all sessions.
    pub backend: Option<String>,
    /// What trained, if it was the same in all sessions.
    pub accelerator: Option<Properties>,
    /// Threads that libtorch computed with, if they were as many in all sessions.
    pub threads: Option<i32>,
    /// What was done in all: sums over the sessions.
    #[serde(flatten)]
    pub whole: Figures,
    /// The sessions, in their order.
    pub sessions: Vec<Session>,
}

impl Performance {
    pub(super) fn of(run: Digest, sessions: Vec<Session>) -> Self {
        let (first, others) = match sessions.split_first() {
            Some((first, others)) => (first.clone(), others),
            None => (Session::default(), &[][..]),
        };
        let mut whole = first.figures;
        others.iter().for_each(|session| whole.add(&session.figures));
        let all = |same: &dyn Fn(&Session) -> bool| others.iter().all(same);
        Self {
            run,
            backend: all(&|session| session.backend == first.backend).then_some(first.backend),
            accelerator: all(&|session| session.accelerator == first.accelerator).then_some(first.accelerator),
            threads: all(&|session| session.threads == first.threads).then_some(first.threads),
            whole,
            sessions,
        }
    }

    /// The sessions of the run that a text tells of.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub(super) fn sessions_in(text: &str, run: Digest) -> Result<Vec<Session>, String> {
        /// The rest follows from it.
        #[derive(Deserialize)]
        struct Written {
            run: Digest,
            sessions: Vec<Session>,
        }
        let written: Written = serde_json::from_str(text)
            .map_err(|error| format!("it is damaged, or of another version of trisage: {error}"))?;
        if written.run != run {
            return Err(format!("it is of another run ({} there, {} here)", written.run.short(), run.short()));
        }
        let mut next = Some(1);
        for session in &written.sessions {
            if next != Some(session.first_epoch) {
                return Err("it is damaged: the epochs of its sessions do not follow one another".to_owned());
            }
            next = session.first_epoch.checked_add(session.figures.epochs);
        }
        Ok(written.sessions)
    }
}

/// Has the sessions end with `epochs`, where the last parameters end: they are so, or a checkpoint further. Returns whether
/// they were further; or, if they are of other epochs, with which one they end.
pub(super) fn cut(sessions: &mut Vec<Session>, epochs: u64) -> Result<bool, u64> {
    let Some(last) = sessions.last_mut() else { return Err(0) };
    let end = last.last_epoch(&last.figures);
    if end == epochs {
        return Ok(false);
    }
    match last.before.take() {
        Some(before) if last.last_epoch(&before) == epochs => {
            if before.epochs > 0 {
                last.figures = before;
            } else {
                sessions.pop();
            }
            Ok(true)
        }
        _ => Err(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::{ledger::Direction, ledger::Ledger};

    fn figures(epochs: u64) -> Figures {
        let seconds = Duration::from_secs(epochs);
        let pipeline = Totals { iterations: 2 * epochs, wall: 2 * seconds, ..Totals::default() };
        let (minibatches, nodes, edges) = (3 * epochs, 50 * epochs, 100 * epochs);
        Figures { epochs, minibatches, nodes, edges, evaluation: seconds, pipeline, transfers: None }
    }

    fn session(first_epoch: u64, epochs: u64) -> Session {
        Session { first_epoch, backend: "model".to_owned(), threads: 1, figures: figures(epochs), ..Session::default() }
    }

    fn run() -> Digest {
        super::super::digest::Content::new("run").finish()
    }

    #[test]
    fn sessions_add_up() {
        let mut sessions = vec![session(1, 4), session(5, 1), session(6, 0)];
        let performance = Performance::of(run(), sessions.clone());
        assert_eq!(performance.whole, figures(5));
        assert_eq!((performance.backend.as_deref(), performance.threads), (Some("model"), Some(1)));
        sessions[1].backend = "rtl".to_owned();
        sessions[2].threads = 2;
        let performance = Performance::of(run(), sessions);
        assert_eq!((performance.backend, performance.threads, performance.whole.edges), (None, None, 500));
        assert!(performance.accelerator.is_some());
    }

    #[test]
    fn transfers_are_told_of_all_sessions_or_of_none() {
        let counted = |mut session: Session| {
            let ledger = Ledger::counting();
            ledger.cross(Direction::Up, "features", 8);
            session.figures.transfers = ledger.tally().map(pipeline::ledger::Tally::into_owned);
            session
        };
        let whole = |sessions| Performance::of(run(), sessions).whole.transfers;
        let both = whole(vec![counted(session(1, 1)), counted(session(2, 1))]).unwrap();
        assert_eq!(both.total(Direction::Up), (2, 16));
        assert_eq!(whole(vec![counted(session(1, 1)), session(2, 1)]), None);
        assert_eq!(whole(vec![session(1, 1), counted(session(2, 1))]), None);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut sessions = vec![session(1, 4), session(5, 3)];
        sessions[1].before = Some(figures(2));
        sessions[1].figures.evaluation = Duration::from_nanos(123_456_789_012_345);
        let text = serde_json::to_string(&Performance::of(run(), sessions.clone())).unwrap();
        assert_eq!(Performance::sessions_in(&text, run()), Ok(sessions));
        let other = super::super::digest::Content::new("other").finish();
        assert!(Performance::sessions_in(&text, other).unwrap_err().starts_with("it is of another run ("));
        for wrong in ["", "{}", "7", &text[..text.len() / 2], &text.replace("123456.789012345", "-1.0")] {
            let error = Performance::sessions_in(wrong, run()).unwrap_err();
            assert!(error.starts_with("it is damaged, or of another version of trisage: "), "{error}");
        }
        for first in ["0", "4", "6", "18446744073709551615"] {
            let wrong = text.replace("\"first_epoch\":5", &format!("\"first_epoch\":{first}"));
            let error = Performance::sessions_in(&wrong, run()).unwrap_err();
            assert_eq!(error, "it is damaged: the epochs of its sessions do not follow one another");
        }
        // As large as numbers can be: sums end there.
        let large = text.replace("\"edges\":400", &format!("\"edges\":{}", u64::MAX));
        let sessions = Performance::sessions_in(&large.replace("\"wall\":8.0", "\"wall\":1.8e19"), run()).unwrap();
        let whole = Performance::of(run(), vec![sessions[0].clone(), sessions[0].clone()]).whole;
        assert_eq!((whole.edges, whole.pipeline.wall), (u64::MAX, Duration::MAX));
        assert!(whole.pipeline.overlap().is_none());
    }

    #[test]
    fn figures_go_as_far_as_the_last_parameters() {
        let cut = |mut sessions: Vec<Session>, epochs| cut(&mut sessions, epochs).map(|further| (further, sessions));
        let open = |mut session: Session, before| {
            session.before = Some(figures(before));
            session
        };
        let closed = vec![session(1, 4), session(5, 3)];
        assert_eq!(cut(closed.clone(), 7), Ok((false, closed.clone())));
        // A session that has ended is not cut: then the parameters are not the last ones.
        for epochs in [4, 6, 8] {
            assert_eq!(cut(closed.clone(), epochs), Err(7));
        }
        let further = vec![session(1, 4), open(session(5, 3), 2)];
        assert_eq!(cut(further.clone(), 6), Ok((true, vec![session(1, 4), session(5, 2)])));
        assert_eq!(cut(further.clone(), 7), Ok((false, further.clone())));
        assert_eq!(cut(further, 5), Err(7));
        assert_eq!(cut(vec![session(1, 4), open(session(5, 1), 0)], 4), Ok((true, vec![session(1, 4)])));
        assert_eq!(cut(vec![], 4), Err(0));
    }
}
