// AXI4 write master for single lines. Write responses come back in the order of the requests, since all carry the same ID.
`include "assert.svh"

module line_writer
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32    // writes that may be outstanding, a power of two
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clear_i,           // a run begins: forget counter and fault
  input  logic       count_i,           // count what is asked for

  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  addr_t      req_addr_i,        // aligned to a line
  input  line_t      req_line_i,
  input  strobe_t    req_strb_i,

  output logic       idle_o,            // every write has been answered
  output word_t      writes_o,          // writes asked for in this run
  output bus_fault_t fault_o,           // the first error of this run

  output logic       aw_valid_o,
  input  logic       aw_ready_i,
  output axi_ax_t    aw_o,
  output logic       w_valid_o,
  input  logic       w_ready_i,
  output axi_w_t     w_o,
  input  logic       b_valid_i,
  output logic       b_ready_o,
  input  axi_b_t     b_i
);

  typedef struct packed {
    line_t   line;
    strobe_t strb;
  } data_t;

  logic  addr_ready, data_ready, pending_ready, pending_valid, push;
  addr_t addr, pending_addr;
  data_t data;

  assign req_ready_o = addr_ready && data_ready && pending_ready;
  assign push        = req_valid_i && req_ready_o;

  // Address and data leave independently, each as soon as its channel takes it.
  fifo #(.T(addr_t), .Depth(4)) u_addr (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (addr_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (aw_valid_o),
    .out_ready_i (aw_ready_i),
    .out_data_o  (addr)
  );

  fifo #(.T(data_t), .Depth(4)) u_data (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (data_ready),
    .in_data_i   ('{line: req_line_i, strb: req_strb_i}),
    .out_valid_o (w_valid_o),
    .out_ready_i (w_ready_i),
    .out_data_o  (data)
  );

  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (pending_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (pending_valid),
    .out_ready_i (b_valid_i),
    .out_data_o  (pending_addr)
  );

  assign aw_o      = axi_single_line(addr);
  assign w_o       = '{data: data.line, strb: data.strb, last: 1'b1};
  assign b_ready_o = 1'b1;
  assign idle_o    = !pending_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      writes_o     <= '0;
      fault_o.seen <= 1'b0;
    end else begin
      if (push && count_i) writes_o <= writes_o + 1'b1;
      if (b_valid_i && b_i.resp[1]) fault_o.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_o.seen) begin
      fault_o.resp <= b_i.resp;
      fault_o.addr <= pending_addr;
    end
  end

  `ASSERT(AddressAligned, req_valid_i |-> req_addr_i[$clog2(LineBytes)-1:0] == '0)
  `ASSERT(AnswerExpected, b_valid_i |-> (pending_valid && b_i.id == '0))
  `ASSERT_STABLE(AwStable, aw_valid_o, aw_ready_i, aw_o)
  `ASSERT_STABLE(WStable, w_valid_o, w_ready_i, w_o)

endmodule
