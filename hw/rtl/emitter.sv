// Writes out each edge in order, and each node when it is first seen, as long as everything fits; counts per hop. The first
// thing that goes wrong, in this order, is the run's fault; what comes after it is dropped.
`include "assert.svh"

module emitter
  import trisage_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          clear_i,          // a run begins

  input  hop_t          hop_i,            // 0 while the items are seeds
  input  word_t         node_capacity_i,
  input  word_t         edge_capacity_i,

  input  logic          in_valid_i,
  output logic          in_ready_o,
  input  resolved_t     in_i,
  output logic          end_seen_o,       // one cycle: the phase's End came through

  output logic          node_valid_o,     // to the packers of samples and node list
  output node_t         node_o,
  output logic          edge_valid_o,     // to the packers of rows, cols and edges
  output written_edge_t edge_o,
  input  logic          packers_ready_i,  // all five

  output outcome_t      outcome_o
);

  logic               fire, is_data, seeding, out_of_nodes, out_of_edges, fault_now, fails, emit;
  fault_t             fault_d, fault_q;
  logic               failed_q;
  count_t             nodes_q, edges_q;
  count_t [MaxHops:0] nodes_per_hop_q;
  count_t [MaxHops:1] edges_per_hop_q;

  assign in_ready_o   = packers_ready_i;
  assign fire         = in_valid_i && in_ready_o;
  assign is_data      = in_i.arc.item.kind == ItemData;
  assign end_seen_o   = fire && in_i.arc.item.kind == ItemEnd;
  assign seeding      = hop_i == '0;
  assign out_of_nodes = in_i.is_new && word_t'(nodes_q) >= node_capacity_i;
  assign out_of_edges = !seeding && word_t'(edges_q) >= edge_capacity_i;
  assign outcome_o    = '{failed: failed_q, fault: fault_q, nodes: nodes_q, edges: edges_q,
                          nodes_per_hop: nodes_per_hop_q, edges_per_hop: edges_per_hop_q};

  always_comb begin
    fault_d   = '{code: StNone, detail: '0, hop: hop_i, node: word_t'(in_i.arc.item.v)};
    fault_now = 1'b1;
    case (in_i.arc.item.kind)
      ItemEnd: fault_now = 1'b0;
      ItemReadError: begin
        fault_d.code   = StReadError;
        fault_d.detail = bus_detail(in_i.arc.item.detail, RespOkay);   // what it was answered is known at the port
      end
      ItemCorrupt: begin
        if (in_i.arc.item.detail == CorruptSeed) begin
          fault_d.code   = StBadRequest;
          fault_d.detail = BadSeed;
        end else begin
          fault_d.code   = StCorruptGraph;
          fault_d.detail = 16'(in_i.arc.item.detail);
        end
      end
      default: begin
        if (seeding && !in_i.is_new) begin
          fault_d.code   = StBadRequest;
          fault_d.detail = BadDuplicate;
        end else if (out_of_nodes) begin
          fault_d.code = StOverflowNodes;
        end else if (out_of_edges) begin
          fault_d.code = StOverflowEdges;
        end else if (in_i.full) begin
          fault_d.code = StTableFull;
        end else begin
          fault_now = 1'b0;
        end
      end
    endcase
  end

  assign fails        = fire && fault_now && !failed_q;
  assign emit         = fire && is_data && !fault_now && !failed_q;
  assign node_valid_o = emit && in_i.is_new;
  assign edge_valid_o = emit && !seeding;
  assign node_o       = in_i.arc.u;
  assign edge_o       = '{row: in_i.u_local, col: in_i.arc.item.v, pos: in_i.arc.pos};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      failed_q        <= 1'b0;
      nodes_q         <= '0;
      edges_q         <= '0;
      nodes_per_hop_q <= '0;
      edges_per_hop_q <= '0;
    end else begin
      if (fails) failed_q <= 1'b1;
      if (node_valid_o) begin
        nodes_q                <= nodes_q + 1'b1;
        nodes_per_hop_q[hop_i] <= nodes_per_hop_q[hop_i] + 1'b1;
      end
      if (edge_valid_o) begin
        edges_q                <= edges_q + 1'b1;
        edges_per_hop_q[hop_i] <= edges_per_hop_q[hop_i] + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (fails) fault_q <= fault_d;
  end

  // For the assertions: whether, at the end of a phase, the hops add up to the totals.
  logic hops_add_up;

  always_comb begin
    count_t nodes, edges;
    nodes = nodes_per_hop_q[0];
    edges = '0;
    if (end_seen_o) begin
      for (int unsigned i = 1; i <= MaxHops; i++) begin
        nodes += nodes_per_hop_q[i];
        edges += edges_per_hop_q[i];
      end
    end
    hops_add_up = !end_seen_o || (nodes == nodes_q && edges == edges_q);
  end

  `ASSERT(HopInRange, fire |-> hop_i <= hop_t'(MaxHops))
  `ASSERT(NodeFits, node_valid_o |-> word_t'(nodes_q) < node_capacity_i)
  `ASSERT(EdgeFits, edge_valid_o |-> word_t'(edges_q) < edge_capacity_i)
  // Local ids are given in the order in which nodes are written, and an edge comes after both of its nodes.
  `ASSERT(NewIdIsNext, node_valid_o |-> in_i.u_local == nodes_q)
  `ASSERT(SourceIsWritten, (edge_valid_o && !node_valid_o) |-> in_i.u_local < nodes_q)
  `ASSERT(TargetIsWritten, edge_valid_o |-> in_i.arc.item.v < nodes_q)
  `ASSERT(HopsAddUp, hops_add_up)
  `ASSERT(AllPackersTake, (node_valid_o || edge_valid_o) |-> packers_ready_i)
  `ASSERT(NothingAfterAFault, failed_q |-> !(node_valid_o || edge_valid_o))
  `ASSERT(FirstFaultStays, (failed_q && !clear_i) |=> (failed_q && $stable(fault_q)))

  `COVER(BackPressure, in_valid_i && !in_ready_o)
  `COVER(LastNodeThatFits, node_valid_o && word_t'(nodes_q) + 1'b1 == node_capacity_i)
  `COVER(LastEdgeThatFits, edge_valid_o && word_t'(edges_q) + 1'b1 == edge_capacity_i)
  `COVER(OutOfNodes, fails && fault_d.code == StOverflowNodes)
  `COVER(OutOfEdges, fails && fault_d.code == StOverflowEdges)
  `COVER(OutOfBoth, fails && is_data && out_of_nodes && out_of_edges)
  `COVER(TableFull, fails && fault_d.code == StTableFull)
  `COVER(ReadError, fails && fault_d.code == StReadError)
  `COVER(CorruptGraph, fails && fault_d.code == StCorruptGraph)
  `COVER(SeedOutOfRange, fails && fault_d.code == StBadRequest && fault_d.detail == BadSeed)
  `COVER(SeedTwice, fails && fault_d.code == StBadRequest && fault_d.detail == BadDuplicate)
  `COVER(DataAfterAFault, fire && is_data && failed_q)
  `COVER(FaultAfterAFault, fire && fault_now && failed_q)

endmodule
