//! Which nodes a mini-batch starts from.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use golden::{Fanout, ID_MAX, NodeId, Request, shuffle};
use rand_chacha::rand_core::Rng;

use crate::chance;

/// The words with which nodes are shuffled.
const DOMAIN: &[u8; 16] = b"trisage: batches";

/// The mini-batches of a run: consecutive pieces, all of one size, of one random order of some nodes, which is gone through
/// again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    order: Vec<NodeId>,
    size: usize,
}

impl Batches {
    /// Shuffles `nodes` by the user's `seed`; each mini-batch has `size` of them, or all if there are fewer.
    ///
    /// The order is that of [`golden::shuffle`] with the words of `ChaCha8` from position 0 of stream 0, whose key is the seed
    /// (8 bytes, little-endian), the 16 bytes "trisage: batches" and 8 zeros.
    pub fn shuffled(nodes: impl IntoIterator<Item = NodeId>, size: usize, seed: u64) -> Self {
        Self::of_epoch(nodes, size, seed, 0)
    }

    /// As [`Batches::shuffled`], with another order for each epoch: the words are those of stream `epoch`.
    pub fn of_epoch(nodes: impl IntoIterator<Item = NodeId>, size: usize, seed: u64, epoch: u64) -> Self {
        let mut order: Vec<NodeId> = nodes.into_iter().collect();
        let mut words = chance::words(seed, DOMAIN, epoch);
        shuffle(&mut order, || words.next_u32());
        let size = size.min(order.len());
        Self { order, size }
    }

    /// Seed nodes of each mini-batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The seed nodes of mini-batch `minibatch`: the entries of the order from `minibatch * size` (modulo its length) on,
    /// going on with its first after its last. They are distinct if the nodes are.
    pub fn get(&self, minibatch: u64) -> Vec<NodeId> {
        let nodes = self.order.len();
        if nodes == 0 {
            return Vec::new();
        }
        let first = u128::from(minibatch) * self.size as u128 % nodes as u128;
        self.order.iter().cycle().skip(first as usize).take(self.size).copied().collect()
    }

    /// The order once, in pieces: all of one size but the last, which has what is left.
    pub fn once(&self) -> impl ExactSizeIterator<Item = &[NodeId]> {
        self.order.chunks(self.size.max(1))
    }
}

/// The requests of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Seed nodes of the mini-batches.
    pub batches: Batches,
    /// Fan-out of each hop.
    pub fanouts: Vec<Fanout>,
    /// The user's seed.
    pub seed: u64,
    /// Mini-batches that each SLR samples: SLR s those with the numbers s, s + 3, s + 6, ...
    pub minibatches: u64,
}

impl Workload {
    /// The request for the mini-batch with this number.
    pub fn request(&self, minibatch: u64) -> Request {
        let seeds = self.batches.get(minibatch);
        Request { seed: self.seed, minibatch, seeds, fanouts: self.fanouts.clone() }
    }
}

/// A list of nodes that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NodeListError {
    /// The system refuses.
    #[error("{}: cannot be read: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Not a node id.
    #[error("{}: line {line}: {text:?} is not a node id; give one a line, 0 to {ID_MAX}, or a comment after '#'", .path.display())]
    NotAnId {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is there (the start of it).
        text: String,
    },
    /// A line without end.
    #[error("{}: line {line} is longer than {LINE_LIMIT} bytes; a line holds one node id", .path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// An id that the graph does not have.
    #[error("{}: line {line}: node {node} is not in the graph; its nodes are 0..{nodes}", .path.display())]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The id.
        node: NodeId,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// An id that is there already.
    #[error("{}: line {line}: node {node} is given twice, first on line {first}; seed nodes must be distinct", .path.display())]
    Duplicate {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The id.
        node: NodeId,
        /// The line that has it first.
        first: usize,
    },
}

/// The longest line of a list of nodes, in bytes, its end included.
const LINE_LIMIT: usize = 1 << 16;

/// Reads a node id as the command line and files of nodes have it.
pub fn node_id(text: &str) -> Option<NodeId> {
    text.parse().ok().filter(|&id| id <= ID_MAX).map(NodeId::new)
}

