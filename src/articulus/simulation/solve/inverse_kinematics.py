"""Positions that meet goals: damped least squares within the limits of the joints and with loops closed."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism.numbers import as_array
from articulus.numerics.newton import least_step, newton
from articulus.simulation.solve.assembly import moving_dofs
from articulus.simulation.solve.goals import FramePoint, FramePose, Goal

STEPS = 100
"""Steps after which the search gives up."""
TRIALS = 30
"""Trials of a step, each shorter than the one before, after which it gives up, too."""
CLOSING = 1e3
"""Weight of an open loop against the distance of the frame from its target."""
CLOSED = 1e-10
"""Residual of the constraints at which loops count as closed [rad, or over the mechanism's length]."""
ARRIVED = 1e-14
"""Error, over the mechanism's length, at which the search is at its end [-]."""
SLOW = 1e-10
"""Relative progress of a step below which the search is at its end."""
RESTARTS = 30
"""Further searches of those that do not arrive, where no estimate is given."""
BETTER = 0.99
"""Error over the least so far below which a further search that does not arrive either takes its place: the first one otherwise."""
LEAST_DAMPING = 1e-12
"""Of the squared norm of the Jacobian: what keeps steps finite that the goals do not determine."""


@dataclass(frozen=True)
class Reach:
    """A position, and how near to its targets it brings the mechanism; arrays with the axes of the batch, if there is one.

    Attributes
    ----------
    q : array, (..., nq)
    ok : bool
        Whether all errors and the residual are within the tolerance.
    distance : float [m]
        Distance of frames, or of the center of mass, from their targets; the largest of several goals.
    angle : float [rad]
        Between frames or axes and their targets, the largest of several goals; 0 where only points were given.
    residual : float [m, rad]
        Largest residual of the constraints: loops that stay open.
    steps : int
    """

    q: np.ndarray
    ok: Any
    distance: Any
    angle: Any
    residual: Any
    steps: Any


def inverse_kinematics(
    mechanism: Mechanism,
    frame: str | Goal | Sequence[Goal],
    target: Any = None,
    guess: Any = None,
    fixed: Sequence[str] = (),
    *,
    tolerance: float = 1e-8,
    params: Mapping[str, Any] | None = None,
    restarts: int | None = None,
    seed: int = 0,
) -> Reach:
    """Return the position nearest to an estimate's path that brings a frame to a target, or as near as it gets.

    Each step minimizes |J s - e|^2 + mu |s|^2 over the steps s that keep every joint within its limits, with mu small near the
    target and grown where a step makes things worse (Levenberg 1944; Nakamura & Hanafusa 1986). Coordinates of flexible bodies
    stay as they are. Rows of a batch are searched independently of each other. A search that ends before its target, at a limit
    or a singular position, begins again at random positions within the limits where no estimate was given; with an estimate
    the result belongs to it, unless `restarts` are asked for.

    Parameters
    ----------
    mechanism : Mechanism
    frame : str, or one or several goals
        Body or frame; or, without `target`, of `art.goals`: `FramePose`, `FramePoint`, `CenterOfMass`, `LookAt`. Where not all
        of them can be met, the sum of their squared errors, each times its weight, is least.
    target : array, (..., 4, 4) or (..., 3)
        Pose in the ground frame, or only the place of the origin [m].
    guess : array, (..., nq), or dict of names
        Where the search starts; neutral if not given. Its leading axes broadcast with those of the targets.
    fixed : sequence of str
        Joints that stay as they are.
    tolerance : float [rad, -]
        Error up to which the targets count as reached: of angles, and of distances over the mechanism's characteristic length
        (`mechanism.description.scales()`).
    params : dict of parameter name to number
    restarts : int
        Further searches from random positions, the same for all rows, for those that do not arrive; 30 without `guess`, none with it,
        if not given. Where none arrives the nearest is returned.
    seed : int
    """
    if restarts is not None and (restarts < 0 or restarts != int(restarts)):
        raise InputError(
            f"inverse_kinematics, restarts: found {restarts}; expected a whole number, 0 or more"
        )
    goals = _goals(frame, target)
    for goal in goals:
        goal.check(mechanism)
    start = mechanism.positions(guess)
    if start.shape[-1:] != (mechanism.nq,):
        raise InputError(
            f"argument 'q' has shape {start.shape}; expected ({mechanism.nq},), or (..., {mechanism.nq})"
        )
    start = mechanism.description.with_unit_quaternions(start, "inverse_kinematics")
    lead = _lead(goals, start.shape[:-1])
    x = np.broadcast_to(start, (*lead, mechanism.nq)).reshape(math.prod(lead), mechanism.nq).copy()
    search = _Search(mechanism, goals, lead, moving_dofs(mechanism, fixed, "inverse_kinematics"), params)
    x, steps = search.run(search.closed(search.within(x)))
    x = search.closed(x)
    error = search.error(x)
    rng = np.random.default_rng(seed)
    for _ in range((RESTARTS if guess is None else 0) if restarts is None else restarts):
        failed = np.flatnonzero(error > tolerance)
        if not failed.size:
            break
        again = search.of(failed)
        there, taken = again.run(again.closed(again.spread(x[failed], rng)))
        there = again.closed(there)
        new = again.error(there)
        better = new < np.where(new <= tolerance, np.inf, BETTER * error[failed])
        rows = failed[better]
        x[rows], steps[rows], error[rows] = there[better], taken[better], new[better]
    reached = error <= tolerance
    angle, distance = search.errors(x)
    residual = np.abs(search.open(x)).max(axis=-1, initial=0.0)
    if not lead:
        figures = (bool(reached[0]), float(distance[0]), float(angle[0]), float(residual[0]), int(steps[0]))
        return Reach(x[0], *figures)
    return Reach(
        x.reshape(*lead, mechanism.nq),
        *(y.reshape(lead) for y in (reached, distance, angle, residual, steps)),
    )


def _goals(frame: Any, target: Any) -> tuple[Goal, ...]:
    """Return what is asked for."""
    if isinstance(frame, str):
        if target is None:
            raise InputError(
                f"target: found none for frame '{frame}'; expected a pose (4, 4) or a point (3,)"
            )
        found = as_array("target", target)
        return (FramePoint(frame, found) if found.shape[-1:] == (3,) else FramePose(frame, found),)
    goals = (frame,) if isinstance(frame, Goal) else tuple(frame)
    if not goals or not all(isinstance(goal, Goal) for goal in goals) or target is not None:
        raise InputError(
            f"inverse_kinematics: found {frame!r}{'' if target is None else ' with a target'}; expected the name of a frame and a "
            "target, or goals such as [art.goals.FramePoint('tool', (0.3, 0.0, 0.5))] without one"
        )
    return goals


def _lead(goals: Sequence[Goal], start: tuple[int, ...]) -> tuple[int, ...]:
    shapes = [start, *(goal.batch() for goal in goals)]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(
            f"inverse_kinematics: leading axes of q and of the targets do not broadcast: {shapes}"
        ) from None


class _Search:
    """The least-squares problem: rows of the errors and of open loops, weighted to lengths; B positions at once.

    Steps are judged in parts of a large displacement.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        goals: Sequence[Goal],
        lead: tuple[int, ...],
        moving: np.ndarray,
        params: Mapping[str, Any] | None,
    ):
        self.mechanism, self.goals, self.params = mechanism, goals, params
        numbers = [np.arange(math.prod(goal.batch())).reshape(goal.batch()) for goal in goals]
        self.targets = [np.broadcast_to(x, lead).ravel() for x in numbers]
        d = mechanism.description
        scales = d.scales(params)
        self.length, self.large = scales.length, scales.displacement
        rows = scales.rows[d.holonomic_rows] if d.constraints else np.zeros(0)
        self.sizes = np.where(np.isnan(rows), self.length, rows)
        self.moving = moving.copy()
        self.lower, self.upper = np.full(mechanism.nv, -np.inf), np.full(mechanism.nv, np.inf)
        self.places = np.full(mechanism.nv, -1)
        limits = mechanism.limits
        for c in d.connections:
            v, at = d.v_slices[c.name], d.q_slices[c.name]
            self.moving[d.mode_slices(c.child)[0]] = False
            if c.joint.nq == c.joint.nv:
                self.places[v] = np.arange(at.start, at.stop)
                self.lower[v], self.upper[v] = limits.lower[at], limits.upper[at]
        self.limited = np.isfinite(self.lower) | np.isfinite(self.upper)
        self.held = np.flatnonzero(self.limited & self.moving)

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the searches end, (B, nq), and after how many steps, (B,)."""
        ends, taken = x.copy(), np.zeros(len(x), dtype=int)
        going = np.arange(len(x))
        A, r = self._rows(x, going)
        size, cost = _squares(A * self.large), _squares(r)
        mu, steps, trials = np.where(size > 0, 1e-6 * size, 1.0), taken.copy(), taken.copy()
        while len(going):
            there = self._displace(x, self._step(A, r, mu, x))
            rows, found = self._rows(there, going)
            new = _squares(found)
            better = new < cost
            ended = np.where(
                better,
                (cost - new <= SLOW * cost) | (new < (ARRIVED * self.length) ** 2),
                trials >= TRIALS - 1,
            )
            mu = np.maximum(np.where(better, 0.1 * mu, 4 * mu), LEAST_DAMPING * size)
            trials, steps = np.where(better, 0, trials + 1), steps + better
            if better.all():
                x, A, r, cost = there, rows, found, new
            else:
                x, r = (np.where(better[:, None], y, old) for y, old in ((there, x), (found, r)))
                A, cost = np.where(better[:, None, None], rows, A), np.where(better, new, cost)
            ended |= steps >= STEPS
            if ended.any():
                ends[going[ended]], taken[going[ended]] = x[ended], steps[ended]
                x, A, r, cost, size, mu, steps, trials, going = (
                    y[~ended] for y in (x, A, r, cost, size, mu, steps, trials, going)
                )
        return ends, taken

    def errors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest angle [rad] and distance [m] from the targets, (B,) each."""
        found = [goal.rows(self.mechanism, x, at, self.params) for goal, at in zip(self.goals, self.targets)]
        angles = [np.linalg.norm(rows.turn, axis=-1) for rows in found]
        distances = [np.linalg.norm(rows.shift, axis=-1) for rows in found]
        return np.max(angles, axis=0), np.max(distances, axis=0)

    def error(self, x: np.ndarray) -> np.ndarray:
        """Return the largest error, (B,): of angles, of distances over the characteristic length, of open loops [-]."""
        angle, distance = self.errors(x)
        left = np.abs(self.open(x) / self.sizes).max(axis=-1, initial=0.0)
        return np.maximum(np.maximum(angle, distance / self.length), left)

    def of(self, rows: np.ndarray) -> _Search:
        """Return the same search for some rows of the batch."""
        out = copy.copy(self)
        out.targets = [at[rows] for at in self.targets]
        return out

    def spread(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one random position for all rows (what may not move stays): within the limits, or half a turn or the mechanism's own size around."""
        both = np.isfinite(self.lower) & np.isfinite(self.upper)
        share = rng.uniform(-1.0, 1.0, len(self.lower))
        x = self._displace(x, np.where(self.moving & ~both, np.pi * self.large * share, 0.0))
        v = np.flatnonzero(both & self.moving)
        x[:, self.places[v]] = (
            self.lower[v] + self.upper[v] + share[v] * (self.upper[v] - self.lower[v])
        ) / 2
        return x

    def within(self, x: np.ndarray) -> np.ndarray:
        """Return positions with every joint that may move inside its limits."""
        x, at = x.copy(), self.places[self.held]
        if len(at):
            x[..., at] = np.clip(x[..., at], self.lower[self.held], self.upper[self.held])
        return x

    def open(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals of the constraints on positions, (..., rows)."""
        d = self.mechanism.description
        return (
            self.mechanism.constraint_residual(x, params=self.params)[..., d.holonomic_rows]
            if d.constraints
            else np.zeros((*x.shape[:-1], 0))
        )

    def closed(self, x: np.ndarray) -> np.ndarray:
        """Return the positions with their loops closed by the smallest change within the limits, as well as they can be closed."""
        if not self.mechanism.description.constraints:
            return x
        return np.array([self._closed(row) for row in x]).reshape(x.shape)

    def _closed(self, x: np.ndarray) -> np.ndarray:
        """Return one position with closed loops: a joint that would pass a limit stops there, and the others do without it."""
        free = self.moving.copy()
        for _ in range(len(free)):
            there = self._close(x, free)
            low, high = self._room(there)
            out = free & ((low > 0) | (high < 0))
            if not out.any():
                return there
            x, free = self.within(there), free & ~out
        return self.within(x)

    def _close(self, x: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return where Newton's method leads that moves only free degrees of freedom."""

        def step(q: np.ndarray, g: np.ndarray) -> np.ndarray:
            return least_step(self._closing(q), -g, free, self.sizes, self.large)

        return newton(x, self.open, step, self.mechanism.integrate_position, CLOSED, self.sizes)[0]

    def _closing(self, x: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the constraints on positions, (..., rows, nv)."""
        return self.mechanism.constraint_jacobian(x, params=self.params)[
            ..., self.mechanism.description.holonomic_rows, :
        ]

    def _rows(self, x: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A (B, m, nv) and r (B, m) of A s = r at positions with the numbers `which` of the batch."""
        A, r = [], []
        for goal, at in zip(self.goals, self.targets):
            rows = goal.rows(self.mechanism, x, at[which], self.params)
            arc = goal.weight * rows.lever[:, None]
            A += [arc[:, :, None] * rows.turn_jacobian, goal.weight * rows.shift_jacobian]
            r += [arc * rows.turn, goal.weight * rows.shift]
        if self.mechanism.description.constraints:
            weight = CLOSING * self.length / self.sizes
            A.append(weight[:, None] * self._closing(x))
            r.append(-weight * self.open(x))
        return np.concatenate(A, axis=1), np.concatenate(r, axis=1)

    def _step(self, A: np.ndarray, r: np.ndarray, mu: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the damped steps; a joint that would pass a limit goes as far as it and the others make up for it."""
        low, high = self._room(x)
        step, free = np.zeros((len(x), A.shape[2])), np.repeat(self.moving[None], len(x), axis=0)
        damping = mu[:, None, None] * np.diag(self.large**-2.0)
        rest, B = r, A if self.moving.all() else A * free[:, None, :]
        for _ in range(A.shape[2]):
            transposed = np.swapaxes(B, -1, -2)
            best = np.linalg.solve(transposed @ B + damping, transposed @ rest[:, :, None])[:, :, 0]
            step = np.where(free, best, step)
            out = free & ((step < low) | (step > high))
            if not out.any():
                break
            step = np.where(out, np.clip(step, low, high), step)
            free &= ~out
            rest, B = r - (A @ np.where(free, 0.0, step)[:, :, None])[:, :, 0], A * free[:, None, :]
        return step

    def _room(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far each degree of freedom may go down and up, (..., nv)."""
        at = np.where(self.limited, x[..., self.places], 0.0)
        return self.lower - at, self.upper - at

    def _displace(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        return self.within(self.mechanism.integrate_position(x, step))


def _squares(rows: np.ndarray) -> np.ndarray:
    """Return the sum of squares of each row of a batch, (B,)."""
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    return np.einsum("bi,bi->b", flat, flat)
