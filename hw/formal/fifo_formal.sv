// Proves: a fifo takes an item just when it has room, gives one just when it has some, and what it gives is what it took, in
// order (depths 2 and 4; any data, any pauses, for ever).
// Fails with fifo.sv: in_ready_o  = (tail_q - head_q) != ptr_t'(Depth) -> in_ready_o  = (tail_q - head_q) != ptr_t'(Depth - 1)
// Fails with fifo.sv: push        = in_valid_i && in_ready_o -> push        = in_valid_i
// Fails with fifo.sv: mem[head_q[PtrWidth-1:0]] -> mem[tail_q[PtrWidth-1:0]]
module fifo_formal (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [1:0] in_data_i,
  input logic       out_ready_i,
  input logic       watch_i
);

  fifo_order #(.Depth(2)) u_2 (.*);
  fifo_order #(.Depth(4)) u_4 (.*);

endmodule

// Any one item is watched from when it comes in to when it goes out.
module fifo_order #(
  parameter int unsigned Depth = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [1:0] in_data_i,
  input logic       out_ready_i,
  input logic       watch_i
);

  typedef logic [1:0]             data_t;
  typedef logic [$clog2(Depth):0] count_t;

  logic  in_ready, out_valid, push, pop;
  data_t out_data;

  fifo #(.T(data_t), .Depth(Depth)) u_fifo (
    .clk_i, .rst_ni,
    .in_valid_i,
    .in_ready_o  (in_ready),
    .in_data_i,
    .out_valid_o (out_valid),
    .out_ready_i,
    .out_data_o  (out_data)
  );

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  count_t count_q, ahead_q;       // items in the queue; those before the one that is watched
  logic   watching_q;
  data_t  data_q;

  watched_item #(.T(data_t), .Count(count_t)) u_watched (
    .clk_i, .rst_ni,
    .push_i     (push),
    .pop_i      (pop),
    .watch_i,
    .in_i       (in_data_i),
    .count_o    (count_q),
    .watching_o (watching_q),
    .ahead_o    (ahead_q),
    .item_o     (data_q)
  );

  // Where it lies meanwhile, which is what makes the proof inductive.
  logic [$clog2(Depth)-1:0] place;
  assign place = ($clog2(Depth))'(u_fifo.head_q + ahead_q);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      TakesWhenThereIsRoom: assert (in_ready == (count_q != count_t'(Depth)));
      GivesWhatThereIs:     assert (out_valid == (count_q != '0));
      InOrder:              assert (!(watching_q && ahead_q == '0) || (out_valid && out_data == data_q));
      Counts:               assert (count_q == u_fifo.tail_q - u_fifo.head_q && count_q <= count_t'(Depth));
      Lies:                 assert (!watching_q || (ahead_q < count_q && u_fifo.mem[place] == data_q));
    end
  end

endmodule
