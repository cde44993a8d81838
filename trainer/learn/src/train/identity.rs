//! What a run is made of, so that it is never taken for another one.

use std::collections::BTreeMap;

use golden::{CscGraph, NodeId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Data, Settings,
    digest::{Content, Digest},
    kept,
};
use dataset::Splits;

/// A data set by its content, as training reads it: whatever files it is in, and however they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// Offsets and sources of the edges, in their order.
    pub graph: Digest,
    /// Float32, `[nodes, columns]`, also of those that are stored as a sparse matrix; after `normalise-features`.
    pub features: Digest,
    /// Int64, `[nodes]`, and the number of classes.
    pub labels: Digest,
    /// The nodes of each part, in their order.
    pub split: Digest,
}

impl DataIdentity {
    /// `features` has these rows and columns.
    pub(super) fn of(
        graph: &CscGraph,
        (shape, features): ([usize; 2], &[f32]),
        (labels, classes): (&[i64], usize),
        splits: &Splits,
    ) -> Self {
        let node = |node: NodeId| node.get().to_le_bytes();
        let nodes = |content: Content, nodes: &[NodeId]| content.array("uint32", &[nodes.len()], nodes, node);
        let [indptr, indices] = [graph.indptr().len(), graph.edges()];
        Self {
            graph: Content::new("graph")
                .array("uint32", &[indptr], graph.indptr(), u32::to_le_bytes)
                .array("uint32", &[indices], graph.indices(), node)
                .finish(),
            features: Content::new("features").array("float32", &shape, features, f32::to_le_bytes).finish(),
            labels: Content::new("labels")
                .array("int64", &[labels.len()], labels, i64::to_le_bytes)
                .array("uint64", &[], &[classes as u64], u64::to_le_bytes)
                .finish(),
            split: [&splits.train, &splits.valid, &splits.test]
                .into_iter()
                .fold(Content::new("split"), |content, part| nodes(content, part))
                .finish(),
        }
    }

    fn parts(&self) -> [(&'static str, Digest); 4] {
        let Self { graph, features, labels, split } = *self;
        [("the graph", graph), ("the features", features), ("the labels", labels), ("the split", split)]
    }

    /// In what another data set differs, with the digests of both; `None` if it is the same.
    fn differs(&self, there: &Self) -> Option<String> {
        let pairs = self.parts().into_iter().zip(there.parts()).filter(|((_, here), (_, there))| here != there);
        let difference = |((part, here), (_, there)): ((_, Digest), (_, Digest))| {
            format!("{part} ({} there, {} here)", there.short(), here.short())
        };
        let differences: Vec<_> = pairs.map(difference).collect();
        (!differences.is_empty()).then(|| format!("another data set, which differs in {}", differences.join(" and ")))
    }
}

/// What a run is made of: the same now as when it was begun, or it is another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Identity {
    data: DataIdentity,
    /// Those settings that a run keeps.
    settings: BTreeMap<String, Value>,
}

impl Identity {
    pub(super) fn new(data: &Data, settings: &Settings) -> Self {
        Self { data: *data.identity(), settings: kept::kept(settings) }
    }

    /// A digest of it, by which the files of a run know that they belong together.
    pub(super) fn run(&self) -> Digest {
        let parts = self.data.parts().into_iter();
        let content = parts.fold(Content::new("run"), |content, (_, digest)| content.digest(&digest));
        let setting = |content: Content, (name, value): (&String, &Value)| content.text(name).text(&value.to_string());
        self.settings.iter().fold(content, setting).finish()
    }

    /// In what another run differs, and what to do about it; `None` if it is this run.
    pub(super) fn differs(&self, there: &Self) -> Option<[String; 2]> {
        let settings = || {
            let [difference, advice] = kept::differs(&self.settings, &there.settings)?;
            Some([format!("other settings: {difference}"), advice])
        };
        let data = || {
            let advice = "give the data set that it was made with, or another folder for the results".to_owned();
            Some([self.data.differs(&there.data)?, advice])
        };
        settings().or_else(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Parts {
        graph: CscGraph,
        shape: [usize; 2],
        features: Vec<f32>,
        labels: Vec<i64>,
        classes: usize,
        splits: Splits,
    }

    fn ids(ids: &[u32]) -> Vec<NodeId> {
        ids.iter().copied().map(NodeId::new).collect()
    }

    fn parts() -> Parts {
        Parts {
            graph: CscGraph::new(vec![0, 1, 2, 2], ids(&[1, 0])).unwrap(),
            shape: [3, 2],
            features: vec![1.0, 0.0, 0.0, 0.0, 2.5, 0.0],
            labels: vec![0, 1, 1],
            classes: 2,
            splits: Splits { train: ids(&[0]), valid: ids(&[1]), test: ids(&[2]) },
        }
    }

    fn identity(of: &Parts) -> DataIdentity {
        DataIdentity::of(&of.graph, (of.shape, &of.features), (&of.labels, of.classes), &of.splits)
    }

    /// The parts in which a change shows.
    fn changed(change: impl FnOnce(&mut Parts)) -> Vec<&'static str> {
        let (here, mut there) = (identity(&parts()), parts());
        change(&mut there);
        let there = identity(&there);
        let pairs = here.parts().into_iter().zip(there.parts());
        let names: Vec<_> = pairs.filter(|((_, here), (_, there))| here != there).map(|((name, _), _)| name).collect();
        let sentence = here.differs(&there);
        assert_eq!(sentence.is_none(), names.is_empty());
        for (name, digest) in there.parts() {
            let told =
                sentence.as_ref().is_some_and(|text| text.contains(&format!("{name} ({} there, ", digest.short())));
            assert_eq!(told, names.contains(&name), "{name}: {sentence:?}");
        }
        names
    }

    #[test]
    fn every_part_is_looked_at_and_named() {
        assert_eq!(changed(|_| {}), [""; 0]);
        assert_eq!(changed(|d| d.features[5] = -0.5), ["the features"]);
        // The same bytes in rows of another length.
        assert_eq!(changed(|d| d.shape = [2, 3]), ["the features"]);
        assert_eq!(changed(|d| d.labels[2] = 0), ["the labels"]);
        assert_eq!(changed(|d| d.classes = 3), ["the labels"]);
        let graph = |indptr, indices: &[u32]| CscGraph::new(indptr, ids(indices)).unwrap();
        assert_eq!(changed(|d| d.graph = graph(vec![0, 1, 2, 2], &[1, 2])), ["the graph"]);
        assert_eq!(changed(|d| d.graph = graph(vec![0, 2, 2, 2], &[1, 0])), ["the graph"]);
        assert_eq!(changed(|d| std::mem::swap(&mut d.splits.valid, &mut d.splits.test)), ["the split"]);
        assert_eq!(changed(|d| d.splits.train.append(&mut d.splits.valid)), ["the split"]);
        let both = changed(|d| {
            d.labels[0] = 1;
            d.splits.test.clear();
        });
        assert_eq!(both, ["the labels", "the split"]);
    }
}
