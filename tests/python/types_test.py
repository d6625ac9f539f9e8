"""The Python package: types and docstrings."""
import inspect
import os
import pathlib
import subprocess
import sys
import unittest

import slipstick as ss

SOURCE = pathlib.Path(os.environ["SLIPSTICK_SOURCE"])
PACKAGE = pathlib.Path(ss.__file__).parent


class Types(unittest.TestCase):
    def test_stub_is_the_module(self):
        done = subprocess.run([sys.executable, str(SOURCE / "tools/make_stubs"), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mypy_strict(self):
        examples = sorted(str(p) for p in (SOURCE / "python/examples").glob("*.py"))
        done = subprocess.run(["/usr/bin/mypy", "--strict", "--no-error-summary", "--cache-dir", os.path.join(PACKAGE.parent, "mypy_cache"),
                               str(PACKAGE), *examples],
                              capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
        ours = [line for line in done.stdout.splitlines() if "error" in line]
        self.assertEqual(ours, [], done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_docstrings(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        for name in ss.__all__:
            self.assertTrue(getattr(ss, name).__doc__, name)
        for type_ in (value for value in vars(ss).values() if isinstance(value, type)):
            for name, member in inspect.getmembers(type_):
                if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    self.assertTrue(member.__doc__, f"{type_.__name__}.{name}")

    def test_help(self):
        text = subprocess.run([sys.executable, "-c", "import slipstick as ss; help(ss.Simulation)"], capture_output=True, text=True).stdout
        self.assertRegex(text, r"step\(self, n: '?int'? = 1\)")
        self.assertIn("A scene in motion", text)


if __name__ == "__main__":
    unittest.main()
