// Assertions and cover points of the design. A module that uses them has clk_i and rst_ni. Synthesis sees nothing of them.
`ifndef TRISAGE_ASSERT_SVH
`define TRISAGE_ASSERT_SVH

`ifdef SYNTHESIS
  `define ASSERT(name, prop)
  `define ASSERT_STABLE(name, valid, ready, data)
  `define COVER(name, prop)
`else
  // `prop` holds in every cycle out of reset.
  `define ASSERT(name, prop) \
    name : assert property (@(posedge clk_i) disable iff (!rst_ni) prop) \
    else $error("%m does not hold");

  // A valid that is not taken stays, with the same data.
  `define ASSERT_STABLE(name, valid, ready, data) \
    name : assert property (@(posedge clk_i) disable iff (!rst_ni) \
      ((valid) && !(ready)) |=> ((valid) && $stable(data))) \
    else $error("%m: a waiting item was dropped or changed");

  // A case that tests have to meet, as something special happens in it: ./just rtl-coverage tells the ones that no test meets.
  `define COVER(name, prop) \
    name : cover property (@(posedge clk_i) disable iff (!rst_ni) prop);
`endif

`endif
