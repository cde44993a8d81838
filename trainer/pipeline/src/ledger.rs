//! What crosses the bus, and what is launched on the accelerator, by the place in the code that asks for it.
//!
//! A copy too many is silent: every result is still right, and only the speed is not what it could be. So whatever moves
//! between host, card and accelerator is counted here, and tests state the exact set of crossings of an iteration.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

/// Which way data crosses the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From host memory into the memory that the consumer reads.
    Up,
    /// Into host memory: from the consumer's memory, or from the card where the consumer does not read in place.
    Down,
    /// From the card straight into the memory that the consumer reads.
    P2p,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Up, Self::Down, Self::P2p];
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::P2p => "p2p",
        })
    }
}

/// All crossings of one site in one direction. A site is the `&'static str` that was given to the ledger, or the `String` that
/// was read from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing<S = &'static str> {
    /// Which way.
    pub direction: Direction,
    /// What asks for it.
    pub site: S,
    /// How often.
    pub count: u64,
    /// Bytes in all.
    pub bytes: u64,
}

/// All launches of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch<S = &'static str> {
    /// What asks for it.
    pub site: S,
    /// How often.
    pub count: u64,
    /// Elements that it works on, in all.
    pub elements: u64,
}

/// What a ledger holds; the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally<S = &'static str> {
    /// What crossed the bus.
    pub crossings: Vec<Crossing<S>>,
    /// What was launched on the accelerator.
    pub launches: Vec<Launch<S>>,
}

/// Counts crossings and launches; clones count into the same books. One that is off ([`Ledger::default`]) costs a branch.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Option<Arc<Mutex<Books>>>);

#[derive(Debug, Default)]
struct Books {
    crossings: BTreeMap<(Direction, &'static str), [u64; 2]>,
    launches: BTreeMap<&'static str, [u64; 2]>,
}

impl Ledger {
    /// A ledger that counts.
    pub fn counting() -> Self {
        Self(Some(Arc::default()))
    }

    /// `bytes` cross the bus. An empty transfer is a crossing too: it costs a trip.
    pub fn cross(&self, direction: Direction, site: &'static str, bytes: usize) {
        if let Some(books) = &self.0 {
            add(lock(books).crossings.entry((direction, site)).or_default(), bytes);
        }
    }

    /// Work on `elements` is launched on the accelerator.
    pub fn launch(&self, site: &'static str, elements: usize) {
        if let Some(books) = &self.0 {
            add(lock(books).launches.entry(site).or_default(), elements);
        }
    }

    /// What was counted; `None` from a ledger that is off.
    pub fn tally(&self) -> Option<Tally> {
        let books = lock(self.0.as_ref()?);
        Some(books.tally())
    }

