//! What the records of an edge list show of the file, beside the arcs.

use super::{
    error::{Problem, excerpt},
    plan::{Direction, Plan},
    stated::Stated,
    table::Record,
    text::whole,
};
use crate::note::Remark;
use golden::NodeId;

/// What was seen so far. Ids are as they are written.
pub(super) struct Seen {
    records: u64,
    /// The smallest id.
    smallest: u32,
    /// The first record, if it may be something else than an arc.
    first: Option<First>,
    /// The largest id behind the first record.
    largest_behind: u32,
    /// The source of the first record, as long as every record has the number of its line for a source.
    counting: Option<u32>,
    /// Records that say that their edge has no direction, in a column of this name.
    undirected: Option<(Direction, u64)>,
    /// The graph that all arcs are of, and the line that says so.
    graph: Option<(String, u64)>,
}

struct First {
    line: u64,
    text: String,
    ids: [u32; 2],
}

impl Seen {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            records: 0,
            smallest: u32::MAX,
            first: None,
            largest_behind: 0,
            counting: None,
            undirected: plan.direction.clone().map(|direction| (direction, 0)),
            graph: None,
        }
    }

    /// Looks at a record.
    ///
    /// # Errors
    /// If it is of another graph than those before.
    #[inline]
    pub(super) fn record(&mut self, record: &Record, ids: [u32; 2], plan: &Plan) -> Result<(), Problem> {
        if self.records == 0 {
            if plan.in_doubt {
                self.first = Some(First { line: record.line(), text: excerpt(record.text()), ids });
            }
            self.counting = (plan.in_doubt && record.len() > 2 && ids[0] <= 1).then_some(ids[0]);
        } else {
            self.largest_behind = self.largest_behind.max(ids[0]).max(ids[1]);
        }
        if let Some(first) = self.counting {
            let counts = u64::from(first) + self.records == u64::from(ids[0]);
            // The third column would be the destination.
            self.counting = self.counting.filter(|_| counts && whole(record.field(2)).is_some());
        }
        self.records += 1;
        self.smallest = self.smallest.min(ids[0]).min(ids[1]);
        if let Some((direction, count)) = &mut self.undirected {
            *count += u64::from(direction.is_undirected(record.field(direction.place)));
        }
        if let Some(place) = plan.graph {
            self.graph(record, place)?;
        }
        Ok(())
    }

    fn graph(&mut self, record: &Record, place: usize) -> Result<(), Problem> {
        let (found, line) = (record.field(place), record.line());
        let (graph, first) = self.graph.get_or_insert_with(|| (found.to_owned(), line));
        if graph == found {
            return Ok(());
        }
        Err(Problem::SeveralGraphs { line, found: excerpt(found), first: *first, graph: excerpt(graph) })
    }

    /// Whether the file states other counts than it has; `nodes` is none if their number was asked for. Some files count as
    /// nodes those with edges only.
    pub(super) fn counts(
        &self,
        stated: &Stated,
        halves: Option<[u32; 2]>,
        nodes: Option<u32>,
        arcs: &[(NodeId, NodeId)],
    ) -> Option<Remark> {
        let stated_nodes = stated.nodes.zip(nodes).map(|(of_left, nodes)| {
            let total = of_left.saturating_add(stated.right.unwrap_or(0));
            let same = match halves {
                Some([left, right]) => total == u64::from(left) + u64::from(right),
                None => total == u64::from(nodes) || total == used_nodes(nodes, arcs),
            };
            (total, nodes.into(), same)
        });
        let stated_edges = stated.edges.map(|edges| (edges, self.records, edges == self.records));
        let counts = [(stated_nodes, "nodes"), (stated_edges, "edges")];
        let counts = counts.into_iter().filter_map(|(count, what)| Some((count?, what)));
        if counts.clone().all(|((.., same), _)| same) {
            return None;
        }
        let list = |pick: fn((u64, u64, bool)) -> u64| {
            counts.clone().map(|(count, what)| format!("{} {what}", pick(count))).collect::<Vec<_>>().join(" and ")
        };
        Some(Remark::Counts { stated: list(|count| count.0), found: list(|count| count.1) })
    }

    /// Whether the file says that its edges, or some of them, have no direction.
    pub(super) fn undirected(&self, stated: &Stated) -> Option<Remark> {
        let column = self.undirected.as_ref().filter(|(_, count)| *count > 0);
        let column = column.map(|(direction, count)| {
            format!("column {} says of {count} of {} edges that they are undirected", direction.name, self.records)
        });
        let says = column.or_else(|| stated.undirected.clone())?;
        Some(Remark::Undirected { says })
    }

    /// Whether ids may start at 1: node 0 alone has no edge, and nothing states that there is one more than have.
    pub(super) fn first_id(&self, stated: &Stated, nodes: u32, arcs: &[(NodeId, NodeId)]) -> Option<Remark> {
        let others = nodes.checked_sub(1).filter(|_| self.smallest == 1 && stated.nodes != Some(nodes.into()))?;
        (used_nodes(nodes, arcs) == u64::from(others)).then_some(Remark::FirstId { others })
    }

    /// Whether the first line may be no arc, but the number of nodes and of the edges that follow.
    pub(super) fn first_line(&self, stated: &Stated) -> Option<Remark> {
        let First { line, text, ids: [nodes, edges] } = self.first.as_ref().filter(|_| stated.edges.is_none())?;
        let (rest, largest) = (self.records - 1, self.largest_behind);
        let counts = rest > 0 && u64::from(*edges) == rest && (*nodes == largest || *nodes == largest + 1);
        counts.then(|| Remark::FirstLine { line: *line, text: text.clone() })
    }

    /// Whether the first column may be the numbers of the lines.
    pub(super) fn line_numbers(&self) -> Option<Remark> {
        let first = self.counting.filter(|_| self.records > 1)?;
        Some(Remark::LineNumbers { first })
    }
}

/// The number of nodes that have edges.
fn used_nodes(nodes: u32, arcs: &[(NodeId, NodeId)]) -> u64 {
    let mut used = vec![false; nodes as usize];
    for (source, destination) in arcs {
        used[source.index()] = true;
        used[destination.index()] = true;
    }
    used.into_iter().map(u64::from).sum()
}
