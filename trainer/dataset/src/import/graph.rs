//! Graphs from arrays that are no graph folder: lists of arcs, adjacency matrices and adjacency lists.

use golden::{CscGraph, ID_MAX, NodeId, Silent};
use golden_files::{Listener, read::Problem as ReadProblem};

use crate::{
    array::{Array, whole, whole_numbers},
    arrays::{Arrays, Found},
    error::{DatasetError, Problem},
    names::{Piece, Role},
};
use golden_files::{memory, memory::Shortage};

/// The graph of the arrays, whichever way they tell it.
pub(super) fn read(arrays: &mut Arrays, progress: &dyn Listener) -> Result<CscGraph, DatasetError> {
    let is_graph = |role| match role {
        Role::EdgeIndex | Role::Edges => true,
        Role::Adjacency(piece) | Role::Csc(piece) | Role::Lists(piece) => piece == Piece::Indptr,
        _ => false,
    };
    let Some(found) = arrays.only("the arcs of the graph", is_graph)? else {
        let accepted = "edge_index ([2, arcs]), edges ([arcs, 2]), adj_indptr with adj_indices (by source), or indptr with \
                        indices (by destination)";
        return Err(arrays.lack("arcs of a graph", accepted));
    };
    match arrays.role(found) {
        Role::Csc(_) => compressed(arrays, found, "indices.npy", Role::Csc, progress),
        Role::Lists(_) => {
            let lists = compressed(arrays, found, "raw_indices.npy", Role::Lists, progress)?;
            transposed(arrays, &lists)
        }
        Role::Adjacency(_) => {
            let rows = compressed(arrays, found, "adj_indices", Role::Adjacency, progress)?;
            transposed(arrays, &rows)
        }
        role => of_arcs(arrays, found, role == Role::EdgeIndex, progress),
    }
}

/// The graph of Planetoid's adjacency lists: a node's list says to which nodes there are arcs from it.
pub(super) fn of_lists(arrays: &mut Arrays, progress: &dyn Listener) -> Result<CscGraph, DatasetError> {
    let found = arrays.only("the adjacency lists", |role| role == Role::Lists(Piece::Indptr))?;
    let accepted = "raw_indptr.npy and raw_indices.npy";
    let found = found.ok_or_else(|| Problem::Lacks { what: "adjacency lists", accepted }.at(arrays.path()))?;
    let lists = compressed(arrays, found, "raw_indices.npy", Role::Lists, progress)?;
    transposed(arrays, &lists)
}

/// What two arrays make: offsets of nodes, and the nodes at the other end of their arcs.
fn compressed(
    arrays: &mut Arrays,
    offsets: Found,
    missing: &'static str,
    role: impl Fn(Piece) -> Role,
    progress: &dyn Listener,
) -> Result<CscGraph, DatasetError> {
    let Some(found) = arrays.only("the arcs of the graph", |found| found == role(Piece::Indices))? else {
        return Err(arrays.half(offsets, missing));
    };
    let indptr = whole_numbers(arrays.open(offsets)?, 0..=ID_MAX, |offset| offset, progress)?;
    if let Some(shape) = arrays.only("the extents of the graph", |found| found == role(Piece::Shape))? {
        let array = arrays.open(shape)?;
        let path = array.path();
        let (found, nodes) =
            (whole_numbers(array, 0..=ID_MAX, u64::from, &Silent)?, (indptr.len() as u64).saturating_sub(1));
        if found != [nodes, nodes] {
            let accepted = format!("[{nodes}, {nodes}], as there are {} offsets", indptr.len());
            return Err(Problem::Shape { what: "the nodes", found, accepted }.at(&path));
        }
    }
    let largest = indptr.len().saturating_sub(2).min(ID_MAX as usize) as u32;
    let indices = whole_numbers(arrays.open(found)?, 0..=largest, NodeId::new, progress)?;
    CscGraph::new(indptr, indices).map_err(|error| ReadProblem::Graph(error).at(arrays.path()).into())
}

fn transposed(arrays: &Arrays, graph: &CscGraph) -> Result<CscGraph, DatasetError> {
    let arcs = graph.arcs().map(|(target, source)| (source, target));
    CscGraph::from_arcs(graph.nodes(), arcs).map_err(|error| ReadProblem::Graph(error).at(arrays.path()).into())
}

