// The sampling kernel as XRT sees it: one AXI4-Lite slave, AXI4 masters, clock, reset and interrupt, all as flat ports.
// One mini-batch is sampled per run, as golden/CONTRACT.md says. Three of these sit on a card, one per SLR.

// Pins of the master `p` that reads, those of the master `p` that writes, and what either is connected with inside. A test
// compares them with hw/src/vitis/pins.rs.
`define READ_PINS(p) \
  output logic        m_axi_``p``_arvalid, \
  input  logic        m_axi_``p``_arready, \
  output axi_id_t     m_axi_``p``_arid, \
  output addr_t       m_axi_``p``_araddr, \
  output logic [7:0]  m_axi_``p``_arlen, \
  output logic [2:0]  m_axi_``p``_arsize, \
  output logic [1:0]  m_axi_``p``_arburst, \
  input  logic        m_axi_``p``_rvalid, \
  output logic        m_axi_``p``_rready, \
  input  axi_id_t     m_axi_``p``_rid, \
  input  line_t       m_axi_``p``_rdata, \
  input  logic [1:0]  m_axi_``p``_rresp, \
  input  logic        m_axi_``p``_rlast

`define WRITE_PINS(p) \
  output logic        m_axi_``p``_awvalid, \
  input  logic        m_axi_``p``_awready, \
  output axi_id_t     m_axi_``p``_awid, \
  output addr_t       m_axi_``p``_awaddr, \
  output logic [7:0]  m_axi_``p``_awlen, \
  output logic [2:0]  m_axi_``p``_awsize, \
  output logic [1:0]  m_axi_``p``_awburst, \
  output logic        m_axi_``p``_wvalid, \
  input  logic        m_axi_``p``_wready, \
  output line_t       m_axi_``p``_wdata, \
  output strobe_t     m_axi_``p``_wstrb, \
  output logic        m_axi_``p``_wlast, \
  input  logic        m_axi_``p``_bvalid, \
  output logic        m_axi_``p``_bready, \
  input  axi_id_t     m_axi_``p``_bid, \
  input  logic [1:0]  m_axi_``p``_bresp

`define CONNECT_READ(p, REQ, RESP) \
  assign m_axi_``p``_arvalid = REQ.ar_valid; \
  assign m_axi_``p``_arid    = REQ.ar.id; \
  assign m_axi_``p``_araddr  = REQ.ar.addr; \
  assign m_axi_``p``_arlen   = REQ.ar.len; \
  assign m_axi_``p``_arsize  = REQ.ar.size; \
  assign m_axi_``p``_arburst = REQ.ar.burst; \
  assign m_axi_``p``_rready  = REQ.r_ready; \
  assign RESP = '{ar_ready: m_axi_``p``_arready, r_valid: m_axi_``p``_rvalid, \
                  r: '{id: m_axi_``p``_rid, resp: m_axi_``p``_rresp, last: m_axi_``p``_rlast, data: m_axi_``p``_rdata}};

`define CONNECT_WRITE(p, REQ, RESP) \
  assign m_axi_``p``_awvalid = REQ.aw_valid; \
  assign m_axi_``p``_awid    = REQ.aw.id; \
  assign m_axi_``p``_awaddr  = REQ.aw.addr; \
  assign m_axi_``p``_awlen   = REQ.aw.len; \
  assign m_axi_``p``_awsize  = REQ.aw.size; \
  assign m_axi_``p``_awburst = REQ.aw.burst; \
  assign m_axi_``p``_wvalid  = REQ.w_valid; \
  assign m_axi_``p``_wdata   = REQ.w.data; \
  assign m_axi_``p``_wstrb   = REQ.w.strb; \
  assign m_axi_``p``_wlast   = REQ.w.last; \
  assign m_axi_``p``_bready  = REQ.b_ready; \
  assign RESP = '{aw_ready: m_axi_``p``_awready, w_ready: m_axi_``p``_wready, b_valid: m_axi_``p``_bvalid, \
                  b: '{id: m_axi_``p``_bid, resp: m_axi_``p``_bresp}};

module trisage_sampler
  import trisage_pkg::*;
