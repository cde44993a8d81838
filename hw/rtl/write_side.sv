// What a run writes: the four output buffers, the node list, and the status block that the sequencer gives.
//
//   emitter -> packers -> arbiters -> writers
module write_side
  import trisage_pkg::*;
#(
  parameter int unsigned SlrStages = 2
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,

  // sequencer
  input  logic                          clear_i,            // a run begins
  input  logic                          running_i,          // what is written counts
  input  command_t                      command_i,
  input  phase_t                        phase_i,
  output logic                          end_seen_o,
  input  logic                          flush_list_i,
  input  logic                          flush_outputs_i,
  output logic                          list_flushed_o,     // its last burst has been handed over
  output logic                          list_clean_o,       // and every write of the port has been answered
  output logic                          outputs_clean_o,
  input  logic                          status_valid_i,
  output logic                          status_ready_o,
  input  write_line_t                   status_i,

  input  logic                          in_valid_i,
  output logic                          in_ready_o,
  input  resolved_t                     in_i,

  // read side
  output logic                          node_valid_o,       // a node is appended to the node list
  output node_t                         node_o,
  output logic                          list_at_rest_o,     // no burst of the list is on its way

  // reports
  output outcome_t                      outcome_o,
  output write_traffic_t [NumPorts-1:0] traffic_o,

  // AXI4 masters
  output axi_write_req_t                mem_req_o,
  input  axi_write_resp_t               mem_resp_i,
  output axi_write_req_t                out_req_o,
  input  axi_write_resp_t               out_resp_i
);

  // Packers: samples, rows, cols, edges, node list.
  localparam int unsigned NumPackers = 5;
  localparam int unsigned ListPacker = 4;

  // ---- Results -----------------------------------------------------------------------------------------------------
  logic          edge_valid;
  written_edge_t edge_item;

  logic        [NumPackers-1:0] pack_valid, pack_ready, pack_flushed, pack_leaving, burst_valid, burst_ready;
  word_t       [NumPackers-1:0] pack_word;
  addr_t       [NumPackers-1:0] pack_base;
  write_line_t [NumPackers-1:0] burst_line;

  emitter u_emitter (
    .clk_i, .rst_ni, .clear_i,
    .hop_i           (phase_i.hop),
    .node_capacity_i (command_i.node_capacity),
    .edge_capacity_i (command_i.edge_capacity),
    .in_valid_i, .in_ready_o, .in_i,
    .end_seen_o,
    .node_valid_o, .node_o,
    .edge_valid_o    (edge_valid),
    .edge_o          (edge_item),
    .packers_ready_i (&pack_ready),
    .outcome_o
  );

  // The nodes of the last hop are not expanded, so they are in no node list.
  assign pack_valid = {node_valid_o && !phase_i.last, {3{edge_valid}}, node_valid_o};
  assign pack_word  = {word_t'(node_o), word_t'(edge_item.pos), word_t'(edge_item.col), word_t'(edge_item.row),
                       word_t'(node_o)};
  assign pack_base  = {command_i.node_list, command_i.outputs};

  for (genvar p = 0; p < NumPackers; p++) begin : gen_packer
    burst_packer u_packer (
      .clk_i, .rst_ni, .clear_i,
      .base_i      (pack_base[p]),
      .in_valid_i  (pack_valid[p]),
      .in_ready_o  (pack_ready[p]),
      .in_data_i   (pack_word[p]),
      .flush_i     (p == ListPacker ? flush_list_i : flush_outputs_i),
      .flushed_o   (pack_flushed[p]),
      .leaving_o   (pack_leaving[p]),
      .out_valid_o (burst_valid[p]),
      .out_ready_i (burst_ready[p]),
      .out_o       (burst_line[p])
    );
  end

  // ---- Ports -------------------------------------------------------------------------------------------------------
  // The four outputs share one port. A full block of each in flight, several times over, covers the way to the host and back.
  localparam int unsigned OutWindow = 32;

  logic        out_valid, out_ready, out_idle;
  write_line_t out_line;

  burst_arbiter #(.Sources(4)) u_out_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  (burst_valid[3:0]),
    .in_ready_o  (burst_ready[3:0]),
    .in_i        (burst_line[3:0]),
    .out_valid_o (out_valid),
    .out_ready_i (out_ready),
    .out_o       (out_line)
  );

  burst_writer #(.Window(OutWindow), .Stages(SlrStages)) u_out_writer (
    .clk_i, .rst_ni, .clear_i,
    .count_i    (running_i),
    .in_valid_i (out_valid),
    .in_ready_o (out_ready),
    .in_i       (out_line),
    .idle_o     (out_idle),
    .traffic_o  (traffic_o[PortOut]),
    .axi_req_o  (out_req_o),
    .axi_resp_i (out_resp_i)
  );

  // Node list and status block share the other.
  logic        mem_valid, mem_ready, mem_idle;
  write_line_t mem_line;

  burst_arbiter #(.Sources(2)) u_mem_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i  ({status_valid_i, burst_valid[ListPacker]}),
    .in_ready_o  ({status_ready_o, burst_ready[ListPacker]}),
    .in_i        ({status_i, burst_line[ListPacker]}),
    .out_valid_o (mem_valid),
    .out_ready_i (mem_ready),
    .out_o       (mem_line)
  );

  burst_writer #(.Window(4), .Stages(SlrStages)) u_mem_writer (
    .clk_i, .rst_ni, .clear_i,
    .count_i    (running_i),
    .in_valid_i (mem_valid),
    .in_ready_o (mem_ready),
    .in_i       (mem_line),
    .idle_o     (mem_idle),
    .traffic_o  (traffic_o[PortMem]),
    .axi_req_o  (mem_req_o),
    .axi_resp_i (mem_resp_i)
  );

  for (genvar p = 0; p < NumPorts; p++) begin : gen_port
    if (p != PortMem && p != PortOut) begin : gen_reads_only
      assign traffic_o[p] = '0;
    end
  end

  // The writer is not idle from the first line of a burst on, and the burst leaves until after its last.
  assign list_at_rest_o  = !pack_leaving[ListPacker] && mem_idle;
  assign list_flushed_o  = pack_flushed[ListPacker];
  assign list_clean_o    = list_flushed_o && list_at_rest_o;
  assign outputs_clean_o = &pack_flushed[3:0] && pack_leaving[3:0] == '0 && out_idle && list_clean_o;

endmodule
