"""What is done so far, line by line: a sweep that is killed at any instant loses at most the case it was at.

A line is a checksum and a row in JSON. The journal is locked while a sweep writes to it, so that of two sweeps to one name the second
is refused. It disappears when its rows are in the table."""
from __future__ import annotations

import errno
import fcntl
import json
import os
import time
import zlib
from typing import Any, Iterator

Row = dict[str, Any]
_SYNC = 1.0  # s between flushes to the disk: what a failure of power may cost


class Busy(RuntimeError):
    """Another sweep writes to the same table."""


def read_rows(path: str) -> Iterator[Row]:
    """The whole rows of a journal; a torn line is passed over."""
    try:
        with open(path, "rb") as file:
            for line in file:
                row = _parse(line)
                if row is not None:
                    yield row
    except FileNotFoundError:
        return


def _parse(line: bytes) -> Row | None:
    digest, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or digest != b"%08x" % zlib.crc32(text[:-1]):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


class Journal:
    """A journal that this process writes to."""

    def __init__(self, path: str) -> None:
        self.path = path
        while True:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._file)
                raise Busy(f"{path.removesuffix('.journal')} is being written by another sweep") from None
            if self._is_at(path):
                break
            os.close(self._file)  # whoever had it has just finished and removed it: its rows are in the table now
        self.rows = list(read_rows(path))
        self._end = self._drop_torn_line()
        self._synced = time.monotonic()

    def _is_at(self, path: str) -> bool:
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def _drop_torn_line(self) -> int:
        size = os.fstat(self._file).st_size
        with open(self.path, "rb") as file:
            data = file.read()
        end = data.rfind(b"\n") + 1
        if end < size:
            os.ftruncate(self._file, end)
        return end

    def add(self, row: Row) -> None:
        """Appends a row: all of it or nothing."""
        text = json.dumps(row).encode()
        line = b"%08x %s\n" % (zlib.crc32(text), text)
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(line)
        if time.monotonic() - self._synced > _SYNC:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def close(self, remove: bool) -> None:
        """Gives the lock back; `remove`: the rows are in the table now."""
        if remove:
            os.unlink(self.path)
        else:
            os.fsync(self._file)
        os.close(self._file)
