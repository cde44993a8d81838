// The sources of edges, with the readers of four index channels: memory is outside, on their AXI ports.
module line_fetch_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  localparam int unsigned Channels = 4;
  localparam int unsigned Window   = 16;  // of the edges; half of that in each reader, so that either may be what is full

  typedef struct packed {
    line_t [Channels-1:0] r_line;
    word_t [Channels-1:0] r_resp;
    word_t                r_valid;     // a bit each
    word_t                ar_ready;    // a bit each
    addr_t [Channels-1:0] bases;
    word_t                num_nodes;
    word_t                failed;
    word_t                clear;
    word_t                ready;
    word_t                pos;
    item_words_t          item;
    word_t                valid;
  } in_t;

  typedef struct packed {
    addr_t [Channels-1:0] fault_addr;
    word_t [Channels-1:0] fault_resp;
    word_t                fault_seen;  // a bit each
    word_t [Channels-1:0] reads;
    addr_t [Channels-1:0] ar_addr;
    word_t                ar_valid;    // a bit each
    word_t                r_ready;     // a bit each
    word_t                u;
    word_t                pos;
    item_words_t          item;
    word_t                valid;
    word_t                busy;
    word_t                ready;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic                      busy, ready, valid;
  arc_t                      arc;
  line_req_t  [Channels-1:0] req;
  line_resp_t [Channels-1:0] resp;
  logic       [Channels-1:0] ar_valid, r_ready, fault_seen;

  assign out.busy       = word_t'(busy);
  assign out.ready      = word_t'(ready);
  assign out.valid      = word_t'(valid);
  assign out.item       = of_item(arc.item);
  assign out.pos        = word_t'(arc.pos);
  assign out.u          = word_t'(arc.u);
  assign out.ar_valid   = word_t'(ar_valid);
  assign out.r_ready    = word_t'(r_ready);
  assign out.fault_seen = word_t'(fault_seen);

  line_fetch #(.Channels(Channels), .Window(Window)) u_fetch (
    .clk_i, .rst_ni,
    .bases_i     ({{(MaxChannels-Channels){addr_t'(0)}}, in.bases}),
    .num_nodes_i (in.num_nodes),
    .abort_i     (in.failed[0]),
    .busy_o      (busy),
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .in_i        ('{item: to_item(in.item), pos: pos_t'(in.pos)}),
    .lines_o     (req),
    .lines_i     (resp),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (arc)
  );

  for (genvar c = 0; c < Channels; c++) begin : gen_reader
    read_traffic_t  traffic;
    axi_read_req_t  axi_req;
    axi_read_resp_t axi_resp;

    assign axi_resp = '{ar_ready: in.ar_ready[c], r_valid: in.r_valid[c],
                        r: '{id: '0, resp: axi_resp_t'(in.r_resp[c]), last: 1'b1, data: in.r_line[c]}};

    assign ar_valid[c]       = axi_req.ar_valid;
    assign out.ar_addr[c]    = axi_req.ar.addr;
    assign r_ready[c]        = axi_req.r_ready;
    assign out.reads[c]      = traffic.reads;
    assign out.fault_addr[c] = traffic.fault.addr;
    assign out.fault_resp[c] = word_t'(traffic.fault.resp);
    assign fault_seen[c]     = traffic.fault.seen;

    line_reader #(.Window(Window / 2), .Queue(4), .Stages(1)) u_reader (
      .clk_i, .rst_ni,
      .clear_i    (in.clear[0]),
      .req_i      (req[c]),
      .resp_o     (resp[c]),
      .traffic_o  (traffic),
      .axi_req_o  (axi_req),
      .axi_resp_i (axi_resp)
    );
  end

endmodule
