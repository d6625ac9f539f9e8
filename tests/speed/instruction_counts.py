#!/usr/bin/env python3
"""The guard of speed: machine instructions in the steps of ten short runs, counted by valgrind's callgrind, against the table
beside this file. A count does not depend on the machine's load, so that a slowdown of a few per cent is seen anywhere; it does
depend on the compiler, so that the table is for one compiler and instruction set, as the golden hashes are.

Usage: instruction_counts.py BINARY BUILD [--renew] [SCENE...]
BUILD names compiler and instruction set (x86-64-v3/gcc-12). A run that takes more instructions than the table allows is a failure;
one that takes fewer is mentioned. tools/renew_instruction_counts renews the table.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "instruction_counts.txt"
SCENES = HERE.parents[1] / "scenes"
SKIPPED = 77
# Everything that belongs to a step and nothing else: reading the scene and writing the report are not counted.
COUNTED = "slipstick::Simulation::Impl::step()*"

# name: arguments, per cent that a count may grow. What is chaotic (blows) takes other ways whenever a bit changes.
RUNS = {
    "stack-40": (["stack.yaml", "--set", "n=40", "--duration", "1"], 3),
    "heavy": (["heavy_stack.yaml", "--duration", "3"], 3),
    "chain": (["chain.yaml", "--duration", "1.5"], 3),
    "cannonball": (["cannonball.yaml", "--duration", "5"], 3),
    "wheel_loader": (["wheel_loader.yaml", "--duration", "1"], 3),
    "wall": (["wall.yaml", "--duration", "0.1"], 3),
    "wall-struck": (["wall.yaml", "--set", "hit=0", "--effort", "balanced", "--duration", "0.05"], 10),
    "logs": (["logs.yaml", "--effort", "balanced", "--duration", "0.3"], 10),
    "heap-300": (["heap.yaml", "--set", "n=300", "--effort", "balanced", "--duration", "0.25"], 5),
    "rock_pile": (["rock_pile.yaml", "--effort", "balanced", "--duration", "0.4"], 10),
}


def count(binary: str, name: str) -> int:
    """Instructions in the steps of a run."""
    arguments, _ = RUNS[name]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={COUNTED}", binary, "run",
               str(SCENES / arguments[0]), *arguments[1:], "--quiet", "--threads", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        raise RuntimeError(f"{name}: exit code {run.returncode}\n{run.stderr}")
    if int(found.group(1)) == 0:
        raise RuntimeError(f"{name}: no instruction counted: is {COUNTED} still the function that makes a step? (see {__file__})")
    return int(found.group(1))


def read_table(build: str) -> dict[str, int]:
    table = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        words = line.split()
        if words and words[0] == build:
            table[words[1]] = int(words[2])
    return table


def write_table(build: str, counts: dict[str, int]) -> None:
    old = TABLE.read_text().splitlines() if TABLE.exists() else []
    others = [line for line in old if line and not line.startswith("#") and line.split()[0] != build]
    lines = ["# instruction set and compiler, run, instructions in its steps; made by tools/renew_instruction_counts"]
    lines += others + [f"{build} {name} {value}" for name, value in counts.items()]
    TABLE.write_text("\n".join(lines) + "\n")


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--renew"]
    renew = "--renew" in sys.argv
    binary, build, names = words[0], words[1], words[2:] or list(RUNS)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing was counted")
        return SKIPPED
    known = read_table(build)
    if not known and not renew:
        print(f"no counts for {build}; tools/renew_instruction_counts makes them")
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        counts = dict(zip(names, pool.map(lambda name: count(binary, name), names)))
    slower = []
    print(f"{'run':14}{'now':>14}{'table':>14}{'change':>9}")
    for name, value in counts.items():
        change = 100 * (value / known[name] - 1) if name in known else 0
        word = "new" if name not in known else "SLOWER" if change > RUNS[name][1] else "quicker" if change < -RUNS[name][1] else ""
        print(f"{name:14}{value:14}{known.get(name, 0):14}{change:+8.1f}% {word}")
        if word == "SLOWER" or (word == "new" and not renew):
            slower.append(name)
    if renew:
        write_table(build, {**known, **counts})
        return 0
    if slower:
        print(f"More work than before in: {', '.join(slower)}. If it is worth it, say why and run tools/renew_instruction_counts;\n"
              "otherwise valgrind --tool=callgrind and callgrind_annotate show where it goes.")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
