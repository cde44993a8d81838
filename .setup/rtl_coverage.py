"""Line coverage of the RTL from the files that simulated kernels have left: a table by module, and every line not reached.

usage: rtl_coverage.py FOLDER RTL-FOLDER

A line is reached if any kernel, of any size, has reached it. A line may be
explained in RTL-FOLDER/uncovered.txt: `module.sv: text of the line: reason`.
The exit code is 1 if less than LEAST of the lines are reached, or if a line is
neither reached nor explained.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

LEAST = 0.98


def lines_of(text: str, line: int) -> list[int]:
    """The lines that a point stands for: "12-14,16"; its own if it names none."""
    if not text:
        return [line]
    spans = (part.split("-") for part in text.split(","))
    return [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)]


def counts(folder: Path) -> dict[str, Counter[int]]:
    """How often each line was reached, by file."""
    reached: dict[str, Counter[int]] = defaultdict(Counter)
    for path in sorted(folder.glob("*.dat")):
        for point in re.finditer(r"^C '(.*)' (\d+)$", path.read_text(encoding="utf-8"), re.M):
            fields = dict(f.split("\x02", 1) for f in point[1].split("\x01") if "\x02" in f)
            if not fields.get("page", "").startswith(("v_line", "v_branch")):
                continue
            file = reached[Path(fields["f"]).name]
            for line in lines_of(fields.get("S", ""), int(fields["l"])):
                file[line] += int(point[2])
    return reached


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder, rtl = Path(sys.argv[1]), Path(sys.argv[2])
    reached = counts(folder)
    if not reached:
        print(f"rtl-coverage: no coverage in {folder}", file=sys.stderr)
        return 1
    notes = rtl / "uncovered.txt"
    explained = set()
    if notes.exists():
        for note in notes.read_text(encoding="utf-8").splitlines():
            if note and not note.startswith("#"):
                module, rest = note.split(": ", 1)
                text, _reason = rest.rsplit(": ", 1)
                explained.add((module, text))

    total = hit = 0
    unexplained = []
    for module, lines in sorted(reached.items()):
        source = (rtl / module).read_text(encoding="utf-8").splitlines()
        missed = [line for line, n in sorted(lines.items()) if n == 0]
        total += len(lines)
        hit += len(lines) - len(missed)
        print(f"{module:<24}{len(lines) - len(missed):>6} of{len(lines):>5} lines")
        for line in missed:
            text = source[line - 1].strip()
            known = (module, text) in explained
            print(f"    {line}: {text}{'  (explained)' if known else ''}")
            if not known:
                unexplained.append(f"{module}:{line}")
    print(f"rtl-coverage: {hit} of {total} lines, {hit / total:.2%}")
    if hit < LEAST * total:
        print(f"rtl-coverage: that is less than {LEAST:.0%}", file=sys.stderr)
        return 1
    if unexplained:
        print(f"rtl-coverage: neither reached nor explained: {', '.join(unexplained)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
