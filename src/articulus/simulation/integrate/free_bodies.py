"""Free rigid bodies and constraints by central differences: Euler parameters, momentum kept to rounding.

Positions and orientations are known at t = n h, velocities half a step earlier and later:

    udot(n+1/2)  = udot(n-1/2) + h uddot(n),     u(n+1) = u(n) + h udot(n+1/2)
    w(n+1/2)     = w(n-1/2) + h wdot(n)
    quat(n+1)    = quat(n) (1, h w/4)^2 / (1 + h^2 |w|^2 / 16),        w = w(n+1/2)
    pi(n+1/2)    = pi(n-1/2) + h R torque(n)     angular momentum in ground axes
    J w(n)       = R' pi(n)

with `park.penalty_multipliers` for the constraint forces at t = n h. Forces that bodies exert on each other cancel in
the sums of m udot and of u x m udot + pi, so that both are kept to rounding. Without torque w(n) is exactly the source's.

Source: Park 1993, equations 9.16 to 9.34, on one grid for translations and rotations: the source takes torques at
half steps, where neither the positions nor the multipliers are known. Equation 9.27 needs the square.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import constraints
from articulus.dynamics.loops.factor import solve
from articulus.dynamics.loops.park import penalty_multipliers
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import Tree
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import GROUND, Description, Fixed, Free
from articulus.spatial import cross, quaternion_matrix, quaternion_product, skew

REDUNDANT = 1e-10
"""Share of the trace added to the matrix for the first multipliers, so that redundant rows share their force."""


@dataclass(frozen=True)
class FreeBody:
    """Constants of one body, in the frame of its free joint."""

    m: SX
    c: SX
    """Center of mass."""
    J: SX
    """Inertia about the center of mass."""
    J_inverse: SX
    g: SX
    """Gravity in the axes of the joint's parent."""

    def mobility(self) -> SX:
        """Return the inverse of the mass matrix for the velocity (angular, linear of the origin), (6, 6)."""
        C = skew(self.c)
        CJ = ca.mtimes(C, self.J_inverse)
        return ca.blockcat([[self.J_inverse, CJ.T], [CJ, SX.eye(3) / self.m - ca.mtimes(CJ, C)]])

    def velocity(self, R: SX, udot: SX, w: SX) -> SX:
        """Return the velocity of the free joint from that of the center of mass; likewise for accelerations, (6,)."""
        return ca.vertcat(w, ca.mtimes(R.T, udot) + cross(self.c, w))

    def spin(self, R: SX, pi: SX) -> SX:
        """Return the angular velocity in body axes from the angular momentum in ground axes."""
        return ca.mtimes(self.J_inverse, ca.mtimes(R.T, pi))

    def flight(self, q: SX, v: SX) -> Flight:
        """Return the body at position and velocity of its free joint, with no torque."""
        R, w = quaternion_matrix(q[:4]), v[:3]
        udot = ca.mtimes(R, v[3:] - cross(self.c, w))
        pi = ca.mtimes(R, ca.mtimes(self.J, w))
        return Flight(q[4:] + ca.mtimes(R, self.c), q[:4], udot, w, pi, SX.zeros(3))


@dataclass(frozen=True)
class Flight:
    """What is known of one body at a step n."""

    u: SX
    """Center of mass at n."""
    quat: SX
    """Euler parameters at n."""
    udot: SX
    """Velocity of the center of mass at n - 1/2."""
    w: SX
    """Angular velocity in body axes at n - 1/2."""
    pi: SX
    """Angular momentum in ground axes at n - 1/2."""
    torque: SX
    """Torque in ground axes at n - 1, the estimate of that at n."""

    SIZES: ClassVar[tuple[int, ...]] = (3, 4, 3, 3, 3, 3)

    def pack(self) -> SX:
        return ca.vertcat(self.u, self.quat, self.udot, self.w, self.pi, self.torque)

    @staticmethod
    def unpack(column: SX) -> Flight:
        return Flight(*ca.vertsplit(column, np.cumsum([0, *Flight.SIZES]).tolist()))

    @property
    def R(self) -> SX:
        return quaternion_matrix(self.quat)


