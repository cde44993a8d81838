// The sampling pipeline of one SLR, between its control slave and its AXI masters:
//
//   sequencer -> read side -> dedup table -> write side
//
// Queues lie between all stages. Items stay in order from end to end, so results do not depend on memory latency.
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
  input  logic                             clk_i,
  input  logic                             rst_ni,

  // control_slave
  input  logic                             start_i,
  output logic                             start_taken_o,
  output logic                             done_o,
  input  logic                             continue_i,
  output logic                             idle_o,
  input  command_t                         command_i,
  output logic [31:0]                      last_status_o,

  // AXI4 masters; `mem` reads and writes
  output axi_read_req_t                    offs_read_req_o,
  input  axi_read_resp_t                   offs_read_resp_i,
  output axi_read_req_t  [MaxChannels-1:0] idx_read_req_o,
  input  axi_read_resp_t [MaxChannels-1:0] idx_read_resp_i,
  output axi_read_req_t                    mem_read_req_o,
  input  axi_read_resp_t                   mem_read_resp_i,
  output axi_write_req_t                   mem_write_req_o,
  input  axi_write_resp_t                  mem_write_resp_i,
  output axi_write_req_t                   out_write_req_o,
  input  axi_write_resp_t                  out_write_resp_i
);

  command_t    command;
  phase_t      phase;
  outcome_t    outcome;
  logic        clear, running, phase_start, end_seen;
  logic        flush_list, flush_outputs, list_flushed, list_at_rest, list_clean, outputs_clean;
  logic        status_valid, status_ready;
  write_line_t status_line;
  logic        node_valid;
  node_t       node;

  logic        arc_valid, arc_ready, table_ready, table_busy, table_valid, table_out_ready, resolved_valid, resolved_ready;
  arc_t        arc_item;
  resolved_t   table_out, resolved_item;

  read_traffic_t   [NumPorts-1:0]    reads;
  write_traffic_t  [NumPorts-1:0]    writes;
  word_t           [MaxChannels-1:0] elements;
  stage_activity_t [NumStages-1:0]   stages;
  stage_cycles_t   [NumStages-1:0]   stage_cycles;

  sequencer #(.IndexChannels(IndexChannels)) u_sequencer (
    .clk_i, .rst_ni,
    .start_i, .start_taken_o, .done_o, .continue_i, .idle_o, .command_i, .last_status_o,
    .command_o       (command),
    .clear_o         (clear),
    .running_o       (running),
    .phase_o         (phase),
    .phase_start_o   (phase_start),
    .table_ready_i   (table_ready),
    .end_seen_i      (end_seen),
    .flush_list_o    (flush_list),
    .flush_outputs_o (flush_outputs),
    .list_flushed_i  (list_flushed),
    .list_clean_i    (list_clean),
    .outputs_clean_i (outputs_clean),
    .outcome_i       (outcome),
    .reads_i         (reads),
    .writes_i        (writes),
    .elements_i      (elements),
    .stage_cycles_i  (stage_cycles),
    .status_valid_o  (status_valid),
    .status_ready_i  (status_ready),
    .status_o        (status_line)
  );

  read_side #(
    .IndexChannels (IndexChannels),
    .Window        (Window),
    .SlrStages     (SlrStages),
    .ChachaRounds  (ChachaRounds)
  ) u_read_side (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .command_i      (command),
    .phase_i        (phase),
    .phase_start_i  (phase_start),
    .failed_i       (outcome.failed),
    .list_lost_i    (writes[PortMem].fault.seen),
    .list_at_rest_i (list_at_rest),
    .node_valid_i   (node_valid),
    .node_i         (node),
    .out_valid_o    (arc_valid),
    .out_ready_i    (arc_ready),
    .out_o          (arc_item),
    .traffic_o      (reads),
    .elements_o     (elements),
    .stages_o       (stages[StageLines:StageFrontier]),
    .mem_req_o      (mem_read_req_o),
    .mem_resp_i     (mem_read_resp_i),
    .offs_req_o     (offs_read_req_o),
    .offs_resp_i    (offs_read_resp_i),
    .idx_req_o      (idx_read_req_o),
    .idx_resp_i     (idx_read_resp_i)
  );

  // ---- Local ids ---------------------------------------------------------------------------------------------------
  dedup_table #(.TableLog2(TableLog2), .EpochWidth(EpochWidth)) u_table (
    .clk_i, .rst_ni,
    .start_i     (clear),
    .ready_o     (table_ready),
    .busy_o      (table_busy),
    .in_valid_i  (arc_valid),
    .in_ready_o  (arc_ready),
    .in_i        (arc_item),
    .out_valid_o (table_valid),
    .out_ready_i (table_out_ready),
    .out_o       (table_out)
  );

  assign stages[StageDedup] = '{active: table_busy, out_valid: table_valid, out_ready: table_out_ready};

  fifo #(.T(resolved_t), .Depth(StageQueue)) u_resolved (
    .clk_i, .rst_ni,
    .in_valid_i  (table_valid),
    .in_ready_o  (table_out_ready),
    .in_data_i   (table_out),
    .out_valid_o (resolved_valid),
    .out_ready_i (resolved_ready),
    .out_data_o  (resolved_item)
  );

  write_side #(.SlrStages(SlrStages)) u_write_side (
    .clk_i, .rst_ni,
    .clear_i         (clear),
    .running_i       (running),
    .command_i       (command),
    .phase_i         (phase),
    .end_seen_o      (end_seen),
    .flush_list_i    (flush_list),
    .flush_outputs_i (flush_outputs),
    .list_flushed_o  (list_flushed),
    .list_clean_o    (list_clean),
    .outputs_clean_o (outputs_clean),
    .status_valid_i  (status_valid),
    .status_ready_o  (status_ready),
    .status_i        (status_line),
    .in_valid_i      (resolved_valid),
    .in_ready_o      (resolved_ready),
    .in_i            (resolved_item),
    .node_valid_o    (node_valid),
    .node_o          (node),
    .list_at_rest_o  (list_at_rest),
    .outcome_o       (outcome),
    .traffic_o       (writes),
    .mem_req_o       (mem_write_req_o),
    .mem_resp_i      (mem_write_resp_i),
    .out_req_o       (out_write_req_o),
    .out_resp_i      (out_write_resp_i)
  );

  // ---- Where the cycles go -------------------------------------------------------------------------------------------
  for (genvar s = 0; s < NumStages; s++) begin : gen_stage
    stage_counter u_counter (
      .clk_i, .rst_ni,
      .clear_i  (clear),
      .count_i  (running),
      .stage_i  (stages[s]),
      .cycles_o (stage_cycles[s])
    );
  end

endmodule
