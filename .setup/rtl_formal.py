"""Proofs about modules of the RTL with Yosys: by induction, for runs of any length.

usage: rtl_formal.py RTL-FOLDER PROOF-FOLDER LOG-FOLDER

A proof is a file NAME_formal.sv with a module of that name, which has
assertions. Its first comment says what it proves (`// Proves: ...`). Lines
`// Fails with FILE: OLD -> NEW` name mistakes that it has to find: the RTL is
changed like that in a copy, and a counterexample that starts with the reset
must exist. The exit code is 1 if a proof fails, or if one does not find such a
mistake.
"""

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# Cycles of a run in which a mistake has to show, and within which a proof has to become inductive.
CYCLES = 16
JOBS = 2


@dataclass
class Proof:
    name: str
    source: Path
    claim: str
    mistakes: list[tuple[str, str, str]] = field(default_factory=list)  # file, old, new


def proof_of(source: Path) -> Proof:
    text = source.read_text(encoding="utf-8")
    claim = re.search(r"\A// Proves: ((?:.*\n// (?!Fails with ))*.*)", text)
    if not claim:
        sys.exit(f"formal: {source} does not say what it proves")
    proof = Proof(source.stem, source, claim[1].replace("\n// ", " "))
    for file, old, new in re.findall(r"^// Fails with (\S+): (.*) -> (.*)$", text, re.M):
        proof.mistakes.append((file, old, new))
    return proof


def solve(rtl: Path, proof: Path, find_mistake: bool) -> None:
    """Runs Yosys, which ends the process with an error if the outcome is not the one that is asked for."""
    from pyosys import libyosys as yosys

    design = yosys.Design()
    top = proof.stem
    goal = f"-tempinduct-baseonly -maxsteps {CYCLES} -falsify" if find_mistake else f"-tempinduct -maxsteps {CYCLES} -verify"
    for command in (
        f"read_slang --threads 1 -DSYNTHESIS -I {rtl} --top {top} -F {rtl / 'files.f'} {proof.parent / 'watched_item.sv'} {proof}",
        f"prep -flatten -top {top}",
        "async2sync",
        "chformal -lower",
        "memory_map",
        "opt -full",
        # The first cycle is one of reset, in whatever state the registers are.
        f"sat -prove-asserts -set-assumes -seq 1 -set-at 1 rst_ni 0 {goal} -show-ports",
    ):
        yosys.run_pass(command, design)
    yosys.log_flush()


def with_mistake(rtl: Path, copy: Path, mistake: tuple[str, str, str]) -> None:
    """The RTL in another folder, with a mistake in it."""
    name, old, new = mistake
    copy.mkdir(parents=True, exist_ok=True)
    for file in rtl.iterdir():
        text = file.read_text(encoding="utf-8")
        if file.name == name:
            if text.count(old) != 1:
                sys.exit(f"formal: {name} has {text.count(old)} times, not once: {old}")
            text = text.replace(old, new)
        (copy / file.name).write_text(text, encoding="utf-8")


def main() -> int:
    if sys.argv[1:2] == ["--solve"]:
        rtl, proof, find_mistake = sys.argv[2:]
        solve(Path(rtl), Path(proof), find_mistake == "mistake")
        return 0
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    rtl, proofs, logs = map(Path, sys.argv[1:])
    logs.mkdir(parents=True, exist_ok=True)

    def run(sources: Path, proof: Proof, goal: str, log: Path) -> bool:
        arguments = [sys.executable, __file__, "--solve", str(sources), str(proof.source), goal]
        with log.open("w", encoding="utf-8") as file:
            return subprocess.run(arguments, stdout=file, stderr=subprocess.STDOUT, check=False).returncode == 0

    def prove(proof: Proof) -> tuple[bool, float]:
        begin = time.monotonic()
        return run(rtl, proof, "proof", logs / f"{proof.name}.log"), time.monotonic() - begin

    def find(proof: Proof, number: int) -> bool:
        copy = logs / f"{proof.name}.{number}"
        with_mistake(rtl, copy, proof.mistakes[number])
        return run(copy, proof, "mistake", logs / f"{proof.name}.{number}.log")

    failed = False
    with ThreadPoolExecutor(JOBS) as pool:
        all_proofs = [proof_of(source) for source in sorted(proofs.glob("*_formal.sv"))]
        started = [
            (proof, pool.submit(prove, proof), [pool.submit(find, proof, n) for n in range(len(proof.mistakes))])
            for proof in all_proofs
        ]
        for proof, proven, found in started:
            holds, seconds = proven.result()
            print(f"{'proved' if holds else 'NOT PROVED'} in {seconds:.0f} s: {proof.claim}")
            missed = [mistake for mistake, finds in zip(proof.mistakes, found, strict=True) if not finds.result()]
            for file, old, new in missed:
                print(f"    NOT FOUND in {file}: {old} -> {new}")
            print(f"    {len(proof.mistakes) - len(missed)} of {len(proof.mistakes)} mistakes put in are found")
            if not holds or missed or not proof.mistakes:
                failed = True
    if failed or not all_proofs:
        print(f"formal: failed; what Yosys says is in {logs}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
