"""The commands `sweep`, `fit` and `validate`. Exit codes: 0 done; 1 cases or the machine failed; 2 bad input or usage; 130 ended by Ctrl-C."""
from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from typing import Optional, Sequence

from .._errors import Error, SceneError
from . import table
from .case import Runner
from .sweep import (Engine, Outcome, Plan, Progress, Stopped, choose_engine, default_workers, end_in_order, make_plan, run_plan)
from .fitting import fit_command
from .study import read
from .measured import DataError
from .validate import validate_command

_DONE, _FAILED, _BAD = 0, 1, 2
_INTERRUPTED = 130


def _say(line: str) -> None:
    print(line, file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        _say(f"{self.prog}: {message}. See '{self.prog} --help'")
        sys.exit(_BAD)


def _sweep_parser() -> _Parser:
    parser = _Parser("slipstick sweep", description="Run every case of a study into one table", formatter_class=argparse.RawDescriptionHelpFormatter,
                     epilog="Examples:\n  slipstick sweep grip.yaml -o grip.h5\n  slipstick sweep grip.yaml --estimate\n"
                     "  slipstick sweep grip.yaml -o grip.csv --dask tcp://127.0.0.1:8786\n  slipstick sweep plot grip.h5 -o grip.html")
    parser.add_argument("study", metavar="STUDY", help="study file (.yaml)")
    parser.add_argument("-o", "--output", metavar="FILE", help="table, .h5 or .csv; cases that it has are not run again (default: STUDY.csv)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="processes on this machine (default: one per core)")
    where.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler, as tcp://127.0.0.1:8786")
    where.add_argument("--slurm", action="store_true", help="an array of Slurm jobs")
    parser.add_argument("--slurm-options", default="", metavar="TEXT", help="more for the job script, as '--partition=long --time=60'")
    parser.add_argument("--estimate", action="store_true", help="try three cases and say what all will cost; nothing is written")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a case failed or has steps that are not certified")
    parser.add_argument("--allow-path", action="store_true", help="the scene may lie outside of the study's folder")
    parser.add_argument("--timings", metavar="FILE", help="seconds of wall time by case, .csv")
    return parser


def _join_options(words: Sequence[str]) -> list[str]:
    """`--slurm-options '--time=5'` as one word: its value begins like an option."""
    joined = list(words)
    if "--slurm-options" in joined[:-1]:
        at = joined.index("--slurm-options")
        joined[at:at + 2] = [f"--slurm-options={joined[at + 1]}"]
    return joined


def sweep_command(words: Sequence[str]) -> int:
    """`slipstick sweep STUDY`, `slipstick sweep plot TABLE`."""
    if words and words[0] == "plot":
        from .plots import plot_command

        return plot_command(words[1:])
    given = _sweep_parser().parse_args(_join_options(words))
    if given.workers is not None and given.workers < 1:
        _say("slipstick sweep: --workers needs at least 1")
        return _BAD
    study = read(given.study, given.allow_path)
    output = given.output or os.path.splitext(os.path.basename(given.study))[0] + ".csv"
    table.check_name(output)
    plan = make_plan(study)
    if os.path.realpath(output) in (*plan.bundle.files, os.path.realpath(given.study)):
        _say(f"{output}: would replace a file of the study; name another one")
        return _BAD
    workers = given.workers or default_workers()
    if given.estimate:
        return _estimate(plan, workers)
    found = run_plan(plan, output, _engine(plan, given, output), Progress(True))
    if given.timings:
        with open(given.timings, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("case", "wall_s"), *sorted(found.wall.items())])
    return _conclude(plan, found, output, given.strict)


def _engine(plan: Plan, given: argparse.Namespace, output: str) -> Engine:
    if given.slurm:
        from .slurm_engine import run_slurm

        return lambda bundle, tasks: run_slurm(bundle, tasks, output + ".slurm", given.slurm_options, plan.study.timeout)
    return choose_engine(plan.study, given.workers, given.dask)


def _conclude(plan: Plan, found: Outcome, output: str, strict: bool) -> int:
    failed = [row for row in found.rows if row["status"] != "done"]
    doubtful = sum(row["status"] == "done" and row["reason"] != "" for row in found.rows)
    parts = [f"{len(found.rows)} cases in {output}"]
    if found.reused:
        parts.append(f"{found.reused} of them from before")
    if doubtful:
        parts.append(f"{doubtful} with steps that are not certified")
    print(", ".join(parts))
    for row in failed[:5]:
        values = ", ".join(f"{name} = {row[name]:.6g}" if isinstance(row[name], float) else f"{name} = {row[name]}" for name in plan.cases[0])
        _say(f"case {row['case']} {row['status']} ({values}): {row['reason']}")
    if len(failed) > 5:
        _say(f"and {len(failed) - 5} more; all reasons are in the table")
    return _FAILED if strict and (failed or doubtful) else _DONE


def _estimate(plan: Plan, workers: int) -> int:
    runner = Runner(plan.bundle)
    chosen = sorted({0, len(plan.cases) // 2, len(plan.cases) - 1})
    spent = []
    for number in chosen:
        start = time.perf_counter()
        row = runner.run(plan.cases[number])
        spent.append(time.perf_counter() - start)
        if row["status"] != "done":
            _say(f"case {number} {row['status']}: {row['reason']}")
    mean = sum(spent) / len(spent)
    print(f"{len(plan.cases)} cases, {min(spent):.3g} to {max(spent):.3g} s each ({len(spent)} tried): about "
          f"{_duration(mean * len(plan.cases) / workers)} on {workers} worker{'s' if workers > 1 else ''}")
    return _DONE


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def main(words: Optional[Sequence[str]] = None) -> int:
    """The command line."""
    words = list(sys.argv[1:] if words is None else words)
    commands = {"sweep": sweep_command, "fit": fit_command, "validate": validate_command}
    if not words or words[0] not in commands:
        _say("usage: python3 -m slipstick {" + ",".join(commands) + "} ...")
        return _BAD
    end_in_order()
    try:
        return commands[words[0]](words[1:])
    except SceneError as error:
        _say(str(error))
        return _BAD
    except (table.TableError, DataError) as error:
        _say(str(error))
        return _BAD
    except Stopped as error:
        _say(f"\nstopped: {error}")
        return _INTERRUPTED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (Error, ImportError) as error:
        _say(f"slipstick {words[0]}: {error}")
        return _FAILED
