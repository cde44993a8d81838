// Follows any one item on its way through a queue, for proofs: how many items are in it, and how many of them are before the
// one that is watched.
module watched_item #(
  parameter type T     = logic,
  parameter type Count = logic        // counts up to the items that fit
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic push_i,
  input  logic pop_i,
  input  logic watch_i,               // watch the item that comes in, if none is watched
  input  T     in_i,

  output Count count_o,
  output logic watching_o,
  output Count ahead_o,
  output T     item_o
);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_o    <= '0;
      watching_o <= 1'b0;
    end else begin
      count_o <= count_o + Count'(push_i) - Count'(pop_i);
      if (!watching_o) begin
        watching_o <= push_i && watch_i;
        ahead_o    <= count_o - Count'(pop_i);
        item_o     <= in_i;
      end else if (pop_i) begin
        watching_o <= ahead_o != '0;
        ahead_o    <= ahead_o - 1'b1;
      end
    end
  end

endmodule
