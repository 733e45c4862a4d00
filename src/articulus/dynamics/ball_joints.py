"""Mechanisms of ball joints in absolute coordinates: implicit equations, and their Newton correction in linear cost.

Body i has the velocity V of its mass center, Euler parameters p and their rates s. In its axes u leads from the mass center to
its own joint, and b from the mass center of its parent to the same joint, in the axes of the parent. With A(p) the rotation to
ground axes, and all sums over the bodies that i carries:

    Gd  = (V + Adot u) - (V + Adot b of the parent)                         the joint does not come apart
    F   = N - (I wdot + w x I w) + u x A' y - sum of b x A' y               moments about the mass center
    I1  = p.p - 1,   I2 = p.s,   I3 = G(p) (s - pdot)                       w = 2 G(p) s

where y = m (Vdot - g) - f of the body and of all bodies that are attached to it is the force in its joint. N and f are moments and
forces from elsewhere: joint torques, wrenches on frames, friction. An implicit formula makes Xdot = sigma X + const, and a
Newton iteration solves J dX = E with J = dE/dX + sigma dE/dXdot.

The positions of the mass centers follow from p and are no unknowns here; their row G of the paper has the same derivative by p
as Gd has by s. Elimination of dp, and of dV by the changes y = sigma T of the joint forces, leaves one sparse system in
(ds, T) with blocks for neighbors only. Taken from the ends of the tree inwards it has no fill beyond these.

Source: Chou 1989, equations 5 to 50, for a chain without forces, where u = a - r, and b = -r of the body before. The paper
writes the rows as sums along the chain, whose differences are taken here, and leaves the last elimination to a report. It
keeps three components of s - pdot and divides by the fourth Euler parameter; those along G(p) need no such choice.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM, SX

from articulus.dynamics.tree import ROOT, NodeParts, Tree, tree_of
from articulus.errors import InputError
from articulus.model.mechanism import Description, Spherical
from articulus.spatial import cross, quaternion_matrix, quaternion_product, skew

SIZES = {"V": 3, "p": 4, "s": 4}
"""Numbers of one body in X."""


def refusal(description: Description) -> str:
    """Return why a mechanism cannot be posed in these equations; nothing if it can."""
    ball = "expected ball joints (Spherical), which bear forces and no moments, and fixed ones"
    if description.constraints:
        return f"constraint '{description.constraints[0].name}' closes a loop; expected a tree of ball joints"
    for body in description.bodies:
        if body.modes is not None and body.modes.count:
            return f"body '{body.name}' is flexible; expected rigid bodies"
    joints = [c for c in description.connections if c.joint.nv]
    for c in joints:
        if not isinstance(c.joint, Spherical):
            return f"joint '{c.name}' is of type '{c.joint.type_name}'; {ball}"
    for c, part in zip(joints, tree_of(description).parts):
        if not all(a.is_zero() for a in part.armature) or c.rotor is not None:
            return f"joint '{c.name}' has an armature or a rotor; expected all inertia in the bodies"
        if part.inertia.m.is_zero():
            return f"body '{c.child}' has no mass; expected mass in every body behind a ball joint"
        if not part.outer.R.is_constant():
            return f"the axes of joint '{c.name}' depend on a parameter; expected fixed axes in the parent"
    return ""


def e_matrix(p: SX) -> SX:
    """Return E(p) = [-e, e0 I + e~], (3, 4)."""
    return ca.horzcat(-p[1:], p[0] * SX.eye(3) + skew(p[1:]))


def g_matrix(p: SX) -> SX:
    """Return G(p) = [-e, e0 I - e~], (3, 4)."""
    return ca.horzcat(-p[1:], p[0] * SX.eye(3) - skew(p[1:]))


def rotation(p: SX) -> SX:
    """Return A = E G', body to ground axes."""
    return ca.mtimes(e_matrix(p), g_matrix(p).T)


def rotation_rate(p: SX, s: SX) -> SX:
    """Return Adot = 2 E(s) G(p)'."""
    return 2 * ca.mtimes(e_matrix(s), g_matrix(p).T)


