"""Fronts of trade-offs between two costs, by homotopy in their shares (Salama et al. 1989)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.design.methods import Minimizer, QuadraticSteps
from articulus.design.program import DesignProgram, Optimum, Point
from articulus.design.regulator_cost import RegulatorCost
from articulus.design.sized_structure import SizedStructure
from articulus.errors import InputError, doubtful
from articulus.numerics.lyapunov import one_thread
from articulus.numerics.streams import stream

Cost = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Gives a cost and its derivatives at a design."""
SHARES = (
    *np.geomspace(1e-4, 0.1, 7)[:-1].tolist(),
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    0.94,
    0.96,
    0.98,
    0.99,
    0.995,
)
"""Shares of the second cost along a front of 20 designs."""
LOWER = 1e-4
"""Relative difference from which on a restart found a better design."""


@dataclass(frozen=True, eq=False)
class FrontDesign:
    """One design of a front.

    Parameters
    ----------
    share : float
        lambda of J = (1 - lambda) first + lambda second.
    x : array, (variables,)
    costs : tuple of two floats
    restarted : bool
        Whether a random start led to a better design than the one before on the front.
    """

    share: float
    x: np.ndarray
    costs: tuple[float, float]
    restarted: bool = False

    @property
    def total(self) -> float:
        """(1 - lambda) first + lambda second."""
        return (1 - self.share) * self.costs[0] + self.share * self.costs[1]


@dataclass(frozen=True, eq=False)
class Front:
    """Designs of which none is better in both costs.

    Parameters
    ----------
    names : tuple of two strings
        Names of the costs.
    variables : tuple of str
    designs : tuple of FrontDesign
        With rising share of the second cost.
    """

    names: tuple[str, str]
    variables: tuple[str, ...]
    designs: tuple[FrontDesign, ...]

    @property
    def costs(self) -> np.ndarray:
        """Both costs of every design, (designs, 2)."""
        return np.array([d.costs for d in self.designs])

    def pick(self, *, first: float | None = None, second: float | None = None) -> FrontDesign:
        """Return the design that is best in one cost while the other is at most what is given.

        Raises
        ------
        InputError
            If no design of the front is as low as that.
        """
        if (first is None) == (second is None):
            raise InputError("pick: expected the most of one cost, `first` or `second`")
        k, most = (0, first) if first is not None else (1, second)
        kept = [d for d in self.designs if d.costs[k] <= most]  # type: ignore[operator]
        if not kept:
            raise InputError(
                f"pick: no design of the front has at most {most:g} of '{self.names[k]}'; its least is {self.costs[:, k].min():.6g}"
            )
        return min(kept, key=lambda d: d.costs[1 - k])

    def table(self) -> list[dict[str, float]]:
        """Return a row for each design: share, costs and variables by name."""
        return [
            {"share": d.share, **dict(zip(self.names, d.costs)), **dict(zip(self.variables, d.x.tolist()))}
            for d in self.designs
        ]

    def plot(self) -> Any:
        """Return a figure of the front, shares beside its designs."""
        from articulus.design.charts import plot_front

        return plot_front(self)


@dataclass(frozen=True, eq=False)
class TradeOff:
    """Two costs of a design, and the front between them.

    Parameters
    ----------
    first, second : functions of an array
        Return cost and derivatives; the first one alone has an obvious minimum, such as the mass of a structure.
    variables : tuple of str
        Positive sizes.
    lower, upper : array, (variables,)
    names : tuple of two strings
        Names of the costs, with their units.
    regular : array, (variables,)
        nu: a small linear cost that keeps the path from bifurcating; zero if not given.
    """

    first: Cost
    second: Cost
    variables: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    names: tuple[str, str] = ("first cost", "second cost")
    regular: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def of(
        structure: SizedStructure,
        cost: RegulatorCost,
        lower: float | np.ndarray,
        upper: float | np.ndarray = 1e12,
    ) -> TradeOff:
        """Return the trade-off between the mass of a structure and the cost of its control.

        Parameters
        ----------
        structure : SizedStructure
        cost : RegulatorCost
            LQR, or LQG if it has sensors.
        lower, upper : float or array, (sizes,)
            Bounds of the sizes.
        """
        count = len(structure.names)
        return TradeOff(
            lambda a: (structure.mass(a), structure.weights), lambda a: cost.at(structure, a), structure.names,
            np.full(count, lower, dtype=float), np.full(count, upper, dtype=float), ("mass [kg]", "control cost"),
        )  # fmt: skip

    def program(self, share: float) -> DesignProgram:
        """Return the minimization of (1 - share) first + share second."""
        nu = self.regular if self.regular.size else np.zeros(len(self.variables))

        def evaluate(x: np.ndarray) -> Point:
            nothing = np.zeros((0, x.size))
            try:
                (a, da), (b, db) = self.first(x), self.second(x)
            except InputError:  # no controller holds this design
                return Point(np.inf, np.zeros(x.size), np.zeros(0), nothing, False)
            value, slope = (1 - share) * a + nu @ x + share * b, (1 - share) * da + nu + share * db
            return Point(value, slope, np.zeros(0), nothing, bool(np.isfinite(value)), (a, b))

        positive = np.ones(len(self.variables), dtype=bool)
        return DesignProgram(
            self.variables, self.lower, self.upper, evaluate, (), positive, np.ones(positive.size)
        )

    def minimize(self, share: float, start: np.ndarray, method: Minimizer | None = None) -> Optimum:
        """Return the optimum of one share from one start."""
        program = self.program(share)
        with one_thread():
            return (method or QuadraticSteps()).minimize(program, program.inside(start))

    def front(
        self,
        shares: Sequence[float] = SHARES,
        *,
        start: np.ndarray | None = None,
        restarts: int = 0,
        seed: int = 0,
    ) -> Front:
        """Return the front: each share begins at the design of the share before, the first at the lower bounds.

        Parameters
        ----------
        shares : sequence of floats
            lambda, from 0 (the first cost alone) to below 1.
        start : array, (variables,)
            Initial sizes for the first share.
        restarts : int
            Random starts at each share, against local minima; what is better takes the place of the homotopy's design.
        seed : int
            Seed of the restarts.

        Warns
        -----
        DoubtfulResult
            Where restarts found a better design than the path, or the path went backwards: it had left the global front.
        """
        x = self.lower.copy() if start is None else np.asarray(start, dtype=float)
        random, designs = stream(seed), []
        for share in sorted(shares):
            if not 0 <= share < 1:
                raise InputError(f"front: share {share:g}; expected at least 0 and below 1")
            best, restarted = self.minimize(share, x), False
            for _ in range(restarts):
                found = self.minimize(share, x * np.exp(random.uniform(-1.5, 1.5, x.size)))
                if found.objective < (1 - LOWER) * best.objective:
                    best, restarted = found, True
            x = best.x
            designs.append(FrontDesign(share, x, best.point.found, restarted))
        front = Front(self.names, self.variables, tuple(designs))
        _doubt(front)
        return front


def _doubt(front: Front) -> None:
    better = [f"{d.share:g}" for d in front.designs if d.restarted]
    if better:
        doubtful(
            f"random starts found better designs than the path at shares {', '.join(better)}: there are local minima"
        )
    back = [
        f"{b.share:g}" for a, b in zip(front.designs, front.designs[1:])
        if b.costs[1] > a.costs[1] * (1 + 1e-6) + 1e-300 or b.costs[0] < a.costs[0] * (1 - 1e-6)
    ]  # fmt: skip
    if back:
        doubtful(
            f"the front goes backwards at shares {', '.join(back)}: designs before or there are not the best; use restarts"
        )
