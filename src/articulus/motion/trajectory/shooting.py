"""Multiple shooting: states at the ends of an interval follow from those at its start by one step of the Runge-Kutta method of order 4.

Inputs are linear between the nodes of the mesh. The rates of the first stage are unknowns at the node, as in collocation; those of the
other three come from the equations of the phase, for all intervals in one batch per stage. Derivatives are the chain rule over the
stages, with exact second derivatives by the adjoints of the stages: nothing is compiled but the equations and their derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.program import FunctionBlock

AHEAD = (0.5, 0.5, 1.0)
"""Part of the interval at which the second to the fourth stage are."""
WEIGHTS = (1 / 6, 2 / 6, 2 / 6, 1 / 6)
"""Of the rates of the four stages."""
ROUNDS = 20
"""Most steps of Newton's method for the rates of a stage, where equations are not linear in them."""
SMALL = 1e-11
"""Step of it, over 1 and the size of the rates, that ends it."""


@dataclass(frozen=True, eq=False)
class ShootingStage:
    """One stage of all steps.

    Parameters
    ----------
    z : array, (intervals, n)
    by : array, (intervals, n, ny)
        Its derivatives by the unknowns of the step.
    J : array, (intervals, equations, n)
        Derivatives of the equations; none for the first stage, whose rates are unknowns.
    """

    z: np.ndarray
    by: np.ndarray
    J: np.ndarray


