// Hands on a range of node ids in order, then an End: the seeds, which are read from memory, or the part of the node list that
// the last phase has brought. Of that the first nodes are at hand in the list head; the rest is read from memory when it has
// arrived there.
module frontier_reader
  import trisage_pkg::*;
(
  input  logic      clk_i,
  input  logic      rst_ni,

  input  logic      start_i,            // one cycle; the arguments stay until done
  input  logic      seeds_i,            // the ids are seeds, not checked before
  input  addr_t     base_i,             // of id 0; aligned to a line
  input  count_t    first_i,
  input  count_t    end_i,              // past the last; above first_i
  input  logic      at_rest_i,          // what was appended to the node list before the start has arrived
  input  word_t     num_nodes_i,
  input  logic      abort_i,            // the run has failed: go to the End

  output logic      busy_o,

  output head_t     head_o,             // list_head
  input  node_t     head_i,

  output logic      req_valid_o,        // line_reader
  input  logic      req_ready_i,
  output addr_t     req_addr_o,
  input  logic      rsp_valid_i,
  output logic      rsp_ready_o,
  input  line_t     rsp_line_i,
  input  logic      rsp_error_i,

  output logic      out_valid_o,
  input  logic      out_ready_i,
  output frontier_t out_o
);

  typedef logic [26:0] line_no_t;

  typedef enum logic [1:0] {Idle, Reading, Ending} state_e;

  state_e   state_q;
  logic     readable_q;                 // memory has what is asked for
  line_no_t ask_q, ask_end_q;           // lines still to ask for
  line_no_t waiting_q;                  // lines asked for and not used up
  count_t   next_q;                     // the id to hand on next
  count_t   head_end_q;                 // past the last id of the list head
  head_t    head_q;                     // the next of them

  count_t head_end;
  logic   asked, used_up, last_of_line, out_fire, from_head;
  word_t  id;

  assign busy_o      = state_q != Idle;
  assign req_valid_o = state_q == Reading && readable_q && ask_q != ask_end_q && !abort_i;
  assign req_addr_o  = base_i + {31'b0, ask_q, 6'b0};
  assign asked       = req_valid_o && req_ready_i;

  always_comb begin
    head_end = first_i;
    if (!seeds_i) head_end = end_i - first_i > count_t'(HeadNodes) ? first_i + count_t'(HeadNodes) : end_i;
  end

  assign head_o       = head_q;
  assign from_head    = next_q < head_end_q;
  assign id           = from_head ? {1'b0, head_i} : rsp_line_i[32*next_q[3:0] +: 32];
  assign last_of_line = next_q[3:0] == '1 || next_q + 1'b1 == end_i;
  assign out_fire     = out_valid_o && out_ready_i;
  // After a failure what is on its way is thrown away.
  assign rsp_ready_o  = abort_i || (out_ready_i && last_of_line && !from_head);
  assign used_up      = rsp_valid_i && rsp_ready_o;

  always_comb begin
    out_valid_o          = 1'b0;
    out_o.item.kind      = ItemData;
    out_o.item.detail    = 4'(PortMem);
    out_o.item.v         = next_q;
    out_o.id             = id[30:0];
    if (state_q == Ending) begin
      out_valid_o       = 1'b1;
      out_o.item.kind   = ItemEnd;
    end else if (state_q == Reading && (from_head || rsp_valid_i) && !abort_i) begin
      out_valid_o = 1'b1;
      if (rsp_error_i && !from_head) begin
        out_o.item.kind = ItemReadError;
      end else if (id >= num_nodes_i) begin
        out_o.item.kind   = ItemCorrupt;
        out_o.item.detail = seeds_i ? CorruptSeed : CorruptIndex[3:0];
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
          if (waiting_q == '0 && (next_q == end_i || abort_i)) state_q <= Ending;
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
      ask_q      <= head_end[30:4];
      ask_end_q  <= head_end == end_i ? head_end[30:4] : line_no_t'((end_i + 31'd15) >> 4);
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

endmodule
