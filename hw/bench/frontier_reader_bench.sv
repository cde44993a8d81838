// The nodes to expand, with the list head and the reader of its port: memory is outside, on its AXI port.
module frontier_reader_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    line_t r_line;
    word_t unused;
    word_t r_resp;
    word_t r_valid;
    word_t ar_ready;
    word_t ready;
    word_t failed;
    word_t at_rest;
    word_t num_nodes;
    word_t past;
    word_t first;
    word_t seeds;
    word_t start;
    word_t node;
    word_t node_valid;
    addr_t base;
  } in_t;

  typedef struct packed {
    addr_t       ar_addr;
    word_t       unused;
    word_t       ar_valid;
    word_t       r_ready;
    word_t       id;
    item_words_t item;
    word_t       valid;
    word_t       busy;
    word_t       reads;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic           busy, valid;
  head_t          index;
  node_t          head;
  line_req_t      req;
  line_resp_t     resp;
  frontier_t      frontier;
  read_traffic_t  traffic;
  axi_read_req_t  axi_req;
  axi_read_resp_t axi_resp;

  assign axi_resp = '{ar_ready: in.ar_ready[0], r_valid: in.r_valid[0],
                      r: '{id: '0, resp: axi_resp_t'(in.r_resp), last: 1'b1, data: in.r_line}};

  assign out.reads    = traffic.reads;
  assign out.busy     = word_t'(busy);
  assign out.valid    = word_t'(valid);
  assign out.item     = of_item(frontier.item);
  assign out.id       = word_t'(frontier.id);
  assign out.r_ready  = word_t'(axi_req.r_ready);
  assign out.ar_valid = word_t'(axi_req.ar_valid);
  assign out.unused   = '0;
  assign out.ar_addr  = axi_req.ar.addr;

  frontier_reader u_frontier (
    .clk_i, .rst_ni,
    .start_i     (in.start[0]),
    .seeds_i     (in.seeds[0]),
    .base_i      (in.base),
    .first_i     (count_t'(in.first)),
    .past_i      (count_t'(in.past)),
    .at_rest_i   (in.at_rest[0]),
    .num_nodes_i (in.num_nodes),
    .abort_i     (in.failed[0]),
    .busy_o      (busy),
    .head_o      (index),
    .head_i      (head),
    .lines_o     (req),
    .lines_i     (resp),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (frontier)
  );

  list_head u_list_head (
    .clk_i, .rst_ni,
    .turn_i       (in.start[0]),
    .node_valid_i (in.node_valid[0]),
    .node_i       (node_t'(in.node)),
    .index_i      (index),
    .node_o       (head)
  );

  line_reader #(.Window(4), .Stages(1)) u_reader (
    .clk_i, .rst_ni,
    .clear_i    (1'b0),
    .req_i      (req),
    .resp_o     (resp),
    .traffic_o  (traffic),
    .axi_req_o  (axi_req),
    .axi_resp_i (axi_resp)
  );

endmodule
