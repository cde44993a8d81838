//! Progress on a terminal, and notes.

use std::{
    cell::RefCell,
    io::{self, IsTerminal},
    time::Duration,
};

use golden::Progress;
use golden_files::{Listener, Note};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{options::source::option, output::say};

/// A bar on stderr for each piece of work, gone when it is done. Without a terminal there is none.
#[derive(Debug, Default)]
pub(crate) struct Bar(RefCell<Option<(String, ProgressBar)>>);

impl Progress for Bar {
    fn report(&self, what: &str, done: u64, total: u64) {
        // A bar has a thread of its own, also where nobody sees it.
        if !io::stderr().is_terminal() {
            return;
        }
        let mut current = self.0.borrow_mut();
        let fresh = current.as_ref().is_none_or(|(name, _)| name != what);
        if fresh {
            if let Some((_, bar)) = current.take() {
                bar.finish_and_clear();
            }
            let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}");
            let bar = ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            *current = Some((what.to_owned(), bar));
        }
        if let Some((_, bar)) = &*current {
            bar.set_position(done);
            if done == total {
                bar.finish_and_clear();
            }
        }
        if done == total {
            *current = None;
        }
    }
}

impl Listener for Bar {
    fn note(&self, note: &Note) {
        let hint = note.remark.setting().map_or_else(String::new, |setting| format!(" ({})", option(&setting)));
        let say = || say(&format!("note: {note}{hint}"));
        match &*self.0.borrow() {
            Some((_, bar)) => bar.suspend(say),
            None => say(),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((_, bar)) = self.0.get_mut() {
            bar.finish_and_clear();
        }
    }
}
