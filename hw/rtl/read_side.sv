// What a run reads: from the nodes to expand to their drawn in-edges with the source of each. In the seed phase the seeds go
// straight through, as arcs without an edge.
//
//   frontier reader -> offset fetch -> neighbour sampler -> line fetch
//
// Each stage that reads has line_readers of its own, on ports of its own.
module read_side
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4,
  parameter int unsigned Window        = 128,
  parameter int unsigned SlrStages     = 2,
  parameter int unsigned ChachaRounds  = 8
) (
  input  logic                                           clk_i,
  input  logic                                           rst_ni,

  // sequencer
  input  logic                                           clear_i,         // a run begins
  input  command_t                                       command_i,
  input  phase_t                                         phase_i,
  input  logic                                           phase_start_i,

  // write side
  input  logic                                           failed_i,        // drop what is under way
  input  logic                                           list_lost_i,     // the node list could not be written
  input  logic                                           list_at_rest_i,  // all that was appended to it has arrived
  input  logic                                           node_valid_i,    // a node is appended to it
  input  node_t                                          node_i,

  output logic                                           out_valid_o,
  input  logic                                           out_ready_i,
  output arc_t                                           out_o,

  // reports
  output read_traffic_t   [NumPorts-1:0]                 traffic_o,
  output word_t           [MaxChannels-1:0]              elements_o,      // wanted of each index channel
  output stage_activity_t [StageLines:StageFrontier]     stages_o,

  // AXI4 masters
  output axi_read_req_t                                  mem_req_o,
  input  axi_read_resp_t                                 mem_resp_i,
  output axi_read_req_t                                  offs_req_o,
  input  axi_read_resp_t                                 offs_resp_i,
  output axi_read_req_t   [MaxChannels-1:0]              idx_req_o,
  input  axi_read_resp_t  [MaxChannels-1:0]              idx_resp_i
);

  // ---- Frontier: seeds, or a range of the node list -----------------------------------------------------------------
  logic       seeding;
  head_t      head_index;
  node_t      head_node;
  line_req_t  list_req;
  line_resp_t list_resp;
  logic       frontier_busy, frontier_valid, frontier_ready;
  frontier_t  frontier_item;

  assign seeding = phase_i.hop == '0;

  frontier_reader u_frontier (
    .clk_i, .rst_ni,
    .start_i     (phase_start_i),
    .seeds_i     (seeding),
    .base_i      (seeding ? command_i.seeds : command_i.node_list),
    .first_i     (phase_i.first),
    .past_i      (phase_i.past),
    .at_rest_i   (list_at_rest_i),
    .num_nodes_i (command_i.num_nodes),
    // A node list that could not be written cannot be read back.
    .abort_i     (failed_i || list_lost_i),
    .busy_o      (frontier_busy),
    .head_o      (head_index),
    .head_i      (head_node),
    .lines_o     (list_req),
    .lines_i     (list_resp),
    .out_valid_o (frontier_valid),
    .out_ready_i (frontier_ready),
    .out_o       (frontier_item)
  );

  list_head u_list_head (
    .clk_i, .rst_ni,
    .turn_i       (phase_start_i),
    .node_valid_i,
    .node_i,
    .index_i      (head_index),
    .node_o       (head_node)
  );

  line_reader #(.Window(4), .Stages(SlrStages)) u_mem_reader (
    .clk_i, .rst_ni, .clear_i,
    .req_i      (list_req),
    .resp_o     (list_resp),
    .traffic_o  (traffic_o[PortMem]),
    .axi_req_o  (mem_req_o),
    .axi_resp_i (mem_resp_i)
  );

  // Seeds go straight to the table; nodes of a hop to the offset fetch.
  logic      node_in_ready, node_valid, node_ready;
  frontier_t node_item;
  logic      seed_in_ready, seed_valid, seed_ready;
  frontier_t seed_item;

  assign frontier_ready = seeding ? seed_in_ready : node_in_ready;

  fifo #(.T(frontier_t), .Depth(StageQueue)) u_nodes (
    .clk_i, .rst_ni,
    .in_valid_i  (frontier_valid && !seeding),
    .in_ready_o  (node_in_ready),
    .in_data_i   (frontier_item),
    .out_valid_o (node_valid),
    .out_ready_i (node_ready),
    .out_data_o  (node_item)
  );

  fifo #(.T(frontier_t), .Depth(StageQueue)) u_seeds (
    .clk_i, .rst_ni,
    .in_valid_i  (frontier_valid && seeding),
    .in_ready_o  (seed_in_ready),
    .in_data_i   (frontier_item),
    .out_valid_o (seed_valid),
    .out_ready_i (seed_ready),
    .out_data_o  (seed_item)
  );

  // ---- Offsets -----------------------------------------------------------------------------------------------------
  line_req_t  offs_req;
  line_resp_t offs_resp;
  logic       offs_busy, offs_out_valid, offs_out_ready, extent_valid, extent_ready;
  extent_t    offs_out, extent_item;

  offset_fetch #(.Window(Window)) u_offsets (
    .clk_i, .rst_ni,
    .base_i      (command_i.offsets),
    .num_edges_i (command_i.num_edges),
    .abort_i     (failed_i),
    .busy_o      (offs_busy),
    .in_valid_i  (node_valid),
    .in_ready_o  (node_ready),
    .in_i        (node_item),
    .lines_o     (offs_req),
    .lines_i     (offs_resp),
    .out_valid_o (offs_out_valid),
    .out_ready_i (offs_out_ready),
    .out_o       (offs_out)
  );

  line_reader #(.Window(Window), .Stages(SlrStages)) u_offs_reader (
    .clk_i, .rst_ni, .clear_i,
    .req_i      (offs_req),
    .resp_o     (offs_resp),
    .traffic_o  (traffic_o[PortOffs]),
    .axi_req_o  (offs_req_o),
    .axi_resp_i (offs_resp_i)
  );

  fifo #(.T(extent_t), .Depth(StageQueue)) u_extents (
    .clk_i, .rst_ni,
    .in_valid_i  (offs_out_valid),
    .in_ready_o  (offs_out_ready),
    .in_data_i   (offs_out),
    .out_valid_o (extent_valid),
    .out_ready_i (extent_ready),
    .out_data_o  (extent_item)
  );

  // ---- Choice of neighbours ----------------------------------------------------------------------------------------
  logic  sampler_busy, sampler_out_valid, sampler_out_ready, edge_valid, edge_ready;
  edge_t sampler_out, edge_item;

  neighbor_sampler #(.ChachaRounds(ChachaRounds)) u_sampler (
    .clk_i, .rst_ni,
    .seed_i      (command_i.seed),
    .minibatch_i (command_i.minibatch),
    .fanout_i    (phase_i.fanout),
    .abort_i     (failed_i),
    .busy_o      (sampler_busy),
    .in_valid_i  (extent_valid),
    .in_ready_o  (extent_ready),
    .in_i        (extent_item),
    .out_valid_o (sampler_out_valid),
    .out_ready_i (sampler_out_ready),
    .out_o       (sampler_out)
  );

  fifo #(.T(edge_t), .Depth(StageQueue)) u_edges (
    .clk_i, .rst_ni,
    .in_valid_i  (sampler_out_valid),
    .in_ready_o  (sampler_out_ready),
    .in_data_i   (sampler_out),
    .out_valid_o (edge_valid),
    .out_ready_i (edge_ready),
    .out_data_o  (edge_item)
  );

  // ---- Sources of the edges ----------------------------------------------------------------------------------------
  line_req_t  [IndexChannels-1:0] idx_req;
  line_resp_t [IndexChannels-1:0] idx_resp;
  logic                           lines_busy, lines_out_valid, lines_out_ready, arc_valid, arc_ready;
  arc_t                           lines_out, arc_item;

  line_fetch #(.Channels(IndexChannels), .Window(Window)) u_lines (
    .clk_i, .rst_ni,
    .bases_i     (command_i.indices),
    .num_nodes_i (command_i.num_nodes),
    .abort_i     (failed_i),
    .busy_o      (lines_busy),
    .in_valid_i  (edge_valid),
    .in_ready_o  (edge_ready),
    .in_i        (edge_item),
    .lines_o     (idx_req),
    .lines_i     (idx_resp),
    .out_valid_o (lines_out_valid),
    .out_ready_i (lines_out_ready),
    .out_o       (lines_out)
  );

  channel_counter #(.Channels(IndexChannels)) u_channel_counter (
    .clk_i, .rst_ni, .clear_i,
    .taken_i    (edge_valid && edge_ready && edge_item.item.kind == ItemData),
    .pos_i      (edge_item.pos),
    .elements_o
  );

  for (genvar c = 0; c < MaxChannels; c++) begin : gen_idx
    if (c < IndexChannels) begin : gen_used
      // Edges are spread over the channels by chance: a queue keeps a channel that is behind from holding up the others.
      line_reader #(.Window(Window), .Queue(16), .Stages(SlrStages)) u_idx_reader (
        .clk_i, .rst_ni, .clear_i,
        .req_i      (idx_req[c]),
        .resp_o     (idx_resp[c]),
        .traffic_o  (traffic_o[PortIdx0+c]),
        .axi_req_o  (idx_req_o[c]),
        .axi_resp_i (idx_resp_i[c])
      );
    end else begin : gen_unused
      assign idx_req_o[c]          = '0;
      assign traffic_o[PortIdx0+c] = '0;
      logic unused;
      assign unused = &idx_resp_i[c];
    end
  end

  fifo #(.T(arc_t), .Depth(StageQueue)) u_arcs (
    .clk_i, .rst_ni,
    .in_valid_i  (lines_out_valid),
    .in_ready_o  (lines_out_ready),
    .in_data_i   (lines_out),
    .out_valid_o (arc_valid),
    .out_ready_i (arc_ready),
    .out_data_o  (arc_item)
  );

  // ---- Out -----------------------------------------------------------------------------------------------------------
  assign out_valid_o = seeding ? seed_valid : arc_valid;
  assign out_o       = seeding ? '{item: seed_item.item, pos: '0, u: seed_item.id} : arc_item;
  assign seed_ready  = seeding && out_ready_i;
  assign arc_ready   = !seeding && out_ready_i;

  assign traffic_o[PortOut] = '0;

  assign stages_o[StageFrontier] = '{active: frontier_busy, out_valid: frontier_valid, out_ready: frontier_ready};
  assign stages_o[StageOffsets]  = '{active: offs_busy, out_valid: offs_out_valid, out_ready: offs_out_ready};
  assign stages_o[StageSampler]  = '{active: sampler_busy, out_valid: sampler_out_valid, out_ready: sampler_out_ready};
  assign stages_o[StageLines]    = '{active: lines_busy, out_valid: lines_out_valid, out_ready: lines_out_ready};

endmodule
