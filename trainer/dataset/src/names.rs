//! What the names of arrays mean, whatever file they are in.
//!
//! Case does not matter, and `-` and `.` count as `_`.

/// What an array holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Features, a row for each node.
    Features,
    /// A piece of sparse features.
    Sparse(Piece),
    /// The labels.
    Labels,
    /// The number of classes.
    Classes,
    /// A part of the split.
    Part(Part, Form),
    /// Offsets and arcs of the graph, by destination, as in a graph folder.
    Csc(Piece),
    /// The same by source, as in Planetoid's adjacency lists.
    Lists(Piece),
    /// A piece of the adjacency matrix by rows, which are sources.
    Adjacency(Piece),
    /// The two ends of every arc: `[2, arcs]`.
    EdgeIndex,
    /// The two ends of every arc: `[arcs, 2]`.
    Edges,
    /// The number of nodes.
    Nodes,
}

/// A piece of a sparse matrix by rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Indptr,
    Indices,
    Values,
    Shape,
}

/// A part of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Train,
    Valid,
    Test,
}

/// How a part is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Node ids.
    Ids,
    /// A mark for each node.
    Mask,
    /// The name does not say it: bools are marks, whole numbers are ids.
    Either,
}

const FEATURES: [&str; 9] =
    ["features", "feature", "feats", "feat", "x", "node_features", "node_feature", "node_feats", "node_feat"];
const LABELS: [&str; 7] = ["labels", "label", "y", "node_labels", "node_label", "targets", "target"];
const CLASSES: [&str; 2] = ["num_classes", "n_classes"];
const SPARSE: [&str; 4] = ["feat", "features", "attr", "attr_matrix"];
const ADJACENCY: [&str; 2] = ["adj", "adj_matrix"];
const NODES: [&str; 2] = ["num_nodes", "n_nodes"];
const PIECES: [(&str, Piece); 5] = [
    ("indptr", Piece::Indptr),
    ("indices", Piece::Indices),
    ("values", Piece::Values),
    ("data", Piece::Values),
    ("shape", Piece::Shape),
];
const PARTS: [(&str, Part); 5] = [
    ("train", Part::Train),
    ("val", Part::Valid),
    ("valid", Part::Valid),
    ("validation", Part::Valid),
    ("test", Part::Test),
];
const FORMS: [(&str, Form); 9] = [
    ("idx", Form::Ids),
    ("index", Form::Ids),
    ("indices", Form::Ids),
    ("id", Form::Ids),
    ("ids", Form::Ids),
    ("nid", Form::Ids),
    ("nids", Form::Ids),
    ("mask", Form::Mask),
    ("masks", Form::Mask),
];

/// The names that are known, as they read in a sentence.
pub(super) const KNOWN: &str = "features, feature, feats, feat, x or node_feat (features), labels, label, y, node_label or \
                                targets (labels), and train, val (valid, validation) and test, alone or with _idx, _index, \
                                _indices, _ids, _nid, _mask or _masks (split)";

/// What an array of this name holds; `None` if the name says nothing.
pub(super) fn role(name: &str) -> Option<Role> {
    let name = normalised(name);
    let name = name.as_str();
    let is = |names: &[&str]| names.contains(&name);
    match name {
        "edge_index" => return Some(Role::EdgeIndex),
        "edges" | "edge_list" => return Some(Role::Edges),
        _ if is(&FEATURES) => return Some(Role::Features),
        _ if is(&LABELS) => return Some(Role::Labels),
        _ if is(&CLASSES) => return Some(Role::Classes),
        _ if is(&NODES) => return Some(Role::Nodes),
        _ => {}
    }
    if let Some(piece) = named(&PIECES[..2], name) {
        return Some(Role::Csc(piece));
    }
    if let Some(part) = named(&PARTS, name) {
        return Some(Role::Part(part, Form::Either));
    }
    let (start, end) = name.rsplit_once('_')?;
    if let Some(piece) = named(&PIECES, end) {
        match start {
            "raw" if piece != Piece::Values => return Some(Role::Lists(piece)),
            _ if SPARSE.contains(&start) => return Some(Role::Sparse(piece)),
            _ if ADJACENCY.contains(&start) => return Some(Role::Adjacency(piece)),
            _ => {}
        }
    }
    // Both orders are usual: train_idx and idx_train.
    let part = |part, form| Some(Role::Part(named(&PARTS, part)?, named(&FORMS, form)?));
    part(start, end).or_else(|| part(end, start))
}

/// The piece of a sparse matrix that an array of this name is in a file of `SciPy`'s.
pub(super) fn piece(name: &str) -> Option<Piece> {
    named(&PIECES, name)
}

/// Whether files of this name hold several arrays of a data set, none of which it names.
pub(super) fn is_split(name: &str) -> bool {
    ["split", "splits", "split_idx", "masks"].contains(&normalised(name).as_str())
}

fn normalised(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|&(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_people_use() {
        let cases = [
            ("X", Role::Features),
            ("node-feat", Role::Features),
            ("features", Role::Features),
            ("feat_indptr", Role::Sparse(Piece::Indptr)),
            ("attr_matrix.data", Role::Sparse(Piece::Values)),
            ("y", Role::Labels),
            ("Node_Label", Role::Labels),
            ("num_classes", Role::Classes),
            ("train_masks", Role::Part(Part::Train, Form::Mask)),
            ("validation-mask", Role::Part(Part::Valid, Form::Mask)),
            ("val_idx", Role::Part(Part::Valid, Form::Ids)),
            ("idx_val", Role::Part(Part::Valid, Form::Ids)),
            ("test_indices", Role::Part(Part::Test, Form::Ids)),
            ("valid", Role::Part(Part::Valid, Form::Either)),
            ("indices", Role::Csc(Piece::Indices)),
            ("raw_indptr", Role::Lists(Piece::Indptr)),
            ("adj_data", Role::Adjacency(Piece::Values)),
            ("edge_index", Role::EdgeIndex),
            ("edges", Role::Edges),
            ("num_nodes", Role::Nodes),
        ];
        for (name, expected) in cases {
            assert_eq!(role(name), Some(expected), "{name}");
        }
        for name in
            ["", "_", "train_", "_mask", "train_labels", "weights", "label_indices", "edge_attr", "raw_data", "xx"]
        {
            assert_eq!(role(name), None, "{name}");
        }
    }

    /// Every name of the sentence means what the sentence says.
    #[test]
    fn the_sentence_is_true() {
        let (mut words, mut features, mut labels) = (KNOWN.split([' ', ',', '(', ')']).filter(|w| !w.is_empty()), 0, 0);
        for word in words.by_ref().take_while(|word| *word != "and") {
            match role(word) {
                Some(Role::Features) => features += 1,
                Some(Role::Labels) => labels += 1,
                found => assert_eq!((word, found), ("or", None)),
            }
        }
        // Each kind is also named in brackets.
        assert_eq!((features, labels), (7, 6));
        let rest: Vec<_> = words.collect();
        for part in ["train", "val", "valid", "validation", "test"] {
            assert!(rest.contains(&part));
            for form in rest.iter().filter(|word| word.starts_with('_')) {
                assert!(matches!(role(&format!("{part}{form}")), Some(Role::Part(..))), "{part}{form}");
            }
        }
    }
}
