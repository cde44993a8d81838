//! Labels of nodes.

use golden::Silent;
use golden_files::Listener;

use super::{
    array::Array,
    arrays::Arrays,
    error::{DatasetError, Problem},
    names::Role,
};

/// Stands for the label of a node that has none.
pub const NO_LABEL: i64 = -1;

/// The most classes that there may be: a stray number in a file would make a model of gigabytes.
pub const CLASSES_MAX: usize = 1 << 16;

/// Labels and the number of classes.
pub(super) type Labels = (Vec<i64>, usize);

/// Reads the labels of `nodes` nodes, if there are some.
pub(super) fn read(arrays: &mut Arrays, nodes: usize, progress: &dyn Listener) -> Result<Option<Labels>, DatasetError> {
    let classes = match arrays.only("the number of classes", |role| role == Role::Classes)? {
        Some(found) => Some(single(arrays.open(found)?)?),
        None => None,
    };
    match arrays.only("the labels", |role| role == Role::Labels)? {
        Some(found) => of_array(arrays.open(found)?, nodes, classes, progress).map(Some),
        None => Ok(None),
    }
}

/// The number of classes in an array of one element.
fn single(array: impl Array) -> Result<usize, DatasetError> {
    let (path, found) = (array.path(), array.shape().to_vec());
    if found.iter().any(|&extent| extent != 1) {
        return Err(Problem::Shape { what: "the elements", found, accepted: "[]".to_owned() }.at(&path));
    }
    let classes = array.elements(&Silent, |value, _| classes(value))?;
    Ok(classes[0])
}

/// The labels of `nodes` nodes in an array; below `classes`, where that is known.
pub(super) fn of_array(
    array: impl Array,
    nodes: usize,
    classes: Option<usize>,
    progress: &dyn Listener,
) -> Result<Labels, DatasetError> {
    let n = nodes as u64;
    if !matches!(*array.shape(), [rows] | [rows, 1] if rows == n) {
        let found = array.shape().to_vec();
        let hint = match *found {
            [rows, columns] if rows == n && columns > 1 => " (of rows that mark one class each, take argmax(axis=1))",
            _ => "",
        };
        let accepted = format!("[{nodes}] or [{nodes}, 1], one for each node of the graph{hint}");
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
fn classes(value: f64) -> Result<usize, Problem> {
    let whole = (value.fract() == 0.0).then_some(value as i64);
    match whole.and_then(|value| usize::try_from(value).ok()) {
        Some(classes) if classes <= CLASSES_MAX => Ok(classes),
        _ => Err(Problem::Classes { found: value, accepted: format!("whole numbers 0 to {CLASSES_MAX}") }),
    }
}
