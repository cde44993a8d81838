//! Matrix Market coordinate files (Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats: Initial Design",
//! NISTIR 5935, 1996): entry (i, j), 1-based, is the arc i -> j, whatever its value, also 0.
//!
//! An entry of a symmetric, skew-symmetric or Hermitian matrix stands for its mirror image, too. The standard has such
//! entries on or below the diagonal only; files with those above it, or with both, are common and read as `scipy.io.mmread`
//! reads them.

use super::{
    ReadOptions,
    error::{Problem, ReadError, excerpt},
    room,
    source::Source,
    text::{Lines, check_density, id},
};
use crate::{Listener, memory, note::Remark};
use golden::{CscGraph, GraphError, ID_MAX, NodeId};

const BANNER: &str = "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'";
const FIELDS: &str = "pattern, real, double, integer, unsigned-integer and complex";
const SYMMETRIES: &str = "general, symmetric, skew-symmetric and hermitian";
const SIZE: &str = "'rows columns entries', three whole numbers";

/// What the banner says.
struct Banner {
    /// The numbers that an entry has after row and column.
    values: usize,
    symmetry: Symmetry,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    /// Also Hermitian: an entry off the diagonal stands for its mirror image, too.
    Mirrored,
    /// The same, and there are none on the diagonal.
    Skew,
}

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let path = source.path().to_owned();
    let mut lines = Lines::new(source, progress);
    let banner = banner(lines.next_line()?.map_or("", |(_, text)| text)).map_err(|problem| lines.error(problem))?;
    let Some((size_line, text)) = lines.next_but(&['%'])? else {
        return Err(lines.error(Problem::NoSize { accepted: SIZE }));
    };
    let (size, stated) = size(size_line, text).map_err(|problem| lines.error(problem))?;
    let mut arcs: Vec<(NodeId, NodeId)> = Vec::new();
    let mut entries = 0;
    // The first lines with an entry above and below the diagonal.
    let (mut above, mut below) = (None, None);
    while let Some((line, text)) = lines.next_but(&['%'])? {
        let (row, column) = entry(line, text, size, &banner).map_err(|problem| lines.error(problem))?;
        let mirrored = banner.symmetry != Symmetry::General && row != column;
        if arcs.len() + usize::from(mirrored) >= ID_MAX as usize {
            return Err(lines.error(Problem::TooManyEdges { line }));
        }
        if mirrored && row < column {
            above.get_or_insert(line);
        } else if mirrored {
            below.get_or_insert(line);
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
            let place = format!("line {size_line}");
            check_density(size, place, arcs.len()).map_err(|problem| lines.error(problem))?;
            size
        }
    };
    if let (Some(above), Some(below)) = (above, below) {
        progress.note(&Remark::BothTriangles { above, below }.on(&path));
    }
    room(nodes as usize, arcs.len()).map_err(|problem| lines.error(problem))?;
    CscGraph::from_arcs(nodes as usize, arcs.iter().copied()).map_err(|error| lines.error(Problem::Graph(error)))
}

fn banner(text: &str) -> Result<Banner, Problem> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let refused = |found: &str, accepted| Err(Problem::MatrixMarket { found: excerpt(found), accepted });
    let [magic, object, layout, field, symmetry] = words[..] else { return refused(text, BANNER) };
    // The standard has two percent signs; Network Repository's files have one.
    if !matches!(magic, "%%matrixmarket" | "%matrixmarket") || object != "matrix" {
        return refused(text, BANNER);
    }
    if layout != "coordinate" {
        return refused(layout, "coordinate, a sparse matrix");
    }
    let values = match field {
        "pattern" => 0,
        "real" | "double" | "integer" | "unsigned-integer" => 1,
        "complex" => 2,
        _ => return refused(field, FIELDS),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" | "hermitian" => Symmetry::Mirrored,
        "skew-symmetric" => Symmetry::Skew,
        _ => return refused(symmetry, SYMMETRIES),
    };
    Ok(Banner { values, symmetry })
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
    let accepted = ["'row column'", "'row column value'", "'row column real imaginary'"][banner.values];
    let refused = |accepted| Problem::Line { line, found: excerpt(text), accepted };
    let mut words = text.split_whitespace();
    let mut end = || {
        let word = words.next().ok_or_else(|| refused(accepted))?;
        id(word, (line, text), (1, size), accepted).map(|id| NodeId::new(id - 1))
    };
    let (row, column) = (end()?, end()?);
    if words.clone().count() != banner.values {
        return Err(refused(accepted));
    }
    if let Some(found) = words.find(|word| !is_matrix_value(word)) {
        return Err(Problem::Value { line, found: excerpt(found) });
    }
    if banner.symmetry == Symmetry::Skew && row == column {
        return Err(refused("an entry off the diagonal, for the header says skew-symmetric"));
    }
    Ok((row, column))
}

/// Whether a word is a number as C, Python or Fortran (`1.0D+00`) write it, nan and inf included.
fn is_matrix_value(word: &str) -> bool {
    word.parse::<f64>().is_ok() || word.replace(['d', 'D'], "e").parse::<f64>().is_ok()
}
