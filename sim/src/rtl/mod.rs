//! The simulated RTL: three kernels under Verilator, each with its own memory, clock and bus checks.
