// Remainder by restoring division, one bit a cycle. Off the fast path: a bounded draw needs it once in 2^32 / n draws.
`include "assert.svh"

module modulo
  import trisage_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,

  input  logic  start_i,        // not while busy
  input  word_t dividend_i,
  input  word_t divisor_i,      // above 0; stays until done

  output logic  busy_o,
  output word_t remainder_o     // valid from the end of busy to the next start
);

  word_t       dividend_q, remainder_q;
  logic [5:0]  left_q;
  logic [32:0] shifted;

  assign busy_o      = left_q != '0;
  assign remainder_o = remainder_q;
  assign shifted     = {remainder_q, dividend_q[31]};

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      dividend_q  <= dividend_i;
      remainder_q <= '0;
    end else if (busy_o) begin
      dividend_q  <= dividend_q << 1;
      remainder_q <= word_t'(shifted >= {1'b0, divisor_i} ? shifted - {1'b0, divisor_i} : shifted);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)      left_q <= '0;
    else if (start_i) left_q <= 6'd32;
    else if (busy_o)  left_q <= left_q - 1'b1;
  end

  `ASSERT(StartWhenFree, start_i |-> !busy_o)
  `ASSERT(DivisorPositive, start_i |-> divisor_i != '0)

endmodule
