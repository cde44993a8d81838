//! Masks of one split and of several.

use dataset::Dataset;
use golden::Silent;

use super::{Files, array, bools, graph, int64, npy, parts};

fn masks(train: Vec<u8>, valid: Vec<u8>, test: Vec<u8>) -> Files {
    Files::new(graph().into_iter().chain([
        ("train_masks.npy", train),
        ("val_masks.npy", valid),
        ("test_masks.npy", test),
    ]))
}

/// The parts of split `split`, or the sentence why there are none.
fn load(files: &Files, split: Option<usize>) -> Result<[Vec<u32>; 3], String> {
    let dataset = Dataset::load_split(files.path(), split, &Silent);
    dataset.map(|dataset| parts(&dataset.splits)).map_err(|error| super::sentence(&error, files.path()))
}

/// Of three splits and four nodes: train, valid and test.
const SPLITS: [[[u8; 4]; 3]; 3] = [
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]],
    [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]],
    [[0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]],
];

/// The marks of one part, split after split.
fn by_splits(part: usize) -> Vec<u8> {
    SPLITS.iter().flat_map(|split| split[part]).collect()
}

/// The marks of one part, node after node.
fn by_nodes(part: usize) -> Vec<u8> {
    (0..4).flat_map(|node| SPLITS.map(|split| split[part][node])).collect()
}

#[test]
fn several_splits() {
    let wide = |dtype: &str, width: usize, shape: &str, marks: Vec<u8>| {
        npy(dtype, shape, marks.into_iter().flat_map(|mark| [vec![mark], vec![0; width - 1]].concat()))
    };
    let every: [&dyn Fn(usize) -> Vec<u8>; 5] = [
        &|part| bools("(3, 4)", &by_splits(part)),
        &|part| bools("(4, 3)", &by_nodes(part)),
        &|part| wide("|u1", 1, "(3, 4)", by_splits(part)),
        &|part| wide("<i8", 8, "(4, 3)", by_nodes(part)),
        // By columns the bytes of the one are those of the other.
        &|part| array("|b1", "True", "(4, 3)", by_splits(part)),
    ];
    for file in every {
        let files = masks(file(0), file(1), file(2));
        assert_eq!(load(&files, Some(0)), Ok([vec![0], vec![1], vec![2, 3]]));
        assert_eq!(load(&files, Some(1)), Ok([vec![1, 2], vec![0], vec![3]]));
        assert_eq!(load(&files, Some(2)), Ok([vec![3], vec![2], vec![0, 1]]));
        assert_eq!(
            load(&files, None).unwrap_err(),
            "train_masks.npy: there are 3 splits in it; choose one of 0 to 2 (--split)"
        );
        assert_eq!(load(&files, Some(3)).unwrap_err(), "train_masks.npy: there is no split 3; accepted is 0 to 2");
    }
}

#[test]
fn one_split() {
    let file = |shape: &'static str| move |part: usize| bools(shape, &SPLITS[0][part]);
    for shape in ["(4,)", "(4, 1)", "(1, 4)"] {
        let file = file(shape);
        let files = masks(file(0), file(1), file(2));
        for split in [None, Some(0)] {
            assert_eq!(load(&files, split), Ok([vec![0], vec![1], vec![2, 3]]), "{shape}");
        }
        let found = load(&files, Some(1)).unwrap_err();
        assert_eq!(found, "there is no split 1; accepted is 0, the only one");
    }
    // Where one mask is of one split and the others are of several, it is for each of them.
    let test = bools("(4,)", &[0, 0, 0, 0]);
    let files = masks(bools("(3, 4)", &by_splits(0)), bools("(4, 3)", &by_nodes(1)), test);
    assert_eq!(load(&files, Some(2)), Ok([vec![3], vec![2], vec![]]));
    // Without a split there is nothing to choose.
    assert_eq!(
        load(&Files::new(graph()), Some(0)).unwrap_err(),
        "there are no splits to choose from; accepted is train_masks, val_masks and test_masks, each of the extents [splits, \
         nodes]"
    );
}

#[test]
fn masks_that_are_none() {
    let none = || bools("(4,)", &[0; 4]);
    let some = || bools("(4,)", &[1, 0, 0, 0]);
    let accepted = "accepted is [4], one for each node of the graph, or [splits, 4] or [4, splits]";
    let cases = [
        (bools("(3,)", &[1; 3]), format!("the marks have the extents [3]; {accepted}")),
        (bools("()", &[1]), format!("the marks have the extents []; {accepted}")),
        (bools("(0, 4)", &[]), format!("the marks have the extents [0, 4]; {accepted}")),
        (bools("(2, 2)", &[1; 4]), format!("the marks have the extents [2, 2]; {accepted}")),
        (bools("(1, 4, 1)", &[1; 4]), format!("the marks have the extents [1, 4, 1]; {accepted}")),
        (
            bools("(4, 4)", &[1; 16]),
            "the marks have the extents [4, 4]; accepted is [4], one split: which of two equal extents counts the splits is \
             not known"
                .to_owned(),
        ),
        (
            npy("|u1", "(4,)", [0, 1, 2, 0]),
            "the mask of node 2 is 2; accepted are 0 and 1 (node ids belong in train_idx and the like)".to_owned(),
        ),
        (
            int64(&[0, -1, 0, 0]),
            "the mask of node 1 is -1; accepted are 0 and 1 (node ids belong in train_idx and the like)".to_owned(),
        ),
        (
            npy("<f4", "(4,)", [0; 16]),
            "the marks are of type float32; accepted are bool, and whole numbers 0 and 1".to_owned(),
        ),
        (none(), "no node is in it; there must be one to train with".to_owned()),
    ];
    for (train, found) in cases {
        assert_eq!(load(&masks(train, none(), none()), None).unwrap_err(), format!("train_masks.npy: {found}"));
    }
    assert_eq!(
        load(&masks(some(), none(), some()), None).unwrap_err(),
        "test_masks.npy: node 0 is given twice, first in train_masks.npy; the parts of a split are distinct and disjoint"
    );
    let (three, two) = (bools("(3, 4)", &by_splits(0)), bools("(2, 4)", &[0; 8]));
    assert_eq!(
        load(&masks(three.clone(), two, none()), Some(1)).unwrap_err(),
        "val_masks.npy: there are 2 splits in it; accepted are 3, as in train_masks.npy"
    );
    // A mark of another split is looked at, too.
    let mut spoilt = by_splits(1);
    spoilt[2] = 7;
    assert_eq!(
        load(&masks(three, npy("|u1", "(3, 4)", spoilt), none()), Some(1)).unwrap_err(),
        "val_masks.npy: the mask of node 2 is 7; accepted are 0 and 1 (node ids belong in train_idx and the like)"
    );
}
