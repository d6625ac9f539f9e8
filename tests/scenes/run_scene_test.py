#!/usr/bin/env python3
"""Runs one scene test: a YAML file that names a scene, its arguments and what must be true of the report.

    scene: ../../scenes/incline.yaml      # relative to the test file
    args: [--duration, "5"]               # optional
    expect:
      - abs(r.energy.final - r.energy.initial) < 1e-9
      - norm(r.final.bodies.ball.velocity) < 1e-6

`r` is the report (docs/report.md) with its fields as attributes; norm, dot, sub, column, sqrt, sin, cos, tan, atan, pi and
the built-in functions may be used. Usage: run_scene_test.py BINARY TEST.yaml
"""
import json
import math
import pathlib
import subprocess
import sys

import yaml


class View(dict):
    """A dict whose items are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the report has no '{name}' here (it has: {', '.join(self)})") from None


NAMES = {
    "norm": lambda a: math.sqrt(sum(x * x for x in a)),
    "dot": lambda a, b: sum(x * y for x, y in zip(a, b)),
    "sub": lambda a, b: [x - y for x, y in zip(a, b)],
    "column": lambda rows, k: [row[k] for row in rows],
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "atan", "pi", "exp", "log")},
}


def main() -> int:
    binary, path = sys.argv[1], pathlib.Path(sys.argv[2])
    test = yaml.safe_load(path.read_text())
    scene = (path.parent / test["scene"]).resolve()
    command = [binary, "run", str(scene), "--json", "--audit", *map(str, test.get("args", []))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != test.get("exit", 0):
        print(f"exit code {run.returncode}\n{run.stderr}")
        return 1
    report = json.loads(run.stdout, object_hook=View)
    bad = 0
    for text in test["expect"]:
        try:
            good = eval(text, {**NAMES, "r": report})  # the tests are ours
        except Exception as problem:  # noqa: BLE001: any fault is the test's failure
            good, text = False, f"{text}   ({problem})"
        bad += not good
        print(f"  {'ok    ' if good else 'FAILED'}  {text}")
    return 1 if bad or not test["expect"] else 0


if __name__ == "__main__":
    sys.exit(main())
