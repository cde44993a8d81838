//! METIS graphs (G. Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", version 5.1.0, section 4.1.1):
//! a line `NODES EDGES [FMT [NCON]]`, and then a line for each node that lists its neighbours, counted from 1.
//!
//! FMT says what else stands there: its last digit weights of edges, the one before it NCON weights of the node at the start
//! of its line, the one before that a size. A graph of this format has no direction and no self-loops: an edge is on the
//! lines of both its nodes, and EDGES counts it once. The in-neighbours of a node stand in the order of its line.

use super::{
    error::{Problem, ReadError, excerpt},
    source::Source,
    text::{Lines, is_number, whole},
};
use crate::Listener;
use golden::{CscGraph, GraphError, ID_MAX, NodeId};

/// The longest line: a hub with a hundred million neighbours.
const LINE_LIMIT: usize = 1 << 30;

const HEADER: &str =
    "'nodes edges', two whole numbers, and what METIS has after them: FMT, three digits 0 or 1, and NCON";

/// What the first line says.
struct Header {
    nodes: u32,
    edges: u64,
    /// Numbers before the neighbours on each line: a size and weights of the node.
    before: usize,
    /// A weight stands after each neighbour.
    weights: bool,
}

pub(super) fn read(source: Source, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let mut lines = Lines::bounded(source, LINE_LIMIT, progress);
    let Some((line, text)) = lines.next_but(&['%'])? else {
        return Err(lines.error(Problem::NoSize { accepted: HEADER }));
    };
    let header = header(line, text).map_err(|problem| lines.error(problem))?;
    let (mut indptr, mut indices) = (vec![0], Vec::new());
    while let Some((line, text)) = lines.next_line()? {
        if text.starts_with('%') {
            continue;
        }
        let node = indptr.len() - 1;
        if node == header.nodes as usize {
            if text.is_empty() {
                continue;
            }
            return Err(lines.error(Problem::NodeLines { found: Err(line), stated: header.nodes }));
        }
        neighbours(line, text, node as u32, &header, &mut indices).map_err(|problem| lines.error(problem))?;
        if indices.len() > ID_MAX as usize {
            return Err(lines.error(Problem::TooManyEdges { line }));
        }
        indptr.push(indices.len() as u32);
    }
    let (found, stated) = (indptr.len() - 1, header.nodes);
    if found < stated as usize {
        return Err(lines.error(Problem::NodeLines { found: Ok(found), stated }));
    }
    if indices.len() as u64 != 2 * header.edges {
        return Err(lines.error(Problem::Neighbours { found: indices.len(), stated: header.edges }));
    }
    let graph = CscGraph::new(indptr, indices).map_err(|error| lines.error(Problem::Graph(error)))?;
    match graph.one_way() {
        None => Ok(graph),
        Some((neighbour, node)) => {
            Err(lines.error(Problem::OneWay { node: node.get() + 1, neighbour: neighbour.get() + 1 }))
        }
    }
}

fn header(line: u64, text: &str) -> Result<Header, Problem> {
    let refused = || Problem::Line { line, found: excerpt(text), accepted: HEADER };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (nodes, edges, more) = match &words[..] {
        [nodes, edges, more @ ..] if more.len() <= 2 => (nodes, edges, more),
        _ => return Err(refused()),
    };
    let nodes: u64 = nodes.parse().map_err(|_| refused())?;
    let edges: u64 = edges.parse().map_err(|_| refused())?;
    for (what, found) in [("nodes", nodes), ("edges", edges.saturating_mul(2))] {
        if found > ID_MAX.into() {
            return Err(Problem::Graph(GraphError::TooLarge { what, found }));
        }
    }
    let fmt = more.first().unwrap_or(&"0");
    if fmt.len() > 3 || !fmt.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
        return Err(refused());
    }
    let digit = |from_the_end: usize| fmt.bytes().rev().nth(from_the_end) == Some(b'1');
    let constraints = match more.get(1) {
        Some(word) => word.parse::<u8>().map_err(|_| refused())?.into(),
        None => 1,
    };
    if more.len() == 2 && constraints > 0 && !digit(1) {
        return Err(refused());
    }
    let before = usize::from(digit(2)) + if digit(1) { constraints } else { 0 };
    Ok(Header { nodes: nodes as u32, edges, before, weights: digit(0) })
}

/// Appends the neighbours of a node, counted from 0.
fn neighbours(line: u64, text: &str, node: u32, header: &Header, indices: &mut Vec<NodeId>) -> Result<(), Problem> {
    let mut words = text.split_ascii_whitespace();
    let value = |found: &str| Problem::Value { line, found: excerpt(found) };
    for _ in 0..header.before {
        match words.next() {
            Some(word) if is_number(word) => {}
            Some(word) => return Err(value(word)),
            None => return Err(Problem::NodeWeights { line, accepted: header.before }),
        }
    }
    while let Some(word) = words.next() {
        let id = match whole(word) {
            Some(id) if (1..=header.nodes).contains(&id) => id - 1,
            _ => {
                let (found, max) = (excerpt(word), header.nodes);
                return Err(Problem::Id { line, found, min: 1, max });
            }
        };
        if id == node {
            return Err(Problem::SelfLoop { line, node: node + 1 });
        }
        indices.push(NodeId::new(id));
        if header.weights {
            match words.next() {
                Some(word) if is_number(word) => {}
                Some(word) => return Err(value(word)),
                None => return Err(Problem::EdgeWeight { line, neighbour: id + 1 }),
            }
        }
    }
    Ok(())
}
