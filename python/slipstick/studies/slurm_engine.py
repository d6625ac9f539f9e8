"""Cases on a Slurm cluster, as an array of jobs. The folder beside the table holds the job script, what the tasks need and what they
have found; it needs a file system that all nodes see. A driver that is gone can come back: the jobs go on without it."""
from __future__ import annotations

import hashlib
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import time
from typing import Any, Iterator, Optional

from .._errors import Error
from .case import Bundle, Runner
from .journal import Busy, Journal, read_rows
from .local import TRIES, Answer, Task, lost_row, python, run_local, search_path

_LOOK = 1.0  # s between looks at the queue
_ARRAY = 500  # jobs of an array at most (Slurm's own limit is 1001 by default)


class SlurmError(Error, OSError):
    """Slurm is not there, or refuses."""


def _name(folder: str) -> str:
    """Of the jobs of a folder, which are found by it: a driver may die between a submission and the note of its number."""
    return f"slipstick-{hashlib.sha256(folder.encode()).hexdigest()[:16]}"


def _script(folder: str, jobs: int, options: str) -> str:
    extra = "".join(f"#SBATCH {word}\n" for word in shlex.split(options))
    return f"""#!/bin/bash
#SBATCH --job-name={_name(folder)}
#SBATCH --array=0-{jobs - 1}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --output={folder}/log-%a.txt
{extra}export PYTHONPATH={shlex.quote(search_path())}
exec {shlex.join(python())} slipstick.studies.slurm_engine {shlex.quote(folder)} "$SLURM_ARRAY_TASK_ID"
"""


def _command(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise SlurmError(f"--slurm needs Slurm's {words[0]} on this machine; the job script is ready, see docs/sweeps.md") from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{words[0]} does not answer") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise SlurmError(f"{words[0]}: {said[-1] if said else 'failed'}")
    return done.stdout.strip()


class _Array:
    """One array of jobs after the other, until all cases have their rows."""

    def __init__(self, bundle: Bundle, tasks: list[Task], folder: str, options: str, timeout: Optional[float]) -> None:
        self.bundle, self.folder, self.options, self.timeout = bundle, folder, options, timeout
        self.left = {bundle.key(values): (number, values) for number, values in tasks}
        self.job_file = os.path.join(folder, "job")
        os.makedirs(folder, exist_ok=True)

    def _submit(self) -> None:
        jobs = min(len(self.left), _ARRAY)
        with open(os.path.join(self.folder, "cases.partial"), "wb") as file:
            pickle.dump((self.bundle, list(self.left.values()), jobs, self.timeout), file)
        os.replace(os.path.join(self.folder, "cases.partial"), os.path.join(self.folder, "cases"))
        script = os.path.join(self.folder, "job.sh")
        with open(script, "w", encoding="utf-8") as out:
            out.write(_script(self.folder, jobs, self.options))
        number = _command("sbatch", "--parsable", script).split(";")[0]
        with open(self.job_file, "w", encoding="utf-8") as out:  # for people; it is not read
            out.write(number)

    def _queued(self) -> bool:
        """Whether an array of this folder, perhaps of an earlier driver, still runs or waits."""
        return bool(_command("squeue", "-h", "-u", str(os.getuid()), "-n", _name(self.folder), "-o", "%T"))

    def _new_answers(self) -> Iterator[Answer]:
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".journal"):
                for found in read_rows(os.path.join(self.folder, name)):
                    task = self.left.pop(found["row"]["key"], None)
                    if task is not None:
                        yield task[0], found["row"], found["wall"]

    def answers(self) -> Iterator[Optional[Answer]]:
        tries = 0
        while True:
            running = self._queued()  # before the rows are read: what ends in between is seen by the next look
            yield from self._new_answers()
            if not self.left:
                break
            if not running:
                tries += 1
                if tries > TRIES:
                    break
                self._submit()
            yield None
            time.sleep(_LOOK)
        for number, values in self.left.values():
            yield number, lost_row(self.bundle, values, "lost", f"{TRIES} jobs ended without its row; see {self.folder}"), 0.0
        if not self.left:
            shutil.rmtree(self.folder, ignore_errors=True)


def run_slurm(bundle: Bundle, tasks: list[Task], folder: str, options: str, timeout: Optional[float]) -> Iterator[Optional[Answer]]:
    """Answers as they come; None from time to time."""
    yield from _Array(bundle, tasks, os.path.abspath(folder), options, timeout).answers()


def main(folder: str, job: int) -> None:
    """One job of the array: every jobs-th case, each row into this job's own journal."""
    with open(os.path.join(folder, "cases"), "rb") as file:
        bundle, tasks, jobs, timeout = pickle.load(file)
    try:
        journal = Journal(os.path.join(folder, f"{job}.journal"))
    except Busy:
        return  # the same job was started twice
    done: set[Any] = {found["row"]["key"] for found in journal.rows}
    runner = None if timeout else Runner(bundle)
    for task in tasks[job::jobs]:
        if bundle.key(task[1]) in done:
            continue
        start = time.perf_counter()
        if runner is None:
            ((_, row, _),) = [a for a in run_local(bundle, [task], 1, timeout) if a is not None]
        else:
            row = runner.run(task[1])
        journal.add({"row": row, "wall": time.perf_counter() - start})
    journal.close(remove=False)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
