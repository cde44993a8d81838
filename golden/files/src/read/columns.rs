//! Which columns of an edge list are the ends of its arcs.

use std::{fmt, str::FromStr};

/// The columns of source and destination, as they are asked for: `source,target` or `2,3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Where the source is.
    pub source: Column,
    /// Where the destination is.
    pub destination: Column,
}

/// A column, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its number, from 1.
    Number(usize),
    /// By its name. Case, blanks and underscores do not matter.
    Name(String),
}

/// Text that does not name two columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' does not name two columns; give the source and the destination, such as source,target or 1,2")]
pub struct ColumnsError(String);

impl FromStr for Columns {
    type Err = ColumnsError;

    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let column = |text: &str| match text.trim().parse() {
            Ok(0) => None,
            Ok(number) => Some(Column::Number(number)),
            Err(_) => (!text.trim().is_empty()).then(|| Column::Name(text.trim().to_owned())),
        };
        let pair = text.split_once(',').and_then(|(source, destination)| Some((column(source)?, column(destination)?)));
        match pair {
            Some((source, destination)) if source != destination && text.matches(',').count() == 1 => {
                Ok(Self { source, destination })
            }
            _ => Err(ColumnsError(text.to_owned())),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

impl Column {
    /// The place of this column, from 0, among those of these names (none where nothing names them).
    pub(super) fn place(&self, names: Option<&[String]>, columns: usize) -> Option<usize> {
        match self {
            Self::Number(number) => number.checked_sub(1).filter(|place| *place < columns),
            Self::Name(wanted) => {
                let wanted = plain(wanted);
                let mut places =
                    (0..columns).filter(|&place| names.is_some_and(|names| plain(&names[place]) == wanted));
                // A name that two columns have means none.
                places.next().filter(|_| places.next().is_none())
            }
        }
    }
}

/// Why names do not say which columns are the ends of arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// None of them, or only one, is known.
    Unknown,
    /// More than one may be the source, or the destination.
    Several,
    /// In graph theory an arc goes from its tail to its head; in a knowledge graph from the head to the tail.
    HeadAndTail,
}

/// Pairs of names for source and destination, as [`stem`] leaves them. The first pair that is there decides.
const PAIRS: [(&[&str], &[&str]); 13] = [
    (&["source", "src"], &["target", "tgt", "trg", "destination", "dest", "dst"]),
    (&["from"], &["to"]),
    (&["start"], &["end"]),
    (&["begin"], &["end"]),
    (&["origin", "orig"], &["destination", "dest"]),
    (&["subject"], &["object"]),
    (&["sender"], &["receiver", "recipient"]),
    (&["citing"], &["cited"]),
    (&["follower"], &["followee", "followed"]),
    (&["parent"], &["child"]),
    (&["row"], &["col", "column"]),
    (&["u"], &["v"]),
    (&["i"], &["j"]),
];

/// What nodes are called where two columns of them are numbered: `node1,node2`, `id_a,id_b`.
const NUMBERED: [&str; 16] = [
    "node", "nodeid", "id", "idx", "n", "v", "vertex", "vertexid", "vid", "user", "userid", "entity", "entityid",
    "person", "personid", "author",
];

/// A name without case, blanks, underscores and the like.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A plain name without the words for a node or an id.
fn stem(plain: &str) -> &str {
    const WORDS: [&str; 10] =
        ["nodeid", "nodeidx", "nodeindex", "vertexid", "node", "vertex", "vid", "idx", "index", "id"];
    let front = WORDS.iter().find_map(|word| plain.strip_prefix(word));
    let back = WORDS.iter().find_map(|word| plain.strip_suffix(word));
    [back, front].into_iter().flatten().find(|stem| !stem.is_empty()).unwrap_or(plain)
}

/// Whether a plain name is one of these, perhaps with a word for a node or an id.
fn is_one_of(plain: &str, names: &[&str]) -> bool {
    let stem = stem(plain);
    // Of "uid" there is "u" left, which is not meant.
    names.contains(&plain) || stem.len() > 1 && names.contains(&stem)
}

/// The places of source and destination among columns of these names.
pub(super) fn known(names: &[String]) -> Result<[usize; 2], Doubt> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let places = |is: &dyn Fn(&str) -> bool| (0..plain.len()).filter(|&place| is(&plain[place])).collect::<Vec<_>>();
    let one_of = |set: &[&str]| places(&|name| is_one_of(name, set));
    let mut candidates = PAIRS.iter().map(|(sources, destinations)| [one_of(sources), one_of(destinations)]).chain(
        NUMBERED.iter().flat_map(|word| {
            let numbered = |end: &str| places(&|name| name.strip_prefix(word) == Some(end));
            [[numbered("1"), numbered("2")], [numbered("a"), numbered("b")]]
        }),
    );
    let pair = candidates.find(|[sources, destinations]| !sources.is_empty() && !destinations.is_empty());
    match pair.as_ref().map(|pair| pair.each_ref().map(|places| &**places)) {
        Some([&[source], &[destination]]) => Ok([source, destination]),
        Some(_) => Err(Doubt::Several),
        None if !one_of(&["head", "h"]).is_empty() && !one_of(&["tail", "t"]).is_empty() => Err(Doubt::HeadAndTail),
        None => Err(Doubt::Unknown),
    }
}

