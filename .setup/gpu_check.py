#!/usr/bin/env -S python3 -I
"""Checks on a machine with an NVIDIA GPU what no other machine can check.

    .setup/gpu_check.py                  build, check, tell; exit code 1 if a check fails, 2 if nothing can be built
    .setup/gpu_check.py --build FOLDER   only build, and put the programs into FOLDER
    .setup/gpu_check.py --built FOLDER   check with those programs, on a machine without Rust or network

It takes less than five minutes once dependencies are downloaded. Without a GPU it says so and ends with exit code 0.
It needs NVIDIA's driver; NVRTC and libtorch 2.11.0 with CUDA, which .setup/libtorch.sh --cuda finds in python3's torch or
installs; and to build, Rust and g++.
"""

import argparse
import array
import csv
import ctypes
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBTORCH = str(ROOT / ".setup" / "libtorch.sh")
# Where recipes write: see environment.sh.
HOME = pathlib.Path(os.environ.get("TRISAGE_HOME") or ROOT).absolute()
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or HOME / "target").absolute()
LIMIT = 290  # seconds for all checks
# Test programs, and the folders of their packages, in which they run.
TESTS = {"accelerators": "trainer/pipeline", "cuda": "trainer/cli", "sage": "trainer/learn"}
# How far a loss may be from the processor's, as a part of it: sums have another order on a GPU.
TOLERANCE = 1e-3


def gpu():
    """What the driver says of GPU 0; a string says why there is none."""
    for name in ["libcuda.so.1", "libcuda.so"]:
        try:
            driver = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return "the library of NVIDIA's driver, libcuda.so, cannot be loaded"
    count, version, text = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    if status := driver.cuInit(0):
        return f"the driver does not start (CUDA error {status})"
    if driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return "the driver counts no GPU"
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGetName(text, len(text), 0)
    module = pathlib.Path("/sys/module/nvidia/version")
    return {
        "name": text.value.decode(),
        "driver": module.read_text().strip() if module.exists() else "of unknown release",
        "cuda": f"{version.value // 1000}.{version.value % 1000 // 10}",
    }


class Failed(Exception):
    """A check has failed: the sentence says how."""


class NotHere(Exception):
    """A check cannot be done on this machine: the sentence says why."""


def need(holds, sentence):
    if not holds:
        raise Failed(sentence)


