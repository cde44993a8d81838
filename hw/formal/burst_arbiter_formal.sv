// Proves: a burst_arbiter hands on the line of one source at a time, unchanged; a burst is not interrupted; and a source that
// waits is chosen before any other is chosen twice, within as many choices as there are sources (2 and 4 sources, for ever).
// Fails with burst_arbiter.sv: if (source_q == idx_t'(i)) -> if (chosen == idx_t'(i))
// Fails with burst_arbiter.sv: out_ready_i && out_o.last -> out_ready_i
// Fails with burst_arbiter.sv: source_q <= chosen; -> source_q <= in_valid_i[0] ? '0 : chosen;
// Fails with burst_arbiter.sv: distance = Sources; distance >= 1; distance-- -> distance = 1; distance <= Sources; distance++
module burst_arbiter_formal
  import trisage_pkg::*;
(
  input logic            clk_i,
  input logic            rst_ni,
  input logic [3:0]      in_valid_i,
  input logic [3:0][7:0] name_i,
  input logic [3:0]      last_i,
  input logic            out_ready_i
);

  // A byte says what is in a line, so that the solver has no thousands of bits to look after.
  write_line_t [3:0] line;
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      line[i] = '{addr: {8{name_i[i]}}, len: name_i[i], line: {LineBytes{name_i[i]}}, strb: {8{name_i[i]}}, last: last_i[i]};
    end
  end

  burst_arbiter_fair #(.Sources(2)) u_2 (.clk_i, .rst_ni, .in_valid_i(in_valid_i[1:0]), .in_i(line[1:0]), .out_ready_i);
  burst_arbiter_fair #(.Sources(4)) u_4 (.clk_i, .rst_ni, .in_valid_i, .in_i(line), .out_ready_i);

endmodule

module burst_arbiter_fair
  import trisage_pkg::*;
#(
  parameter int unsigned Sources = 4
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic        [Sources-1:0] in_valid_i,
  input write_line_t [Sources-1:0] in_i,
  input logic                      out_ready_i
);

  logic        [Sources-1:0] in_ready, taken;
  logic                      out_valid;
  write_line_t               out;

  burst_arbiter #(.Sources(Sources)) u_arbiter (
    .clk_i, .rst_ni,
    .in_valid_i,
    .in_ready_o  (in_ready),
    .in_i,
    .out_valid_o (out_valid),
    .out_ready_i,
    .out_o       (out)
  );

  assign taken = in_valid_i & in_ready;

  // A source that offers a line goes on until it is taken, and a burst comes whole.
  logic [Sources-1:0] kept_q, within_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Sources; i++) begin
      kept_q[i] <= rst_ni && in_valid_i[i] && !in_ready[i];
      if (!rst_ni)       within_q[i] <= 1'b0;
      else if (taken[i]) within_q[i] <= !in_i[i].last;
    end
  end

  logic [Sources-1:0] keeps;

  always_comb begin
    for (int unsigned i = 0; i < Sources; i++) begin
      keeps[i] = in_valid_i[i] || (!kept_q[i] && !within_q[i]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) Keeps: assume (&keeps);
  end

  // How often others have been chosen since a source began to wait, and how far the choice is from it.
  logic [Sources-1:0][2:0]    passed_q, distance;
  logic                       choosing;
  logic [$clog2(Sources)-1:0] source, chosen;

  assign source   = u_arbiter.source_q;
  assign chosen   = u_arbiter.chosen;
  assign choosing = !u_arbiter.busy_q && in_valid_i != '0;

  always_comb begin
    for (int unsigned i = 0; i < Sources; i++) begin
      distance[i] = 3'((i + Sources - 1 - 32'(source)) % Sources + 1);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Sources; i++) begin
      if (!rst_ni || (choosing && 32'(chosen) == i)) passed_q[i] <= '0;
      else if (choosing && in_valid_i[i])            passed_q[i] <= passed_q[i] + 1'b1;
    end
  end

  logic [Sources-1:0] unchanged, uninterrupted, fair, nearer, waits, in_its_burst;

  always_comb begin
    for (int unsigned i = 0; i < Sources; i++) begin
      unchanged[i]     = !taken[i] || out == in_i[i];
      uninterrupted[i] = !taken[i] || (within_q & ~(Sources'(1) << i)) == '0;
      fair[i]          = passed_q[i] < 3'(Sources);
      // What makes the proof inductive: each choice of another brings the choice nearer.
      nearer[i]        = u_arbiter.busy_q && 32'(source) == i ? passed_q[i] == '0
                                                              : passed_q[i] + distance[i] <= 3'(Sources);
      waits[i]         = passed_q[i] == '0 || kept_q[i];
      in_its_burst[i]  = !within_q[i] || (u_arbiter.busy_q && 32'(source) == i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneAtATime:    assert ((in_ready & (in_ready - 1'b1)) == '0);
      TakenIsGiven:  assert ((taken != '0) == (out_valid && out_ready_i));
      Unchanged:     assert (&unchanged);
      Uninterrupted: assert (&uninterrupted);
      Fair:          assert (&fair);
      Nearer:        assert (&nearer);
      Waits:         assert (&waits);
      Within:        assert (&in_its_burst);
      Chosen:        assert (!u_arbiter.busy_q || kept_q[source] || within_q[source]);
      Known:         assert (32'(source) < Sources);
    end
  end

endmodule
