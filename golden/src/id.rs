//! The integers of the sampling contract as types, so that a global node id cannot stand where a local one belongs.
//!
//! Each is a 32-bit value in `0 ..= i32::MAX`: the output buffers are int32, and a graph that needs more is refused when
//! it is loaded. The memory of a slice of them is that of an int32 buffer, element for element.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The largest value that any id or position may take: the output buffers are int32.
pub const ID_MAX: u32 = i32::MAX as u32;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
        )]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Wraps `value`, which must be at most [`ID_MAX`].
            ///
            /// # Panics
            /// In debug builds, if it is larger.
            #[inline]
            pub const fn new(value: u32) -> Self {
                debug_assert!(value <= ID_MAX);
                Self(value)
            }

            /// Wraps an index into a Rust slice; at most [`ID_MAX`].
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                debug_assert!(index <= ID_MAX as usize);
                Self(index as u32)
            }

            /// The value as it stands in an int32 buffer.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The value as an index into a Rust slice.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id_type! {
    /// A node of the input graph: its global id, `0 .. N`.
    NodeId
}
id_type! {
    /// A node of a sub-graph: its index in `samples`.
    LocalId
}
id_type! {
    /// An edge of the input graph: its index in the CSC array `indices`, `0 .. E`.
    EdgePos
}
