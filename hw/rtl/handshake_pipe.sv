// Registers in a valid-ready channel, both ways, without loss of throughput: for a channel that crosses to another SLR.
module handshake_pipe #(
  parameter type         T      = logic,
  parameter int unsigned Stages = 2     // 0 is a wire
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic in_valid_i,
  output logic in_ready_o,
  input  T     in_data_i,

  output logic out_valid_o,
  input  logic out_ready_i,
  output T     out_data_o
);

  logic valid [Stages+1];
  logic ready [Stages+1];
  T     data  [Stages+1];

  assign valid[0]      = in_valid_i;
  assign data[0]       = in_data_i;
  assign in_ready_o    = ready[0];
  assign out_valid_o   = valid[Stages];
  assign out_data_o    = data[Stages];
  assign ready[Stages] = out_ready_i;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    register_slice #(.T(T)) u_stage (
      .clk_i, .rst_ni,
      .in_valid_i  (valid[s]),
      .in_ready_o  (ready[s]),
      .in_data_i   (data[s]),
      .out_valid_o (valid[s+1]),
      .out_ready_i (ready[s+1]),
      .out_data_o  (data[s+1])
    );
  end

  // Stages of 0 leave nothing to clock.
  if (Stages == 0) begin : gen_wire
    logic unused;
    assign unused = &{clk_i, rst_ni};
  end

endmodule
