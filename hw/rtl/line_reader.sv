// AXI4 read master for single lines. Lines come back in the order of the requests, since all carry the same ID.
`include "assert.svh"

module line_reader
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32,   // reads that may be outstanding, a power of two
  parameter int unsigned Queue  = 2,    // of those, reads that the bus has not taken yet, a power of two
  parameter int unsigned Stages = 0     // registers in each channel, for a port in another SLR
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clear_i,           // a run begins: forget counter and fault

  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  addr_t      req_addr_i,        // aligned to a line

  output logic       rsp_valid_o,
  input  logic       rsp_ready_i,
  output line_t      rsp_line_o,
  output logic       rsp_error_o,

  output word_t      reads_o,           // reads issued in this run
  output bus_fault_t fault_o,           // the first error of this run

  output logic       ar_valid_o,
  input  logic       ar_ready_i,
  output axi_ax_t    ar_o,
  input  logic       r_valid_i,
  output logic       r_ready_o,
  input  axi_r_t     r_i
);

  logic  issue_ready, issue_valid, issue_taken, pending_ready, pending_valid;
  addr_t issue_addr, pending_addr;

  assign req_ready_o = issue_ready && pending_ready;

  fifo #(.T(addr_t), .Depth(Queue)) u_issue (
    .clk_i, .rst_ni,
    .in_valid_i  (req_valid_i && pending_ready),
    .in_ready_o  (issue_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (issue_valid),
    .out_ready_i (issue_taken),
    .out_data_o  (issue_addr)
  );

  // Addresses of the reads on their way: the room in here is the window, and an error can name its address.
  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (req_valid_i && issue_ready),
    .in_ready_o  (pending_ready),
    .in_data_i   (req_addr_i),
    .out_valid_o (pending_valid),
    .out_ready_i (rsp_valid_o && rsp_ready_i),
    .out_data_o  (pending_addr)
  );

  handshake_pipe #(.T(axi_ax_t), .Stages(Stages)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i  (issue_valid),
    .in_ready_o  (issue_taken),
    .in_data_i   (axi_single_line(issue_addr)),
    .out_valid_o (ar_valid_o),
    .out_ready_i (ar_ready_i),
    .out_data_o  (ar_o)
  );

  axi_r_t rsp;

  handshake_pipe #(.T(axi_r_t), .Stages(Stages)) u_r (
    .clk_i, .rst_ni,
    .in_valid_i  (r_valid_i),
    .in_ready_o  (r_ready_o),
    .in_data_i   (r_i),
    .out_valid_o (rsp_valid_o),
    .out_ready_i (rsp_ready_i),
    .out_data_o  (rsp)
  );

  assign rsp_line_o  = rsp.data;
  assign rsp_error_o = rsp.resp[1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      reads_o      <= '0;
      fault_o.seen <= 1'b0;
    end else begin
      if (ar_valid_o && ar_ready_i) reads_o <= reads_o + 1'b1;
      if (rsp_valid_o && rsp_ready_i && rsp_error_o && !fault_o.seen) fault_o.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_o.seen) begin
      fault_o.resp <= rsp.resp;
      fault_o.addr <= pending_addr;
    end
  end

  `ASSERT(AddressAligned, req_valid_i |-> req_addr_i[$clog2(LineBytes)-1:0] == '0)
  `ASSERT(AnswerExpected, rsp_valid_o |-> (pending_valid && rsp.last && rsp.id == '0))
  `ASSERT_STABLE(ArStable, ar_valid_o, ar_ready_i, ar_o)

  `COVER(WindowFull, req_valid_i && !pending_ready)
  `COVER(ErrorResponse, rsp_valid_o && rsp_ready_i && rsp_error_o)

endmodule
