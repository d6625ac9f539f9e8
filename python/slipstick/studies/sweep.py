"""A sweep: all cases of a study, on processes of this machine, on Dask or on Slurm, into one table."""
from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from .._errors import Error, Fault, SceneError
from .._scene import PathLike, load
from . import table
from .case import Bundle, Row, Runner, make_bundle
from .designs import Case, make_cases
from .journal import Busy, Journal
from .local import Answer, Task, run_local
from .study import OPTIONS, Study, read

Engine = Callable[[Bundle, list[Task]], Iterator[Optional[Answer]]]


class SweepError(Error, RuntimeError):
    """A sweep that could not be finished. What is done is kept: the same command goes on."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, or a request to end, while a sweep was running. What is done is kept."""


@dataclass
class Plan:
    """A study that was found good, with its cases."""

    study: Study
    bundle: Bundle
    cases: list[Case]
    keys: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Columns of the table."""
        return table.columns(self.cases[0], self.study.outputs)


@dataclass
class Outcome:
    """What a sweep has come to."""

    names: list[str]
    rows: list[Row]
    reused: int
    wall: dict[int, float]  # s by case, of those run now

    def count(self, status: str) -> int:
        """Cases of one status."""
        return sum(row["status"] == status for row in self.rows)


def make_plan(study: Study) -> Plan:
    """Reads the scene, draws the cases and looks whether outputs exist. Raises SceneError with all faults."""
    cases = make_cases(study)
    try:
        scene = load(study.scene, set={k: v for k, v in cases[0].items() if k not in OPTIONS})
    except SceneError as error:
        raise SceneError([_place_fault(study, fault) for fault in error.faults]) from None
    bundle = make_bundle(study, scene)
    runner = Runner(bundle)
    try:
        wrong = runner.check_outputs(cases[0])
    except SceneError as error:
        raise SceneError([_place_fault(study, fault) for fault in error.faults]) from None
    if wrong:
        raise SceneError([study.fault(f"outputs.{name}", f"output '{name}': {message}") for name, message in wrong.items()])
    return Plan(study, bundle, cases, [bundle.key(case) for case in cases])


def _place_fault(study: Study, fault: Fault) -> Fault:
    """A value that the scene does not know has its place in the study."""
    for name in study.vary:
        if fault.line == 0 and fault.message.startswith(f"--set {name}:"):
            return study.fault(f"vary.{name}", f"'{name}':" + fault.message.split(":", 1)[1])
    if fault.line == 0 and not fault.file:
        return study.fault("study.scene", fault.message)
    return fault


def _known_rows(plan: Plan, output: Optional[str], journal: Optional[Journal]) -> dict[str, Row]:
    """Rows of earlier runs by key. A table of something else is not touched."""
    known: dict[str, Row] = {}
    if output and os.path.exists(output):
        rows = table.read(output)
        _refuse_strange(plan, output, rows, "the table of")
        known.update((row["key"], row) for row in rows)
    if journal:
        _refuse_strange(plan, journal.path, journal.rows, "what is kept of")
        known.update((row["key"], row) for row in journal.rows)
    # What depends on the machine and the hour is tried again.
    return {key: row for key, row in known.items() if row["status"] in ("done", "failed")}


def _refuse_strange(plan: Plan, path: str, rows: list[Row], what: str) -> None:
    """Rows that the plan does not have would be lost when the table is written."""
    keys = set(plan.keys)
    strange = sum(row.get("key") not in keys for row in rows)
    if strange == len(rows) > 0:
        raise table.TableError(f"{path}: is {what} another study, scene or version; name another file or remove it")
    if strange:
        raise table.TableError(f"{path}: {strange} of its {len(rows)} cases are not in this study and would be lost; name another file")


def _finish(plan: Plan, done: Mapping[int, Row]) -> list[Row]:
    return [{"case": i, **plan.cases[i], **done[i]} for i in range(len(plan.cases)) if i in done]


def run_plan(plan: Plan, output: Optional[str], engine: Engine, show: Callable[[int, int, dict[int, float]], None]) -> Outcome:
    """Runs what is not done yet. With an output, Ctrl-C and failures of the machine keep all rows that were finished."""
    journal = _open_journal(output)
    done: dict[int, Row] = {}
    wall: dict[int, float] = {}
    finished = False
    try:
        known = _known_rows(plan, output, journal)
        done = {i: _strip(plan, known[key]) for i, key in enumerate(plan.keys) if key in known}
        reused = len(done)
        tasks: list[Task] = [(i, case) for i, case in enumerate(plan.cases) if i not in done]
        show(len(done), len(plan.cases), wall)
        for answer in engine(plan.bundle, tasks) if tasks else ():
            if answer is not None and answer[0] not in done:
                number, row, seconds = answer
                done[number], wall[number] = row, seconds  # first: Ctrl-C may come while the journal is written
                if journal:
                    _note(journal, row, done, number)
            show(len(done), len(plan.cases), wall)
        finished = True
    except KeyboardInterrupt:
        raise Stopped(f"{len(done)} of {len(plan.cases)} cases are done" + _how_to_go_on(output)) from None
    except OSError as error:
        if isinstance(error, table.TableError):
            raise
        raise SweepError(f"{error.strerror or error}: {len(done)} of {len(plan.cases)} cases are done" + _how_to_go_on(output)) from None
    finally:
        if journal:
            _close(plan, output or "", journal, done, finished)
    return Outcome(plan.names, _finish(plan, done), reused, wall)


def _note(journal: Journal, row: Row, done: dict[int, Row], number: int) -> None:
    try:
        journal.add(row)
    except OSError:
        del done[number]  # what is said to be kept is kept
        raise


def _how_to_go_on(output: Optional[str]) -> str:
    return f" and kept for {output}; the same command goes on" if output else ""


def _strip(plan: Plan, row: Row) -> Row:
    """A row without its number and parameters, which are the plan's."""
    return {k: v for k, v in row.items() if k != "case" and k not in plan.cases[0]}


