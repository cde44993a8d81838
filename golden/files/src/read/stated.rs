//! What the comments at the start of an edge list say about it.
//!
//! KONECT's files start with `% sym unweighted` (or `asym`, `bip`, and other weights) and `% EDGES NODES NODES`; their ids start
//! at 1 (J. Kunegis, "Handbook of Network Analysis: The KONECT Project"). SNAP's have `# Nodes: 5 Edges: 7`, which we write
//! too, `# Directed graph` or `# Undirected graph`, and `# FromNodeId ToNodeId` for the columns.

/// What is said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// The kind of network, in a file of KONECT.
    pub(super) konect: Option<Konect>,
    /// The number of edges.
    pub(super) edges: Option<u64>,
    /// The number of nodes; of a bipartite network in the first column.
    pub(super) nodes: Option<u64>,
    /// In a bipartite network: the number of nodes in the second column.
    pub(super) right: Option<u64>,
    /// The words that say that edges have no direction.
    pub(super) undirected: Option<String>,
    /// It is a Matrix Market file.
    pub(super) matrix_market: bool,
}

/// Kinds of networks in KONECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Konect {
    /// Directed.
    Asymmetric,
    /// Undirected, each edge on one line.
    Symmetric,
    /// The two columns number different nodes.
    Bipartite,
}

impl Konect {
    fn of(comment: &str) -> Option<Self> {
        const WEIGHTS: [&str; 9] = [
            "unweighted",
            "positive",
            "posweighted",
            "multiposweighted",
            "signed",
            "multisigned",
            "weighted",
            "multiweighted",
            "dynamic",
        ];
        let mut words = comment.split_whitespace();
        let kind = match words.next()? {
            "sym" => Self::Symmetric,
            "asym" => Self::Asymmetric,
            "bip" => Self::Bipartite,
            _ => return None,
        };
        words.next().is_some_and(|weights| WEIGHTS.contains(&weights)).then_some(kind)
    }
}

impl Stated {
    /// What these comments say, which come without the sign that starts them.
    pub(super) fn of(comments: &[String]) -> Self {
        let mut stated = Self { konect: comments.first().and_then(|first| Konect::of(first)), ..Self::default() };
        if let (Some(kind), [first, others @ ..]) = (stated.konect, comments) {
            let numbers =
                |text: &String| text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>();
            if let Some(counts) = others.first().and_then(numbers) {
                let (nodes, right) = (counts.get(1).copied(), counts.get(2).copied());
                stated.edges = counts.first().copied();
                (stated.nodes, stated.right) =
                    if kind == Konect::Bipartite { (nodes, right) } else { (nodes.max(right), None) };
            }
            if kind == Konect::Symmetric {
                stated.undirected = Some(format!("its header says {first:?}, an undirected network"));
            }
            return stated;
        }
        for comment in comments {
            let words: Vec<String> = comment.split_whitespace().map(str::to_lowercase).collect();
            stated.matrix_market |= words.first().is_some_and(|word| word == "matrixmarket");
            for pair in words.windows(2) {
                match &*pair[0] {
                    "nodes:" => stated.nodes = stated.nodes.or(pair[1].parse().ok()),
                    "edges:" => stated.edges = stated.edges.or(pair[1].parse().ok()),
                    _ => {}
                }
            }
            let has =
                |wanted: &str| words.iter().any(|word| word.trim_matches(|c: char| !c.is_alphanumeric()) == wanted);
            if has("undirected") && !has("directed") {
                stated.undirected.get_or_insert_with(|| format!("its header says {:?}", super::excerpt(comment)));
            }
        }
        stated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(comments: &[&str]) -> Stated {
        Stated::of(&comments.iter().map(|comment| (*comment).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn headers_of_konect() {
        let stated = of(&["bip unweighted", "3 2 5"]);
        assert_eq!(stated.konect, Some(Konect::Bipartite));
        assert_eq!((stated.edges, stated.nodes, stated.right), (Some(3), Some(2), Some(5)));
        let stated = of(&["sym positive", "3 4 4", "more"]);
        assert_eq!((stated.konect, stated.nodes, stated.right), (Some(Konect::Symmetric), Some(4), None));
        assert!(stated.undirected.unwrap().contains("sym positive"));
        let stated = of(&["asym signed"]);
        assert_eq!((stated.konect, stated.edges, stated.undirected), (Some(Konect::Asymmetric), None, None));
        for other in ["sym", "sym and more", "symmetric unweighted", ""] {
            assert_eq!(of(&[other]).konect, None, "{other}");
        }
        assert_eq!(of(&["a comment", "sym unweighted"]).konect, None);
    }

    #[test]
    fn headers_of_snap() {
        let stated = of(&["Undirected graph: ../a.txt", "A network.", "Nodes: 5\tEdges: 7", "FromNodeId\tToNodeId"]);
        assert_eq!((stated.nodes, stated.edges), (Some(5), Some(7)));
        assert_eq!(stated.undirected.unwrap(), "its header says \"Undirected graph: ../a.txt\"");
        assert_eq!(of(&["Directed graph (each unordered pair of nodes is saved once)"]).undirected, None);
        assert_eq!(of(&["Directed, not undirected"]).undirected, None);
        assert_eq!(of(&["Nodes: many"]), Stated::default());
        assert!(of(&["MatrixMarket matrix coordinate pattern general"]).matrix_market);
    }
}
