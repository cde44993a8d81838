// One block of ChaCha at a time: 16 words in 4 * Rounds + 1 cycles. See chacha_pipe for many.
module chacha_block
  import trisage_pkg::*, chacha_pkg::*;
#(
  parameter int unsigned Rounds = 8     // even
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_i,         // while busy: the block under way is given up for the new one
  input  logic [63:0]  seed_i,          // the key's first 8 bytes; the other 24 are zero
  input  logic [63:0]  stream_i,
  input  logic [63:0]  counter_i,       // these three stay until done

  output logic         busy_o,
  output word_t [15:0] words_o          // valid from the end of busy to the next start
);

  typedef logic [$clog2(4*Rounds+1)-1:0] left_t;

  state_t     state_q, initial_now;
  left_t      left_q;                   // steps still to do
  logic       adding_q;                 // and the final addition
  logic [2:0] number;                   // of the step, within its double round

  assign initial_now = initial_state(seed_i, stream_i, counter_i);
  assign number      = 3'd0 - left_q[2:0];
  assign busy_o      = adding_q || left_q != '0;
  assign words_o     = state_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      state_q <= initial_now;
    end else if (left_q != '0) begin
      for (int unsigned i = 0; i < Steps; i++) begin
        if (number == 3'(i)) state_q <= step(state_q, i);
      end
    end else if (adding_q) begin
      state_q <= add_initial(state_q, initial_now);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q   <= '0;
      adding_q <= 1'b0;
    end else if (start_i) begin
      left_q   <= left_t'(4 * Rounds);
      adding_q <= 1'b1;
    end else if (left_q != '0) begin
      left_q   <= left_q - 1'b1;
    end else begin
      adding_q <= 1'b0;
    end
  end

  if (Rounds == 0 || Rounds % 2 != 0) begin : gen_rounds
    $error("Rounds must be even and above 0");
  end

endmodule
