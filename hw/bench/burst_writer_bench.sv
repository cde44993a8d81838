// An AXI4 write master with room for four bursts; the memory is outside.
module burst_writer_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t        b_resp;
    word_t        b_valid;
    word_t        w_ready;
    word_t        aw_ready;
    word_t        valid;
    word_t        count;
    word_t        clear;
    write_words_t line;
  } in_t;

  typedef struct packed {
    addr_t   fault_addr;
    word_t   fault_resp;
    word_t   fault_seen;
    word_t   beats;
    word_t   bursts;
    word_t   idle;
    word_t   b_ready;
    word_t   w_last;
    strobe_t w_strb;
    line_t   w_data;
    word_t   w_valid;
    word_t   aw_burst;
    word_t   aw_size;
    word_t   aw_len;
    addr_t   aw_addr;
    word_t   aw_valid;
    word_t   ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic       ready, idle, aw_valid, w_valid, b_ready;
  axi_ax_t    aw;
  axi_w_t     w;
  bus_fault_t fault;
  assign out.ready      = word_t'(ready);
  assign out.idle       = word_t'(idle);
  assign out.aw_valid   = word_t'(aw_valid);
  assign out.aw_addr    = aw.addr;
  assign out.aw_len     = word_t'(aw.len);
  assign out.aw_size    = word_t'(aw.size);
  assign out.aw_burst   = word_t'(aw.burst);
  assign out.w_valid    = word_t'(w_valid);
  assign out.w_data     = w.data;
  assign out.w_strb     = w.strb;
  assign out.w_last     = word_t'(w.last);
  assign out.b_ready    = word_t'(b_ready);
  assign out.fault_seen = word_t'(fault.seen);
  assign out.fault_resp = word_t'(fault.resp);
  assign out.fault_addr = fault.addr;

  burst_writer #(.Window(4), .Stages(1)) u_writer (
    .clk_i, .rst_ni,
    .clear_i     (in.clear[0]),
    .count_i     (in.count[0]),
    .req_valid_i (in.valid[0]),
    .req_ready_o (ready),
    .req_i       (to_write(in.line)),
    .idle_o      (idle),
    .bursts_o    (out.bursts),
    .beats_o     (out.beats),
    .fault_o     (fault),
    .aw_valid_o  (aw_valid),
    .aw_ready_i  (in.aw_ready[0]),
    .aw_o        (aw),
    .w_valid_o   (w_valid),
    .w_ready_i   (in.w_ready[0]),
    .w_o         (w),
    .b_valid_i   (in.b_valid[0]),
    .b_ready_o   (b_ready),
    .b_i         ('{id: '0, resp: in.b_resp[1:0]})
  );

endmodule
