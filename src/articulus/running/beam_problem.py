"""A loop with beams of large deflection as a problem of implicit methods, at a cost that grows with the number of elements.

Unknowns are those of the mechanism cut at its elements (`beam_cut`): first the rest, a mechanism of few coordinates, then a pose
for each bare node. With the forces w of the elements at their nodes, in body axes, and J the Jacobians of the nodes of the rest:

    M v' + G' lambda - f + sum of J' w = 0,   g = 0      the rest
    M_k v_k' - ad(v_k)' M_k v_k - weight + w = 0          each bare node

One compiled function serves all elements, one all bare nodes. The matrix of a correction is banded for the bare nodes, with the
columns and rows of the rest as a border; it is solved by eliminating the bare nodes.
"""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import SX
from scipy.linalg.lapack import dgbtrf, dgbtrs

from articulus import kernel
from articulus.beams import element, node
from articulus.beams.assembly import BAND, ads, displace
from articulus.errors import InputError
from articulus.integrate import AlphaState
from articulus.integrate.mechanical import Point, saddle
from articulus.loop.displacement import displacement
from articulus.loop.functions import ARGUMENTS, System, native
from articulus.mechanism import Free
from articulus.mechanism.numbers import values_of
from articulus.running.beam_cut import Apart, Cut, cut
from articulus.spatial.rotation import matrix_quaternion


Array = np.ndarray


class Kept(NamedTuple):
    """A factored tangent, the step for which it was made, and where."""

    by_v: float
    by_vdot: float
    at: Point
    solve: Any


