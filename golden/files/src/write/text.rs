//! Graphs as text, one arc a line, by destination (edge lists, CSV, Matrix Market), or one node a line (METIS),
//! compressed as the name says.

use std::{
    io::{self, Write},
    iter,
    path::Path,
};

use super::{
    error::{WriteError, WriteProblem},
    place,
};
use crate::{Listener, compression::Compression, format::Format, note::Remark};
use golden::{CscGraph, Meter};

pub(super) fn write(
    path: &Path,
    graph: &CscGraph,
    format: Format,
    overwrite: bool,
    progress: &dyn Listener,
) -> Result<(), WriteError> {
    if format == Format::Metis {
        check_undirected(graph).map_err(|problem| problem.at(path))?;
    }
    let write = |out: &mut dyn Write| match format {
        Format::Metis => adjacency(out, graph, progress),
        _ => arcs(out, graph, format, progress),
    };
    place::file(path, "text", overwrite, |out| match Compression::of_name(path) {
        Some(kind) => kind.encode(out, write),
        None => write(out),
    })?;
    if format == Format::Csv && needs_count(graph) {
        progress.note(&Remark::NodesUnstated { nodes: graph.nodes() as u32 }.on(path));
    }
    Ok(())
}

/// One arc a line.
fn arcs(out: &mut dyn Write, graph: &CscGraph, format: Format, progress: &dyn Listener) -> io::Result<()> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let (separator, first) = match format {
        Format::Csv => (',', 0),
        Format::MatrixMarket => (' ', 1),
        _ => (' ', 0),
    };
    match format {
        Format::Csv => writeln!(out, "source,target")?,
        Format::MatrixMarket => {
            writeln!(out, "%%MatrixMarket matrix coordinate pattern general\n{nodes} {nodes} {edges}")?;
        }
        // As in the files of SNAP; the reader takes the numbers from there.
        _ => writeln!(out, "# Nodes: {nodes} Edges: {edges}\n# source target")?,
    }
    let mut meter = Meter::new(progress, "writing edges", edges as u64);
    for ((source, destination), done) in graph.arcs().zip(0..) {
        writeln!(out, "{}{separator}{}", source.get() + first, destination.get() + first)?;
        meter.at(done);
    }
    meter.finish();
    Ok(())
}

/// One node a line, with its neighbours: METIS.
fn adjacency(out: &mut dyn Write, graph: &CscGraph, progress: &dyn Listener) -> io::Result<()> {
    writeln!(out, "{} {}", graph.nodes(), graph.edges() / 2)?;
    let mut meter = Meter::new(progress, "writing edges", graph.edges() as u64);
    for extent in graph.indptr().windows(2) {
        let neighbours = &graph.indices()[extent[0] as usize..extent[1] as usize];
        for (neighbour, before) in neighbours.iter().zip(iter::once("").chain(iter::repeat(" "))) {
            write!(out, "{before}{}", neighbour.get() + 1)?;
        }
        writeln!(out)?;
        meter.at(extent[1].into());
    }
    meter.finish();
    Ok(())
}

/// Whether METIS's format can hold the graph.
fn check_undirected(graph: &CscGraph) -> Result<(), WriteProblem> {
    if let Some((node, _)) = graph.arcs().find(|(source, destination)| source == destination) {
        return Err(WriteProblem::SelfLoop { node });
    }
    let one_way = graph.one_way();
    one_way.map_or(Ok(()), |(from, to)| Err(WriteProblem::OneWay { from, to }))
}

/// Whether the arcs alone do not tell the number of nodes.
fn needs_count(graph: &CscGraph) -> bool {
    let largest = graph.arcs().map(|(source, destination)| source.max(destination).index()).max();
    largest.map_or(0, |largest| largest + 1) < graph.nodes()
}
