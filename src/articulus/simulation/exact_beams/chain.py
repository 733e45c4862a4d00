"""Planar chains of inextensible flexible links, in convected coordinates.

The one unknown is the absolute angle theta(s, t) of the section at arc length s from the hub. The tangent, not the angle, is interpolated
between nodes: beta(s) = sum_n p_n(s) (cos theta_n, sin theta_n) with hat functions p_n, so that position is x(s) = sum_n q_n(s) beta_n,
q_n = int_0^s p_n. The hub stays where it is and nothing stretches, by construction; all integrals are done once. At a hinge two nodes share
one place.

    sum_n [cos(theta_m - theta_n) M_mn theta_n'' + sin(theta_m - theta_n) (M_mn theta_n'^2 - K_mn)] = tau_m + weight

Source: Eisler, Segalman & Robinett 1989, eq. 6.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX
from scipy.linalg import eigh

from articulus import kernel
from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain
from articulus.simulation.integrate import GeneralizedAlpha, Mechanical

GAUSS = np.polynomial.legendre.leggauss(3)
"""Exact for products of two parabolas times a constant."""
Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class ChainElement:
    """A piece of a link: length [m], bending stiffness [N m^2] and mass per length [kg/m]."""

    length: float
    bending: float
    mass: float

    def __post_init__(self) -> None:
        require_plain("chain", (0,), length=self.length, bending=self.bending, mass=self.mass)
        if not (self.length > 0 and self.bending > 0 and self.mass >= 0):
            raise InputError(
                f"chain: an element of length {self.length!r}, stiffness {self.bending!r}, mass {self.mass!r}; "
                "expected positive length and stiffness, and a mass that is not negative"
            )


@dataclasses.dataclass(frozen=True)
class BeamChain:
    """Links of elements from the hub outwards, hinged to one another.

    Nodes are numbered from the hub outwards: each link has one more than elements.

    Parameters
    ----------
    links : tuple of tuple of Element
    points : dict of int to float [kg]
        Point masses by node.
    inertias : dict of int to float [kg m^2]
        Point moments of inertia by node.
    gravity : (float, float) [m/s^2]
    """

    links: tuple[tuple[ChainElement, ...], ...]
    points: dict[int, float] = dataclasses.field(default_factory=dict)
    inertias: dict[int, float] = dataclasses.field(default_factory=dict)
    gravity: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.links or not all(self.links):
            raise InputError("chain: a link without elements; expected one or more in each link")
        for name, table in (("point mass", self.points), ("point inertia", self.inertias)):
            for node, value in table.items():
                if not (0 <= node < self.nodes and value >= 0):
                    raise InputError(
                        f"chain: {name} {value!r} at node {node!r}; expected nodes 0 to {self.nodes - 1} and a value of 0 or more"
                    )

    @staticmethod
    def uniform(length: float, elements: int, bending: float, mass: float, **more: Any) -> BeamChain:
        """Return one uniform link of equal elements: length [m], stiffness [N m^2], mass per length [kg/m]."""
        return BeamChain(((ChainElement(length / elements, bending, mass),) * elements,), **more)

    @property
    def nodes(self) -> int:
        return sum(len(link) + 1 for link in self.links)

    @property
    def joints(self) -> list[int]:
        """Return the first node of each link; its joint turns it against the node before, the first against the ground."""
        return np.cumsum([0, *(len(link) + 1 for link in self.links[:-1])]).tolist()

    @cached_property
    def reach(self) -> Array:
        """Return q_n at each node, (nodes, nodes) [m]: positions are reach @ tangents."""
        rows = [np.zeros(self.nodes)]
        node = 0
        for k, link in enumerate(self.links):
            if k:
                rows.append(rows[-1])
                node += 1
            for element in link:
                row = rows[-1].copy()
                row[node : node + 2] += element.length / 2
                rows.append(row)
                node += 1
        return np.array(rows)

    @cached_property
    def _integrals(self) -> tuple[Array, Array, Array]:
        """Return M [kg m^2], K [N m], both (nodes, nodes), and the first moments of the mass, (nodes,) [kg m]."""
        M, K, S = np.zeros((self.nodes,) * 2), np.zeros((self.nodes,) * 2), np.zeros(self.nodes)
        for node, element in self._elements():
            h = element.length
            K[node : node + 2, node : node + 2] += element.bending / h * np.array([[1, -1], [-1, 1]])
            for point, weight in zip(*GAUSS):
                s, q = (1 + point) / 2, self.reach[node].copy()
                q[node : node + 2] += h * s * np.array([1 - s / 2, s / 2])
                M += weight / 2 * h * element.mass * np.outer(q, q)
                S += weight / 2 * h * element.mass * q
        for node, mass in self.points.items():
            M += mass * np.outer(self.reach[node], self.reach[node])
            S += mass * self.reach[node]
        for node, inertia in self.inertias.items():
            M[node, node] += inertia
        return M, K, S

    def _elements(self) -> list[tuple[int, ChainElement]]:
        """Return each element with its inner node."""
        out, node = [], 0
        for link in self.links:
            for element in link:
                out.append((node, element))
                node += 1
            node += 1
        return out

    def position(self, theta: Any) -> Array:
        """Return positions of the nodes, (..., nodes, 2) [m], at angles (..., nodes) [rad]."""
        return self.reach @ np.stack([np.cos(theta), np.sin(theta)], axis=-1)

    def energy(self, theta: Any, rates: Any) -> tuple[Array, Array, Array]:
        """Return kinetic, elastic and gravity energy [J] at angles [rad] and rates [rad/s], (..., nodes) each."""
        M, K, S = self._integrals
        theta, rates = np.asarray(theta, dtype=float), np.asarray(rates, dtype=float)
        cosine = np.cos(theta[..., :, None] - theta[..., None, :])
        kinetic = np.einsum("...m,...mn,...n->...", rates, M * cosine, rates) / 2
        elastic = np.sum(K * cosine, axis=(-2, -1)) / 2
        weight = -(np.cos(theta) @ S * self.gravity[0] + np.sin(theta) @ S * self.gravity[1])
        return kinetic, elastic, weight

    def modes(self, held: Sequence[int] = ()) -> tuple[Array, Array]:
        """Return frequencies [rad/s] and shapes, (count, nodes), of the straight chain at rest, with some nodes held.

        Gravity is omitted.
        """
        M, K, _ = self._integrals
        free = np.setdiff1d(np.arange(self.nodes), held)
        values, vectors = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)])
        shapes = np.zeros((len(free), self.nodes))
        shapes[:, free] = vectors.T
        return np.sqrt(np.maximum(values, 0.0)), shapes

    def mechanical(
        self, torque: Callable[[SX, SX, SX], Any] | None = None, hub: Callable[[SX], SX] | None = None
    ) -> Mechanical:
        """Return the equations of motion for an implicit method; written on symbols, in native code.

        Parameters
        ----------
        torque : callable
            From time [s], angles and rates, (nodes,) each, to the torque of each joint, (links,) [N m]; on symbols. No torque if not
            given.
        hub : callable
            From time [s] to the angle of node 0 [rad], on symbols: it is then no unknown, and positions and velocities are those of the
            other nodes. Free if not given.
        """
        t, first = SX.sym("t"), 0 if hub is None else 1
        n = self.nodes - first
        q, v, vdot = (SX.sym(name, n) for name in ("q", "v", "vdot"))
        theta, rates, accelerations = q, v, vdot
        if hub is not None:
            angle = SX(hub(t))
            rate = ca.jacobian(angle, t)
            theta, rates = ca.vertcat(angle, q), ca.vertcat(rate, v)
            accelerations = ca.vertcat(ca.jacobian(rate, t), vdot)
        applied = self._joint_loads(SX(len(self.links), 1) if torque is None else torque(t, theta, rates))
        residual = (self._inertia_forces(theta, rates, accelerations) - applied)[first:]
        force = -ca.substitute(residual, vdot, SX.zeros(n))
        at = [t, q, v, vdot]
        of = {
            "mass": ([t, q], ca.jacobian(residual, vdot)),
            "force": ([t, q, v], force),
            "stiffness": (at, ca.jacobian(residual, q)),
            "damping": ([t, q, v], -ca.jacobian(force, v)),
        }
        ready = {name: kernel.compile(ca.Function(f"chain_{name}", a, [x])) for name, (a, x) in of.items()}
        return Mechanical(
            mass=ready["mass"],
            force=ready["force"],
            stiffness=lambda t, q, v, vdot, _: ready["stiffness"](t, q, v, vdot),
            damping=ready["damping"],
        )

    def _inertia_forces(self, theta: SX, rates: SX, accelerations: SX) -> SX:
        """Return the left side of eq. 6 of the source minus the weight, (nodes,) [N m]."""
        M, K, S = (ca.DM(each) for each in self._integrals)
        c, s = ca.cos(theta), ca.sin(theta)
        cosine = ca.mtimes(c, c.T) + ca.mtimes(s, s.T)
        sine = ca.mtimes(s, c.T) - ca.mtimes(c, s.T)
        weight = S * (self.gravity[1] * c - self.gravity[0] * s)
        turning = ca.mtimes(M * cosine, accelerations) + ca.mtimes(M * sine, rates**2)
        return turning - ca.mtimes(K * sine, SX.ones(self.nodes)) - weight

    def _joint_loads(self, torques: Any) -> SX:
        """Return joint torques on the nodes: each acts on the first node of its link and back on the node before."""
        torques = ca.vertcat(*torques) if isinstance(torques, (list, tuple)) else SX(torques)
        if torques.numel() != len(self.links):
            raise InputError(
                f"chain: {torques.numel()} joint torques; expected {len(self.links)}, one per link"
            )
        out = SX.zeros(self.nodes)
        for k, node in enumerate(self.joints):
            out[node] += torques[k]
            if node:
                out[node - 1] -= torques[k]
        return out

    def simulate(
        self,
        t_end: float,
        steps: int,
        theta0: Any = None,
        rates0: Any = None,
        torque: Callable[[SX, SX, SX], Any] | None = None,
        hub: Callable[[SX], SX] | None = None,
        rho_inf: float = 0.9,
    ) -> tuple[Array, Array, Array]:
        """Return times [s], angles [rad] and rates [rad/s], (times, nodes) each, of equal steps of generalized-alpha.

        Parameters
        ----------
        t_end : float [s]
        steps : int
        theta0, rates0 : arrays, (nodes,)
            Initial angles [rad] and rates [rad/s]; zero if not given.
        torque, hub : callable
            See `mechanical`.
        rho_inf : float
            Spectral radius at infinite frequency.
        """
        first = 0 if hub is None else 1
        zero = np.zeros(self.nodes)
        start = [zero if x is None else np.asarray(x, dtype=float) for x in (theta0, rates0)]
        if any(x.shape != (self.nodes,) for x in start):
            raise InputError(
                f"chain: initial states of shapes {[x.shape for x in start]}; expected ({self.nodes},)"
            )
        t, states = GeneralizedAlpha(rho_inf).integrate(
            self.mechanical(torque, hub), 0.0, t_end, start[0][first:], start[1][first:], steps
        )
        theta, rates = np.array([s.q for s in states]), np.array([s.v for s in states])
        if hub is None:
            return t, theta, rates
        at = SX.sym("t")
        angle = SX(hub(at))
        both = ca.Function("hub", [at], [angle, ca.jacobian(angle, at)])
        known = np.array([[float(x) for x in both(each)] for each in t])
        return t, np.column_stack([known[:, 0], theta]), np.column_stack([known[:, 1], rates])
