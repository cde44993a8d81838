// Looks up the offset record {start, degree} of each node: one read of the line that holds it. A node whose record lies in the
// same line as that of the one before shares that read.
`include "assert.svh"

module offset_fetch
  import trisage_pkg::*;
#(
  parameter int unsigned Window = 32
) (
  input  logic      clk_i,
  input  logic      rst_ni,

  input  addr_t     base_i,             // of node 0's record; aligned to a line
  input  word_t     num_edges_i,
  input  logic      abort_i,            // the run has failed: drop what comes in

  output logic      busy_o,

  input  logic      in_valid_i,
  output logic      in_ready_o,
  input  frontier_t in_i,

  output logic      req_valid_o,        // line_reader
  input  logic      req_ready_i,
  output addr_t     req_addr_o,
  input  logic      rsp_valid_i,
  output logic      rsp_ready_o,
  input  line_t     rsp_line_i,
  input  logic      rsp_error_i,

  output logic      out_valid_o,
  input  logic      out_ready_i,
  output extent_t   out_o
);

  localparam int unsigned RecordsPerLine = LineBytes / 8;
  typedef logic [$clog2(RecordsPerLine)-1:0] record_t;

  typedef logic [$bits(node_t)-$bits(record_t)-1:0] line_no_t;

  typedef struct packed {
    item_t   item;
    record_t record;
    logic    reads;       // a line comes for it; else, if it is data, it shares the line before
  } waiting_t;

  // ---- Ask ---------------------------------------------------------------------------------------------------------
  line_no_t line_no, last_line_q;
  record_t  record_no;
  logic     last_valid_q, in_data, drop, reads, order_in_ready, accept;

  assign {line_no, record_no} = in_i.id;
  // Only data reads; everything else waits its turn in the order queue.
  assign in_data     = in_i.item.kind == ItemData;
  assign drop        = abort_i && in_i.item.kind != ItemEnd;
  assign reads       = in_data && !(last_valid_q && last_line_q == line_no);
  assign req_valid_o = in_valid_i && reads && !drop && order_in_ready;
  assign req_addr_o  = base_i + {30'b0, line_no, 6'b0};
  assign in_ready_o  = drop || (order_in_ready && (!reads || req_ready_i));
  assign accept      = in_valid_i && in_ready_o && !drop;

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
    .in_valid_i  (in_valid_i && !drop && (!reads || req_ready_i)),
    .in_ready_o  (order_in_ready),
    .in_data_i   ('{item: in_i.item, record: record_no, reads: reads}),
    .out_valid_o (order_valid),
    .out_ready_i (fire),
    .out_data_o  (order)
  );

  // ---- Answer ------------------------------------------------------------------------------------------------------
  line_t       line, held_line_q;
  logic        error, held_error_q;
  logic [63:0] record;
  logic [32:0] past_end;

  assign order_data  = order.item.kind == ItemData;
  assign out_valid_o = order_valid && (!order.reads || rsp_valid_i);
  assign fire        = out_valid_o && out_ready_i;
  assign rsp_ready_o = order_valid && order.reads && out_ready_i;
  assign busy_o      = order_valid;

  assign line     = order.reads ? rsp_line_i : held_line_q;
  assign error    = order.reads ? rsp_error_i : held_error_q;
  assign record   = line[64*order.record +: 64];
  assign past_end = {1'b0, record[31:0]} + {1'b0, record[63:32]};

  always_ff @(posedge clk_i) begin
    if (fire && order.reads) begin
      held_line_q  <= line;
      held_error_q <= error;
    end
  end

  always_comb begin
    out_o.item   = order.item;
    out_o.start  = record[30:0];
    out_o.degree = record[62:32];
    if (order_data && error) begin
      out_o.item.kind   = ItemReadError;
      out_o.item.detail = 4'(PortOffs);
    end else if (order_data && past_end > {1'b0, num_edges_i}) begin
      out_o.item.kind   = ItemCorrupt;
      out_o.item.detail = CorruptRecord[3:0];
    end
  end

  `ASSERT(AnswersAreOrdered, rsp_valid_i |-> order_valid)

endmodule
