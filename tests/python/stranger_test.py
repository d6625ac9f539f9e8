"""The Python package as a stranger meets it: ./slipstick python, and pip into a fresh venv."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SLIPSTICK_SOURCE"])
BUILD = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0]).parent
CLEAN = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SLIPSTICK_SCENES")}
SCRIPT = """
import sys
import slipstick as ss
b = ss.Builder("drop")
b.ground()
b.body("ball", mass=1, position=(0, 0, 1), shapes=[ss.sphere(0.1)])
sim = ss.Simulation(b.compile())
sim.run(1)
print(sys.argv[1:], ss.__file__, round(sim.body("ball").position[2], 6))
print([line.split()[-1] for line in open("/proc/self/maps") if "slipstick" in line])
"""


@unittest.skipUnless(BUILD == SOURCE / "build" / "release", "both would build build/release anew")
class Stranger(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "script.py").write_text(SCRIPT)

    def call(self, *command, text=""):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=CLEAN, input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_launcher(self):
        start = SOURCE / "slipstick"
        self.assertIn("['one', 'two three']", self.call(start, "python", "script.py", "one", "two three"))
        self.assertIn("a prompt 7", self.call(start, "python", text="import slipstick\nprint('a prompt', 3 + 4)\n"))
        self.assertIn("class Motor", self.call(start, "python", "-m", "pydoc", "slipstick.Motor"))
        self.assertIn("stack", self.call(start, "python", "-c", "import os, slipstick as ss; "
                                         "print(ss.load(os.environ['SLIPSTICK_SCENES'] + '/stack.yaml').name)"))

    def test_pip(self):
        self.call(sys.executable, "-m", "venv", "--system-site-packages", "venv")
        self.call("venv/bin/pip", "install", "--no-build-isolation", "--no-deps", SOURCE)
        text = self.call("venv/bin/python", "script.py")
        self.assertIn("0.1", text.splitlines()[0])
        self.assertNotIn(str(SOURCE), text)  # nothing of the source tree is in use
        self.assertIn(str(self.folder / "venv"), text.splitlines()[1])


if __name__ == "__main__":
    unittest.main()
