//! The data sets that a power law can resemble.

use super::{power_law::Law, ratio::Ratio};

/// A data set, by its nodes and its edges in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Arxiv,
    Products,
    Reddit,
}

impl Shape {
    pub(super) const ALL: [Self; 3] = [Self::Arxiv, Self::Products, Self::Reddit];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Arxiv => "arxiv",
            Self::Products => "products",
            Self::Reddit => "reddit",
        }
    }

    const fn law(self) -> Law {
        match self {
            Self::Arxiv => Law { nodes: 169_343, pairs: 2_315_598 / 2, exponent: 250, offset: 1 },
            Self::Products => Law { nodes: 2_449_029, pairs: 123_718_280 / 2, exponent: 230, offset: 180 },
            Self::Reddit => Law { nodes: 232_965, pairs: 114_615_892 / 2, exponent: 250, offset: 150 },
        }
    }

    /// Its power law with `scale`, at most 1, of the nodes and edges. The offset stays, so the largest degree falls more
    /// slowly than the number of nodes, as it does in a power law.
    pub(super) fn scaled(self, scale: Ratio) -> Law {
        let law = self.law();
        let part = |count: u32| scale.of(u64::from(count)) as u32;
        Law { nodes: part(law.nodes), pairs: part(law.pairs), ..law }
    }
}
