// What a pipeline stage did in each cycle of a run: blocked (a result was not taken), busy, or starved.
module stage_counter
  import trisage_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        count_i,       // a run is under way

  input  logic        active_i,      // the stage has something to work on
  input  logic        out_valid_i,
  input  logic        out_ready_i,

  output word_t [2:0] cycles_o       // busy, starved, blocked
);

  logic blocked, busy;
  assign blocked = out_valid_i && !out_ready_i;
  assign busy    = active_i && !blocked;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      cycles_o <= '0;
    end else if (count_i) begin
      if (blocked)   cycles_o[2] <= cycles_o[2] + 1'b1;
      else if (busy) cycles_o[0] <= cycles_o[0] + 1'b1;
      else           cycles_o[1] <= cycles_o[1] + 1'b1;
    end
  end

endmodule
