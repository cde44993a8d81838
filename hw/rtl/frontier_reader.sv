// Hands on a range of node ids in order, then an End: the seeds, which are read from memory, or the part of the node list that
// the last phase has brought. Of that the first nodes are at hand in the list head; the rest is read from memory when it has
// arrived there.
`include "assert.svh"

module frontier_reader
  import trisage_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       start_i,           // one cycle; the arguments stay until done
  input  logic       seeds_i,           // the ids are seeds, not checked before
  input  addr_t      base_i,            // of id 0; aligned to a line
  input  count_t     first_i,
  input  count_t     past_i,            // past the last; above first_i
  input  logic       at_rest_i,         // what was appended to the node list before the start has arrived
  input  word_t      num_nodes_i,
  input  logic       abort_i,           // the run has failed: go to the End

  output logic       busy_o,

  output head_t      head_o,            // list_head
  input  node_t      head_i,

  output line_req_t  lines_o,           // line_reader
  input  line_resp_t lines_i,

  output logic       out_valid_o,
  input  logic       out_ready_i,
  output frontier_t  out_o
);

  typedef enum logic [1:0] {Idle, Reading, Ending} state_e;

  state_e   state_q;
  logic     readable_q;                 // memory has what is asked for
  line_no_t ask_q, ask_end_q;           // lines still to ask for
  line_no_t waiting_q;                  // lines asked for and not used up
  count_t   next_q;                     // the id to hand on next
  count_t   head_end_q;                 // past the last id of the list head
  head_t    head_q;                     // the next of them

  count_t head_end;
  logic   asks, asked, line_valid, takes, used_up, last_of_line, out_fire, from_head;
  words_t line;
  word_t  id;

  assign busy_o = state_q != Idle;
  assign asks   = state_q == Reading && readable_q && ask_q != ask_end_q && !abort_i;
  assign asked  = asks && lines_i.addr_ready;

  always_comb begin
    head_end = first_i;
    if (!seeds_i) head_end = past_i - first_i > count_t'(HeadNodes) ? first_i + count_t'(HeadNodes) : past_i;
  end

  assign line         = lines_i.line;
  assign head_o       = head_q;
  assign from_head    = next_q < head_end_q;
  assign id           = from_head ? word_t'(head_i) : line[lane_of(next_q)];
  assign last_of_line = lane_of(next_q) == '1 || next_q + 1'b1 == past_i;
  assign out_fire     = out_valid_o && out_ready_i;
  // After a failure what is on its way is thrown away.
  assign takes        = abort_i || (out_ready_i && last_of_line && !from_head);
  assign line_valid   = lines_i.line_valid;
  assign used_up      = line_valid && takes;
  assign lines_o      = '{addr_valid: asks, addr: line_addr(base_i, ask_q), line_ready: takes};

  always_comb begin
    out_valid_o          = 1'b0;
    out_o.item.kind      = ItemData;
    out_o.item.detail    = item_detail_t'(PortMem);
    out_o.item.v         = next_q;
    out_o.id             = node_t'(id);
    if (state_q == Ending) begin
      out_valid_o       = 1'b1;
      out_o.item.kind   = ItemEnd;
    end else if (state_q == Reading && (from_head || line_valid) && !abort_i) begin
      out_valid_o = 1'b1;
      if (lines_i.error && !from_head) begin
        out_o.item.kind = ItemReadError;
      end else if (id >= num_nodes_i) begin
        out_o.item.kind   = ItemCorrupt;
        out_o.item.detail = seeds_i ? CorruptSeed : item_detail_t'(CorruptIndex);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      waiting_q <= '0;
    end else begin
      case (state_q)
        Idle: if (start_i) state_q <= Reading;
        Reading: begin
          if (waiting_q == '0 && (next_q == past_i || abort_i)) state_q <= Ending;
          waiting_q <= waiting_q + line_no_t'(asked) - line_no_t'(used_up);
        end
        Ending: if (out_ready_i) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      readable_q <= seeds_i;
      ask_q      <= line_of(head_end);
      ask_end_q  <= head_end == past_i ? line_of(head_end) : line_of(past_i + count_t'(LineWords - 1));
      next_q     <= first_i;
      head_end_q <= head_end;
      head_q     <= '0;
    end else begin
      if (at_rest_i) readable_q <= 1'b1;
      if (asked)          ask_q      <= ask_q + 1'b1;
      if (out_fire && state_q == Reading) begin
        next_q <= next_q + 1'b1;
        head_q <= head_q + 1'b1;
      end
    end
  end

  // For the assertions: ids handed on since the start.
  count_t handed_q;

  always_ff @(posedge clk_i) begin
    if (start_i)                             handed_q <= '0;
    else if (out_fire && state_q == Reading) handed_q <= handed_q + 1'b1;
  end

  `ASSERT(RangeNotEmpty, start_i |-> first_i < past_i)
  `ASSERT(StartWhenIdle, start_i |-> !busy_o)
  `ASSERT(ArgumentsStay, busy_o |-> $stable({seeds_i, first_i, past_i}))
  `ASSERT(IdsInOrder, (out_valid_o && state_q == Reading) |-> out_o.item.v == first_i + handed_q)
  `ASSERT(AllBeforeTheEnd, (state_q == Ending && !abort_i) |-> handed_q == past_i - first_i)
  `ASSERT(HeadIsOfTheList, (out_fire && from_head) |-> (!seeds_i && handed_q < count_t'(HeadNodes) && head_q == head_t'(handed_q)))
  `ASSERT(AsksWithinRange, asks |-> (ask_q >= line_of(first_i) && ask_q <= line_of(past_i - 1'b1)))
  `ASSERT(AnswerExpected, line_valid |-> waiting_q != '0)
  // A failure takes back what waits: the run is over.
  `ASSERT(OutStable, (out_valid_o && !out_ready_i) |=> (abort_i || (out_valid_o && $stable({out_o.item.kind, out_o.id}))))
  `ASSERT(AskStable, (asks && !asked) |=> (abort_i || (asks && $stable(ask_q))))

  `COVER(AllFromTheHead, start_i && !seeds_i && head_end == past_i)
  `COVER(HeadThenMemory, start_i && !seeds_i && head_end != past_i)
  `COVER(WaitsForTheList, state_q == Reading && !readable_q && next_q == head_end_q && next_q != past_i)
  `COVER(EndsWithinLine, out_fire && !from_head && next_q + 1'b1 == past_i && lane_of(next_q) != '1)
  `COVER(BackPressure, out_valid_o && !out_ready_i)
  `COVER(ReadError, out_fire && out_o.item.kind == ItemReadError)
  `COVER(SeedOutOfRange, out_fire && out_o.item.kind == ItemCorrupt && seeds_i)
  `COVER(ThrownAway, used_up && abort_i)

endmodule
