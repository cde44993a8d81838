// Floyd's algorithm for one node, one draw after the other, with every case of Lemire's method. The neighbour sampler turns to
// it for the rare node of which a word may have to be refused.
`include "assert.svh"

module careful_sampler
  import trisage_pkg::*;
#(
  parameter int unsigned ChachaRounds = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [63:0] seed_i,
  input  logic [63:0] minibatch_i,
  input  count_t      fanout_i,         // 1 to MaxFanout

  input  logic        in_valid_i,       // a node; stays until it is taken, with its last pick
  output logic        in_ready_o,
  input  local_t      v_i,
  input  count_t      degree_i,         // above the fan-out

  output logic        out_valid_o,
  input  logic        out_ready_i,
  output count_t      pick_o            // one of 0 .. degree
);

  typedef enum logic [1:0] {Idle, StartDraw, Drawing, HandOn} state_e;
  typedef logic [$clog2(MaxFanout)-1:0] pick_no_t;

  state_e                 state_q;
  count_t                 j_q;          // Floyd's j
  count_t                 pick_q;
  pick_no_t               count_q;      // picks handed on
  count_t [MaxFanout-1:0] picked_q;     // what they were
  logic   [MaxFanout-1:0] picked_valid_q;
  logic                   begin_draws, last_pick;

  assign begin_draws = state_q == Idle && in_valid_i;
  assign last_pick   = j_q + 1'b1 == degree_i;

  // ---- Words of the node: blocks v << 8, (v << 8) + 1, ...; their 16 words in order ---------------------------------
  word_t [15:0] words;
  logic  [7:0]  block_d, block_q;
  logic  [3:0]  word_no_q;
  logic         chacha_busy, word_taken, next_block, word_ready;

  assign word_taken = !chacha_busy && word_ready;
  // The block after the last word is made ahead; if the node needs no more words, the next node's takes its place.
  assign next_block = word_taken && word_no_q == '1;
  assign block_d    = begin_draws ? '0 : next_block ? block_q + 1'b1 : block_q;

  chacha_block #(.Rounds(ChachaRounds)) u_chacha (
    .clk_i, .rst_ni,
    .start_i   (begin_draws || next_block),
    .seed_i,
    .stream_i  (minibatch_i),
    .counter_i ({25'b0, v_i, block_d}),
    .busy_o    (chacha_busy),
    .words_o   (words)
  );

  always_ff @(posedge clk_i) begin
    block_q <= block_d;
    if (begin_draws)     word_no_q <= '0;
    else if (word_taken) word_no_q <= word_no_q + 1'b1;
  end

  // ---- Draws -------------------------------------------------------------------------------------------------------
  count_t drawn;
  logic   draw_done, seen;

  bounded_draw u_draw (
    .clk_i, .rst_ni,
    .start_i      (state_q == StartDraw),
    .n_i          (j_q + 1'b1),
    .word_valid_i (!chacha_busy),
    .word_ready_o (word_ready),
    .word_i       (words[word_no_q]),
    .done_o       (draw_done),
    .number_o     (drawn)
  );

  always_comb begin
    seen = 1'b0;
    for (int unsigned i = 0; i < MaxFanout; i++) seen |= picked_valid_q[i] && picked_q[i] == drawn;
  end

  always_ff @(posedge clk_i) begin
    if (draw_done) pick_q <= seen ? j_q : drawn;
    if (state_q == HandOn) picked_q[count_q] <= pick_q;
  end

  // ---- Order of work -----------------------------------------------------------------------------------------------
  assign pick_o      = pick_q;
  assign out_valid_o = state_q == HandOn;
  assign in_ready_o  = out_valid_o && out_ready_i && last_pick;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle:      if (in_valid_i) state_q <= StartDraw;
        StartDraw: state_q <= Drawing;
        Drawing:   if (draw_done) state_q <= HandOn;
        HandOn:    if (out_ready_i) state_q <= last_pick ? Idle : StartDraw;
        default:   state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      j_q            <= degree_i - fanout_i;
      count_q        <= '0;
      picked_valid_q <= '0;
    end else if (out_valid_o && out_ready_i) begin
      j_q                     <= j_q + 1'b1;
      count_q                 <= count_q + 1'b1;
      picked_valid_q[count_q] <= 1'b1;
    end
  end

  `ASSERT(BlocksOfANodeAreItsOwn, next_block |-> block_q != '1)

  `COVER(NextBlock, next_block)
  `COVER(PickedBefore, draw_done && seen)

endmodule
