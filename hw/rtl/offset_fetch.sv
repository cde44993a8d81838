// Looks up the offset record {start, degree} of each node: one read of the line that holds it. A node whose record lies in the
// same line as that of the one before shares that read.
`include "assert.svh"

module offset_fetch
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  addr_t      base_i,            // of node 0's record; aligned to a line
  input  word_t      num_edges_i,
  input  logic       abort_i,           // the run has failed: drop what comes in

  output logic       busy_o,

  input  logic       in_valid_i,
  output logic       in_ready_o,
  input  frontier_t  in_i,

  output line_req_t  lines_o,           // line_reader
  input  line_resp_t lines_i,

  output logic       out_valid_o,
  input  logic       out_ready_i,
  output extent_t    out_o
);

  typedef struct packed {
    item_t      item;
    record_no_t record_no;
    logic       reads;    // a line comes for it; else, if it is data, it shares the line before
  } waiting_t;

  // ---- Ask ---------------------------------------------------------------------------------------------------------
  line_no_t line_no, last_line_q;
  logic     last_valid_q, in_data, drop, reads, order_in_ready, accept;

  assign line_no    = record_line_of(in_i.id);
  // Only data reads; everything else waits its turn in the order queue.
  assign in_data    = in_i.item.kind == ItemData;
  assign drop       = abort_i && in_i.item.kind != ItemEnd;
  assign reads      = in_data && !(last_valid_q && last_line_q == line_no);
  assign in_ready_o = drop || (order_in_ready && (!reads || lines_i.addr_ready));
  assign accept     = in_valid_i && in_ready_o && !drop;

  assign lines_o.addr_valid = in_valid_i && reads && !drop && order_in_ready;
  assign lines_o.addr       = line_addr(base_i, line_no);

  always_ff @(posedge clk_i) begin
    if (!rst_ni)           last_valid_q <= 1'b0;
    else if (accept)       last_valid_q <= in_data;
    if (accept && in_data) last_line_q  <= line_no;
  end

  // ---- Wait in order -----------------------------------------------------------------------------------------------
  waiting_t order;
  logic     order_valid, order_data, fire;

  fifo #(.T(waiting_t), .Depth(Window)) u_order (
    .clk_i, .rst_ni,
    .in_valid_i  (in_valid_i && !drop && (!reads || lines_i.addr_ready)),
    .in_ready_o  (order_in_ready),
    .in_data_i   ('{item: in_i.item, record_no: record_of(in_i.id), reads: reads}),
    .out_valid_o (order_valid),
    .out_ready_i (fire),
    .out_data_o  (order)
  );

  // ---- Answer ------------------------------------------------------------------------------------------------------
  records_t    line, held_line_q;
  logic        line_valid, error, held_error_q;
  record_t     found;
  logic [32:0] past_end;

  assign order_data  = order.item.kind == ItemData;
  assign line_valid  = lines_i.line_valid;
  assign out_valid_o = order_valid && (!order.reads || line_valid);
  assign fire        = out_valid_o && out_ready_i;
  assign busy_o      = order_valid;

  assign lines_o.line_ready = order_valid && order.reads && out_ready_i;

  assign line     = order.reads ? lines_i.line : held_line_q;
  assign error    = order.reads ? lines_i.error : held_error_q;
  assign found    = line[order.record_no];
  assign past_end = {1'b0, found.start} + {1'b0, found.degree};

  always_ff @(posedge clk_i) begin
    if (fire && order.reads) begin
      held_line_q  <= line;
      held_error_q <= error;
    end
  end

  always_comb begin
    out_o.item   = order.item;
    out_o.start  = pos_t'(found.start);
    out_o.degree = count_t'(found.degree);
    if (order_data && error) begin
      out_o.item.kind   = ItemReadError;
      out_o.item.detail = item_detail_t'(PortOffs);
    end else if (order_data && past_end > {1'b0, num_edges_i}) begin
      out_o.item.kind   = ItemCorrupt;
      out_o.item.detail = item_detail_t'(CorruptRecord);
    end
  end

  `ASSERT(AnswersAreOrdered, line_valid |-> order_valid)

endmodule