/// The graph of arcs whose two ends an array has: in its two rows, or in its two columns.
fn of_arcs(
    arrays: &mut Arrays,
    found: Found,
    rows_if_unclear: bool,
    progress: &dyn Listener,
) -> Result<CscGraph, DatasetError> {
    let (stated, rows) = (nodes(arrays)?, rows(arrays)?);
    let array = arrays.open(found)?;
    let path = array.path();
    let (arcs, by_rows) = match *array.shape() {
        [2, 2] => (2, rows_if_unclear),
        [2, arcs] => (arcs, true),
        [arcs, 2] => (arcs, false),
        _ => {
            let (found, accepted) = (array.shape().to_vec(), "[2, arcs] or [arcs, 2]".to_owned());
            return Err(Problem::Shape { what: "the arcs", found, accepted }.at(&path));
        }
    };
    if !array.dtype().is_whole() && arcs > 0 {
        let (found, accepted) = (array.dtype().to_string(), "whole numbers");
        return Err(Problem::Type { what: "the ends of arcs", found, accepted }.at(&path));
    }
    if arcs > u64::from(ID_MAX) {
        let accepted = format!("at most {}", 2 * u64::from(ID_MAX));
        return Err(ReadProblem::Length { found: 2 * arcs, accepted }.at(&path).into());
    }
    let max = stated.map_or(ID_MAX - 1, |nodes| nodes.saturating_sub(1));
    let ends = array.elements(progress, |found, element| match whole(found, 0..=max) {
        Some(end) if stated != Some(0) => Ok(NodeId::new(end)),
        _ => Err(Problem::Element { element, found, min: 0, max }),
    })?;
    let named = ends.iter().max().map_or(0, |largest| largest.get() + 1);
    // Rows that are too few are refused where they are read.
    let nodes = stated.unwrap_or_else(|| rows.unwrap_or(0).max(named)) as usize;
    if stated.is_none() && rows.is_none_or(|rows| rows < named) && nodes > (1 << 20) + 16 * arcs as usize {
        return Err(Problem::Sparse { nodes, arcs }.at(&path));
    }
    let needed = 12 * nodes as u64 + 8 * arcs;
    memory::check(needed)
        .map_err(|Shortage { needed, free }| Problem::Memory { what: "the nodes and arcs", needed, free }.at(&path))?;
    let arc = |arc: usize| {
        let (source, destination) = if by_rows { (arc, arc + arcs as usize) } else { (2 * arc, 2 * arc + 1) };
        (ends[source], ends[destination])
    };
    CscGraph::from_arcs(nodes, (0..arcs as usize).map(arc)).map_err(|error| ReadProblem::Graph(error).at(&path).into())
}

/// The number of nodes, where it is stated.
fn nodes(arrays: &mut Arrays) -> Result<Option<u32>, DatasetError> {
    let Some(found) = arrays.only("the number of nodes", |role| role == Role::Nodes)? else { return Ok(None) };
    let array = arrays.open(found)?;
    let (path, found) = (array.path(), array.shape().to_vec());
    if found.iter().any(|&extent| extent != 1) {
        return Err(Problem::Shape { what: "the elements", found, accepted: "[]".to_owned() }.at(&path));
    }
    let nodes = array.elements(&Silent, |found, element| {
        whole(found, 0..=ID_MAX).ok_or(Problem::Element { element, found, min: 0, max: ID_MAX })
    })?;
    Ok(Some(nodes[0]))
}

/// The rows of what has one for each node.
pub(super) fn rows(arrays: &mut Arrays) -> Result<Option<u32>, DatasetError> {
    let mut rows = None;
    for (role, more) in [(Role::Features, 0), (Role::Sparse(Piece::Indptr), 1), (Role::Labels, 0)] {
        if let Some(found) = arrays.only("the rows", |found| found == role)?
            && let Some(&found) = arrays.shape(found)?.first()
        {
            rows = rows.max(Some(found.saturating_sub(more).min(ID_MAX.into()) as u32));
        }
    }
    Ok(rows)
}
