// AXI4-Lite slave with the kernel's registers and the ap_ctrl_chain handshake, as XRT's driver uses it (UG1393 "Control
// Requirements for XRT-Managed Kernels"). Every access is answered, also during a run; writes to what is not writable do
// nothing.
`include "assert.svh"

module control_slave
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4,
  parameter int unsigned TableLog2     = 19
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  lite_req_t   lite_req_i,
  output lite_resp_t  lite_resp_o,

  output logic        interrupt_o,

  output logic        start_o,           // a run is asked for, with command_o
  input  logic        start_taken_i,     // it has been taken: new arguments may be written
  input  logic        done_i,            // a run is over; stays until continue_o
  output logic        continue_o,
  input  logic        idle_i,            // no run is under way
  output command_t    command_o,
  input  logic [31:0] last_status_i
);

  // Arguments, one 32-bit register per word address; those in the gaps are written and never looked at.
  localparam int unsigned FirstArg = int'(REG_SEED) / 4;
  localparam int unsigned EndArg   = int'(REG_INDICES7) / 4 + 2;

  word_t [EndArg-1:FirstArg] args_q;

  // ---- Writes: address and data may come in any order ----------------------------------------------------------------
  logic       aw_ready, aw_held_q, w_ready, w_held_q, b_valid_q, write;
  reg_addr_t  aw_addr_q;
  word_t      w_data_q;
  logic [3:0] w_strb_q;

  // Not ready in reset: what the reset would swallow is not accepted.
  assign aw_ready = rst_ni && !aw_held_q;
  assign w_ready  = rst_ni && !w_held_q;
  assign write    = aw_held_q && w_held_q && !b_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      if (write) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
        b_valid_q <= 1'b1;
      end else begin
        if (lite_req_i.aw_valid) aw_held_q <= 1'b1;
        if (lite_req_i.w_valid)  w_held_q  <= 1'b1;
        if (lite_req_i.b_ready)  b_valid_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (aw_ready) aw_addr_q <= register_of(lite_req_i.aw_addr);
    if (w_ready) begin
      w_data_q <= lite_req_i.w_data;
      w_strb_q <= lite_req_i.w_strb;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = FirstArg; i < EndArg; i++) begin
      if (write && aw_addr_q == reg_addr_t'(4 * i)) begin
        for (int unsigned b = 0; b < 4; b++) begin
          if (w_strb_q[b]) args_q[i][8*b +: 8] <= w_data_q[8*b +: 8];
        end
      end
    end
  end

  // ---- Control and interrupt -----------------------------------------------------------------------------------------
  logic       start_q, ready_q, done_before_q, gie_q;
  logic [1:0] ier_q, isr_q;             // bit 0 done, bit 1 ready
  logic       write_low;                // a write that has its lowest byte
  logic       write_start;

  assign write_low   = write && w_strb_q[0];
  assign write_start = write_low && aw_addr_q == REG_CTRL && w_data_q[0];
  assign continue_o  = write_low && aw_addr_q == REG_CTRL && w_data_q[4];
  assign start_o     = start_q;
  assign interrupt_o = gie_q && isr_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      start_q       <= 1'b0;
      ready_q       <= 1'b0;
      done_before_q <= 1'b0;
      gie_q         <= 1'b0;
      ier_q         <= '0;
      isr_q         <= '0;
    end else begin
      done_before_q <= done_i;
      if (write_start)         start_q <= 1'b1;
      else if (start_taken_i)  start_q <= 1'b0;
      if (start_taken_i)       ready_q <= 1'b1;
      else if (write_start)    ready_q <= 1'b0;
      if (write_low && aw_addr_q == REG_GIE) gie_q <= w_data_q[0];
      if (write_low && aw_addr_q == REG_IER) ier_q <= w_data_q[1:0];
      if (write_low && aw_addr_q == REG_ISR) isr_q <= isr_q ^ w_data_q[1:0];
      if (done_i && !done_before_q && ier_q[0]) isr_q[0] <= 1'b1;
      if (start_taken_i && ier_q[1])            isr_q[1] <= 1'b1;
    end
  end

  // ---- Reads -------------------------------------------------------------------------------------------------------
  logic      ar_ready, r_valid_q;
  reg_addr_t ar_addr;
  word_t     r_data_q;

  assign ar_ready = rst_ni && !r_valid_q;
  assign ar_addr  = register_of(lite_req_i.ar_addr);

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                              r_valid_q <= 1'b0;
    else if (lite_req_i.ar_valid && ar_ready) r_valid_q <= 1'b1;
    else if (lite_req_i.r_ready)              r_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (ar_ready) begin
      r_data_q <= '0;
      case (ar_addr)
        REG_CTRL:        r_data_q[3:0] <= {ready_q, idle_i && !start_q, done_i, start_q};
        REG_GIE:         r_data_q[0]   <= gie_q;
        REG_IER:         r_data_q[1:0] <= ier_q;
        REG_ISR:         r_data_q[1:0] <= isr_q;
        REG_IDENTITY:    r_data_q      <= IdentityValue;
        REG_CONFIG:      r_data_q      <= {16'b0, 8'(IndexChannels), 8'(TableLog2)};
        REG_LAST_STATUS: r_data_q      <= last_status_i;
        default: begin
          for (int unsigned i = FirstArg; i < EndArg; i++) begin
            if (ar_addr == reg_addr_t'(4 * i)) r_data_q <= args_q[i];
          end
        end
      endcase
    end
  end

  assign lite_resp_o = '{aw_ready: aw_ready, w_ready: w_ready, b_valid: b_valid_q, b_resp: RespOkay,
                         ar_ready: ar_ready, r_valid: r_valid_q, r_data: r_data_q, r_resp: RespOkay};

  // ---- Arguments as the kernel wants them ----------------------------------------------------------------------------
  function automatic word_t arg32(reg_addr_t address);
    return args_q[int'(address) / 4];
  endfunction

  function automatic logic [63:0] arg64(reg_addr_t address);
    return {args_q[int'(address) / 4 + 1], args_q[int'(address) / 4]};
  endfunction

  assign command_o.seed          = arg64(REG_SEED);
  assign command_o.minibatch     = arg64(REG_MINIBATCH);
  assign command_o.num_nodes     = arg32(REG_NUM_NODES);
  assign command_o.num_edges     = arg32(REG_NUM_EDGES);
  assign command_o.num_seeds     = arg32(REG_NUM_SEEDS);
  assign command_o.num_hops      = arg32(REG_NUM_HOPS);
  assign command_o.fanouts       = {arg32(REG_FANOUT4), arg32(REG_FANOUT3), arg32(REG_FANOUT2), arg32(REG_FANOUT1)};
  assign command_o.node_capacity = arg32(REG_NODE_CAPACITY);
  assign command_o.edge_capacity = arg32(REG_EDGE_CAPACITY);
  assign command_o.offsets       = arg64(REG_OFFSETS);
  assign command_o.seeds         = arg64(REG_SEEDS);
  assign command_o.node_list     = arg64(REG_NODE_LIST);
  assign command_o.status        = arg64(REG_STATUS);
  assign command_o.outputs       = {arg64(REG_EDGES), arg64(REG_COLS), arg64(REG_ROWS), arg64(REG_SAMPLES)};
  assign command_o.indices       = {arg64(REG_INDICES7), arg64(REG_INDICES6), arg64(REG_INDICES5), arg64(REG_INDICES4),
                                    arg64(REG_INDICES3), arg64(REG_INDICES2), arg64(REG_INDICES1), arg64(REG_INDICES0)};

  `ASSERT_STABLE(BStable, b_valid_q, lite_req_i.b_ready, 1'b0)
  `ASSERT_STABLE(RStable, r_valid_q, lite_req_i.r_ready, r_data_q)

endmodule
