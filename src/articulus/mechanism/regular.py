"""Whether the mass matrix of a mechanism can be inverted: needed only where bodies without mass hang in it.

Plain numbers, no recursion: the kinetic energy of every body gives J' I J of its Jacobian, at a few positions that
are not special.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding
from articulus.mechanism.body import Body
from articulus.mechanism.connection import Connection
from articulus.mechanism.joint import Joint
from articulus.mechanism.numbers import Parameter, value_of, values_of
from articulus.spatial import Transform

SINGULAR = 1e-9
"""Reciprocal condition of the scaled mass matrix below which it counts as singular."""


def singular_findings(bodies: Sequence[Body], connections: Sequence[Connection]) -> Iterator[Finding]:
    """Yield a finding when a direction of motion has no inertia, whatever the position."""
    if not any(body.massless for body in bodies):
        return
    rng = np.random.default_rng(0)
    matrices = [_mass_matrix(bodies, connections, rng) for _ in range(3)]
    best = max(matrices, key=_reciprocal_condition)
    if best.size and _reciprocal_condition(best) < SINGULAR:
        owner = _weakest(best, connections)
        names = ", ".join(f"'{b.name}'" for b in bodies if b.massless)
        yield Finding(
            f"joint.{owner.name}",
            f"motion that moves no mass (massless: {names})",
            "inertia behind every freedom",
            "Give the body behind it a mass, give the joint an armature, or fix the joint.",
        )


def _scaled(M: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    return M / np.outer(size, size)


def _reciprocal_condition(M: np.ndarray) -> float:
    if not M.size:
        return 1.0
    if np.any(np.diag(M) <= 0):
        return 0.0
    return float(np.linalg.eigvalsh(_scaled(M))[0])


def _weakest(M: np.ndarray, connections: Sequence[Connection]) -> Connection:
    """Return the joint that moves most in the direction without inertia."""
    k = int(np.argmin(np.diag(M)))
    if M[k, k] > 0:
        k = int(np.argmax(np.abs(np.linalg.eigh(_scaled(M))[1][:, 0])))
    owners = [c for c in connections for _ in range(c.joint.nv)]
    return owners[k]


def _mass_matrix(
    bodies: Sequence[Body], connections: Sequence[Connection], rng: np.random.Generator
) -> np.ndarray:
    """Return the mass matrix at a random position; connections are sorted, parents first."""
    nv = sum(c.joint.nv for c in connections)
    pose = {"ground": np.eye(4)}
    jacobian = {"ground": np.zeros((6, nv))}
    M = np.zeros((nv, nv))
    at = 0
    for c in connections:
        X, J = pose[c.parent] @ c.at.matrix(), jacobian[c.parent].copy()
        for part in _with_values(c.joint).elementary():
            q = part.neutral() + 0.5 * rng.normal(size=part.nq)
            X = X @ _numbers(part.transform(SX(ca.DM(q))))
            for k, S in enumerate(part.motion_subspace()):
                J[:, at + k] = _at_ground(X, np.array(ca.DM(S.column())).ravel())
            at += part.nv
        pose[c.child], jacobian[c.child] = X @ np.linalg.inv(c.child_at.matrix()), J
        freedoms = range(at - c.joint.nv, at)
        for k, armature in zip(freedoms, values_of(c.per_freedom("armature"))):
            M[k, k] += armature
        if c.rotor is not None and c.joint.nv == 1:
            M[at - 1, at - 1] += value_of(c.rotor.ratio) ** 2 * value_of(c.rotor.inertia)
    for body in bodies:
        M += jacobian[body.name].T @ _inertia_at_ground(body, pose[body.name]) @ jacobian[body.name]
    return M


def _with_values(joint: Joint) -> Joint:
    """Return the joint with every parameter at its own value."""
    held = {f.name: getattr(joint, f.name) for f in dataclasses.fields(joint)}  # type: ignore[arg-type]
    values = {name: x.value for name, x in held.items() if isinstance(x, Parameter)}
    return dataclasses.replace(joint, **values) if values else joint  # type: ignore[type-var]


def _numbers(X: Transform) -> np.ndarray:
    return np.array(ca.DM(X.matrix()))


def _at_ground(X: np.ndarray, motion: np.ndarray) -> np.ndarray:
    w, v = X[:3, :3] @ motion[:3], X[:3, :3] @ motion[3:]
    return np.concatenate([w, v + np.cross(X[:3, 3], w)])


def _inertia_at_ground(body: Body, X: np.ndarray) -> np.ndarray:
    R, m = X[:3, :3], value_of(body.mass)
    com = R @ np.array(values_of(body.com)) + X[:3, 3]
    C = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
    J = R @ body.inertia_matrix() @ R.T - m * C @ C
    return np.block([[J, m * C], [-m * C, m * np.eye(3)]])
