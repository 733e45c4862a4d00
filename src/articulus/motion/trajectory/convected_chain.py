"""Planar chains of inextensible flexible links with large deflections, and their fastest motions with the tip on a line.

The unknowns are the directions of the cross-sections at nodes along the chain; the tangent vector, not the angle, is interpolated
between them (Segalman's convected coordinates, as in Eisler, Segalman & Robinett 1989). Mass and stiffness then do not depend on the
configuration, and the chain neither stretches nor leaves its hub, whatever the directions are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.linalg import block_diag, eigh

from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory.problem import Guess, Phase, PhaseConstraint, span
from articulus.numerics.newton import newton

if TYPE_CHECKING:
    from articulus.motion.trajectory.planning import Plan

Array = np.ndarray
WAYPOINTS = 17
"""Points of the line at which the initial guess is made."""
NEWTON = 20
"""Most iterations of a step of a simulation."""
FOUND = 1e-11
"""Change of a direction at which a step is found [rad]."""
CLOSED = 1e-12
"""Distance of the tip from a point of the line over the length of the chain, at which it is there."""


@dataclass(frozen=True)
class Segment:
    """A piece of a link with constant properties.

    Parameters
    ----------
    length : float [m]
    mass : float [kg]
        Evenly distributed.
    EI : float [N m^2]
        Bending stiffness.
    elements : int
        Finite elements.
    """

    length: float
    mass: float
    EI: float
    elements: int = 1

    def __post_init__(self) -> None:
        for name in ("length", "mass", "EI", "elements"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(
                    f"Segment.{name}: found {getattr(self, name)!r}; expected a number above zero"
                )


@dataclass(frozen=True)
class ConvectedLink:
    """A flexible link: segments one after another, and what sits at its outer end.

    Parameters
    ----------
    segments : sequence of Segment
    mass : float [kg]
        Point mass at its outer end.
    inertia : float [kg m^2]
        Inertia of a point there, such as a motor's.
    """

    segments: tuple[Segment, ...]
    mass: float = 0.0
    inertia: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(self.segments))
        if not self.segments:
            raise InputError("ConvectedLink: found no segment; expected at least one")

    @property
    def length(self) -> float:
        """Of all segments [m]."""
        return sum(s.length for s in self.segments)


@dataclass(frozen=True)
class ConvectedChain:
    """A planar chain of flexible links on a fixed hub, with a motor at the hub and at every hinge, and no gravity.

    Parameters
    ----------
    links : sequence of ConvectedLink
        From the hub outwards.
    """

    links: tuple[ConvectedLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        if not self.links:
            raise InputError("ConvectedChain: found no link; expected at least one")

    @cached_property
    def nodes(self) -> tuple[range, ...]:
        """Numbers of the nodes of each link; a hinge has two."""
        made, first = [], 0
        for link in self.links:
            count = 1 + sum(s.elements for s in link.segments)
            made.append(range(first, first + count))
            first += count
        return tuple(made)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.nodes[-1].stop

    @cached_property
    def lengths(self) -> Array:
        """Integral of each node's shape function over the whole chain, (nodes,) [m]: the tip is at sum of lengths * tangents."""
        return self._mass_and_lengths[1]

    @cached_property
    def mass(self) -> Array:
        """Integral of mass times the integrated shape functions, (nodes, nodes) [kg m^2]."""
        return self._mass_and_lengths[0]

    @cached_property
    def _mass_and_lengths(self) -> tuple[Array, Array]:
        M, passed = np.zeros((self.size, self.size)), np.zeros(self.size)
        x, w = np.polynomial.legendre.leggauss(3)  # exact for the squares of parabolas
        for link, nodes in zip(self.links, self.nodes):
            pieces = [
                (s.length / s.elements, s.mass / s.length) for s in link.segments for _ in range(s.elements)
            ]
            for k, (h, density) in zip(nodes, pieces):
                for at, weight in zip((x + 1) / 2, w / 2):
                    q = passed.copy()
                    q[k] += h * (at - at**2 / 2)
                    q[k + 1] += h * at**2 / 2
                    M += density * h * weight * np.outer(q, q)
                passed[[k, k + 1]] += h / 2
            M += link.mass * np.outer(passed, passed)
            M[nodes[-1], nodes[-1]] += link.inertia
        return M, passed

    @cached_property
    def stiffness(self) -> Array:
        """Integral of EI times products of the slopes of the shape functions, (nodes, nodes) [N m]."""
        blocks = []
        for link, nodes in zip(self.links, self.nodes):
            K, k = np.zeros((len(nodes), len(nodes))), 0
            for s in link.segments:
                for _ in range(s.elements):
                    K[k : k + 2, k : k + 2] += s.EI * s.elements / s.length * np.array([[1, -1], [-1, 1]])
                    k += 1
            blocks.append(K)
        return np.asarray(block_diag(*blocks))

    @cached_property
    def motors(self) -> Array:
        """Torque on each node per motor, (nodes, links): each motor pushes its link, and the one before back."""
        B = np.zeros((self.size, len(self.links)))
        for k, nodes in enumerate(self.nodes):
            B[nodes[0], k] = 1
            if k:
                B[self.nodes[k - 1][-1], k] = -1
        return B

    def bend(self, angles: Sequence[float] | Array) -> Array:
        """Return the directions of all nodes with straight links at absolute angles, (nodes,) [rad]."""
        return np.repeat(np.asarray(angles, dtype=float), [len(n) for n in self.nodes])

    def tip(self, theta: Array) -> Array:
        """Return the position of the tip at directions (..., nodes), (..., 2) [m]."""
        return np.stack([np.cos(theta) @ self.lengths, np.sin(theta) @ self.lengths], axis=-1)

    def kinetic_energy(self, theta: Array, rate: Array) -> Array:
        """Return the kinetic energy [J] at directions and their rates, (..., nodes) each."""
        c, s = rate * np.cos(theta), rate * np.sin(theta)
        return ((c @ self.mass) * c + (s @ self.mass) * s).sum(-1) / 2

    def strain_energy(self, theta: Array) -> Array:
        """Return the energy of bending [J] at directions (..., nodes)."""
        c, s = np.cos(theta), np.sin(theta)
        return ((c @ self.stiffness) * c + (s @ self.stiffness) * s).sum(-1) / 2

    def frequencies(self, angles: Sequence[float], fixed: str) -> Array:
        """Return the natural frequencies [Hz] about straight links at absolute angles, the lowest first.

        Parameters
        ----------
        angles : sequence of float [rad]
        fixed : str
            "joints": hub and hinges are locked; "nodes": the inner ends of the links keep their absolute directions; "free": hub and
            hinges turn freely.
        """
        _, frequency, _, _ = self._vibration(self.bend(angles), fixed)
        return frequency[frequency > 1e-4 * frequency.max()]

    def _vibration(self, theta: Array, fixed: str) -> tuple[Array, Array, Array, Array]:
        """Return allowed motions, frequencies [Hz], shapes in them, and the mass of those."""
        apart = theta[:, None] - theta
        M, K = self.mass * np.cos(apart), self.stiffness * np.cos(apart)
        if fixed == "free":
            T = np.eye(self.size)
        elif fixed == "nodes":
            T = np.delete(np.eye(self.size), [n[0] for n in self.nodes], axis=1)
        elif fixed == "joints":
            T = np.delete(np.eye(self.size), [n[0] for n in self.nodes], axis=1)
            for before, after in zip(
                self.nodes, self.nodes[1:]
            ):  # a locked hinge turns with the link before it
                T[after[0]] = T[before[-1]]
        else:
            raise InputError(f'fixed: found "{fixed}"; expected "joints", "nodes" or "free"')
        squares, shapes = eigh(T.T @ K @ T, T.T @ M @ T)
        return T, np.sqrt(np.maximum(squares, 0)) / (2 * np.pi), shapes, T.T @ M @ T

    def residual(self, theta: Array, rate: Array) -> tuple[Array, Array]:
        """Return frequencies [Hz] and tip amplitudes [m] of what swings on when hub and hinges are locked in a state.

        Small vibration about straight links with the same angles in the joints; an amplitude is half of the whole swing.
        """
        turns = [theta[n[0]] - (theta[b[-1]] if b else 0.0) for b, n in zip((None, *self.nodes), self.nodes)]
        rest = self.bend(np.cumsum(turns))
        T, frequency, shapes, M = self._vibration(rest, "joints")
        whole = self.mass * np.cos(rest[:, None] - rest)
        bent = np.linalg.lstsq(T, theta - rest, rcond=None)[0]
        moving = np.linalg.solve(M, T.T @ whole @ rate)  # brakes act on the joints alone
        parts = [shapes.T @ M @ x for x in (bent, moving)]
        amplitude = np.hypot(parts[0], parts[1] / (2 * np.pi * frequency))
        tip = np.stack([-np.sin(rest) * self.lengths, np.cos(rest) * self.lengths]) @ T @ shapes
        return frequency, amplitude * np.linalg.norm(tip, axis=0)

    def equations(self, theta: SX, rate: SX, acceleration: SX, torque: SX) -> SX:
        """Return the residuals of the equations of motion, (nodes,) [N m]."""
        M, K = ca.DM(self.mass), ca.DM(self.stiffness)
        c, s = ca.cos(theta), ca.sin(theta)
        # force on the integrated tangent vector, in x and in y, then turned to act on the angles
        x = ca.mtimes(M, -s * acceleration - c * rate**2) + ca.mtimes(K, c)
        y = ca.mtimes(M, c * acceleration - s * rate**2) + ca.mtimes(K, s)
        return -s * x + c * y - ca.mtimes(ca.DM(self.motors), torque)

    def play(self, plan: Plan, steps: int = 2000) -> tuple[Array, Array, Array]:
        """Return times, directions and rates of a simulation with the torques of a plan: average acceleration (Newmark).

        Parameters
        ----------
        plan : Plan
            Plan of a phase of this chain.
        steps : int
            Equal steps from its start to its end.
        """
        n, m, t = self.size, len(self.links), plan.t
        h = (t[-1] - t[0]) / steps
        x, v, a, u = SX.sym("x", n), SX.sym("v", n), SX.sym("a", n), SX.sym("u", m)
        r = self.equations(x, v, a, u)
        slope = ca.jacobian(r, a) + h / 2 * ca.jacobian(r, v) + h**2 / 4 * ca.jacobian(r, x)
        step = ca.Function("step", [x, v, a, u], [r, slope])
        times = np.linspace(t[0], t[-1], steps + 1)
        torque, rate = (
            np.column_stack([plan[f"{what}.{k + 1}"] for k in range(m)])
            for what in ("torque", "rate of torque")
        )
        inputs = CubicHermiteSpline(t, torque, rate)(times)
        X, V, A = (np.zeros((steps + 1, n)) for _ in range(3))
        X[0] = plan.courses[0].z[0, :n]
        for k in range(steps):
            A[k + 1] = A[k]
            for _ in range(NEWTON):
                V[k + 1] = V[k] + h / 2 * (A[k] + A[k + 1])
                X[k + 1] = X[k] + h * V[k] + h**2 / 4 * (A[k] + A[k + 1])
                off, matrix = (np.array(y) for y in step(X[k + 1], V[k + 1], A[k + 1], inputs[k + 1]))
                change = np.linalg.solve(matrix, off[:, 0])
                A[k + 1] -= change
                if h**2 * np.abs(change).max() <= FOUND:
                    break
            else:
                raise NumericalError(
                    f"ConvectedChain: Newton's method failed at t = {times[k + 1]:.4g} s; take more steps"
                )
            V[k + 1] = V[k] + h / 2 * (A[k] + A[k + 1])
            X[k + 1] = X[k] + h * V[k] + h**2 / 4 * (A[k] + A[k + 1])
        return times, X, V

    def phase(
        self,
        start: Sequence[float],
        goal: Sequence[float] | Array,
        *,
        torque: Sequence[float],
        duration: float | tuple[float, float],
        slew: Sequence[float],
        tolerance: float | None = None,
        smooth: float = 1e-4,
    ) -> Phase:
        """Return the fastest motion of the tip between two points, from rest to rest in both energies, as a phase.

        Parameters
        ----------
        start : sequence of float [rad]
            Absolute angle of each link at the start.
        goal : two numbers [m]
            Goal of the tip.
        torque : sequence of float [N m]
            Limit of each motor.
        slew : sequence of float [N m/s]
            Limit of the rate of each motor's torque; torques are zero at both ends.
        duration : float or (float, float) [s]
            Given, or least and largest: then the time is the cost.
        tolerance : float [m]
            Largest distance of the tip from the straight line between the points; it may go anywhere if not given.
        smooth : float [s]
            Weight of the mean of the sum of (rate of torque / limit)^2, which makes the answer unique.
        """
        n, m = self.size, len(self.links)
        if len(start) != m or len(torque) != m or min(torque) <= 0:
            raise InputError(
                f"ConvectedChain: found {len(start)} angles and torques {tuple(torque)}; expected {m} each, torques above 0"
            )
        z = SX.sym("z", 3 * n + 2 * m)
        theta, rate, acceleration, u, r = ca.vertsplit(z, [0, n, 2 * n, 3 * n, 3 * n + m, 3 * n + 2 * m])
        begin, finish = self.tip(self.bend(start)), np.asarray(goal, dtype=float)
        here = ca.vertcat(*(ca.dot(f(theta), ca.DM(self.lengths)) for f in (ca.cos, ca.sin)))
        way = self._angles_along_line(np.asarray(start, dtype=float), begin, finish)
        free = span(duration)[0] < span(duration)[1]
        limits = np.concatenate([np.full(3 * n, np.inf), torque, slew])
        ends = [(-limits, limits.copy()) for _ in range(2)]
        for side in ends[0]:
            side[:n] = self.bend(start)
        for side in (*ends[0], *ends[1]):
            side[n : 2 * n] = side[3 * n : 3 * n + m] = 0
        straight = ca.vertcat(*(theta[k + 1] - theta[k] for nodes in self.nodes for k in nodes[:-1]))
        rows = ca.vertcat(here - ca.DM(finish), straight)
        path: tuple[PhaseConstraint, ...] = ()
        if tolerance is not None:
            along = (finish - begin) / np.linalg.norm(finish - begin)
            off = along[0] * (here[1] - begin[1]) - along[1] * (here[0] - begin[0])
            bound = np.array([tolerance])
            path = (PhaseConstraint("tip on its line", ca.Function("line", [z], [off]), -bound, bound),)
        running = ca.sumsqr(r / ca.DM(list(slew)))
        T = SX.sym("T")
        return Phase(
            "motion",
            (
                *(f"{kind}.{k}" for kind in ("angle", "rate", "acceleration") for k in range(n)),
                *(f"torque.{k + 1}" for k in range(m)),
                *(f"rate of torque.{k + 1}" for k in range(m)),
            ),
            {k: k + n for k in range(2 * n)} | {3 * n + k: 3 * n + m + k for k in range(m)},
            tuple(range(3 * n + m, 3 * n + 2 * m)),
            ca.Function("equations", [z], [self.equations(theta, rate, acceleration, u)]),
            span(duration),
            -limits,
            limits,
            np.concatenate([np.ones(3 * n), torque, slew]),
            ends[0],
            ends[1],
            path=path,
            at_end=(
                PhaseConstraint(
                    "tip at its goal, links straight",
                    ca.Function("end", [z], [rows]),
                    *np.zeros((2, rows.numel())),
                ),
            ),
            running=ca.Function("running", [z], [smooth * running]),
            final=ca.Function("final", [z, T], [T]) if free else None,
            guess=self._guess(way),
        )

    def _angles_along_line(self, start: Array, begin: Array, finish: Array) -> Array:
        """Return angles of straight links with the tip at points of the line, (points, links), each near the one before."""
        lengths, way = np.array([link.length for link in self.links]), [start]

        def away(angles: Array, target: Array) -> Array:
            return np.array([np.cos(angles) @ lengths, np.sin(angles) @ lengths]) - target

        def step(angles: Array, off: Array) -> Array:
            J = np.stack([-np.sin(angles) * lengths, np.cos(angles) * lengths])
            return np.linalg.lstsq(J, -off, rcond=1e-6)[0]

        for s in np.linspace(0, 1, WAYPOINTS)[1:]:
            target = begin + s * (finish - begin)
            angles, off = newton(way[-1], partial(away, target=target), step, np.add, CLOSED * lengths.sum())
            if off[-1] > 1e-6:
                raise InputError(
                    f"ConvectedChain: the tip cannot reach ({target[0]:.4g}, {target[1]:.4g}) m, {s:.0%} of the way; expected a line within "
                    f"{lengths.sum():.4g} m of the hub"
                )
            way.append(angles)
        return np.array(way)

    def _guess(self, way: Array) -> Guess:
        """Return the motion of rigid links along the line, smooth in time."""
        curve: Any = CubicSpline(np.linspace(0, 1, len(way)), np.array([self.bend(row) for row in way]))

        def at(s: Array, T: float) -> Array:
            along = s**3 * (10 - 15 * s + 6 * s**2)
            rate = (30 * s**2 * (1 - s) ** 2)[:, None] / T
            bend = (60 * s * (1 - s) * (1 - 2 * s))[:, None] / T**2
            slope = curve(along, 1)
            parts = [curve(along), rate * slope, bend * slope + rate**2 * curve(along, 2)]
            return np.hstack([*parts, np.zeros((len(s), 2 * len(self.links)))])

        return at
