"""Beams in motion: generalized-alpha on the poses of the nodes."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from articulus.errors import InputError
from articulus.simulation.exact_beams.assembly import Array, BeamAssembly, Energy
from articulus.simulation.exact_beams.beam import Beam
from articulus.simulation.integrate import AlphaState, GeneralizedAlpha
from articulus.simulation.integrate.mechanical import MotionPoint


class KeptTangent(NamedTuple):
    """A factored tangent and the step for which it was made."""

    by_v: float
    by_vdot: float
    solve: Any


class BeamMotion:
    """The beam as an implicit method sees it: positions (7 nodes,), velocities in the nodes' axes (6 nodes,).

    Held displacements have no velocity here: their nodes rest, or go with the base. In body axes the tangent does not change with rigid
    motion, so that one factored matrix serves many steps.
    """

    def __init__(self, beam: BeamAssembly):
        self.beam = beam

    def start(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return v' at t [s], q and v; no multipliers."""
        poses, rates = q.reshape(-1, 7), v.reshape(-1, 6)
        none = np.zeros_like(rates)
        mass = (self.beam.inertia, *(np.zeros((self.beam.nodes - 1, 6, 6)),) * 2)
        return -self.beam.factor(mass)(self.beam.residual(t, poses, rates, none).ravel()), np.zeros(0)

    def move(self, t: float, q: Array, dq: Array) -> Array:
        """Return the poses displaced by dq, those on the base where it is at t [s]."""
        return self.beam.displace(t, q.reshape(-1, 7), dq.reshape(-1, 6)).ravel()

    def correction(
        self, at: MotionPoint, by_v: float, by_vdot: float, kept: KeptTangent | None
    ) -> tuple[Array, KeptTangent]:
        """Return Newton's correction of the displacements, by the tangent that is kept if it belongs to the same step."""
        state = at.q.reshape(-1, 7), at.v.reshape(-1, 6), at.vdot.reshape(-1, 6)
        if kept is None or (kept.by_v, kept.by_vdot) != (by_v, by_vdot):
            blocks = self.beam.blocks(at.t, *state, by_v, by_vdot, at.dq.reshape(-1, 6))
            kept = KeptTangent(by_v, by_vdot, self.beam.factor(blocks))
        return -kept.solve(self.beam.residual(at.t, *state).ravel()), kept


class MomentumProjection:
    """Momentum of a beam without supports: after every step velocities get that which the loads gave it.

    The method errs in the momentum by h^3 in a step; a rigid motion of that size takes it back, so that the order stays
    and a free flight keeps momentum and moment of momentum to rounding.

    Source: Hairer, Lubich & Wanner 2006, section IV.4 (projection onto first integrals).
    """

    def __init__(self, beam: BeamAssembly, state: AlphaState):
        self.beam, self._t = beam, state.t
        energy = beam.energy(state.t, *self._reshape(state))
        self._value = np.concatenate([energy.angular, energy.linear])
        self._force = beam.resultant(state.t, self._reshape(state)[0])

    @staticmethod
    def _reshape(state: AlphaState) -> tuple[Array, Array]:
        return state.q.reshape(-1, 7), state.v.reshape(-1, 6)

    def restore(self, state: AlphaState) -> AlphaState:
        """Return the state after a step with the momentum that it must have; loads act by the trapezoidal rule."""
        q, v = self._reshape(state)
        before, self._force = self._force, self.beam.resultant(state.t, q)
        self._value = self._value + (state.t - self._t) / 2 * (before + self._force)
        self._t = state.t
        return dataclasses.replace(state, v=self.beam.with_momentum(q, v, self._value).ravel())


@dataclasses.dataclass(frozen=True)
class BeamRun:
    """A motion.

    Parameters
    ----------
    t : array, (times,) [s]
    q : array, (times, nodes, 7)
        Poses: quaternion (w, x, y, z) and position [m].
    v : array, (times, nodes, 6) [rad/s, m/s]
        Velocities in the nodes' axes; zero where a support holds.
    iterations : int
        Newton iterations in all.
    beam : Assembly
    """

    t: Array
    q: Array
    v: Array
    iterations: int
    beam: BeamAssembly

    @property
    def position(self) -> Array:
        """Return positions of the nodes, (times, nodes, 3) [m]."""
        return self.q[..., 4:]

    def energy(self, k: int) -> Energy:
        """Return energies and momentum at time k."""
        return self.beam.energy(self.t[k], self.q[k], self.v[k])


def simulate(
    beam: Beam,
    t_end: float,
    steps: int,
    q0: Any = None,
    v0: Any = None,
    rho_inf: float = 0.9,
    tolerance: float = 1e-8,
    every: int = 1,
) -> BeamRun:
    """Return the motion from 0 to t_end in equal steps of generalized-alpha.

    Parameters
    ----------
    beam : Beam
    t_end : float [s]
    steps : int
    q0 : array, (nodes, 7)
        Initial poses; the undeformed beam on its base if not given.
    v0 : array, (nodes, 6) [rad/s, m/s]
        Initial velocities in the nodes' axes; at rest, or moving with the base, if not given.
    rho_inf : float
        Spectral radius at infinite frequency: 1 damps nothing.
    tolerance : float
        Newton's iteration ends when a correction is less than this part of a step's displacement.
    every : int
        Steps from one kept time to the next.
    """
    if not isinstance(steps, (int, np.integer)) or steps < 1 or steps % every:
        raise InputError(
            f"beam: steps = {steps!r} and every = {every!r}; expected a multiple of `every`, at least 1"
        )
    whole = BeamAssembly(beam)
    motion, method = BeamMotion(whole), GeneralizedAlpha(rho_inf, tolerance)
    q, v = whole.at(0.0)
    q = q if q0 is None else _reshape("q0", q0, q)
    v = v if v0 is None else _reshape("v0", v0, v)
    fixed = np.ones(v.size, dtype=bool)
    fixed[whole.free] = False
    v.ravel()[fixed] = 0.0
    state = method.start(motion, 0.0, q.ravel(), v.ravel())
    t, kept = np.linspace(0.0, t_end, steps + 1), [state]
    momentum = None if beam.supports else MomentumProjection(whole, state)
    for k in range(1, steps + 1):
        state = dataclasses.replace(method.step(motion, state, t_end / steps), t=float(t[k]))
        if momentum is not None:
            state = momentum.restore(state)
        if k % every == 0:
            kept.append(state)
    shape = (len(kept), whole.nodes, -1)
    return BeamRun(
        t[::every],
        np.array([s.q for s in kept]).reshape(shape),
        np.array([s.v for s in kept]).reshape(shape),
        state.iterations,
        whole,
    )


def _reshape(name: str, given: Any, like: Array) -> Array:
    array = np.array(given, dtype=float)
    if array.shape != like.shape or not np.isfinite(array).all():
        raise InputError(f"beam: {name} of shape {array.shape}; expected {like.shape}, finite")
    return array
