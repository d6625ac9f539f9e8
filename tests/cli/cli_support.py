"""Shared by the tests of the command line: runs the binary in a folder of its own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import h5py

BINARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "slipstick"
SCENES = pathlib.Path(__file__).resolve().parent.parent.parent / "scenes"

GOOD = """slipstick: 1
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {duration: 0.5, step: 1/100}
"""

PATIENCE = 300  # s: how long a test waits for what must come. No test asserts how soon it comes: machines are loaded.


def wait_until(condition, what, process=None):
    """Waits for `condition`; a failed test if `process` ends before, or if it never comes."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if process is not None and process.poll() is not None and not condition():
            raise AssertionError(f"the program ended with {process.returncode} before {what}")
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE} s still not: {what}")
        time.sleep(0.02)


def frames_of(path):
    """How many frames a reader finds at this instant in a recording that is being written; 0 while there is none to be read."""
    if not os.path.exists(path):
        return 0
    try:
        with h5py.File(path, "r") as file:
            return len(file["time"])
    except (OSError, KeyError):  # a look in the middle of a write
        return 0


def catches(process, *numbers):
    """True once the program has its own handlers for these signals: before that they would just end it."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return all(caught >> (number - 1) & 1 for number in numbers)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text, name="scene.yaml"):
        (self.folder / name).write_text(text)
        return name

    def call(self, *arguments, **options):
        return subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=900, check=False, **options)

    def report(self, *arguments):
        done = self.call("run", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())
