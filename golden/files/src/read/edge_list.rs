//! Edge lists: tables of delimited text with a source and a destination in each record.
//!
//! Names of columns, in the first record or in a comment before it, say which columns these are; without names they are the
//! first two ([`Plan`]). What a file says of itself is compared with how it is read: what its comments state ([`Stated`]), and
//! what its records show ([`Seen`]). Where a file can be understood in two ways, a [`Remark`](crate::Remark) says so.

use super::{
    ReadOptions,
    delimiter::{Delimiter, is_value},
    error::{Problem, ReadError, excerpt},
    plan::Plan,
    seen::Seen,
    source::Source,
    stated::{Konect, Stated},
    table::{Layout, Record, Table},
    text::{LINE_LIMIT, check_density, is_number, whole},
};
use crate::{Listener, format::Format, memory, note::Remark, read::room};
use golden::{CscGraph, GraphError, ID_MAX, NodeId};

const LAYOUT: Layout = Layout { limit: LINE_LIMIT, comments: true, empty_lines: true };

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let path = source.path().to_owned();
    let mut table = Table::open(source, LAYOUT, progress)?;
    let stated = Stated::of(table.comments());
    if stated.matrix_market {
        return Err(table.error(Problem::OtherFormat { format: Format::MatrixMarket }));
    }
    let plan = Plan::of(&mut table, options.columns.as_ref(), stated.konect.is_some())?;
    let first_id = options.first_id.unwrap_or(u32::from(stated.konect.is_some()));
    let mut list = List::read(&mut table, &plan, &stated, (first_id, options.nodes))?;
    let halves = list.halves(&plan, &stated).map_err(|problem| table.error(problem))?;
    let nodes = list.nodes(&stated, options.nodes, halves).map_err(|problem| table.error(problem))?;
    let arcs = list.arcs;

    let mut remarks: Vec<Remark> = plan.remark.into_iter().collect();
    if let Some([left, right]) = halves {
        remarks.push(Remark::Bipartite { left, right, symmetrised: options.symmetrise });
    }
    // A number of nodes that was asked for is meant.
    let counted = options.nodes.is_none().then_some(nodes);
    remarks.extend(list.seen.counts(&stated, halves, counted, &arcs));
    if !options.symmetrise {
        remarks.extend(list.seen.undirected(&stated));
    }
    if options.first_id.is_none() && stated.konect.is_none() {
        remarks.extend(counted.and_then(|nodes| list.seen.first_id(&stated, nodes, &arcs)));
    }
    remarks.extend(list.seen.first_line(&stated));
    remarks.extend(list.seen.line_numbers());
    remarks.into_iter().for_each(|remark| progress.note(&remark.on(&path)));

    room(nodes as usize, arcs.len()).map_err(|problem| table.error(problem))?;
    CscGraph::from_arcs(nodes as usize, arcs.iter().copied()).map_err(|error| table.error(Problem::Graph(error)))
}

/// What the records of an edge list are.
struct List {
    /// Source and destination, from 0.
    arcs: Vec<(NodeId, NodeId)>,
    /// The largest source and the largest destination, each with the line on which it is first seen.
    largest: [Option<(u32, u64)>; 2],
    seen: Seen,
}

impl List {
    fn read(
        table: &mut Table,
        plan: &Plan,
        stated: &Stated,
        (first_id, nodes): (u32, Option<u32>),
    ) -> Result<Self, ReadError> {
        let bounds = |count: Option<u32>| (first_id, first_id.saturating_add(count.unwrap_or(ID_MAX) - 1).min(ID_MAX));
        let mut ends = [bounds(nodes); 2];
        if let (Some(Konect::Bipartite), Some(left)) = (stated.konect, stated.nodes) {
            ends[plan.left_end()] = bounds(Some(left.clamp(1, ID_MAX.into()) as u32));
        }
        let mut list = Self { arcs: Vec::new(), largest: [None; 2], seen: Seen::new(plan) };
        loop {
            let record = match table.next_record() {
                Ok(None) => return Ok(list),
                Ok(Some(record)) => record,
                Err(error) => return Err(adjacency(error, table.delimiter())),
            };
            match list.record(&record, plan, ends) {
                Ok(()) if list.arcs.len() <= ID_MAX as usize => {}
                Ok(()) => {
                    let line = record.line();
                    return Err(table.error(Problem::TooManyEdges { line }));
                }
                Err(problem) => return Err(table.error(problem)),
            }
        }
    }

