"""The other families of dynamics, by which the literature splits a step over processors; all give the same accelerations.

NESS: Newton-Euler equations of every body, projected with Hbar. VNEB: columns of the inertia matrix that do not need each other.
Arrowhead: bodies one by one, then one small system. LDL' and conjugate gradients solve. What runs by itself in articulus are the
recursions of `dynamics`; these forms are for counts, schedules and checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import value_of
from articulus.parallel.comparison import is_serial

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

Array = np.ndarray


def require_rigid(mechanism: Mechanism) -> None:
    """Raise InputError unless a mechanism is an open tree of rigid bodies with numbers, without couplings, armature and rotors.

    Parameters
    ----------
    mechanism : Mechanism
    """
    held = mechanism.description
    extra = [c.name for c in held.connections if c.rotor or any(c.armature)]
    found = [
        name
        for name, there in (
            ("constraints", held.constraints),
            ("coupled joints", held.couplings),
            ("flexible bodies", held.flexible),
            ("parameters", held.parameters),
            (f"armature or rotors at {extra[:3]}", extra),
        )
        if there
    ]
    if found:
        raise InputError(
            f"'{mechanism.name}' has {', '.join(found)}; expected an open tree of rigid bodies with numbers alone"
        )


def body_inertias(mechanism: Mechanism) -> Array:
    """Return diag(J, m I) of each body about its center of mass in its axes, (bodies, 6, 6).

    Parameters
    ----------
    mechanism : Mechanism
    """
    require_rigid(mechanism)
    out = np.zeros((len(mechanism.description.bodies), 6, 6))
    for block, body in zip(out, mechanism.description.bodies):
        block[:3, :3] = body.inertia_matrix()
        block[3:, 3:] = float(value_of(body.mass)) * np.eye(3)
    return out


def inertia_matrix_by_projection(mechanism: Mechanism, q: Any) -> Array:
    """Return the inertia matrix by NESS: M = Hbar' diag(J, m) Hbar, (nv, nv).

    Parameters
    ----------
    mechanism : Mechanism
        An open tree of rigid bodies.
    q : array_like (nq,)

    Source: Wong 1991, equation 3.23.
    """
    inertias = body_inertias(mechanism)
    bar = mechanism.velocity_transformation(q).reshape(len(inertias), 6, -1)
    return np.einsum("bik,bij,bjl->kl", bar, inertias, bar)


def body_loads(mechanism: Mechanism, q: Any, v: Any, vdot: Any = None) -> Array:
    """Return [J wd + w x J w; m (a - g)] of each body in its axes, (bodies, 6); with vdot = 0 if not given.

    Parameters
    ----------
    mechanism : Mechanism
    q, v, vdot : array_like

    Source: Wong 1991, equation 3.34.
    """
    inertias = body_inertias(mechanism)
    v = np.asarray(mechanism.velocities(v), dtype=float)
    vdot = np.zeros_like(v) if vdot is None else np.asarray(vdot, dtype=float)
    gravity = np.asarray(mechanism.description.gravity, dtype=float)
    out = np.zeros((len(inertias), 6))
    for load, inertia, body in zip(out, inertias, mechanism.description.bodies):
        R = mechanism.pose(body.name, q)[:3, :3]
        w, (wd, a) = (
            R.T @ mechanism.velocity(body.name, q, v)[:3],
            np.split(mechanism.acceleration(body.name, q, v, vdot), 2),
        )
        wd, com = R.T @ wd, np.asarray(body.com, dtype=float)
        center = R.T @ (a - gravity) + np.cross(wd, com) + np.cross(w, np.cross(w, com))
        load[:3] = inertia[:3, :3] @ wd + np.cross(w, inertia[:3, :3] @ w)
        load[3:] = inertia[3:, 3:] @ center
    return out


def inverse_dynamics_by_projection(mechanism: Mechanism, q: Any, v: Any, vdot: Any) -> Array:
    """Return the joint forces by NESS: tau = Hbar' [J wd + w x J w; m (a - g)], (nv,); passive forces are omitted.

    Parameters
    ----------
    mechanism : Mechanism
        An open tree of rigid bodies.
    q, v, vdot : array_like
    """
    bar = mechanism.velocity_transformation(q)
    return np.asarray(bar.T @ body_loads(mechanism, q, v, vdot).ravel())


def arrowhead(mechanism: Mechanism, q: Any, v: Any, tau: Any) -> Array:
    """Return the accelerations body by body: contributions A' M A and A' f of each, one system for all, (nv,).

    The contributions do not need each other: each body may have a processor of its own. Passive forces are omitted.

    Parameters
    ----------
    mechanism : Mechanism
        An open tree of rigid bodies.
    q, v, tau : array_like

    Source: Park 1993, equations 9.3 to 9.10.
    """
    inertias, loads = body_inertias(mechanism), body_loads(mechanism, q, v)
    bar = mechanism.velocity_transformation(q).reshape(len(inertias), 6, -1)
    parts = [(A.T @ M @ A, A.T @ f) for A, M, f in zip(bar, inertias, loads)]
    schur, right = sum(p[0] for p in parts), sum(p[1] for p in parts)
    return solve_ldl(np.asarray(schur), np.asarray(tau, dtype=float) - np.asarray(right))


def inertia_matrix_by_columns(mechanism: Mechanism, q: Any) -> Array:
    """Return the inertia matrix of a serial arm by VNEB: every column from a unit acceleration of one joint, (nv, nv).

    Parameters
    ----------
    mechanism : Mechanism
        One chain of rigid bodies.
    q : array_like (nq,)

    Source: Fijany & Bejczy 1989, equations 8, 9, 11, 12, 27 and 30, in ground axes.
    """
    require_rigid(mechanism)
    joints = mechanism.description.connections
    if not is_serial(mechanism) or any(c.joint.type_name != "revolute" for c in joints):
        raise InputError(f"'{mechanism.name}': expected one chain of bodies on revolute joints")
    links = [_LinkMoments(mechanism, c.child, k, q) for k, c in enumerate(joints)]
    n = len(links)
    A = np.zeros((n, n))
    for i in range(n):
        force, moment = np.zeros(3), np.zeros(3)
        for j in reversed(range(i, n)):
            step = links[j + 1].point - links[j].point if j + 1 < n else np.zeros(3)
            F, N = links[j].reaction(links[i])
            moment = N + moment + np.cross(step, force)
            force = F + force
            A[i, j] = A[j, i] = links[j].axis @ moment
    return A


class _LinkMoments:
    """Mass M, first moment H and second moment K about a point of the hinge's axis, that point, and axis Z, ground axes."""

    def __init__(self, arm: Mechanism, name: str, k: int, q: Any):
        pose, J = arm.pose(name, q), arm.jacobian(name, q)[:, k]
        body = next(b for b in arm.description.bodies if b.name == name)
        R, self.axis = pose[:3, :3], J[:3]
        self.point = pose[:3, 3] + np.cross(J[:3], J[3:])  # of the axis, nearest to the body's origin
        c = pose[:3, 3] + R @ np.asarray(body.com, dtype=float) - self.point
        self.mass = float(value_of(body.mass))
        self.first = self.mass * c
        self.second = R @ body.inertia_matrix() @ R.T + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def reaction(self, turned: _LinkMoments) -> tuple[Array, Array]:
        """Return force and moment at this hinge for a unit acceleration of another joint (eqs. 9, 27)."""
        speed_up = np.cross(turned.axis, self.point - turned.point)
        force = self.mass * speed_up + np.cross(turned.axis, self.first)
        return force, self.second @ turned.axis + np.cross(self.first, speed_up)