class BeamEquations:
    """The equations of a cut mechanism as compiled functions, for any held values, parameters and noise.

    Parameters
    ----------
    system : System
        Of the whole.
    parts : Cut
    rows : sequence of int
        Constraint rows that imply all the others.
    """

    def __init__(self, system: System, parts: Cut, rows: tuple[int, ...]):
        self.system, self.parts, self.rows = system, parts, list(rows)
        self.apart = Apart(system, parts)
        d = parts.rest.description
        self.nq, self.nv, self.m = d.nq, d.nv, len(rows)
        self._kernels()
        self._tables()
        q, v = d.nq + 7 * self.nodes, d.nv + 6 * self.nodes
        self.sizes = (q, v, v, v, self.m)
        self.memory = 2 * sum(self.sizes) + 7
        """Numbers that `BeamProblem.remembered` gives."""
        self._last: tuple[Any, BeamProblem] | None = None

    def problem(self, d: Array, p: Array, w: Array, h: float) -> BeamProblem:
        """Return the problem with these held values, parameters and noise; the last one is kept."""
        key = (d.tobytes(), p.tobytes(), w.tobytes(), h)
        if self._last is None or self._last[0] != key:
            self._last = key, BeamProblem(self, d.copy(), p.copy(), w.copy(), h)
        return self._last[1]

    def _kernels(self) -> None:
        s = self.parts.rest
        net, d, ends = s.network, s.description, self.parts.ends
        dq, w = SX.sym("dq", d.nv), SX.sym("w", 6 * len(ends))
        by_v, by_vdot, multipliers = SX.sym("by_v"), SX.sym("by_vdot"), SX.sym("lambda", self.m)
        g, G, gamma = SX(0, 1), SX(0, d.nv), SX(0, 1)
        if s.closing is not None:
            g, G, gamma = (x[self.rows, :] for x in s.constraint_terms()(net.q, net.v, net.t, s.model))
        M = net.ask("mass_matrix", net.q)
        force = s.applied() - net.ask("bias", net.q, net.v)
        poses = [net.ask("pose", net.q, frames=[name]) for name in ends]
        places = [ca.vertcat(matrix_quaternion(T[:3, :3]), T[:3, 3]) for T in poses]
        J = ca.vertcat(SX(0, d.nv), *(net.ask("local_jacobian", net.q, frames=[name]) for name in ends))
        balance = ca.mtimes(M, net.vdot) + ca.mtimes(G.T, multipliers) - force
        whole = balance + ca.mtimes(J.T, w)
        at = [*s.arguments, net.vdot, multipliers]
        names = [*ARGUMENTS, "vdot", "multipliers"]
        shifted = ca.substitute(whole, net.q, displacement(d)(net.q, dq))
        K = ca.substitute(ca.jacobian(shifted, dq), dq, SX.zeros(d.nv))
        K = K - by_v * ca.jacobian(force, net.v) + by_vdot * M

        def made(name: str, outputs: list[SX], extra: tuple[SX, ...] = ()) -> kernel.Kernel:
            labels = [*names, *(f"x{i}" for i in range(len(extra)))]
            dense = ca.cse([ca.densify(x) for x in outputs])
            given = [f"o{i}" for i in range(len(dense))]
            return native(ca.Function(name, [*at, *extra], dense, labels, given))

        some = [g] if self.m else []
        self.residual = made("rest", [balance, ca.horzcat(*places).T, J, *some])
        self.tangent = made("rest_tangent", [ca.vertcat(K, G)], (w, by_v, by_vdot))
        self.start = made("rest_start", [ca.vertcat(M, G), *([gamma] if self.m else [])])
        self.displaced = native(displacement(d))
        everything = SX.zeros(s.multipliers.shape)
        everything[self.rows] = multipliers
        power, lost = net.power(), s.dissipation() + net.lost()
        if s.closing is not None:
            power = power + s.closing.power()(net.q, net.t, s.model, everything)
        self.power = made("rest_power", [ca.vertcat(power, lost)])
        whole_net = self.system.network
        damping = [whole_net.number(beam.damping) for beam in self.parts.beams for _ in beam.joints]
        self.damping = ca.Function("damping", [whole_net.parameter_symbols], [ca.vertcat(*damping)])

    def _tables(self) -> None:
        """Numbers of elements and bare nodes, and who is whose neighbour: bare nodes come first, then the ends."""
        parts, d = self.parts, self.system.description
        place = {name: k for k, name in enumerate((*parts.bare, *parts.ends))}
        self.nodes, nb = len(parts.bare), len(parts.bare)
        self.A, self.B = (
            np.array([place[getattr(c, side)] for c in parts.elements]) for side in ("parent", "child")
        )
        self.undeformed, self.neutral = (
            np.array([row for beam in parts.beams for row in getattr(beam, name)])
            for name in ("undeformed", "poses")
        )
        rows = [row for beam in parts.beams for row in beam.stiffness]
        self.stiffness = np.array(rows).reshape(-1, 6, 6)
        self.gravity = np.array(values_of(d.gravity))
        bodies = {b.name: b for b in d.bodies}
        chosen = [bodies[name] for name in parts.bare]
        self.inertia = np.array(
            [
                node.inertia(float(b.mass), float(b.mass) * np.array(values_of(b.com)), b.inertia_matrix())  # type: ignore[arg-type]
                for b in chosen
            ]
        ).reshape(-1, 6, 6)
        self.inside = np.flatnonzero((self.A < nb) & (self.B < nb))
        self.border = np.flatnonzero((self.A >= nb) | (self.B >= nb))
        if (self.B[self.inside] - self.A[self.inside] != 1).any():
            raise InputError("beams: bare nodes are not numbered along the beam")  # `cut` numbers them so
        first = 6 * np.arange(nb)[:, None, None]
        i, j = np.arange(6)[:, None] + 0 * np.arange(6), np.arange(6) + 0 * np.arange(6)[:, None]
        a, b = 6 * self.A[self.inside][:, None, None], 6 * self.B[self.inside][:, None, None]
        row, column = (
            np.concatenate([x.ravel() for x in each])
            for each in ((first + i, a + i, b + i), (first + j, b + j, a + j))
        )
        self.put = column * (3 * BAND + 1) + 2 * BAND + row - column
        free = [c.name for c in parts.rest.description.connections if isinstance(c.joint, Free)]
        self.floating = [parts.rest.description.v_slices[name] for name in free]
        joints = [c.name for c in parts.elements]
        self.joint_q = np.concatenate([np.arange(d.nq)[d.q_slices[name]] for name in joints])
        self.joint_v = np.concatenate([np.arange(d.nv)[d.v_slices[name]] for name in joints])


@functools.lru_cache(maxsize=8)
def equations_of(system: System, rows: tuple[int, ...]) -> BeamEquations | None:
    """Return the equations of a loop with beams, made once; None where there are none or they cannot be cut."""
    parts = cut(system)
    return None if parts is None else BeamEquations(system, parts, rows)


