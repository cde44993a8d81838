// Chooses the in-edges of each node: all of them, or a fan-out's worth by Floyd's algorithm (CACM 30(9), 1987), one draw
// after the other from the node's own ChaCha words.
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

  typedef enum logic [2:0] {Idle, TakeAll, StartDraw, Drawing, HandOn} state_e;
  typedef logic [$clog2(MaxFanout)-1:0] pick_no_t;

  state_e                 state_q;
  count_t                 j_q;          // Floyd's j; while taking all, the next in-edge
  count_t                 pick_q;
  pick_no_t               count_q;      // picks handed on
  count_t [MaxFanout-1:0] picked_q;     // what they were
  logic   [MaxFanout-1:0] picked_valid_q;

  logic is_data, nothing, take_all, begin_draws, last_pick, last_of_all;
  assign is_data     = in_i.item.kind == ItemData;
  assign nothing     = abort_i || in_i.degree == '0 || fanout_i == '0;
  assign take_all    = fanout_i == FanoutAll || {1'b0, in_i.degree} <= fanout_i;
  assign begin_draws = state_q == Idle && in_valid_i && is_data && !nothing && !take_all;
  assign last_pick   = j_q + 1'b1 == in_i.degree;
  assign last_of_all = last_pick || abort_i;

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
    .counter_i ({25'b0, in_i.item.v, block_d}),
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
  always_comb begin
    out_o.item  = in_i.item;
    out_o.pos   = in_i.start + (state_q == TakeAll ? j_q : pick_q);
    in_ready_o  = 1'b0;
    out_valid_o = 1'b0;
    case (state_q)
      Idle: begin
        out_valid_o = in_valid_i && !is_data;
        in_ready_o  = is_data ? nothing : out_ready_i;
      end
      TakeAll: begin
        out_valid_o = !abort_i;
        in_ready_o  = last_of_all && (out_ready_i || abort_i);
      end
      HandOn: begin
        out_valid_o = 1'b1;
        in_ready_o  = last_pick && out_ready_i;
      end
      default: ;
    endcase
  end

  assign busy_o = in_valid_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle:      if (in_valid_i && is_data && !nothing) state_q <= take_all ? TakeAll : StartDraw;
        TakeAll:   if (in_ready_o) state_q <= Idle;
        StartDraw: state_q <= Drawing;
        Drawing:   if (draw_done) state_q <= HandOn;
        HandOn:    if (out_ready_i) state_q <= last_pick ? Idle : StartDraw;
        default:   state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      j_q            <= take_all ? '0 : in_i.degree - fanout_i[30:0];
      count_q        <= '0;
      picked_valid_q <= '0;
    end else if (out_valid_o && out_ready_i) begin
      j_q                     <= j_q + 1'b1;
      count_q                 <= count_q + 1'b1;
      picked_valid_q[count_q] <= 1'b1;
    end
  end

  `ASSERT(BlocksOfANodeAreItsOwn, next_block |-> block_q != '1)

endmodule