    /// What was counted since the last taking: the books are empty afterwards.
    pub fn take(&self) -> Option<Tally> {
        Some(std::mem::take(&mut *lock(self.0.as_ref()?)).tally())
    }
}

impl Books {
    fn tally(&self) -> Tally {
        let mut crossings: Vec<_> = self
            .crossings
            .iter()
            .map(|(&(direction, site), &[count, bytes])| Crossing { direction, site, count, bytes })
            .collect();
        let mut launches: Vec<_> =
            self.launches.iter().map(|(&site, &[count, elements])| Launch { site, count, elements }).collect();
        crossings.sort_by_key(|crossing| std::cmp::Reverse(crossing.count));
        launches.sort_by_key(|launch| std::cmp::Reverse(launch.count));
        Tally { crossings, launches }
    }
}

fn lock(books: &Mutex<Books>) -> std::sync::MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add([count, size]: &mut [u64; 2], more: usize) {
    *count += 1;
    *size += more as u64;
}

impl Tally {
    /// The same, with sites of its own.
    #[must_use]
    pub fn into_owned(self) -> Tally<String> {
        let crossing = |Crossing { direction, site, count, bytes }: Crossing| Crossing {
            direction,
            site: site.to_owned(),
            count,
            bytes,
        };
        let launch = |Launch { site, count, elements }: Launch| Launch { site: site.to_owned(), count, elements };
        Tally {
            crossings: self.crossings.into_iter().map(crossing).collect(),
            launches: self.launches.into_iter().map(launch).collect(),
        }
    }
}

impl Tally<String> {
    /// Adds what another run has counted.
    pub fn add(&mut self, other: &Self) {
        for more in &other.crossings {
            let same = |sum: &&mut Crossing<String>| sum.direction == more.direction && sum.site == more.site;
            match self.crossings.iter_mut().find(same) {
                Some(sum) => {
                    sum.count = sum.count.saturating_add(more.count);
                    sum.bytes = sum.bytes.saturating_add(more.bytes);
                }
                None => self.crossings.push(more.clone()),
            }
        }
        for more in &other.launches {
            match self.launches.iter_mut().find(|sum| sum.site == more.site) {
                Some(sum) => {
                    sum.count = sum.count.saturating_add(more.count);
                    sum.elements = sum.elements.saturating_add(more.elements);
                }
                None => self.launches.push(more.clone()),
            }
        }
        self.crossings.sort_by_key(|crossing| std::cmp::Reverse(crossing.count));
        self.launches.sort_by_key(|launch| std::cmp::Reverse(launch.count));
    }
}

impl<S> Tally<S> {
    /// Number and bytes of all crossings in one direction.
    pub fn total(&self, direction: Direction) -> (u64, u64) {
        let these = self.crossings.iter().filter(|crossing| crossing.direction == direction);
        these.fold((0, 0), |(count, bytes), crossing| {
            (count.saturating_add(crossing.count), bytes.saturating_add(crossing.bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_count_into_the_same_books_and_the_most_frequent_comes_first() {
        let ledger = Ledger::counting();
        ledger.cross(Direction::Down, "verdict", 4);
        for _ in 0..3 {
            ledger.clone().cross(Direction::P2p, "card", 100);
            ledger.launch("compare", 25);
        }
        ledger.cross(Direction::P2p, "empty", 0);
        let tally = ledger.tally().unwrap();
        let crossing = |direction, site, count, bytes| Crossing { direction, site, count, bytes };
        assert_eq!(tally.crossings[0], crossing(Direction::P2p, "card", 3, 300));
        assert!(tally.crossings.contains(&crossing(Direction::P2p, "empty", 1, 0)));
        assert_eq!(tally.launches, [Launch { site: "compare", count: 3, elements: 75 }]);
        assert_eq!(Direction::ALL.map(|direction| tally.total(direction)), [(0, 0), (1, 4), (4, 300)]);
    }

    #[test]
    fn a_ledger_that_is_off_has_no_tally() {
        let ledger = Ledger::default();
        ledger.cross(Direction::Up, "x", 1);
        ledger.launch("x", 1);
        assert_eq!(ledger.tally(), None);
        assert_eq!(ledger.take(), None);
    }

    #[test]
    fn what_is_taken_is_counted_once_and_sums_are_by_site() {
        let ledger = Ledger::counting();
        ledger.cross(Direction::Up, "features", 100);
        ledger.cross(Direction::Up, "losses", 1);
        ledger.launch("training", 5);
        let mut sum = ledger.take().unwrap().into_owned();
        assert_eq!(ledger.tally(), Some(Tally::default()));
        for _ in 0..2 {
            ledger.cross(Direction::Up, "losses", 10);
            ledger.cross(Direction::Down, "losses", 7);
            ledger.launch("training", 6);
        }
        let second = ledger.take().unwrap().into_owned();
        sum.add(&second);
        let crossing =
            |direction, site: &str, count, bytes| Crossing { direction, site: site.to_owned(), count, bytes };
        let expected = [
            crossing(Direction::Up, "losses", 3, 21),
            crossing(Direction::Down, "losses", 2, 14),
            crossing(Direction::Up, "features", 1, 100),
        ];
        assert_eq!(sum.crossings, expected);
        assert_eq!(sum.launches, [Launch { site: "training".to_owned(), count: 3, elements: 17 }]);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Tally<String>>(&json).unwrap(), sum);
    }
}