class BeamProblem:
    """The cut mechanism with held values: what an implicit method asks (`integrate.mechanical.Implicit`).

    Positions are (q of the rest, poses of the bare nodes), velocities (v of the rest, body motions of the bare nodes).

    Parameters
    ----------
    equations : BeamEquations
    d, p, w : arrays
        Held values, parameters and noise of the whole loop.
    h : float [s]
        For how long noise is held.
    """

    def __init__(self, equations: BeamEquations, d: Array, p: Array, w: Array, h: float):
        e = self._e = equations
        self._p = p
        own, params = e.apart.held(d, p)
        c = e.parts.rest.c0.copy()
        self._q, self._v = c[: e.nq], c[e.nq : e.nq + e.nv]
        self._t, self._vdot, self._lambda = np.zeros(()), np.zeros(e.nv), np.zeros(e.m)
        at = (c, own, params, w, self._t, np.full((), h), self._vdot, self._lambda)
        self._residual, self._power = e.residual.bind(*at), e.power.bind(*at)
        self._at = at
        nb, ends, n = e.nodes, len(e.parts.ends), len(e.A)
        self._poses, self._motions = np.zeros((nb + ends, 7)), np.zeros((nb + ends, 6))
        self._sides = [np.zeros((n, k)) for k in (7, 7, 6, 6)]
        self._damping = np.array(e.damping(p)).ravel()
        self._damped = bool(self._damping.any())
        self._forces = element.damped_forces().bind(*self._sides, e.undeformed, e.stiffness, self._damping)
        self._rates = np.zeros((nb, 6))
        none = np.zeros((nb, 6))
        self._bare = (self._poses[:nb], self._motions[:nb], self._rates, e.inertia, e.gravity, none, none)
        self._node = node.residual().bind(*self._bare) if nb else None
        self._start, self._moved = np.zeros((nb, 7)), np.zeros((nb, 6))
        self._displace = displace().bind(self._start, self._moved) if nb else None
        self._joints = element.joints().bind(*self._sides, e.neutral)
        self._w = np.zeros((nb + ends, 6))
        self._last: tuple[Array, Kept] | None = None

    # positions

    def begin(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return position and velocity for those of the joints."""
        return self._e.apart(q, v, self._p)

    def end(self, state: AlphaState, c: Array) -> None:
        """Write the joints' position and velocity into c."""
        e, s = self._e, self._e.system
        self._set(state.t, state.q, state.v)
        self._residual()
        self._gather()
        self._joints()
        out_q, out_v = c[s.places["q"]], c[s.places["v"]]
        for out, given, (there, here) in zip((out_q, out_v), (state.q, state.v), e.apart.same):
            out[there] = given[here]
        joint_q, joint_v = self._joints.outputs
        out_q[e.joint_q], out_v[e.joint_v] = joint_q.ravel(), joint_v.ravel()

    # from step to step

    def remembered(self, state: AlphaState, power: Array) -> Array:
        """Return all that decides the next steps: the state, the power, and where the tangent that is kept was made."""
        kept = state.kept
        at = (kept.at.q, kept.at.dq, kept.at.v, kept.at.vdot, kept.at.multipliers)
        own = (state.q, state.v, state.vdot, state.a, state.multipliers)
        made = [kept.at.t, kept.by_v, kept.by_vdot]
        self._last = np.concatenate([made, *at]), kept
        return np.concatenate([[1.0], *own, [state.rate], power, self._last[0]])  # fmt: skip

    def recalled(self, memory: Array, t: float) -> tuple[AlphaState, Array]:
        """Return the state at t [s] and the power from what was remembered; the tangent is made again if it is not at hand."""
        sizes = self._e.sizes
        rate, *power = memory[1 + sum(sizes) : 4 + sum(sizes)]
        where = memory[4 + sum(sizes) :]
        if self._last is None or not np.array_equal(where, self._last[0]):
            q, dq, v, vdot, multipliers = _split(where[3:], sizes)
            at = Point(float(where[0]), q, dq, v, vdot, multipliers)
            self.residual(at)
            self._last = where.copy(), Kept(*where[1:3], at, self.factored(at, *where[1:3]))
        own = _split(memory[1:], sizes)
        return AlphaState(t, *own, kept=self._last[1], rate=float(rate)), np.array(power)

    def move(self, t: float, q: Array, dq: Array) -> Array:
        """Return the displaced position."""
        e, out = self._e, np.empty(q.shape)
        out[: e.nq] = e.displaced(q[: e.nq], dq[: e.nv])
        if self._displace is not None:
            self._start.ravel()[:], self._moved.ravel()[:] = q[e.nq :], dq[e.nv :]
            self._displace()
            out[e.nq :] = self._displace.outputs[0].ravel()
        return out

    # equations

    def _set(
        self, t: float, q: Array, v: Array, vdot: Array | None = None, multipliers: Array | None = None
    ) -> None:
        """Copy a state to where the prepared calls read it."""
        e, nb = self._e, self._e.nodes
        self._t[()] = t
        self._q[:], self._v[:] = q[: e.nq], v[: e.nv]
        self._poses[:nb].ravel()[:], self._motions[:nb].ravel()[:] = q[e.nq :], v[e.nv :]
        self._vdot[:] = 0.0 if vdot is None else vdot[: e.nv]
        self._rates.ravel()[:] = 0.0 if vdot is None else vdot[e.nv :]
        self._lambda[:] = 0.0 if multipliers is None else multipliers

    def _gather(self) -> None:
        """Copy poses and motions of the nodes to the elements; the rest has been evaluated."""
        e, nb = self._e, self._e.nodes
        places, J = self._residual.outputs[1:3]
        self._poses[nb:], self._motions[nb:] = places, (J @ self._v).reshape(-1, 6)
        for side, table, at in zip(self._sides, (*(self._poses,) * 2, *(self._motions,) * 2), (e.A, e.B) * 2):
            np.take(table, at, axis=0, out=side)

    def _pushed(self) -> Array:
        """Return the forces of the elements on bare nodes and ends, (nodes, 6)."""
        e, nb, w = self._e, self._e.nodes, self._w
        self._forces()
        at_A, at_B = self._forces.outputs[:2]
        w[:] = 0.0
        w[e.A[e.inside]] += at_A[e.inside]
        w[e.B[e.inside]] += at_B[e.inside]
        for k in e.border:
            w[e.A[k]] += at_A[k]
            w[e.B[k]] += at_B[k]
        return w

    def residual(self, at: Point) -> tuple[Array, Array, Array]:
        """Return what is left of the equations: of the bare nodes (6 n,), of the rest (nv,), of the constraints (m,)."""
        e, nb = self._e, self._e.nodes
        self._set(at.t, at.q, at.v, at.vdot, at.multipliers)
        self._residual()
        self._gather()
        w = self._pushed()
        balance, _, J, *g = self._residual.outputs
        bare = np.zeros(0)
        if self._node is not None:
            self._node()
            bare = (self._node.outputs[0] + w[:nb]).ravel()
        return bare, balance + w[nb:].ravel() @ J, g[0] if g else np.zeros(0)

    def start(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return v' and multipliers that fit t [s], q and v.

        Raises
        ------
        InputError
            q does not fulfil the constraints.
        """
        e = self._e
        bare, rest, g = self.residual(Point(t, q, 0 * v, v, 0 * v, np.zeros(e.m)))
        if g.size and not np.abs(g).max() <= 1e-6 * (1 + np.abs(q).max()):
            raise InputError(
                f"the constraints are off by {np.abs(g).max():.3g} at the start, row {np.abs(g).argmax()}; "
                "expected a position that fulfils them: close the loops first"
            )
        found = e.start(*self._at)
        MG, gamma = found if e.m else (found, np.zeros(0))
        solved = np.linalg.solve(saddle(MG[: e.nv], MG[e.nv :]), -np.append(rest, gamma))
        nodes = -np.linalg.solve(e.inertia, bare.reshape(-1, 6, 1)).ravel()
        return np.append(solved[: e.nv], nodes), solved[e.nv :]

    def correction(self, at: Point, by_v: float, by_vdot: float, kept: Kept | None) -> tuple[Array, Kept]:
        """Return Newton's correction, by the tangent that is kept if it belongs to the same step."""
        residual = self.residual(at)
        if kept is None or (kept.by_v, kept.by_vdot) != (by_v, by_vdot):
            kept = Kept(by_v, by_vdot, at, self.factored(at, by_v, by_vdot))
        bare, rest, g = residual
        return kept.solve(bare / by_vdot, rest / by_vdot, g), kept

    def factored(self, at: Point, by_v: float, by_vdot: float, stress: Array | None = None) -> Any:
        """Return the solution of the linear system of a correction; at the state that was evaluated last.

        With a `stress`, (elements, 6), that is the one of the geometric stiffness.
        """
        e, nb = self._e, self._e.nodes
        scale = by_vdot or 1.0
        if stress is None:
            stress = self._forces.outputs[2]
        J = self._residual.outputs[2].reshape(-1, 6, e.nv).copy()
        KG = e.tangent(*self._at, self._w[nb:].ravel(), np.full(1, by_v), np.full(1, by_vdot))
        K, G = KG[: e.nv].copy(), KG[e.nv :]
        blocks = list(
            element.damped_tangent()(*self._sides, e.stiffness, self._damping, stress, np.full((), by_v))
        )
        turn = np.eye(6) - ads(at.dq[e.nv :].reshape(-1, 6)) / 2
        floating = np.eye(e.nv)
        for span in e.floating:
            floating[span, span] -= ads(at.dq[span][None])[0] / 2
        J_turned = J @ floating
        diagonal = np.zeros((nb, 6, 6))
        if nb:
            diagonal = node.tangent()(*self._bare, np.full((), by_v), np.full((), by_vdot)).reshape(nb, 6, 6)
        AA, AB, BA, BB = (x[e.inside] for x in blocks)
        a, b = e.A[e.inside], e.B[e.inside]
        diagonal[a] += AA @ turn[a]
        diagonal[b] += BB @ turn[b]
        upper, lower = AB @ turn[b], BA @ turn[a]
        U, L = np.zeros((nb, 6, e.nv)), np.zeros((e.nv, nb, 6))
        for k in e.border:
            sides = (e.A[k], e.B[k])
            for block, (i, j) in zip((x[k] for x in blocks), [(i, j) for i in sides for j in sides]):
                if i < nb and j < nb:
                    diagonal[i] += block @ turn[j]  # i is j: an element of two bare nodes is inside
                elif i < nb:
                    U[i] += block @ J_turned[j - nb]
                elif j < nb:
                    L[:, j] += J[i - nb].T @ (block @ turn[j])
                else:
                    K += J[i - nb].T @ block @ J_turned[j - nb]
        return _bordered(e.put, (diagonal, upper, lower), U, L, K, G, scale)

    def power(self, state: AlphaState) -> Array:
        """Return the power put in and the power lost [W]."""
        self._set(state.t, state.q, state.v, None, state.multipliers)
        self._power()
        out = self._power.outputs[0].copy()
        if self._damped:
            self._residual()
            self._gather()
            self._forces()
            out[1] += self._forces.outputs[3].sum()
        return out


def _split(numbers: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Return copies of the first numbers, so many each."""
    ends = np.cumsum((0, *sizes))
    return [numbers[a:b].copy() for a, b in pairwise(ends)]


def _bordered(
    put: Array, blocks: tuple[Array, Array, Array], U: Array, L: Array, K: Array, G: Array, scale: float
) -> Any:
    """Return the solution of the bordered system as a function of its right sides: those of bare nodes, rest, constraints."""
    nv, m, n = len(K), len(G), 6 * len(U)
    U, L = U.reshape(n, nv) / scale, L.reshape(nv, n) / scale
    eliminated, factors, pivots = np.zeros((0, nv)), None, None
    if n:
        band = np.zeros((n, 3 * BAND + 1))
        band.ravel()[put] = np.concatenate([x.ravel() for x in blocks]) / scale
        factors, pivots, info = dgbtrf(band.T, BAND, BAND, overwrite_ab=True)
        if info:
            raise np.linalg.LinAlgError
        eliminated = dgbtrs(factors, BAND, BAND, U, pivots)[0]
    inverse = np.linalg.inv(saddle(K / scale - L @ eliminated, G))

    def solve(bare: Array, rest: Array, g: Array) -> Array:
        y = dgbtrs(factors, BAND, BAND, bare, pivots)[0] if n else bare
        x = inverse @ np.concatenate([rest - L @ y, g])
        return -np.concatenate([x[:nv], y - eliminated @ x[:nv], x[nv:]])

    return solve
