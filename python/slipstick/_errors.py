"""What can go wrong, as exceptions. All of them are `slipstick.Error`."""
from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Iterable, NamedTuple, Sequence

if TYPE_CHECKING:
    from ._engine import StepReport


class Error(Exception):
    """The base of all errors of this package."""


class Fault(NamedTuple):
    """One thing wrong with a scene. Line and column count from 1; line 0: no place in a file."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        if self.line == 0:
            return f"{self.file}: {self.message}" if self.file else self.message
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class SceneError(Error, ValueError):
    """A scene, or the options of a simulation, with faults: all of them are in `faults`, nothing was half-read."""

    faults: list[Fault]

    def __init__(self, faults: Iterable[Sequence[object]]) -> None:
        self.faults = [f if isinstance(f, Fault) else Fault(*f) for f in faults]  # type: ignore[arg-type]
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


class Diverged(Error, ArithmeticError):
    """A step without a finite answer. The simulation stands where it stood before that step; `report` says more."""

    report: StepReport

    def __init__(self, message: str, report: StepReport) -> None:
        super().__init__(message, report)
        self.report = report

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownName(Error, KeyError):
    """There is no body, joint, motor or load of this name."""

    def __str__(self) -> str:
        return str(self.args[0])


class RecordingError(Error, OSError):
    """A recording or state file that cannot be read or written."""


class ViewerMissing(Error):
    """The engine was built without the viewer's page."""


def hint(name: str, known: Iterable[object]) -> str:
    """The nearest known name as the end of a message; empty where none is near."""
    near = difflib.get_close_matches(name, [str(k) for k in known], n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def unknown(kind: str, name: object, known: Sequence[str]) -> UnknownName:
    """The error for a name that is not there, with the nearest one that is."""
    near = hint(str(name), known)
    if near:
        end = near
    elif not known:
        end = "; there is none"
    else:
        end = "; there is " + ", ".join(f"'{k}'" for k in known[:8]) + (", ..." if len(known) > 8 else "")
    return UnknownName(f"unknown {kind} '{name}'{end}")
