"""pip install --no-build-isolation .: builds the package with CMake, as ./slipstick python does, and puts the engine's libraries into it."""
import pathlib
import re
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build" / "release"


class BuildPackage(build_py):
    """Python files, the extension module and the shared libraries beside it."""

    def run(self) -> None:
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", str(BUILD), "--target", "library", "python"], check=True)
        package = pathlib.Path(self.build_lib) / "slipstick"
        shutil.copytree(BUILD / "python" / "slipstick", package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", str(BUILD), "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
            for library in pathlib.Path(prefix).rglob("libslipstick*.so.*"):
                if re.search(r"\.so\.\d+\.\d+$", library.name):  # by the name that the loader asks for
                    shutil.copy(library, package / library.name)


class Binary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


version = re.search(r"project\(slipstick VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
assert version
setup(version=version[1], packages=["slipstick", "slipstick.studies"], package_dir={"slipstick": "python/slipstick"}, cmdclass={"build_py": BuildPackage},
      distclass=Binary)
