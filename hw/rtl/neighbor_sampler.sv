// Chooses the in-edges of each node: all of them, or a fan-out's worth by Floyd's algorithm (CACM 30(9), 1987). One edge a
// cycle: nodes wait in a queue while their ChaCha blocks are made; then each cycle gives the next pick its word, which goes
// through the multiplier of Lemire's draw and is compared with the node's earlier picks.
//
// A word may have to be refused once in 2^32 / n draws. Then the pipeline stands still, the careful sampler does that node
// over again, and the picks that were handed on before are skipped.
`include "assert.svh"

module neighbor_sampler
  import trisage_pkg::*;
#(
  parameter int unsigned ChachaRounds = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [63:0] seed_i,
  input  logic [63:0] minibatch_i,
  input  word_t       fanout_i,         // of this hop; FanoutAll, or at most MaxFanout
  input  logic        abort_i,          // the run has failed: drop what comes in

  output logic        busy_o,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  extent_t     in_i,

  output logic        out_valid_o,
  input  logic        out_ready_i,
  output edge_t       out_o
);

  typedef logic [$clog2(MaxFanout)-1:0] pick_no_t;

  // ---- Plan: ask for the blocks v << 8, and the one after it where the fan-out needs more than 16 words ---------------
  localparam int unsigned NodeQueue = 16;

  typedef struct packed {
    extent_t extent;
    logic    draws;       // by Floyd; else all in-edges
  } planned_t;

  logic in_data, in_nothing, in_draws, two_blocks, second_q, plan_done, block_in_ready, node_in_ready;

  assign in_data    = in_i.item.kind == ItemData;
  assign in_nothing = in_data ? (abort_i || in_i.degree == '0 || fanout_i == '0)
                              : (abort_i && in_i.item.kind != ItemEnd);
  assign in_draws   = in_data && fanout_i != FanoutAll && {1'b0, in_i.degree} > fanout_i;
  assign two_blocks = fanout_i > 32'd16;
  // The node is queued with its last block.
  assign plan_done  = !in_draws || (block_in_ready && (second_q || !two_blocks));
  assign in_ready_o = (in_nothing && !second_q) || (node_in_ready && plan_done);

  logic ask_block;
  assign ask_block = in_valid_i && (second_q || !in_nothing) && in_draws && node_in_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                          second_q <= 1'b0;
    else if (ask_block && block_in_ready) second_q <= two_blocks && !second_q;
  end

  word_t [15:0] words;
  logic         words_valid, words_taken;

  chacha_pipe #(.Rounds(ChachaRounds)) u_blocks (
    .clk_i, .rst_ni,
    .seed_i,
    .stream_i     (minibatch_i),
    .in_valid_i   (ask_block),
    .in_ready_o   (block_in_ready),
    .in_counter_i ({25'b0, in_i.item.v, 7'b0, second_q}),
    .out_valid_o  (words_valid),
    .out_ready_i  (words_taken),
    .out_words_o  (words)
  );

  logic   node_valid, node_taken;
  planned_t node;

  fifo #(.T(planned_t), .Depth(NodeQueue)) u_nodes (
    .clk_i, .rst_ni,
    .in_valid_i  (in_valid_i && !(in_nothing && !second_q) && plan_done),
    .in_ready_o  (node_in_ready),
    .in_data_i   ('{extent: in_i, draws: in_draws}),
    .out_valid_o (node_valid),
    .out_ready_i (node_taken),
    .out_data_o  (node)
  );

  // ---- Issue: one pick a cycle ---------------------------------------------------------------------------------------
  typedef struct packed {
    item_t    item;
    pos_t     start;
    count_t   j;          // Floyd's j; while taking all, the in-edge itself
    count_t   degree;
    pick_no_t number;     // of the pick within the node, modulo MaxFanout
    logic     draws;
    logic     last;       // of the node
  } pick_t;

  logic     advance, issue_valid, issue_fire, is_last;
  count_t   done_q;       // picks issued of this node
  pick_t    issue;

  assign issue_valid = node_valid && (!node.draws || words_valid);
  assign issue_fire  = issue_valid && advance;
  assign is_last     = issue.item.kind != ItemData || issue.j + 1'b1 == issue.degree || (!node.draws && abort_i);
  assign node_taken  = issue_fire && is_last;
  assign words_taken = issue_fire && node.draws && (is_last || done_q[3:0] == '1);

  assign issue.item   = node.extent.item;
  assign issue.start  = node.extent.start;
  assign issue.degree = node.extent.degree;
  assign issue.j      = done_q + (node.draws ? node.extent.degree - fanout_i[30:0] : '0);
  assign issue.number = done_q[$bits(pick_no_t)-1:0];
  assign issue.draws  = node.draws;
  assign issue.last   = is_last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)         done_q <= '0;
    else if (issue_fire) done_q <= is_last ? '0 : done_q + 1'b1;
  end

  // ---- Multiply: word, two registers behind the multiplier, then judge --------------------------------------------------
  localparam int unsigned Judge = 3;    // the stage behind the judge

  pick_t       pick_q  [Judge+1];
  logic        valid_q [Judge+1];
  logic        done_over_q;             // the judged node has been done by the careful sampler
  word_t       word_q;
  count_t      range_q;
  logic [62:0] product1_q, product_q;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      word_q     <= words[done_q[3:0]];
      range_q    <= issue.j + 1'b1;
      product1_q <= 63'(word_q) * 63'(range_q);
      product_q  <= product1_q;
      pick_q[0]  <= issue;
      for (int unsigned i = 1; i <= Judge; i++) pick_q[i] <= pick_q[i-1];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i <= Judge; i++) valid_q[i] <= 1'b0;
    end else if (advance) begin
      valid_q[0] <= issue_fire;
      for (int unsigned i = 1; i < Judge; i++) valid_q[i] <= valid_q[i-1];
      valid_q[Judge] <= valid_q[Judge-1] && !done_over_q;
    end else if (out_ready_i) begin
      valid_q[Judge] <= 1'b0;           // what is past the judge leaves also while the rest stands
    end
  end

  // Refusing starts where low < n, and most of those words are taken all the same.
  pick_t  judged;
  logic   may_refuse;
  count_t drawn_q;

  assign judged     = pick_q[Judge-1];
  assign may_refuse = valid_q[Judge-1] && judged.draws && product_q[31:0] <= {1'b0, judged.j} && !done_over_q;

  always_ff @(posedge clk_i) begin
    if (advance) drawn_q <= judged.draws ? product_q[62:32] : judged.j;
  end

  // ---- Floyd: the pick is the number drawn, or j where it was picked before ---------------------------------------------
  pick_t                  floyd;
  count_t [MaxFanout-1:0] picked_q;
  logic   [MaxFanout-1:0] picked_valid_q, picked_valid;
  logic                   seen;
  count_t                 pick;

  assign floyd        = pick_q[Judge];
  assign picked_valid = floyd.number == '0 ? '0 : picked_valid_q;
  assign pick         = seen ? floyd.j : drawn_q;

  always_comb begin
    seen = 1'b0;
    for (int unsigned i = 0; i < MaxFanout; i++) seen |= picked_valid[i] && picked_q[i] == drawn_q;
    seen &= floyd.draws;
  end

  always_ff @(posedge clk_i) begin
    if (advance && valid_q[Judge]) begin
      picked_q[floyd.number]       <= pick;
      picked_valid_q               <= picked_valid;
      picked_valid_q[floyd.number] <= 1'b1;
    end
  end

  // ---- The node of a word that may be refused ----------------------------------------------------------------------------
  // The pipeline stands. When what is past the judge has left, the careful sampler does the whole node; the picks that were
  // handed on before are skipped, and those still in the pipeline are thrown away as they come by.
  logic     careful_taken, careful_pick_valid, careful_skip;
  pick_no_t careful_number_q;
  count_t   careful_pick;

  careful_sampler #(.ChachaRounds(ChachaRounds)) u_careful (
    .clk_i, .rst_ni,
    .seed_i, .minibatch_i,
    .fanout_i    (fanout_i[30:0]),
    .in_valid_i  (may_refuse && !valid_q[Judge]),
    .in_ready_o  (careful_taken),
    .v_i         (judged.item.v),
    .degree_i    (judged.degree),
    .out_valid_o (careful_pick_valid),
    .out_ready_i (careful_skip || out_ready_i),
    .pick_o      (careful_pick)
  );

  assign careful_skip = careful_number_q < judged.number;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_over_q      <= 1'b0;
      careful_number_q <= '0;
    end else begin
      if (careful_taken) begin
        done_over_q      <= 1'b1;
        careful_number_q <= '0;
      end else if (careful_pick_valid && (careful_skip || out_ready_i)) begin
        careful_number_q <= careful_number_q + 1'b1;
      end
      if (advance && valid_q[Judge-1] && judged.last) done_over_q <= 1'b0;
    end
  end

  // ---- Out -----------------------------------------------------------------------------------------------------------
  assign advance     = !may_refuse && (!valid_q[Judge] || out_ready_i);
  assign out_valid_o = valid_q[Judge] || (careful_pick_valid && !careful_skip);

  always_comb begin
    out_o.item = floyd.item;
    out_o.pos  = floyd.start + pick;
    if (!valid_q[Judge]) begin
      out_o.item = judged.item;
      out_o.pos  = judged.start + careful_pick;
    end
  end

  logic in_pipeline;
  always_comb begin
    in_pipeline = 1'b0;
    for (int unsigned i = 0; i <= Judge; i++) in_pipeline |= valid_q[i];
  end
  assign busy_o = node_valid || in_pipeline;

  `ASSERT(LastPickIsLast, (valid_q[Judge] && floyd.draws && floyd.last) |-> floyd.j + 1'b1 == floyd.degree)
  `ASSERT(PickInRange, (valid_q[Judge] && floyd.item.kind == ItemData) |-> pick < floyd.degree)

  `COVER(PickedBefore, advance && valid_q[Judge] && seen)
  `COVER(MayRefuseFirstPick, careful_taken && judged.number == '0)
  `COVER(MayRefuseLaterPick, careful_taken && judged.number != '0)
  `COVER(SecondBlock, ask_block && block_in_ready && second_q)
  `COVER(FailsWithinNode, issue_fire && abort_i && !node.draws && issue.j + 1'b1 < issue.degree)

endmodule
