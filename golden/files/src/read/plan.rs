//! What the columns of an edge list are taken for.

use super::{
    columns::{Column, Columns, Doubt, half_known, known, plain},
    error::{Problem, ReadError, excerpt},
    table::Table,
};
use crate::note::{Remark, UsedColumn};

/// Columns are counted from 0.
pub(super) struct Plan {
    /// The columns of source and destination.
    pub(super) ends: [usize; 2],
    /// The others have no names and were not settled: they hold values, such as weights.
    pub(super) values: bool,
    /// Nothing says that the first column is the source, and the first record an arc.
    pub(super) in_doubt: bool,
    /// The column that says whether an edge has a direction, and what it says if not.
    pub(super) direction: Option<Direction>,
    /// The column that says which of several graphs an arc is of.
    pub(super) graph: Option<usize>,
    pub(super) remark: Option<Remark>,
}

/// A column that says whether an edge has a direction.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) place: usize,
    /// What it is called.
    pub(super) name: String,
    /// What it says of an edge without one.
    undirected: &'static [&'static str],
}

impl Direction {
    fn of(names: &[String]) -> Option<Self> {
        const COLUMNS: [(&[&str], &[&str]); 2] =
            [(&["type", "edgetype"], &["undirected"]), (&["directed", "isdirected"], &["false", "0", "no", "f", "n"])];
        names.iter().enumerate().find_map(|(place, name)| {
            let (_, undirected) = COLUMNS.into_iter().find(|(names, _)| names.contains(&&*plain(name)))?;
            Some(Self { place, name: name.clone(), undirected })
        })
    }

    /// Whether this value says that there is none.
    pub(super) fn is_undirected(&self, value: &str) -> bool {
        self.undirected.iter().any(|word| word.eq_ignore_ascii_case(value))
    }
}

impl Plan {
    /// Decides by what is asked for, by the names of the columns, or else by their order, which `konect`'s files settle. Names
    /// in the first record are taken from the table.
    pub(super) fn of(table: &mut Table, asked: Option<&Columns>, konect: bool) -> Result<Self, ReadError> {
        let columns = table.columns();
        let Some(first) = table.first() else { return Ok(Self::new(None, [0, 1], None)) };
        let line = first.line();
        if columns < 2 {
            let found = excerpt(first.text());
            return Err(table.error(Problem::OneColumn { line, found }));
        }
        // networkx writes the attributes of an edge as a dictionary.
        let attributes = columns == 3 && first.field(2).starts_with('{');
        let fields: Vec<String> = first.fields().map(str::to_owned).collect();
        let is_named = |names: &[String]| {
            let has =
                |column: &Column| matches!(column, Column::Name(_)) && column.place(Some(names), columns).is_some();
            known(names).is_ok() || asked.is_some_and(|asked| has(&asked.source) && has(&asked.destination))
        };
        let header = first.is_words() || is_named(&fields);
        let names = if header {
            table.take_names();
            Some(fields)
        } else {
            commented(table, columns, is_named)
        };

        if let Some(asked) = asked {
            let place = |column: &Column| {
                column.place(names.as_deref(), columns).ok_or_else(|| {
                    let names = names.as_ref().map(|names| shown(names));
                    table.error(Problem::NoColumn { wanted: column.clone(), names, columns })
                })
            };
            let ends = [place(&asked.source)?, place(&asked.destination)?];
            if ends[0] == ends[1] {
                return Err(table.error(Problem::SameColumn { column: ends[0] + 1 }));
            }
            return Ok(Self { values: false, in_doubt: false, graph: None, ..Self::new(names.as_deref(), ends, None) });
        }
        let Some(names) = names else {
            let remark = (columns > 2 && !attributes).then(|| Remark::Columns {
                used: [1, 2].map(|number| UsedColumn { number, name: None }),
                known: konect,
                passed_over: (3..=columns).map(|number| number.to_string()).collect(),
            });
            return Ok(Self { in_doubt: !konect, ..Self::new(None, [0, 1], remark) });
        };
        let (ends, known) = match known(&names) {
            Ok(ends) => (ends, true),
            Err(Doubt::Unknown) if columns == 2 => (half_known(&names).unwrap_or([0, 1]), false),
            Err(doubt) => return Err(table.error(Problem::Columns { line, names: shown(&names), doubt })),
        };
        let others = (0..columns).filter(|place| !ends.contains(place));
        let remark = Remark::Columns {
            used: ends.map(|place| UsedColumn { number: place + 1, name: Some(names[place].clone()) }),
            known,
            passed_over: others.map(|place| called(&names, place)).collect(),
        };
        let plain = known && columns == 2 && ends == [0, 1];
        Ok(Self::new(Some(&names), ends, (!plain).then_some(remark)))
    }

    fn new(names: Option<&[String]>, ends: [usize; 2], remark: Option<Remark>) -> Self {
        let graph = |name: &String| ["graphid", "graph", "graphindex", "graphidx"].contains(&&*plain(name));
        Self {
            ends,
            values: names.is_none(),
            in_doubt: names.is_none(),
            direction: names.and_then(Direction::of),
            graph: names.and_then(|names| names.iter().position(graph)),
            remark,
        }
    }

    /// Which end, 0 the source or 1 the destination, stands further to the left.
    pub(super) fn left_end(&self) -> usize {
        usize::from(self.ends[1] < self.ends[0])
    }
}

/// The names in the last comment before the first record that has some.
fn commented(table: &Table, columns: usize, is_named: impl Fn(&[String]) -> bool) -> Option<Vec<String>> {
    table.comments().iter().rev().find_map(|comment| {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let ways = [owned(table.split_comment(comment)), owned(comment.split_whitespace().collect())];
        ways.into_iter().find(|names| names.len() == columns && is_named(names))
    })
}

/// How a column is called that may have an empty name.
fn called(names: &[String], place: usize) -> String {
    if names[place].is_empty() { format!("column {}", place + 1) } else { excerpt(&names[place]) }
}

/// Names as they stand in an error: of many the first ones.
fn shown(names: &[String]) -> Vec<String> {
    const SHOWN: usize = 12;
    let mut shown: Vec<_> = names.iter().take(SHOWN).map(|name| excerpt(name)).collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    shown
}
