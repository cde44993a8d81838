//! When was what done: spans of time on named tracks, as a file that Perfetto (<https://ui.perfetto.dev>) opens.
//!
//! The format is Chrome's Trace Event Format: complete events ("ph": "X") with `ts` and `dur` in microseconds.

use std::{
    cell::RefCell,
    fmt::Write as _,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

/// Spans that are kept; those that come later are only counted.
const SPANS: usize = 1 << 20;
/// Arguments of a span.
const ARGS: usize = 4;

/// Collects spans; clones collect into the same timeline. One that is off ([`Timeline::default`]) costs a branch.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Option<Arc<Recording>>);

#[derive(Debug)]
struct Recording {
    origin: Instant,
    spans: Mutex<Spans>,
}

#[derive(Debug, Default)]
struct Spans {
    kept: Vec<Span>,
    dropped: u64,
}

#[derive(Debug)]
struct Span {
    track: &'static str,
    name: &'static str,
    begin: Instant,
    end: Instant,
    args: [Option<(&'static str, u64)>; ARGS],
}

impl Timeline {
    /// A timeline that records; its zero is now.
    pub fn recording() -> Self {
        Self(Some(Arc::new(Recording { origin: Instant::now(), spans: Mutex::default() })))
    }

    /// Something was done on a track from `begin` to `end`. `args`, up to four, are looked at only if the timeline records.
    pub fn span(
        &self,
        track: &'static str,
        name: &'static str,
        [begin, end]: [Instant; 2],
        args: impl IntoIterator<Item = (&'static str, u64)>,
    ) {
        if let Some(recording) = &self.0 {
            let mut args = args.into_iter();
            let span = Span { track, name, begin, end, args: std::array::from_fn(|_| args.next()) };
            let mut spans = recording.spans.lock().unwrap_or_else(PoisonError::into_inner);
            if spans.kept.len() < SPANS {
                spans.kept.push(span);
            } else {
                spans.dropped += 1;
            }
        }
    }

    /// Whether anything is recorded.
    pub fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// Writes everything so far as Chrome trace events, in the order of their begin; nothing if nothing is recorded.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, process: &str, out: impl Write) -> io::Result<()> {
        let Some(recording) = &self.0 else { return Ok(()) };
        let mut spans = recording.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans.kept.sort_by_key(|span| span.begin);
        let mut tracks: Vec<&str> = spans.kept.iter().map(|span| span.track).collect();
        tracks.sort_unstable();
        tracks.dedup();
        let metadata = |name: &str, thread: usize, value: &str| json!({"name": name, "ph": "M", "pid": 1, "tid": thread, "args": {"name": value}});
        let mut process = process.to_owned();
        if spans.dropped > 0 {
            let _ = write!(process, " (the first {SPANS} spans; {} more were dropped)", spans.dropped);
        }
        let micros = |time: Instant| time.saturating_duration_since(recording.origin).as_secs_f64() * 1e6;
        let event = |span: &Span| {
            let args: Map<String, Value> =
                span.args.iter().flatten().map(|&(key, value)| (key.to_owned(), value.into())).collect();
            let thread = tracks.binary_search(&span.track).unwrap_or_default();
            json!({
                "name": span.name, "cat": "trisage", "ph": "X", "pid": 1, "tid": thread,
                "ts": micros(span.begin), "dur": micros(span.end) - micros(span.begin), "args": args,
            })
        };
        let names = tracks.iter().enumerate().map(|(thread, track)| metadata("thread_name", thread, track));
        let events =
            std::iter::once(metadata("process_name", 0, &process)).chain(names).chain(spans.kept.iter().map(event));
        // One event at a time: as a whole they would take many times the memory of the spans.
        let mut json = serde_json::Serializer::new(out);
        let mut object = json.serialize_map(None)?;
        object.serialize_entry("displayTimeUnit", "ms")?;
        object.serialize_entry("traceEvents", &Sequence(RefCell::new(Some(events))))?;
        object.end()?;
        Ok(())
    }
}

/// An iterator as a JSON array, once.
struct Sequence<I>(RefCell<Option<I>>);

impl<I: Iterator<Item = Value>> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn spans_become_events_on_named_tracks() {
        let timeline = Timeline::recording();
        let origin = timeline.0.as_ref().unwrap().origin;
        let at = |millis| origin + Duration::from_millis(millis);
        timeline.span("SLR1", "sample", [at(3), at(5)], [("iteration", 1)]);
        timeline.clone().span("SLR0", "sample", [at(1), at(2)], []);
        let mut trace = vec![];
        timeline.write("verify", &mut trace).unwrap();
        let trace: Value = serde_json::from_slice(&trace).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let of = |key: &str| events.iter().map(|event| event[key].clone()).collect::<Vec<_>>();
        assert_eq!(of("ph"), ["M", "M", "M", "X", "X"]);
        assert_eq!(of("tid"), [0, 0, 1, 0, 1]);
        assert_eq!(events[2]["args"]["name"], "SLR1");
        assert_eq!((&events[4]["ts"], &events[4]["dur"]), (&json!(3000.0), &json!(2000.0)));
        assert_eq!(events[4]["args"], json!({"iteration": 1}));
    }

    #[test]
    fn a_timeline_that_is_off_has_no_trace() {
        let timeline = Timeline::default();
        timeline.span("x", "y", [Instant::now(); 2], []);
        let mut trace = vec![];
        timeline.write("p", &mut trace).unwrap();
        assert!(trace.is_empty() && !timeline.is_recording());
    }
}
