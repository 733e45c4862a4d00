"""`Servo`: a mechanism whose chosen frame coordinates follow a path; accelerations, forces and their derivatives at given states.

    M vdot + h = B tau - G' lambda,   G vdot + gamma = 0,   C vdot + beta = y_d''

G are independent rows of the loops, C the rows of the outputs: with as many driven joints as outputs the equations determine vdot, tau
and lambda at every state, and what they leave free is the internal motion of the arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.loops.free_coordinates import rows_of_split
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.model.mechanism.constraint.frame_coordinates import ANGLES, FrameCoordinates

Array = np.ndarray
Params = Mapping[str, Any] | None

PART = 256
"""States whose matrices are worked on together."""
ROWS = "outputs"
"""Name of the constraint that holds the rows of the outputs."""


@dataclass(frozen=True)
class PathPoint:
    """What the path asks for at some times, (n, m) each: outputs and their first two derivatives; the times are (n,) [s]."""

    t: Array
    y: Array
    rate: Array
    acceleration: Array

    def __getitem__(self, part: slice) -> PathPoint:
        return PathPoint(self.t[part], self.y[part], self.rate[part], self.acceleration[part])


@dataclass(frozen=True)
class ServoMotion:
    """Accelerations (n, nv), driven forces (n, m) and multipliers of the kept loop rows (n, l) at n states."""

    vdot: Array
    tau: Array
    multipliers: Array

    def __getitem__(self, part: slice) -> ServoMotion:
        return ServoMotion(self.vdot[part], self.tau[part], self.multipliers[part])


class Servo:
    """The equations of a mechanism whose outputs follow a path; every method takes n states at once.

    Parameters
    ----------
    mechanism : Mechanism
    outputs : sequence of (str, str)
        Frame and coordinate.
    joints : sequence of str
        That are driven.
    params : dict of parameter name to number
    """

    def __init__(
        self, mechanism: Mechanism, outputs: Sequence[tuple[str, str]], joints: Sequence[str], params: Params
    ):
        d = mechanism.description
        if d.nq != d.nv:
            raise InputError(
                f"'{d.name}' has joints with quaternions (ball or free); expected one coordinate per degree of freedom, for example "
                "three revolute joints with their axes through one point"
            )
        self.mechanism, self.params = mechanism, params
        self.outputs = tuple(outputs)
        self.driven = _driven(mechanism, joints)
        self.undriven = np.setdiff1d(np.arange(d.nv), self.driven)
        if len(self.driven) != len(self.outputs):
            raise InputError(
                f"found {len(self.outputs)} outputs ({', '.join(self.output_names)}) and {len(self.driven)} driven degrees of freedom "
                f"({', '.join(joints)}); expected as many outputs as driven joints. With fewer outputs many torques do it, with more none"
            )
        self.whole = mechanism.from_description(d).constrain(FrameCoordinates(ROWS, self.outputs))
        if not all(c.holonomic for c in d.constraints):
            raise InputError(
                f"'{d.name}' has constraints on velocities; expected constraints on positions only"
            )
        self.loop_rows = np.zeros(0, dtype=int)
        """Independent rows of the loops; set by `keep_independent_rows`."""
        self.turning = np.array([what in ANGLES for _, what in self.outputs])

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(f"{frame}.{what}" for frame, what in self.outputs)

    @property
    def nv(self) -> int:
        return self.mechanism.nv

    @property
    def rows(self) -> Array:
        """Places of the kept rows, those of the outputs last."""
        first = len(self.whole.constraint_names) - len(self.outputs)
        return np.concatenate([self.loop_rows, first + np.arange(len(self.outputs))])

    def keep_independent_rows(self, q: Array, t: float) -> None:
        """Choose the rows of the loops that imply all others at a position."""
        loops = len(self.whole.constraint_names) - len(self.outputs)
        G = self.whole.constraint_jacobian(q, t, params=self.params)[:loops]
        self.loop_rows = np.array(sorted(rows_of_split(G)), dtype=int)

    # rows

    def residual(self, q: Array, at: PathPoint) -> Array:
        """Return what the positions are off by, (n, rows) [m, rad]; angles by at most half a turn."""
        found = self.whole.constraint_residual(q, at.t, params=self.params)[..., self.rows]
        m = len(self.outputs)
        off = found[..., -m:] - at.y
        found[..., -m:] = np.where(self.turning, (off + np.pi) % (2 * np.pi) - np.pi, off)
        return found

    def rate(self, q: Array, v: Array, at: PathPoint) -> Array:
        """Return what the velocities are off by, (n, rows) [m/s, rad/s]."""
        found = self.whole.constraint_rate(q, v, at.t, params=self.params)[..., self.rows]
        found[..., -len(self.outputs) :] -= at.rate
        return found

    def jacobian(self, q: Array, t: Array) -> Array:
        """Return G over C, (n, rows, nv)."""
        return self.whole.constraint_jacobian(q, t, params=self.params)[..., self.rows, :]

    # dynamics

    def motion(self, q: Array, v: Array, at: PathPoint, jacobian: Array | None = None) -> ServoMotion:
        """Return accelerations and forces that keep to the path."""
        nv, loops, free = self.nv, len(self.loop_rows), self.undriven
        C = self.jacobian(q, at.t) if jacobian is None else jacobian
        h, off = self.mechanism.bias(q, v, params=self.params), self.acceleration(q, v, at)
        x, tau = np.concatenate([-h[:, free], -off], axis=1), h[:, self.driven]
        for part in parts(len(q)):
            M = self.mechanism.mass_matrix(q[part], params=self.params)
            try:
                x[part] = np.linalg.solve(self._reduced(M, C[part]), x[part][..., None])[..., 0]
            except np.linalg.LinAlgError:
                raise NumericalError(
                    "at some time of the path the driven joints cannot move the outputs, or a loop is locked"
                ) from None
            tau[part] += (M[:, self.driven] @ x[part, :nv, None])[..., 0]
        pull = np.swapaxes(C[:, :loops, self.driven], -1, -2) @ x[:, nv:, None]
        return ServoMotion(x[:, :nv], tau + pull[..., 0], x[:, nv:])

    def derivatives(
        self, q: Array, v: Array, at: PathPoint, motion: ServoMotion
    ) -> tuple[Array, Array, Array]:
        """Return d vdot/dq and d vdot/dv with path and loops kept, (n, nv, nv) each, and d rate/dq, (n, rows, nv)."""
        nv = self.nv
        K, right, rate = self._differentials(q, v, at, motion)
        found = -np.linalg.solve(K, right)[..., :nv, :]
        return found[..., :nv], found[..., nv:], rate

    def projected_derivatives(
        self, q: Array, v: Array, at: PathPoint, motion: ServoMotion, rows: Array
    ) -> tuple[Array, Array]:
        """Return rows, (n, k, nv), times d vdot/dq and d vdot/dv, (n, k, nv) each."""
        nv = self.nv
        K, right, _ = self._differentials(q, v, at, motion)
        left = np.zeros((len(q), K.shape[-1], rows.shape[-2]))
        left[:, :nv] = np.swapaxes(rows, -1, -2)
        found = -np.swapaxes(np.linalg.solve(np.swapaxes(K, -1, -2), left), -1, -2) @ right
        return found[..., :nv], found[..., nv:]

    def _differentials(
        self, q: Array, v: Array, at: PathPoint, motion: ServoMotion
    ) -> tuple[Array, Array, Array]:
        """Return the matrix of the equations, their derivatives by q and v at constant unknowns, and d rate/dq."""
        nv, vdot = self.nv, motion.vdot
        by_q, by_v, M = self.mechanism.tree.inverse_dynamics_derivatives(q, v, vdot, params=self.params)
        force, rate, along_q, along_v = self.whole.constraint_derivatives(
            q, v, vdot, self._multipliers(motion.multipliers), at.t, params=self.params
        )
        free, n = self.undriven, len(self.undriven)
        right = np.empty((len(q), n + len(self.rows), 2 * nv))
        right[:, :n, :nv], right[:, :n, nv:] = (by_q + force)[:, free], by_v[:, free]
        right[:, n:, :nv], right[:, n:, nv:] = along_q[:, self.rows], along_v[:, self.rows]
        return self._reduced(M, self.jacobian(q, at.t)), right, rate[:, self.rows]

    def balance(self, q: Array, v: Array, vdot: Array, at: PathPoint, forces: Array) -> tuple[Array, Array]:
        """Return the equations of a Newton step for positions and forces at given velocities and accelerations.

        Parameters
        ----------
        forces : array, (n, m + l)
            Driven forces and multipliers of the kept loop rows.

        Returns
        -------
        array, (n, nv + rows, nv + rows)
            Derivatives of M vdot + h - B tau + G' lambda, then of the rows, by positions, driven forces and multipliers.
        array, (n, nv)
            M vdot + h.
        """
        by_q, _, _ = self.mechanism.tree.inverse_dynamics_derivatives(q, v, vdot, params=self.params)
        kept = self._multipliers(forces[:, len(self.driven) :])
        turned = self.whole.constraint_derivatives(q, v, vdot, kept, at.t, params=self.params)[0]
        A = self._border(by_q + turned, self.jacobian(q, at.t))
        return A, self.mechanism.tree.inverse_dynamics(q, v, vdot, params=self.params)

    def _border(self, square: Array, C: Array) -> Array:
        """Return [[square, -B, G'], [C, 0, 0]]."""
        loops = len(self.loop_rows)
        nv, m, rows = self.nv, len(self.driven), C.shape[-2]
        K = np.zeros((*square.shape[:-2], nv + rows, nv + rows))
        K[..., :nv, :nv] = square
        K[..., self.driven, nv + np.arange(m)] = -1.0
        K[..., :nv, nv + m :] = np.swapaxes(C[..., :loops, :], -1, -2)
        K[..., nv:, :nv] = C
        return K

    def _reduced(self, M: Array, C: Array) -> Array:
        """Return the matrix of accelerations and multipliers: [M, G'] without the driven rows, over [C, 0]."""
        free, loops = self.undriven, len(self.loop_rows)
        K = np.zeros((len(M), self.nv + loops, self.nv + loops))
        K[:, : len(free), : self.nv] = M[:, free]
        K[:, : len(free), self.nv :] = np.swapaxes(C[:, :loops, free], -1, -2)
        K[:, len(free) :, : self.nv] = C
        return K

    def acceleration(self, q: Array, v: Array, at: PathPoint) -> Array:
        """Return what accelerations of zero are off by, (n, rows)."""
        found = self.whole.constraint_acceleration(q, v, np.zeros(self.nv), at.t, params=self.params)[
            ..., self.rows
        ]
        found[..., -len(self.outputs) :] -= at.acceleration
        return found

    def _multipliers(self, kept: Array) -> Array:
        """Return the multipliers of all rows: zero in rows that others imply, and in those of the outputs."""
        full = np.zeros((*kept.shape[:-1], len(self.whole.constraint_names)))
        full[..., self.loop_rows] = kept
        return full


def parts(count: int) -> Iterator[slice]:
    """Yield slices of at most `PART` rows: matrices of so many states stay in the cache of the processor."""
    for first in range(0, count, PART):
        yield slice(first, min(first + PART, count))


def _driven(mechanism: Mechanism, joints: Sequence[str]) -> Array:
    """Return the entries of v that belong to the driven joints."""
    slices = mechanism.description.v_slices
    found: list[int] = []
    for name in joints:
        if name not in slices:
            raise InputError(f"joints: no joint '{name}' to drive; {did_you_mean(str(name), slices)}")
        mechanism.description.require_independent(name, "joints")
        if slices[name].stop - slices[name].start != 1:
            raise InputError(
                f"joints: '{name}' has {slices[name].stop - slices[name].start} degrees of freedom; expected driven joints of one each, for example "
                "revolute joints in a row in place of a universal or cylindrical one"
            )
        found.append(slices[name].start)
    if len(set(found)) != len(found):
        raise InputError(f"joints: found {list(joints)}; expected each joint once")
    return np.array(found, dtype=int)
