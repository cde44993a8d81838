"""Coverage of the RTL from the files that simulated kernels and benches have left: lines and cover points by module.

usage: rtl_coverage.py FOLDER RTL-FOLDER

A line, or a cover point (`COVER), is reached if any kernel or bench, of any
size, has reached it. One that is not may be explained in
RTL-FOLDER/uncovered.txt: `module.sv: text of the line: reason`. The exit code
is 1 if less than LEAST of the lines are reached, or if a line or a point is
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


def counts(folder: Path) -> tuple[dict[str, Counter[int]], dict[str, Counter[tuple[str, int]]]]:
    """How often each line was reached, and each cover point (its name and line), by file."""
    lines: dict[str, Counter[int]] = defaultdict(Counter)
    points: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for path in sorted(folder.glob("*.dat")):
        for point in re.finditer(r"^C '(.*)' (\d+)$", path.read_text(encoding="utf-8"), re.M):
            fields = dict(f.split("\x02", 1) for f in point[1].split("\x01") if "\x02" in f)
            file, page, n = Path(fields["f"]).name, fields.get("page", ""), int(point[2])
            if page.startswith("v_user"):
                points[file][fields["o"], int(fields["l"])] += n
            elif page.startswith(("v_line", "v_branch")):
                for line in lines_of(fields.get("S", ""), int(fields["l"])):
                    lines[file][line] += n
    return lines, points


def explanations(notes: Path) -> set[tuple[str, str]]:
    """Module and text of the lines that no test needs to reach."""
    explained = set()
    if notes.exists():
        for note in notes.read_text(encoding="utf-8").splitlines():
            if note and not note.startswith("#"):
                module, rest = note.split(": ", 1)
                text, _reason = rest.rsplit(": ", 1)
                explained.add((module, text))
    return explained


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder, rtl = Path(sys.argv[1]), Path(sys.argv[2])
    lines, points = counts(folder)
    if not lines or not points:
        print(f"rtl-coverage: no coverage in {folder}", file=sys.stderr)
        return 1
    explained = explanations(rtl / "uncovered.txt")

    lines_hit = lines_total = points_hit = points_total = 0
    unexplained = []
    # Benches are not what is measured.
    for module in sorted(path.name for path in rtl.glob("*.sv") if path.name in lines or path.name in points):
        source = (rtl / module).read_text(encoding="utf-8").splitlines()

        def report(line: int, what: str) -> None:
            known = (module, source[line - 1].strip()) in explained
            print(f"    {line}: {what}{'  (explained)' if known else ''}")
            if not known:
                unexplained.append(f"{module}:{line}")

        missed = [line for line, n in sorted(lines[module].items()) if n == 0]
        lines_total += len(lines[module])
        lines_hit += len(lines[module]) - len(missed)
        print(f"{module:<24}{len(lines[module]) - len(missed):>6} of{len(lines[module]):>5} lines")
        for line in missed:
            report(line, source[line - 1].strip())
        for (name, line), n in sorted(points[module].items(), key=lambda point: point[0][1]):
            points_total += 1
            if n:
                points_hit += 1
                print(f"    {name}: {n:,} times")
            else:
                report(line, f"{name}: never")
    print(f"rtl-coverage: {lines_hit} of {lines_total} lines, {lines_hit / lines_total:.2%}")
    print(f"rtl-coverage: {points_hit} of {points_total} cover points")
    if lines_hit < LEAST * lines_total:
        print(f"rtl-coverage: that is less than {LEAST:.0%} of the lines", file=sys.stderr)
        return 1
    if unexplained:
        print(f"rtl-coverage: neither reached nor explained: {', '.join(unexplained)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
