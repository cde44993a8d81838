// Gives each node its local id: a hash table of rows with four slots, probed row by row from the node's hash. A node that
// is not there is entered with the next id.
//
// Hash: the upper bits of node * 0x9E3779B1 modulo 2^32 (Knuth, TAOCP vol. 3, 6.4). A slot counts only in the epoch in which
// it was written, so a new mini-batch finds an empty table without clearing; the table is cleared after reset and when the
// epochs have been used up.
`include "assert.svh"

module dedup_table
  import trisage_pkg::*;
#(
  parameter int unsigned TableLog2  = 19,   // log2 of the slots
  parameter int unsigned EpochWidth = 20,
  parameter int unsigned ProbeLimit = 16    // rows looked at before the table counts as full
) (
  input  logic      clk_i,
  input  logic      rst_ni,

  input  logic      start_i,                // a run begins: forget all nodes; not before ready_o
  output logic      ready_o,                // not clearing
  output logic      busy_o,

  input  logic      in_valid_i,
  output logic      in_ready_o,
  input  arc_t      in_i,

  output logic      out_valid_o,
  input  logic      out_ready_i,
  output resolved_t out_o
);

  localparam int unsigned SlotsPerRow = 4;
  localparam int unsigned RowBits     = TableLog2 - 2;
  localparam int unsigned IdBits      = 21;
  localparam word_t       Multiplier  = 32'h9E37_79B1;

  typedef logic [RowBits-1:0]    row_addr_t;
  typedef logic [EpochWidth-1:0] epoch_t;
  typedef logic [IdBits-1:0]     id_t;

  typedef struct packed {
    node_t  key;
    id_t    id;
    epoch_t epoch;
  } slot_t;

  typedef slot_t [SlotsPerRow-1:0]        row_t;
  typedef logic [$clog2(SlotsPerRow)-1:0] slot_no_t;

  // ---- Hash: three registers that synthesis moves into the multiplier; a queue takes what comes out -----------------
  typedef struct packed {
    arc_t      arc;
    row_addr_t row;
  } hashed_t;

  localparam int unsigned HashQueue = 8;

  arc_t              hash_arc_q [3];
  word_t             product_q  [3];
  logic [2:0]        hash_valid_q;
  logic [3:0]        credits_q;             // places in the queue not yet promised
  logic              queue_ready, hashed_valid, hashed_taken;
  hashed_t           hashed;

  assign in_ready_o = credits_q != '0;

  always_ff @(posedge clk_i) begin
    hash_arc_q[0] <= in_i;
    product_q[0]  <= {1'b0, in_i.u} * Multiplier;
    for (int unsigned i = 1; i < 3; i++) begin
      hash_arc_q[i] <= hash_arc_q[i-1];
      product_q[i]  <= product_q[i-1];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hash_valid_q <= '0;
      credits_q    <= 4'(HashQueue);
    end else begin
      hash_valid_q <= {hash_valid_q[1:0], in_valid_i && in_ready_o};
      credits_q    <= credits_q - 4'(in_valid_i && in_ready_o) + 4'(hashed_taken);
    end
  end

  fifo #(.T(hashed_t), .Depth(HashQueue)) u_hashed (
    .clk_i, .rst_ni,
    .in_valid_i  (hash_valid_q[2]),
    .in_ready_o  (queue_ready),
    .in_data_i   ('{arc: hash_arc_q[2], row: product_q[2][31 -: RowBits]}),
    .out_valid_o (hashed_valid),
    .out_ready_i (hashed_taken),
    .out_data_o  (hashed)
  );

  // ---- Table -------------------------------------------------------------------------------------------------------
  // A row is asked for, comes, and is compared: three stages, one node a cycle. A row that was written while an older copy of it
  // was on its way is forwarded from the last two writes.
  //
  // A node that is neither in its row nor finds room there probes the rows after it. The node behind it gives up its read
  // meanwhile and asks again.
  typedef enum logic [1:0] {Clearing, Flow, Probe} state_e;
  typedef logic [$clog2(ProbeLimit)-1:0] probe_t;

  typedef struct packed {
    logic    valid;
    hashed_t node;
  } stage_t;

  state_e     state_q;
  stage_t     coming_q, compared_q;     // in step with the two registers of the RAM's read port
  stage_t     again_q;                  // has to ask again
  row_addr_t  row_q;                    // row that is cleared or probed
  probe_t     probe_q;
  logic [1:0] probe_wait_q;             // cycles until the probed row is there
  epoch_t     epoch_q;
  local_t     next_id_q;

  stage_t    feed;
  logic      move, probed, is_data, hit, has_room, decided, fire, write;
  row_t      ram_row, row, row_new;
  id_t       hit_id;
  slot_no_t  room;

  assign feed = again_q.valid ? again_q : '{valid: hashed_valid, node: hashed};

  table_ram #(.Width($bits(row_t)), .AddrBits(RowBits)) u_ram (
    .clk_i,
    .write_i      (write),
    .write_addr_i (state_q == Flow ? compared_q.node.row : row_q),
    .write_data_i (row_new),
    .read_i       (move || state_q == Probe),
    .read_addr_i  (state_q == Probe ? row_q : feed.node.row),
    .read_data_o  (ram_row)
  );

  // Rows written by the last two nodes, and whether the compared node's row is one of them.
  row_t      written_q [2];
  row_addr_t written_addr_q;
  logic      written_valid_q, from_last_q, from_before_q;

  assign row = state_q != Flow ? ram_row : from_last_q ? written_q[0] : from_before_q ? written_q[1] : ram_row;

  always_comb begin
    hit      = 1'b0;
    hit_id   = '0;
    has_room = 1'b0;
    room     = '0;
    for (int unsigned i = 0; i < SlotsPerRow; i++) begin
      if (row[i].epoch == epoch_q && row[i].key == compared_q.node.arc.u) begin
        hit     = 1'b1;
        hit_id |= row[i].id;
      end
      if (row[i].epoch != epoch_q) begin
        has_room = 1'b1;
        room     = slot_no_t'(i);
      end
    end
  end

  always_comb begin
    row_new       = row;
    row_new[room] = '{key: compared_q.node.arc.u, id: id_t'(next_id_q), epoch: epoch_q};
    if (state_q == Clearing) row_new = '0;
  end

  assign is_data = compared_q.node.arc.item.kind == ItemData;
  assign probed  = state_q == Probe && probe_wait_q == '0;
  assign decided = !is_data || hit || has_room || (probed && probe_q == probe_t'(ProbeLimit - 1));

  assign out_valid_o = compared_q.valid && decided && (state_q == Flow || probed);
  assign fire        = out_valid_o && out_ready_i;
  assign move        = state_q == Flow && (!compared_q.valid || fire);
  assign write       = state_q == Clearing || (fire && is_data && !hit && has_room);

  assign hashed_taken  = move && hashed_valid && !again_q.valid;
  assign out_o.arc     = compared_q.node.arc;
  assign out_o.u_local = hit ? local_t'(hit_id) : next_id_q;
  assign out_o.is_new  = !hit;
  assign out_o.full    = !hit && !has_room;

  assign ready_o = state_q != Clearing;
  assign busy_o  = hashed_valid || coming_q.valid || compared_q.valid;

  always_ff @(posedge clk_i) begin
    if (move) begin
      coming_q       <= feed;
      compared_q     <= coming_q;
      written_q[0]   <= row_new;
      written_q[1]   <= written_q[0];
      written_addr_q <= compared_q.node.row;
    end
    if (state_q == Flow) again_q.node <= coming_q.node;

    if (!rst_ni) begin
      state_q          <= Clearing;
      row_q            <= '0;
      epoch_q          <= '0;
      coming_q.valid   <= 1'b0;
      compared_q.valid <= 1'b0;
      again_q.valid    <= 1'b0;
      written_valid_q  <= 1'b0;
    end else begin
      case (state_q)
        Clearing: begin
          row_q <= row_q + 1'b1;
          if (row_q == '1) state_q <= Flow;
        end
        Flow: begin
          row_q        <= compared_q.node.row + 1'b1;
          probe_q      <= probe_t'(1);
          probe_wait_q <= 2'd2;
          if (move) begin
            again_q.valid   <= 1'b0;
            written_valid_q <= write;
            from_last_q     <= write && coming_q.node.row == compared_q.node.row;
            from_before_q   <= written_valid_q && coming_q.node.row == written_addr_q;
          end else if (!decided) begin
            state_q        <= Probe;
            again_q.valid  <= coming_q.valid;
            coming_q.valid <= 1'b0;
          end
          if (start_i) begin
            // Epoch 0 means cleared, so it is never used.
            epoch_q         <= epoch_q == '1 ? epoch_t'(1) : epoch_q + 1'b1;
            written_valid_q <= 1'b0;
            if (epoch_q == '1) begin
              state_q <= Clearing;
              row_q   <= '0;
            end
          end
        end
        Probe: begin
          if (!probed) begin
            probe_wait_q <= probe_wait_q - 1'b1;
          end else if (!decided) begin
            row_q        <= row_q + 1'b1;
            probe_q      <= probe_q + 1'b1;
            probe_wait_q <= 2'd2;
          end else if (fire) begin
            state_q          <= Flow;
            compared_q.valid <= 1'b0;
            written_valid_q  <= 1'b0;
          end
        end
        default: state_q <= Clearing;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i)                                next_id_q <= '0;
    else if (fire && is_data && out_o.is_new)   next_id_q <= next_id_q + 1'b1;
  end

  if (TableLog2 < 4 || TableLog2 > IdBits) begin : gen_size
    $error("TableLog2 must be 4 to 21");
  end
  if (ProbeLimit < 2) begin : gen_probes
    $error("ProbeLimit must be at least 2");
  end

  `ASSERT(QueueHasRoom, hash_valid_q[2] |-> queue_ready)
  `ASSERT(StartWhenEmpty, start_i |-> (state_q == Flow && !busy_o && !again_q.valid && hash_valid_q == '0))

  // The row comes from the node before, from the one before that, or both have written it.
  `COVER(ForwardedFromLast, fire && state_q == Flow && from_last_q && !from_before_q)
  `COVER(ForwardedFromBefore, fire && state_q == Flow && !from_last_q && from_before_q)
  `COVER(ForwardedFromBoth, fire && state_q == Flow && from_last_q && from_before_q)
  `COVER(HitInForwarded, fire && state_q == Flow && is_data && hit && (from_last_q || from_before_q))
  `COVER(HitByProbe, fire && probed && is_data && hit)
  `COVER(ProbedMoreThanOnce, fire && probed && probe_q > probe_t'(1))
  `COVER(ProbedPastLastRow, probed && row_q < compared_q.node.row)
  `COVER(AskedAgain, move && again_q.valid)
  `COVER(TableFull, fire && is_data && out_o.full)
  `COVER(EpochsUsedUp, start_i && epoch_q == '1)
  `COVER(WaitsWhileClearing, state_q == Clearing && hashed_valid)

endmodule
