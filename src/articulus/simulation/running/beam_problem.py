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

from articulus import kernel
from articulus.errors import InputError
from articulus.model.mechanism import Free
from articulus.model.mechanism.numbers import values_of
from articulus.numerics.banded import BandedLU, band_storage
from articulus.simulation.exact_beams import element, node
from articulus.simulation.exact_beams.assembly import BAND, ads, displacement_kernel
from articulus.simulation.integrate import AlphaState
from articulus.simulation.integrate.mechanical import MotionPoint, saddle
from articulus.simulation.loop.displacement import displacement
from articulus.simulation.loop.functions import ARGUMENTS, System, native
from articulus.simulation.running.beam_cut import Cut, PartCoordinates, cut
from articulus.spatial.rotation import matrix_quaternion

Array = np.ndarray


class FactoredTangent(NamedTuple):
    """A factored tangent, the step for which it was made, and where."""

    by_v: float
    by_vdot: float
    at: MotionPoint
    solve: Any


class BeamEquations:
    """The equations of a cut mechanism as compiled functions, for any held values, parameters and noise.

    Parameters
    ----------
    system : System
        System of the whole.
    parts : Cut
    rows : sequence of int
        Constraint rows that imply all the others.
    """

    def __init__(self, system: System, parts: Cut, rows: tuple[int, ...]):
        self.system, self.parts, self.rows = system, parts, list(rows)
        self.apart = PartCoordinates(system, parts)
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
        force = s.applied_forces() - net.ask("bias", net.q, net.v)
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

        def compile_function(name: str, outputs: list[SX], extra: tuple[SX, ...] = ()) -> kernel.Kernel:
            labels = [*names, *(f"x{i}" for i in range(len(extra)))]
            dense = ca.cse([ca.densify(x) for x in outputs])
            output_names = [f"o{i}" for i in range(len(dense))]
            return native(ca.Function(name, [*at, *extra], dense, labels, output_names))

        some = [g] if self.m else []
        motions = ca.reshape(ca.mtimes(J, net.v), 6, len(ends)).T
        self.residual = compile_function("rest", [balance, ca.horzcat(*places).T, J, motions, *some])
        self.tangent = compile_function("rest_tangent", [ca.vertcat(K, G)], (w, by_v, by_vdot))
        self.start = compile_function("rest_start", [ca.vertcat(M, G), *([gamma] if self.m else [])])
        self.displace = native(displacement(d))
        everything = SX.zeros(s.multipliers.shape)
        everything[self.rows] = multipliers
        power, lost = net.power(), s.dissipation() + net.lost()
        if s.closing is not None:
            power = power + s.closing.power()(net.q, net.t, s.model, everything)
        self.power = compile_function("rest_power", [ca.vertcat(power, lost)])
        whole_net = self.system.network
        damping = [whole_net.number(beam.damping) for beam in self.parts.beams for _ in beam.joints]
        self.damping = ca.Function("damping", [whole_net.parameter_symbols], [ca.vertcat(*damping)])

    def _tables(self) -> None:
        """Numbers of the nodes, one after another along each beam, and of the elements from each node to the next.

        An end may occur in several places. Between the last node of a beam and the first of the next is an element without
        stiffness.
        """
        parts, d = self.parts, self.system.description
        chain, elements = _along(parts)
        bare, ends = ({name: k for k, name in enumerate(names)} for names in (parts.bare, parts.ends))
        bodies = {b.name: b for b in d.bodies}
        self.nodes, self.places = len(bare), len(chain)
        self.bare = _contiguous([k for k, name in enumerate(chain) if name in bare])
        self.places_of_ends = [(k, ends[name]) for k, name in enumerate(chain) if name in ends]
        self.at_end, self.end = (_contiguous([pair[i] for pair in self.places_of_ends]) for i in (0, 1))
        self.inertia = np.zeros((self.places, 6, 6))
        for k in np.arange(self.places)[self.bare]:
            b = bodies[chain[k]]
            moment = float(b.mass) * np.array(values_of(b.com))  # type: ignore[arg-type]
            self.inertia[k] = node.inertia(float(b.mass), moment, b.inertia_matrix())  # type: ignore[arg-type]
        self.real = _contiguous([k for k, e in enumerate(elements) if e >= 0])
        self.element = np.array([parts.order[e] for e in elements if e >= 0], dtype=int)
        tables = {
            name: np.array([row for beam in parts.beams for row in getattr(beam, name)])[self.element]
            for name in ("undeformed", "poses", "stiffness")
        }
        n = self.places - 1
        self.undeformed, self.stiffness, self.neutral = (
            np.zeros((n, 6)),
            np.zeros((n, 6, 6)),
            np.zeros((n, 7)),
        )
        self.neutral[:, 0] = 1.0
        self.undeformed[self.real], self.neutral[self.real] = tables["undeformed"], tables["poses"]
        self.stiffness[self.real] = tables["stiffness"].reshape(-1, 6, 6)
        self.gravity = np.array(values_of(d.gravity))
        self._band(chain)
        rest = parts.rest.description
        free = [c.name for c in rest.connections if isinstance(c.joint, Free)]
        self.floating = [rest.v_slices[name] for name in free]
        joints = [parts.elements[e].name for e in elements if e >= 0]
        self.joint_q = _contiguous([k for name in joints for k in range(d.nq)[d.q_slices[name]]])
        self.joint_v = _contiguous([k for name in joints for k in range(d.nv)[d.v_slices[name]]])

    def _band(self, chain: list[str]) -> None:
        """Find where the blocks of the bare nodes are in the banded matrix, and which elements lead to ends."""
        number = np.full(self.places, -1)
        number[self.bare] = np.arange(self.nodes)
        here, there = number[:-1], number[1:]
        self.inside = np.flatnonzero((here >= 0) & (there >= 0))
        self.border = [k for k in range(self.places - 1) if (here[k] >= 0) != (there[k] >= 0)]
        self.number = number
        i, j = np.arange(6)[:, None] + 0 * np.arange(6), np.arange(6) + 0 * np.arange(6)[:, None]
        own = 6 * np.arange(self.nodes)[:, None, None]
        a, b = 6 * here[self.inside][:, None, None], 6 * there[self.inside][:, None, None]
        row, column = (
            np.concatenate([x.ravel() for x in each])
            for each in ((own + i, a + i, b + i), (own + j, b + j, a + j))
        )
        self.put = column * (3 * BAND + 1) + 2 * BAND + row - column


