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

  // The line that is being filled, and the one that leaves.
  word_t [LineWords-1:0] line_q, leaving_line_q;
  lanes_t                fresh_q, leaving_fresh_q;   // lanes not written yet
  lane_t                 lane_q;                     // where the next element goes
  logic [26:0]           line_no_q, leaving_no_q;
  logic                  leaving_q;

  logic   last_lane, take, leave;
  line_t  line_now;
  lanes_t fresh_now;

  assign last_lane  = lane_q == '1;
  assign in_ready_o = !(last_lane && leaving_q);     // a full line needs the other place
  assign take       = in_valid_i && in_ready_o;
  assign leave      = (take && last_lane) || (flush_i && !leaving_q && !in_valid_i && fresh_q != '0);
  assign clean_o    = fresh_q == '0 && !leaving_q;

  assign out_valid_o = leaving_q;
  assign out_addr_o  = base_i + {31'b0, leaving_no_q, 6'b0};
  assign out_line_o  = leaving_line_q;

  always_comb begin
    for (int unsigned i = 0; i < LineWords; i++) out_strb_o[4*i +: 4] = {4{leaving_fresh_q[i]}};
  end

  always_comb begin
    line_now  = line_q;
    fresh_now = fresh_q;
    if (take) begin
      line_now[32*lane_q +: 32] = in_data_i;
      fresh_now[lane_q]         = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    line_q <= line_now;
    if (leave) begin
      leaving_line_q  <= line_now;
      leaving_fresh_q <= fresh_now;
      leaving_no_q    <= line_no_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      fresh_q   <= '0;
      lane_q    <= '0;
      line_no_q <= '0;
      leaving_q <= 1'b0;
    end else begin
      fresh_q   <= leave ? '0 : fresh_now;
      leaving_q <= leave || (leaving_q && !out_ready_i);
      if (take) lane_q <= lane_q + 1'b1;
      if (take && last_lane) line_no_q <= line_no_q + 1'b1;
    end
  end

  `ASSERT_STABLE(OutStable, out_valid_o && !clear_i, out_ready_i, {out_addr_o, out_line_o, out_strb_o})

endmodule
