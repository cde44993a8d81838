// The ChaCha block function (RFC 8439, with the 64-bit block counter and 64-bit stream of the original) in steps of one
// add-xor-rotate on all four columns or diagonals.
package chacha_pkg;

  import trisage_pkg::word_t;

  typedef word_t [3:0] row_t;             // element i is column i

  typedef struct packed {
    row_t d;
    row_t c;
    row_t b;
    row_t a;
  } state_t;                              // word 0 lowest

  localparam int unsigned Steps = 8;      // of a double round: columns, then diagonals

  // The key is the seed and 24 zero bytes.
  function automatic state_t initial_state(logic [63:0] seed, logic [63:0] stream, logic [63:0] counter);
    return '{a: {32'h6B20_6574, 32'h7962_2D32, 32'h3320_646E, 32'h6170_7865}, b: {64'b0, seed}, c: '0,
             d: {stream, counter}};
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

  // Moves each element `by` columns to the left: turns diagonals into columns, or back.
  function automatic row_t turn(row_t row, int unsigned by);
    row_t turned;
    for (int unsigned i = 0; i < 4; i++) turned[i] = row[(i + by) % 4];
    return turned;
  endfunction

  // Step `number` of a double round. The last of each round also turns the rows, for the diagonals and back.
  function automatic state_t step(state_t x, int unsigned number);
    state_t y;
    y = x;
    case (number % 4)
      0: begin
        y.a = add(x.a, x.b);
        y.d = xor_rotate(x.d, y.a, 16);
      end
      1: begin
        y.c = add(x.c, x.d);
        y.b = xor_rotate(x.b, y.c, 12);
      end
      2: begin
        y.a = add(x.a, x.b);
        y.d = xor_rotate(x.d, y.a, 8);
      end
      default: begin
        y.c = add(x.c, x.d);
        y.b = xor_rotate(x.b, y.c, 7);
        y.b = turn(y.b, number == 3 ? 1 : 3);
        y.c = turn(y.c, 2);
        y.d = turn(y.d, number == 3 ? 3 : 1);
      end
    endcase
    return y;
  endfunction

  // What is left to do after the last round.
  function automatic state_t add_initial(state_t x, state_t first);
    return '{a: add(x.a, first.a), b: add(x.b, first.b), c: add(x.c, first.c), d: add(x.d, first.d)};
  endfunction

endpackage
