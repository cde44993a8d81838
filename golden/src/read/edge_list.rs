//! Edge lists: one arc `source destination` a line, 0-based, between spaces, tabs or commas.
//!
//! Empty lines and those that start with `#` or `%` are passed over. Further columns are passed over if they are numbers
//! (weights, times). In CSV the first line may name the columns: then none of its fields is a number.

use super::{
    ReadOptions,
    error::{Problem, ReadError, excerpt},
    room,
    source::Source,
    text::{Lines, check_density, fields, id, is_number},
};
use crate::{
    arcs::by_destination,
    graph::CscGraph,
    id::{ID_MAX, NodeId},
    memory,
    progress::Progress,
};

const ACCEPTED: &str = "'source destination', two node ids, and further columns that are numbers";

pub(super) fn read(
    source: Source,
    names_columns: bool,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<CscGraph, ReadError> {
    let mut lines = Lines::new(source, progress);
    let mut may_be_header = names_columns;
    let largest_possible = options.nodes.unwrap_or(ID_MAX) - 1;
    let mut arcs: Vec<(NodeId, NodeId)> = Vec::new();
    // The largest id, and the line on which it is first seen.
    let mut largest: Option<(u32, u64)> = None;
    while let Some((line, text)) = lines.next_but(&['#', '%'])? {
        if std::mem::take(&mut may_be_header) && !fields(text).any(is_number) {
            continue;
        }
        let (source, destination) = match arc(line, text, largest_possible) {
            Ok(_) if arcs.len() == ID_MAX as usize => return Err(lines.error(Problem::TooManyEdges { line })),
            Ok(arc) => arc,
            Err(problem) => return Err(lines.error(problem)),
        };
        let larger = source.max(destination);
        if largest.is_none_or(|(id, _)| id < larger) {
            largest = Some((larger, line));
        }
        memory::reserve(&mut arcs).map_err(|shortage| lines.error(shortage.into()))?;
        arcs.push((NodeId::new(source), NodeId::new(destination)));
    }
    let nodes = match (options.nodes, largest) {
        (Some(nodes), _) => nodes,
        (None, Some((id, line))) => {
            check_density(id + 1, line, arcs.len()).map_err(|problem| lines.error(problem))?;
            id + 1
        }
        (None, None) => return Err(lines.error(Problem::NoEdges)),
    };
    room(nodes as usize, arcs.len()).map_err(|problem| lines.error(problem))?;
    let (indptr, indices) = by_destination(nodes as usize, arcs.iter().copied());
    CscGraph::new(indptr, indices).map_err(|error| lines.error(Problem::Graph(error)))
}

/// Source and destination.
fn arc(line: u64, text: &str, largest_possible: u32) -> Result<(u32, u32), Problem> {
    let refused = || Problem::Line { line, found: excerpt(text), accepted: ACCEPTED };
    let mut fields = fields(text);
    let mut end = || id(fields.next().ok_or_else(refused)?, (line, text), (0, largest_possible), ACCEPTED);
    let arc = (end()?, end()?);
    if fields.all(is_number) { Ok(arc) } else { Err(refused()) }
}
