// One block of ChaCha (RFC 8439, with the 64-bit block counter and 64-bit stream of the original): 16 words in
// 4 * Rounds + 1 cycles. Each cycle does one add-xor-rotate on the four columns or diagonals at once.
module chacha_block
  import trisage_pkg::*;
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

  // Rows of the state matrix; element i is column i.
  typedef word_t [3:0] row_t;

  localparam int unsigned Steps = 4 * Rounds;
  typedef logic [$clog2(Steps+1)-1:0] step_t;

  row_t  a_q, b_q, c_q, d_q;
  step_t left_q;                        // steps still to do, then one more for the final addition
  logic  adding_q;

  row_t init_a, init_b, init_c, init_d;
  assign init_a = {32'h6B20_6574, 32'h7962_2D32, 32'h3320_646E, 32'h6170_7865};
  assign init_b = {64'b0, seed_i};
  assign init_c = '0;
  assign init_d = {stream_i, counter_i};

  assign busy_o  = adding_q || left_q != '0;
  assign words_o = {d_q, c_q, b_q, a_q};

  // Moves each element `by` columns to the left: turns diagonals into columns, or back.
  function automatic row_t turn(row_t row, int unsigned by);
    row_t turned;
    for (int unsigned i = 0; i < 4; i++) turned[i] = row[(i + by) % 4];
    return turned;
  endfunction

  function automatic row_t add(row_t x, row_t y);
    row_t sum;
    for (int unsigned i = 0; i < 4; i++) sum[i] = x[i] + y[i];
    return sum;
  endfunction

  function automatic row_t xor_rotate(row_t x, row_t y, int unsigned by);
    row_t mixed;
    for (int unsigned i = 0; i < 4; i++) begin
      mixed[i] = x[i] ^ y[i];
      mixed[i] = (mixed[i] << by) | (mixed[i] >> (32 - by));
    end
    return mixed;
  endfunction

  row_t sum_ab, sum_cd, mixed_b;
  logic diagonal;                       // this round works on diagonals
  assign sum_ab   = add(a_q, b_q);
  assign sum_cd   = add(c_q, d_q);
  assign mixed_b  = xor_rotate(b_q, sum_cd, 7);
  assign diagonal = 1'((left_q - 1'b1) >> 2) == 1'b0;   // rounds are counted down and the last is diagonal

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      {d_q, c_q, b_q, a_q} <= {init_d, init_c, init_b, init_a};
    end else if (left_q != '0) begin
      case (2'(left_q))
        2'd0: begin                     // steps come as 4, 3, 2, 1 modulo 4
          a_q <= sum_ab;
          d_q <= xor_rotate(d_q, sum_ab, 16);
        end
        2'd3: begin
          c_q <= sum_cd;
          b_q <= xor_rotate(b_q, sum_cd, 12);
        end
        2'd2: begin
          a_q <= sum_ab;
          d_q <= xor_rotate(d_q, sum_ab, 8);
        end
        default: begin                  // the last step also turns the rows for the next round
          b_q <= diagonal ? turn(mixed_b, 3) : turn(mixed_b, 1);
          c_q <= turn(sum_cd, 2);
          d_q <= diagonal ? turn(d_q, 1) : turn(d_q, 3);
        end
      endcase
    end else if (adding_q) begin
      a_q <= add(a_q, init_a);
      b_q <= add(b_q, init_b);
      c_q <= add(c_q, init_c);
      d_q <= add(d_q, init_d);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q   <= '0;
      adding_q <= 1'b0;
    end else if (start_i) begin
      left_q   <= step_t'(Steps);
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
