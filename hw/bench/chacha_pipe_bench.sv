// Blocks of ChaCha8 in a stream.
module chacha_pipe_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t       ready;
    word_t       valid;
    logic [63:0] counter;
    logic [63:0] stream;
    logic [63:0] seed;
  } in_t;

  typedef struct packed {
    word_t [15:0] words;
    word_t        valid;
    word_t        ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic ready, valid;
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);

  chacha_pipe u_pipe (
    .clk_i, .rst_ni,
    .seed_i       (in.seed),
    .stream_i     (in.stream),
    .in_valid_i   (in.valid[0]),
    .in_ready_o   (ready),
    .in_counter_i (in.counter),
    .out_valid_o  (valid),
    .out_ready_i  (in.ready[0]),
    .out_words_o  (out.words)
  );

endmodule
