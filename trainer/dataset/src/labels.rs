//! Labels of nodes.

use golden::Progress;

use super::{
    array::Array,
    error::{DatasetError, Problem},
};

/// Stands for the label of a node that has none.
pub const NO_LABEL: i64 = -1;

/// The most classes that there may be: a stray number in a file would make a model of gigabytes.
pub const CLASSES_MAX: usize = 1 << 16;

/// Labels and the number of classes.
pub(super) type Labels = (Vec<i64>, usize);

/// The labels of `nodes` nodes in an array; below `classes`, where that is known.
pub(super) fn read(
    array: impl Array,
    nodes: usize,
    classes: Option<usize>,
    progress: &dyn Progress,
) -> Result<Labels, DatasetError> {
    let n = nodes as u64;
    if !matches!(*array.shape(), [rows] | [rows, 1] if rows == n) {
        let (found, accepted) =
            (array.shape().to_vec(), format!("[{nodes}] or [{nodes}, 1], one for each node of the graph"));
        return Err(Problem::Shape { what: "the labels", found, accepted }.at(&array.path()));
    }
    let labels = array.elements(progress, |value, node| label(value, node, classes))?;
    let classes = classes.unwrap_or_else(|| classes_of(&labels));
    Ok((labels, classes))
}

/// One more than the largest label.
pub(super) fn classes_of(labels: &[i64]) -> usize {
    labels.iter().max().map_or(0, |&largest| usize::try_from(largest + 1).unwrap_or(0))
}

/// The label that a number stands for.
pub(super) fn label(value: f64, node: u64, classes: Option<usize>) -> Result<i64, Problem> {
    let below = classes.unwrap_or(CLASSES_MAX);
    match () {
        () if value.is_nan() => Ok(NO_LABEL),
        () if value.fract() == 0.0 && (-1.0..below as f64).contains(&value) => Ok(value as i64),
        () => {
            let accepted = format!("{}, and -1 or NaN for none", range(below));
            Err(Problem::Label { node, found: value, accepted })
        }
    }
}

/// The labels of so many classes, in words.
fn range(classes: usize) -> String {
    match classes {
        0 => "none".to_owned(),
        classes => format!("whole numbers 0 to {}", classes - 1),
    }
}

/// The number of classes that a number stands for.
pub(super) fn classes(value: f64) -> Result<usize, Problem> {
    let whole = (value.fract() == 0.0).then_some(value as i64);
    match whole.and_then(|value| usize::try_from(value).ok()) {
        Some(classes) if classes <= CLASSES_MAX => Ok(classes),
        _ => Err(Problem::Classes { found: value, accepted: format!("whole numbers 0 to {CLASSES_MAX}") }),
    }
}
