//! Lines of cells.

use std::path::Path;

use golden::{
    Progress,
    read::{Lines, Source, fields},
};

use crate::dataset::error::DatasetError;

/// The longest line: features of ten thousands of columns.
const LINE_LIMIT: usize = 1 << 20;

/// Hands on the number of each line and its cells.
pub(super) fn each(
    path: &Path,
    progress: &dyn Progress,
    mut take: impl FnMut(u64, &[&str]) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut lines = Lines::bounded(Source::open(path)?, LINE_LIMIT, progress);
    while let Some((line, text)) = lines.next_line()? {
        let cells: Vec<_> = fields(text).collect();
        take(line, if cells.is_empty() { &[""] } else { &cells })?;
    }
    Ok(())
}
