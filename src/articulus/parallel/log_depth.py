"""The recursions of a chain in logarithmic depth: every one of them is a scan with an operation that is associative.

With a processor for each body, a chain of n bodies takes as many sweeps as n can be halved, in place of n steps. In ground axes about
the ground's origin poses are products, velocities, accelerations, forces and composite inertias are sums, and forward dynamics combines
neighboring parts of the chain (`ChainPart`). These forms are for counts, schedules and checks; one processor is faster with the recursions.

Source: Lee & Chang 1986; Fijany & Bejczy 1989 (kinematics, inverse dynamics, inertia matrix); Featherstone 1999 (forward dynamics).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np

from articulus.dynamics.tree import Tree
from articulus.parallel.doubling import prefixes
from articulus.parallel.segments import chain_constants, joint_numbers, require_chain

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

Array = np.ndarray
T = TypeVar("T")


def poses(mechanism: Mechanism, q: Any) -> tuple[Array, int]:
    """Return the poses of the bodies behind the joints, in the axes in which the recursions have them, (n, 4, 4), and the sweeps.

    Parameters
    ----------
    mechanism : Mechanism
        A chain of rigid bodies on hinges and slides.
    q : array_like (nv,)
    """
    chain = ChainArrays(mechanism)
    found, sweeps = prefixes(list(chain.steps(*joint_numbers("poses", chain.n, q=q))), np.matmul)
    return np.array(found), sweeps


def inverse_dynamics(mechanism: Mechanism, q: Any, v: Any, vdot: Any) -> tuple[Array, int]:
    """Return the joint forces, without friction and springs of the joints, (nv,) [N m or N], and the sweeps of all scans.

    Parameters
    ----------
    mechanism : Mechanism
    q, v, vdot : array_like (nv,)
    """
    chain = ChainArrays(mechanism)
    q, v, vdot = joint_numbers("inverse_dynamics", chain.n, q=q, v=v, vdot=vdot)
    state = chain.state(q, v)
    A, more = prefixes(list(state.c + state.S * vdot[:, None]), operator.add)
    forces = [I @ (a + chain.lift) + p for I, a, p in zip(state.inertia, A, state.force)]
    F, last = suffixes(forces, operator.add)
    tau = np.einsum("ij,ij->i", state.S, np.array(F)) + chain.armature * vdot
    return tau, state.sweeps + more + last


def mass_matrix(mechanism: Mechanism, q: Any) -> tuple[Array, int]:
    """Return the mass matrix, (nv, nv), and the sweeps.

    Parameters
    ----------
    mechanism : Mechanism
    q : array_like (nv,)
    """
    chain = ChainArrays(mechanism)
    (q,) = joint_numbers("mass_matrix", chain.n, q=q)
    state = chain.state(q, np.zeros(chain.n))
    composite, more = suffixes(list(state.inertia), operator.add)
    M = state.S @ np.array([I @ S for I, S in zip(composite, state.S)]).T
    lower = np.triu(M, 1)
    return np.diag(np.diag(M) + chain.armature) + lower + lower.T, state.sweeps + more


def forward_dynamics(mechanism: Mechanism, q: Any, v: Any, tau: Any) -> tuple[Array, int]:
    """Return the joint accelerations for forces to which friction and springs of the joints are added already, and the sweeps.

    Parameters
    ----------
    mechanism : Mechanism
    q, v, tau : array_like (nv,)
    """
    chain = ChainArrays(mechanism)
    q, v, tau = joint_numbers("forward_dynamics", chain.n, q=q, v=v, tau=tau)
    state = chain.state(q, v)
    parts = [
        ChainPart.of_body(*each)
        for each in zip(state.S, state.c, state.inertia, state.force, tau, chain.armature)
    ]
    inner, more = prefixes(parts, ChainPart.__matmul__)
    outer, last = suffixes(parts, ChainPart.__matmul__)
    A = [part.tip(chain.lift, rest) for part, rest in zip(inner, [*outer[1:], None])]
    before = [chain.lift, *A[:-1]]
    vdot = [S @ (a - b - c) / (S @ S) for S, a, b, c in zip(state.S, A, before, state.c)]
    return np.array(vdot), state.sweeps + more + last


def suffixes(items: Sequence[T], combine: Callable[[T, T], T]) -> tuple[list[T], int]:
    """Return x1 o ... o xn, x2 o ... o xn, ..., xn and the number of sweeps.

    Parameters
    ----------
    items : sequence
    combine : callable
        Associative: from (left, right) to their combination.
    """
    found, sweeps = prefixes(items[::-1], lambda right, left: combine(left, right))
    return found[::-1], sweeps


@dataclass(frozen=True)
class ChainPart:
    """Some bodies of a chain with the joints in front of them, the first joint free to move under its force.

    f_front = inertia a_front + force + Phi F_tip;  a_tip = Phi' a_front + b - Gamma F_tip

    with the force on the body in front and its acceleration, and those at the last body.
    """

    inertia: Array
    force: Array
    Phi: Array
    Gamma: Array
    b: Array

    @staticmethod
    def of_body(S: Array, c: Array, inertia: Array, force: Array, tau: float, armature: float) -> ChainPart:
        """Return a body on a joint of direction S: its acceleration at zero acceleration of the joint is c more than that in front."""
        U = inertia @ S
        d = S @ U + armature
        u = (tau - S @ force) / d
        Phi = np.eye(6) - np.outer(U, S) / d
        left = inertia - np.outer(U, U) / d
        return ChainPart(left, force + U * u + left @ c, Phi, np.outer(S, S) / d, S * u + Phi.T @ c)

    def __matmul__(self, other: ChainPart) -> ChainPart:
        """Return this part with another one behind it."""
        K, D = self._felt(other)
        pushed = D @ other.force + K @ self.b
        tip = self.b - self.Gamma @ pushed
        return ChainPart(
            self.inertia + self.Phi @ K @ self.Phi.T,
            self.force + self.Phi @ pushed,
            self.Phi @ D @ other.Phi,
            other.Gamma + other.Phi.T @ self.Gamma @ D @ other.Phi,
            other.b + other.Phi.T @ tip,
        )

    def tip(self, front: Array, rest: ChainPart | None) -> Array:
        """Return the acceleration of the last body from that in front and what is behind."""
        forward = self.Phi.T @ front + self.b
        if rest is None:
            return forward
        K, D = self._felt(rest)
        return forward - self.Gamma @ (D @ rest.force + K @ forward)

    def _felt(self, other: ChainPart) -> tuple[Array, Array]:
        """Return K = (I^-1 + Gamma)^-1 of another part's inertia felt through this one's mobility, and 1 - K Gamma."""
        K = np.linalg.solve(np.eye(6) + other.inertia @ self.Gamma, other.inertia)
        return K, np.eye(6) - K @ self.Gamma


@dataclass(frozen=True)
class ChainState:
    """What every body has in ground axes about the ground's origin: direction of its joint, c = V x S v, inertia, V x* I V."""

    S: Array
    c: Array
    inertia: Array
    force: Array
    sweeps: int


