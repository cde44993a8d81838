/* The pins of the module benches. Included by trisage_model.cpp, which says what a top module has to define. */
#ifndef TRISAGE_BENCH_H
#define TRISAGE_BENCH_H

#include "Vmodule_bench.h"

using Top = Vmodule_bench;
using Pins = trisage_bench_pins;
constexpr uint32_t kTop = TRISAGE_TOP_BENCH;

inline void set_clock(Top &top, bool high) { top.clk_i = high; }

inline void apply(Top &top, const Pins &pins) {
  top.rst_ni = pins.rst_n != 0;
  top.bench_i = pins.bench;
  static_assert(sizeof pins.inputs == sizeof top.in_i, "in_i has TRISAGE_BENCH_WORDS words");
  std::memcpy(top.in_i.data(), pins.inputs, sizeof pins.inputs);
}

// What a module answers may follow its inputs in the same cycle, so it is looked at when they have settled.
inline void before_edge(const Top &top, Pins &pins) {
  static_assert(sizeof pins.outputs == sizeof top.out_o, "out_o has TRISAGE_BENCH_WORDS words");
  std::memcpy(pins.outputs, top.out_o.data(), sizeof pins.outputs);
}

inline void after_edge(const Top &, Pins &) {}

#endif
