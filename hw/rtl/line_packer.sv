// Packs int32 elements, in order, into the lines of one buffer. A line leaves when it is full or on a flush; a line that
// was flushed half full goes on where it stopped, and what has been written is not written again.
`include "assert.svh"

module line_packer
  import trisage_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    clear_i,       // a run begins: back to element 0
  input  addr_t   base_i,        // of element 0; aligned to a line, steady during a run

  input  logic    in_valid_i,
  output logic    in_ready_o,
  input  word_t   in_data_i,

  input  logic    flush_i,       // hold until clean_o
  output logic    clean_o,       // nothing is left to write

  output logic    out_valid_o,
  input  logic    out_ready_i,
  output addr_t   out_addr_o,
  output line_t   out_line_o,
  output strobe_t out_strb_o
);

  typedef logic [LineWords-1:0] lanes_t;

  word_t [LineWords-1:0] line_q;
  lanes_t                fresh_q;    // lanes not written yet
  lane_t                 lane_q;     // where the next element goes
  logic                  leaving_q;  // the line waits to be taken
  logic                  full_q;     // and it is complete
  logic [26:0]           line_no_q;

  assign in_ready_o  = !leaving_q;
  assign clean_o     = fresh_q == '0;
  assign out_valid_o = leaving_q;
  assign out_addr_o  = base_i + {31'b0, line_no_q, 6'b0};
  assign out_line_o  = line_q;

  always_comb begin
    for (int unsigned i = 0; i < LineWords; i++) out_strb_o[4*i +: 4] = {4{fresh_q[i]}};
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) line_q[lane_q] <= in_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      fresh_q   <= '0;
      lane_q    <= '0;
      leaving_q <= 1'b0;
      full_q    <= 1'b0;
      line_no_q <= '0;
    end else if (leaving_q) begin
      if (out_ready_i) begin
        leaving_q <= 1'b0;
        full_q    <= 1'b0;
        fresh_q   <= '0;
        if (full_q) line_no_q <= line_no_q + 1'b1;
      end
    end else if (in_valid_i) begin
      fresh_q[lane_q] <= 1'b1;
      lane_q          <= lane_q + 1'b1;
      leaving_q       <= lane_q == '1;
      full_q          <= lane_q == '1;
    end else if (flush_i && fresh_q != '0) begin
      leaving_q <= 1'b1;
    end
  end

  `ASSERT_STABLE(OutStable, out_valid_o && !clear_i, out_ready_i, {out_addr_o, out_line_o, out_strb_o})

endmodule
