"""Complementarity problems: what a step asks of a solver, for those who write solvers."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _engine
from ._scene import PathLike

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # type: ignore[import]

Array = npt.NDArray[np.float64]
_LAW = np.dtype([("row", "i4"), ("size", "i4"), ("law", "U11"), ("mu", "f8"), ("friction", "U7"), ("facets", "i4")])


def _sparse() -> Any:
    try:
        import scipy.sparse  # type: ignore[import]
    except ImportError:
        raise ImportError("sparse matrices are scipy's: apt-get install python3-scipy") from None
    return scipy.sparse


class Certificate(NamedTuple):
    """What the judge of all solvers says about impulses (docs/certificate.md)."""

    verdict: float  # what a tolerance is held against: the worst of all below, relative
    relative: float  # ||F|| / ||q|| of the natural map F
    natural: float  # largest entry of the natural map, m/s
    law: float  # the worst part of the law, relative to its place
    momentum: float  # v is not A^-1 (b + J^T impulse), relative
    worst: str  # which part of the law that is
    block: int  # and in which row of `laws`


class Problem:
    """The one complementarity problem that every scheme writes and every solver reads (docs/step.md):

        A v = b + J^T r               A block-diagonal, one block per body
        w = J v + (C + W) r + c       w velocities of rows (m/s), r impulses (N s); C diagonal, W mostly absent
        (r, w) obey `laws`            row blocks: equality, nonnegative, box, friction

    `laws` is a structured array with a row per block: row (its first row), size, law, mu, friction (cone, pyramid, box),
    facets. Laws: "equality": w = 0. "nonnegative": 0 <= w, r and w r = 0. "box": lower <= r <= upper, w = 0 between,
    w >= 0 at lower, w <= 0 at upper. "friction": rows (n, t1[, t2]): n is nonnegative, r_t opposes w_t within mu r_n.

    A simulation has the one of its last step: `sim.problem`. It is a value: it may be kept, and pickles.
    """

    __slots__ = ("_box", "_cache")

    def __init__(self, box: _engine.ProblemBox) -> None:
        if not isinstance(box, _engine.ProblemBox):
            raise TypeError("a Problem is made by a simulation (sim.problem), or read by slipstick.load_problem")
        self._box = box
        self._cache: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._cache:
            value = self._cache[name] = make()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return self._cache[name]

    # ------------------------------------------------------------------ what it is made of

    @property
    def rows(self) -> int:
        """How many impulses there are."""
        return self._box.rows()

    @property
    def unknowns(self) -> int:
        """How many velocities there are."""
        return self._box.unknowns()

    @property
    def symmetric(self) -> bool:
        """A is symmetric; False: implicit gyroscopic terms."""
        return self._box.symmetric()

    @property
    def A_blocks(self) -> list[Array]:
        """The blocks of A, one per column block (body): kg, kg m^2."""
        return self._once("A_blocks", self._box.mass_blocks)  # type: ignore[no-any-return]

    @property
    def A(self) -> csr_matrix:
        """A as a sparse matrix."""
        return self._once("A", lambda: self._diagonal(self.A_blocks))

    @property
    def A_inverse(self) -> csr_matrix:
        """A^-1, block by block."""
        return self._once("A_inverse", lambda: self._diagonal([np.linalg.inv(block) for block in self.A_blocks]))

    def _diagonal(self, blocks: list[Array]) -> csr_matrix:
        return _sparse().block_diag(blocks, format="csr") if blocks else _sparse().csr_matrix((0, 0))

    @property
    def b(self) -> Array:
        """N s, N m s."""
        return self._once("b", self._box.b)  # type: ignore[no-any-return]

    @property
    def column_start(self) -> npt.NDArray[np.int32]:
        """Where the unknowns of each column block begin, and where the last one ends."""
        return self._once("column_start", self._box.column_start)  # type: ignore[no-any-return]

    @property
    def J(self) -> csr_matrix:
        """(rows, unknowns), sparse."""
        return self._once("J", lambda: _sparse().csr_matrix(self._box.jacobian(), shape=(self.rows, self.unknowns)))

    @property
    def c(self) -> Array:
        """Offsets of the rows, m/s."""
        return self._once("c", self._box.c)  # type: ignore[no-any-return]

    @property
    def compliance(self) -> Array:
        """The diagonal of C."""
        return self._once("compliance", self._box.compliance)  # type: ignore[no-any-return]

    @property
    def lower(self) -> Array:
        """Bounds of box rows, N s; of no meaning for others."""
        return self._once("lower", self._box.lower)  # type: ignore[no-any-return]

    @property
    def upper(self) -> Array:
        """Bounds of box rows, N s."""
        return self._once("upper", self._box.upper)  # type: ignore[no-any-return]

    @property
    def W(self) -> Optional[csr_matrix]:
        """The coupling of problems in local form; None in simulations."""
        parts = self._box.coupling()
        return None if parts is None else _sparse().csr_matrix(parts, shape=(self.rows, self.rows))

    @property
    def laws(self) -> npt.NDArray[np.void]:
        """The law of each row block, as a structured array: row, size, law, mu, friction, facets."""
        return self._once("laws", lambda: np.array(self._box.laws(), dtype=_LAW))  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ what follows from it

    @property
    def delassus(self) -> csr_matrix:
        """J A^-1 J^T + C + W: what an impulse does to all rows."""
        def make() -> Any:
            made = self.J @ self.A_inverse @ self.J.T + _sparse().diags(self.compliance)
            return (made if self.W is None else made + self.W).tocsr()

        return self._once("delassus", make)

    @property
    def q(self) -> Array:
        """J A^-1 b + c: velocities of the rows without impulses, m/s."""
        return self._once("q", lambda: self.J @ (self.A_inverse @ self.b) + self.c)  # type: ignore[no-any-return]

    def velocity(self, impulse: npt.ArrayLike) -> Array:
        """v = A^-1 (b + J^T r)."""
        return self.A_inverse @ (self.b + self.J.T @ np.asarray(impulse, dtype=np.float64))  # type: ignore[no-any-return]

    def row_velocity(self, impulse: npt.ArrayLike) -> Array:
        """w = J v + (C + W) r + c."""
        return self.delassus @ np.asarray(impulse, dtype=np.float64) + self.q  # type: ignore[no-any-return]

    def certify(self, impulse: npt.ArrayLike) -> Certificate:
        """What the judge of all solvers says about these impulses."""
        r = np.asarray(impulse, dtype=np.float64)
        return Certificate(**self._box.certify(r, self.velocity(r)))

    def save(self, path: PathLike, *, guess: Optional[npt.ArrayLike] = None, title: str = "") -> None:
        """Writes it as FCLib does (docs/problems.md), for `slipstick solve` and others."""
        start = None if guess is None else np.asarray(guess, dtype=np.float64)
        self._box.save(os.fspath(path), title, start)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Problem, (self._box,))

    def __repr__(self) -> str:
        return f"<slipstick.Problem: {self.rows} rows in {len(self.laws)} blocks, {self.unknowns} unknowns>"


Prototype = Callable[[Problem, Array], Optional[npt.ArrayLike]]


class Answer(NamedTuple):
    """What `solve` found."""

    impulse: Array  # r, N s
    velocity: Array  # v
    row_velocity: Array  # w, m/s
    certified: bool
    residual: float  # the judge's verdict, relative
    solver: str  # who found it
    iterations: int
    escalations: int  # solvers that were asked before and failed
    note: str  # why it is not certified


class SolverFailures(NamedTuple):
    """Where a solver in Python gave no answer, and 'auto' took its place."""

    raised: int  # times that it raised, or returned something else than an impulse per row
    refused: int  # times that the judge was not content
    last: str  # what was wrong the last time that it raised


def as_prototype(solver: Prototype) -> tuple[str, Callable[[_engine.ProblemBox, Array], Any]]:
    """A function as the engine takes it: with its name."""
    name = getattr(solver, "__name__", type(solver).__name__)
    return (name, lambda box, guess: solver(Problem(box), guess))


def solve(problem: Problem, solver: Union[str, Prototype] = "auto", *, tolerance: float = 1e-8,
          guess: Optional[npt.ArrayLike] = None, time_limit: float = float("inf"), threads: int = 1) -> Answer:
    """Solves a problem with a solver by name ("auto", "newton", "lemke", "pgs", ...) or with a function f(problem, guess)
    that returns impulses. Islands are solved one by one; f is asked with each of them, and 'auto' where the judge is not
    content with it.
    """
    if isinstance(solver, str) and solver not in _engine.solver_names():
        from ._errors import unknown

        raise unknown("solver", solver, _engine.solver_names())
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, not {tolerance}")
    name, prototype = (solver, None) if isinstance(solver, str) else ("auto", as_prototype(solver))
    start = None if guess is None else np.asarray(guess, dtype=np.float64)
    return Answer(**problem._box.solve(name, prototype, tolerance, time_limit, threads, start))


def load_problem(path: PathLike) -> Problem:
    """Reads a problem of `Problem.save`, `slipstick dump` or the FCLib collection. Rows of one contact are kept together:
    their order is that of `laws`, not that of the file."""
    return Problem(_engine.load_problem(os.fspath(path)))
