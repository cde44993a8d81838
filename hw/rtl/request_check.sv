// Whether the arguments of a run are acceptable; the first rule that is broken is the fault.
module request_check
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4
) (
  input  command_t command_i,
  output logic     bad_o,
  output fault_t   fault_o
);

  // XRT argument ids of the addresses, for the message.
  localparam word_t ArgOffsets = 32'd12, ArgSeeds = 32'd13, ArgNodeList = 32'd14, ArgStatus = 32'd15;
  localparam word_t ArgSamples = 32'd16, ArgIndices0 = 32'd20;

  function automatic logic misaligned(addr_t address);
    return address[$clog2(LineBytes)-1:0] != '0;
  endfunction

  // What is written is written in aligned blocks.
  function automatic logic misaligned_block(addr_t address);
    return address[$clog2(BurstBytes)-1:0] != '0;
  endfunction

  always_comb begin
    bad_o   = 1'b0;
    fault_o = '{code: StBadRequest, detail: '0, hop: '0, node: '0};

    // From the last rule to the first, so that the first broken one remains.
    if (command_i.num_nodes[31] || command_i.num_edges[31]) begin
      bad_o          = 1'b1;
      fault_o.detail = BadSize;
    end
    for (int unsigned i = 0; i < IndexChannels; i++) begin
      if (misaligned(command_i.indices[i])) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgIndices0 + i};
    end
    for (int unsigned i = 0; i < 4; i++) begin
      if (misaligned_block(command_i.outputs[i])) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgSamples + i};
    end
    if (misaligned_block(command_i.status))    {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgStatus};
    if (misaligned_block(command_i.node_list)) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgNodeList};
    if (misaligned(command_i.seeds))           {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgSeeds};
    if (misaligned(command_i.offsets))         {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgOffsets};
    if (command_i.num_seeds > MaxSeeds) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadSeedCount, command_i.num_seeds};
    for (int unsigned i = 0; i < MaxHops; i++) begin
      if (i < command_i.num_hops && command_i.fanouts[i] != FanoutAll && command_i.fanouts[i] > MaxFanout) begin
        {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadFanout, command_i.fanouts[i]};
      end
    end
    if (command_i.num_hops == '0 || command_i.num_hops > MaxHops) begin
      {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadHops, command_i.num_hops};
    end
  end

endmodule
