// An arbiter of up to four sources.
module line_arbiter_bench
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
    strobe_t [3:0] strb;
    addr_t   [3:0] addr;
    line_t   [3:0] line;
    word_t         valid;      // a bit each
    word_t         ready;
  } in_t;

  typedef struct packed {
    strobe_t strb;
    addr_t   addr;
    line_t   line;
    word_t   valid;
    word_t   ready;            // a bit each
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic [Sources-1:0] ready;
  logic               valid;
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);

  line_arbiter #(.Sources(Sources)) u_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  (in.valid[Sources-1:0]),
    .in_ready_o  (ready),
    .in_addr_i   (in.addr[Sources-1:0]),
    .in_line_i   (in.line[Sources-1:0]),
    .in_strb_i   (in.strb[Sources-1:0]),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_addr_o  (out.addr),
    .out_line_o  (out.line),
    .out_strb_o  (out.strb)
  );

endmodule
