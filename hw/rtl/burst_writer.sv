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
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,          // a run begins: forget counters and fault
  input  logic        count_i,          // count what is asked for

  input  logic        req_valid_i,
  output logic        req_ready_o,
  input  write_line_t req_i,

  output logic        idle_o,           // every write has been answered
  output word_t       bursts_o,         // asked for in this run
  output word_t       beats_o,
  output bus_fault_t  fault_o,          // the first error of this run

  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output axi_ax_t     aw_o,
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output axi_w_t      w_o,
  input  logic        b_valid_i,
  output logic        b_ready_o,
  input  axi_b_t      b_i
);

  logic    addr_ready, addr_valid, addr_taken, data_ready, data_valid, data_taken, pending_ready, pending_valid;
  logic    in_burst_q;      // the burst has been asked for
  logic    push, push_first, answered;
  addr_t   pending_addr;
  axi_ax_t addr;
  axi_w_t  data;
  axi_b_t  answer;

  assign req_ready_o = data_ready && (in_burst_q || (addr_ready && pending_ready));
  assign push        = req_valid_i && req_ready_o;
  assign push_first  = push && !in_burst_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)   in_burst_q <= 1'b0;
    else if (push) in_burst_q <= !req_i.last;
  end

  fifo #(.T(axi_ax_t), .Depth(4)) u_addr (
    .clk_i, .rst_ni,
    .in_valid_i  (push_first),
    .in_ready_o  (addr_ready),
    .in_data_i   (axi_lines(req_i.addr, req_i.len)),
    .out_valid_o (addr_valid),
    .out_ready_i (addr_taken),
    .out_data_o  (addr)
  );

  fifo #(.T(axi_w_t), .Depth(4)) u_data (
    .clk_i, .rst_ni,
    .in_valid_i  (push),
    .in_ready_o  (data_ready),
    .in_data_i   ('{data: req_i.line, strb: req_i.strb, last: req_i.last}),
    .out_valid_o (data_valid),
    .out_ready_i (data_taken),
    .out_data_o  (data)
  );

  fifo #(.T(addr_t), .Depth(Window)) u_pending (
    .clk_i, .rst_ni,
    .in_valid_i  (push_first),
    .in_ready_o  (pending_ready),
    .in_data_i   (req_i.addr),
    .out_valid_o (pending_valid),
    .out_ready_i (answered),
    .out_data_o  (pending_addr)
  );

  handshake_pipe #(.T(axi_ax_t), .Stages(Stages)) u_aw (
    .clk_i, .rst_ni,
    .in_valid_i  (addr_valid),
    .in_ready_o  (addr_taken),
    .in_data_i   (addr),
    .out_valid_o (aw_valid_o),
    .out_ready_i (aw_ready_i),
    .out_data_o  (aw_o)
  );

  handshake_pipe #(.T(axi_w_t), .Stages(Stages)) u_w (
    .clk_i, .rst_ni,
    .in_valid_i  (data_valid),
    .in_ready_o  (data_taken),
    .in_data_i   (data),
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
      bursts_o     <= '0;
      beats_o      <= '0;
      fault_o.seen <= 1'b0;
    end else begin
      if (push_first && count_i) bursts_o <= bursts_o + 1'b1;
      if (push && count_i)       beats_o  <= beats_o + 1'b1;
      if (answered && answer.resp[1]) fault_o.seen <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!fault_o.seen) begin
      fault_o.resp <= answer.resp;
      fault_o.addr <= pending_addr;
    end
  end

  // For the assertion: as many lines come as were asked for.
  logic [7:0] left_q;
  always_ff @(posedge clk_i) begin
    if (push) left_q <= in_burst_q ? left_q - 1'b1 : req_i.len;
  end

  `ASSERT(AddressAligned, req_valid_i |-> req_i.addr[$clog2(LineBytes)-1:0] == '0)
  `ASSERT(LastIsLast, push |-> req_i.last == (in_burst_q ? left_q == 8'd1 : req_i.len == '0))
  `ASSERT(Within4KiB, push_first |-> 9'(req_i.addr[11:6]) + 9'(req_i.len) < 9'd64)
  `ASSERT(AnswerExpected, answered |-> (pending_valid && answer.id == '0))
  `ASSERT_STABLE(AwStable, aw_valid_o, aw_ready_i, aw_o)
  `ASSERT_STABLE(WStable, w_valid_o, w_ready_i, w_o)

  `COVER(AddressWaits, aw_valid_o && !aw_ready_i && w_valid_o && w_ready_i)
  `COVER(DataWaits, aw_valid_o && aw_ready_i && w_valid_o && !w_ready_i)
  `COVER(WindowFull, req_valid_i && !in_burst_q && !pending_ready)
  `COVER(ErrorResponse, answered && answer.resp[1])

endmodule
