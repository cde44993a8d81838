// Proves: a handshake_pipe gives what it took, in order, and nothing else (2 stages; any data, any pauses, for ever).
// Fails with handshake_pipe.sv: .in_data_i   (data[s]) -> .in_data_i   (data[0])
// Fails with handshake_pipe.sv: .out_ready_i (ready[s+1]) -> .out_ready_i (ready[Stages])
// Fails with register_slice.sv: spare_free_q ? in_data_i : spare_q -> in_data_i
// Fails with register_slice.sv: in_valid_i || !spare_free_q -> in_valid_i
// Fails with register_slice.sv: if (spare_free_q) spare_q -> if (moves) spare_q
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

  // Where it lies meanwhile, from the output backwards, which is what makes the proof inductive.
  logic [1:0] first, last;
  data_t      lies;
  assign first = 2'(u_pipe.gen_stage[0].u_stage.out_valid_q) + 2'(!u_pipe.gen_stage[0].u_stage.spare_free_q);
  assign last  = 2'(u_pipe.gen_stage[1].u_stage.out_valid_q) + 2'(!u_pipe.gen_stage[1].u_stage.spare_free_q);

  always_comb begin
    if (ahead_q < count_t'(last)) begin
      lies = ahead_q == '0 ? u_pipe.gen_stage[1].u_stage.out_q : u_pipe.gen_stage[1].u_stage.spare_q;
    end else begin
      lies = ahead_q == count_t'(last) ? u_pipe.gen_stage[0].u_stage.out_q : u_pipe.gen_stage[0].u_stage.spare_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GivesWhatThereIs: assert (!out_valid || count_q != '0);
      InOrder:          assert (!(watching_q && ahead_q == '0 && out_valid) || out_data == data_q);
      Counts:           assert (count_q == count_t'(first) + count_t'(last));
      SpareIsSecond:    assert ((u_pipe.gen_stage[0].u_stage.spare_free_q || u_pipe.gen_stage[0].u_stage.out_valid_q) &&
                                (u_pipe.gen_stage[1].u_stage.spare_free_q || u_pipe.gen_stage[1].u_stage.out_valid_q));
      Lies:             assert (!watching_q || (ahead_q < count_q && lies == data_q));
    end
  end

endmodule
