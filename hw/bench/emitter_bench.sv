// What is written of a run; the packers are outside.
module emitter_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t       ready;
    word_t       full;
    word_t       is_new;
    word_t       u_local;
    word_t       u;
    word_t       pos;
    item_words_t item;
    word_t       valid;
    word_t       edge_capacity;
    word_t       node_capacity;
    word_t       hop;
    word_t       clear;
  } in_t;

  typedef struct packed {
    word_t [MaxHops:1] edges_per_hop;
    word_t [MaxHops:0] nodes_per_hop;
    word_t             edges;
    word_t             nodes;
    word_t             fault_node;
    word_t             fault_hop;
    word_t             fault_detail;
    word_t             fault_code;
    word_t             failed;
    word_t             pos;
    word_t             col;
    word_t             row;
    word_t             edge_valid;
    word_t             node;
    word_t             node_valid;
    word_t             end_seen;
    word_t             ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic          ready, end_seen, node_valid, edge_valid;
  node_t         node;
  written_edge_t written;
  outcome_t      outcome;

  assign out.ready        = word_t'(ready);
  assign out.end_seen     = word_t'(end_seen);
  assign out.node_valid   = word_t'(node_valid);
  assign out.node         = word_t'(node);
  assign out.edge_valid   = word_t'(edge_valid);
  assign out.row          = word_t'(written.row);
  assign out.col          = word_t'(written.col);
  assign out.pos          = word_t'(written.pos);
  assign out.failed       = word_t'(outcome.failed);
  assign out.fault_code   = word_t'(outcome.fault.code);
  assign out.fault_detail = word_t'(outcome.fault.detail);
  assign out.fault_hop    = word_t'(outcome.fault.hop);
  assign out.fault_node   = outcome.fault.node;
  assign out.nodes        = word_t'(outcome.nodes);
  assign out.edges        = word_t'(outcome.edges);

  always_comb begin
    for (int unsigned i = 0; i <= MaxHops; i++) out.nodes_per_hop[i] = word_t'(outcome.nodes_per_hop[i]);
    for (int unsigned i = 1; i <= MaxHops; i++) out.edges_per_hop[i] = word_t'(outcome.edges_per_hop[i]);
  end

  emitter u_emitter (
    .clk_i, .rst_ni,
    .clear_i         (in.clear[0]),
    .hop_i           (hop_t'(in.hop)),
    .node_capacity_i (in.node_capacity),
    .edge_capacity_i (in.edge_capacity),
    .in_valid_i      (in.valid[0]),
    .in_ready_o      (ready),
    .in_i            ('{arc: '{item: to_item(in.item), pos: pos_t'(in.pos), u: node_t'(in.u)},
                        u_local: local_t'(in.u_local), is_new: in.is_new[0], full: in.full[0]}),
    .end_seen_o      (end_seen),
    .node_valid_o    (node_valid),
    .node_o          (node),
    .edge_valid_o    (edge_valid),
    .edge_o          (written),
    .packers_ready_i (in.ready[0]),
    .outcome_o       (outcome)
  );

endmodule