def bar(a: SX) -> SX:
    """Return the matrix with G(p)' a = bar(a) p, (4, 4)."""
    return ca.blockcat([[SX(0), -a.T], [a, -skew(a)]])


def plus(z: SX) -> SX:
    """Return the matrix with E(p)' z = plus(z) p, (4, 4)."""
    return ca.blockcat([[SX(0), -z.T], [z, skew(z)]])


@dataclass(frozen=True)
class BallJointBody:
    """One body and the ball joint on which it hangs."""

    parent: int
    q: slice
    v: slice
    m: SX
    """Mass [kg]."""
    inertia: SX
    """About the mass center, body axes [kg m^2]."""
    center: SX
    """Mass center from the joint, body axes [m]; u is its opposite."""
    b: SX
    """Joint from the mass center of the parent, axes of the parent; for the ground from its origin [m]."""
    turn: DM
    """Quaternion of the joint's axes in those of the parent."""

    @staticmethod
    def of(part: NodeParts, parents: Sequence[BallJointBody]) -> BallJointBody:
        own = part.inertia
        c = own.h / own.m
        b = part.outer.p if part.parent == ROOT else part.outer.p - parents[part.parent].center
        span = slice(part.v[0], part.v[-1] + 1)
        central = own.J + own.m * ca.mtimes(skew(c), skew(c))
        return BallJointBody(part.parent, part.q, span, own.m, central, c, b, _quaternion(part.outer.R))


@dataclass(frozen=True)
class BodyColumns:
    """The columns of one body: V, p and s, and their rates."""

    V: SX
    p: SX
    s: SX
    Vdot: SX
    pdot: SX
    sdot: SX


@dataclass(frozen=True)
class NewtonCorrection:
    """Equations and the sparse matrices of their Newton correction; block rows and columns go by bodies.

    J dX = E reads, with dV = C_T T / m for forces that do not change:

        C dV + L_rate dp + L ds = Gd
        F_p dp + F_s ds + sigma U T = F
    """

    E: SX
    """(11 n,) Gd, F, I1, I2, I3 of body after body."""
    C: SX
    """(3 n, 3 n) Own velocity less that of the parent."""
    L: SX
    """(3 n, 4 n) dGd/ds, equation 10."""
    L_rate: SX
    """(3 n, 4 n) dGd/dp, equation 17."""
    U: SX
    """(3 n, 3 n) dF by the forces in the joints, equation 27."""
    F_p: SX
    """(3 n, 4 n) Equation 31."""
    F_s: SX
    """(3 n, 4 n) Equation 34."""
    matrix: SX
    """(7 n, 7 n) Of the system in (ds, T), the bodies in reverse order: sparse, no fill from the first column on."""
    right: SX
    """(7 n,)."""
    change: SX
    """(11 n,) dX for the solution `unknown` of that system."""


