// Reads the source of each drawn edge. The indices are dealt over the channels by line: line n lies in channel n mod
// Channels. An edge in the same line as the one before it shares that read.
`include "assert.svh"

module line_fetch
  import trisage_pkg::*;
#(
  parameter int unsigned Channels = 4,  // 1, 2, 4 or 8
  parameter int unsigned Window   = 32  // edges that may be under way, a power of two
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  input  addr_t [MaxChannels-1:0]   bases_i,      // of each channel; aligned to a line
  input  word_t                     num_nodes_i,
  input  logic                      abort_i,      // the run has failed: drop what comes in

  output logic                      busy_o,

  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  edge_t                     in_i,

  output line_req_t  [Channels-1:0] lines_o,      // a line_reader per channel
  input  line_resp_t [Channels-1:0] lines_i,

  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output arc_t                      out_o
);

  localparam int unsigned ChannelBits = $clog2(Channels);
  localparam int unsigned ChannelWidth = ChannelBits == 0 ? 1 : ChannelBits;
  typedef logic [ChannelWidth-1:0] channel_t;

  typedef struct packed {
    item_t    item;
    pos_t     pos;
    logic     reads;      // a line comes for it; else it shares the line before
    channel_t channel;
  } waiting_t;

  // ---- Ask ---------------------------------------------------------------------------------------------------------
  line_no_t line_no, last_line_q;
  channel_t channel;
  addr_t    addr;
  logic     last_valid_q, is_data, drop, reads, order_in_ready, asks, accept;

  assign line_no = line_of(in_i.pos);
  assign channel = ChannelBits == 0 ? '0 : channel_t'(line_no);
  assign is_data = in_i.item.kind == ItemData;
  assign drop    = abort_i && in_i.item.kind != ItemEnd;
  assign reads   = is_data && !(last_valid_q && last_line_q == line_no);

  assign addr       = line_addr(bases_i[channel], line_no >> ChannelBits);
  assign asks       = in_valid_i && reads && !drop && order_in_ready;
  assign accept     = in_valid_i && !drop && order_in_ready && (!reads || lines_i[channel].addr_ready);
  assign in_ready_o = drop || (order_in_ready && (!reads || lines_i[channel].addr_ready));

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
    .in_valid_i  (in_valid_i && !drop && (!reads || lines_i[channel].addr_ready)),
    .in_ready_o  (order_in_ready),
    .in_data_i   ('{item: in_i.item, pos: in_i.pos, reads: reads, channel: channel}),
    .out_valid_o (order_valid),
    .out_ready_i (fire),
    .out_data_o  (order)
  );

  // ---- Answer ------------------------------------------------------------------------------------------------------
  words_t   line, held_line_q;
  logic     error, held_error_q, takes;
  channel_t held_channel_q, from_channel;
  word_t    source;
  logic [Channels-1:0] there;   // channels of which a line is there

  assign busy_o       = order_valid;
  assign out_valid_o  = order_valid && (!order.reads || lines_i[order.channel].line_valid);
  assign fire         = out_valid_o && out_ready_i;
  assign takes        = order_valid && order.reads && out_ready_i;
  assign error        = order.reads ? lines_i[order.channel].error : held_error_q;
  assign from_channel = order.reads ? order.channel : held_channel_q;
  assign source       = line[lane_of(order.pos)];

  // A constant index each, with which a simulator moves whole words, not bits.
  always_comb begin
    line = held_line_q;
    for (int unsigned c = 0; c < Channels; c++) begin
      if (order.reads && order.channel == channel_t'(c)) line = lines_i[c].line;
    end
  end

  for (genvar c = 0; c < Channels; c++) begin : gen_channel
    assign lines_o[c] = '{addr_valid: asks && channel == channel_t'(c), addr: addr,
                          line_ready: takes && order.channel == channel_t'(c)};
    assign there[c]   = lines_i[c].line_valid;
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
    out_o.u    = node_t'(source);
    if (order.item.kind == ItemData) begin
      if (error) begin
        out_o.item.kind   = ItemReadError;
        out_o.item.detail = item_detail_t'(PortIdx0) + item_detail_t'(from_channel);
      end else if (source >= num_nodes_i) begin
        out_o.item.kind   = ItemCorrupt;
        out_o.item.detail = item_detail_t'(CorruptIndex);
      end
    end
  end

  if (Channels == 0 || Channels > MaxChannels || (Channels & (Channels - 1)) != 0) begin : gen_channels
    $error("Channels must be 1, 2, 4 or 8");
  end

  `COVER(SharedLine, accept && is_data && !reads)
  `COVER(SharedError, fire && order.item.kind == ItemData && !order.reads && error)
  `COVER(OtherChannelFirst, order_valid && order.reads && !there[order.channel] && there != '0)

endmodule
