// Proves: a handshake_pipe gives what it took, in order, and nothing else (2 stages; any data, any pauses, for ever).
// Fails with handshake_pipe.sv: .in_data_i   (data[s]) -> .in_data_i   (data[0])
// Fails with handshake_pipe.sv: .out_ready_i (ready[s+1]) -> .out_ready_i (ready[Stages])
module handshake_pipe_formal (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [1:0] in_data_i,
  input logic       out_ready_i,
  input logic       watch_i
);

  typedef logic [1:0] data_t;
  typedef logic [2:0] count_t;

  logic  in_ready, out_valid, push, pop;
  data_t out_data;

  handshake_pipe #(.T(data_t), .Stages(2)) u_pipe (
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

  count_t count_q, ahead_q;       // items in the pipe; those before the one that is watched
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

  // Where it lies meanwhile, in the last stage or in the one before, which is what makes the proof inductive.
  logic [1:0] first, last, head_first, head_last;
  data_t      lies;
  assign head_first = u_pipe.gen_stage[0].u_stage.head_q;
  assign head_last  = u_pipe.gen_stage[1].u_stage.head_q;
  assign first      = u_pipe.gen_stage[0].u_stage.tail_q - head_first;
  assign last       = u_pipe.gen_stage[1].u_stage.tail_q - head_last;
  assign lies       = ahead_q < count_t'(last) ? u_pipe.gen_stage[1].u_stage.mem[1'(head_last + 2'(ahead_q))]
                                               : u_pipe.gen_stage[0].u_stage.mem[1'(head_first + 2'(ahead_q) - last)];

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GivesWhatThereIs: assert (!out_valid || count_q != '0);
      InOrder:          assert (!(watching_q && ahead_q == '0 && out_valid) || out_data == data_q);
      Counts:           assert (count_q == count_t'(first) + count_t'(last) && first <= 2'd2 && last <= 2'd2);
      Lies:             assert (!watching_q || (ahead_q < count_q && lies == data_q));
    end
  end

endmodule
