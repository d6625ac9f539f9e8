#!/usr/bin/env python3
"""What a step costs in the scenes for which bars were set, as one table; with another build in turn.

    tools/bench bars [NAME ...] [--against PROGRAM] [--rounds N] [--threads N]

Times are ms per step of the run's own report (mean, median, worst), least mean of the rounds. Compare only within one
run on a machine with nothing else to do. With --against the other program (an older build) runs each scene in turn with
this one, and the last column is this mean over that one.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name: scene, options, what was asked for.
BARS = {
    "wall-rest": ("wall", ["--set", "hit=100", "--duration", "2"], "median 2"),
    "wall-struck": ("wall", [], "mean 20, worst 200; map 1e-4; 2 mm, 0.1 mm at the end"),
    "wall-swift": ("wall", ["--effort", "swift"], "mean 4; 2 mm"),
    "logs": ("logs", ["--set", "n=100", "--duration", "6"], "mean 10, worst 100"),
    "heap-27": ("heap", ["--set", "n=27", "--duration", "3"], ""),
    "heap-100": ("heap", ["--set", "n=100", "--duration", "3"], "mean 2; 1 mm"),
    "heap-300": ("heap", ["--set", "n=300", "--duration", "3"], "1 mm"),
    "heap-1000": ("heap", ["--set", "n=1000", "--duration", "3"], "mean 12; 1 mm"),
    "heap-3000": ("heap", ["--set", "n=3000", "--duration", "1.5"], "1 mm"),
    "heap-1000-swift": ("heap", ["--set", "n=1000", "--duration", "3", "--effort", "swift"], "mean 3"),
    "heap-5000-swift": ("heap", ["--set", "n=5000", "--duration", "1", "--effort", "swift"], "two threads 1.5 times"),
    "heap-10000-swift": ("heap", ["--set", "n=10000", "--duration", "0.5", "--effort", "swift"], "mean 40; 1.5 kB a body"),
    "heap-100000-swift": ("heap", ["--set", "n=100000", "--duration", "0.25", "--effort", "swift", "--max-bodies", "200000"],
                          "mean 700; 1.5 kB a body"),
    "rock_pile": ("rock_pile", ["--set", "n=1000", "--duration", "2"], "mean 60; 1 mm"),
    "wheel_loader": ("wheel_loader", ["--duration", "10"], "mean 2.67; certified"),
    "chain": ("chain", ["--duration", "3"], "mean 0.15"),
    "stack-40": ("stack", ["--set", "n=40"], "median 0.10"),
    "heavy": ("heavy_stack", [], "median 0.015"),
    "cannonball": ("cannonball", ["--duration", "10"], "mean 0.10"),
    "cannonball-rest": ("cannonball", ["--duration", "40"], "median 0.10"),
    "castle": ("castle", ["--duration", "0.7"], "worst 2000; map 1e-4"),
}


def run(program, name, threads):
    """The report of one run in a process of its own."""
    scene, options, _ = BARS[name]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [str(program), "run", str(ROOT / "scenes" / f"{scene}.yaml"), "-q", "--threads", str(threads),
                   "--report", str(report), *options]
        child = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if not report.exists():
            sys.exit(f"bars: {' '.join(command)} ended with {child.returncode}: {child.stderr.strip()}")
        return json.loads(report.read_text())


def best(runs):
    return min(runs, key=lambda report: report["ms_per_step"]["mean"])


def line(name, runs, others):
    report = best(runs)
    ms, certificate = report["ms_per_step"], report["certificate"]
    cells = [f"`{name}`", f"{ms['mean']:.3g}, {ms['median']:.3g}, {ms['max']:.3g}",
             f"{certificate['penetration_max'] * 1e3:.2g}, {certificate['penetration_final'] * 1e3:.2g}",
             f"{certificate['relative_max']:.1e}", f"{report['steps'] - certificate['uncertified_steps']}/{report['steps']}",
             f"{report.get('memory_mb', 0):.0f}", BARS[name][2]]
    if others:
        other = best(others)
        cells.append(f"{other['ms_per_step']['mean']:.3g}")
        cells.append(f"{ms['mean'] / other['ms_per_step']['mean']:.2f}")
        cells.append("same" if other["state_hash"] == report["state_hash"] else "other")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(prog="tools/bench bars", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows: " + ", ".join(BARS))
    parser.add_argument("--slipstick", default=ROOT / "build/release/slipstick", help=argparse.SUPPRESS)
    parser.add_argument("--against", metavar="PROGRAM", help="another build, in turn with this one")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="so many times in turn; the quickest counts")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BARS]
    if unknown:
        parser.error(f"no row {unknown[0]!r}; there are {', '.join(BARS)}")
    head = ["scene", "ms a step: mean, median, worst", "overlap mm: worst, end", "worst map", "certified", "MB", "asked for"]
    if options.against:
        head += ["other: mean", "ratio", "bits"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for name in options.names or BARS:
        runs, others = [], []
        for _ in range(options.rounds):
            runs.append(run(options.slipstick, name, options.threads))
            if options.against:
                others.append(run(options.against, name, options.threads))
        print(line(name, runs, others), flush=True)


if __name__ == "__main__":
    main()
