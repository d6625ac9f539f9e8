"""Cases on a Dask cluster. Dask gives the cases of a dead worker to others; what it gives up on is asked for again."""
from __future__ import annotations

import importlib
import logging
import socket
import time
import urllib.parse
from typing import Any, Iterator, Mapping, Optional

from .._errors import Error
from .case import Bundle, Row, Runner
from .expressions import Value
from .local import TRIES, Answer, Task, lost_row, run_local

_AT_ONCE = 200  # cases handed over at a time: the graph stays small with a million of them
_STARTING = 10.0  # s that a scheduler gets to come up
_PATIENCE = 120  # s that one which is there gets to answer: it may be busy
_LOOK = 0.02  # s between looks at what is ready
_runners: dict[str, Runner] = {}  # in a worker: one per bundle


class DaskError(Error, OSError):
    """A cluster that cannot be reached or used."""


def _same(bundle: Bundle) -> Bundle:
    """The bundle as the result of a task: Dask makes it again where the worker that had it has died, as it cannot with scattered data."""
    return bundle


def _run(bundle: Bundle, values: Mapping[str, Value], timeout: Optional[float]) -> tuple[Row, float]:
    start = time.perf_counter()
    if timeout:  # Dask cannot end a task: a process can be
        (answer,) = [a for a in run_local(bundle, [(0, values)], 1, timeout) if a is not None]
        return answer[1], answer[2]
    if bundle.digest not in _runners:
        _runners[bundle.digest] = Runner(bundle)
    return _runners[bundle.digest].run(values), time.perf_counter() - start


def _listens(address: str) -> bool:
    """True once something accepts connections there; it gets some seconds to start. Other transports than TCP: true."""
    parts = urllib.parse.urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:  # no number: Dask says what is wrong
        return False
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        return True
    end = time.monotonic() + _STARTING
    while True:
        try:
            socket.create_connection((host, port), timeout=_STARTING).close()
            return True
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(0.2)


def _connect(address: str) -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise DaskError("--dask needs Debian's python3-distributed: apt-get install python3-distributed") from None
    for name in ("distributed", "distributed.client", "distributed.utils", "distributed.batched", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what is wrong is said here, in one line
    try:
        return distributed.Client(address, timeout=_PATIENCE if _listens(address) else 1, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise DaskError(f"no Dask scheduler answers at {address}: {str(error).splitlines()[0]}") from None


def run_dask(bundle: Bundle, tasks: list[Task], address: str, timeout: Optional[float]) -> Iterator[Optional[Answer]]:
    """Answers in the order in which they come; None from time to time."""
    client = _connect(address)
    try:
        yield from _Cluster(client, address, bundle, tasks, timeout).answers()
    finally:
        client.close(timeout=2)


class _Cluster:
    def __init__(self, client: Any, address: str, bundle: Bundle, tasks: list[Task], timeout: Optional[float]) -> None:
        self.client, self.address, self.bundle, self.timeout = client, address, bundle, timeout
        self.waiting = list(reversed(tasks))
        self.running: dict[Any, Task] = {}
        self.tries: dict[int, int] = {}
        self.shared: Any = None
        self.generation = 0  # of the shared bundle: a new one must not be taken for one that was lost

    def _fill(self) -> None:
        if self.shared is None:
            self.generation += 1
            self.shared = self.client.submit(_same, self.bundle, key=f"slipstick-{self.bundle.digest}-{self.generation}", pure=False)
        while self.waiting and len(self.running) < _AT_ONCE:
            task = self.waiting.pop()
            key = f"slipstick-{self.bundle.key(task[1])}-{self.tries.get(task[0], 0)}"
            self.running[self.client.submit(_run, self.shared, dict(task[1]), self.timeout, key=key, pure=False)] = task

    def answers(self) -> Iterator[Optional[Answer]]:
        while self.waiting or self.running:
            self._fill()
            ready = [future for future in self.running if future.done()]
            if not ready:
                time.sleep(_LOOK)
            self._require_connection()
            for future in ready:
                yield from self._collect(future)
            yield None

    def _require_connection(self) -> None:
        if self.client.status != "running" and not (self.client.status == "connecting" and _listens(self.address)):
            raise DaskError("the connection to the Dask scheduler is lost")

    def _refuse_strangers(self, future: Any) -> None:
        """A worker that cannot load the package will not do better the next time."""
        if future.status != "error":
            return
        error = future.exception(timeout=_PATIENCE)
        if isinstance(error, ImportError):
            raise DaskError(f"a Dask worker cannot run cases: {error}; start workers with './slipstick python -m distributed.cli.dask_worker'")

    def _collect(self, future: Any) -> Iterator[Answer]:
        task = self.running.pop(future)
        if future.status == "finished":
            try:
                row, seconds = future.result()
            except OSError:  # the scheduler ended while it answered, or the way to it did: the case is done again
                self._require_connection()
            else:
                yield task[0], row, seconds
                return
        self._refuse_strangers(future)
        # Cancelled, or Dask found that its worker died too often: that may be the workers' fault.
        self.tries[task[0]] = self.tries.get(task[0], 0) + 1
        self.shared = None  # it may have gone with the workers
        if self.tries[task[0]] < 10 * TRIES:
            self.waiting.append(task)
            return
        yield task[0], lost_row(self.bundle, task[1], "lost", f"its workers ended {self.tries[task[0]]} times"), 0.0