class ChainArrays:
    """A chain of rigid bodies on hinges and slides as arrays.

    Parameters
    ----------
    mechanism : Mechanism
    """

    def __init__(self, mechanism: Mechanism):
        tree = Tree(mechanism.description)
        require_chain(mechanism, tree)
        self.n = len(tree)
        self.placing, self.masses = chain_constants(tree.parts, self.n)
        self.armature = self.masses[:, 10]
        self.lift = np.concatenate([np.zeros(3), -np.array(ca.DM(tree.gravity)).ravel()])

    def steps(self, q: Array) -> Array:
        """Return the pose of every body in the one before, (n, 4, 4)."""
        out = np.zeros((self.n, 4, 4))
        for X, row, x in zip(out, self.placing, q, strict=True):
            front, joint = np.eye(4), np.eye(4)
            front[:3, :3], front[:3, 3] = row[:9].reshape(3, 3).T, row[9:12]
            angle, shift, turns = row[12:]
            angle, joint[2, 3] = angle + turns * x, shift + (1 - turns) * x
            joint[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            X[...] = front @ joint
        return out

    def state(self, q: Array, v: Array) -> ChainState:
        """Return positions and velocities of all bodies, by two scans."""
        X, sweeps = prefixes(list(self.steps(q)), np.matmul)
        S = np.array([_direction(x, *mass[11:]) for x, mass in zip(X, self.masses)])
        V, more = prefixes(list(S * v[:, None]), operator.add)
        inertia = np.array([_inertia(x, mass) for x, mass in zip(X, self.masses)])
        c = np.array([_cross(w, s * rate) for w, s, rate in zip(V, S, v)])
        force = np.array([-_cross_matrix(w).T @ (I @ w) for w, I in zip(V, inertia)])
        return ChainState(S, c, inertia, force, sweeps + more)


def _direction(X: Array, turns: float, slides: float) -> Array:
    axis, p = X[:3, 2], X[:3, 3]
    return np.concatenate([turns * axis, turns * np.cross(p, axis) + slides * axis])


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _cross_matrix(V: Array) -> Array:
    """Return the matrix of V x for motions."""
    w, v = _skew(V[:3]), _skew(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def _cross(V: Array, other: Array) -> Array:
    return _cross_matrix(V) @ other


def _inertia(X: Array, mass: Array) -> Array:
    """Return the inertia of a body in ground axes about the ground's origin, (6, 6)."""
    m, h, J = mass[0], mass[1:4], mass[4:10]
    own = np.array([[J[0], J[1], J[2]], [J[1], J[3], J[4]], [J[2], J[4], J[5]]])
    R, p = X[:3, :3], X[:3, 3]
    H, P = _skew(R @ h), _skew(p)
    about = R @ own @ R.T - P @ H - H @ P - m * P @ P
    whole = H + m * P
    return np.block([[about, whole], [whole.T, m * np.eye(3)]])
