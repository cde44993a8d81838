// Takes one run from start to done: checks the arguments, lets the seeds and then each hop through the pipeline, flushes
// what is left, and writes the status block when everything else has been answered.
`include "assert.svh"

module sequencer
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  // control_slave
  input  logic                           start_i,
  output logic                           start_taken_o,
  output logic                           done_o,
  input  logic                           continue_i,
  output logic                           idle_o,
  input  command_t                       command_i,
  output logic [31:0]                    last_status_o,

  // the pipeline
  output command_t                       command_o,         // of this run
  output logic                           clear_o,           // one cycle: a run begins
  output logic                           running_o,         // cycles count
  output phase_t                         phase_o,
  output logic                           phase_start_o,     // one cycle: it begins
  input  logic                           table_ready_i,
  input  logic                           end_seen_i,
  output logic                           flush_list_o,
  output logic                           flush_outputs_o,
  input  logic                           list_flushed_i,    // its last burst has been handed over
  input  logic                           list_clean_i,      // and every write of the port has been answered
  input  logic                           outputs_clean_i,

  // what the block says
  input  outcome_t                       outcome_i,
  input  read_traffic_t  [NumPorts-1:0]  reads_i,
  input  write_traffic_t [NumPorts-1:0]  writes_i,
  input  word_t       [MaxChannels-1:0]  elements_i,
  input  stage_cycles_t [NumStages-1:0]  stage_cycles_i,

  output logic                           status_valid_o,
  input  logic                           status_ready_i,
  output write_line_t                    status_o
);

  typedef enum logic [3:0] {
    Idle, Check, Refuse, WaitTable, Seeds, WaitEnd, FlushList, NextHop, StartHop, FlushOutputs, WriteStatus, WaitStatus, Done
  } state_e;

  state_e      state_q;
  command_t    command_q;
  count_t      first_q, past_q;          // the frontier as a range of the node list
  hop_t        hop_q;
  logic [2:0]  status_line_q;
  logic [63:0] cycles_q;
  logic        refused_q;
  fault_t      refusal_q;

  // ---- Arguments ---------------------------------------------------------------------------------------------------
  logic   bad;
  fault_t bad_fault;

  request_check #(.IndexChannels(IndexChannels)) u_check (
    .clk_i, .rst_ni,
    .check_i   (clear_o),
    .command_i (command_q),
    .bad_o     (bad),
    .fault_o   (bad_fault)
  );

  // ---- The run's fault: of the request, then of a write, then of the pipeline ----------------------------------------
  // A write that failed comes first since the others promise that what was emitted before them is valid.
  fault_t final_fault;
  addr_t  fault_addr;

  always_comb begin
    bus_detail_t detail;
    detail      = outcome_i.fault.detail;
    final_fault = '{code: StOk, detail: '0, hop: '0, node: '0};
    fault_addr  = '0;
    if (outcome_i.failed) begin
      final_fault = outcome_i.fault;
      if (outcome_i.fault.code == StReadError) begin
        detail.resp        = reads_i[detail.port].fault.resp;
        final_fault.detail = detail;
        fault_addr         = reads_i[detail.port].fault.addr;
      end
    end
    // From the last port to the first, so that the first remains.
    for (int unsigned i = NumPorts; i-- > 0;) begin
      if (writes_i[i].fault.seen) begin
        final_fault = '{code: StWriteError, detail: bus_detail(4'(i), writes_i[i].fault.resp), hop: '0, node: '0};
        fault_addr  = writes_i[i].fault.addr;
      end
    end
    if (refused_q && final_fault.code != StWriteError) final_fault = refusal_q;
  end

  // ---- Order of work -----------------------------------------------------------------------------------------------
  logic   last_hop, frontier_empty, status_possible;
  hop_t   hop_next;
  word_t  fanout_next;

  assign hop_next        = hop_q + 1'b1;
  assign last_hop        = word_t'(hop_q) == command_q.num_hops;
  assign fanout_next     = command_q.fanouts[hop_q[1:0]];   // hop_q + 1, counted from 0
  assign frontier_empty  = past_q == outcome_i.nodes || fanout_next == '0;
  assign status_possible = burst_aligned(command_q.status);

  assign idle_o          = state_q == Idle;
  assign done_o          = state_q == Done;
  assign start_taken_o   = state_q == Idle && start_i && table_ready_i;
  assign clear_o         = state_q == Check;
  assign running_o       = state_q inside {WaitTable, Seeds, WaitEnd, FlushList, NextHop, StartHop, FlushOutputs};
  assign command_o       = command_q;
  assign phase_start_o   = state_q == Seeds || state_q == StartHop;
  assign flush_list_o    = state_q == FlushList;
  assign flush_outputs_o = state_q == FlushOutputs;
  assign phase_o         = '{hop: hop_q, fanout: command_q.fanouts[2'(hop_q - 1'b1)], last: last_hop,
                             first: first_q, past: past_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      last_status_o <= '0;
    end else begin
      case (state_q)
        Idle:         if (start_taken_o) state_q <= Check;
        Check:        state_q <= bad ? Refuse : WaitTable;
        Refuse:       state_q <= status_possible ? WriteStatus : Done;
        WaitTable:    if (table_ready_i) state_q <= command_q.num_seeds == '0 ? FlushList : Seeds;
        Seeds:        state_q <= WaitEnd;
        WaitEnd:      if (end_seen_i) state_q <= FlushList;
        // The next hop begins with the nodes that are at hand, and reads the others when they have arrived.
        FlushList:    if (list_flushed_i) state_q <= NextHop;
        NextHop: begin
          if (outcome_i.failed || last_hop || writes_i[PortMem].fault.seen) state_q <= FlushOutputs;
          else if (!frontier_empty) state_q <= StartHop;
        end
        StartHop:     state_q <= WaitEnd;
        FlushOutputs: if (outputs_clean_i) state_q <= WriteStatus;
        WriteStatus:  if (status_ready_i && status_o.last) state_q <= WaitStatus;
        // Line 0 says that the block is there, so it waits for the answer to all the others.
        WaitStatus:   if (list_clean_i) state_q <= status_line_q == 3'd0 ? Done : WriteStatus;
        Done: if (continue_i) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      if (state_q != Done) last_status_o <= {final_fault.detail, final_fault.code};
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) command_q <= command_i;

    if (state_q == Check) begin
      refused_q     <= bad;
      refusal_q     <= bad_fault;
      hop_q         <= '0;
      first_q       <= '0;
      past_q        <= count_t'(command_q.num_seeds);
      status_line_q <= 3'd1;
      cycles_q      <= '0;
    end else if (running_o) begin
      cycles_q <= cycles_q + 1'b1;
    end

    if (state_q == NextHop) begin
      hop_q   <= hop_next;
      first_q <= past_q;
      past_q  <= outcome_i.nodes;
    end
    // After the seeds: the first hop's frontier is all of them.
    if (state_q == FlushList && hop_q == '0) past_q <= '0;

    if (state_q == WriteStatus && status_ready_i && !status_o.last) status_line_q <= status_line_q + 1'b1;
    if (state_q == WaitStatus && list_clean_i) status_line_q <= '0;
  end

  // ---- Status block (hw/src/status.rs) -------------------------------------------------------------------------------
  words_t words;

  always_comb begin
    words = '0;
    case (status_line_q)
      3'd0: begin
        words[0]  = StatusMagic;
        words[1]  = StatusVersion;
        words[2]  = {16'b0, final_fault.code};
        words[3]  = {16'b0, final_fault.detail};
        words[4]  = word_t'(final_fault.hop);
        words[5]  = final_fault.node;
        words[8]  = word_t'(outcome_i.nodes);
        words[9]  = word_t'(outcome_i.edges);
        {words[7], words[6]}   = fault_addr;
        {words[11], words[10]} = cycles_q;
        {words[13], words[12]} = command_q.minibatch;
      end
      3'd1: begin
        for (int unsigned i = 0; i <= MaxHops; i++) words[i]         = word_t'(outcome_i.nodes_per_hop[i]);
        for (int unsigned i = 1; i <= MaxHops; i++) words[MaxHops+i] = word_t'(outcome_i.edges_per_hop[i]);
      end
      3'd7: for (int unsigned i = 0; i < MaxChannels; i++) words[i] = elements_i[i];
      // Bursts and beats of reads are the same: every burst is one line.
      3'd2, 3'd3: for (int unsigned i = 0; i < NumPorts; i++) words[i] = reads_i[i].reads;
      // With the block's own, which are not counted while they are written.
      3'd4: begin
        for (int unsigned i = 0; i < NumPorts; i++) words[i] = writes_i[i].bursts;
        words[PortMem] = writes_i[PortMem].bursts + StatusBursts;
      end
      3'd5: begin
        for (int unsigned i = 0; i < NumPorts; i++) words[i] = writes_i[i].beats;
        words[PortMem] = writes_i[PortMem].beats + StatusLines;
      end
      default: begin
        for (int unsigned i = 0; i < NumStages; i++) begin
          words[3*i]   = stage_cycles_i[i].busy;
          words[3*i+1] = stage_cycles_i[i].starved;
          words[3*i+2] = stage_cycles_i[i].blocked;
        end
      end
    endcase
  end

  assign status_valid_o = state_q == WriteStatus;

  // Two bursts: all lines but the first, then that one alone.
  always_comb begin
    status_o.line = words;
    status_o.strb = '1;
    status_o.addr = command_q.status;
    status_o.len  = '0;
    status_o.last = 1'b1;
    if (status_line_q != '0) begin
      status_o.addr = command_q.status + addr_t'(LineBytes);
      status_o.len  = 8'(StatusLines - 2);
      status_o.last = status_line_q == 3'(StatusLines - 1);
    end
  end

  `ASSERT(FrontierIsARange, phase_start_o |-> first_q < past_q)
  `ASSERT(DoneOnlyWhenAnswered, done_o |-> list_clean_i)

endmodule
