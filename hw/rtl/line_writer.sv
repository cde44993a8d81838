// AXI4 write master for single lines. Write responses come back in the order of the requests, since all carry the same ID.
`include "assert.svh"

module line_writer
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32,   // writes that may be outstanding, a power of two
  parameter int unsigned Stages = 0     // registers in each channel, for a port in another SLR
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

  logic  addr_ready, addr_valid, addr_taken, data_ready, data_valid, data_taken, pending_ready, pending_valid, push;
  logic   answered;
  addr_t  addr, pending_addr;
  data_t  data;
  axi_b_t answer;

  assign req_ready_o = addr_ready && data_ready && pending_ready;
  assign push        = req_valid_i && req_ready_o;

  // Address and data leave independently, each as soon as its channel takes it.
  fifo #(.T(addr_t), .Depth(4)) u_addr (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (addr_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (addr_valid),
    .out_ready_i (addr_taken),
    .out_data_o  (addr)
  );

  fifo #(.T(data_t), .Depth(4)) u_data (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (data_ready),
    .in_data_i   ('{line: req_line_i, strb: req_strb_i}),
    .out_valid_o (data_valid),
    .out_ready_i (data_taken),
    .out_data_o  (data)
  );

  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (pending_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (pending_valid),
    .out_ready_i (answered),
    .out_data_o  (pending_addr)
  );

  handshake_pipe #(.T(axi_ax_t), .Stages(Stages)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i  (addr_valid),
    .in_ready_o  (addr_taken),
    .in_data_i   (axi_single_line(addr)),
    .out_valid_o (aw_valid_o),
    .out_ready_i (aw_ready_i),
    .out_data_o  (aw_o)
  );

  handshake_pipe #(.T(axi_w_t), .Stages(Stages)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i  (data_valid),
    .in_ready_o  (data_taken),
    .in_data_i   ('{data: data.line, strb: data.strb, last: 1'b1}),
    .out_valid_o (w_valid_o),
    .out_ready_i (w_ready_i),
    .out_data_o  (w_o)
  );

  handshake_pipe #(.T(axi_b_t), .Stages(Stages)) u_b (
    .clk_i, .rst_ni,
    .in_valid_i  (b_valid_i),
    .in_ready_o  (b_ready_o),
    .in_data_i   (b_i),
    .out_valid_o (answered),
    .out_ready_i (1'b1),
    .out_data_o  (answer)
  );

  assign idle_o = !pending_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      writes_o     <= '0;
      fault_o.seen <= 1'b0;
    end else begin
      if (push && count_i) writes_o <= writes_o + 1'b1;
      if (answered && answer.resp[1]) fault_o.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_o.seen) begin
      fault_o.resp <= answer.resp;
      fault_o.addr <= pending_addr;
    end
  end

  `ASSERT(AddressAligned, req_valid_i |-> req_addr_i[$clog2(LineBytes)-1:0] == '0)
  `ASSERT(AnswerExpected, answered |-> (pending_valid && answer.id == '0))
  `ASSERT_STABLE(AwStable, aw_valid_o, aw_ready_i, aw_o)
  `ASSERT_STABLE(WStable, w_valid_o, w_ready_i, w_o)

endmodule