@dataclass(frozen=True)
class BodyMotion:
    """A run: times (steps + 1,), positions and velocities of the free joints, multipliers, all at t = n h."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    multipliers: np.ndarray


class FreeBodies:
    """Park's integrator for a mechanism of free bodies that only constraints hold together.

    Parameters
    ----------
    description : Description
        Every body on the ground by a free joint (or fixed to one that is); joints as constraints.
    step : float [s]
        h; stable while h times the highest angular velocity is below 2.
    softness : float
        eps of `penalty_multipliers`; rows are violated by about eps lambda and h^2.

    Attributes
    ----------
    advance : casadi.Function
        From x(n), t(n) [s] and joint forces tau(n) to x(n+1), v(n) and multipliers(n).
    begin : casadi.Function
        From q, v and tau at t = 0 to x(0).
    """

    def __init__(self, description: Description, step: float, softness: float):
        if not (step > 0 and softness > 0):
            raise InputError(f"step = {step!r}, softness = {softness!r}; expected positive numbers")
        self.step, self._softness = step, softness
        self._tree = Tree(description)
        self._require_free_bodies()
        self._values = ca.DM([p.value for p in description.parameters])
        self._bodies = [self._body(i) for i in range(len(self._tree))]
        self._mobility = ca.diagcat(*(b.mobility() for b in self._bodies))
        t = SX.sym("t")
        c = constraints(self._tree, self._tree.v, t)
        self._rows = ca.Function(
            "rows", [self._tree.q, self._tree.v, t, self._tree.p], [c.G, c.rate, c.gamma]
        )
        self._count = c.g.numel()
        self.advance, self.begin = self._advance(), self._begin()
        x = SX.sym("x", self._size)
        self._positions = ca.Function("positions", [x], [self._q(self._unpack(x)[0])])

    def run(self, q0: Any, v0: Any, steps: int, tau: Any = 0.0) -> BodyMotion:
        """Return the motion from t = 0.

        Parameters
        ----------
        q0, v0 : (nq,), (nv,)
            Where it begins; the constraints should hold there.
        steps : int
        tau : number, (nv,) or (steps + 1, nv)
            Wrench on each body as force of its free joint: moment and force in body axes, about the body's origin.
        """
        d = self._tree.description
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"steps = {steps!r}; expected an integer of at least 1")
        for name, value, n in (("q0", q0, d.nq), ("v0", v0, d.nv)):
            if np.shape(value) != (n,):
                raise InputError(f"{name}: found shape {np.shape(value)}; expected ({n},)")
        forces = np.broadcast_to(np.asarray(tau, dtype=float), (steps + 1, d.nv))
        t = self.step * np.arange(steps + 1)
        x0 = self.begin(q0, v0, forces[0])
        x, v, multipliers = self.advance.mapaccum(steps + 1)(x0, t.reshape(1, -1), forces.T)
        x = ca.horzcat(x0, x[:, :-1])
        q = np.array(self._positions.map(steps + 1)(x)).T
        bad = ~np.isfinite(q).all(axis=1)
        if bad.any():
            raise NumericalError(
                f"positions are not finite from t = {t[bad.argmax()]:.6g} s on; expected a step [s] well below 2 over "
                f"the highest angular velocity [rad/s], found {self.step:g}",
                result=q,
            )
        return BodyMotion(t, q, np.array(v).T, np.array(multipliers).reshape(-1, steps + 1).T)

    # how a step is made

    def _advance(self) -> ca.Function:
        x, t, tau = SX.sym("x", self._size), SX.sym("t"), SX.sym("tau", self._tree.description.nv)
        flights, before = self._unpack(x)
        G, rate, _ = self._rows(self._q(flights), self._velocity(flights), t, self._values)
        free = self._free(flights, tau)
        found = penalty_multipliers(self._mobility, G, free, rate, before, self._softness, self.step)
        after = self._kick(flights, found.vdot, self.step)
        middle = [
            replace(f, udot=(f.udot + k.udot) / 2, w=b.spin(f.R, (f.pi + k.pi) / 2))
            for b, f, k in zip(self._bodies, flights, after)
        ]
        following = self._pack([_drift(f, self.step) for f in after], 2 * found.multipliers - before)
        return ca.Function("advance", [x, t, tau], [following, self._velocity(middle), found.multipliers])

    def _begin(self) -> ca.Function:
        """Return x(0): velocities half a step back along the accelerations that the constraints allow.

        Without the constraint forces in it, the step back would violate the rates, and the mid-point rule would carry
        that along with alternating sign.
        """
        d = self._tree.description
        q, v, tau = SX.sym("q", d.nq), SX.sym("v", d.nv), SX.sym("tau", d.nv)
        flights = [
            b.flight(q[part.q], v[part.v[0] : part.v[-1] + 1])
            for b, part in zip(self._bodies, self._tree.parts)
        ]
        G, _, gamma = self._rows(q, v, 0, self._values)
        free = self._free(flights, tau)
        W = ca.mtimes(G, ca.mtimes(self._mobility, G.T))
        regular = W + REDUNDANT * ca.trace(W) * SX.eye(self._count)
        turning = [ca.vertcat(SX.zeros(3), -cross(f.w, ca.mtimes(f.R.T, f.udot))) for f in flights]
        multipliers = solve(regular, ca.mtimes(G, free + ca.vertcat(*turning)) + gamma)
        vdot = free - ca.mtimes(self._mobility, ca.mtimes(G.T, multipliers))
        return ca.Function(
            "begin", [q, v, tau], [self._pack(self._kick(flights, vdot, -self.step / 2), multipliers)]
        )

    def _free(self, flights: list[Flight], tau: SX) -> SX:
        """Return the accelerations of all bodies without constraint forces, (nv,), but for w x v in the linear part."""
        out = []
        for b, f, wrench in zip(self._bodies, flights, ca.vertsplit(tau, 6)):
            w = self._spin(b, f)
            moment, force = wrench[:3] - cross(b.c, wrench[3:]), ca.mtimes(f.R, wrench[3:])
            wdot = ca.mtimes(b.J_inverse, moment - cross(w, ca.mtimes(b.J, w)))
            out.append(b.velocity(f.R, force / b.m + b.g, wdot))
        return ca.vertcat(*out)

    def _kick(self, flights: list[Flight], vdot: SX, h: float) -> list[Flight]:
        """Return the bodies with velocities and momenta after h seconds of the given accelerations."""
        out = []
        for b, f, a in zip(self._bodies, flights, ca.vertsplit(vdot, 6)):
            w, wdot = self._spin(b, f), a[:3]
            uddot = ca.mtimes(f.R, a[3:] - cross(b.c, wdot))
            torque = ca.mtimes(f.R, ca.mtimes(b.J, wdot) + cross(w, ca.mtimes(b.J, w)))
            out.append(
                replace(f, udot=f.udot + h * uddot, w=f.w + h * wdot, pi=f.pi + h * torque, torque=torque)
            )
        return out

    def _spin(self, b: FreeBody, f: Flight) -> SX:
        """Return the angular velocity at n from the momentum, with the torque of the step before."""
        return b.spin(f.R, f.pi + self.step / 2 * f.torque)

    # the state as one column

    @property
    def _size(self) -> int:
        return sum(Flight.SIZES) * len(self._bodies) + self._count

    def _pack(self, flights: list[Flight], multipliers: SX) -> SX:
        return ca.vertcat(*(f.pack() for f in flights), multipliers)

    def _unpack(self, x: SX) -> tuple[list[Flight], SX]:
        size, n = sum(Flight.SIZES), len(self._bodies)
        return [Flight.unpack(x[size * i : size * (i + 1)]) for i in range(n)], x[size * n :]

    def _q(self, flights: list[Flight]) -> SX:
        return ca.vertcat(
            *(ca.vertcat(f.quat, f.u - ca.mtimes(f.R, b.c)) for b, f in zip(self._bodies, flights))
        )

    def _velocity(self, flights: list[Flight]) -> SX:
        return ca.vertcat(*(b.velocity(f.R, f.udot, f.w) for b, f in zip(self._bodies, flights)))

    # what the mechanism must be

    def _require_free_bodies(self) -> None:
        tree = self._tree
        for c in tree.description.connections:
            if not isinstance(c.joint, Free | Fixed) or (isinstance(c.joint, Free) and c.parent != GROUND):
                raise InputError(
                    f"joint '{c.name}': found {c.joint.type_name} on '{c.parent}'; expected a free joint on "
                    f"'{GROUND}' for every body. Joints between bodies are constraints here"
                )
        if not passive_forces(tree, tree.v).is_zero():
            raise InputError("damping on a free joint; expected none: give forces on the bodies as tau")

    def _body(self, i: int) -> FreeBody:
        """Return the constants of node i, parameters at their values."""
        tree = self._tree
        gravity = ca.mtimes(tree.parts[i].outer.R.T, tree.gravity)
        own = tree.parts[i].inertia
        m, h, J, g = ca.Function("body", [tree.p], [own.m, own.h, own.J, gravity])(self._values)
        c = SX(h / m)
        about_com = SX(J) - m * (ca.dot(c, c) * SX.eye(3) - ca.mtimes(c, c.T))
        return FreeBody(SX(m), c, about_com, SX(ca.inv(ca.DM(about_com))), SX(g))


def _drift(f: Flight, h: float) -> Flight:
    """Return a body moved by its velocities for h seconds; the quaternion by the mid-point rule."""
    half = ca.vertcat(1, h * f.w / 4)
    turn = quaternion_product(half, half)
    quat = quaternion_product(f.quat, turn)
    return replace(f, u=f.u + h * f.udot, quat=quat / ca.norm_2(quat))