/// Reads a list of distinct nodes of a graph of `nodes` nodes: text, one id a line, in order; `#` starts a comment, empty
/// lines are passed over.
///
/// # Errors
/// The first line that is something else, or why the file cannot be read.
pub fn read_nodes(path: &Path, nodes: usize) -> Result<Vec<NodeId>, NodeListError> {
    let file = || path.to_owned();
    let io = |source| NodeListError::Io { path: file(), source };
    let mut lines = BufReader::new(File::open(path).map_err(io)?);
    let (mut list, mut first_lines, mut bytes) = (Vec::new(), HashMap::new(), Vec::new());
    for line in 1.. {
        bytes.clear();
        if lines.by_ref().take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut bytes).map_err(io)? == 0 {
            break;
        }
        if bytes.len() > LINE_LIMIT {
            return Err(NodeListError::LongLine { path: file(), line });
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let node = node_id(text).ok_or_else(|| {
            let text = text.chars().take(40).collect();
            NodeListError::NotAnId { path: file(), line, text }
        })?;
        if node.index() >= nodes {
            return Err(NodeListError::OutOfRange { path: file(), line, node, nodes });
        }
        if let Some(first) = first_lines.insert(node, line) {
            return Err(NodeListError::Duplicate { path: file(), line, node, first });
        }
        list.push(node);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn all(nodes: u32) -> impl Iterator<Item = NodeId> {
        (0..nodes).map(NodeId::new)
    }

    fn ids(nodes: &[NodeId]) -> Vec<u32> {
        nodes.iter().map(|node| node.get()).collect()
    }

    #[test]
    fn an_epoch_has_every_node_once() {
        let batches = Batches::shuffled(all(30), 10, 5);
        let mut epoch: Vec<u32> = (0..3).flat_map(|m| ids(&batches.get(m))).collect();
        assert_ne!(epoch, (0..30).collect::<Vec<_>>());
        epoch.sort_unstable();
        assert_eq!(epoch, (0..30).collect::<Vec<_>>());
        assert_eq!(batches.get(3), batches.get(0));
    }

    #[test]
    fn each_epoch_has_an_order_of_its_own_and_keeps_what_is_left() {
        let epoch = |epoch| Batches::of_epoch(all(25), 10, 5, epoch);
        assert_eq!(epoch(0), Batches::shuffled(all(25), 10, 5));
        for batches in [epoch(0), epoch(1), epoch(u64::MAX)] {
            let pieces: Vec<_> = batches.once().collect();
            assert_eq!(pieces.iter().map(|piece| piece.len()).collect::<Vec<_>>(), [10, 10, 5]);
            let mut nodes = ids(&pieces.concat());
            nodes.sort_unstable();
            assert_eq!(nodes, (0..25).collect::<Vec<_>>());
        }
        assert_ne!(epoch(0), epoch(1));
        assert_eq!(Batches::shuffled(all(0), 10, 5).once().len(), 0);
    }

    #[test]
    fn the_order_is_fixed_for_good() {
        // From a few lines of Python that share no code with this.
        assert_eq!(ids(&Batches::shuffled(all(10), 10, 42).get(0)), [8, 9, 3, 4, 6, 2, 1, 5, 0, 7]);
        assert_ne!(Batches::shuffled(all(10), 10, 43), Batches::shuffled(all(10), 10, 42));
    }

    #[test]
    fn minibatches_go_on_at_the_start_after_the_end() {
        let batches = Batches::shuffled(all(7), 3, 1);
        let order = &batches.order;
        assert_eq!(batches.get(2), [order[6], order[0], order[1]]);
        // 3 (2^64 - 1) mod 7 = 3
        assert_eq!(batches.get(u64::MAX), order[3..6]);
    }

    #[test]
    fn few_nodes_make_small_minibatches() {
        assert_eq!(Batches::shuffled(all(3), 1024, 9).get(7).len(), 3);
        assert_eq!(Batches::shuffled(all(0), 1024, 9).get(7), []);
        assert_eq!(Batches::shuffled(all(3), 0, 9).get(7), []);
    }

    #[test]
    fn a_list_of_nodes() {
        let read = |text: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text).unwrap();
            read_nodes(file.path(), 6).map(|nodes| ids(&nodes)).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"# train\n5\r\n\n 3 # three\n0"), Ok(vec![5, 3, 0]));
        assert_eq!(read(b"\xef\xbb\xbf4\n1\n"), Ok(vec![4, 1]));
        assert_eq!(read(b""), Ok(vec![]));
        for (text, found) in [
            (&b"1\n-2\n"[..], r#""-2" is not a node id"#),
            (b"\n2147483648", r#""2147483648" is not a node id"#),
            (b"1\n\xff\xfe", "\"\u{fffd}\u{fffd}\" is not a node id"),
            (b"1\n\x1b[31m\r2", r#""\u{1b}[31m\r2" is not a node id"#),
            (b"1\n6\n", "node 6 is not in the graph; its nodes are 0..6"),
            (b"5\n5\n", "node 5 is given twice, first on line 1"),
            (&[b"0\n".to_vec(), b"1".repeat(LINE_LIMIT + 1)].concat(), "is longer than 65536 bytes"),
        ] {
            let sentence = read(text).unwrap_err();
            assert!(sentence.contains(": line 2") && sentence.contains(found), "{sentence}");
        }
        // A device that never ends a line.
        let endless = read_nodes(Path::new("/dev/zero"), 6).unwrap_err().to_string();
        assert_eq!(endless, "/dev/zero: line 1 is longer than 65536 bytes; a line holds one node id");
        assert!(read_nodes(Path::new("/nowhere"), 6).unwrap_err().to_string().starts_with("/nowhere: cannot be read"));
    }
}
