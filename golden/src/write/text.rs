//! Graphs as text, one arc a line, by destination: edge lists, CSV and Matrix Market, compressed as the name
//! says.

use std::{
    io::{self, Write},
    path::Path,
};

use super::{error::WriteError, place};
use crate::{
    compression::Compression,
    format::Format,
    graph::CscGraph,
    progress::{Meter, Progress},
};

pub(super) fn write(
    path: &Path,
    graph: &CscGraph,
    format: Format,
    overwrite: bool,
    progress: &dyn Progress,
) -> Result<(), WriteError> {
    place::file(path, "text", overwrite, |out| match Compression::of_name(path) {
        Some(kind) => kind.encode(out, |mut out| lines(&mut out, graph, format, progress)),
        None => lines(out, graph, format, progress),
    })
}

fn lines(out: &mut impl Write, graph: &CscGraph, format: Format, progress: &dyn Progress) -> io::Result<()> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let (separator, first) = match format {
        Format::Csv => (',', 0),
        Format::MatrixMarket => (' ', 1),
        _ => (' ', 0),
    };
    match format {
        Format::Csv => writeln!(out, "source,destination")?,
        Format::MatrixMarket => {
            writeln!(out, "%%MatrixMarket matrix coordinate pattern general\n{nodes} {nodes} {edges}")?;
        }
        _ => writeln!(out, "# source destination; {nodes} nodes, {edges} edges")?,
    }
    let mut meter = Meter::new(progress, "writing edges", edges as u64);
    for ((source, destination), done) in graph.arcs().zip(0..) {
        writeln!(out, "{}{separator}{}", source.get() + first, destination.get() + first)?;
        meter.at(done);
    }
    meter.finish();
    Ok(())
}