    fn record(&mut self, record: &Record, plan: &Plan, bounds: [(u32, u32); 2]) -> Result<(), Problem> {
        let [source, destination] = plan.ends;
        let ids = [end(record, source, bounds[0])?, end(record, destination, bounds[1])?];
        if plan.values && record.len() > 2 {
            values(record, plan.ends)?;
        }
        self.seen.record(record, ids, plan)?;
        let arc = [ids[0] - bounds[0].0, ids[1] - bounds[1].0];
        for (largest, id) in self.largest.iter_mut().zip(arc) {
            if largest.is_none_or(|(largest, _)| largest < id) {
                *largest = Some((id, record.line()));
            }
        }
        memory::reserve(&mut self.arcs)?;
        self.arcs.push((NodeId::new(arc[0]), NodeId::new(arc[1])));
        Ok(())
    }

    /// Makes nodes of their own of the ids in the right column of a bipartite network; the nodes of both columns.
    fn halves(&mut self, plan: &Plan, stated: &Stated) -> Result<Option<[u32; 2]>, Problem> {
        if stated.konect != Some(Konect::Bipartite) {
            return Ok(None);
        }
        let found = self.largest.map(|largest| largest.map_or(0, |(id, _)| u64::from(id) + 1));
        let left_end = plan.left_end();
        let left = found[left_end].max(stated.nodes.unwrap_or(0));
        let right = found[1 - left_end].max(stated.right.unwrap_or(0));
        let total = left.saturating_add(right);
        if total > ID_MAX.into() {
            return Err(Problem::Graph(GraphError::TooLarge { what: "nodes", found: total }));
        }
        let (left, right) = (left as u32, right as u32);
        for (source, destination) in &mut self.arcs {
            let moved = if left_end == 0 { destination } else { source };
            *moved = NodeId::new(moved.get() + left);
        }
        if let Some((id, _)) = &mut self.largest[1 - left_end] {
            *id += left;
        }
        Ok(Some([left, right]))
    }

    /// The number of nodes: as it is asked for, or what the file needs or states.
    fn nodes(&self, stated: &Stated, asked: Option<u32>, halves: Option<[u32; 2]>) -> Result<u32, Problem> {
        let largest = self.largest.iter().flatten().copied().max_by_key(|(id, _)| *id);
        let needed = largest.map_or(0, |(id, _)| id + 1);
        if let Some(nodes) = asked {
            let needed = halves.map_or(needed, |[left, right]| left + right);
            return if nodes < needed { Err(Problem::NodesTooFew { nodes, needed }) } else { Ok(nodes) };
        }
        let stated = halves.map(|[left, right]| u64::from(left + right)).or(stated.nodes);
        let (nodes, place) = match (stated, largest) {
            (Some(stated), _) if stated >= needed.into() => (stated, "its header".to_owned()),
            (_, Some((_, line))) => (needed.into(), format!("line {line}")),
            _ => return Err(Problem::NoEdges),
        };
        match u32::try_from(nodes) {
            Ok(nodes) if nodes <= ID_MAX => check_density(nodes, place, self.arcs.len()).map(|()| nodes),
            _ => Err(Problem::Graph(GraphError::TooLarge { what: "nodes", found: nodes })),
        }
    }
}

/// The node id in a column, as it is written.
fn end(record: &Record, place: usize, (min, max): (u32, u32)) -> Result<u32, Problem> {
    let field = record.field(place);
    let (line, found) = (record.line(), || excerpt(field));
    match whole(field) {
        Some(id) if (min..=max).contains(&id) => Ok(id),
        Some(id) if id < min => Err(Problem::BelowFirst { line, found: id, first: min }),
        None if !is_number(field) => Err(Problem::NotAnId { line, column: place + 1, found: found(), min, max }),
        _ => Err(Problem::Id { line, found: found(), min, max }),
    }
}

/// Refuses text in columns that nothing names: who knows what it says.
fn values(record: &Record, ends: [usize; 2]) -> Result<(), Problem> {
    let mut others = record.fields().enumerate().filter(|(place, _)| !ends.contains(place));
    // Some languages have a decimal comma.
    let is_value = |field: &str| is_value(field) || is_value(&field.replacen(',', ".", 1));
    match others.find(|(_, field)| !field.is_empty() && !is_value(field)) {
        None => Ok(()),
        Some((place, field)) => Err(Problem::Unnamed { line: record.line(), column: place + 1, found: excerpt(field) }),
    }
}

/// Lines of different lengths in an edge list are most likely those of an adjacency list.
fn adjacency(error: ReadError, delimiter: Delimiter) -> ReadError {
    match error.problem {
        Problem::Ragged { line, found, first, columns } => {
            Problem::Adjacency { line, found, first, columns, delimiter }.at(&error.path)
        }
        _ => error,
    }
}
