// Round-robin choice among several sources of lines to write.
`include "assert.svh"

module line_arbiter
  import trisage_pkg::*;
#(
  parameter int unsigned Sources = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic    [Sources-1:0] in_valid_i,
  output logic    [Sources-1:0] in_ready_o,
  input  addr_t   [Sources-1:0] in_addr_i,
  input  line_t   [Sources-1:0] in_line_i,
  input  strobe_t [Sources-1:0] in_strb_i,

  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output addr_t                 out_addr_o,
  output line_t                 out_line_o,
  output strobe_t               out_strb_o
);

  localparam int unsigned IdxWidth = $clog2(Sources);
  typedef logic [IdxWidth-1:0] idx_t;

  idx_t last_q;      // the source served last: it is asked last
  idx_t chosen;

  always_comb begin
    chosen = last_q;
    // From the lowest priority to the highest, so that the highest is what remains.
    for (int unsigned distance = Sources; distance >= 1; distance--) begin
      if (in_valid_i[idx_t'((32'(last_q) + distance) % Sources)]) begin
        chosen = idx_t'((32'(last_q) + distance) % Sources);
      end
    end
  end

  assign out_valid_o = in_valid_i[chosen];
  assign out_addr_o  = in_addr_i[chosen];
  assign out_line_o  = in_line_i[chosen];
  assign out_strb_o  = in_strb_i[chosen];

  always_comb begin
    in_ready_o         = '0;
    in_ready_o[chosen] = out_ready_i && in_valid_i[chosen];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                         last_q <= '0;
    else if (out_valid_o && out_ready_i) last_q <= chosen;
  end

  `COVER(AllWait, &in_valid_i && out_ready_i)
  `COVER(BackPressure, out_valid_o && !out_ready_i)

endmodule
