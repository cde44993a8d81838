// Blocks of ChaCha (see chacha_block) at one in four cycles: a double round as eight registered steps, one add-xor-rotate
// each, through which up to eight blocks circulate. Blocks come out in the order in which they were asked for.
`include "assert.svh"

module chacha_pipe
  import trisage_pkg::*, chacha_pkg::*;
#(
  parameter int unsigned Rounds = 8,    // even
  parameter int unsigned Queue  = 16    // blocks that may be under way or wait to be taken, a power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic [63:0]  seed_i,          // steady while blocks are under way
  input  logic [63:0]  stream_i,

  input  logic         in_valid_i,
  output logic         in_ready_o,
  input  logic [63:0]  in_counter_i,

  output logic         out_valid_o,
  input  logic         out_ready_i,
  output word_t [15:0] out_words_o
);

  localparam int unsigned DoubleRounds = Rounds / 2;
  typedef logic [$clog2(DoubleRounds+1)-1:0] turns_t;

  typedef struct packed {
    state_t      state;
    logic [63:0] counter;
    turns_t      left;                  // double rounds still to do, this one included
  } block_t;

  // ---- The ring ----------------------------------------------------------------------------------------------------
  block_t [Steps-1:0] block_q;          // after step i
  logic   [Steps-1:0] valid_q;
  logic               around, leaves, enters, room;
  block_t             entering;

  assign around     = valid_q[Steps-1] && block_q[Steps-1].left != turns_t'(1);
  assign leaves     = valid_q[Steps-1] && !around;
  assign enters     = in_valid_i && in_ready_o;
  assign in_ready_o = !around && room;

  always_comb begin
    entering = '{state: initial_state(seed_i, stream_i, in_counter_i), counter: in_counter_i,
                 left: turns_t'(DoubleRounds)};
    if (around) begin
      entering      = block_q[Steps-1];
      entering.left = block_q[Steps-1].left - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    block_q[0]       <= entering;
    block_q[0].state <= step(entering.state, 0);
    for (int unsigned i = 1; i < Steps; i++) begin
      block_q[i]       <= block_q[i-1];
      block_q[i].state <= step(block_q[i-1].state, i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= {valid_q[Steps-2:0], around || enters};
  end

  // ---- The final addition, and a queue in which there is a place for every block under way ----------------------------
  word_t [15:0] words_q;
  logic         words_valid_q, queue_ready;
  logic [$clog2(Queue):0] promised_q;

  assign room = promised_q != ($bits(promised_q))'(Queue);

  always_ff @(posedge clk_i) begin
    words_q <= add_initial(block_q[Steps-1].state, initial_state(seed_i, stream_i, block_q[Steps-1].counter));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      words_valid_q <= 1'b0;
      promised_q    <= '0;
    end else begin
      words_valid_q <= leaves;
      promised_q    <= promised_q + ($bits(promised_q))'(enters)
                                  - ($bits(promised_q))'(out_valid_o && out_ready_i);
    end
  end

  fifo #(.T(word_t [15:0]), .Depth(Queue)) u_queue (
    .clk_i, .rst_ni,
    .in_valid_i  (words_valid_q),
    .in_ready_o  (queue_ready),
    .in_data_i   (words_q),
    .out_valid_o,
    .out_ready_i,
    .out_data_o  (out_words_o)
  );

  if (Rounds == 0 || Rounds % 2 != 0) begin : gen_rounds
    $error("Rounds must be even and above 0");
  end

  `ASSERT(EveryBlockHasAPlace, words_valid_q |-> queue_ready)

endmodule
