"""No code of a folder that holds somebody's study runs: commands that start Python look for modules elsewhere."""
import os
import pathlib
import subprocess
import unittest

from cli_support import BINARY, CliTest

STUDY = """slipstick_study: 1
scene: scene.yaml
vary: {k: {from: 1, to: 2, count: 2}}
outputs: {z: "final.bodies.a.position[2]"}
fit: {columns: {z: a.z}}
"""
SCENE = """slipstick: 1
let: {k: 1}
bodies: [{name: a, mass: k, position: [0, 0, 1], shapes: [{sphere: {radius: 1}}]}]
simulation: {duration: 0.02, step: 1/100}
"""
# What the package, the libraries it stands on and Python's own start import.
MODULES = ("html", "numpy", "yaml", "csv", "json", "pickle", "matplotlib", "pandas", "h5py", "scipy", "distributed", "slipstick",
           "sitecustomize", "usercustomize", "argparse", "subprocess", "_slipstick")


class StrangeFolder(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "study.yaml").write_text(STUDY)
        (self.folder / "scene.yaml").write_text(SCENE)
        for name in MODULES:
            (self.folder / f"{name}.py").write_text(f'open("ran-{name}", "a").write("x")\nraise SystemExit("hijacked by {name}")\n')

    def start(self, *words, path=None):
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
        if path is not None:
            environment["PYTHONPATH"] = path
        done = subprocess.run([BINARY, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual([p.name for p in pathlib.Path(self.folder).glob("ran-*")], [], (words, path))
        self.assertNotIn("hijacked", done.stderr + done.stdout, (words, path))
        return done

    def test_no_module_of_the_folder_is_imported(self):
        for path in (None, "", ":", f":{self.folder / 'nowhere'}", f"{self.folder / 'nowhere'}::"):  # empty parts: the working folder
            done = self.start("sweep", "study.yaml", "--estimate", path=path)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        done = self.start("sweep", "study.yaml", "-o", "table.csv", "--workers", "2")  # workers are processes of their own
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "table.csv").read_text().count("done"), 2)
        self.start("sweep", "plot", "table.csv")
        self.start("fit", "study.yaml", "--data", "table.csv")
        self.start("validate", "cube-tosses", ".")
        self.start("sweep", "--help")

    def test_the_folder_would_be_asked_otherwise(self):
        """The trap is one: Python without -P falls into it."""
        subprocess.run(["/usr/bin/python3", "-m", "slipstick"], cwd=self.folder, capture_output=True, check=False)
        self.assertTrue((self.folder / "ran-slipstick").exists())


if __name__ == "__main__":
    unittest.main()
