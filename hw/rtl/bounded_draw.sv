// An exactly uniform number in 0 .. n from 32-bit words by Lemire's method (ACM TOMACS 29(1), 2019).
`include "assert.svh"

module bounded_draw
  import trisage_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,

  input  logic   start_i,         // not while busy
  input  count_t n_i,             // above 0; stays until done

  input  logic   word_valid_i,
  output logic   word_ready_o,
  input  word_t  word_i,

  output logic   done_o,          // one cycle, with the number
  output count_t number_o
);

  typedef enum logic [2:0] {Idle, TakeWord, Multiply1, Multiply2, Judge, Divide, Compare} state_e;

  state_e      state_q;
  word_t       word_q;
  // Two registers behind the multiplier, which synthesis moves into the DSP cells.
  logic [62:0] product1_q, product_q;
  logic        have_threshold_q, divider_busy;
  word_t       threshold;
  logic        low, accepted, rejected;

  assign low      = product_q[31:0] < {1'b0, n_i};
  assign rejected = state_q == Compare && product_q[31:0] < threshold;
  assign accepted = (state_q == Judge && !low) || (state_q == Compare && !rejected);

  assign word_ready_o = state_q == TakeWord;
  assign done_o       = accepted;
  assign number_o     = product_q[62:32];

  modulo u_modulo (
    .clk_i, .rst_ni,
    .start_i     (state_q == Judge && low && !have_threshold_q),
    .dividend_i  (32'd0 - {1'b0, n_i}),
    .divisor_i   ({1'b0, n_i}),
    .busy_o      (divider_busy),
    .remainder_o (threshold)
  );

  always_ff @(posedge clk_i) begin
    if (word_valid_i && word_ready_o) word_q <= word_i;
    product1_q <= 63'(word_q) * 63'(n_i);
    product_q  <= product1_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle:      if (start_i) state_q <= TakeWord;
        TakeWord:  if (word_valid_i) state_q <= Multiply1;
        Multiply1: state_q <= Multiply2;
        Multiply2: state_q <= Judge;
        Judge:     state_q <= !low ? Idle : have_threshold_q ? Compare : Divide;
        Divide:    if (!divider_busy) state_q <= Compare;
        Compare:   state_q <= rejected ? TakeWord : Idle;
        default:   state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i)                have_threshold_q <= 1'b0;
    else if (state_q == Divide) have_threshold_q <= 1'b1;
  end

  `ASSERT(StartWhenFree, start_i |-> state_q == Idle)
  `ASSERT(RangeNotEmpty, start_i |-> n_i != '0)
  `ASSERT(NumberInRange, done_o |-> number_o < n_i)

  `COVER(Refused, rejected)
  `COVER(LookedAtAndTaken, state_q == Compare && !rejected)

endmodule
