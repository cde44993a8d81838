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

  logic            ready, idle;
  write_traffic_t  traffic;
  axi_write_req_t  axi_req;
  axi_write_resp_t axi_resp;

  assign axi_resp = '{aw_ready: in.aw_ready[0], w_ready: in.w_ready[0], b_valid: in.b_valid[0],
                      b: '{id: '0, resp: axi_resp_t'(in.b_resp)}};

  assign out.ready      = word_t'(ready);
  assign out.idle       = word_t'(idle);
  assign out.aw_valid   = word_t'(axi_req.aw_valid);
  assign out.aw_addr    = axi_req.aw.addr;
  assign out.aw_len     = word_t'(axi_req.aw.len);
  assign out.aw_size    = word_t'(axi_req.aw.size);
  assign out.aw_burst   = word_t'(axi_req.aw.burst);
  assign out.w_valid    = word_t'(axi_req.w_valid);
  assign out.w_data     = axi_req.w.data;
  assign out.w_strb     = axi_req.w.strb;
  assign out.w_last     = word_t'(axi_req.w.last);
  assign out.b_ready    = word_t'(axi_req.b_ready);
  assign out.bursts     = traffic.bursts;
  assign out.beats      = traffic.beats;
  assign out.fault_seen = word_t'(traffic.fault.seen);
  assign out.fault_resp = word_t'(traffic.fault.resp);
  assign out.fault_addr = traffic.fault.addr;

  burst_writer #(.Window(4), .Stages(1)) u_writer (
    .clk_i, .rst_ni,
    .clear_i    (in.clear[0]),
    .count_i    (in.count[0]),
    .in_valid_i (in.valid[0]),
    .in_ready_o (ready),
    .in_i       (to_write(in.line)),
    .idle_o     (idle),
    .traffic_o  (traffic),
    .axi_req_o  (axi_req),
    .axi_resp_i (axi_resp)
  );

endmodule
