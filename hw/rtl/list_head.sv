// Keeps the first nodes of what a phase appends to the node list, so that the next hop can begin with them while the list is on
// its way to memory.
module list_head
  import trisage_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_ni,

  input  logic  turn_i,          // a phase begins: hand out what was kept of the last one, and keep what comes
  input  logic  node_valid_i,    // a node is appended
  input  node_t node_i,

  input  head_t index_i,
  output node_t node_o
);

  logic  kept_q;                 // the half that is handed out; the other one is filled
  logic  full_q;
  head_t next_q;
  node_t mem [2*HeadNodes];

  assign node_o = mem[{kept_q, index_i}];

  always_ff @(posedge clk_i) begin
    if (node_valid_i && !full_q) mem[{!kept_q, next_q}] <= node_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      kept_q <= 1'b0;
      full_q <= 1'b0;
      next_q <= '0;
    end else if (turn_i) begin
      kept_q <= !kept_q;
      full_q <= 1'b0;
      next_q <= '0;
    end else if (node_valid_i) begin
      if (next_q == '1) full_q <= 1'b1;
      next_q <= next_q + 1'b1;
    end
  end

endmodule
