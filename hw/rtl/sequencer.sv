// Takes one run from start to done: checks the arguments, lets the seeds and then each hop through the pipeline, flushes
// what is left, and writes the status block when everything else has been answered.
`include "assert.svh"

module sequencer
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // control_slave
  input  logic                       start_i,
  output logic                       start_taken_o,
  output logic                       done_o,
  input  logic                       continue_i,
  output logic                       idle_o,
  input  command_t                   command_i,
  output logic [31:0]                last_status_o,

  // the pipeline
  output command_t                   command_o,         // of this run
  output logic                       clear_o,           // one cycle: a run begins
  output logic                       running_o,         // cycles count
  output hop_t                       hop_o,
  output word_t                      fanout_o,          // of this hop
  output logic                       last_hop_o,        // nobody will expand what this phase finds
  output logic                       frontier_start_o,
  output count_t                     frontier_first_o,
  output count_t                     frontier_end_o,
  input  logic                       table_ready_i,
  input  logic                       end_seen_i,
  output logic                       flush_list_o,
  output logic                       flush_outputs_o,
  input  logic                       list_flushed_i,    // its last burst has been handed over
  input  logic                       list_clean_i,      // and every write of the port has been answered
  input  logic                       outputs_clean_i,

  // what the block says
  input  logic                       failed_i,
  input  fault_t                     fault_i,
  input  count_t                     nodes_i,
  input  count_t                     edges_i,
  input  count_t     [MaxHops:0]     nodes_per_hop_i,
  input  count_t     [MaxHops:1]     edges_per_hop_i,
  input  word_t      [NumPorts-1:0]  reads_i,
  input  word_t      [NumPorts-1:0]  write_bursts_i,
  input  word_t      [NumPorts-1:0]  write_beats_i,
  input  word_t      [MaxChannels-1:0] elements_i,
  input  bus_fault_t [NumPorts-1:0]  read_faults_i,
  input  bus_fault_t [NumPorts-1:0]  write_faults_i,
  input  word_t      [NumStages-1:0][2:0] stage_cycles_i,

  output logic                       status_valid_o,
  input  logic                       status_ready_i,
  output write_line_t                status_o
);

  typedef enum logic [3:0] {
    Idle, Check, Refuse, WaitTable, Seeds, WaitEnd, FlushList, NextHop, StartHop, FlushOutputs, WriteStatus, WaitStatus, Done
  } state_e;

  state_e      state_q;
  command_t    command_q;
  count_t      first_q, end_q;           // the frontier as a range of the node list
  hop_t        hop_q;
  logic [2:0]  status_line_q;
  logic [63:0] cycles_q;
  logic        refused_q;
  fault_t      refusal_q;

  // ---- Arguments ---------------------------------------------------------------------------------------------------
  logic   bad;
  fault_t bad_fault;

  request_check #(.IndexChannels(IndexChannels)) u_check (
    .command_i (command_q),
    .bad_o     (bad),
    .fault_o   (bad_fault)
  );

  // ---- The run's fault: of the request, then of a write, then of the pipeline ----------------------------------------
  // A write that failed comes first since the others promise that what was emitted before them is valid.
  fault_t final_fault;
  addr_t  fault_addr;

  always_comb begin
    logic [3:0] port;
    port        = fault_i.detail[11:8];
    final_fault = '{code: StOk, detail: '0, hop: '0, node: '0};
    fault_addr  = '0;
    if (failed_i) begin
      final_fault = fault_i;
      if (fault_i.code == StReadError) begin
        final_fault.detail[7:0] = {6'b0, read_faults_i[port].resp};
        fault_addr              = read_faults_i[port].addr;
      end
    end
    // From the last port to the first, so that the first remains.
    for (int unsigned i = NumPorts; i-- > 0;) begin
      if (write_faults_i[i].seen) begin
        final_fault = '{code: StWriteError, detail: {4'b0, 4'(i), 6'b0, write_faults_i[i].resp}, hop: '0, node: '0};
        fault_addr  = write_faults_i[i].addr;
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
  assign frontier_empty  = end_q == nodes_i || fanout_next == '0;
  assign status_possible = command_q.status[$clog2(BurstBytes)-1:0] == '0;

  assign idle_o           = state_q == Idle;
  assign done_o           = state_q == Done;
  assign start_taken_o    = state_q == Idle && start_i && table_ready_i;
  assign clear_o          = state_q == Check;
  assign running_o        = state_q inside {WaitTable, Seeds, WaitEnd, FlushList, NextHop, StartHop, FlushOutputs};
  assign command_o        = command_q;
  assign hop_o            = hop_q;
  assign fanout_o         = command_q.fanouts[2'(hop_q - 1'b1)];
  assign last_hop_o       = last_hop;
  assign frontier_start_o = state_q == Seeds || state_q == StartHop;
  assign frontier_first_o = first_q;
  assign frontier_end_o   = end_q;
  assign flush_list_o     = state_q == FlushList;
  assign flush_outputs_o  = state_q == FlushOutputs;

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
          if (failed_i || last_hop || write_faults_i[PortMem].seen) state_q <= FlushOutputs;
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
      end_q         <= command_q.num_seeds[30:0];
      status_line_q <= 3'd1;
      cycles_q      <= '0;
    end else if (running_o) begin
      cycles_q <= cycles_q + 1'b1;
    end

    if (state_q == NextHop) begin
      hop_q   <= hop_next;
      first_q <= end_q;
      end_q   <= nodes_i;
    end
    // After the seeds: the first hop's frontier is all of them.
    if (state_q == FlushList && hop_q == '0) end_q <= '0;

    if (state_q == WriteStatus && status_ready_i && !status_o.last) status_line_q <= status_line_q + 1'b1;
    if (state_q == WaitStatus && list_clean_i) status_line_q <= '0;
  end

  // ---- Status block (hw/src/status.rs) -------------------------------------------------------------------------------
  word_t [LineWords-1:0] words;

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
        words[6]  = fault_addr[31:0];
        words[7]  = fault_addr[63:32];
        words[8]  = {1'b0, nodes_i};
        words[9]  = {1'b0, edges_i};
        words[10] = cycles_q[31:0];
        words[11] = cycles_q[63:32];
        words[12] = command_q.minibatch[31:0];
        words[13] = command_q.minibatch[63:32];
      end
      3'd1: begin
        for (int unsigned i = 0; i <= MaxHops; i++) words[i]         = {1'b0, nodes_per_hop_i[i]};
        for (int unsigned i = 1; i <= MaxHops; i++) words[MaxHops+i] = {1'b0, edges_per_hop_i[i]};
      end
      3'd7: for (int unsigned i = 0; i < MaxChannels; i++) words[i] = elements_i[i];
      // Bursts and beats of reads are the same: every burst is one line.
      3'd2, 3'd3: for (int unsigned i = 0; i < NumPorts; i++) words[i] = reads_i[i];
      // With the block's own, which are not counted while they are written.
      3'd4: begin
        for (int unsigned i = 0; i < NumPorts; i++) words[i] = write_bursts_i[i];
        words[PortMem] = write_bursts_i[PortMem] + StatusBursts;
      end
      3'd5: begin
        for (int unsigned i = 0; i < NumPorts; i++) words[i] = write_beats_i[i];
        words[PortMem] = write_beats_i[PortMem] + StatusLines;
      end
      default: begin
        for (int unsigned i = 0; i < NumStages; i++) begin
          for (int unsigned j = 0; j < 3; j++) words[3*i+j] = stage_cycles_i[i][j];
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

  `ASSERT(FrontierIsARange, frontier_start_o |-> frontier_first_o < frontier_end_o)
  `ASSERT(DoneOnlyWhenAnswered, done_o |-> list_clean_i)

endmodule