class BallJoints:
    """A mechanism of ball joints on symbols.

    Parameters
    ----------
    tree : Tree
        For which `refusal` has no reason.

    Attributes
    ----------
    x, xdot : SX, (11 n,)
        X = (V, p, s) of body after body, and its rate.
    sigma : SX [1/s]
        Derivative of Xdot by X in a step.
    unknown : SX, (7 n,)
        Solution of the linear system of `NewtonCorrection`.
    """

    def __init__(self, tree: Tree):
        why = refusal(tree.description)
        if why:
            raise InputError(f"absolute coordinates of '{tree.description.name}': {why}")
        self.tree, self.balls = tree, list[BallJointBody]()
        for part in tree.parts:
            self.balls.append(BallJointBody.of(part, self.balls))
        self.n = len(self.balls)
        self.x, self.xdot = SX.sym("x", 11 * self.n), SX.sym("xdot", 11 * self.n)
        self.sigma, self.unknown = SX.sym("sigma"), SX.sym("unknown", 7 * self.n)
        places = [0, 3, 7, 11]
        rows = zip(ca.vertsplit(self.x, 11), ca.vertsplit(self.xdot, 11))
        self.bodies = [BodyColumns(*ca.vertsplit(x, places), *ca.vertsplit(r, places)) for x, r in rows]
        self.carried: list[list[int]] = [[] for _ in self.balls]
        for i, ball in enumerate(self.balls):
            if ball.parent != ROOT:
                self.carried[ball.parent].append(i)

    # joint coordinates

    @functools.cached_property
    def joints(self) -> tuple[SX, SX]:
        """q and v of the joints for p and s; quaternions of the same norm as p."""
        q, v = SX.zeros(self.tree.description.nq), SX.zeros(self.tree.description.nv)
        for ball, own in zip(self.balls, self.bodies):
            base, w = SX([1, 0, 0, 0]), SX.zeros(3)
            if ball.parent != ROOT:
                parent = self.bodies[ball.parent]
                base, w = parent.p, 2 * ca.mtimes(g_matrix(parent.p), parent.s)
            start = quaternion_product(base, SX(ball.turn))
            turn = quaternion_product(ca.vertcat(start[0], -start[1:]), own.p)
            q[ball.q] = turn
            seen = ca.mtimes(self._between(ball, turn).T, w)
            v[ball.v] = 2 * ca.mtimes(g_matrix(own.p), own.s) - seen
        return q, v

    def absolute(self, q: SX, v: SX) -> SX:
        """Return X of a state of the joints."""
        out: list[SX] = []
        turning: list[SX] = []
        for ball in self.balls:
            turn = q[ball.q]
            p, V, w = quaternion_product(SX(ball.turn), turn), SX.zeros(3), v[ball.v]
            if ball.parent != ROOT:
                before = out[ball.parent]
                p = quaternion_product(before[3:7], p)
                V = before[:3] + ca.mtimes(rotation_rate(before[3:7], before[7:]), ball.b)
                w = w + ca.mtimes(self._between(ball, turn).T, turning[ball.parent])
            s = 0.5 * ca.mtimes(g_matrix(p).T, w)
            turning.append(w)
            out.append(ca.vertcat(V + ca.mtimes(rotation_rate(p, s), ball.center), p, s))
        return ca.vertcat(*out)

    def _between(self, ball: BallJointBody, turn: SX) -> SX:
        """Return the rotation from the axes of a body to those of its parent."""
        return ca.mtimes(quaternion_matrix(SX(ball.turn)), quaternion_matrix(turn))

    # forces from elsewhere

    def moments(self, tau: SX, wrenches: dict[str, SX]) -> tuple[list[SX], list[SX]]:
        """Return N and f of every body for joint torques (nv,) and wrenches on frames, moment first, in ground axes."""
        q, _ = self.joints
        N, f = [tau[ball.v] for ball in self.balls], [SX.zeros(3) for _ in self.balls]
        for ball in self.balls:
            if ball.parent != ROOT:
                N[ball.parent] -= ca.mtimes(self._between(ball, q[ball.q]), tau[ball.v])
        for frame, wrench in wrenches.items():
            i, X = self.tree.frame(frame)
            if i != ROOT:
                A, arm = rotation(self.bodies[i].p), X.p - self.balls[i].center
                N[i] += ca.mtimes(A.T, wrench[:3]) + cross(arm, ca.mtimes(A.T, wrench[3:]))
                f[i] += wrench[3:]
        return N, f

    # equations

    def newton(self, tau: SX, wrenches: dict[str, SX]) -> NewtonCorrection:
        """Return the equations under joint torques and wrenches, which may depend on x."""
        n, sigma = self.n, self.sigma
        N, f = self.moments(tau, wrenches)
        y = self._joint_forces(f)
        E = [self._residual(i, N[i], y) for i in range(n)]
        C, L, L_rate, U = self._linkage()
        by = {name: self._columns(name) for name in ("p", "s")}
        N_p, N_s = (ca.jacobian(ca.vertcat(*N), self.x)[:, by[name]] for name in "ps")
        f_p, f_s = (ca.jacobian(ca.vertcat(*f), self.x)[:, by[name]] for name in "ps")
        own = [self._own(i, y) for i in range(n)]
        F_p, F_s = ca.diagcat(*(o[0] for o in own)) + N_p, ca.diagcat(*(o[1] for o in own)) + N_s
        # dp = I - I_s ds, of I1 and I3
        I = ca.vertcat(
            *(b.p * e["I1"] / 2 - ca.mtimes(g_matrix(b.p).T, e["I3"]) / sigma for b, e in zip(self.bodies, E))
        )
        I_s = ca.diagcat(*(-ca.mtimes(g_matrix(b.p).T, g_matrix(b.p)) / sigma for b in self.bodies))
        norm_p = ca.diagcat(*(-2 * sigma * b.s.T for b in self.bodies))
        norm_s = ca.diagcat(*(-2 * sigma * b.p.T for b in self.bodies))
        # dV = (T - T of the bodies carried + df / sigma) / m
        over_m = ca.diagcat(*(SX.eye(3) / ball.m for ball in self.balls))
        C_m = ca.mtimes(C, over_m)
        V_p, V_s = ca.mtimes(C_m, f_p) / sigma + L_rate, ca.mtimes(C_m, f_s) / sigma + L
        none = SX(n, 3 * n)
        matrix = ca.blockcat(
            [
                [F_s - ca.mtimes(F_p, I_s), sigma * U],
                [norm_s - ca.mtimes(norm_p, I_s), none],
                [V_s - ca.mtimes(V_p, I_s), ca.mtimes(C_m, C.T)],
            ]
        )
        right = ca.vertcat(
            *(e["F"] for e in E), *(-2 * sigma * e["I2"] for e in E), *(e["Gd"] for e in E)
        ) - ca.mtimes(ca.vertcat(F_p, norm_p, V_p), I)
        rows, columns = self._inwards()
        ds, T = self._solution(columns)
        dp = I - ca.mtimes(I_s, ds)
        dV = ca.mtimes(over_m, ca.mtimes(C.T, T) + (ca.mtimes(f_p, dp) + ca.mtimes(f_s, ds)) / sigma)
        change = [ca.vertcat(*z) for z in zip(*(ca.vertsplit(d, k) for d, k in ((dV, 3), (dp, 4), (ds, 4))))]
        return NewtonCorrection(
            E=ca.vertcat(*(ca.vertcat(*e.values()) for e in E)),
            C=C,
            L=L,
            L_rate=L_rate,
            U=U,
            F_p=F_p,
            F_s=F_s,
            matrix=ca.sparsify(matrix)[rows, columns],
            right=ca.densify(right[rows]),
            change=ca.densify(ca.vertcat(*change)),
        )

    def _joint_forces(self, f: list[SX]) -> list[SX]:
        """Return y of every body, ground axes [N]."""
        y = [ball.m * (b.Vdot - self.tree.gravity) - own for ball, b, own in zip(self.balls, self.bodies, f)]
        for i in reversed(range(self.n)):
            if self.balls[i].parent != ROOT:
                y[self.balls[i].parent] += y[i]
        return y

    def _residual(self, i: int, N: SX, y: list[SX]) -> dict[str, SX]:
        """Return E of one body, equations 12, 22 and 35."""
        ball, own = self.balls[i], self.bodies[i]
        A, G = rotation(own.p), g_matrix(own.p)
        Gd = own.V - ca.mtimes(rotation_rate(own.p, own.s), ball.center)
        if ball.parent != ROOT:
            parent = self.bodies[ball.parent]
            Gd -= parent.V + ca.mtimes(rotation_rate(parent.p, parent.s), ball.b)
        w = 2 * ca.mtimes(G, own.s)
        F = N - 2 * ca.mtimes(ball.inertia, ca.mtimes(G, own.sdot)) - cross(w, ca.mtimes(ball.inertia, w))
        for arm, k in self._arms(i):
            F += cross(arm, ca.mtimes(A.T, y[k]))
        return {
            "Gd": Gd,
            "F": F,
            "I1": ca.dot(own.p, own.p) - 1,
            "I2": ca.dot(own.p, own.s),
            "I3": ca.mtimes(G, own.s - own.pdot),
        }

    def _arms(self, i: int) -> list[tuple[SX, int]]:
        """Return where joint forces act on a body, from its mass center, with the sign of the force: u, and -b of others."""
        return [(-self.balls[i].center, i), *((-self.balls[k].b, k) for k in self.carried[i])]

    def _linkage(self) -> tuple[SX, SX, SX, SX]:
        """Return C, L, L_rate and U."""
        C, L, L_rate, U = ({} for _ in range(4))
        for i, (ball, own) in enumerate(zip(self.balls, self.bodies)):
            ends = [(i, -ball.center, 1.0)]
            if ball.parent != ROOT:
                ends.append((ball.parent, ball.b, -1.0))
            for k, arm, sign in ends:
                C[i, k] = sign * SX.eye(3)
                L[i, k] = sign * 2 * ca.mtimes(e_matrix(self.bodies[k].p), bar(arm))
                L_rate[i, k] = sign * 2 * ca.mtimes(e_matrix(self.bodies[k].s), bar(arm))
            for arm, k in self._arms(i):
                U[i, k] = ca.mtimes(skew(arm), rotation(own.p).T)
        return tuple(_sparse(blocks, self.n) for blocks in (C, L, L_rate, U))  # type: ignore[return-value]

    def _own(self, i: int, y: list[SX]) -> tuple[SX, SX]:
        """Return F_p and F_s of one body without what N has of them, equations 31 and 34."""
        ball, b = self.balls[i], self.bodies[i]
        inertia, G, Gd = ball.inertia, g_matrix(b.p), g_matrix(b.s)
        psi, drift = 2 * ca.mtimes(inertia, ca.mtimes(G, b.s)), 4 * ca.dot(b.s, b.p)
        F_p = (
            2 * ca.mtimes(inertia, g_matrix(b.sdot))
            + 4 * ca.mtimes([G, Gd.T, inertia, Gd])
            - drift * ca.mtimes(inertia, Gd)
            - 2 * ca.mtimes(skew(psi), Gd)
        )
        for arm, k in self._arms(i):
            F_p += 2 * ca.mtimes([skew(arm), G, plus(y[k])])
        F_s = (
            4 * ca.mtimes([Gd, G.T, inertia, G])
            - drift * ca.mtimes(inertia, G)
            + 2 * ca.mtimes(skew(psi), G)
            - 2 * self.sigma * ca.mtimes(inertia, G)
        )
        return F_p, F_s

    # places

    def _columns(self, name: str) -> list[int]:
        """Return where V, p or s of all bodies are in X."""
        first = {"V": 0, "p": 3, "s": 7}[name]
        return [11 * i + first + k for i in range(self.n) for k in range(SIZES[name])]

    def _inwards(self) -> tuple[list[int], list[int]]:
        """Return the order of rows (F, I2, Gd) and columns (ds, T) that takes the bodies one by one, the last first."""
        n, rows, columns = self.n, list[int](), list[int]()
        for i in reversed(range(n)):
            rows += [*range(3 * i, 3 * i + 3), 3 * n + i, *range(4 * n + 3 * i, 4 * n + 3 * i + 3)]
            columns += [*range(4 * i, 4 * i + 4), *range(4 * n + 3 * i, 4 * n + 3 * i + 3)]
        return rows, columns

    def _solution(self, columns: list[int]) -> tuple[SX, SX]:
        """Return ds and T of the solution, by bodies."""
        y = self.unknown[list(np.argsort(columns))]
        return y[: 4 * self.n], y[4 * self.n :]


def _sparse(blocks: dict[tuple[int, int], SX], n: int) -> SX:
    """Return the matrix of (n, n) blocks with the given ones."""
    rows, columns = next(iter(blocks.values())).shape
    at = [(rows * i + a, columns * k + c) for i, k in blocks for c in range(columns) for a in range(rows)]
    values = ca.vertcat(*(ca.vec(ca.densify(block)) for block in blocks.values()))
    return SX.triplet([a for a, _ in at], [c for _, c in at], values, rows * n, columns * n)


def _quaternion(R: SX) -> DM:
    """Return the quaternion (w, x, y, z) of a constant rotation, its largest entry positive."""
    a = np.array(DM(R))
    trace, turn = np.trace(a), np.array([a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]])
    form = np.empty((4, 4))
    form[0, 0], form[0, 1:], form[1:, 0], form[1:, 1:] = trace, turn, turn, a + a.T - trace * np.eye(3)
    found = np.linalg.eigh(form)[1][:, -1]
    return DM(found * np.sign(found[np.abs(found).argmax()]))
