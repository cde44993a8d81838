// Floyd's algorithm, one draw after the other.
module careful_sampler_bench
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
    word_t       v;
    word_t       valid;
    word_t       fanout;
    logic [63:0] minibatch;
    logic [63:0] seed;
  } in_t;

  typedef struct packed {
    word_t pick;
    word_t valid;
    word_t ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic   ready, valid;
  count_t pick;
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);
  assign out.pick  = word_t'(pick);

  careful_sampler u_sampler (
    .clk_i, .rst_ni,
    .seed_i      (in.seed),
    .minibatch_i (in.minibatch),
    .fanout_i    (count_t'(in.fanout)),
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .v_i         (local_t'(in.v)),
    .degree_i    (count_t'(in.degree)),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .pick_o      (pick)
  );

endmodule
