// The choice of in-edges, node after node.
module neighbor_sampler_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t       ready;
    word_t       degree;
    word_t       start;
    item_words_t item;
    word_t       valid;
    word_t       failed;
    word_t       fanout;
    logic [63:0] minibatch;
    logic [63:0] seed;
  } in_t;

  typedef struct packed {
    word_t       pos;
    item_words_t item;
    word_t       valid;
    word_t       ready;
    word_t       busy;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic  busy, ready, valid;
  edge_t picked;
  assign out.busy  = word_t'(busy);
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);
  assign out.item  = of_item(picked.item);
  assign out.pos   = word_t'(picked.pos);

  neighbor_sampler u_sampler (
    .clk_i, .rst_ni,
    .seed_i      (in.seed),
    .minibatch_i (in.minibatch),
    .fanout_i    (in.fanout),
    .abort_i     (in.failed[0]),
    .busy_o      (busy),
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .in_i        ('{item: to_item(in.item), start: pos_t'(in.start), degree: count_t'(in.degree)}),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (picked)
  );

endmodule
