"""Messages between a driver and its workers: pickles with their length in front."""
from __future__ import annotations

import pickle
import struct
from typing import IO, Any, Optional

_LENGTH = struct.Struct("<Q")
READY = "ready"  # a worker's first message: it has loaded what it needs


def send(stream: IO[bytes], message: Any) -> None:
    """Writes one message."""
    data = pickle.dumps(message)
    rest = memoryview(_LENGTH.pack(len(data)) + data)
    while rest:  # a stream without a buffer may take a part only
        rest = rest[stream.write(rest):]
    stream.flush()


def receive(stream: IO[bytes]) -> Optional[Any]:
    """Reads one message and no byte more; None at the end of the stream."""
    head = _read(stream, _LENGTH.size)
    data = _read(stream, _LENGTH.unpack(head)[0]) if head is not None else None
    return None if data is None else pickle.loads(data)


def _read(stream: IO[bytes], count: int) -> Optional[bytes]:
    parts = b""
    while len(parts) < count:
        part = stream.read(count - len(parts))
        if not part:
            return None
        parts += part
    return parts
