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
    pub(super) look: Look,
    /// Whether the first of several cells is the name of a column of nodes, or empty, as `pandas` leaves it.
    pub(super) nodes: bool,
    /// The place of another cell with such a name.
    pub(super) misplaced: Option<usize>,
}

/// What the cells of a first line are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Look {
    /// There are values among them, or what stands for a value that is missing.
    #[default]
    Values,
    /// They count from 0, as `pandas` numbers columns without names.
    Counting,
    /// They are words, which may be names.
    Words,
    /// They are certainly names.
    Names,
}

impl First {
    pub(super) fn of(kind: Kind, record: Record) -> Self {
        let cells: Vec<_> = record.fields().collect();
        Self { text: excerpt(record.text()), ..Self::of_cells(kind, &cells) }
    }

    fn of_cells(kind: Kind, cells: &[&str]) -> Self {
        let nodes = matches!(cells, [first, _, ..] if first.is_empty() || is_node(first));
        let values = &cells[usize::from(nodes)..];
        let counts = || values.iter().zip(0..).all(|(cell, place)| cell.parse() == Ok::<usize, _>(place));
        let are_names = || match kind {
            Kind::Features if cells.len() > 1 => values.iter().collect::<HashSet<_>>().len() == values.len(),
            _ => values.iter().all(|cell| kind.is_name(cell)),
        };
        let look = match () {
            () if kind == Kind::Features && values.len() > 1 && counts() => {
                if nodes {
                    Look::Names
                } else {
                    Look::Counting
                }
            }
            () if values.iter().any(|cell| is_value(cell)) => Look::Values,
            () if are_names() => Look::Names,
            () => Look::Words,
        };
        let misplaced = match kind {
            Kind::Features | Kind::Labels => values.iter().position(|cell| is_node(cell)),
            Kind::Nodes | Kind::Marks => None,
        };
        let misplaced = misplaced.map(|place| place + usize::from(nodes));
        Self { text: String::new(), columns: cells.len(), look, nodes, misplaced }
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
            (Labels, &["label"][..], Look::Names),
            (Labels, &["spam"], Look::Words),
            (Labels, &["nan"], Look::Values),
            (Labels, &["0"], Look::Values),
            (Labels, &["0", "1"], Look::Values),
            (Labels, &["node", "label"], Look::Names),
            (Labels, &["", "class"], Look::Names),
            (Labels, &["node"], Look::Words),
            (Features, &["width", "height"], Look::Names),
            (Features, &["red", "red"], Look::Words),
            (Features, &["NA", "NA"], Look::Values),
            (Features, &["a", "?"], Look::Values),
            (Features, &["x"], Look::Names),
            (Features, &["width"], Look::Words),
            (Features, &["id", "a", "b"], Look::Names),
            (Features, &["node", "width"], Look::Names),
            (Features, &["", "0", "1"], Look::Names),
            (Features, &["0", "1"], Look::Counting),
            (Features, &["0", "2"], Look::Values),
            (Nodes, &["node"], Look::Names),
            (Nodes, &["train"], Look::Names),
            (Nodes, &["spam"], Look::Words),
            (Marks, &["train_mask"], Look::Names),
        ];
        for (kind, cells, expected) in cases {
            assert_eq!(First::of_cells(kind, cells).look, expected, "{kind:?} {cells:?}");
        }
        let nodes = [&["node", "x"][..], &["", "x"], &["x", "y"], &["node"]]
            .map(|cells| First::of_cells(Features, cells).nodes);
        assert_eq!(nodes, [true, true, false, false]);
        assert_eq!(First::of_cells(Features, &["a", "id"]).misplaced, Some(1));
        assert_eq!(First::of_cells(Features, &["id", "a", "index"]).misplaced, Some(2));
    }
}
