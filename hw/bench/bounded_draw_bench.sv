// Lemire's draw; the words come from outside.
module bounded_draw_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t word;
    word_t word_valid;
    word_t n;
    word_t start;
  } in_t;

  typedef struct packed {
    word_t number;
    word_t done;
    word_t word_ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic   ready, done;
  count_t number;
  assign out.word_ready = word_t'(ready);
  assign out.done       = word_t'(done);
  assign out.number     = word_t'(number);

  bounded_draw u_draw (
    .clk_i, .rst_ni,
    .start_i      (in.start[0]),
    .n_i          (count_t'(in.n)),
    .word_valid_i (in.word_valid[0]),
    .word_ready_o (ready),
    .word_i       (in.word),
    .done_o       (done),
    .number_o     (number)
  );

endmodule
