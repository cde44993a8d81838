// Proves: a line_fetch gives the edges that it took, in order, each with the source that lies at its position, or with the error
// of its line, whether it read that line or shared it (2 channels, a window of 4; any edges, any latencies, for ever).
// Fails with line_fetch.sv: last_valid_q <= is_data -> last_valid_q <= 1'b1
// Fails with line_fetch.sv: if (order.reads && order.channel == channel_t'(c)) -> if (order.reads && channel == channel_t'(c))
// Fails with line_fetch.sv: lines_i[order.channel].error : held_error_q -> lines_i[order.channel].error : 1'b0
// Fails with line_fetch.sv: (!order.reads || lines_i[order.channel].line_valid) -> (!order.reads || there != '0)
module line_fetch_formal
  import trisage_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input word_t      num_nodes_i,
  input logic       in_valid_i,
  input edge_t      in_i,
  input logic       out_ready_i,
  input logic [1:0] answers_i,       // which channels answer, if they are asked
  input line_no_t   bad_line_i,      // whose reads are answered with an error
  input logic       watch_i
);

  localparam int unsigned Channels = 2;
  localparam int unsigned Window   = 4;

  typedef logic [2:0] number_t;
  typedef logic [1:0] place_t;

  // Memory holds at each position the position itself.
  function automatic line_t content(line_no_t number);
    words_t line;
    for (int unsigned i = 0; i < LineWords; i++) line[i] = word_t'({number, lane_t'(i)});
    return line;
  endfunction

  logic                 in_ready, out_valid, push, pop;
  arc_t                 out;
  line_req_t  [Channels-1:0] req;
  line_resp_t [Channels-1:0] resp;

  line_fetch #(.Channels(Channels), .Window(Window)) u_fetch (
    .clk_i, .rst_ni,
    .bases_i     ('0),
    .num_nodes_i,
    .abort_i     (1'b0),
    .busy_o      (),
    .in_valid_i,
    .in_ready_o  (in_ready),
    .in_i,
    .lines_o     (req),
    .lines_i     (resp),
    .out_valid_o (out_valid),
    .out_ready_i,
    .out_o       (out)
  );

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  // ---- The readers: each answers its requests in order, at any time ----------------------------------------------------
  line_no_t [Channels-1:0][Window-1:0] asked;      // from the oldest on
  number_t  [Channels-1:0]             asked_count;

  for (genvar c = 0; c < Channels; c++) begin : gen_reader
    logic     any, room;
    line_no_t first;

    fifo #(.T(line_no_t), .Depth(Window)) u_asked (
      .clk_i, .rst_ni,
      .in_valid_i  (req[c].addr_valid),
      .in_ready_o  (room),
      .in_data_i   (line_no_t'({req[c].addr / LineBytes, 1'(c)})),
      .out_valid_o (any),
      .out_ready_i (resp[c].line_valid && req[c].line_ready),
      .out_data_o  (first)
    );

    assign resp[c]        = '{addr_ready: room, line_valid: any && answers_i[c], error: first == bad_line_i,
                              line: content(first)};
    assign asked_count[c] = u_asked.tail_q - u_asked.head_q;
    for (genvar k = 0; k < Window; k++) begin : gen_asked
      assign asked[c][k] = u_asked.mem[place_t'(u_asked.head_q + 3'(k))];
    end
  end

  // ---- What stays the same through a run -------------------------------------------------------------------------------
  logic     run_q;
  word_t    num_nodes_q;
  line_no_t bad_line_q;

  always_ff @(posedge clk_i) begin
    run_q       <= rst_ni;
    num_nodes_q <= num_nodes_i;
    bad_line_q  <= bad_line_i;
    if (rst_ni && run_q) Stays: assume (num_nodes_i == num_nodes_q && bad_line_i == bad_line_q);
  end

  // ---- Any one edge is watched from when it comes in to when it goes out -------------------------------------------------
  number_t count_q, ahead_q;
  logic    watching_q;
  edge_t   edge_q;

  watched_item #(.T(edge_t), .Count(number_t)) u_watched (
    .clk_i, .rst_ni,
    .push_i     (push),
    .pop_i      (pop),
    .watch_i,
    .in_i,
    .count_o    (count_q),
    .watching_o (watching_q),
    .ahead_o    (ahead_q),
    .item_o     (edge_q)
  );

  logic  is_watched;
  item_t item;
  assign is_watched = watching_q && ahead_q == '0;

  always_comb begin
    item = edge_q.item;
    if (item.kind == ItemData) begin
      if (line_of(edge_q.pos) == bad_line_i) begin
        item.kind   = ItemReadError;
        item.detail = item_detail_t'(PortIdx0) + item_detail_t'(line_of(edge_q.pos) % 2);
      end else if (word_t'(edge_q.pos) >= num_nodes_i) begin
        item.kind   = ItemCorrupt;
        item.detail = item_detail_t'(CorruptIndex);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GivesWhatThereIs: assert (!out_valid || count_q != '0);
      ItemInOrder:      assert (!(is_watched && out_valid) || (out.item == item && out.pos == edge_q.pos));
      SourceOfPosition: assert (!(is_watched && out_valid && item.kind == ItemData) || out.u == edge_q.pos);
    end
  end

  // ---- What makes the proof inductive ------------------------------------------------------------------------------------
  // Of the edges that wait, from the oldest on.
  logic     [Window-1:0] waits, data, reads;
  logic     [Window-1:0] channel;
  line_no_t [Window-1:0] line_no;
  place_t                watched_place;
  number_t  [Window-1:0] read_before;              // reads of the same channel before it
  number_t  [Channels-1:0] reading;

  for (genvar k = 0; k < Window; k++) begin : gen_waiting
    place_t place;
    assign place      = place_t'(u_fetch.u_order.head_q + 3'(k));
    assign waits[k]   = number_t'(k) < count_q;
    assign data[k]    = u_fetch.u_order.mem[place].item.kind == ItemData;
    assign reads[k]   = u_fetch.u_order.mem[place].reads;
    assign channel[k] = u_fetch.u_order.mem[place].channel;
    assign line_no[k] = line_of(u_fetch.u_order.mem[place].pos);
  end

  always_comb begin
    reading = '0;
    for (int unsigned k = 0; k < Window; k++) begin
      read_before[k] = reading[channel[k]];
      if (waits[k] && reads[k]) reading[channel[k]] = reading[channel[k]] + 1'b1;
    end
  end

  assign watched_place = place_t'(u_fetch.u_order.head_q + ahead_q);

  // Whether a line is the one that is held.
  function automatic logic held(line_no_t number);
    return u_fetch.held_line_q == content(number) && u_fetch.held_error_q == (number == bad_line_i)
        && u_fetch.held_channel_q == number[0];
  endfunction

  logic [Channels-1:0] as_asked;
  logic [Window-1:0]   data_reads, reads_its_own, shares, last_is_last;

  always_comb begin
    for (int unsigned c = 0; c < Channels; c++) as_asked[c] = asked_count[c] == reading[c];
    for (int unsigned k = 0; k < Window; k++) begin
      data_reads[k]    = !waits[k] || data[k] || !reads[k];
      reads_its_own[k] = !waits[k] || !reads[k] || (channel[k] == line_no[k][0]
                         && asked[channel[k]][place_t'(read_before[k])] == line_no[k]);
      shares[k]        = !waits[k] || !data[k] || reads[k]
                         || (k == 0 ? held(line_no[k]) : data[k-1] && line_no[k-1] == line_no[k]);
      last_is_last[k]  = !u_fetch.last_valid_q || count_q != number_t'(k + 1)
                         || (data[k] && line_no[k] == u_fetch.last_line_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Counts:      assert (count_q == u_fetch.u_order.tail_q - u_fetch.u_order.head_q && count_q <= number_t'(Window));
      Lies:        assert (!watching_q || (ahead_q < count_q
                           && u_fetch.u_order.mem[watched_place].item == edge_q.item
                           && u_fetch.u_order.mem[watched_place].pos == edge_q.pos));
      AsAsked:     assert (&as_asked);
      DataReads:   assert (&data_reads);
      ReadsItsOwn: assert (&reads_its_own);
      Shares:      assert (&shares);
      LastIsLast:  assert (&last_is_last);
      LastIsHeld:  assert (!u_fetch.last_valid_q || count_q != '0 || held(u_fetch.last_line_q));
    end
  end

endmodule