def _open_journal(output: Optional[str]) -> Optional[Journal]:
    if output is None:
        return None
    try:
        journal = Journal(output + ".journal")
        table.remove_partial(output)  # of sweeps that were killed: nobody else writes while the journal is ours
        return journal
    except Busy as error:
        raise SweepError(str(error)) from None
    except OSError as error:
        raise table.TableError(f"{output}: cannot be written: {error.strerror}") from None


def _close(plan: Plan, output: str, journal: Journal, done: Mapping[int, Row], finished: bool) -> None:
    """The table with all rows; where that fails the journal has them."""
    written = False
    try:
        if done:
            table.write(output, plan.names, _finish(plan, done), plan.cases[0])
        written = True
    except table.TableError as error:
        if finished:
            raise SweepError(f"{error}; all {len(done)} cases are kept in {journal.path}, and the same command goes on") from None
    finally:
        journal.close(remove=written and bool(done or not journal.rows))


class Progress:
    """One line on stderr: rewritten on a terminal, and else a line every ten seconds."""

    def __init__(self, on: bool) -> None:
        self._on = on
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + (0 if self._terminal else 10)
        self._first: Optional[int] = None
        self._said_last = False

    def __call__(self, done: int, total: int, wall: dict[int, float]) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = done
        last = done == total
        if self._said_last or not self._on or (now < self._next and not last):
            return
        self._said_last = last
        self._next = now + (0.2 if self._terminal else 10)
        fresh = done - self._first
        left = f"{(now - self._start) * (total - done) / fresh:.0f} s left" if fresh else ""
        line = f"{done} of {total} cases  {left if not last else f'in {now - self._start:.1f} s'}"
        end = "\n" if last or not self._terminal else ""
        print(("\r\033[K" if self._terminal else "") + line, end=end, file=sys.stderr, flush=True)


def default_workers() -> int:
    """As many as this process may use cores."""
    return max(len(os.sched_getaffinity(0)), 1)


def sweep(study: Union[Study, PathLike], output: Optional[PathLike] = None, *, workers: Optional[int] = None,
          dask: Optional[str] = None, progress: bool = False, allow_path: bool = False) -> Any:
    """Runs all cases of a study (a file, docs/sweeps.md) and returns the table as a pandas frame, indexed by case.

    output: the table's file too (.h5 or .csv); cases that it has are not run again.
    workers: processes; as many as cores without it. dask: the address of a Dask scheduler instead.
    allow_path: the study's scene may lie outside of its folder.

    Raises SceneError with all faults of study and scene; KeyboardInterrupt keeps what is done in `output`.
    """
    plan = make_plan(study if isinstance(study, Study) else read(study, allow_path))
    path = None if output is None else os.fspath(output)
    if path is not None:
        table.check_name(path)
    found = run_plan(plan, path, choose_engine(plan.study, workers, dask), Progress(progress))
    return table.as_frame(found.names, found.rows)


def choose_engine(study: Study, workers: Optional[int], dask: Optional[str]) -> Engine:
    """Local processes, or Dask where an address is given."""
    if dask is not None:
        from .dask_engine import run_dask

        address = dask
        return lambda bundle, tasks: run_dask(bundle, tasks, address, study.timeout)
    count = workers or default_workers()
    return lambda bundle, tasks: run_local(bundle, tasks, count, study.timeout)


def end_in_order() -> None:
    """SIGTERM and SIGHUP end a sweep as Ctrl-C does."""
    def stop(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
