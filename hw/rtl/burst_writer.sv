// AXI4 write master for bursts of lines. Write responses come back in the order of the requests, since all carry the same ID.
//
// The lines of a burst come one after the other; with the first one the burst is asked for. Address and data leave
// independently, so a slave may take either first.
`include "assert.svh"

module burst_writer
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32,   // bursts that may be outstanding, a power of two
  parameter int unsigned Stages = 0     // registers in each channel, for a port in another SLR
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            clear_i,      // a run begins: forget its traffic
  input  logic            count_i,      // count what is asked for

  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  write_line_t     in_i,

  output logic            idle_o,       // every write has been answered
  output write_traffic_t  traffic_o,

  output axi_write_req_t  axi_req_o,
  input  axi_write_resp_t axi_resp_i
);

  logic       addr_ready, addr_valid, addr_taken, data_ready, data_valid, data_taken, pending_ready, pending_valid;
  logic       in_burst_q;      // the burst has been asked for
  logic       push, push_first, aw_valid, aw_ready, w_valid, w_ready, answered;
  addr_t      pending_addr;
  axi_ax_t    addr, aw;
  axi_w_t     data, w;
  axi_b_t     answer;
  word_t      bursts_q, beats_q;
  bus_fault_t fault_q;

  assign in_ready_o = data_ready && (in_burst_q || (addr_ready && pending_ready));
  assign push       = in_valid_i && in_ready_o;
  assign push_first = push && !in_burst_q;
  assign traffic_o  = '{bursts: bursts_q, beats: beats_q, fault: fault_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni)   in_burst_q <= 1'b0;
    else if (push) in_burst_q <= !in_i.last;
  end

  fifo #(.T(axi_ax_t), .Depth(4)) u_addr (
    .clk_i, .rst_ni,
    .in_valid_i  (push_first),
    .in_ready_o  (addr_ready),
    .in_data_i   (axi_lines(in_i.addr, in_i.len)),
    .out_valid_o (addr_valid),
    .out_ready_i (addr_taken),
    .out_data_o  (addr)
  );

  fifo #(.T(axi_w_t), .Depth(4)) u_data (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (data_ready),
    .in_data_i   ('{last: in_i.last, strb: in_i.strb, data: in_i.line}),
    .out_valid_o (data_valid),
    .out_ready_i (data_taken),
    .out_data_o  (data)
  );

  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (push_first),
    .in_ready_o  (pending_ready),
    .in_data_i   (in_i.addr),
    .out_valid_o (pending_valid),
    .out_ready_i (answered),
    .out_data_o  (pending_addr)
  );

  handshake_pipe #(.T(axi_ax_t), .Stages(Stages)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i  (addr_valid),
    .in_ready_o  (addr_taken),
    .in_data_i   (addr),
    .out_valid_o (aw_valid),
    .out_ready_i (aw_ready),
    .out_data_o  (aw)
  );

  handshake_pipe #(.T(axi_w_t), .Stages(Stages)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i  (data_valid),
    .in_ready_o  (data_taken),
    .in_data_i   (data),
    .out_valid_o (w_valid),
    .out_ready_i (w_ready),
    .out_data_o  (w)
  );

  assign axi_req_o.aw_valid = aw_valid;
  assign axi_req_o.aw       = aw;
  assign axi_req_o.w_valid  = w_valid;
  assign axi_req_o.w        = w;
  assign aw_ready           = axi_resp_i.aw_ready;
  assign w_ready            = axi_resp_i.w_ready;

  handshake_pipe #(.T(axi_b_t), .Stages(Stages)) u_b (
    .clk_i, .rst_ni,
    .in_valid_i  (axi_resp_i.b_valid),
    .in_ready_o  (axi_req_o.b_ready),
    .in_data_i   (axi_resp_i.b),
    .out_valid_o (answered),
    .out_ready_i (1'b1),
    .out_data_o  (answer)
  );

  assign idle_o = !pending_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      bursts_q     <= '0;
      beats_q      <= '0;
      fault_q.seen <= 1'b0;
    end else begin
      if (push_first && count_i) bursts_q <= bursts_q + 1'b1;
      if (push && count_i)       beats_q  <= beats_q + 1'b1;
      if (answered && is_error(answer.resp)) fault_q.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_q.seen) begin
      fault_q.resp <= answer.resp;
      fault_q.addr <= pending_addr;
    end
  end

  // For the assertion: as many lines come as were asked for.
  logic [7:0] left_q;
  always_ff @(posedge clk_i) begin
    if (push) left_q <= in_burst_q ? left_q - 1'b1 : in_i.len;
  end

  `ASSERT(AddressAligned, in_valid_i |-> line_aligned(in_i.addr))
  `ASSERT(LastIsLast, push |-> in_i.last == (in_burst_q ? left_q == 8'd1 : in_i.len == '0))
  `ASSERT(Within4KiB, push_first |-> same_page(in_i.addr, line_addr(in_i.addr, line_no_t'(in_i.len))))
  `ASSERT(AnswerExpected, answered |-> (pending_valid && answer.id == '0))
  `ASSERT_STABLE(AwStable, aw_valid, aw_ready, aw)
  `ASSERT_STABLE(WStable, w_valid, w_ready, w)

  `COVER(AddressWaits, aw_valid && !aw_ready && w_valid && w_ready)
  `COVER(DataWaits, aw_valid && aw_ready && w_valid && !w_ready)
  `COVER(WindowFull, in_valid_i && !in_burst_q && !pending_ready)
  `COVER(ErrorResponse, answered && is_error(answer.resp))

endmodule
