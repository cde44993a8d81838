// A remainder.
module modulo_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t divisor;
    word_t dividend;
    word_t start;
  } in_t;

  typedef struct packed {
    word_t remainder;
    word_t busy;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic busy;
  assign out.busy = word_t'(busy);

  modulo u_modulo (
    .clk_i, .rst_ni,
    .start_i     (in.start[0]),
    .dividend_i  (in.dividend),
    .divisor_i   (in.divisor),
    .busy_o      (busy),
    .remainder_o (out.remainder)
  );

endmodule
