// The sampling pipeline of one SLR, between its control slave and its AXI masters:
//
//   sequencer -> frontier reader -> offset fetch -> neighbour sampler -> line fetch -> dedup table -> emitter -> packers
//
// Queues lie between the stages. Items stay in order from end to end, so results do not depend on memory latency.
module sampler_core
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4,
  parameter int unsigned TableLog2     = 19,
  parameter int unsigned EpochWidth    = 20,
  parameter int unsigned Window        = 128,
  parameter int unsigned SlrStages     = 2,
  parameter int unsigned ChachaRounds  = 8
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,

  // control_slave
  input  logic                      start_i,
  output logic                      start_taken_o,
  output logic                      done_o,
  input  logic                      continue_i,
  output logic                      idle_o,
  input  command_t                  command_i,
  output logic [31:0]               last_status_o,

  // AXI4 masters
  output logic                      offs_ar_valid_o,
  input  logic                      offs_ar_ready_i,
  output axi_ax_t                   offs_ar_o,
  input  logic                      offs_r_valid_i,
  output logic                      offs_r_ready_o,
  input  axi_r_t                    offs_r_i,

  output logic    [MaxChannels-1:0] idx_ar_valid_o,
  input  logic    [MaxChannels-1:0] idx_ar_ready_i,
  output axi_ax_t [MaxChannels-1:0] idx_ar_o,
  input  logic    [MaxChannels-1:0] idx_r_valid_i,
  output logic    [MaxChannels-1:0] idx_r_ready_o,
  input  axi_r_t  [MaxChannels-1:0] idx_r_i,

  output logic                      mem_ar_valid_o,
  input  logic                      mem_ar_ready_i,
  output axi_ax_t                   mem_ar_o,
  input  logic                      mem_r_valid_i,
  output logic                      mem_r_ready_o,
  input  axi_r_t                    mem_r_i,
  output logic                      mem_aw_valid_o,
  input  logic                      mem_aw_ready_i,
  output axi_ax_t                   mem_aw_o,
  output logic                      mem_w_valid_o,
  input  logic                      mem_w_ready_i,
  output axi_w_t                    mem_w_o,
  input  logic                      mem_b_valid_i,
  output logic                      mem_b_ready_o,
  input  axi_b_t                    mem_b_i,

  output logic                      out_aw_valid_o,
  input  logic                      out_aw_ready_i,
  output axi_ax_t                   out_aw_o,
  output logic                      out_w_valid_o,
  input  logic                      out_w_ready_i,
  output axi_w_t                    out_w_o,
  input  logic                      out_b_valid_i,
  output logic                      out_b_ready_o,
  input  axi_b_t                    out_b_i
);

  localparam int unsigned StageQueue = 4;

  // ---- Sequencer ---------------------------------------------------------------------------------------------------
  command_t               command;
  logic                   clear, running, frontier_start, table_ready, end_seen;
  logic                   flush_list, flush_outputs, list_clean, outputs_clean, failed, last_hop;
  hop_t                   hop;
  word_t                  fanout;
  count_t                 frontier_first, frontier_end, nodes, edges;
  count_t [MaxHops:0]     nodes_per_hop;
  count_t [MaxHops:1]     edges_per_hop;
  fault_t                 fault;
  logic                   status_valid, status_ready;
  write_line_t            status_out;
  word_t      [NumPorts-1:0] reads, write_bursts, write_beats;
  bus_fault_t [NumPorts-1:0] read_faults, write_faults;
  word_t [NumStages-1:0][2:0] stage_cycles;
  word_t [MaxChannels-1:0]    idx_elements;

  // Packers: samples, rows, cols, edges, node list.
  localparam int unsigned NumPackers = 5;
  localparam int unsigned ListPacker = 4;

  logic [NumPackers-1:0] pack_flushed, pack_leaving;
  logic                  emit_node;
  word_t                 node_word;

  sequencer #(.IndexChannels(IndexChannels)) u_sequencer (
    .clk_i, .rst_ni,
    .start_i, .start_taken_o, .done_o, .continue_i, .idle_o, .command_i, .last_status_o,
    .command_o        (command),
    .clear_o          (clear),
    .running_o        (running),
    .hop_o            (hop),
    .fanout_o         (fanout),
    .last_hop_o       (last_hop),
    .frontier_start_o (frontier_start),
    .frontier_first_o (frontier_first),
    .frontier_end_o   (frontier_end),
    .table_ready_i    (table_ready),
    .end_seen_i       (end_seen),
    .flush_list_o     (flush_list),
    .flush_outputs_o  (flush_outputs),
    .list_flushed_i   (pack_flushed[ListPacker]),
    .list_clean_i     (list_clean),
    .outputs_clean_i  (outputs_clean),
    .failed_i         (failed),
    .fault_i          (fault),
    .nodes_i          (nodes),
    .edges_i          (edges),
    .nodes_per_hop_i  (nodes_per_hop),
    .edges_per_hop_i  (edges_per_hop),
    .reads_i          (reads),
    .write_bursts_i   (write_bursts),
    .write_beats_i    (write_beats),
    .elements_i       (idx_elements),
    .read_faults_i    (read_faults),
    .write_faults_i   (write_faults),
    .stage_cycles_i   (stage_cycles),
    .status_valid_o   (status_valid),
    .status_ready_i   (status_ready),
    .status_o         (status_out)
  );

  // ---- Frontier: seeds, or a range of the node list -----------------------------------------------------------------
  logic      seeding, list_at_rest;
  head_t     head_index;
  node_t     head_node;
  logic      mem_req_valid, mem_req_ready, mem_rsp_valid, mem_rsp_ready, mem_rsp_error;
  addr_t     mem_req_addr;
  line_t     mem_rsp_line;
  logic      frontier_busy, frontier_valid, frontier_ready;
  frontier_t frontier_item;

  assign seeding = hop == '0;

  frontier_reader u_frontier (
    .clk_i, .rst_ni,
    .start_i     (frontier_start),
    .seeds_i     (seeding),
    .base_i      (seeding ? command.seeds : command.node_list),
    .first_i     (frontier_first),
    .end_i       (frontier_end),
    .at_rest_i   (list_at_rest),
    .num_nodes_i (command.num_nodes),
    // A node list that could not be written cannot be read back.
    .abort_i     (failed || write_faults[PortMem].seen),
    .busy_o      (frontier_busy),
    .head_o      (head_index),
    .head_i      (head_node),
    .req_valid_o (mem_req_valid),
    .req_ready_i (mem_req_ready),
    .req_addr_o  (mem_req_addr),
    .rsp_valid_i (mem_rsp_valid),
    .rsp_ready_o (mem_rsp_ready),
    .rsp_line_i  (mem_rsp_line),
    .rsp_error_i (mem_rsp_error),
    .out_valid_o (frontier_valid),
    .out_ready_i (frontier_ready),
    .out_o       (frontier_item)
  );

  list_head u_list_head (
    .clk_i, .rst_ni,
    .turn_i       (frontier_start),
    .node_valid_i (emit_node),
    .node_i       (node_word[30:0]),
    .index_i      (head_index),
    .node_o       (head_node)
  );

  line_reader #(.Window(4), .Stages(SlrStages)) u_mem_reader (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .req_valid_i (mem_req_valid),
    .req_ready_o (mem_req_ready),
    .req_addr_i  (mem_req_addr),
    .rsp_valid_o (mem_rsp_valid),
    .rsp_ready_i (mem_rsp_ready),
    .rsp_line_o  (mem_rsp_line),
    .rsp_error_o (mem_rsp_error),
    .reads_o     (reads[PortMem]),
    .fault_o     (read_faults[PortMem]),
    .ar_valid_o  (mem_ar_valid_o),
    .ar_ready_i  (mem_ar_ready_i),
    .ar_o        (mem_ar_o),
    .r_valid_i   (mem_r_valid_i),
    .r_ready_o   (mem_r_ready_o),
    .r_i         (mem_r_i)
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
  logic    offs_req_valid, offs_req_ready, offs_rsp_valid, offs_rsp_ready, offs_rsp_error;
  addr_t   offs_req_addr;
  line_t   offs_rsp_line;
  logic    offs_busy, offs_out_valid, offs_out_ready, extent_valid, extent_ready;
  extent_t offs_out, extent_item;

  offset_fetch #(.Window(Window)) u_offsets (
    .clk_i, .rst_ni,
    .base_i      (command.offsets),
    .num_edges_i (command.num_edges),
    .abort_i     (failed),
    .busy_o      (offs_busy),
    .in_valid_i  (node_valid),
    .in_ready_o  (node_ready),
    .in_i        (node_item),
    .req_valid_o (offs_req_valid),
    .req_ready_i (offs_req_ready),
    .req_addr_o  (offs_req_addr),
    .rsp_valid_i (offs_rsp_valid),
    .rsp_ready_o (offs_rsp_ready),
    .rsp_line_i  (offs_rsp_line),
    .rsp_error_i (offs_rsp_error),
    .out_valid_o (offs_out_valid),
    .out_ready_i (offs_out_ready),
    .out_o       (offs_out)
  );

  line_reader #(.Window(Window), .Stages(SlrStages)) u_offs_reader (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .req_valid_i (offs_req_valid),
    .req_ready_o (offs_req_ready),
    .req_addr_i  (offs_req_addr),
    .rsp_valid_o (offs_rsp_valid),
    .rsp_ready_i (offs_rsp_ready),
    .rsp_line_o  (offs_rsp_line),
    .rsp_error_o (offs_rsp_error),
    .reads_o     (reads[PortOffs]),
    .fault_o     (read_faults[PortOffs]),
    .ar_valid_o  (offs_ar_valid_o),
    .ar_ready_i  (offs_ar_ready_i),
    .ar_o        (offs_ar_o),
    .r_valid_i   (offs_r_valid_i),
    .r_ready_o   (offs_r_ready_o),
    .r_i         (offs_r_i)
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
    .seed_i      (command.seed),
    .minibatch_i (command.minibatch),
    .fanout_i    (fanout),
    .abort_i     (failed),
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
  logic  [IndexChannels-1:0] idx_req_valid, idx_req_ready, idx_rsp_valid, idx_rsp_ready, idx_rsp_error;
  addr_t                     idx_req_addr;
  line_t [IndexChannels-1:0] idx_rsp_line;
  logic                      lines_busy, lines_out_valid, lines_out_ready, arc_valid, arc_ready;
  arc_t                      lines_out, arc_item;

  line_fetch #(.Channels(IndexChannels), .Window(Window)) u_lines (
    .clk_i, .rst_ni,
    .bases_i     (command.indices),
    .num_nodes_i (command.num_nodes),
    .abort_i     (failed),
    .busy_o      (lines_busy),
    .in_valid_i  (edge_valid),
    .in_ready_o  (edge_ready),
    .in_i        (edge_item),
    .req_valid_o (idx_req_valid),
    .req_ready_i (idx_req_ready),
    .req_addr_o  (idx_req_addr),
    .rsp_valid_i (idx_rsp_valid),
    .rsp_ready_o (idx_rsp_ready),
    .rsp_line_i  (idx_rsp_line),
    .rsp_error_i (idx_rsp_error),
    .out_valid_o (lines_out_valid),
    .out_ready_i (lines_out_ready),
    .out_o       (lines_out)
  );

  channel_counter #(.Channels(IndexChannels)) u_channel_counter (
    .clk_i, .rst_ni,
    .clear_i    (clear),
    .taken_i    (edge_valid && edge_ready && edge_item.item.kind == ItemData),
    .line_i     (edge_item.pos[$clog2(LineWords) +: $bits(dealt_t)]),
    .elements_o (idx_elements)
  );

  for (genvar c = 0; c < MaxChannels; c++) begin : gen_idx
    if (c < IndexChannels) begin : gen_used
      // Edges are spread over the channels by chance: a queue keeps a channel that is behind from holding up the others.
      line_reader #(.Window(Window), .Queue(16), .Stages(SlrStages)) u_idx_reader (
        .clk_i, .rst_ni,
        .clear_i     (clear),
        .req_valid_i (idx_req_valid[c]),
        .req_ready_o (idx_req_ready[c]),
        .req_addr_i  (idx_req_addr),
        .rsp_valid_o (idx_rsp_valid[c]),
        .rsp_ready_i (idx_rsp_ready[c]),
        .rsp_line_o  (idx_rsp_line[c]),
        .rsp_error_o (idx_rsp_error[c]),
        .reads_o     (reads[PortIdx0+c]),
        .fault_o     (read_faults[PortIdx0+c]),
        .ar_valid_o  (idx_ar_valid_o[c]),
        .ar_ready_i  (idx_ar_ready_i[c]),
        .ar_o        (idx_ar_o[c]),
        .r_valid_i   (idx_r_valid_i[c]),
        .r_ready_o   (idx_r_ready_o[c]),
        .r_i         (idx_r_i[c])
      );
    end else begin : gen_unused
      assign idx_ar_valid_o[c]       = 1'b0;
      assign idx_ar_o[c]             = '0;
      assign idx_r_ready_o[c]        = 1'b0;
      assign reads[PortIdx0+c]       = '0;
      assign read_faults[PortIdx0+c] = '0;
      logic unused;
      assign unused = &{idx_ar_ready_i[c], idx_r_valid_i[c], idx_r_i[c]};
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

  // ---- Local ids ---------------------------------------------------------------------------------------------------
  logic      table_busy, table_in_valid, table_in_ready, table_out_valid, table_out_ready;
  logic      resolved_valid, resolved_ready;
  arc_t      table_in;
  resolved_t table_out, resolved_item;

  assign table_in_valid = seeding ? seed_valid : arc_valid;
  assign table_in       = seeding ? '{item: seed_item.item, pos: '0, u: seed_item.id} : arc_item;
  assign seed_ready     = seeding && table_in_ready;
  assign arc_ready      = !seeding && table_in_ready;

  dedup_table #(.TableLog2(TableLog2), .EpochWidth(EpochWidth)) u_table (
    .clk_i, .rst_ni,
    .start_i     (clear),
    .ready_o     (table_ready),
    .busy_o      (table_busy),
    .in_valid_i  (table_in_valid),
    .in_ready_o  (table_in_ready),
    .in_i        (table_in),
    .out_valid_o (table_out_valid),
    .out_ready_i (table_out_ready),
    .out_o       (table_out)
  );

  fifo #(.T(resolved_t), .Depth(StageQueue)) u_resolved (
    .clk_i, .rst_ni,
    .in_valid_i  (table_out_valid),
    .in_ready_o  (table_out_ready),
    .in_data_i   (table_out),
    .out_valid_o (resolved_valid),
    .out_ready_i (resolved_ready),
    .out_data_o  (resolved_item)
  );

  // ---- Results -----------------------------------------------------------------------------------------------------
  logic                         emit_edge;
  word_t       [2:0]            edge_words;   // row, col, edge
  logic        [NumPackers-1:0] pack_valid, pack_ready, burst_valid, burst_ready;
  word_t       [NumPackers-1:0] pack_word;
  addr_t       [NumPackers-1:0] pack_base;
  write_line_t [NumPackers-1:0] burst_line;

  emitter u_emitter (
    .clk_i, .rst_ni,
    .clear_i         (clear),
    .hop_i           (hop),
    .node_capacity_i (command.node_capacity),
    .edge_capacity_i (command.edge_capacity),
    .in_valid_i      (resolved_valid),
    .in_ready_o      (resolved_ready),
    .in_i            (resolved_item),
    .end_seen_o      (end_seen),
    .node_valid_o    (emit_node),
    .node_o          (node_word),
    .edge_valid_o    (emit_edge),
    .row_o           (edge_words[0]),
    .col_o           (edge_words[1]),
    .edge_o          (edge_words[2]),
    .packers_ready_i (&pack_ready),
    .failed_o        (failed),
    .fault_o         (fault),
    .nodes_o         (nodes),
    .edges_o         (edges),
    .nodes_per_hop_o (nodes_per_hop),
    .edges_per_hop_o (edges_per_hop)
  );

  // The nodes of the last hop are not expanded, so they are in no node list.
  assign pack_valid = {emit_node && !last_hop, {3{emit_edge}}, emit_node};
  assign pack_word  = {node_word, edge_words, node_word};
  assign pack_base  = {command.node_list, command.outputs};

  for (genvar p = 0; p < NumPackers; p++) begin : gen_packer
    burst_packer u_packer (
      .clk_i, .rst_ni,
      .clear_i     (clear),
      .base_i      (pack_base[p]),
      .in_valid_i  (pack_valid[p]),
      .in_ready_o  (pack_ready[p]),
      .in_data_i   (pack_word[p]),
      .flush_i     (p == ListPacker ? flush_list : flush_outputs),
      .flushed_o   (pack_flushed[p]),
      .leaving_o   (pack_leaving[p]),
      .out_valid_o (burst_valid[p]),
      .out_ready_i (burst_ready[p]),
      .out_o       (burst_line[p])
    );
  end

  // The four outputs share one port. A full block of each in flight, several times over, covers the way to the host and back.
  localparam int unsigned OutWindow = 32;

  logic        out_req_valid, out_req_ready, out_idle;
  write_line_t out_req;

  burst_arbiter #(.Sources(4)) u_out_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  (burst_valid[3:0]),
    .in_ready_o  (burst_ready[3:0]),
    .in_i        (burst_line[3:0]),
    .out_valid_o (out_req_valid),
    .out_ready_i (out_req_ready),
    .out_o       (out_req)
  );

  burst_writer #(.Window(OutWindow), .Stages(SlrStages)) u_out_writer (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .count_i     (running),
    .req_valid_i (out_req_valid),
    .req_ready_o (out_req_ready),
    .req_i       (out_req),
    .idle_o      (out_idle),
    .bursts_o    (write_bursts[PortOut]),
    .beats_o     (write_beats[PortOut]),
    .fault_o     (write_faults[PortOut]),
    .aw_valid_o  (out_aw_valid_o),
    .aw_ready_i  (out_aw_ready_i),
    .aw_o        (out_aw_o),
    .w_valid_o   (out_w_valid_o),
    .w_ready_i   (out_w_ready_i),
    .w_o         (out_w_o),
    .b_valid_i   (out_b_valid_i),
    .b_ready_o   (out_b_ready_o),
    .b_i         (out_b_i)
  );

  // Node list and status block share the other.
  logic        mem_wreq_valid, mem_wreq_ready, mem_idle;
  write_line_t mem_wreq;

  burst_arbiter #(.Sources(2)) u_mem_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  ({status_valid, burst_valid[ListPacker]}),
    .in_ready_o  ({status_ready, burst_ready[ListPacker]}),
    .in_i        ({status_out, burst_line[ListPacker]}),
    .out_valid_o (mem_wreq_valid),
    .out_ready_i (mem_wreq_ready),
    .out_o       (mem_wreq)
  );

  burst_writer #(.Window(4), .Stages(SlrStages)) u_mem_writer (
    .clk_i, .rst_ni,
    .clear_i     (clear),
    .count_i     (running),
    .req_valid_i (mem_wreq_valid),
    .req_ready_o (mem_wreq_ready),
    .req_i       (mem_wreq),
    .idle_o      (mem_idle),
    .bursts_o    (write_bursts[PortMem]),
    .beats_o     (write_beats[PortMem]),
    .fault_o     (write_faults[PortMem]),
    .aw_valid_o  (mem_aw_valid_o),
    .aw_ready_i  (mem_aw_ready_i),
    .aw_o        (mem_aw_o),
    .w_valid_o   (mem_w_valid_o),
    .w_ready_i   (mem_w_ready_i),
    .w_o         (mem_w_o),
    .b_valid_i   (mem_b_valid_i),
    .b_ready_o   (mem_b_ready_o),
    .b_i         (mem_b_i)
  );

  // The writer is not idle from the first line of a burst on, and the burst leaves until after its last.
  assign list_at_rest  = !pack_leaving[ListPacker] && mem_idle;
  assign list_clean    = pack_flushed[ListPacker] && list_at_rest;
  assign outputs_clean = &pack_flushed[3:0] && pack_leaving[3:0] == '0 && out_idle && list_clean;

  for (genvar p = 0; p < NumPorts; p++) begin : gen_port
    if (p != PortMem && p != PortOut) begin : gen_no_writes
      assign write_bursts[p] = '0;
      assign write_beats[p]  = '0;
      assign write_faults[p] = '0;
    end
    if (p == PortOut) begin : gen_no_reads
      assign reads[p]       = '0;
      assign read_faults[p] = '0;
    end
  end

  // ---- Where the cycles go -------------------------------------------------------------------------------------------
  logic [NumStages-1:0] stage_active, stage_valid, stage_ready;

  assign stage_active = {table_busy, lines_busy, sampler_busy, offs_busy, frontier_busy};
  assign stage_valid  = {table_out_valid, lines_out_valid, sampler_out_valid, offs_out_valid, frontier_valid};
  assign stage_ready  = {table_out_ready, lines_out_ready, sampler_out_ready, offs_out_ready, frontier_ready};

  for (genvar s = 0; s < NumStages; s++) begin : gen_stage
    stage_counter u_counter (
      .clk_i, .rst_ni,
      .clear_i     (clear),
      .count_i     (running),
      .active_i    (stage_active[s]),
      .out_valid_i (stage_valid[s]),
      .out_ready_i (stage_ready[s]),
      .cycles_o    (stage_cycles[s])
    );
  end

endmodule