def _contiguous(places: list[int]) -> Any:
    """Return places as an index: a slice where one follows the other."""
    if places and places == list(range(places[0], places[-1] + 1)):
        return slice(places[0], places[-1] + 1)
    return np.array(places, dtype=int)


def _along(parts: Cut) -> tuple[list[str], list[int]]:
    """Return the nodes beam by beam, and the number of the element from each to the next; -1 where there is none."""
    chain, elements = list[str](), list[int]()
    for k, c in enumerate(parts.elements):
        if not chain or c.parent != chain[-1]:
            elements += [-1] if chain else []
            chain.append(c.parent)
        elements.append(k)
        chain.append(c.child)
    return chain, elements


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
        own, params = e.apart.held_values(d, p)
        c = e.parts.rest.c0.copy()
        self._q, self._v = c[: e.nq], c[e.nq : e.nq + e.nv]
        self._t, self._vdot, self._lambda = np.zeros(()), np.zeros(e.nv), np.zeros(e.m)
        at = (c, own, params, w, self._t, np.full((), h), self._vdot, self._lambda)
        self._residual, self._power = e.residual.bind(*at), e.power.bind(*at)
        self._J = self._residual.outputs[2].reshape(-1, e.nv)
        self._at = at
        n, k = e.places, len(e.parts.ends)
        self._poses, self._motions, self._rates = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 6))
        self._poses[:, 0] = 1.0
        sides = (self._poses[:-1], self._poses[1:], self._motions[:-1], self._motions[1:])
        self._damping = np.zeros(n - 1)
        self._damping[e.real] = np.array(e.damping(p)).ravel()[e.element]
        self._damped = bool(self._damping.any())
        self._sides = sides
        self._forces = element.damped_forces().bind(*sides, e.undeformed, e.stiffness, self._damping)
        none = np.zeros((n, 6))
        self._nodes = (self._poses, self._motions, self._rates, e.inertia, e.gravity, none, none)
        self._node = node.residual().bind(*self._nodes)
        self._start, self._step = np.zeros((n, 7)), np.zeros((n, 6))
        self._start[:, 0] = 1.0
        self._displace = displacement_kernel().bind(self._start, self._step)
        self._rest = np.zeros(e.nq), np.zeros(e.nv)
        self._displaced = e.displace.bind(*self._rest)
        self._joints = element.joints().bind(*sides, e.neutral)
        self._w = np.zeros((k, 6))
        self._last: tuple[Array, AlphaState, Array] | None = None

    # positions

    def begin(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return position and velocity for those of the joints."""
        return self._e.apart(q, v, self._p)

    def joints(self, t: float, q: Array, v: Array, c: Array) -> None:
        """Write the joints' position and velocity into c."""
        self._set(t, q, v, None, self._lambda)
        self.end(q, v, c)

    def end(self, q: Array, v: Array, c: Array) -> None:
        """Write the joints' position and velocity into c; the same state was evaluated last."""
        e, s = self._e, self._e.system
        self._joints()
        out_q, out_v = c[s.places["q"]], c[s.places["v"]]
        for out, given, (there, here) in zip((out_q, out_v), (q, v), e.apart.same):
            out[there] = given[here]
        joint_q, joint_v = self._joints.outputs
        out_q[e.joint_q], out_v[e.joint_v] = joint_q[e.real].ravel(), joint_v[e.real].ravel()

    # from step to step

    def to_memory(self, state: AlphaState, power: Array) -> Array:
        """Return all that decides the next steps: the state, the power, and where the tangent that is kept was made."""
        kept = state.kept
        at = (kept.at.q, kept.at.dq, kept.at.v, kept.at.vdot, kept.at.multipliers)
        own = (state.q, state.v, state.vdot, state.a, state.multipliers)
        made = [kept.at.t, kept.by_v, kept.by_vdot]
        out = np.concatenate([[1.0], *own, [state.rate], power, made, *at])
        self._last = out.copy(), state, power
        return out

    def from_memory(self, memory: Array, t: float) -> tuple[AlphaState, Array]:
        """Return the state at t [s] and the power from what was remembered; the tangent is made again if it is not at hand."""
        if self._last is None or not np.array_equal(memory, self._last[0]):
            self._last = memory.copy(), *self._made_again(memory)
        _, s, power = self._last
        return AlphaState(t, s.q, s.v, s.vdot, s.a, s.multipliers, kept=s.kept, rate=s.rate), power

    def _made_again(self, memory: Array) -> tuple[AlphaState, Array]:
        """Return the state, with its tangent, and the power."""
        sizes = self._e.sizes
        rate, *power, t, by_v, by_vdot = memory[1 + sum(sizes) : 7 + sum(sizes)].tolist()
        q, dq, v, vdot, multipliers = _split(memory[7 + sum(sizes) :], sizes)
        at = MotionPoint(t, q, dq, v, vdot, multipliers)
        self.residual(at)
        kept = FactoredTangent(by_v, by_vdot, at, self.factor(at, by_v, by_vdot))
        q, v, vdot, a, multipliers = _split(memory[1:], sizes)
        return AlphaState(0.0, q, v, vdot, a, multipliers, kept=kept, rate=rate), np.array(power)

    def move(self, t: float, q: Array, dq: Array) -> Array:
        """Return the displaced position."""
        e, out = self._e, np.empty(q.shape)
        self._rest[0][:], self._rest[1][:] = q[: e.nq], dq[: e.nv]
        self._displaced()
        out[: e.nq] = self._displaced.outputs[0]
        self._start[e.bare], self._step[e.bare] = q[e.nq :].reshape(-1, 7), dq[e.nv :].reshape(-1, 6)
        self._displace()
        out[e.nq :] = self._displace.outputs[0][e.bare].ravel()
        return out

    # equations

    def _set(self, t: float, q: Array, v: Array, vdot: Array | None, multipliers: Array) -> None:
        """Copy a state to where the prepared calls read it, and evaluate the rest."""
        e = self._e
        self._t[()], self._lambda[:] = t, multipliers
        self._q[:], self._v[:] = q[: e.nq], v[: e.nv]
        self._poses[e.bare], self._motions[e.bare] = q[e.nq :].reshape(-1, 7), v[e.nv :].reshape(-1, 6)
        if vdot is not None:
            self._vdot[:], self._rates[e.bare] = vdot[: e.nv], vdot[e.nv :].reshape(-1, 6)
        self._residual()
        self._poses[e.at_end] = self._residual.outputs[1][e.end]
        self._motions[e.at_end] = self._residual.outputs[3][e.end]

    def residual(self, at: MotionPoint) -> tuple[Array, Array, Array]:
        """Return what is left of the equations: of the bare nodes (6 n,), of the rest (nv,), of the constraints (m,)."""
        e = self._e
        self._set(at.t, at.q, at.v, at.vdot, at.multipliers)
        self._node()
        self._forces()
        out = self._node.outputs[0]
        at_A, at_B = self._forces.outputs[:2]
        out[:-1] += at_A
        out[1:] += at_B
        self._w[:] = 0.0
        for place, end in e.places_of_ends:
            self._w[end] += out[place]
        balance, _, _, _, *g = self._residual.outputs
        return out[e.bare].ravel(), balance + self._w.ravel() @ self._J, g[0] if g else np.zeros(0)

    def start(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return v' and multipliers that fit t [s], q and v.

        Raises
        ------
        InputError
            q does not fulfil the constraints.
        """
        e = self._e
        bare, rest, g = self.residual(MotionPoint(t, q, 0 * v, v, 0 * v, np.zeros(e.m)))
        if g.size and not np.abs(g).max() <= 1e-6 * (1 + np.abs(q).max()):
            raise InputError(
                f"the constraints are off by {np.abs(g).max():.3g} at the start, row {np.abs(g).argmax()}; "
                "expected a position that fulfils them: close the loops first"
            )
        found = e.start(*self._at)
        MG, gamma = found if e.m else (found, np.zeros(0))
        MG = MG.reshape(-1, e.nv)
        solved = np.linalg.solve(saddle(MG[: e.nv], MG[e.nv :]), -np.append(rest, gamma))
        nodes = -np.linalg.solve(e.inertia[e.bare], bare.reshape(-1, 6, 1)).ravel()
        return np.append(solved[: e.nv], nodes), solved[e.nv :]

    def correction(
        self, at: MotionPoint, by_v: float, by_vdot: float, kept: FactoredTangent | None
    ) -> tuple[Array, FactoredTangent]:
        """Return Newton's correction, by the tangent that is kept if it belongs to the same step."""
        residual = self.residual(at)
        if kept is None or (kept.by_v, kept.by_vdot) != (by_v, by_vdot):
            kept = FactoredTangent(by_v, by_vdot, at, self.factor(at, by_v, by_vdot))
        bare, rest, g = residual
        return kept.solve(bare / by_vdot, rest / by_vdot, g), kept

    def factor(self, at: MotionPoint, by_v: float, by_vdot: float, stress: Array | None = None) -> Any:
        """Return the solution of the linear system of a correction; at the state that was evaluated last.

        With a `stress`, (elements, 6), that is the one of the geometric stiffness.
        """
        e = self._e
        scale = by_vdot or 1.0
        if stress is None:
            stress = self._forces.outputs[2]
        by = np.full(1, by_v), np.full(1, by_vdot)
        KG = e.tangent(*self._at, self._w.ravel(), *by)
        K, G = np.split(KG.reshape(-1, e.nv), [e.nv])
        AA, AB, BA, BB = element.damped_tangent()(
            *self._sides, e.stiffness, self._damping, stress, np.full((), by_v)
        )
        turn = np.tile(np.eye(6), (e.places, 1, 1))
        turn[e.bare] -= ads(at.dq[e.nv :].reshape(-1, 6)) / 2
        diagonal = node.tangent()(*self._nodes, np.full((), by_v), np.full((), by_vdot))
        diagonal[:-1] += AA @ turn[:-1]
        diagonal[1:] += BB @ turn[1:]
        upper, lower = AB @ turn[1:], BA @ turn[:-1]
        J = self._J.reshape(-1, 6, e.nv)[e.end]  # at every place of an end
        turned = J @ self._exponential_derivative(at.dq)
        U, L = np.zeros((e.nodes, 6, e.nv)), np.zeros((e.nv, e.nodes, 6))
        place = {k: i for i, (k, _) in enumerate(e.places_of_ends)}
        for k, i in place.items():
            K += J[i].T @ diagonal[k] @ turned[i]
        for k in range(e.places - 1):
            if k in place and k + 1 in place:
                K += J[place[k]].T @ upper[k] @ turned[place[k + 1]]
                K += J[place[k + 1]].T @ lower[k] @ turned[place[k]]
        for k in e.border:
            if k in place:
                U[e.number[k + 1]] += lower[k] @ turned[place[k]]
                L[:, e.number[k + 1]] += J[place[k]].T @ upper[k]
            else:
                U[e.number[k]] += upper[k] @ turned[place[k + 1]]
                L[:, e.number[k]] += J[place[k + 1]].T @ lower[k]
        return _solve_bordered(e.put, (diagonal[e.bare], upper[e.inside], lower[e.inside]), U, L, K, G, scale)

    def _exponential_derivative(self, dq: Array) -> Array:
        """Return the derivative of the rest's displacements by dq, (nv, nv): that of the exponential for floating bodies."""
        out = np.eye(self._e.nv)
        for span in self._e.floating:
            out[span, span] -= ads(dq[span][None])[0] / 2
        return out

    def stress(self, change: Array | None = None) -> Array:
        """Return the elastic stress of each element, (elements, 6), at the state that was evaluated last.

        With a change of the displacements, what the stress becomes linearly along it.
        """
        e, out = self._e, self._forces.outputs[2].copy()
        if change is None:
            return out
        motions = np.zeros((e.places, 6))
        motions[e.bare] = change[e.nv : e.nv + 6 * e.nodes].reshape(-1, 6)
        motions[e.at_end] = (self._J @ change[: e.nv]).reshape(-1, 6)[e.end]
        rates = element.strain_rates()(*self._sides[:2], motions[:-1], motions[1:])
        return out + np.einsum("kij,kj->ki", e.stiffness, rates)

    def power(self, state: AlphaState) -> Array:
        """Return the power put in and the power lost [W]."""
        self._set(state.t, state.q, state.v, None, state.multipliers)
        self._power()
        out = self._power.outputs[0].copy()
        if self._damped:
            self._forces()
            out[1] += self._forces.outputs[3].sum()
        return out


def _split(numbers: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Return copies of the first numbers, so many each."""
    ends = np.cumsum((0, *sizes))
    return [numbers[a:b].copy() for a, b in pairwise(ends)]


def _solve_bordered(
    put: Array, blocks: tuple[Array, Array, Array], U: Array, L: Array, K: Array, G: Array, scale: float
) -> Any:
    """Return the solution of the bordered system as a function of its right sides: those of bare nodes, rest, constraints."""
    nv, n = len(K), 6 * len(U)
    U, L = U.reshape(n, nv) / scale, L.reshape(nv, n) / scale
    band = band_storage(n, BAND, BAND)
    band.T.ravel()[put] = np.concatenate([x.ravel() for x in blocks]) / scale
    factors = BandedLU(band, BAND, BAND)
    eliminated = factors.solve(U)
    inverse = np.linalg.inv(saddle(K / scale - L @ eliminated, G))

    def solve(bare: Array, rest: Array, g: Array) -> Array:
        y = factors.solve(bare)
        x = inverse @ np.concatenate([rest - L @ y, g])
        return -np.concatenate([x[:nv], y - eliminated @ x[:nv], x[nv:]])

    return solve