/// The places of source and destination of two columns of which one name is known.
pub(super) fn half_known(names: &[String]) -> Option<[usize; 2]> {
    let [first, second] = names else { return None };
    let roles = |name: &str| {
        let name = plain(name);
        let is_source = PAIRS.iter().any(|(sources, _)| is_one_of(&name, sources));
        [is_source, PAIRS.iter().any(|(_, destinations)| is_one_of(&name, destinations))]
    };
    match (roles(first), roles(second)) {
        ([true, false], [false, false]) | ([false, false], [false, true]) => Some([0, 1]),
        ([false, true], [false, false]) | ([false, false], [true, false]) => Some([1, 0]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn names_that_people_give() {
        for (text, expected) in [
            ("source,target", [0, 1]),
            ("Target,Source,Weight", [1, 0]),
            (",source,target", [1, 2]),
            ("Id,Source,Target,Type", [1, 2]),
            ("src_id,dst_id,train_mask", [0, 1]),
            ("FromNodeId,ToNodeId", [0, 1]),
            ("to node,from node", [1, 0]),
            (":START_ID,:END_ID,:TYPE", [0, 1]),
            ("source,target,start,end", [0, 1]),
            ("i,source,target", [1, 2]),
            ("row,col", [0, 1]),
            ("weight,u,v", [1, 2]),
            ("node_1,node_2", [0, 1]),
            ("id_1,id_2", [0, 1]),
            ("nodeB,nodeA", [1, 0]),
            ("V1,V2,V3", [0, 1]),
            ("cited,citing", [1, 0]),
            ("subject,predicate,object", [0, 2]),
            ("sourceNodeIdx,targetNodeIdx", [0, 1]),
        ] {
            assert_eq!(known(&names(text)), Ok(expected), "{text}");
        }
    }

    #[test]
    fn names_that_leave_a_doubt() {
        for (text, expected) in [
            ("a,b,c", Doubt::Unknown),
            ("source,b", Doubt::Unknown),
            ("node_id,node_id", Doubt::Unknown),
            ("weight1,weight2", Doubt::Unknown),
            ("", Doubt::Unknown),
            ("source,src,target", Doubt::Several),
            ("source,target,dst", Doubt::Several),
            ("source,source,target", Doubt::Several),
            ("head,tail", Doubt::HeadAndTail),
            ("head,relation,tail", Doubt::HeadAndTail),
            ("h,r,t", Doubt::HeadAndTail),
            ("uid,v", Doubt::Unknown),
        ] {
            assert_eq!(known(&names(text)), Err(expected), "{text}");
        }
        for (text, expected) in [
            ("source,b", Some([0, 1])),
            ("a,target", Some([0, 1])),
            ("a,source", Some([1, 0])),
            ("to,a", Some([1, 0])),
            ("a,b", None),
            ("a,source,c", None),
        ] {
            assert_eq!(half_known(&names(text)), expected, "{text}");
        }
    }

    #[test]
    fn columns_are_asked_for_by_name_or_number() {
        let columns = |text: &str| text.parse::<Columns>();
        assert_eq!(columns("2, 3"), Ok(Columns { source: Column::Number(2), destination: Column::Number(3) }));
        let named = columns("To Node,from_node").unwrap();
        let place = |column: &Column, text: &str| column.place(Some(&names(text)), names(text).len());
        assert_eq!(place(&named.source, "x,fromNode,to_node"), Some(2));
        assert_eq!(place(&named.destination, "x,fromNode,to_node"), Some(1));
        assert_eq!(place(&named.source, "tonode,to_node"), None);
        assert_eq!(named.source.place(None, 3), None);
        assert_eq!(Column::Number(3).place(None, 2), None);
        for text in ["", "1", "1,1", "0,1", "a,", "1,2,3", ",b"] {
            assert!(columns(text).unwrap_err().to_string().contains("source,target or 1,2"), "{text}");
        }
    }
}