#(
  // Index channels in use: 1, 2, 4 or 8. The masters past them stay silent and are left out when the kernel is packaged.
  parameter int unsigned INDEX_CHANNELS = 4,
  // log2 of the slots of the hash table that gives local ids.
  parameter int unsigned TABLE_LOG2 = 19,
  // Width of the epoch that tells one mini-batch's entries from another's; the table is cleared when all have been used.
  parameter int unsigned EPOCH_WIDTH = 20,
  // Reads that may be outstanding on each port, a power of two.
  parameter int unsigned WINDOW = 128,
  // Registers in each AXI channel, for a kernel whose memory is attached to another SLR.
  parameter int unsigned SLR_STAGES = 2,
  // Rounds of the ChaCha block function. The contract says 8; anything else is another sampler.
  parameter int unsigned CHACHA_ROUNDS = 8
) (
  input  logic        ap_clk,
  input  logic        ap_rst_n,
  output logic        interrupt,

  // AXI4-Lite: registers of trisage_pkg, 32-bit data.
  input  logic        s_axi_control_awvalid,
  output logic        s_axi_control_awready,
  input  logic [11:0] s_axi_control_awaddr,
  input  logic        s_axi_control_wvalid,
  output logic        s_axi_control_wready,
  input  logic [31:0] s_axi_control_wdata,
  input  logic [3:0]  s_axi_control_wstrb,
  output logic        s_axi_control_bvalid,
  input  logic        s_axi_control_bready,
  output logic [1:0]  s_axi_control_bresp,
  input  logic        s_axi_control_arvalid,
  output logic        s_axi_control_arready,
  input  logic [11:0] s_axi_control_araddr,
  output logic        s_axi_control_rvalid,
  input  logic        s_axi_control_rready,
  output logic [31:0] s_axi_control_rdata,
  output logic [1:0]  s_axi_control_rresp,

  // Offset records: random reads.
  `READ_PINS(offs),
  // Dealt indices, a master per channel: random reads.
  `READ_PINS(idx0),
  `READ_PINS(idx1),
  `READ_PINS(idx2),
  `READ_PINS(idx3),
  `READ_PINS(idx4),
  `READ_PINS(idx5),
  `READ_PINS(idx6),
  `READ_PINS(idx7),
  // Seeds and node list in card memory, and the status block.
  `READ_PINS(mem),
  `WRITE_PINS(mem),
  // Output buffers.
  `WRITE_PINS(out)
);

  // The reset is registered once more, as its net spans the whole SLR. It holds from power-up on.
  logic rst_nq = 1'b0;
  always_ff @(posedge ap_clk) rst_nq <= ap_rst_n;

  // ---- Flat ports to structs ---------------------------------------------------------------------------------------
  lite_req_t                         lite_req;
  lite_resp_t                        lite_resp;
  axi_read_req_t                     offs_req, mem_read_req;
  axi_read_resp_t                    offs_resp, mem_read_resp;
  axi_read_req_t   [MaxChannels-1:0] idx_req;
  axi_read_resp_t  [MaxChannels-1:0] idx_resp;
  axi_write_req_t                    mem_write_req, out_req;
  axi_write_resp_t                   mem_write_resp, out_resp;

  `CONNECT_READ(offs, offs_req, offs_resp)
  `CONNECT_READ(idx0, idx_req[0], idx_resp[0])
  `CONNECT_READ(idx1, idx_req[1], idx_resp[1])
  `CONNECT_READ(idx2, idx_req[2], idx_resp[2])
  `CONNECT_READ(idx3, idx_req[3], idx_resp[3])
  `CONNECT_READ(idx4, idx_req[4], idx_resp[4])
  `CONNECT_READ(idx5, idx_req[5], idx_resp[5])
  `CONNECT_READ(idx6, idx_req[6], idx_resp[6])
  `CONNECT_READ(idx7, idx_req[7], idx_resp[7])
  `CONNECT_READ(mem, mem_read_req, mem_read_resp)
  `CONNECT_WRITE(mem, mem_write_req, mem_write_resp)
  `CONNECT_WRITE(out, out_req, out_resp)

  assign lite_req = '{aw_valid: s_axi_control_awvalid, aw_addr: s_axi_control_awaddr,
                      w_valid: s_axi_control_wvalid, w_data: s_axi_control_wdata, w_strb: s_axi_control_wstrb,
                      b_ready: s_axi_control_bready,
                      ar_valid: s_axi_control_arvalid, ar_addr: s_axi_control_araddr, r_ready: s_axi_control_rready};
  assign s_axi_control_awready = lite_resp.aw_ready;
  assign s_axi_control_wready  = lite_resp.w_ready;
  assign s_axi_control_bvalid  = lite_resp.b_valid;
  assign s_axi_control_bresp   = lite_resp.b_resp;
  assign s_axi_control_arready = lite_resp.ar_ready;
  assign s_axi_control_rvalid  = lite_resp.r_valid;
  assign s_axi_control_rdata   = lite_resp.r_data;
  assign s_axi_control_rresp   = lite_resp.r_resp;

  // ---- Control and pipeline ----------------------------------------------------------------------------------------
  logic        start, start_taken, done, continue_run, idle;
  command_t    command;
  logic [31:0] last_status;

  control_slave #(.IndexChannels(INDEX_CHANNELS), .TableLog2(TABLE_LOG2)) u_control (
    .clk_i         (ap_clk),
    .rst_ni        (rst_nq),
    .lite_req_i    (lite_req),
    .lite_resp_o   (lite_resp),
    .interrupt_o   (interrupt),
    .start_o       (start),
    .start_taken_i (start_taken),
    .done_i        (done),
    .continue_o    (continue_run),
    .idle_i        (idle),
    .command_o     (command),
    .last_status_i (last_status)
  );

  sampler_core #(
    .IndexChannels (INDEX_CHANNELS),
    .TableLog2     (TABLE_LOG2),
    .EpochWidth    (EPOCH_WIDTH),
    .Window        (WINDOW),
    .SlrStages     (SLR_STAGES),
    .ChachaRounds  (CHACHA_ROUNDS)
  ) u_core (
    .clk_i            (ap_clk),
    .rst_ni           (rst_nq),
    .start_i          (start),
    .start_taken_o    (start_taken),
    .done_o           (done),
    .continue_i       (continue_run),
    .idle_o           (idle),
    .command_i        (command),
    .last_status_o    (last_status),
    .offs_read_req_o  (offs_req),
    .offs_read_resp_i (offs_resp),
    .idx_read_req_o   (idx_req),
    .idx_read_resp_i  (idx_resp),
    .mem_read_req_o   (mem_read_req),
    .mem_read_resp_i  (mem_read_resp),
    .mem_write_req_o  (mem_write_req),
    .mem_write_resp_i (mem_write_resp),
    .out_write_req_o  (out_req),
    .out_write_resp_i (out_resp)
  );

endmodule

`undef READ_PINS
`undef WRITE_PINS
`undef CONNECT_READ
`undef CONNECT_WRITE
