//! Matrix Market coordinate files (Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats: Initial Design",
//! NISTIR 5935, 1996): entry (i, j), 1-based, is the arc i -> j, whatever its value.

use super::{
    ReadOptions,
    error::{Problem, ReadError, excerpt},
    room,
    source::Source,
    text::{Lines, check_density, id, is_number},
};
use crate::{
    arcs::by_destination,
    graph::{CscGraph, GraphError},
    id::{ID_MAX, NodeId},
    memory,
    progress::Progress,
};

const BANNER: &str = "'%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric'";
const SIZE: &str = "'rows columns entries', three whole numbers";

/// What the banner says.
struct Banner {
    /// Entries have a value after row and column.
    values: bool,
    /// An entry below the diagonal stands for its mirror image too.
    symmetric: bool,
}

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Progress) -> Result<CscGraph, ReadError> {
    let mut lines = Lines::new(source, progress);
    let banner = banner(lines.next_line()?.map_or("", |(_, text)| text)).map_err(|problem| lines.error(problem))?;
    let Some((size_line, text)) = lines.next_but(&['%'])? else {
        return Err(lines.error(Problem::NoSize { accepted: SIZE }));
    };
    let (size, stated) = size(size_line, text).map_err(|problem| lines.error(problem))?;
    let mut arcs: Vec<(NodeId, NodeId)> = Vec::new();
    let mut entries = 0;
    while let Some((line, text)) = lines.next_but(&['%'])? {
        let (row, column) = entry(line, text, size, &banner).map_err(|problem| lines.error(problem))?;
        let mirrored = banner.symmetric && row != column;
        if arcs.len() + usize::from(mirrored) >= ID_MAX as usize {
            return Err(lines.error(Problem::TooManyEdges { line }));
        }
        for arc in [(row, column), (column, row)].into_iter().take(1 + usize::from(mirrored)) {
            memory::reserve(&mut arcs).map_err(|shortage| lines.error(shortage.into()))?;
            arcs.push(arc);
        }
        entries += 1;
    }
    if entries != stated {
        return Err(lines.error(Problem::Entries { found: entries, stated }));
    }
    let nodes = match options.nodes {
        Some(nodes) if nodes < size => return Err(lines.error(Problem::NodesTooFew { nodes, needed: size })),
        Some(nodes) => nodes,
        None => {
            check_density(size, size_line, arcs.len()).map_err(|problem| lines.error(problem))?;
            size
        }
    };
    room(nodes as usize, arcs.len()).map_err(|problem| lines.error(problem))?;
    let (indptr, indices) = by_destination(nodes as usize, arcs.iter().copied());
    CscGraph::new(indptr, indices).map_err(|error| lines.error(Problem::Graph(error)))
}

fn banner(text: &str) -> Result<Banner, Problem> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let refused = |found: &str, accepted| Err(Problem::MatrixMarket { found: excerpt(found), accepted });
    let [magic, object, layout, field, symmetry] = words[..] else { return refused(text, BANNER) };
    if magic != "%%matrixmarket" || object != "matrix" {
        return refused(text, BANNER);
    }
    if layout != "coordinate" {
        return refused(layout, "coordinate");
    }
    let values = match field {
        "pattern" => false,
        "real" | "integer" => true,
        _ => return refused(field, "pattern, real or integer"),
    };
    match symmetry {
        "general" => Ok(Banner { values, symmetric: false }),
        "symmetric" => Ok(Banner { values, symmetric: true }),
        _ => refused(symmetry, "general or symmetric"),
    }
}

/// The number of nodes and of entries.
fn size(line: u64, text: &str) -> Result<(u32, u64), Problem> {
    let numbers: Option<Vec<u64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let Some(&[rows, columns, entries]) = numbers.as_deref() else {
        return Err(Problem::Line { line, found: excerpt(text), accepted: SIZE });
    };
    if rows != columns {
        return Err(Problem::NotSquare { rows, columns });
    }
    match u32::try_from(rows) {
        Ok(nodes) if nodes <= ID_MAX => Ok((nodes, entries)),
        _ => Err(Problem::Graph(GraphError::TooLarge { what: "nodes", found: rows })),
    }
}

/// Row and column, 0-based.
fn entry(line: u64, text: &str, size: u32, banner: &Banner) -> Result<(NodeId, NodeId), Problem> {
    let accepted = if banner.values { "'row column value'" } else { "'row column'" };
    let refused = |accepted| Problem::Line { line, found: excerpt(text), accepted };
    let mut words = text.split_whitespace();
    let mut end = || {
        let word = words.next().ok_or_else(|| refused(accepted))?;
        id(word, (line, text), (1, size), accepted).map(|id| NodeId::new(id - 1))
    };
    let (row, column) = (end()?, end()?);
    let values = words.clone().count();
    if values != usize::from(banner.values) || !words.all(is_number) {
        return Err(refused(accepted));
    }
    if banner.symmetric && row < column {
        return Err(refused("an entry on or below the diagonal, for the header says symmetric"));
    }
    Ok((row, column))
}