class ShootingSteps:
    """One step on each interval of a phase.

    Parameters
    ----------
    phase : Phase
    first, last : array of int, (intervals, n)
        Numbers of the unknowns at the start and at the end of each interval.
    duration : int
        Number of the duration.
    lengths : array, (intervals,)
        Lengths of the intervals over the duration.
    """

    def __init__(
        self, phase: Phase, first: np.ndarray, last: np.ndarray, duration: int, lengths: np.ndarray
    ) -> None:
        self.phase, self.lengths = phase, lengths
        self.first, self.last, self.duration = first, last, duration
        self.states = phase.states
        self.rates = np.array([phase.rates[int(k)] for k in self.states], dtype=int)
        self.inputs = np.array(phase.inputs, dtype=int)
        known = np.concatenate([self.states, self.inputs])
        self.solved = np.setdiff1d(np.arange(phase.size), known)
        self.free = phase.duration[0] < phase.duration[1]
        self._equations = self._block(phase.equations)
        self._running = None if phase.running is None else self._block(phase.running)
        self._kept: tuple[np.ndarray, list[ShootingStage]] | None = None

    @property
    def index(self) -> np.ndarray:
        """Numbers of the unknowns of each step: z at its start, inputs at its end, the duration if it is free."""
        parts = [self.first, self.last[:, self.inputs]]
        if self.free:
            parts.append(np.full((len(self.first), 1), self.duration))
        return np.hstack(parts)

    def _block(self, function: ca.Function) -> FunctionBlock:
        """Return a function of z at all intervals, whose unknowns are all entries of an array (intervals, n)."""
        z, none, n, count = (
            SX.sym("z", self.phase.size),
            SX.sym("d", 0),
            self.phase.size,
            len(self.first),
        )
        zeros = np.zeros((count, function.numel_out(0)))
        made = ca.Function("at", [z, none], [function(z)])
        return FunctionBlock(
            "stage", made, np.arange(count * n).reshape(count, n), np.zeros((count, 0)), zeros, zeros
        )

    def _gradients(self, block: FunctionBlock, z: np.ndarray) -> np.ndarray:
        """Return the derivatives of a function of z, (intervals, rows, n)."""
        rows, columns = block.jacobian_pattern
        out = np.zeros((len(z), block.width, self.phase.size))
        out[:, rows, columns] = block.jacobian(z.ravel())
        return out

    def _curvatures(self, block: FunctionBlock, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the second derivatives of weights . function, (intervals, n, n)."""
        rows, columns = block.hessian_pattern
        out = np.zeros((len(z), self.phase.size, self.phase.size))
        out[:, rows, columns] = out[:, columns, rows] = block.hessian(z.ravel(), weights)
        return out

    @cached_property
    def _linear(self) -> bool:
        """Whether the equations are linear in what they are solved for."""
        rows, columns = self._equations.hessian_pattern
        return not (np.isin(rows, self.solved) & np.isin(columns, self.solved)).any()

    def _solve(self, z: np.ndarray) -> None:
        """Set what the equations determine."""
        for _ in range(1 if self._linear else ROUNDS):
            J = self._gradients(self._equations, z)[:, :, self.solved]
            r = self._equations.values(z.ravel())
            step = np.linalg.solve(J, r[..., None])[..., 0]
            z[:, self.solved] -= step
            if np.abs(step).max(initial=0) <= SMALL * (1 + np.abs(z[:, self.solved]).max(initial=0)):
                return
        if not self._linear:
            z[:, self.solved] = np.nan

    def lengths_in_time(self, x: np.ndarray) -> np.ndarray:
        """Return the lengths of the intervals, (intervals,) [s]."""
        return self.lengths * x[self.duration]

    def points(self, x: np.ndarray) -> list[np.ndarray]:
        """Return z of the four stages, (intervals, n) each."""
        z, h, ahead = x[self.first], self.lengths_in_time(x)[:, None], x[self.last][:, self.inputs]
        made = [z]
        for c in AHEAD:
            at = z.copy()
            at[:, self.states] += c * h * made[-1][:, self.rates]
            at[:, self.inputs] += c * (ahead - z[:, self.inputs])
            self._solve(at)
            made.append(at)
        return made

    def stages(self, x: np.ndarray) -> list[ShootingStage]:
        """Return the four stages with their derivatives; those of the last x are kept."""
        if self._kept is not None and np.array_equal(self._kept[0], x):
            return self._kept[1]
        n, nu = self.phase.size, len(self.inputs)
        count, ny = len(self.first), n + nu + self.free
        h = self.lengths_in_time(x)[:, None, None]
        start = np.zeros((count, n, ny))
        start[:, :, :n] = np.eye(n)
        points = self.points(x)
        made = [ShootingStage(points[0], start, np.zeros((count, 0, n)))]
        for c, z in zip(AHEAD, points[1:]):
            before, J, by = made[-1], self._gradients(self._equations, z), np.zeros((count, n, ny))
            by[:, self.states] = start[:, self.states] + c * h * before.by[:, self.rates]
            if self.free:
                by[:, self.states, -1] += c * self.lengths[:, None] * before.z[:, self.rates]
            by[:, self.inputs, self.inputs] = 1 - c
            by[:, self.inputs, n + np.arange(nu)] = c
            by[:, self.solved] = -np.linalg.solve(J[:, :, self.solved], J @ by)
            made.append(ShootingStage(z, by, J))
        self._kept = (x.copy(), made)
        return made

    def first_derivatives(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of the equations at the first node, (equations, n)."""
        return self._gradients(self._equations, x[self.first])[0]

    def ends(self, x: np.ndarray) -> np.ndarray:
        """Return the states at the ends of the intervals, (intervals, states)."""
        points = self.points(x)
        rates = sum(w * z[:, self.rates] for w, z in zip(WEIGHTS, points))
        return points[0][:, self.states] + self.lengths_in_time(x)[:, None] * rates

    def ends_by(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of the ends, (intervals, states, ny)."""
        stages = self.stages(x)
        by = sum(w * s.by[:, self.rates] for w, s in zip(WEIGHTS, stages))
        out = stages[0].by[:, self.states] + self.lengths_in_time(x)[:, None, None] * by
        if self.free:
            rates = sum(w * s.z[:, self.rates] for w, s in zip(WEIGHTS, stages))
            out[:, :, -1] += self.lengths[:, None] * rates
        return out

    def costs(self, x: np.ndarray) -> np.ndarray:
        """Return the running cost of each interval, (intervals, 1)."""
        assert self._running is not None
        values = sum(w * self._running.values(z.ravel()) for w, z in zip(WEIGHTS, self.points(x)))
        return self.lengths_in_time(x)[:, None] * values

    def costs_by(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of the running costs, (intervals, 1, ny)."""
        assert self._running is not None
        stages = self.stages(x)
        by = sum(w * (self._gradients(self._running, s.z) @ s.by) for w, s in zip(WEIGHTS, stages))
        out = self.lengths_in_time(x)[:, None, None] * by
        if self.free:
            values = sum(w * self._running.values(s.z.ravel()) for w, s in zip(WEIGHTS, stages))
            out[:, :, -1] += self.lengths[:, None] * values
        return out

    def curvatures(self, x: np.ndarray, ends: np.ndarray | None, costs: np.ndarray | None) -> np.ndarray:
        """Return the second derivatives of ends . states at the ends + costs . running costs, (intervals, ny, ny).

        Stages are gone through from the last to the first. The adjoint of a stage's z gives the weights of its equations; all that is
        not linear besides them is the length of the interval times the rates.
        """
        stages, h = self.stages(x), self.lengths_in_time(x)[:, None]
        ny = stages[0].by.shape[2]
        total, by_length = np.zeros((len(h), ny, ny)), np.zeros((len(h), ny))
        on_rates = [np.zeros((len(h), len(self.rates))) for _ in stages]
        if ends is not None:
            for k, weight in enumerate(WEIGHTS):
                on_rates[k] += weight * h * ends
                by_length += weight * (ends[:, None] @ stages[k].by[:, self.rates])[:, 0]
        for k in reversed(range(len(stages))):
            stage, adjoint = stages[k], np.zeros(stages[k].z.shape)
            curvature = np.zeros((len(h), self.phase.size, self.phase.size))
            adjoint[:, self.rates] += on_rates[k]
            if costs is not None:
                assert self._running is not None
                gradient = WEIGHTS[k] * costs * self._gradients(self._running, stage.z)[:, 0]
                adjoint += h * gradient
                by_length += (gradient[:, None] @ stage.by)[:, 0]
                curvature += self._curvatures(self._running, stage.z, WEIGHTS[k] * h * costs)
            if k:
                if adjoint[:, self.solved].any():
                    square = stage.J[:, :, self.solved].transpose(0, 2, 1)
                    forces = -np.linalg.solve(square, adjoint[:, self.solved, None])[..., 0]
                    curvature += self._curvatures(self._equations, stage.z, forces)
                    adjoint += (forces[:, None] @ stage.J)[:, 0]
                on_states = adjoint[:, self.states]
                on_rates[k - 1] += AHEAD[k - 1] * h * on_states
                by_length += AHEAD[k - 1] * (on_states[:, None] @ stages[k - 1].by[:, self.rates])[:, 0]
            if curvature.any():
                total += stage.by.transpose(0, 2, 1) @ (curvature @ stage.by)
        if self.free:
            total[:, -1] += self.lengths[:, None] * by_length
            total[:, :, -1] += self.lengths[:, None] * by_length
        return total


class _Dense:
    """Numbers of the entries of derivatives that are all there."""

    index: np.ndarray
    width: int

    @cached_property
    def jacobian_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the derivatives at one place, by columns."""
        columns, rows = np.divmod(np.arange(self.width * self.index.shape[1]), self.width)
        return rows, columns

    @property
    def rows(self) -> int:
        """Number of constraints."""
        return len(self.index) * self.width


class StepEnds(_Dense):
    """Constraints of a program: states at the ends of the intervals are those of the steps; a stand-in for `FunctionBlock`."""

    def __init__(self, steps: ShootingSteps) -> None:
        self.name, self.steps = "states follow from rates", steps
        self.index = np.hstack([steps.index, steps.last[:, steps.states]])
        self.width = len(steps.states)
        self.lower = self.upper = np.zeros((len(self.index), self.width))

    @cached_property
    def hessian_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns, upper triangle, of second derivatives at one place."""
        return np.triu_indices(self.steps.index.shape[1])

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals, (intervals, states)."""
        return x[self.steps.last[:, self.steps.states]] - self.steps.ends(x)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return their derivatives, by columns."""
        by = self.steps.ends_by(x)
        ones = np.broadcast_to(np.eye(self.width), (len(by), self.width, self.width))
        return np.concatenate([-by, ones], axis=2).transpose(0, 2, 1).reshape(len(by), -1)

    def hessian(self, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return the second derivatives of multipliers . residuals, (intervals, entries of the pattern)."""
        return self.steps.curvatures(x, -multipliers, None)[:, *self.hessian_pattern]


class StepCosts(_Dense):
    """Costs of a program: the running cost of each interval; a stand-in for `FunctionBlock`."""

    width = 1

    def __init__(self, steps: ShootingSteps) -> None:
        self.name, self.steps, self.index = "running cost", steps, steps.index
        self.lower = self.upper = np.zeros((len(self.index), 1))

    @cached_property
    def hessian_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns, upper triangle, of second derivatives at one place."""
        return np.triu_indices(self.index.shape[1])

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return the costs, (intervals, 1)."""
        return self.steps.costs(x)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return their derivatives, (intervals, ny)."""
        return self.steps.costs_by(x)[:, 0]

    def hessian(self, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return the second derivatives of multipliers . costs, (intervals, entries of the pattern)."""
        return self.steps.curvatures(x, None, multipliers)[:, *self.hessian_pattern]
