// What a pipeline stage did in each cycle of a run: blocked (a result was not taken), busy, or starved.
module stage_counter
  import trisage_pkg::*;
(
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            clear_i,
  input  logic            count_i,    // a run is under way

  input  stage_activity_t stage_i,

  output stage_cycles_t   cycles_o
);

  logic blocked;
  assign blocked = stage_i.out_valid && !stage_i.out_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      cycles_o <= '0;
    end else if (count_i) begin
      if (blocked)             cycles_o.blocked <= cycles_o.blocked + 1'b1;
      else if (stage_i.active) cycles_o.busy    <= cycles_o.busy + 1'b1;
      else                     cycles_o.starved <= cycles_o.starved + 1'b1;
    end
  end

endmodule
