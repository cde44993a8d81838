// The sampling kernel as XRT sees it: one AXI4-Lite slave, AXI4 masters, clock, reset and interrupt, all as flat ports.
// One mini-batch is sampled per run, as golden/CONTRACT.md says. Three of these sit on a card, one per SLR.
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
  output logic        m_axi_offs_arvalid,
  input  logic        m_axi_offs_arready,
  output axi_id_t     m_axi_offs_arid,
  output addr_t       m_axi_offs_araddr,
  output logic [7:0]  m_axi_offs_arlen,
  output logic [2:0]  m_axi_offs_arsize,
  output logic [1:0]  m_axi_offs_arburst,
  input  logic        m_axi_offs_rvalid,
  output logic        m_axi_offs_rready,
  input  axi_id_t     m_axi_offs_rid,
  input  line_t       m_axi_offs_rdata,
  input  logic [1:0]  m_axi_offs_rresp,
  input  logic        m_axi_offs_rlast,

  // Dealt indices, a master per channel: random reads.
  output logic        m_axi_idx0_arvalid,
  input  logic        m_axi_idx0_arready,
  output axi_id_t     m_axi_idx0_arid,
  output addr_t       m_axi_idx0_araddr,
  output logic [7:0]  m_axi_idx0_arlen,
  output logic [2:0]  m_axi_idx0_arsize,
  output logic [1:0]  m_axi_idx0_arburst,
  input  logic        m_axi_idx0_rvalid,
  output logic        m_axi_idx0_rready,
  input  axi_id_t     m_axi_idx0_rid,
  input  line_t       m_axi_idx0_rdata,
  input  logic [1:0]  m_axi_idx0_rresp,
  input  logic        m_axi_idx0_rlast,

  output logic        m_axi_idx1_arvalid,
  input  logic        m_axi_idx1_arready,
  output axi_id_t     m_axi_idx1_arid,
  output addr_t       m_axi_idx1_araddr,
  output logic [7:0]  m_axi_idx1_arlen,
  output logic [2:0]  m_axi_idx1_arsize,
  output logic [1:0]  m_axi_idx1_arburst,
  input  logic        m_axi_idx1_rvalid,
  output logic        m_axi_idx1_rready,
  input  axi_id_t     m_axi_idx1_rid,
  input  line_t       m_axi_idx1_rdata,
  input  logic [1:0]  m_axi_idx1_rresp,
  input  logic        m_axi_idx1_rlast,

  output logic        m_axi_idx2_arvalid,
  input  logic        m_axi_idx2_arready,
  output axi_id_t     m_axi_idx2_arid,
  output addr_t       m_axi_idx2_araddr,
  output logic [7:0]  m_axi_idx2_arlen,
  output logic [2:0]  m_axi_idx2_arsize,
  output logic [1:0]  m_axi_idx2_arburst,
  input  logic        m_axi_idx2_rvalid,
  output logic        m_axi_idx2_rready,
  input  axi_id_t     m_axi_idx2_rid,
  input  line_t       m_axi_idx2_rdata,
  input  logic [1:0]  m_axi_idx2_rresp,
  input  logic        m_axi_idx2_rlast,

  output logic        m_axi_idx3_arvalid,
  input  logic        m_axi_idx3_arready,
  output axi_id_t     m_axi_idx3_arid,
  output addr_t       m_axi_idx3_araddr,
  output logic [7:0]  m_axi_idx3_arlen,
  output logic [2:0]  m_axi_idx3_arsize,
  output logic [1:0]  m_axi_idx3_arburst,
  input  logic        m_axi_idx3_rvalid,
  output logic        m_axi_idx3_rready,
  input  axi_id_t     m_axi_idx3_rid,
  input  line_t       m_axi_idx3_rdata,
  input  logic [1:0]  m_axi_idx3_rresp,
  input  logic        m_axi_idx3_rlast,

  output logic        m_axi_idx4_arvalid,
  input  logic        m_axi_idx4_arready,
  output axi_id_t     m_axi_idx4_arid,
  output addr_t       m_axi_idx4_araddr,
  output logic [7:0]  m_axi_idx4_arlen,
  output logic [2:0]  m_axi_idx4_arsize,
  output logic [1:0]  m_axi_idx4_arburst,
  input  logic        m_axi_idx4_rvalid,
  output logic        m_axi_idx4_rready,
  input  axi_id_t     m_axi_idx4_rid,
  input  line_t       m_axi_idx4_rdata,
  input  logic [1:0]  m_axi_idx4_rresp,
  input  logic        m_axi_idx4_rlast,

  output logic        m_axi_idx5_arvalid,
  input  logic        m_axi_idx5_arready,
  output axi_id_t     m_axi_idx5_arid,
  output addr_t       m_axi_idx5_araddr,
  output logic [7:0]  m_axi_idx5_arlen,
  output logic [2:0]  m_axi_idx5_arsize,
  output logic [1:0]  m_axi_idx5_arburst,
  input  logic        m_axi_idx5_rvalid,
  output logic        m_axi_idx5_rready,
  input  axi_id_t     m_axi_idx5_rid,
  input  line_t       m_axi_idx5_rdata,
  input  logic [1:0]  m_axi_idx5_rresp,
  input  logic        m_axi_idx5_rlast,

  output logic        m_axi_idx6_arvalid,
  input  logic        m_axi_idx6_arready,
  output axi_id_t     m_axi_idx6_arid,
  output addr_t       m_axi_idx6_araddr,
  output logic [7:0]  m_axi_idx6_arlen,
  output logic [2:0]  m_axi_idx6_arsize,
  output logic [1:0]  m_axi_idx6_arburst,
  input  logic        m_axi_idx6_rvalid,
  output logic        m_axi_idx6_rready,
  input  axi_id_t     m_axi_idx6_rid,
  input  line_t       m_axi_idx6_rdata,
  input  logic [1:0]  m_axi_idx6_rresp,
  input  logic        m_axi_idx6_rlast,

  output logic        m_axi_idx7_arvalid,
  input  logic        m_axi_idx7_arready,
  output axi_id_t     m_axi_idx7_arid,
  output addr_t       m_axi_idx7_araddr,
  output logic [7:0]  m_axi_idx7_arlen,
  output logic [2:0]  m_axi_idx7_arsize,
  output logic [1:0]  m_axi_idx7_arburst,
  input  logic        m_axi_idx7_rvalid,
  output logic        m_axi_idx7_rready,
  input  axi_id_t     m_axi_idx7_rid,
  input  line_t       m_axi_idx7_rdata,
  input  logic [1:0]  m_axi_idx7_rresp,
  input  logic        m_axi_idx7_rlast,

  // Seeds and node list in card memory, and the status block.
  output logic        m_axi_mem_arvalid,
  input  logic        m_axi_mem_arready,
  output axi_id_t     m_axi_mem_arid,
  output addr_t       m_axi_mem_araddr,
  output logic [7:0]  m_axi_mem_arlen,
  output logic [2:0]  m_axi_mem_arsize,
  output logic [1:0]  m_axi_mem_arburst,
  input  logic        m_axi_mem_rvalid,
  output logic        m_axi_mem_rready,
  input  axi_id_t     m_axi_mem_rid,
  input  line_t       m_axi_mem_rdata,
  input  logic [1:0]  m_axi_mem_rresp,
  input  logic        m_axi_mem_rlast,
  output logic        m_axi_mem_awvalid,
  input  logic        m_axi_mem_awready,
  output axi_id_t     m_axi_mem_awid,
  output addr_t       m_axi_mem_awaddr,
  output logic [7:0]  m_axi_mem_awlen,
  output logic [2:0]  m_axi_mem_awsize,
  output logic [1:0]  m_axi_mem_awburst,
  output logic        m_axi_mem_wvalid,
  input  logic        m_axi_mem_wready,
  output line_t       m_axi_mem_wdata,
  output strobe_t     m_axi_mem_wstrb,
  output logic        m_axi_mem_wlast,
  input  logic        m_axi_mem_bvalid,
  output logic        m_axi_mem_bready,
  input  axi_id_t     m_axi_mem_bid,
  input  logic [1:0]  m_axi_mem_bresp,

  // Output buffers.
  output logic        m_axi_out_awvalid,
  input  logic        m_axi_out_awready,
  output axi_id_t     m_axi_out_awid,
  output addr_t       m_axi_out_awaddr,
  output logic [7:0]  m_axi_out_awlen,
  output logic [2:0]  m_axi_out_awsize,
  output logic [1:0]  m_axi_out_awburst,
  output logic        m_axi_out_wvalid,
  input  logic        m_axi_out_wready,
  output line_t       m_axi_out_wdata,
  output strobe_t     m_axi_out_wstrb,
  output logic        m_axi_out_wlast,
  input  logic        m_axi_out_bvalid,
  output logic        m_axi_out_bready,
  input  axi_id_t     m_axi_out_bid,
  input  logic [1:0]  m_axi_out_bresp
);

  // The reset is registered once more, as its net spans the whole SLR. It holds from power-up on.
  logic rst_nq = 1'b0;
  always_ff @(posedge ap_clk) rst_nq <= ap_rst_n;

  logic        start, start_taken, done, continue_run, idle;
  command_t    command;
  logic [31:0] last_status;

  control_slave #(.IndexChannels(INDEX_CHANNELS), .TableLog2(TABLE_LOG2)) u_control (
    .clk_i         (ap_clk),
    .rst_ni        (rst_nq),
    .aw_valid_i    (s_axi_control_awvalid),
    .aw_ready_o    (s_axi_control_awready),
    .aw_addr_i     (s_axi_control_awaddr),
    .w_valid_i     (s_axi_control_wvalid),
    .w_ready_o     (s_axi_control_wready),
    .w_data_i      (s_axi_control_wdata),
    .w_strb_i      (s_axi_control_wstrb),
    .b_valid_o     (s_axi_control_bvalid),
    .b_ready_i     (s_axi_control_bready),
    .ar_valid_i    (s_axi_control_arvalid),
    .ar_ready_o    (s_axi_control_arready),
    .ar_addr_i     (s_axi_control_araddr),
    .r_valid_o     (s_axi_control_rvalid),
    .r_ready_i     (s_axi_control_rready),
    .r_data_o      (s_axi_control_rdata),
    .interrupt_o   (interrupt),
    .start_o       (start),
    .start_taken_i (start_taken),
    .done_i        (done),
    .continue_o    (continue_run),
    .idle_i        (idle),
    .command_o     (command),
    .last_status_i (last_status)
  );

  assign s_axi_control_bresp = 2'b00;
  assign s_axi_control_rresp = 2'b00;

  // ---- Structs to flat ports ----------------------------------------------------------------------------------------
  axi_ax_t                   offs_ar, mem_ar, mem_aw, out_aw;
  axi_ax_t [MaxChannels-1:0] idx_ar;
  axi_r_t                    offs_r, mem_r;
  axi_r_t  [MaxChannels-1:0] idx_r;
  logic    [MaxChannels-1:0] idx_ar_valid, idx_ar_ready, idx_r_valid, idx_r_ready;
  axi_w_t                    mem_w, out_w;
  axi_b_t                    mem_b, out_b;

  assign {m_axi_offs_arid, m_axi_offs_araddr, m_axi_offs_arlen, m_axi_offs_arsize, m_axi_offs_arburst} = offs_ar;
  assign offs_r = {m_axi_offs_rid, m_axi_offs_rdata, m_axi_offs_rresp, m_axi_offs_rlast};
  assign {m_axi_mem_arid, m_axi_mem_araddr, m_axi_mem_arlen, m_axi_mem_arsize, m_axi_mem_arburst} = mem_ar;
  assign mem_r = {m_axi_mem_rid, m_axi_mem_rdata, m_axi_mem_rresp, m_axi_mem_rlast};
  assign {m_axi_mem_awid, m_axi_mem_awaddr, m_axi_mem_awlen, m_axi_mem_awsize, m_axi_mem_awburst} = mem_aw;
  assign {m_axi_mem_wdata, m_axi_mem_wstrb, m_axi_mem_wlast} = mem_w;
  assign mem_b = {m_axi_mem_bid, m_axi_mem_bresp};
  assign {m_axi_out_awid, m_axi_out_awaddr, m_axi_out_awlen, m_axi_out_awsize, m_axi_out_awburst} = out_aw;
  assign {m_axi_out_wdata, m_axi_out_wstrb, m_axi_out_wlast} = out_w;
  assign out_b = {m_axi_out_bid, m_axi_out_bresp};

  assign {m_axi_idx0_arid, m_axi_idx0_araddr, m_axi_idx0_arlen, m_axi_idx0_arsize, m_axi_idx0_arburst} = idx_ar[0];
  assign idx_r[0] = {m_axi_idx0_rid, m_axi_idx0_rdata, m_axi_idx0_rresp, m_axi_idx0_rlast};
  assign {m_axi_idx1_arid, m_axi_idx1_araddr, m_axi_idx1_arlen, m_axi_idx1_arsize, m_axi_idx1_arburst} = idx_ar[1];
  assign idx_r[1] = {m_axi_idx1_rid, m_axi_idx1_rdata, m_axi_idx1_rresp, m_axi_idx1_rlast};
  assign {m_axi_idx2_arid, m_axi_idx2_araddr, m_axi_idx2_arlen, m_axi_idx2_arsize, m_axi_idx2_arburst} = idx_ar[2];
  assign idx_r[2] = {m_axi_idx2_rid, m_axi_idx2_rdata, m_axi_idx2_rresp, m_axi_idx2_rlast};
  assign {m_axi_idx3_arid, m_axi_idx3_araddr, m_axi_idx3_arlen, m_axi_idx3_arsize, m_axi_idx3_arburst} = idx_ar[3];
  assign idx_r[3] = {m_axi_idx3_rid, m_axi_idx3_rdata, m_axi_idx3_rresp, m_axi_idx3_rlast};
  assign {m_axi_idx4_arid, m_axi_idx4_araddr, m_axi_idx4_arlen, m_axi_idx4_arsize, m_axi_idx4_arburst} = idx_ar[4];
  assign idx_r[4] = {m_axi_idx4_rid, m_axi_idx4_rdata, m_axi_idx4_rresp, m_axi_idx4_rlast};
  assign {m_axi_idx5_arid, m_axi_idx5_araddr, m_axi_idx5_arlen, m_axi_idx5_arsize, m_axi_idx5_arburst} = idx_ar[5];
  assign idx_r[5] = {m_axi_idx5_rid, m_axi_idx5_rdata, m_axi_idx5_rresp, m_axi_idx5_rlast};
  assign {m_axi_idx6_arid, m_axi_idx6_araddr, m_axi_idx6_arlen, m_axi_idx6_arsize, m_axi_idx6_arburst} = idx_ar[6];
  assign idx_r[6] = {m_axi_idx6_rid, m_axi_idx6_rdata, m_axi_idx6_rresp, m_axi_idx6_rlast};
  assign {m_axi_idx7_arid, m_axi_idx7_araddr, m_axi_idx7_arlen, m_axi_idx7_arsize, m_axi_idx7_arburst} = idx_ar[7];
  assign idx_r[7] = {m_axi_idx7_rid, m_axi_idx7_rdata, m_axi_idx7_rresp, m_axi_idx7_rlast};
  assign {m_axi_idx7_arvalid, m_axi_idx6_arvalid, m_axi_idx5_arvalid, m_axi_idx4_arvalid,
    m_axi_idx3_arvalid, m_axi_idx2_arvalid, m_axi_idx1_arvalid, m_axi_idx0_arvalid} = idx_ar_valid;
  assign {m_axi_idx7_rready, m_axi_idx6_rready, m_axi_idx5_rready, m_axi_idx4_rready,
    m_axi_idx3_rready, m_axi_idx2_rready, m_axi_idx1_rready, m_axi_idx0_rready} = idx_r_ready;
  assign idx_ar_ready = {m_axi_idx7_arready, m_axi_idx6_arready, m_axi_idx5_arready, m_axi_idx4_arready,
    m_axi_idx3_arready, m_axi_idx2_arready, m_axi_idx1_arready, m_axi_idx0_arready};
  assign idx_r_valid = {m_axi_idx7_rvalid, m_axi_idx6_rvalid, m_axi_idx5_rvalid, m_axi_idx4_rvalid,
    m_axi_idx3_rvalid, m_axi_idx2_rvalid, m_axi_idx1_rvalid, m_axi_idx0_rvalid};

  sampler_core #(
    .IndexChannels (INDEX_CHANNELS),
    .TableLog2     (TABLE_LOG2),
    .EpochWidth    (EPOCH_WIDTH),
    .Window        (WINDOW),
    .SlrStages     (SLR_STAGES),
    .ChachaRounds  (CHACHA_ROUNDS)
  ) u_core (
    .clk_i           (ap_clk),
    .rst_ni          (rst_nq),
    .start_i         (start),
    .start_taken_o   (start_taken),
    .done_o          (done),
    .continue_i      (continue_run),
    .idle_o          (idle),
    .command_i       (command),
    .last_status_o   (last_status),
    .offs_ar_valid_o (m_axi_offs_arvalid),
    .offs_ar_ready_i (m_axi_offs_arready),
    .offs_ar_o       (offs_ar),
    .offs_r_valid_i  (m_axi_offs_rvalid),
    .offs_r_ready_o  (m_axi_offs_rready),
    .offs_r_i        (offs_r),
    .idx_ar_valid_o  (idx_ar_valid),
    .idx_ar_ready_i  (idx_ar_ready),
    .idx_ar_o        (idx_ar),
    .idx_r_valid_i   (idx_r_valid),
    .idx_r_ready_o   (idx_r_ready),
    .idx_r_i         (idx_r),
    .mem_ar_valid_o  (m_axi_mem_arvalid),
    .mem_ar_ready_i  (m_axi_mem_arready),
    .mem_ar_o        (mem_ar),
    .mem_r_valid_i   (m_axi_mem_rvalid),
    .mem_r_ready_o   (m_axi_mem_rready),
    .mem_r_i         (mem_r),
    .mem_aw_valid_o  (m_axi_mem_awvalid),
    .mem_aw_ready_i  (m_axi_mem_awready),
    .mem_aw_o        (mem_aw),
    .mem_w_valid_o   (m_axi_mem_wvalid),
    .mem_w_ready_i   (m_axi_mem_wready),
    .mem_w_o         (mem_w),
    .mem_b_valid_i   (m_axi_mem_bvalid),
    .mem_b_ready_o   (m_axi_mem_bready),
    .mem_b_i         (mem_b),
    .out_aw_valid_o  (m_axi_out_awvalid),
    .out_aw_ready_i  (m_axi_out_awready),
    .out_aw_o        (out_aw),
    .out_w_valid_o   (m_axi_out_wvalid),
    .out_w_ready_i   (m_axi_out_wready),
    .out_w_o         (out_w),
    .out_b_valid_i   (m_axi_out_bvalid),
    .out_b_ready_o   (m_axi_out_bready),
    .out_b_i         (out_b)
  );

endmodule
