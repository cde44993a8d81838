// A small hash table, so that it fills, probes and uses up its epochs: 64 rows of four slots, three epochs, four probes.
module dedup_table_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t       ready;
    word_t       u;
    word_t       pos;
    item_words_t item;
    word_t       valid;
    word_t       start;
  } in_t;

  typedef struct packed {
    word_t       full;
    word_t       is_new;
    word_t       u_local;
    word_t       u;
    word_t       pos;
    item_words_t item;
    word_t       valid;
    word_t       ready;
    word_t       busy;
    word_t       clear;       // the table can be started
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic      clear, busy, ready, valid;
  resolved_t resolved;
  assign out.clear   = word_t'(clear);
  assign out.busy    = word_t'(busy);
  assign out.ready   = word_t'(ready);
  assign out.valid   = word_t'(valid);
  assign out.item    = of_item(resolved.arc.item);
  assign out.pos     = word_t'(resolved.arc.pos);
  assign out.u       = word_t'(resolved.arc.u);
  assign out.u_local = word_t'(resolved.u_local);
  assign out.is_new  = word_t'(resolved.is_new);
  assign out.full    = word_t'(resolved.full);

  dedup_table #(.TableLog2(8), .EpochWidth(2), .ProbeLimit(4)) u_table (
    .clk_i, .rst_ni,
    .start_i     (in.start[0]),
    .ready_o     (clear),
    .busy_o      (busy),
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .in_i        ('{item: to_item(in.item), pos: pos_t'(in.pos), u: node_t'(in.u)}),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (resolved)
  );

endmodule
