// Counts the elements that are wanted of each index channel: of the bytes that the channel reads, 4 each are of use.
module channel_counter
  import trisage_pkg::*;
#(
  parameter int unsigned Channels = 4       // 1, 2, 4 or 8
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    clear_i,  // a run begins

  input  logic                    taken_i,  // the line fetch takes an edge
  input  pos_t                    pos_i,    // its position

  output word_t [MaxChannels-1:0] elements_o
);

  dealt_t channel;
  assign channel = dealt_t'(line_of(pos_i) % line_no_t'(Channels));

  for (genvar c = 0; c < MaxChannels; c++) begin : gen_channel
    if (c < Channels) begin : gen_used
      always_ff @(posedge clk_i) begin
        if (!rst_ni || clear_i)                     elements_o[c] <= '0;
        else if (taken_i && channel == dealt_t'(c)) elements_o[c] <= elements_o[c] + 1'b1;
      end
    end else begin : gen_unused
      assign elements_o[c] = '0;
    end
  end

endmodule
