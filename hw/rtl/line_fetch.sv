// Reads the source of each drawn edge. The indices are dealt over the channels by line: line n lies in channel n mod
// Channels. An edge in the same line as the one before it shares that read.
`include "assert.svh"

module line_fetch
  import trisage_pkg::*;
#(
  parameter int unsigned Channels = 4,  // 1, 2, 4 or 8
  parameter int unsigned Window   = 32  // edges that may be under way, a power of two
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  addr_t [MaxChannels-1:0]  bases_i,       // of each channel; aligned to a line
  input  word_t                    num_nodes_i,
  input  logic                     abort_i,       // the run has failed: drop what comes in

  output logic                     busy_o,

  input  logic                     in_valid_i,
  output logic                     in_ready_o,
  input  edge_t                    in_i,

  output logic  [Channels-1:0]     req_valid_o,   // a line_reader per channel
  input  logic  [Channels-1:0]     req_ready_i,
  output addr_t                    req_addr_o,
  input  logic  [Channels-1:0]     rsp_valid_i,
  output logic  [Channels-1:0]     rsp_ready_o,
  input  line_t [Channels-1:0]     rsp_line_i,
  input  logic  [Channels-1:0]     rsp_error_i,

  output logic                     out_valid_o,
  input  logic                     out_ready_i,
  output arc_t                     out_o
);

  localparam int unsigned ChannelBits = $clog2(Channels);
  localparam int unsigned ChannelWidth = ChannelBits == 0 ? 1 : ChannelBits;
  typedef logic [ChannelWidth-1:0] channel_t;
  typedef logic [26:0]             line_no_t;

  typedef struct packed {
    item_t    item;
    pos_t     pos;
    logic     reads;      // a line comes for it; else it shares the line before
    channel_t channel;
  } waiting_t;

  // ---- Ask ---------------------------------------------------------------------------------------------------------
  line_no_t line_no, last_line_q;
  channel_t channel;
  logic     last_valid_q, is_data, drop, reads, order_in_ready, accept;

  assign line_no = in_i.pos[30:4];
  assign channel = ChannelBits == 0 ? '0 : channel_t'(line_no);
  assign is_data = in_i.item.kind == ItemData;
  assign drop    = abort_i && in_i.item.kind != ItemEnd;
  assign reads   = is_data && !(last_valid_q && last_line_q == line_no);

  assign req_addr_o = bases_i[channel] + {31'b0, line_no >> ChannelBits, 6'b0};
  assign accept     = in_valid_i && !drop && order_in_ready && (!reads || req_ready_i[channel]);
  assign in_ready_o = drop || (order_in_ready && (!reads || req_ready_i[channel]));

  always_comb begin
    req_valid_o          = '0;
    req_valid_o[channel] = in_valid_i && reads && !drop && order_in_ready;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                last_valid_q <= 1'b0;
    else if (accept)            last_valid_q <= is_data;
    if (accept && is_data)      last_line_q  <= line_no;
  end

  // ---- Wait in order -----------------------------------------------------------------------------------------------
  waiting_t order;
  logic     order_valid, fire;

  fifo #(.T(waiting_t), .Depth(Window)) u_order (
    .clk_i, .rst_ni,
    .in_valid_i  (in_valid_i && !drop && (!reads || req_ready_i[channel])),
    .in_ready_o  (order_in_ready),
    .in_data_i   ('{item: in_i.item, pos: in_i.pos, reads: reads, channel: channel}),
    .out_valid_o (order_valid),
    .out_ready_i (fire),
    .out_data_o  (order)
  );

  // ---- Answer ------------------------------------------------------------------------------------------------------
  line_t    line, held_line_q;
  logic     error, held_error_q;
  channel_t held_channel_q, from_channel;
  word_t    source;

  assign busy_o       = order_valid;
  assign out_valid_o  = order_valid && (!order.reads || rsp_valid_i[order.channel]);
  assign fire         = out_valid_o && out_ready_i;
  assign line         = order.reads ? rsp_line_i[order.channel] : held_line_q;
  assign error        = order.reads ? rsp_error_i[order.channel] : held_error_q;
  assign from_channel = order.reads ? order.channel : held_channel_q;
  assign source       = line[32*order.pos[3:0] +: 32];

  always_comb begin
    rsp_ready_o                = '0;
    rsp_ready_o[order.channel] = order_valid && order.reads && out_ready_i;
  end

  always_ff @(posedge clk_i) begin
    if (fire && order.reads) begin
      held_line_q    <= line;
      held_error_q   <= error;
      held_channel_q <= order.channel;
    end
  end

  always_comb begin
    out_o.item = order.item;
    out_o.pos  = order.pos;
    out_o.u    = source[30:0];
    if (order.item.kind == ItemData) begin
      if (error) begin
        out_o.item.kind   = ItemReadError;
        out_o.item.detail = 4'(PortIdx0) + 4'(from_channel);
      end else if (source >= num_nodes_i) begin
        out_o.item.kind   = ItemCorrupt;
        out_o.item.detail = CorruptIndex[3:0];
      end
    end
  end

  if (Channels == 0 || Channels > MaxChannels || (Channels & (Channels - 1)) != 0) begin : gen_channels
    $error("Channels must be 1, 2, 4 or 8");
  end

  `COVER(SharedLine, accept && is_data && !reads)
  `COVER(SharedError, fire && order.item.kind == ItemData && !order.reads && error)
  `COVER(OtherChannelFirst, order_valid && order.reads && !rsp_valid_i[order.channel] && rsp_valid_i != '0)

endmodule
