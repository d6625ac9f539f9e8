"""Installs a build into a folder of its own and uses it as a stranger would: examples through CMake with plain -O2, a program
through pkg-config, the error for flags that do not fit; or, as the part
`flags`, a program with other compilers and flags, which must give the same bits."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = {  # program -> what its output must match
    "pendulum": r"1000 steps in [\d.]+ ms, 0 not certified\nbob at ",
    "resting_box": r"4 contacts carry 39\.24\d* N of 39\.24",
    "hinge_pid": r"held at 0\.785\d* rad of 0\.785\d*, torque [\d.]+ N m, reaction \(",
    "scene_file": r"ball +\(.*, 0\.1000\) m\ndeepest penetration",
}
NOT_LINKED = ["cairo", "hdf5", "civetweb"]
OTHER_FLAGS = [("g++", "-O0"), ("g++", "-O3 -march=native"), ("g++", "-O2 -march=x86-64"), ("g++", "-O2 -ffast-math -mavx2"),
               ("clang++", "-O2"), ("clang++", "-O3 -march=native")]


def run(*command, env=None, fails=False) -> str:
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, command))}\nreturned {done.returncode}:\n{done.stdout}")
    return done.stdout


def build(source: pathlib.Path, folder: pathlib.Path, prefix: pathlib.Path, compiler: str, flags: str, *more: str) -> None:
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DCMAKE_CXX_FLAGS={flags}", *more)
    run("cmake", "--build", folder)


def check_examples(work: pathlib.Path, prefix: pathlib.Path) -> None:
    folder = work / "examples"
    build(HERE.parent.parent / "examples", folder, prefix, "g++", "-O2 -Wall -Wextra -Werror")
    for name, wanted in EXAMPLES.items():
        out = run(folder / name)
        print(out, end="")
        if not re.search(wanted, out):
            sys.exit(f"example {name} should print {wanted!r}")
        linked = run("ldd", folder / name)
        for library in NOT_LINKED:
            if library in linked:
                sys.exit(f"example {name} is linked with {library}")


def check_pkg_config(work: pathlib.Path, prefix: pathlib.Path) -> str:
    """Returns the digest of a program that was built without CMake."""
    pc = next(prefix.rglob("slipstick.pc")).parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(pc)}
    flags = run("pkg-config", "--cflags", "--libs", "slipstick", env=env).split()
    run("g++", "-O2", HERE / "crossing.cpp", *flags, f"-Wl,-rpath,{pc.parent}", "-o", work / "crossing")
    return run(work / "crossing")


def check_guard(work: pathlib.Path, prefix: pathlib.Path) -> None:
    """Flags that change the layout of public types are one clear error each; all others are none."""
    source = work / "guard.cpp"
    source.write_text("#include <Eigen/Core>\n#include <slipstick/types.h>\n")
    command = ["g++", "-std=c++20", "-fsyntax-only", "-I", prefix / "include", "-I", "/usr/include/eigen3", source]
    run(*command)
    for flags in ["-mavx", "-DEIGEN_MAX_ALIGN_BYTES=32 -mavx", "-DEIGEN_DONT_VECTORIZE", "-DEIGEN_DEFAULT_TO_ROW_MAJOR", "-D_GLIBCXX_DEBUG"]:
        out = run(*command, *flags.split(), fails=True)
        if len(re.findall(r"error: static assertion failed: slipstick: ", out)) != 1 or out.count("error:") != 1:
            sys.exit(f"{flags} should be one error of slipstick's, not:\n{out}")
    source.write_text("#include <slipstick/types.h>\n#include <Eigen/Core>\n")
    run(*command, "-mavx")


def check_flags(work: pathlib.Path, prefix: pathlib.Path, digest: str) -> None:
    for number, (compiler, flags) in enumerate(OTHER_FLAGS):
        if shutil.which(compiler) is None:
            print(f"{compiler} is not here: {flags} not tried")
            continue
        folder = work / f"flags{number}"
        build(HERE, folder, prefix, compiler, flags)
        run(folder / "app")
        out = run(folder / "crossing")
        print(f"{compiler} {flags}: {out}", end="")
        if out != digest:
            sys.exit(f"{compiler} {flags} gives {out}, g++ -O2 gave {digest}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("part", choices=["examples", "flags"])
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    prefix = work / "prefix"
    prefix.mkdir(parents=True)
    run("cmake", "--install", arguments.build, "--prefix", prefix)
    digest = check_pkg_config(work, prefix)
    print(digest, end="")
    if arguments.part == "flags":
        return check_flags(work, prefix, digest)
    check_examples(work, prefix)
    check_guard(work, prefix)


if __name__ == "__main__":
    main()
