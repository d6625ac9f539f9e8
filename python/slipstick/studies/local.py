"""Cases on processes of this machine. A worker that dies gives its case to another; one that takes too long is ended."""
from __future__ import annotations

import math
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from typing import Iterator, Mapping, Optional

from .._errors import Error
from .._files import lay_out
from .case import Bundle, Row
from .expressions import Value
from .messages import READY, receive, send

Task = tuple[int, Mapping[str, Value]]
Answer = tuple[int, Row, float]  # number, row, seconds of wall time
TRIES = 3  # workers that a case may take with it
_STILLBORN = 10  # workers in a row that may end before they are ready


class WorkerError(Error, OSError):
    """Workers that do not start."""


def lost_row(bundle: Bundle, values: Mapping[str, Value], status: str, reason: str) -> Row:
    """The row of a case without an answer."""
    row: Row = dict.fromkeys(bundle.outputs)
    row.update(status=status, reason=reason, seconds=0.0, state_hash="", key=bundle.key(values))
    return row


def search_path() -> str:
    """Where workers look for modules: this package, then PYTHONPATH without its empty folders, which would be the working folder."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.pathsep.join([package, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])


def python() -> list[str]:
    """The words that start a worker. -P: no code of the folder that the study happens to lie in."""
    return [sys.executable, "-P", "-m"]


@dataclass
class _Worker:
    process: "subprocess.Popen[bytes]"
    task: Optional[Task] = None
    ready: bool = False
    start: float = math.inf  # of its case's time: not before it is ready, or a busy machine would take a case for slow


class _Pool:
    def __init__(self, bundle: Bundle, tasks: list[Task], workers: int, timeout: Optional[float]) -> None:
        self.bundle, self.timeout = bundle, timeout
        # The folder is the driver's, so that a worker that is killed leaves nothing behind.
        self.folder = None if bundle.in_memory else tempfile.TemporaryDirectory(prefix="slipstick-")
        if self.folder:
            lay_out(bundle.files, self.folder.name)
        self.waiting = deque(tasks)
        self.tries: dict[int, int] = {}
        self.stillborn = 0
        self.selector = selectors.DefaultSelector()
        self.workers: list[_Worker] = []
        for _ in range(min(workers, len(tasks))):
            self._start()

    def _start(self) -> None:
        # One thread each: the cases are what runs in parallel.
        environment = {**os.environ, "PYTHONPATH": search_path(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        # No buffers: a buffer would take a second message out of the pipe with the first, and the selector, which sees the pipe alone,
        # would wait for ever.
        process = subprocess.Popen([*python(), "slipstick.studies.worker"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, bufsize=0, env=environment)
        worker = _Worker(process)
        assert process.stdin and process.stdout
        self.workers.append(worker)
        self.selector.register(process.stdout, selectors.EVENT_READ, worker)
        try:
            send(process.stdin, (self.bundle, self.folder.name if self.folder else None))
        except BrokenPipeError:
            pass  # seen as its end by the next look
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        worker.task = None
        assert worker.process.stdin
        if not self.waiting:
            try:
                worker.process.stdin.close()
            except BrokenPipeError:
                pass
            return
        worker.task = self.waiting.popleft()
        worker.start = time.monotonic() if worker.ready else math.inf
        try:
            send(worker.process.stdin, worker.task)
        except BrokenPipeError:
            pass

    def _retire(self, worker: _Worker) -> None:
        assert worker.process.stdout
        self.selector.unregister(worker.process.stdout)
        self.workers.remove(worker)
        worker.process.kill()
        worker.process.wait()
        worker.process.stdout.close()
        if worker.process.stdin and not worker.process.stdin.closed:
            worker.process.stdin.close()

    def _lost(self, worker: _Worker) -> Optional[Answer]:
        """A worker has ended: its case goes to a new one, unless it has taken too many with it."""
        task, code = worker.task, worker.process.poll()
        self._retire(worker)
        if task is None:
            return None
        number, values = task
        answer = None
        if worker.ready:
            self.tries[number] = self.tries.get(number, 0) + 1
        else:  # not the fault of its case
            self.stillborn += 1
            if self.stillborn >= _STILLBORN:
                raise WorkerError(f"{_STILLBORN} workers in a row ended before they were ready (exit code {code}); what they said is above")
        if self.tries.get(number, 0) >= TRIES:
            reason = f"its worker ended {TRIES} times" + (f" (signal {-code})" if code and code < 0 else "")
            answer = (number, lost_row(self.bundle, values, "lost", reason), max(0.0, time.monotonic() - worker.start))
        else:
            self.waiting.appendleft(task)
        if self.waiting:
            self._start()
        return answer

    def _overdue(self) -> Iterator[Answer]:
        for worker in list(self.workers):
            if worker.task and self.timeout and time.monotonic() - worker.start > self.timeout:
                number, values = worker.task
                worker.task = None
                self._retire(worker)
                if self.waiting:
                    self._start()
                yield number, lost_row(self.bundle, values, "timeout", f"took longer than {self.timeout:g} s"), self.timeout

    def answers(self) -> Iterator[Optional[Answer]]:
        while self.workers:
            for key, _ in self.selector.select(timeout=0.2):
                worker: _Worker = key.data
                assert worker.process.stdout
                message = receive(worker.process.stdout)
                if message is None:
                    lost = self._lost(worker)
                    if lost:
                        yield lost
                    continue
                if message == READY:
                    worker.ready, worker.start, self.stillborn = True, time.monotonic(), 0
                    continue
                yield message
                self._give(worker)
            yield from self._overdue()
            yield None  # a look at the clock and the keyboard

    def close(self) -> None:
        for worker in list(self.workers):
            self._retire(worker)
        self.selector.close()
        if self.folder:
            self.folder.cleanup()


def run_local(bundle: Bundle, tasks: list[Task], workers: int, timeout: Optional[float]) -> Iterator[Optional[Answer]]:
    """Answers in the order in which they come; None from time to time."""
    pool = _Pool(bundle, tasks, workers, timeout)
    try:
        yield from pool.answers()
    finally:
        pool.close()
