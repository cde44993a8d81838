// Elements into bursts.
module burst_packer_bench
  import trisage_pkg::*, bench_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,
  input  bench_t in_i,
  output bench_t out_o
);

  typedef struct packed {
    word_t ready;
    word_t flush;
    word_t data;
    word_t valid;
    word_t clear;
    addr_t base;
  } in_t;

  typedef struct packed {
    word_t        valid;
    word_t        clean;
    word_t        ready;
    write_words_t line;
  } out_t;

  in_t  in;
  out_t out;
  assign in    = in_i[$bits(in)-1:0];
  assign out_o = bench_t'(out);

  logic        ready, flushed, under_way, valid;
  write_line_t leaving;
  assign out.ready = word_t'(ready);
  assign out.clean = word_t'(flushed && !under_way);
  assign out.valid = word_t'(valid);
  assign out.line  = of_write(leaving);

  burst_packer u_packer (
    .clk_i, .rst_ni,
    .clear_i     (in.clear[0]),
    .base_i      (in.base),
    .in_valid_i  (in.valid[0]),
    .in_ready_o  (ready),
    .in_data_i   (in.data),
    .flush_i     (in.flush[0]),
    .flushed_o   (flushed),
    .leaving_o   (under_way),
    .out_valid_o (valid),
    .out_ready_i (in.ready[0]),
    .out_o       (leaving)
  );

endmodule
