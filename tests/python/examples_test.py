"""Every example of the Python package runs, holds what it asserts, and draws its picture."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(os.environ["SLIPSTICK_SOURCE"]) / "python" / "examples"


class Examples(unittest.TestCase):
    def test_run(self):
        paths = sorted(EXAMPLES.glob("*.py"))
        self.assertGreaterEqual(len(paths), 8)
        with tempfile.TemporaryDirectory() as folder:
            for path in paths:
                with self.subTest(path.name):
                    done = subprocess.run([sys.executable, str(path), folder], cwd=folder, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertNotEqual(done.stdout, "")
                    if "savefig" in path.read_text() or "path=" in path.read_text():
                        self.assertGreater((pathlib.Path(folder) / f"{path.stem}.png").stat().st_size, 5000)

    def test_lqr_is_short(self):
        self.assertLess(len((EXAMPLES / "double_pendulum_cart.py").read_text().splitlines()), 60)


if __name__ == "__main__":
    unittest.main()
