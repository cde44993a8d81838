"""Synthesises the RTL for UltraScale+ with Yosys: its size by module and against the boards, and two gates.

usage: rtl_synth.py FILE-LIST TOP LOG RECORD [--update | --modules]

The file list has one path a line, relative to its own folder, package first.
Yosys tells its progress to the file LOG. The numbers show a trend, as Vivado's
will differ; timing is not looked at.

The exit code is 1 if there is a latch, which is always a mistake in this
design, or a loop of logic, which is what a latch becomes if it was forgotten in
an always_comb; or if a total is more than TOLERANCE away from the file RECORD,
which --update writes anew. --modules keeps the modules apart, to tell the size
of each, with the queues in it; nothing is optimised across their borders, so it
is not compared with the record.
"""

import json
import os
import re
import sys
from collections import Counter

from pyosys import libyosys as yosys

# What a user reads, and the cells (of the family xcup) that are counted there.
KINDS = {
    "LUT": r"LUT[1-6]|RAM\d+\w+|SRL\w+",  # distributed memory is made of LUTs
    "FF": r"FD[CPRS]E(_1)?",
    "BRAM": r"RAMB36E2|RAMB18E2",
    "URAM": r"URAM288",
    "DSP": r"DSP48E2",
}
# A RAMB18 is half a BRAM; a RAM64M and the like takes as many LUTs as it has ports.
WEIGHTS = {"RAMB18E2": 0.5, "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8}
# Mapped latches, and those that the mapping left as they were.
LATCH = r"LD[CP]\w*|\$(ad|sr|dl)\w*latch\w*|\$_(DLATCH|SR)\w*_"

# What a shell leaves of each SLR: U200 xdma_201830_2 and U280 as ThunderGP's and
# FINN's device files quote UG1393 and UG1120. For the U55C no figures by SLR were
# found; it has the die of the U280, less the DDR controllers.
BUDGETS = {
    "U200 SLR0": (354_831, 723_372, 638, 320, 2_265),
    "U200 SLR1": (159_854, 331_711, 326, 160, 1_317),
    "U200 SLR2": (354_962, 723_353, 638, 320, 2_265),
    "U280 SLR0": (369_000, 746_000, 507, 320, 2_733),
    "U280 SLR1": (333_000, 675_000, 468, 320, 2_877),
    "U280 SLR2": (367_000, 729_000, 512, 320, 2_880),
    "U55C (as U280 SLR1)": (333_000, 675_000, 468, 320, 2_877),
}
# Above this share of an SLR, routing at 300 MHz is hard (AutoBridge; xocc guides).
LIMIT = 0.70
TOLERANCE = 0.10

# What every module is made of: counted where it is used. Each instance is a
# module of its own, so keeping these apart would take most of the time.
PARTS = ("fifo", "handshake_pipe", "register_slice")

Size = dict[str, float]


def synthesise(file_list: str, top: str, modules: bool) -> yosys.Design:
    """The mapped design, flat or its modules kept apart. Yosys itself ends the process at an error."""
    design = yosys.Design()
    keep = ["setattr -mod -set keep_hierarchy 1 *", *(f"setattr -mod -unset keep_hierarchy {part}*" for part in PARTS)]
    for command in (
        # One thread, so that a second run gives the same netlist.
        f"read_slang --threads 1 --ignore-assertions -DSYNTHESIS -I {os.path.dirname(file_list)}"
        f" {'--keep-hierarchy' if modules else ''} --top {top} -F {file_list}",
        *(keep if modules else ()),
        "check -assert",  # loops of logic; mapped cells would hide them
        f"synth_xilinx -family xcup -flatten -top {top}",
        "stat -tech xilinx",
    ):
        yosys.run_pass(command, design)
    yosys.log_flush()
    return design


def name(identifier: object) -> str:
    return str(identifier).removeprefix("\\")


def base(module: str) -> str:
    """A module's name in the source: parameters and instance paths are cut off."""
    return re.split(r"[$]", module.removeprefix("$paramod\\"))[0] or module


def sizes(design: yosys.Design, top: str, sources: set[str]) -> tuple[dict[str, Size], Counter[str], Counter[str]]:
    """Sizes and instances by module of the source, submodules not included, and all leaf cells."""
    # The design also holds models of the FPGA's own cells.
    ours = [m for m in design.modules_.values() if base(name(m.name)) in sources]
    cells = {name(m.name): Counter(name(c.type) for c in m.cells_.values()) for m in ours}
    by_module: dict[str, Size] = {}
    instances: Counter[str] = Counter()
    leaves: Counter[str] = Counter()

    def add(module: str, times: int) -> None:
        size = by_module.setdefault(base(module), dict.fromkeys(KINDS, 0))
        instances[base(module)] += times
        for cell, n in cells[module].items():
            if cell in cells:
                add(cell, times * n)
                continue
            leaves[cell] += times * n
            for kind, pattern in KINDS.items():
                if re.fullmatch(pattern, cell):
                    size[kind] += times * n * WEIGHTS.get(cell, 1)

    add(next(m for m in cells if base(m) == top), 1)
    return by_module, instances, leaves


def row(label: str, size: Size) -> str:
    return f"{label:<24}" + "".join(f"{size[kind]:>10,.0f}" for kind in KINDS)


def changed(total: Size, record: str) -> list[str]:
    """Totals that are too far from the recorded ones."""
    with open(record, encoding="utf-8") as file:
        known = json.load(file)
    return [
        f"{kind} {total[kind]:,.0f}, recorded {known[kind]:,.0f}"
        for kind in KINDS
        if abs(total[kind] - known[kind]) > TOLERANCE * max(known[kind], 10)
    ]


def main() -> int:
    update, modules = (flag in sys.argv for flag in ("--update", "--modules"))
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--update", "--modules")]
    if len(arguments) != 4 or (update and modules):
        print(__doc__, file=sys.stderr)
        return 2
    file_list, top, log, record = arguments

    # Yosys writes errors to stderr, and thousands of other lines to stdout.
    os.makedirs(os.path.dirname(log) or ".", exist_ok=True)
    stdout = os.dup(1)
    os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644), 1)
    with open(file_list, encoding="utf-8") as file:
        sources = {os.path.splitext(os.path.basename(line.strip()))[0] for line in file}
    by_module, instances, leaves = sizes(synthesise(file_list, top, modules), top, sources)
    os.dup2(stdout, 1)

    total = {kind: sum(size[kind] for size in by_module.values()) for kind in KINDS}
    if not total["LUT"]:
        print("synth: nothing is left after synthesis", file=sys.stderr)
        return 1
    print(f"{'module (instances)' if modules else '':<24}" + "".join(f"{kind:>10}" for kind in KINDS))
    for module, size in sorted(by_module.items(), key=lambda item: -item[1]["LUT"]):
        if modules:
            print(row(f"{module} ({instances[module]})", size))
    print(row("one kernel", total))
    print()
    for board, budget in BUDGETS.items():
        shares = {kind: total[kind] / available for kind, available in zip(KINDS, budget, strict=True)}
        note = f"  above {LIMIT:.0%}" if max(shares.values()) > LIMIT else ""
        print(f"{board:<24}" + "".join(f"{shares[kind]:>10.1%}" for kind in KINDS) + note)

    latches = {cell: n for cell, n in leaves.items() if re.fullmatch(LATCH, cell)}
    if latches:
        print(f"synth: latches found: {latches}", file=sys.stderr)
        return 1
    print("synth: no latches")
    if update:
        with open(record, "w", encoding="utf-8") as file:
            json.dump(total, file, indent=1)
            file.write("\n")
    elif not modules and (differences := changed(total, record)):
        print(f"synth: the size has changed by more than {TOLERANCE:.0%}: {'; '.join(differences)}", file=sys.stderr)
        print("synth: if it should, record it with ./just synth --update", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
