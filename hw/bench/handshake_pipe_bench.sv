// A pipe of words.
module handshake_pipe_bench
  import trisage_pkg::*, bench_pkg::*;
#(
  parameter int unsigned Stages = 2
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  channel_in_t  in;
  channel_out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic ready, valid;
  assign out.ready = word_t'(ready);
  assign out.valid = word_t'(valid);

  handshake_pipe #(.T(word_t), .Stages(Stages)) u_pipe (
    .clk_i, .rst_ni,
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .in_data_i   (in.data),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_data_o  (out.data)
  );

endmodule
