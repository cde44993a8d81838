"""Synthesises the RTL for UltraScale+ with Yosys: its size, and a gate on latches.

usage: rtl_latches.py FILE-LIST TOP LOG

The file list has one path a line, relative to its own folder, package first.
Yosys tells its progress to the file LOG. The numbers show a trend, as Vivado's
will differ; timing is not looked at. The exit code is 1 if there is a latch,
which is always a mistake in this design, or a loop of logic, which is what a
latch becomes if it was forgotten in an always_comb.
"""

import os
import re
import sys
from collections import Counter

from pyosys import libyosys as yosys

# What a user reads, and the cells (of the family xcup) that are counted there.
KINDS = {
    "LUT": r"LUT[1-6]",
    "FF": r"FD[CPRS]E(_1)?",
    "CARRY": r"CARRY[48]",
    "DSP": r"DSP48E2",
    "RAMB36": r"RAMB36E2",
    "RAMB18": r"RAMB18E2",
    "URAM": r"URAM288",
    "LUTRAM": r"RAM\d+\w+",
    "SRL": r"SRL\w+",
}
# Mapped latches, and those that the mapping left as they were.
LATCH = r"LD[CP]\w*|\$(ad|sr|dl)\w*latch\w*|\$_(DLATCH|SR)\w*_"


def cells_after_synthesis(file_list: str, top: str) -> Counter[str]:
    """Cells by type. Yosys itself ends the process at an error."""
    design = yosys.Design()
    for command in (
        # One thread, so that a second run gives the same netlist.
        f"read_slang --threads 1 --ignore-assertions -DSYNTHESIS -I {os.path.dirname(file_list)} --top {top} -F {file_list}",
        "check -assert",  # loops of logic; mapped cells would hide them
        f"synth_xilinx -family xcup -flatten -top {top}",
        "stat -tech xilinx",
    ):
        yosys.run_pass(command, design)
    yosys.log_flush()
    cells = design.top_module().cells_.values()
    return Counter(str(cell.type).removeprefix("\\") for cell in cells)


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    file_list, top, log = sys.argv[1:]

    # Yosys writes errors to stderr, and thousands of other lines to stdout.
    os.makedirs(os.path.dirname(log) or ".", exist_ok=True)
    stdout = os.dup(1)
    os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644), 1)
    cells = cells_after_synthesis(file_list, top)
    os.dup2(stdout, 1)

    def count(pattern: str) -> int:
        return sum(n for cell, n in cells.items() if re.fullmatch(pattern, cell))

    sizes = ", ".join(f"{kind} {count(pattern)}" for kind, pattern in KINDS.items())
    print(f"rtl-latches: {sizes}")
    if not cells:
        print("rtl-latches: nothing is left after synthesis", file=sys.stderr)
        return 1
    latches = {cell: n for cell, n in cells.items() if re.fullmatch(LATCH, cell)}
    if latches:
        print(f"rtl-latches: latches found: {latches}", file=sys.stderr)
        return 1
    print("rtl-latches: no latches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
