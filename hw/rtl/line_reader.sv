// AXI4 read master for single lines. Lines come back in the order of the requests, since all carry the same ID.
`include "assert.svh"

module line_reader
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32,   // reads that may be outstanding, a power of two
  parameter int unsigned Queue  = 2,    // of those, reads that the bus has not taken yet, a power of two
  parameter int unsigned Stages = 0     // registers in each channel, for a port in another SLR
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           clear_i,       // a run begins: forget its traffic

  input  line_req_t      req_i,
  output line_resp_t     resp_o,

  output read_traffic_t  traffic_o,

  output axi_read_req_t  axi_req_o,
  input  axi_read_resp_t axi_resp_i
);

  logic       issue_ready, issue_valid, issue_taken, pending_ready, pending_valid;
  logic       asked, ar_valid, ar_ready, r_valid, error, used;
  addr_t      addr, issue_addr, pending_addr;
  axi_ax_t    ar;
  axi_r_t     r;
  word_t      reads_q;
  bus_fault_t fault_q;

  assign asked     = req_i.addr_valid;
  assign addr      = req_i.addr;
  assign error     = is_error(r.resp);
  assign used      = r_valid && req_i.line_ready;
  assign resp_o    = '{addr_ready: issue_ready && pending_ready, line_valid: r_valid, error: error, line: r.data};
  assign traffic_o = '{reads: reads_q, fault: fault_q};

  fifo #(.T(addr_t), .Depth(Queue)) u_issue (
    .clk_i, .rst_ni,
    .in_valid_i  (asked && pending_ready),
    .in_ready_o  (issue_ready),
    .in_data_i   (addr),
    .out_valid_o (issue_valid),
    .out_ready_i (issue_taken),
    .out_data_o  (issue_addr)
  );

  // Addresses of the reads on their way: the room in here is the window, and an error can name its address.
  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (asked && issue_ready),
    .in_ready_o  (pending_ready),
    .in_data_i   (addr),
    .out_valid_o (pending_valid),
    .out_ready_i (used),
    .out_data_o  (pending_addr)
  );

  handshake_pipe #(.T(axi_ax_t), .Stages(Stages)) u_ar (
    .clk_i, .rst_ni,
    .in_valid_i  (issue_valid),
    .in_ready_o  (issue_taken),
    .in_data_i   (axi_single_line(issue_addr)),
    .out_valid_o (ar_valid),
    .out_ready_i (ar_ready),
    .out_data_o  (ar)
  );

  assign axi_req_o.ar_valid = ar_valid;
  assign axi_req_o.ar       = ar;
  assign ar_ready           = axi_resp_i.ar_ready;

  handshake_pipe #(.T(axi_r_t), .Stages(Stages)) u_r (
    .clk_i, .rst_ni,
    .in_valid_i  (axi_resp_i.r_valid),
    .in_ready_o  (axi_req_o.r_ready),
    .in_data_i   (axi_resp_i.r),
    .out_valid_o (r_valid),
    .out_ready_i (req_i.line_ready),
    .out_data_o  (r)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      reads_q      <= '0;
      fault_q.seen <= 1'b0;
    end else begin
      if (ar_valid && ar_ready) reads_q <= reads_q + 1'b1;
      if (used && error && !fault_q.seen) fault_q.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_q.seen) begin
      fault_q.resp <= r.resp;
      fault_q.addr <= pending_addr;
    end
  end

  `ASSERT(AddressAligned, asked |-> line_aligned(addr))
  `ASSERT(AnswerExpected, r_valid |-> (pending_valid && r.last && r.id == '0))
  `ASSERT_STABLE(ArStable, ar_valid, ar_ready, ar)

  `COVER(WindowFull, asked && !pending_ready)
  `COVER(ErrorResponse, used && error)

endmodule
