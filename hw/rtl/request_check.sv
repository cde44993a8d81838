// Whether the arguments of a run are acceptable; the first rule that is broken is the fault.
`include "assert.svh"

module request_check
  import trisage_pkg::*;
#(
  parameter int unsigned IndexChannels = 4
) (
  input  logic     clk_i,       // this and the next two are there for the assertions
  input  logic     rst_ni,
  input  logic     check_i,     // the arguments are those of a run that begins
  input  command_t command_i,
  output logic     bad_o,
  output fault_t   fault_o
);

  // XRT argument ids of the addresses, for the message.
  localparam word_t ArgOffsets = 32'd12, ArgSeeds = 32'd13, ArgNodeList = 32'd14, ArgStatus = 32'd15;
  localparam word_t ArgSamples = 32'd16, ArgIndices0 = 32'd20;

  always_comb begin
    bad_o   = 1'b0;
    fault_o = '{code: StBadRequest, detail: '0, hop: '0, node: '0};

    // From the last rule to the first, so that the first broken one remains.
    if (command_i.num_nodes[31] || command_i.num_edges[31]) begin
      bad_o          = 1'b1;
      fault_o.detail = BadSize;
    end
    for (int unsigned i = 0; i < IndexChannels; i++) begin
      if (!line_aligned(command_i.indices[i])) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgIndices0 + i};
    end
    // What is written is written in aligned blocks.
    for (int unsigned i = 0; i < 4; i++) begin
      if (!burst_aligned(command_i.outputs[i])) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgSamples + i};
    end
    if (!burst_aligned(command_i.status))    {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgStatus};
    if (!burst_aligned(command_i.node_list)) {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgNodeList};
    if (!line_aligned(command_i.seeds))      {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgSeeds};
    if (!line_aligned(command_i.offsets))    {bad_o, fault_o.detail, fault_o.node} = {1'b1, BadAlignment, ArgOffsets};
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

  // For the assertions: each rule by itself, a bit for its code; and each rule of addresses, a bit for its first argument.
  word_t broken, misaligned;

  function automatic word_t bit_if(logic is_set, word_t number);
    return word_t'(is_set) << number;
  endfunction

  always_comb begin
    addr_t any_output, any_index;
    any_output = '0;
    any_index  = '0;
    broken     = '0;
    misaligned = '0;
    if (check_i) begin
      for (int unsigned i = 0; i < 4; i++)             any_output |= command_i.outputs[i];
      for (int unsigned i = 0; i < IndexChannels; i++) any_index  |= command_i.indices[i];
      misaligned = bit_if(!line_aligned(command_i.offsets), ArgOffsets)
                 | bit_if(!line_aligned(command_i.seeds), ArgSeeds)
                 | bit_if(!burst_aligned(command_i.node_list), ArgNodeList)
                 | bit_if(!burst_aligned(command_i.status), ArgStatus)
                 | bit_if(!burst_aligned(any_output), ArgSamples)
                 | bit_if(!line_aligned(any_index), ArgIndices0);

      broken = bit_if(!(command_i.num_hops inside {[1:MaxHops]}), word_t'(BadHops))
             | bit_if(!(command_i.num_seeds inside {[0:MaxSeeds]}), word_t'(BadSeedCount))
             | bit_if(misaligned != '0, word_t'(BadAlignment))
             | bit_if($signed(command_i.num_nodes) < 0 || $signed(command_i.num_edges) < 0, word_t'(BadSize));
      for (int unsigned i = 0; i < MaxHops; i++) begin
        broken |= bit_if(i < command_i.num_hops && !(command_i.fanouts[i] inside {[0:MaxFanout], FanoutAll}),
                         word_t'(BadFanout));
      end
    end
  end

  // The first argument of the rule of an address.
  function automatic word_t rule_of(word_t argument);
    return argument >= ArgIndices0 ? ArgIndices0 : argument >= ArgSamples ? ArgSamples : argument;
  endfunction

  function automatic word_t lowest_bit(word_t bits);
    return bits & -bits;
  endfunction

  `ASSERT(RefusedIfBroken, check_i |-> bad_o == (broken != '0))
  `ASSERT(FirstRuleIsTold, (check_i && bad_o) |-> lowest_bit(broken) == 32'd1 << fault_o.detail)
  `ASSERT(FirstAddressIsTold, (check_i && bad_o && fault_o.detail == BadAlignment) |->
    lowest_bit(misaligned) == 32'd1 << rule_of(fault_o.node))

  `COVER(Accepted, check_i && !bad_o)
  `COVER(RefusedHops, check_i && bad_o && fault_o.detail == BadHops)
  `COVER(RefusedFanout, check_i && bad_o && fault_o.detail == BadFanout)
  `COVER(RefusedSeedCount, check_i && bad_o && fault_o.detail == BadSeedCount)
  `COVER(RefusedAlignment, check_i && bad_o && fault_o.detail == BadAlignment)
  `COVER(RefusedSize, check_i && bad_o && fault_o.detail == BadSize)
  `COVER(SeveralRulesBroken, check_i && broken != lowest_bit(broken))
  `COVER(SeveralAddressesMisaligned, check_i && misaligned != lowest_bit(misaligned))

endmodule
