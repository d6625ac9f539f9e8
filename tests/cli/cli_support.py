"""Shared by the tests of the command line: runs the binary in a folder of its own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "slipstick"
SCENES = pathlib.Path(__file__).resolve().parent.parent.parent / "scenes"

GOOD = """slipstick: 1
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {duration: 0.5, step: 1/100}
"""


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text, name="scene.yaml"):
        (self.folder / name).write_text(text)
        return name

    def call(self, *arguments, **options):
        return subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, check=False, **options)

    def report(self, *arguments):
        done = self.call("run", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())
