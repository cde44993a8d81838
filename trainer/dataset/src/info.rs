//! What a data set is like.

use serde::Serialize;

use super::{Dataset, Features};
use crate::stats::GraphStats;

/// Figures of a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatasetInfo {
    /// Of its graph.
    pub graph: GraphStats,
    /// Of its features.
    pub features: FeatureInfo,
    /// How many classes there are.
    pub classes: usize,
    /// Nodes with a label.
    pub labelled: usize,
    /// The classes that have nodes, those with the most first.
    pub class_counts: Vec<ClassCount>,
    /// Of its split.
    pub splits: SplitInfo,
}

/// Figures of features.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureInfo {
    /// "dense", "sparse" or "none".
    pub kind: &'static str,
    /// Numbers of a node.
    pub columns: usize,
    /// Bytes in memory.
    pub bytes: usize,
    /// Numbers that are not 0.
    pub nonzeros: usize,
    /// Their share of all; 0 if there are none.
    pub density: f64,
}

/// How often a class occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub class: i64,
    /// Its nodes.
    pub nodes: usize,
}

/// Nodes of each part of a split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitInfo {
    /// To train with.
    pub train: usize,
    /// To choose a model by.
    pub valid: usize,
    /// To judge it by.
    pub test: usize,
}

impl DatasetInfo {
    /// Looks at every part; needs as much memory again as the graph.
    pub fn of(dataset: &Dataset) -> Self {
        let mut nodes = vec![0; dataset.classes];
        // A node without a label has a negative one.
        for class in dataset.labels.iter().filter_map(|&label| usize::try_from(label).ok()) {
            nodes[class] += 1;
        }
        let classes = (0..).zip(nodes).filter(|&(_, nodes)| nodes > 0);
        let mut class_counts: Vec<_> = classes.map(|(class, nodes)| ClassCount { class, nodes }).collect();
        class_counts.sort_by_key(|count| std::cmp::Reverse(count.nodes));
        let splits = &dataset.splits;
        Self {
            graph: GraphStats::of(&dataset.graph),
            features: FeatureInfo::of(&dataset.features),
            classes: dataset.classes,
            labelled: class_counts.iter().map(|count| count.nodes).sum(),
            class_counts,
            splits: SplitInfo { train: splits.train.len(), valid: splits.valid.len(), test: splits.test.len() },
        }
    }
}

impl FeatureInfo {
    fn of(features: &Features) -> Self {
        let (columns, nonzeros) = (features.columns(), features.nonzeros());
        let kind = match features {
            _ if columns == 0 => "none",
            Features::Dense(_) => "dense",
            Features::Sparse(_) => "sparse",
        };
        let all = features.rows() as f64 * columns as f64;
        let density = if all == 0.0 { 0.0 } else { nonzeros as f64 / all };
        Self { kind, columns, bytes: features.bytes(), nonzeros, density }
    }
}
