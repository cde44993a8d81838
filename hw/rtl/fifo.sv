// First-in first-out queue with registered flags: neither side's handshake depends on the other's in the same cycle.
`include "assert.svh"

module fifo #(
  parameter type         T     = logic,
  parameter int unsigned Depth = 4      // a power of two, at least 2
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

  localparam int unsigned PtrWidth = $clog2(Depth);
  typedef logic [PtrWidth:0] ptr_t;   // one bit more than an index tells full from empty

  T     mem [Depth];
  ptr_t head_q, tail_q;
  logic push, pop;

  assign in_ready_o  = (tail_q - head_q) != ptr_t'(Depth);
  assign out_valid_o = tail_q != head_q;
  assign out_data_o  = mem[head_q[PtrWidth-1:0]];
  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;

  always_ff @(posedge clk_i) begin
    if (push) mem[tail_q[PtrWidth-1:0]] <= in_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
    end else begin
      if (push) tail_q <= tail_q + 1'b1;
      if (pop)  head_q <= head_q + 1'b1;
    end
  end

  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_depth
    $error("Depth must be a power of two, at least 2");
  end

  `ASSERT(NeverOverfull, (tail_q - head_q) <= ptr_t'(Depth))

  `COVER(Refuses, in_valid_i && !in_ready_o)

endmodule
