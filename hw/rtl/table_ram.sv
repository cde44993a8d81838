// Memory of the hash table: one write port, one read port with two cycles of latency. In UltraRAM on the card.
module table_ram #(
  parameter int unsigned Width    = 288,
  parameter int unsigned AddrBits = 17
) (
  input  logic                clk_i,

  input  logic                write_i,
  input  logic [AddrBits-1:0] write_addr_i,
  input  logic [Width-1:0]    write_data_i,

  input  logic                read_i,         // the read port moves: both of its registers take what is before them
  input  logic [AddrBits-1:0] read_addr_i,
  output logic [Width-1:0]    read_data_o
);

  (* ram_style = "ultra" *)
  logic [Width-1:0] mem [2**AddrBits];
  logic [Width-1:0] read_q;

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= write_data_i;
    if (read_i) begin
      read_q      <= mem[read_addr_i];
      read_data_o <= read_q;
    end
  end

endmodule
