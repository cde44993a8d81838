/* The pins of the kernel. Included by trisage_model.cpp, which says what a top module has to define. */
#ifndef TRISAGE_KERNEL_H
#define TRISAGE_KERNEL_H

#include "Vtrisage_sampler.h"

using Top = Vtrisage_sampler;
using Pins = trisage_pins;
constexpr uint32_t kTop = TRISAGE_TOP_KERNEL;

// DO(number, name) for each port of a kind.
#define READ_PORTS(DO) \
  DO(0, offs)          \
  DO(1, idx0)          \
  DO(2, idx1)          \
  DO(3, idx2)          \
  DO(4, idx3)          \
  DO(5, idx4)          \
  DO(6, idx5)          \
  DO(7, idx6)          \
  DO(8, idx7)          \
  DO(9, mem)
#define WRITE_PORTS(DO) \
  DO(0, mem)            \
  DO(1, out)

// DO(pin) for each pin of a channel or slave, by direction.
#define READ_OUT(DO, n, p) \
  DO(n, p, arvalid) DO(n, p, arid) DO(n, p, araddr) DO(n, p, arlen) DO(n, p, arsize) DO(n, p, arburst) DO(n, p, rready)
#define READ_IN(DO, n, p) DO(n, p, arready) DO(n, p, rvalid) DO(n, p, rid) DO(n, p, rresp) DO(n, p, rlast)
#define WRITE_OUT(DO, n, p)                                                                                       \
  DO(n, p, awvalid) DO(n, p, awid) DO(n, p, awaddr) DO(n, p, awlen) DO(n, p, awsize) DO(n, p, awburst)            \
  DO(n, p, wvalid) DO(n, p, wstrb) DO(n, p, wlast) DO(n, p, bready)
#define WRITE_IN(DO, n, p) DO(n, p, awready) DO(n, p, wready) DO(n, p, bvalid) DO(n, p, bid) DO(n, p, bresp)
#define CONTROL_OUT(DO) DO(awready) DO(wready) DO(bvalid) DO(bresp) DO(arready) DO(rvalid) DO(rdata) DO(rresp)
#define CONTROL_IN(DO) \
  DO(awvalid) DO(awaddr) DO(wvalid) DO(wdata) DO(wstrb) DO(bready) DO(arvalid) DO(araddr) DO(rready)

inline void set_clock(Top &top, bool high) { top.ap_clk = high; }

inline void apply(Top &top, const Pins &pins) {
#define CONTROL_PIN(pin) top.s_axi_control_##pin = pins.control.pin;
  CONTROL_IN(CONTROL_PIN)
#undef CONTROL_PIN
  top.ap_rst_n = pins.control.rst_n;
#define READ_PIN(n, p, pin) top.m_axi_##p##_##pin = pins.read[n].pin;
#define READ_PORT(n, p)          \
  READ_IN(READ_PIN, n, p)        \
  if (pins.read[n].rvalid) std::memcpy(top.m_axi_##p##_rdata.data(), pins.read[n].rdata, TRISAGE_LINE_BYTES);
  READ_PORTS(READ_PORT)
#undef READ_PORT
#undef READ_PIN
#define WRITE_PIN(n, p, pin) top.m_axi_##p##_##pin = pins.write[n].pin;
#define WRITE_PORT(n, p) WRITE_IN(WRITE_PIN, n, p)
  WRITE_PORTS(WRITE_PORT)
#undef WRITE_PORT
#undef WRITE_PIN
}

inline void fetch(const Top &top, Pins &pins) {
#define CONTROL_PIN(pin) pins.control.pin = top.s_axi_control_##pin;
  CONTROL_OUT(CONTROL_PIN)
#undef CONTROL_PIN
  pins.control.interrupt = top.__SYM__interrupt;  // Verilator renames it
#define READ_PIN(n, p, pin) pins.read[n].pin = top.m_axi_##p##_##pin;
#define READ_PORT(n, p) READ_OUT(READ_PIN, n, p)
  READ_PORTS(READ_PORT)
#undef READ_PORT
#undef READ_PIN
#define WRITE_PIN(n, p, pin) pins.write[n].pin = top.m_axi_##p##_##pin;
#define WRITE_PORT(n, p)   \
  WRITE_OUT(WRITE_PIN, n, p) \
  if (pins.write[n].wvalid) std::memcpy(pins.write[n].wdata, top.m_axi_##p##_wdata.data(), TRISAGE_LINE_BYTES);
  WRITE_PORTS(WRITE_PORT)
#undef WRITE_PORT
#undef WRITE_PIN
}

#ifdef TRISAGE_CHECK_PATHS
// AXI (IHI 0022, "Basic read and write transactions", handshake process) allows no combinational path between inputs and
// outputs, and trisage_model_clock shows outputs as they stood before the inputs changed: so a change is an error.
inline void check_paths(const Top &top, const Pins &pins) {
#define SAME(shown, name) \
  if ((shown) != top.name) throw Fatal("output " #name " follows an input combinationally");
#define CONTROL_PIN(pin) SAME(pins.control.pin, s_axi_control_##pin)
  CONTROL_OUT(CONTROL_PIN)
#undef CONTROL_PIN
#define READ_PIN(n, p, pin) SAME(pins.read[n].pin, m_axi_##p##_##pin)
#define READ_PORT(n, p) READ_OUT(READ_PIN, n, p)
  READ_PORTS(READ_PORT)
#undef READ_PORT
#undef READ_PIN
#define WRITE_PIN(n, p, pin) SAME(pins.write[n].pin, m_axi_##p##_##pin)
#define WRITE_PORT(n, p) WRITE_OUT(WRITE_PIN, n, p)
  WRITE_PORTS(WRITE_PORT)
#undef WRITE_PORT
#undef WRITE_PIN
#undef SAME
}
#endif

// A kernel's outputs come from registers, so what stands there after the edge is what the memory sees in the next cycle.
inline void before_edge(const Top &top, const Pins &pins) {
#ifdef TRISAGE_CHECK_PATHS
  if (pins.control.rst_n) check_paths(top, pins);
#else
  (void)top;
  (void)pins;
#endif
}

inline void after_edge(const Top &top, Pins &pins) { fetch(top, pins); }

#endif
