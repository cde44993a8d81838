// One stage of registers in a valid-ready channel, without loss of throughput: valid, data and ready all leave from flip-flops, so
// that a channel between two of them is nothing but wire, as a crossing to another SLR wants it.
`include "assert.svh"

module register_slice #(
  parameter type T = logic
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic in_valid_i,
  output logic in_ready_o,
  input  T     in_data_i,

  output logic out_valid_o,
  input  logic out_ready_i,
  output T     out_data_o
);

  // What comes in the cycle in which the output turns out to be blocked goes to the spare register.
  T     out_q, spare_q;
  logic out_valid_q, spare_free_q;
  logic moves;

  assign in_ready_o  = spare_free_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_q;
  assign moves       = out_ready_i || !out_valid_q;

  always_ff @(posedge clk_i) begin
    if (moves)        out_q   <= spare_free_q ? in_data_i : spare_q;
    if (spare_free_q) spare_q <= in_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q  <= 1'b0;
      spare_free_q <= 1'b1;
    end else if (moves) begin
      out_valid_q  <= in_valid_i || !spare_free_q;
      spare_free_q <= 1'b1;
    end else if (in_valid_i) begin
      spare_free_q <= 1'b0;
    end
  end

  `ASSERT_STABLE(Holds, out_valid_o, out_ready_i, out_data_o)
  `ASSERT(SpareIsSecond, spare_free_q || out_valid_q)

  `COVER(UsesTheSpare, !spare_free_q)

endmodule