def solve_ldl(A: Any, b: Any) -> Array:
    """Return the solution of A x = b by L D L' without square roots, of a positive definite A.

    Parameters
    ----------
    A : array_like (n, n)
    b : array_like (n,)

    Source: Fijany & Bejczy 1989, section 3.
    """
    A, x = np.array(A, dtype=float), np.array(b, dtype=float)
    n = len(x)
    if A.shape != (n, n):
        raise InputError(f"A {A.shape}, b {x.shape}; expected (n, n) and (n,)")
    L, D = np.eye(n), np.zeros(n)
    for j in range(n):
        D[j] = A[j, j] - (L[j, :j] ** 2) @ D[:j]
        if not D[j] > 0:
            raise NumericalError(f"pivot {j + 1} is {D[j]:g}; expected a positive definite matrix")
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ (L[j, :j] * D[:j])) / D[j]
    for j in range(n):
        x[j] -= L[j, :j] @ x[:j]
    x /= D
    for j in reversed(range(n)):
        x[j] -= L[j + 1 :, j] @ x[j + 1 :]
    return x


def conjugate_gradients(
    mechanism: Mechanism, q: Any, v: Any, tau: Any, tolerance: float = 1e-14
) -> tuple[Array, int]:
    """Return the accelerations by conjugate gradients, and how many products with the inertia matrix they took.

    Each product is an inverse dynamics, O(n); without rounding n products are enough. The diagonal of the inertia matrix, by which the
    unknowns are scaled, keeps revolute and prismatic joints alike.

    Parameters
    ----------
    mechanism : Mechanism
        An open tree.
    q, v, tau : array_like
    tolerance : float
        Tolerance of the residual, as a part of the right-hand side.

    Returns
    -------
    ndarray (nv,), int
    """
    v, tau = np.asarray(mechanism.velocities(v), dtype=float), np.asarray(tau, dtype=float)
    still = np.zeros_like(v)
    gravity = mechanism.inverse_dynamics(q, still, still)

    def product(x: Array) -> Array:
        return np.asarray(mechanism.inverse_dynamics(q, still, x) - gravity)

    right = tau - mechanism.inverse_dynamics(q, v, still)
    scale = 1.0 / np.sqrt(np.diag(mechanism.mass_matrix(q)))
    x, steps = _gradients(lambda y: scale * product(scale * y), scale * right, tolerance)
    return scale * x, steps


def _gradients(product: Callable[[Array], Array], right: Array, tolerance: float) -> tuple[Array, int]:
    x, residual = np.zeros_like(right), right.copy()
    direction, size, goal = residual.copy(), residual @ residual, tolerance**2 * (right @ right)
    steps = 0
    while size > goal and steps < 10 * len(right):
        image = product(direction)
        along = size / (direction @ image)
        x, residual = x + along * direction, residual - along * image
        after = residual @ residual
        direction, size, steps = residual + after / size * direction, after, steps + 1
    return x, steps
