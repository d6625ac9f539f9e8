"""Two or more bounded parameters fitted to measured samples: a coarse look over the box, Nelder and Mead's search from the best of it (SciPy's; the
loss has kinks where contacts begin to stick), and a bootstrap over the samples for the uncertainty."""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

import numpy as np

from .measured import Array
Bounds = Mapping[str, tuple[float, float]]
Losses = Callable[[Array], Array]  # a loss per sample
_DRAWS = 200
_AWAY = (0.02, 0.05, 0.1, 0.2, 0.4)  # of the box


@dataclass(frozen=True)
class Fit:
    """The parameters with the smallest loss (of a rugged one: see `fit`). error: the larger of the standard deviation over the bootstrap and of half the width of the
    region in which the loss is within a share 1/samples of its smallest: where data do not tell values apart, as friction of a ball that
    sticks at once, the second is wide."""

    values: dict[str, float]
    error: dict[str, float]
    loss: float
    tried: Array  # (points, parameters)
    losses: Array  # (points, samples)


def fit(losses: Losses, bounds: Bounds, *, levels: int = 5, searches: int = 40, reduce: Callable[[Array], float] = lambda x: float(np.mean(x)),
        seed: int = 1, rugged: bool = False) -> Fit:
    """Minimizes `reduce` of the losses of all samples. Deterministic. rugged: the loss jumps from point to point, as that of chaotic motions does; the
    smallest one found is then a matter of luck, and the mean of what wins over a bootstrap of the samples is taken instead (bagging)."""
    try:
        from scipy.optimize import minimize  # type: ignore[import]
    except ImportError:
        raise ImportError("fits are made with SciPy: apt-get install python3-scipy") from None
    low = np.array([b[0] for b in bounds.values()])
    span = np.array([b[1] - b[0] for b in bounds.values()])
    tried: list[Array] = []
    found: list[Array] = []

    def loss(scaled: Array) -> float:
        inside = np.clip(scaled, 0.0, 1.0)
        tried.append(low + span * inside)
        found.append(losses(tried[-1]))
        return reduce(found[-1]) * (1 + float(np.abs(scaled - inside).sum()))

    middles = (np.arange(levels) + 0.5) / levels
    for point in itertools.product(middles, repeat=len(low)):
        loss(np.array(point))
    start = (tried[int(np.argmin([reduce(f) for f in found]))] - low) / np.where(span > 0, span, 1)
    size = 0.5 / levels
    simplex = np.vstack([start, *(start + size * np.where(start > 0.5, -1, 1)[i] * np.eye(len(low))[i] for i in range(len(low)))])
    minimize(loss, start, method="Nelder-Mead", options={"initial_simplex": simplex, "maxfev": searches, "xatol": 1e-3, "fatol": 1e-5})
    middle = (tried[int(np.argmin([reduce(f) for f in found]))] - low) / np.where(span > 0, span, 1)
    for i in range(len(low)):  # how steep it is around the best
        for away in (*_AWAY, *(-x for x in _AWAY)):
            if 0 <= middle[i] + away <= 1:
                loss(middle + away * np.eye(len(low))[i])
    points, values = np.array(tried), np.array(found)
    best = int(np.argmin([reduce(f) for f in values]))
    winners = _bootstrap(points, values, reduce, seed)
    if rugged:
        loss((winners.mean(axis=0) - low) / np.where(span > 0, span, 1))
        points, values, best = np.array(tried), np.array(found), len(tried) - 1
    spread = np.maximum(winners.std(axis=0), _valley(points, np.array([reduce(f) for f in values]), values.shape[1]))
    return Fit(dict(zip(bounds, points[best].tolist())), dict(zip(bounds, spread.tolist())), reduce(values[best]), points, values)


def _bootstrap(points: Array, losses: Array, reduce: Callable[[Array], float], seed: int) -> Array:
    """(draws, parameters): the best of the points that were tried, for each draw of the samples."""
    stream = np.random.Generator(np.random.PCG64(seed))
    winners = []
    for _ in range(_DRAWS):
        drawn = losses[:, stream.integers(0, losses.shape[1], losses.shape[1])]
        winners.append(points[int(np.argmin([reduce(row) for row in drawn]))])
    return np.array(winners)


def _valley(points: Array, loss: Array, samples: int) -> Array:
    """Half the width of what is nearly as good as the best: the profile of the loss, by the points that were tried."""
    good = points[loss <= loss.min() * (1 + 1 / samples)]
    width: Array = 0.5 * (good.max(axis=0) - good.min(axis=0))
    return width


def split(count: int, fitted: int, seed: int) -> tuple[Sequence[int], Sequence[int]]:
    """Numbers of the samples that are fitted, and of those that are judged: no sample is both."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(count)
    return sorted(order[:fitted].tolist()), sorted(order[fitted:].tolist())
