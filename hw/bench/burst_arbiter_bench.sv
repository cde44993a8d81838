// An arbiter of up to four sources.
module burst_arbiter_bench
  import trisage_pkg::*, bench_pkg::*;
#(
  parameter int unsigned Sources = 4
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    write_words_t [3:0] line;
    word_t              valid;   // a bit each
    word_t              ready;
  } in_t;

  typedef struct packed {
    write_words_t line;
    word_t        valid;
    word_t        ready;         // a bit each
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic        [Sources-1:0] ready;
  logic                      valid;
  write_line_t [Sources-1:0] offered;
  write_line_t               granted;
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);
  assign out.line  = of_write(granted);

  always_comb begin
    for (int unsigned i = 0; i < Sources; i++) offered[i] = to_write(in.line[i]);
  end

  burst_arbiter #(.Sources(Sources)) u_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  (in.valid[Sources-1:0]),
    .in_ready_o  (ready),
    .in_i        (offered),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (granted)
  );

endmodule
