//! Items of the pipeline, as `trisage_pkg.sv` has them.

use proptest::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub(crate) const DATA: u32 = 0;
pub(crate) const END: u32 = 1;
pub(crate) const READ_ERROR: u32 = 2;
pub(crate) const CORRUPT: u32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Item {
    pub(crate) kind: u32,
    pub(crate) detail: u32,
    pub(crate) v: u32,
}

impl Item {
    pub(crate) fn data(v: u32) -> Self {
        Self { kind: DATA, detail: 0, v }
    }

    pub(crate) fn is_data(self) -> bool {
        self.kind == DATA
    }
}

/// An End that is told from those of [`items`].
pub(crate) const LAST: Item = Item { kind: END, detail: 0, v: 0x7FFF_FFFF };

/// Mostly data, and everything else that a stage hands on.
pub(crate) fn items() -> impl Strategy<Value = Item> {
    let other = (END..=CORRUPT, 0..16_u32);
    (prop_oneof![9 => Just((DATA, 0)), 1 => other], 0..=0x7FFF_FFFF_u32).prop_map(|((kind, detail), v)| Item {
        kind,
        detail,
        v,
    })
}
