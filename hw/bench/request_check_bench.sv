// The check of a run's arguments.
module request_check_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    addr_t [7:0]  indices;
    addr_t [3:0]  outputs;
    addr_t        status;
    addr_t        node_list;
    addr_t        seeds;
    addr_t        offsets;
    word_t        unused;
    word_t        check;
    word_t [3:0]  fanouts;
    word_t        num_hops;
    word_t        num_seeds;
    word_t        num_edges;
    word_t        num_nodes;
  } in_t;

  typedef struct packed {
    word_t node;
    word_t detail;
    word_t code;
    word_t bad;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  command_t command;
  logic     bad;
  fault_t   fault;

  always_comb begin
    command           = '0;
    command.num_nodes = in.num_nodes;
    command.num_edges = in.num_edges;
    command.num_seeds = in.num_seeds;
    command.num_hops  = in.num_hops;
    command.fanouts   = in.fanouts;
    command.offsets   = in.offsets;
    command.seeds     = in.seeds;
    command.node_list = in.node_list;
    command.status    = in.status;
    command.outputs   = in.outputs;
    command.indices   = in.indices;
  end

  assign out.bad    = word_t'(bad);
  assign out.code   = word_t'(fault.code);
  assign out.detail = word_t'(fault.detail);
  assign out.node   = fault.node;

  request_check #(.IndexChannels(4)) u_check (
    .clk_i, .rst_ni,
    .check_i   (in.check[0]),
    .command_i (command),
    .bad_o     (bad),
    .fault_o   (fault)
  );

endmodule
