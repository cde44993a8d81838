//! The RTL as a shared library made by Verilator: compiled, cached, loaded, clocked.
