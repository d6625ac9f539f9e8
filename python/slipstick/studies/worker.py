"""A worker process: takes cases from its standard input and answers with rows, until the input ends.

Standard output is for answers alone: whatever else prints goes to standard error."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

from .messages import READY, receive, send

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Bundle first, then one case after the other."""
    # Ctrl-C is for the driver, which then ends its workers; a driver that is killed takes them along.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from .case import Runner

    tasks = sys.stdin.buffer
    first = receive(tasks)
    if first is None:
        return
    runner = Runner(*first)
    try:
        send(answers, READY)
        while (task := receive(tasks)) is not None:
            number, values = task
            start = time.perf_counter()
            row = runner.run(values)
            send(answers, (number, row, time.perf_counter() - start))
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    main()
