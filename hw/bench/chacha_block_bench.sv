// One block of ChaCha8 at a time.
module chacha_block_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t       start;
    logic [63:0] counter;
    logic [63:0] stream;
    logic [63:0] seed;
  } in_t;

  typedef struct packed {
    word_t [15:0] words;
    word_t        busy;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic busy;
  assign out.busy = word_t'(busy);

  chacha_block u_block (
    .clk_i, .rst_ni,
    .start_i   (in.start[0]),
    .seed_i    (in.seed),
    .stream_i  (in.stream),
    .counter_i (in.counter),
    .busy_o    (busy),
    .words_o   (out.words)
  );

endmodule
