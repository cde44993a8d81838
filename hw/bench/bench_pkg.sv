// What the benches of single modules share. Each has a struct of what goes in and one of what comes out; they take the lowest
// words of one vector each. Their fields are whole words, so that tests/units has the same structs in Rust; the first field
// there is the last one here, as that is the lowest.
package bench_pkg;

  import trisage_pkg::*;

  localparam int unsigned BenchWords = 128;              // TRISAGE_BENCH_WORDS of sim/verilator-sys/c/trisage_model.h
  localparam int unsigned BenchBits  = 32 * BenchWords;

  typedef logic [BenchBits-1:0] bench_t;

  // A flag is bit 0 of its word.
  typedef struct packed {
    word_t v;
    word_t detail;
    word_t kind;
  } item_words_t;

  function automatic item_t to_item(item_words_t words);
    return '{kind: item_e'(words.kind), detail: item_detail_t'(words.detail), v: local_t'(words.v)};
  endfunction

  function automatic item_words_t of_item(item_t item);
    return '{v: word_t'(item.v), detail: word_t'(item.detail), kind: word_t'(item.kind)};
  endfunction

  // A line of a burst.
  typedef struct packed {
    line_t   line;
    strobe_t strb;
    addr_t   addr;
    word_t   last;
    word_t   len;
  } write_words_t;

  function automatic write_line_t to_write(write_words_t words);
    return '{addr: words.addr, len: words.len[7:0], line: words.line, strb: words.strb, last: words.last[0]};
  endfunction

  function automatic write_words_t of_write(write_line_t line);
    return '{line: line.line, strb: line.strb, addr: line.addr, last: word_t'(line.last), len: word_t'(line.len)};
  endfunction

  // A channel of words: in and out of a queue.
  typedef struct packed {
    word_t ready;
    word_t data;
    word_t valid;
  } channel_in_t;

  typedef struct packed {
    word_t data;
    word_t valid;
    word_t ready;
  } channel_out_t;

endpackage
