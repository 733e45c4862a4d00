"""Place and length of one piezoelectric pair on a beam, by a search over a grid that is made finer around the best.

Source: Devasia, Meressi, Paden & Bayo 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.piezo.beam_modes import BeamModes
from articulus.motion.inversion.piezo.criteria import Criterion, Modal, cost_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINE = 1e-5
"""Spacing of the last grid, over the length of the beam."""
AROUND = 3
"""Points of a finer grid to each side of the best point so far."""


@dataclass(frozen=True, eq=False)
class BeamPlacement:
    """Place of a pair on a beam.

    Parameters
    ----------
    criterion : str
    beam : float [m]
        Length of the beam.
    first, second : float [m]
        Where the best pair begins and ends.
    cost : float
        Cost of the best pair; see `beam_placement`.
    pairs : array, (m, 2) [m]
        All pairs that were tried first: where they begin and end.
    costs : array, (m,)
        Costs of these pairs; infinite where a mode is not reached.
    """

    criterion: str
    beam: float
    first: float
    second: float
    cost: float
    pairs: np.ndarray
    costs: np.ndarray

    @property
    def length(self) -> float:
        """Length of the pair [m]."""
        return self.second - self.first

    @property
    def center(self) -> float:
        """Middle of the pair [m]."""
        return (self.first + self.second) / 2

    def __str__(self) -> str:
        return (
            f"{self.criterion}: from {self.first:.5g} to {self.second:.5g} m (length {self.length / self.beam:.4f}, middle "
            f"{self.center / self.beam:.4f} of the beam), cost {self.cost:.6g}"
        )

    def plot(self) -> Figure:
        """Return a figure: the cost over the length and the middle of the pair, with the best."""
        import matplotlib.pyplot as plt

        known = np.isfinite(self.costs)
        (first, second), values = self.pairs[known].T, self.costs[known]
        length, center = second - first, (first + second) / 2
        figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
        top = np.quantile(values, 0.7) if values.max() > 5 * np.abs(np.median(values)) else values.max()
        filled = ax.tricontourf(
            length / self.beam, center / self.beam, np.minimum(values, top), levels=24, cmap="viridis_r"
        )
        ax.plot(self.length / self.beam, self.center / self.beam, "o", color="tab:red", label="best")
        ax.set(
            xlabel="length of the pair / beam", ylabel="middle of the pair / beam", title=str(self.criterion)
        )
        figure.colorbar(filled, label="cost")
        ax.legend(frameon=False)
        return figure


def beam_placement(
    beam: BeamModes,
    gain: float,
    *,
    criterion: Criterion = "passive",
    feedback: float | None = None,
    R: float = 1.0,
    candidates: Any = None,
    grid: int = 41,
) -> BeamPlacement:
    """Return the place and the length of the piezoelectric pair on a beam that make a criterion smallest.

    Mass and stiffness of the pair are omitted, as if they were spread over the beam.

    Parameters
    ----------
    beam : BeamModes
        With as many modes as the vibration has.
    gain : float [N m/V]
        Moment by voltage: `PiezoLayers.gain`.
    criterion : str
        "passive": the damping that a voltage against the rate of the collocated measurement gives to the slowest mode; "lqr":
        worst cost of a linear regulator; "gramian": smallest eigenvalue of the controllability Gramian, which misplaces
        actuators because it takes a well-damped mode for one that is hard to reach. See `criteria.cost_of`.
    feedback : float [V^2 s/J]
        For "passive": voltage by rate of gain times rotation. It is needed: with the best gain for each pair the size of a pair
        would not matter.
    R : float [J/V^2]
        Weight of the voltage, for "lqr".
    candidates : array, (m, 2) [m]
        Pairs to choose from, where they begin and end. If not given, all pairs with both ends on a grid, and then finer
        grids around the best of them.
    grid : int
        Places at which a pair may begin and end, both ends of the beam among them.
    """
    if beam.count < 1 or grid < 3:
        raise InputError(
            f"beam_placement: found {beam.count} modes and a grid of {grid}; expected at least 1 and 3"
        )
    if not gain != 0:
        raise InputError("beam_placement, gain: found 0; expected the moment by voltage [N m/V]")
    if criterion == "passive" and feedback is None:
        raise InputError(
            "beam_placement, feedback: found none; expected the gain of the passive feedback [V^2 s/J], small against omega / b^2 "
            "if the damping of all modes by the same small gain is meant"
        )
    modal = Modal(beam.omega, np.diag(2 * beam.damping * beam.omega))
    of = cost_of(criterion, modal, feedback=feedback, R=R)

    def cost(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return of(gain * (beam.slopes(second) - beam.slopes(first)))

    ends = np.linspace(0.0, beam.length, grid)
    pairs = np.stack([ends[k] for k in np.triu_indices(grid, 1)], axis=1)
    if candidates is not None:
        pairs = _pairs(candidates, beam.length)
    costs = cost(*pairs.T)
    if not np.isfinite(costs).any():
        raise NumericalError(
            f"beam_placement: none of the pairs reaches all {beam.count} modes; take fewer modes or other pairs"
        )
    k = _first_of_least(costs)
    best = float(pairs[k, 0]), float(pairs[k, 1]), float(costs[k])
    if candidates is None:
        best = _refine(cost, best, beam.length, beam.length / (grid - 1))
    return BeamPlacement(criterion, beam.length, *best, pairs, costs)


def _pairs(candidates: Any, length: float) -> np.ndarray:
    pairs = np.asarray(candidates, dtype=float)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise InputError(
            f"beam_placement, candidates: found shape {pairs.shape}; expected (m, 2), where pairs begin and end [m]"
        )
    wrong = (pairs[:, 0] >= pairs[:, 1]) | (pairs[:, 0] < 0) | (pairs[:, 1] > length * (1 + 1e-12))
    if wrong.any():
        raise InputError(
            f"beam_placement, candidates: found a pair from {pairs[wrong][0][0]:g} to {pairs[wrong][0][1]:g} m; expected "
            f"0 <= first < second <= {length:g} m"
        )
    return pairs


def _first_of_least(costs: np.ndarray) -> int:
    """Return the first place whose cost is the least to rounding: of pairs that mirror each other, always the same one."""
    least = np.min(costs)
    return int(np.flatnonzero(costs <= least + 1e-9 * abs(least))[0])


def _refine(
    cost: Callable[[np.ndarray, np.ndarray], np.ndarray],
    best: tuple[float, float, float],
    length: float,
    spacing: float,
) -> tuple[float, float, float]:
    """Return the best pair after grids of falling spacing around the best so far; the grid moves along before it shrinks."""
    steps = np.arange(-AROUND, AROUND + 1)
    spacing /= 2
    while spacing > FINE * length:
        first, second = np.meshgrid(*(np.clip(x + steps * spacing, 0.0, length) for x in best[:2]))
        first, second = first[second > first], second[second > first]
        found = cost(first, second)
        k = int(found.argmin())
        moved = max(abs(first[k] - best[0]), abs(second[k] - best[1]))
        if found[k] < best[2]:
            best = float(first[k]), float(second[k]), float(found[k])
            if moved > (AROUND - 0.5) * spacing:
                continue
        spacing /= 2
    return best
