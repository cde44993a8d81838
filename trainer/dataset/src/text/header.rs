//! Whether the first line of a table names its columns.

use std::{collections::HashSet, str::FromStr};

use golden_files::read::{Record, excerpt};

use crate::{names, names::Role};

/// What the first lines of tables are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// A first line names the columns if it has names that are known, or, of features, several words that differ; or if it
    /// has words, or counts the columns, and is one more than there are nodes, where their number is known. What remains
    /// unclear is refused.
    #[default]
    Auto,
    /// They name the columns, whatever they are.
    Yes,
    /// They are like all others.
    No,
}

impl FromStr for Header {
    type Err = HeaderError;

    fn from_str(text: &str) -> Result<Self, HeaderError> {
        match text.to_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => Err(HeaderError(text.to_owned())),
        }
    }
}

/// A word that says nothing about first lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no such thing as '{0}'; give one of auto, yes, no")]
pub struct HeaderError(String);

/// What the lines of a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Features,
    Labels,
    /// Ids of nodes.
    Nodes,
    /// A mark for each node.
    Marks,
}

impl Kind {
    /// What a line holds, as it reads in a sentence.
    pub(super) fn values(self) -> &'static str {
        match self {
            Self::Features => "numbers",
            Self::Labels => "labels, which are whole numbers",
            Self::Nodes => "node ids",
            Self::Marks => "0 and 1",
        }
    }

    /// The names of columns that are known, as they read in a sentence.
    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Features => "several words that differ, x or feature",
            Self::Labels => "label, y, class or target",
            Self::Nodes => "node, id or index",
            Self::Marks => "mask, or train_mask and the like",
        }
    }

    /// Whether this is the name of a column that such a table has.
    fn is_name(self, name: &str) -> bool {
        let role = names::role(name);
        match self {
            Self::Features => role == Some(Role::Features),
            Self::Labels => {
                const MORE: [&str; 6] = ["class", "classes", "category", "community", "department", "group"];
                role == Some(Role::Labels) || MORE.contains(&name.to_lowercase().as_str())
            }
            Self::Nodes => is_node(name) || matches!(role, Some(Role::Part(..))),
            Self::Marks => name.eq_ignore_ascii_case("mask") || matches!(role, Some(Role::Part(..))),
        }
    }
}

/// Whether a column of this name says which node a line is about.
pub(super) fn is_node(name: &str) -> bool {
    const NAMES: [&str; 10] = ["node", "nodes", "id", "ids", "idx", "index", "node_id", "nodeid", "nid", "node_index"];
    NAMES.contains(&name.to_lowercase().replace([' ', '-'], "_").as_str())
}

/// What the first line of a table looks like.
#[derive(Clone, Debug, Default)]
pub(super) struct First {
    /// How it reads.
    pub(super) text: String,
    /// Its cells.
    pub(super) columns: usize,
    /// Whether all cells are words, and none stands for a number that is missing.
    pub(super) words: bool,
    /// Whether they are certainly names.
    pub(super) names: bool,
    /// Whether they count from 0, as `pandas` numbers columns without names.
    pub(super) counting: bool,
    /// Whether the first of several is the name of a column of nodes, or empty, as `pandas` leaves it.
    pub(super) nodes: bool,
    /// The place of another cell with such a name.
    pub(super) misplaced: Option<usize>,
}

impl First {
    pub(super) fn of(kind: Kind, record: Record) -> Self {
        let cells: Vec<_> = record.fields().collect();
        Self { text: excerpt(record.text()), ..Self::of_cells(kind, &cells) }
    }

    fn of_cells(kind: Kind, cells: &[&str]) -> Self {
        let nodes = matches!(cells, [first, _, ..] if first.is_empty() || is_node(first));
        let values = &cells[usize::from(nodes)..];
        let counting = kind == Kind::Features
            && values.len() > 1
            && values.iter().zip(0..).all(|(cell, place)| cell.parse() == Ok::<usize, _>(place));
        let words = !values.iter().any(|cell| is_value(cell));
        let distinct = || values.iter().collect::<HashSet<_>>().len() == values.len();
        let names = match kind {
            Kind::Features if cells.len() > 1 => distinct(),
            _ => values.iter().all(|cell| kind.is_name(cell)),
        };
        let misplaced = match kind {
            Kind::Features | Kind::Labels => values.iter().position(|cell| is_node(cell)),
            Kind::Nodes | Kind::Marks => None,
        };
        let misplaced = misplaced.map(|place| place + usize::from(nodes));
        let names = words && names || counting && nodes;
        Self { text: String::new(), columns: cells.len(), words, names, counting, nodes, misplaced }
    }
}

/// Whether a cell is a number, or stands where one is missing.
fn is_value(cell: &str) -> bool {
    const MISSING: [&str; 9] = ["", "na", "n/a", "nan", "null", "none", "?", "-", "."];
    MISSING.contains(&cell.to_lowercase().as_str()) || cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        use Kind::{Features, Labels, Marks, Nodes};
        let cases = [
            // Words, certainly names, a column of nodes.
            (Labels, &["label"][..], (true, true, false)),
            (Labels, &["spam"], (true, false, false)),
            (Labels, &["nan"], (false, false, false)),
            (Labels, &["0"], (false, false, false)),
            (Labels, &["node", "label"], (true, true, true)),
            (Labels, &["", "class"], (true, true, true)),
            (Labels, &["node"], (true, false, false)),
            (Features, &["width", "height"], (true, true, false)),
            (Features, &["red", "red"], (true, false, false)),
            (Features, &["NA", "NA"], (false, false, false)),
            (Features, &["a", "?"], (false, false, false)),
            (Features, &["x"], (true, true, false)),
            (Features, &["width"], (true, false, false)),
            (Features, &["id", "a", "b"], (true, true, true)),
            (Features, &["", "0", "1"], (false, true, true)),
            (Features, &["0", "1"], (false, false, false)),
            (Features, &["node", "width"], (true, true, true)),
            (Nodes, &["node"], (true, true, false)),
            (Nodes, &["train"], (true, true, false)),
            (Nodes, &["spam"], (true, false, false)),
            (Marks, &["train_mask"], (true, true, false)),
        ];
        for (kind, cells, expected) in cases {
            let First { words, names, nodes, .. } = First::of_cells(kind, cells);
            assert_eq!((words, names, nodes), expected, "{kind:?} {cells:?}");
        }
        assert!(First::of_cells(Features, &["0", "1"]).counting && !First::of_cells(Features, &["0", "2"]).counting);
        assert!(!First::of_cells(Labels, &["0", "1"]).counting);
        assert_eq!(First::of_cells(Features, &["a", "id"]).misplaced, Some(1));
        assert_eq!(First::of_cells(Features, &["id", "a", "index"]).misplaced, Some(2));
    }
}