class Checks:
    def __init__(self, folder):
        self.folder, self.begin, self.failed, self.passed = folder, time.monotonic(), [], 0

    def run(self, command, expected=0, **options):
        """Runs a command; returns what it has written to stdout and stderr."""
        left = LIMIT - (time.monotonic() - self.begin)
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=max(left, 1), **options)
        except OSError as error:
            raise Failed(f"{command[0]} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"it was not done when the {LIMIT} seconds were over: {' '.join(map(str, command))}") from None
        if done.returncode != expected:
            said = (done.stdout + done.stderr).strip().splitlines()[-12:]
            raise Failed(f"exit code {done.returncode}, not {expected}: {' '.join(map(str, command))}\n    " + "\n    ".join(said))
        return done.stdout, done.stderr

    def trisage(self, line, expected=0):
        return self.run([self.folder / "trisage", *line.split()], expected, cwd=ROOT)

    def check(self, name, f):
        begin = time.monotonic()
        try:
            verdict, told = "PASS", f()
            self.passed += 1
        except NotHere as reason:
            verdict, told = "n/a ", reason
        except Failed as reason:
            verdict, told = "FAIL", reason
            self.failed.append(name)
        print(f"{verdict}  {name} ({time.monotonic() - begin:.1f} s): {told}", flush=True)
        return verdict == "PASS"


def refuse(sentence):
    """Ends this program, as nothing can be checked."""
    print(f"gpu-check: {sentence}", file=sys.stderr)
    sys.exit(2)


def build(folder):
    """Builds the programs, and copies them into the folder."""
    libtorch = subprocess.run([LIBTORCH, "--cuda", "true"]).returncode == 0
    if not libtorch:
        print("gpu-check: going on without libtorch, so that what trains will fail", flush=True)
    tests = [test for test in TESTS if libtorch or test != "sage"]
    line = ["cargo", "test", "--quiet", "--no-run", "--message-format", "json"]
    line += [word for package in ["trisage", "pipeline", *["learn"] * libtorch] for word in ["-p", package]]
    line += ["--features", "trisage/torch,trisage/cuda" if libtorch else "trisage/cuda", "--bin", "trisage"]
    line = [LIBTORCH, "--cuda"] * libtorch + line + [word for test in tests for word in ["--test", test]]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    print("building (once; some minutes the first time)", flush=True)
    try:
        done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    except OSError as error:
        refuse(f"{line[0]} cannot be run: {error.strerror}")
    if done.returncode != 0:
        refuse("the build has failed (see above)")
    # Whatever else the folder holds stays; but a program of an earlier build is not to be taken for one of this.
    programs = {}
    for message in map(json.loads, filter(None, done.stdout.splitlines())):
        target = message.get("target", {})
        # The command's own unit tests have its name too.
        tests_itself = message.get("profile", {}).get("test") and target.get("kind") == ["bin"]
        if message.get("executable") and not tests_itself:
            programs[target["name"]] = message["executable"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ["trisage", *TESTS]:
            (folder / name).unlink(missing_ok=True)
            if name in programs:
                shutil.copy(programs[name], folder / name)
                if shutil.which("strip"):
                    subprocess.run(["strip", "--strip-debug", folder / name], check=False)
    except OSError as error:
        refuse(f"the programs cannot be put into {folder}: {error.strerror}")


def find_libtorch():
    """Has all programs find what libtorch.sh finds."""
    found = subprocess.run([LIBTORCH, "--built", "env", "-0"], stdout=subprocess.PIPE, text=True)
    if found.returncode == 0:
        os.environ.update(entry.split("=", 1) for entry in found.stdout.split("\0") if "=" in entry)


def suite(checks, program, selection):
    """All tests of a program that have one of these in their name; none may be skipped as there were no GPU."""
    out, err = checks.run([checks.folder / program, "--nocapture", "--test-threads", "4", *selection], cwd=ROOT / TESTS[program])
    skipped = [line for line in err.splitlines() if line.startswith("skipped")]
    absent = [line for line in skipped if "there is no CUDA" in line]
    need(not absent, absent and absent[0])
    count = next(line for line in out.splitlines() if line.startswith("test result: ")).split()[3]
    need(int(count) > 0, "there are no tests of that name")
    return "; ".join([f"{count} tests", *sorted(set(skipped))])


def verify(checks, sink):
    line = f"verify --graph tests/data/cora --fanouts 10,10,10 --iterations 12 --accelerator cuda:0 --sink {sink}"
    try:
        out, _ = checks.trisage(line)
    except Failed as failure:
        if "is not possible here: " in str(failure):
            raise NotHere(str(failure).split("is not possible here: ")[1].splitlines()[0]) from None
        raise
    need("EQUAL" in out, "it does not say EQUAL")
    return out.strip().splitlines()[-1]


def fault(checks, name):
    line = f"verify --graph tests/data/cora --fanouts 10,10,10 --iterations 12 --accelerator cuda:0 --inject {name}@7:1"
    out, _ = checks.trisage(line, expected=1)
    need("iteration 7" in out and "SLR1" in out, f"it is found, but not in iteration 7 on SLR1:\n{out}")
    return "found in iteration 7 on SLR1"


def overlap(checks):
    graph = "gen:power-law:shape=products,scale=1/64,seed=1"
    out, _ = checks.trisage(f"bench overlap --graph {graph} --accelerator cuda:0 --slots 8 --iterations 50 --json")
    result = json.loads(out)
    told = f"{result['accelerator']}: {result['speedup']:.2f} times as fast as one after the other, {result['overlap']}"
    need(result["speedup"] > 1.2, f"too slow: {told}")
    return told


def npy(path, kind, shape, values):
    """Writes an array: the format is in NEP 1."""
    header = str({"descr": kind, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())


def data_set(folder):
    """Cora's graph, with random features, and labels that can be learnt from them."""
    for name in ["indptr.npy", "indices.npy"]:
        shutil.copy(ROOT / "tests" / "data" / "cora" / name, folder)
    nodes, columns, classes, source = 2708, 128, 8, random.Random(1)
    rows = [[source.random() for _ in range(columns)] for _ in range(nodes)]
    labels = [max(range(classes), key=row.__getitem__) for row in rows]
    npy(folder / "features.npy", "<f4", (nodes, columns), array.array("f", sum(rows, [])))
    npy(folder / "labels.npy", "<i8", (nodes,), array.array("q", labels))
    for name, first, last in [("train", 0, 1400), ("val", 1400, 2000), ("test", 2000, nodes)]:
        npy(folder / f"{name}_idx.npy", "<i8", (last - first,), array.array("q", range(first, last)))


def train(checks, data, device, name):
    """Losses of a short training, and what it tells of itself. Dropout draws other numbers on a GPU, so there is none."""
    out = data / name
    checks.trisage(
        f"train sage --data {data} --device {device} --out {out} --fanouts 10,10 --hidden 128 --batch-size 128 --dropout 0 "
        "--epochs 5 --transfers --json"
    )
    with open(out / "history.csv", encoding="utf-8") as lines:
        losses = [float(line["loss"]) for line in csv.DictReader(lines)]
    return losses, json.loads((out / "performance.json").read_text())


def training(checks, data):
    expected, _ = train(checks, data, "cpu", "cpu")
    found, performance = train(checks, data, "cuda:0", "cuda")
    again, _ = train(checks, data, "cuda:0", "again")
    told = f"losses on the processor {expected}, on the GPU {found}"
    apart = max(abs(a - b) / b for a, b in zip(found, expected, strict=True))
    need(apart <= TOLERANCE, f"{apart:.1e} apart, and {TOLERANCE} is allowed: {told}")
    need(expected[-1] < expected[0], f"nothing is learnt: {told}")
    need(found == again, f"two runs differ: {found}, {again}")
    down = {crossing["site"]: crossing["count"] for crossing in performance["transfers"]["crossings"] if crossing["direction"] == "down"}
    loop = {site: count for site, count in down.items() if site not in ["accuracy", "checkpoint", "the card writes the host region"]}
    need(loop == {"losses": 5}, f"the host gets more than the losses once an epoch: {down}")
    rate = performance["epochs"] / performance["pipeline"]["wall"]
    return f"{apart:.1e} apart (allowed: {TOLERANCE}), two runs equal, {rate:.1f} epochs/s; {performance['accelerator']}; {told}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--built", type=pathlib.Path, metavar="FOLDER")
    arguments = arguments.parse_args()
    if arguments.build:
        build(arguments.build)
        return
    found = gpu()
    if isinstance(found, str):
        print(f"gpu-check: skipped: {found}")
        return
    print(f"gpu-check: {found['name']}, driver {found['driver']}, CUDA {found['cuda']}", flush=True)
    folder = arguments.built
    if not folder:
        folder = TARGET / "gpu-check"
        build(folder)

    checks = Checks(folder.resolve())
    find_libtorch()
    checks.check("accelerators", lambda: suite(checks, "accelerators", ["cuda::"]))
    checks.check("GPU alone", lambda: suite(checks, "cuda", ["gpu::"]))
    sinks = [checks.check(f"verify, {sink}", lambda: verify(checks, sink)) for sink in ["dma-buf", "bar", "staged"]]
    if not any(sinks):
        checks.failed.append("verify: no way leads to the GPU")
    for name in ["flipped-bit", "skipped-write", "short-count"]:
        checks.check(f"injected {name}", lambda: fault(checks, name))
    checks.check("overlap", lambda: overlap(checks))
    checks.check("libtorch", lambda: suite(checks, "sage", ["gpu::", "accelerator::cuda::"]))
    with tempfile.TemporaryDirectory() as temporary:
        data = pathlib.Path(temporary)
        data_set(data)
        checks.check("training", lambda: training(checks, data))
    took = f"{time.monotonic() - checks.begin:.0f} s"
    if checks.failed:
        print(f"gpu-check: FAIL in {took}: {', '.join(checks.failed)}")
        sys.exit(1)
    print(f"gpu-check: PASS in {took}: {checks.passed} checks")


if __name__ == "__main__":
    main()
