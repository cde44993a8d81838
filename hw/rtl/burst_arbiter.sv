// Round-robin choice among several sources of bursts to write. A burst goes through whole; the choice takes a cycle before it.
`include "assert.svh"

module burst_arbiter
  import trisage_pkg::*;
#(
  parameter int unsigned Sources = 4
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  input  logic        [Sources-1:0] in_valid_i,
  output logic        [Sources-1:0] in_ready_o,
  input  write_line_t [Sources-1:0] in_i,

  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output write_line_t               out_o
);

  localparam int unsigned IdxWidth = $clog2(Sources);
  typedef logic [IdxWidth-1:0] idx_t;

  logic busy_q;      // with a burst of the source
  idx_t source_q;    // between bursts: the one served last, which is asked last
  idx_t chosen;

  always_comb begin
    chosen = source_q;
    // From the lowest priority to the highest, so that the highest is what remains.
    for (int unsigned distance = Sources; distance >= 1; distance--) begin
      if (in_valid_i[idx_t'((32'(source_q) + distance) % Sources)]) begin
        chosen = idx_t'((32'(source_q) + distance) % Sources);
      end
    end
  end

  assign out_valid_o = busy_q && in_valid_i[source_q];

  // A constant index each, with which a simulator moves whole words, not bits.
  always_comb begin
    out_o = in_i[0];
    for (int unsigned i = 1; i < Sources; i++) begin
      if (source_q == idx_t'(i)) out_o = in_i[i];
    end
  end

  always_comb begin
    in_ready_o           = '0;
    in_ready_o[source_q] = busy_q && out_ready_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      source_q <= '0;
    end else if (!busy_q) begin
      busy_q   <= |in_valid_i;
      source_q <= chosen;
    end else if (out_valid_o && out_ready_i && out_o.last) begin
      busy_q   <= 1'b0;
    end
  end

  `ASSERT(BurstComesWhole, busy_q |-> in_valid_i[source_q])

  `COVER(AllWait, !busy_q && &in_valid_i)
  `COVER(BackPressure, out_valid_o && !out_ready_i)

endmodule
