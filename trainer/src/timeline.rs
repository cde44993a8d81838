//! When was what done: spans of time on named tracks, as a file that Perfetto (<https://ui.perfetto.dev>) opens.
//!
//! The format is Chrome's Trace Event Format: complete events ("ph": "X") with `ts` and `dur` in microseconds.

use std::{
    borrow::Cow,
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde_json::{Map, Value, json};

/// Collects spans; clones collect into the same timeline. One that is off ([`Timeline::default`]) costs a branch.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Option<Arc<Recording>>);

#[derive(Debug)]
struct Recording {
    origin: Instant,
    spans: Mutex<Vec<Span>>,
}

#[derive(Debug)]
struct Span {
    track: Cow<'static, str>,
    name: &'static str,
    begin: Instant,
    end: Instant,
    args: Vec<(&'static str, u64)>,
}

impl Timeline {
    /// A timeline that records; its zero is now.
    pub fn recording() -> Self {
        Self(Some(Arc::new(Recording { origin: Instant::now(), spans: Mutex::default() })))
    }

    /// Something was done on a track from `begin` to `end`. `args` is looked at only if the timeline records.
    pub fn span(
        &self,
        track: impl Into<Cow<'static, str>>,
        name: &'static str,
        [begin, end]: [Instant; 2],
        args: impl IntoIterator<Item = (&'static str, u64)>,
    ) {
        if let Some(recording) = &self.0 {
            let span = Span { track: track.into(), name, begin, end, args: args.into_iter().collect() };
            recording.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
        }
    }

    /// Everything so far as Chrome trace events, in the order of their begin; `None` if nothing is recorded.
    pub fn trace(&self, process: impl Display) -> Option<Value> {
        let recording = self.0.as_ref()?;
        let mut spans = recording.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans.sort_by_key(|span| span.begin);
        let mut tracks: Vec<&str> = spans.iter().map(|span| &*span.track).collect();
        tracks.sort_unstable();
        tracks.dedup();
        let named = |name: &str, thread: usize, value: &str| json!({"name": name, "ph": "M", "pid": 1, "tid": thread, "args": {"name": value}});
        let mut events = vec![named("process_name", 0, &process.to_string())];
        events.extend(tracks.iter().enumerate().map(|(thread, track)| named("thread_name", thread, track)));
        let micros = |time: Instant| time.saturating_duration_since(recording.origin).as_secs_f64() * 1e6;
        for span in &*spans {
            let args: Map<String, Value> =
                span.args.iter().map(|&(key, value)| (key.to_owned(), value.into())).collect();
            let thread = tracks.binary_search(&&*span.track).unwrap_or_default();
            events.push(json!({
                "name": span.name, "cat": "trisage", "ph": "X", "pid": 1, "tid": thread,
                "ts": micros(span.begin), "dur": micros(span.end) - micros(span.begin), "args": args,
            }));
        }
        Some(json!({"traceEvents": events, "displayTimeUnit": "ms"}))
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
        let trace = timeline.trace("verify").unwrap();
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
        assert!(timeline.trace("p").is_none());
    }
}
