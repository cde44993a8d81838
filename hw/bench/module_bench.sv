// The benches of all modules side by side, in one model that is compiled once. bench_i says which of them is out of reset and
// whose outputs are shown; their numbers are the NUMBERs of the modules in tests/units/.
module module_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  word_t  bench_i,
  input  bench_t in_i,
  output bench_t out_o
);

  localparam int unsigned Benches = 23;
  typedef logic [$clog2(Benches)-1:0] bench_no_t;

  bench_t             out  [Benches];
  logic [Benches-1:0] rst_n;

  assign out_o = out[bench_no_t'(bench_i)];

  always_comb begin
    for (int unsigned i = 0; i < Benches; i++) rst_n[i] = rst_ni && bench_i == i;
  end

  chacha_block_bench     u_chacha_block     (.clk_i, .rst_ni(rst_n[0]), .in_i, .out_o(out[0]));
  chacha_pipe_bench      u_chacha_pipe      (.clk_i, .rst_ni(rst_n[1]), .in_i, .out_o(out[1]));
  modulo_bench           u_modulo           (.clk_i, .rst_ni(rst_n[2]), .in_i, .out_o(out[2]));
  bounded_draw_bench     u_bounded_draw     (.clk_i, .rst_ni(rst_n[3]), .in_i, .out_o(out[3]));
  careful_sampler_bench  u_careful_sampler  (.clk_i, .rst_ni(rst_n[4]), .in_i, .out_o(out[4]));
  neighbor_sampler_bench u_neighbor_sampler (.clk_i, .rst_ni(rst_n[5]), .in_i, .out_o(out[5]));
  line_fetch_bench       u_line_fetch       (.clk_i, .rst_ni(rst_n[6]), .in_i, .out_o(out[6]));
  dedup_table_bench      u_dedup_table      (.clk_i, .rst_ni(rst_n[7]), .in_i, .out_o(out[7]));

  for (genvar i = 0; i < 3; i++) begin : gen_fifo           // Depth 2, 4, 16
    localparam int unsigned Depths [3] = '{2, 4, 16};
    fifo_bench #(.Depth(Depths[i])) u_fifo (.clk_i, .rst_ni(rst_n[8+i]), .in_i, .out_o(out[8+i]));
  end

  for (genvar i = 0; i < 4; i++) begin : gen_pipe           // Stages 0 to 3
    handshake_pipe_bench #(.Stages(i)) u_pipe (.clk_i, .rst_ni(rst_n[11+i]), .in_i, .out_o(out[11+i]));
  end

  for (genvar i = 0; i < 3; i++) begin : gen_arbiter        // Sources 2 to 4
    burst_arbiter_bench #(.Sources(i + 2)) u_arbiter (.clk_i, .rst_ni(rst_n[15+i]), .in_i, .out_o(out[15+i]));
  end

  burst_packer_bench     u_burst_packer     (.clk_i, .rst_ni(rst_n[18]), .in_i, .out_o(out[18]));
  burst_writer_bench     u_burst_writer     (.clk_i, .rst_ni(rst_n[19]), .in_i, .out_o(out[19]));
  request_check_bench    u_request_check    (.clk_i, .rst_ni(rst_n[20]), .in_i, .out_o(out[20]));
  frontier_reader_bench  u_frontier_reader  (.clk_i, .rst_ni(rst_n[21]), .in_i, .out_o(out[21]));
  emitter_bench          u_emitter          (.clk_i, .rst_ni(rst_n[22]), .in_i, .out_o(out[22]));

endmodule
