"""Curves through positions: cubic splines of many paths at once, and curves of closed loops from those of their motors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.numerics.newton import newton

Curve = Callable[[np.ndarray], tuple[np.ndarray, ...]]
"""s from 0 to 1, (points,), -> positions and their first two derivatives by s, (..., points, n) each. A curve with the attribute `knots`, (..., k),
where its third derivative jumps, takes s of every path, too, (..., points)."""
STEPS = 200
"""Steps in which the loops of a path are closed one after another."""
CLOSED = 1e-12
"""Residual [rad, m] at which a loop counts as closed."""
APART = 0.25
"""Difference of a curve's changes from what its derivatives say, summed along it, over the changes, from which on they count as wrong."""


def looked_at(curve: Curve, s: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Return a curve of the user's own at points; raise unless it moves, is finite and its derivatives are those of its positions."""
    found = tuple(np.asarray(x, dtype=float) for x in curve(s))
    shapes = [x.shape for x in found]
    if len(found) != 3 or len(set(shapes)) > 1 or shapes[0][-2:] != (s.shape[-1], n):
        raise InputError(
            f"path_speed: the function of the path gives shapes {shapes} for {s.shape[-1]} places; expected q, dq/ds and d2q/ds2, "
            f"(..., {s.shape[-1]}, {n}) each"
        )
    for what, x in zip(("position", "first derivative", "second derivative"), found):
        if not np.isfinite(x).all():
            where = int(np.argwhere(~np.isfinite(x))[0][-2])
            raise InputError(
                f"path_speed: the {what} of the path at s = {np.broadcast_to(s, x.shape[:-1])[..., where].flat[0]:.4g} is no number; expected one"
            )
    q, first, second = found
    if not (np.abs(first).sum(axis=(-2, -1)) > 0).all():
        raise InputError("path_speed: the path does not move; expected one with a first derivative")
    h = np.diff(s)[..., None]
    way = h * (first[..., 1:, :] + first[..., :-1, :]) / 2 - h**2 * np.diff(second, axis=-2) / 12
    turn = h * (second[..., 1:, :] + second[..., :-1, :]) / 2
    for what, changes, means in (
        ("first", np.diff(q, axis=-2), way),
        ("second", np.diff(first, axis=-2), turn),
    ):
        off, size = np.abs(changes - means).sum(axis=(-2, -1)), np.abs(changes).sum(axis=(-2, -1))
        if (off > APART * size + 1e-6 * np.abs(first).max(axis=(-2, -1))).any():
            raise InputError(
                f"path_speed: the {what} derivatives of the path do not fit to how it goes on; expected derivatives by s, a path without corners, or "
                "more intervals"
            )
    return found


def chords(points: np.ndarray) -> np.ndarray:
    """Return the lengths of the chords so far, over all of them, (..., k), of points (..., k, n)."""
    lengths = np.linalg.norm(np.diff(points, axis=-2), axis=-1)
    if not (lengths > 0).all():
        raise InputError("points: found two equal positions in a row; expected different ones")
    so_far = np.cumsum(lengths, axis=-1)
    return np.concatenate([np.zeros((*lengths.shape[:-1], 1)), so_far], axis=-1) / so_far[..., -1:]


@dataclass(frozen=True, eq=False)
class SplineCurve:
    """Cubic splines without a jump of the third derivative at the first and last inner points (a parabola through three points, a line through two).

    Parameters
    ----------
    points : array, (..., k, n)
    knots : array, (..., k)
        Where each point is passed, increasing from 0 to 1.
    """

    points: np.ndarray
    knots: np.ndarray

    @property
    def flat(self) -> SplineCurve:
        """With one leading axis."""
        return SplineCurve(
            self.points.reshape(-1, *self.points.shape[-2:]), self.knots.reshape(-1, self.knots.shape[-1])
        )

    def part(self, rows: Any) -> SplineCurve:
        """Return some of the paths."""
        return SplineCurve(self.points[rows], self.knots[rows])

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Polynomials of the segments in s less its start, lowest power first, (paths, k - 1, 4, n)."""
        y = self.points.reshape(-1, *self.points.shape[-2:])
        h = np.diff(self.knots.reshape(-1, self.knots.shape[-1]), axis=-1)
        slope = np.diff(y, axis=1) / h[..., None]
        m = _slopes(h, slope)
        h = h[..., None]
        bend = (m[:, 1:] + m[:, :-1] - 2 * slope) / h
        return np.stack([y[:, :-1], m[:, :-1], (slope - m[:, :-1]) / h - bend, bend / h], axis=2)

    def __call__(self, s: np.ndarray) -> tuple[np.ndarray, ...]:
        c, lead, count = self.coefficients, self.points.shape[:-2], s.shape[-1]
        knots = self.knots.reshape(-1, self.knots.shape[-1])
        many = np.broadcast_to(s, (*lead, count)).reshape(-1, count)
        where = np.zeros(many.shape, dtype=int)
        for k in range(1, c.shape[1]):
            where += many >= knots[:, k, None]
        row = where + c.shape[1] * np.arange(len(c))[:, None]
        x = many - np.take(knots[:, :-1], row)
        taken = np.take(c.reshape(-1, 4 * c.shape[-1]), row, axis=0)  # much faster than by [row]
        return tuple(y.reshape(*lead, count, -1) for y in _cubics(c.shape[-1])(taken, x))


@cache
def _cubics(n: int) -> kernel.Kernel:
    """Return the native function of coefficients, lowest power first, and x, that gives n cubics and their first two derivatives."""

    def build() -> ca.Function:
        c, x = SX.sym("c", 4 * n), SX.sym("x")
        c0, c1, c2, c3 = ca.vertsplit(c, n)
        out = c0 + x * (c1 + x * (c2 + x * c3)), c1 + x * (2 * c2 + x * (3 * c3)), 2 * c2 + x * (6 * c3)
        return ca.Function("cubics", [c, x], list(out))

    return kernel.cached(f"cubics 1 {n}", build, ranks=lambda: ((1, 0), (1, 1, 1)))


def _slopes(h: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return first derivatives at the points, (paths, k, n), from chords (paths, k - 1) and their slopes."""
    paths, count = h.shape
    if count == 1:
        return np.repeat(slope, 2, axis=1)
    A = np.zeros((paths, count + 1, count + 1))
    r = np.empty((paths, count + 1, slope.shape[-1]))
    inner = np.arange(1, count)
    A[:, inner, inner - 1], A[:, inner, inner + 1] = h[:, 1:], h[:, :-1]
    A[:, inner, inner] = 2 * (h[:, 1:] + h[:, :-1])
    w = h[..., None]
    r[:, 1:-1] = 3 * (w[:, 1:] * slope[:, :-1] + w[:, :-1] * slope[:, 1:])
    if count == 2:  # a parabola: second derivatives do not change within the segments
        A[:, 0, 0] = A[:, 0, 1] = A[:, -1, -1] = A[:, -1, -2] = 1.0
        r[:, 0], r[:, -1] = 2 * slope[:, 0], 2 * slope[:, -1]
    else:
        A[:, 0, 0], A[:, 0, 1] = h[:, 1], h[:, 0] + h[:, 1]
        A[:, -1, -1], A[:, -1, -2] = h[:, -2], h[:, -1] + h[:, -2]
        for row, (near, far) in ((0, (0, 1)), (-1, (-1, -2))):
            p, q = w[:, near], w[:, far]
            r[:, row] = ((p + 2 * (p + q)) * q * slope[:, near] + p**2 * slope[:, far]) / (p + q)
    return np.linalg.solve(A, r)


@dataclass(frozen=True, eq=False)
class Closing:
    """A curve of all coordinates of a mechanism with closed loops, from a curve of some of them.

    Parameters
    ----------
    mechanism : Mechanism
    given : Curve
        Values of the coordinates that `coordinates` names.
    places : array of int
        Velocities of these, as many as there are degrees of freedom.
    coordinates : array of int
    start : array, (nq,)
        Position near the start of the path; says in which way the loops are closed.
    """

    mechanism: Mechanism
    given: Curve
    places: np.ndarray
    coordinates: np.ndarray
    start: np.ndarray

    def part(self, rows: Any) -> Closing:
        """Return some of the paths."""
        return Closing(self.mechanism, part_of(self.given, rows), self.places, self.coordinates, self.start)

    @property
    def knots(self) -> np.ndarray | None:
        """Where third derivatives jump."""
        return getattr(self.given, "knots", None)

    @cached_property
    def others(self) -> np.ndarray:
        """Velocities that follow from the loops."""
        return np.setdiff1d(np.arange(self.mechanism.nv), self.places)

    def _between(self, q: np.ndarray, q_end: np.ndarray, share: Any) -> np.ndarray:
        """Return positions at a share of the way from one to another, or beyond."""
        m = self.mechanism
        if m.nq == m.nv:
            return np.asarray((1 - share) * q + share * q_end)
        return np.array(m.integrate_position(q, share * m.position_difference(q, q_end)))

    @cached_property
    def _along(self) -> tuple[np.ndarray, np.ndarray]:
        """Closed positions at steps along the paths, one after another."""
        s = np.linspace(0.0, 1.0, STEPS + 1)
        given = self.given(s)[0]
        out = np.empty((*given.shape[:-1], self.mechanism.nq))
        q = np.broadcast_to(self.start, (*given.shape[:-2], self.mechanism.nq)).copy()
        for share in np.linspace(0.0, 1.0, 11):
            begin = self.start[self.coordinates]
            q[..., self.coordinates] = (1 - share) * begin + share * given[..., 0, :]
            q = self._closed(q, 0.0)
        for k in range(len(s)):
            guess = q if k < 2 else self._between(out[..., k - 2, :], out[..., k - 1, :], 2.0)
            guess[..., self.coordinates] = given[..., k, :]
            out[..., k, :] = q = self._closed(guess, s[k])
        return s, out

    def _closed(self, q: np.ndarray, s: Any) -> np.ndarray:
        m = self.mechanism

        def step(q: np.ndarray, residual: np.ndarray) -> np.ndarray:
            turn = np.zeros((*q.shape[:-1], m.nv))
            turn[..., self.others] = -_least(m.constraint_jacobian(q)[..., self.others], residual)
            return turn

        q, _ = newton(q, m.constraint_residual, step, m.integrate_position, CLOSED)
        off = np.abs(m.constraint_residual(q)).max(axis=-1)
        if not (off < 1e-9).all():
            where = float(np.broadcast_to(s, off.shape).flat[int(np.argmax(off))])
            raise NumericalError(
                f"closed path: at s = {where:.4g} the loops of '{m.name}' do not close ({off.max():.3g} m or rad are left); expected a "
                "path within reach that does not pass a dead point"
            )
        return q

    def __call__(self, s: np.ndarray) -> tuple[np.ndarray, ...]:
        m, (known, held) = self.mechanism, self._along
        given, first_given, second_given = self.given(s)
        k = np.clip(np.searchsorted(known, s) - 1, 0, len(known) - 2)
        share = ((s - known[k]) / (known[k + 1] - known[k]))[..., None]
        near = np.broadcast_to(k, given.shape[:-1])[..., None]
        before, after = (np.take_along_axis(held, near + j, -2) for j in (0, 1))
        q = self._between(before, after, share)
        q[..., self.coordinates] = given
        q = self._closed(q, s)
        G = m.constraint_jacobian(q)
        first, second = np.zeros((2, *q.shape[:-1], m.nv))
        first[..., self.places], second[..., self.places] = first_given, second_given
        first[..., self.others] = -_least(G[..., self.others], _times(G, first))
        rest = m.constraint_acceleration(q, first, second)
        second[..., self.others] = -_least(G[..., self.others], rest)
        return q, first, second


def part_of(curve: Curve, rows: Any) -> Curve:
    """Return some of many paths."""
    if isinstance(curve, SplineCurve | Closing):
        return curve.part(rows)
    return lambda s: tuple(np.asarray(x)[rows] for x in curve(s))


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _times(np.linalg.pinv(A, rcond=1e-9), b)


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]
