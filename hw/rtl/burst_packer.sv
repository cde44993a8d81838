// Packs int32 elements, in order, into the lines of one buffer, and writes them a block at a time: BurstLines lines, aligned,
// in one burst. A block leaves when it is full or on a flush; a block that was flushed before it was full goes on where it
// stopped, and what has been written is not written again. So which bursts there are depends on the elements alone, and no
// burst crosses a 4 KiB border.
//
// A burst is offered when all of it is here: once it has begun, nothing but the bus can hold it up.
`include "assert.svh"

module burst_packer
  import trisage_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,       // a run begins: back to element 0
  input  addr_t       base_i,        // of element 0; aligned to a block, steady during a run

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  word_t       in_data_i,

  input  logic        flush_i,       // hold until flushed_o; meanwhile nothing comes in
  output logic        flushed_o,     // nothing is here that has not been handed over to leave
  output logic        leaving_o,     // a burst stands before the port, or is on its way through it

  output logic        out_valid_o,   // line by line, ascending
  input  logic        out_ready_i,
  output write_line_t out_o
);

  localparam int unsigned Places = 2;       // blocks: one is filled while the one before leaves

  typedef logic [$clog2(BurstLines)-1:0]                                 burst_line_t;   // a line of a block
  typedef logic [$bits(pos_t)-$bits(burst_line_t)-$bits(lane_t)-1:0]     block_no_t;
  typedef logic [LineWords-1:0]                                          lanes_t;

  typedef struct packed {
    block_no_t   block;
    burst_line_t line;
    lane_t       lane;
  } element_t;

  typedef struct packed {
    logic        place;
    burst_line_t line;
  } row_t;

  element_t    next_q;                      // where the next element goes
  element_t    fresh_q;                     // the first that has not been handed over to leave
  logic        leaving_q;
  element_t    first_q, last_q;             // of the burst that leaves
  burst_line_t line_q;                      // that leaves next
  logic        last_of_block, take, leave, last_line;
  row_t        write_row, read_row;
  lanes_t      written;
  words_t      words;
  logic [LineWords-1:0][3:0] strobes;       // of each element's bytes

  assign last_of_block = next_q.line == '1 && next_q.lane == '1;
  assign in_ready_o    = !(last_of_block && leaving_q);   // a full block needs the other place
  assign take          = in_valid_i && in_ready_o;
  assign leave         = (take && last_of_block) || (flush_i && !leaving_q && !flushed_o);
  assign flushed_o     = fresh_q == next_q;
  assign leaving_o     = leaving_q;
  assign last_line     = line_q == last_q.line;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      next_q    <= '0;
      fresh_q   <= '0;
      leaving_q <= 1'b0;
    end else begin
      if (take)  next_q  <= next_q + 1'b1;
      if (leave) fresh_q <= take ? next_q + 1'b1 : next_q;
      if (leave)                                        leaving_q <= 1'b1;
      else if (out_valid_o && out_ready_i && last_line) leaving_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (leave) begin
      first_q <= fresh_q;
      last_q  <= take ? next_q : next_q - 1'b1;
      line_q  <= fresh_q.line;
    end else if (out_valid_o && out_ready_i) begin
      line_q  <= line_q + 1'b1;
    end
  end

  // ---- The blocks, a memory a lane -----------------------------------------------------------------------------------
  assign write_row = '{place: next_q.block[0], line: next_q.line};
  assign read_row  = '{place: first_q.block[0], line: line_q};

  for (genvar i = 0; i < LineWords; i++) begin : gen_lane
    word_t mem [Places*BurstLines];

    always_ff @(posedge clk_i) begin
      if (take && next_q.lane == lane_t'(i)) mem[write_row] <= in_data_i;
    end

    assign words[i]   = mem[read_row];
    assign strobes[i] = {4{written[i]}};
  end

  // The first line begins, and the last one ends, where the burst does.
  assign written = (line_q == first_q.line ? lanes_t'('1) << first_q.lane : '1)
                 & (last_line ? ~(lanes_t'('1) << 1 << last_q.lane) : '1);

  assign out_valid_o = leaving_q;
  assign out_o.addr  = line_addr(base_i, line_no_t'({first_q.block, first_q.line}));
  assign out_o.len   = 8'(last_q.line) - 8'(first_q.line);
  assign out_o.last  = last_line;
  assign out_o.strb  = strobes;
  assign out_o.line  = words;

  `ASSERT(BaseAligned, leave |-> burst_aligned(base_i))
  `ASSERT(NothingComesInAFlush, flush_i |-> !in_valid_i)
  `ASSERT(BurstInOneBlock, leaving_q |-> (first_q.block == last_q.block && first_q.line <= last_q.line))
  `ASSERT_STABLE(OutStable, out_valid_o && !clear_i, out_ready_i, out_o)

  `COVER(BackPressure, out_valid_o && !out_ready_i)
  `COVER(WaitsForPlace, in_valid_i && !in_ready_o)
  `COVER(FlushedWithinLine, leave && !take && next_q.lane != '0)
  `COVER(GoesOnWithinLine, leave && fresh_q.lane != '0)
  `COVER(FlushWaitsForBlock, flush_i && leaving_q && fresh_q != next_q)

endmodule
