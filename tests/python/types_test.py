"""The Python package: types and docstrings."""
import ast
import inspect
import os
import pathlib
import subprocess
import sys
import unittest

import slipstick as ss
from slipstick import _engine

SOURCE = pathlib.Path(os.environ["SLIPSTICK_SOURCE"])
PACKAGE = pathlib.Path(ss.__file__).parent


class Types(unittest.TestCase):
    def test_stub_is_the_module(self):
        tree = ast.parse((PACKAGE / "_engine.pyi").read_text())
        stub = {n.name: {m.name for m in n.body if isinstance(m, ast.FunctionDef)} if isinstance(n, ast.ClassDef) else None
                for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        real = {name: {m for m in vars(value) if not m.startswith("_")} if isinstance(value, type) else None
                for name, value in vars(_engine).items() if not name.startswith("_")}
        self.assertEqual(set(stub), set(real))
        for name, members in real.items():
            if members is not None:
                self.assertEqual({m for m in stub[name] if not m.startswith("_")}, members, name)

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
        for type_ in (ss.Simulation, ss.Scene, ss.Builder, ss.Recording, ss.Motor, ss.Joint, ss.Body):
            for name, member in inspect.getmembers(type_):
                if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    self.assertTrue(member.__doc__, f"{type_.__name__}.{name}")

    def test_help(self):
        text = subprocess.run([sys.executable, "-c", "import slipstick as ss; help(ss.Simulation)"], capture_output=True, text=True).stdout
        self.assertRegex(text, r"step\(self, n: '?int'? = 1\)")
        self.assertIn("A scene in motion", text)


if __name__ == "__main__":
    unittest.main()
