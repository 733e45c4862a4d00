"""Structure and controller of least weight under limits on mean squares (McLaren & Slater 1989)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from articulus.design.mean_squares import (
    MeanSquareLimit,
    MeanSquares,
    lqr_mean_squares,
    output_mean_squares,
)
from articulus.design.methods import Minimizer, QuadraticSteps
from articulus.design.program import DesignProgram, Optimum, Point
from articulus.design.restarts import best_of
from articulus.design.sized_structure import SizedStructure
from articulus.errors import InputError
from articulus.numerics.lyapunov import covariance

Bounds = tuple[float, float]
MULTIPLIERS: Bounds = (1e-6, 1e6)
"""Bounds of the multipliers."""


@dataclass(frozen=True, eq=False)
class ControlStructure:
    """A structure with sizes and a feedback, disturbed by white noise: least weight under limits on mean squares.

    Parameters
    ----------
    structure : SizedStructure
    efforts : tuple of MeanSquareLimit
        On controls, each in one of them.
    responses : tuple of MeanSquareLimit
        On outputs.
    bounds : two floats [unit of the sizes]
        Bounds of every size.
    measured : array, (measured, 2n), or None
        Outputs y = measured (r, r') that are fed back by u = -K y, whose entries are variables. Without it the state is fed back, with the
        gain of the linear-quadratic form that the optimum has: its weights are the Lagrange multipliers, and these are variables.
    gains : array, (controls, measured)
        Typical sizes of the entries of K; `natural_gains` of the first start if not given.

    Source: McLaren & Slater 1989.
    """

    structure: SizedStructure
    efforts: tuple[MeanSquareLimit, ...]
    responses: tuple[MeanSquareLimit, ...]
    bounds: Bounds = (1e-12, np.inf)
    measured: np.ndarray | None = None
    gains: np.ndarray | None = None

    def __post_init__(self) -> None:
        s = self.structure
        for kind, limits, count in (
            ("effort", self.efforts, s.G.shape[1]),
            ("response", self.responses, len(s.H)),
        ):
            if not limits:
                raise InputError(f"control structure: no limit on the {kind}; expected at least one")
            for x in limits:
                if not x.limit > 0 or not all(0 <= k < count for k in x.entries):
                    raise InputError(
                        f"control structure: {kind} '{x.name}' has the limit {x.limit:g} on {x.entries}; "
                        f"expected a positive limit on entries of 0 to {count - 1}"
                    )
        acting = sorted(k for x in self.efforts for k in x.entries)
        if acting != list(range(s.G.shape[1])):
            raise InputError(
                f"control structure: efforts limit the controls {acting}; expected each of 0 to {s.G.shape[1] - 1} once"
            )
        if self.measured is not None and self.measured.shape[1] != 2 * s.count:
            raise InputError(
                f"control structure: measured has {self.measured.shape[1]} columns; expected {2 * s.count}, (r, r')"
            )

    @property
    def limits(self) -> tuple[MeanSquareLimit, ...]:
        """Efforts and responses."""
        return (*self.efforts, *self.responses)

    @property
    def sizes(self) -> int:
        """Number of sizes."""
        return len(self.structure.names)

    @property
    def program(self) -> DesignProgram:
        """The minimization: sizes first, then multipliers or the gain, row by row."""
        if self.measured is None:
            names = [f"multiplier of {x.name}" for x in (*self.efforts, *self.responses[1:])]
            low, high, scale = (np.full(len(names), v) for v in (*MULTIPLIERS, 1.0))
            positive = np.ones(len(names), dtype=bool)
        else:
            shape = (self.structure.G.shape[1], len(self.measured))
            names = [f"K[{i}, {j}]" for i in range(shape[0]) for j in range(shape[1])]
            low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
            scale = self._gain_scale().ravel()
            positive = np.zeros(len(names), dtype=bool)
        lower, upper = (np.full(self.sizes, b) for b in self.bounds)
        return DesignProgram(
            (*self.structure.names, *names), np.append(lower, low), np.append(upper, high), self.evaluate,
            tuple(x.name for x in self.limits), np.append(np.ones(self.sizes, dtype=bool), positive),
            np.append(np.ones(self.sizes), scale), "kg",
        )  # fmt: skip

    def mean_squares(self, x: np.ndarray) -> MeanSquares:
        """Return the mean squares of a design, (sizes, multipliers or gain)."""
        plant, feedback = self.structure.plant(x[: self.sizes]), x[self.sizes :]
        if self.measured is None:
            return lqr_mean_squares(plant, self.efforts, self.responses, feedback)
        gain = feedback.reshape(self.structure.G.shape[1], len(self.measured))
        return output_mean_squares(plant, self.efforts, self.responses, gain, self.measured)

    def evaluate(self, x: np.ndarray) -> Point:
        """Return weight and limits of a design with their derivatives."""
        try:
            found = self.mean_squares(x)
        except InputError:  # no controller holds this design
            count = len(self.limits)
            return Point(np.inf, np.zeros(x.size), np.full(count, np.inf), np.zeros((count, x.size)), False)
        allowed = np.array([v.limit for v in self.limits])
        by_feedback = found.by_feedback / (x[self.sizes :] if self.measured is None else 1.0)
        weights = self.structure.weights
        return Point(
            self.structure.mass(x[: self.sizes]),
            np.append(weights, np.zeros(x.size - self.sizes)),
            found.values / allowed - 1,
            np.hstack([found.by_sizes, by_feedback]) / allowed[:, None],
            found.stable,
            found,
        )

    def start(
        self, sizes: float | Sequence[float] | np.ndarray, feedback: float | np.ndarray | None = None
    ) -> np.ndarray:
        """Return a start: sizes, and multipliers (all one if not given) or the gain (zero if not given)."""
        count = len(self.program.names) - self.sizes
        value = (1.0 if self.measured is None else 0.0) if feedback is None else feedback
        return np.append(np.broadcast_to(sizes, self.sizes), np.broadcast_to(np.ravel(value), count))

    def scaled_start(self, sizes: np.ndarray, multiplier: float = 1.0) -> np.ndarray:
        """Return sizes times a common factor, and a common multiplier of the efforts, that meet the first effort and the first response.

        Two equations in two unknowns, by Newton's method in logarithms (the scaling step of the source).

        Raises
        ------
        InputError
            If there is no such pair near: the limits contradict each other.
        """
        if self.measured is not None:
            raise InputError("scaled_start: found measured outputs; expected feedback of the state")
        from scipy.optimize import root

        sizes, one = np.asarray(sizes, dtype=float), len(self.efforts)

        def both(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            x = self.start(
                sizes * np.exp(logs[0]),
                np.r_[np.full(one, np.exp(logs[1])), np.ones(len(self.responses) - 1)],
            )
            found = self.mean_squares(x)
            rows = [0, one]
            values = found.values[rows]
            slopes = np.column_stack([
                found.by_sizes[rows] @ x[: self.sizes], found.by_feedback[rows][:, :one].sum(axis=1)
            ])  # fmt: skip
            allowed = np.array([self.efforts[0].limit, self.responses[0].limit])
            return np.log(values / allowed), slopes / values[:, None]

        found = root(both, [0.0, np.log(multiplier)], jac=True, method="hybr", options={"xtol": 1e-12})
        if not np.abs(both(found.x)[0]).max() < 1e-8:
            raise InputError(
                f"no common factor of the sizes meets both '{self.efforts[0].name}' and '{self.responses[0].name}'; "
                "expected limits that some uniform design keeps"
            )
        factor, held = np.exp(found.x)
        return self.start(sizes * factor, np.r_[np.full(one, held), np.ones(len(self.responses) - 1)])

    def minimize(self, starts: np.ndarray | Sequence[np.ndarray], method: Minimizer | None = None) -> Optimum:
        """Return the lightest design from one start or several; `others` has those of the other starts.

        Parameters
        ----------
        starts : array, (variables,), or several
        method : Minimizer
            `QuadraticSteps` if not given; `SequentialApproximations`, `Continuation`.

        Warns
        -----
        DoubtfulResult
            If starts end at different weights, or limits cannot be kept: which ones.
        """
        rows = np.atleast_2d(starts)
        problem = self
        if self.measured is not None and self.gains is None:
            problem = dataclasses.replace(self, gains=self.natural_gains(rows[0, : self.sizes]))
        return best_of(problem.program, rows, method or QuadraticSteps())

    def sweep(
        self, name: str, values: Sequence[float], start: np.ndarray, method: Minimizer | None = None
    ) -> list[Optimum]:
        """Return the lightest designs for values of one limit, or of a factor of all disturbances where `name` is "disturbance"; each begun at the one before.

        Parameters
        ----------
        name : str
        values : sequence of floats
        start : array, (variables,)
        method : Minimizer
        """
        out: list[Optimum] = []
        for value in values:
            if name == "disturbance":
                pushed = dataclasses.replace(self.structure, W=self.structure.W * value)
                problem = dataclasses.replace(self, structure=pushed)
            else:
                problem = self.with_limits(**{name: value})
            out.append(problem.minimize(out[-1].x if out else start, method))
        return out

    def natural_gains(self, sizes: np.ndarray) -> np.ndarray:
        """Return gains with which each measured output alone, as it moves without control, uses up the effort, (controls, measured)."""
        if self.measured is None:
            raise InputError("natural_gains: found feedback of the state; expected measured outputs")
        plant = self.structure.plant(np.asarray(sizes, dtype=float))
        X = covariance(plant.A, plant.E @ plant.E.T)
        moves = np.einsum("ij,jk,ik->i", self.measured, X, self.measured)
        room = np.zeros(self.structure.G.shape[1])
        for x in self.efforts:
            weight = np.diag(x.whole(room.size))
            room = np.where(weight > 0, x.limit / (len(x.entries) * np.where(weight > 0, weight, 1.0)), room)
        moves = np.where(moves > 1e-14 * moves.max(), moves, moves.max())
        return np.sqrt(room[:, None] / moves)

    def gain(self, optimum: Optimum) -> np.ndarray:
        """Return K of an optimum, (controls, measured)."""
        return optimum.point.found.gain

    def with_limits(self, **limits: float) -> ControlStructure:
        """Return the same with other limits, by name."""
        known = [x.name for x in self.limits]
        for name in limits:
            if name not in known:
                raise InputError(f"with_limits: found no limit '{name}'; expected {', '.join(known)}")

        def changed(given: tuple[MeanSquareLimit, ...]) -> tuple[MeanSquareLimit, ...]:
            return tuple(dataclasses.replace(x, limit=limits.get(x.name, x.limit)) for x in given)

        return dataclasses.replace(self, efforts=changed(self.efforts), responses=changed(self.responses))

    def _gain_scale(self) -> np.ndarray:
        shape = (self.structure.G.shape[1], len(self.measured if self.measured is not None else ()))
        return np.broadcast_to(np.asarray(1.0 if self.gains is None else self.gains, dtype=float), shape)


def measure(structure: SizedStructure, what: Literal["state", "rates at the controls"]) -> np.ndarray:
    """Return the outputs of a common feedback: the whole state, or the rates where the controls act (measured = (0, G'))."""
    n = structure.count
    if what == "state":
        return np.eye(2 * n)
    return np.hstack([np.zeros_like(structure.G.T), structure.G.T])
