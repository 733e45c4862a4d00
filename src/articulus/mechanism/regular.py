"""Whether the mass matrix of a mechanism can be inverted: asked only where bodies without mass hang in it.

Plain numbers at one position that is not special. Joints are eliminated from the tips inward; a freedom along which
what remains behind it has no inertia makes the mass matrix singular. Cost: O(n).
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
from articulus.mechanism.expression import Varying
from articulus.mechanism.joint import Joint
from articulus.mechanism.numbers import value_of, values_of

SINGULAR = 1e-9
"""Share of the inertia behind a freedom that must remain when the joints behind it give way."""


def singular_findings(bodies: Sequence[Body], connections: Sequence[Connection]) -> Iterator[Finding]:
    """Yield a finding for each joint along which no inertia is felt; connections are sorted, parents first."""
    if not any(body.massless for body in bodies):
        return
    directions, pose = _directions(connections, np.random.default_rng(0))
    articulated = {body.name: _inertia_at_ground(body, pose[body.name]) for body in bodies}
    articulated["ground"] = np.zeros((6, 6))
    rigid = {name: I.copy() for name, I in articulated.items()}
    for c in reversed(connections):
        P = articulated[c.child]
        for S, armature in reversed(list(zip(directions[c.name], _added_inertia(c)))):
            U = P @ S
            d = S @ U + armature
            if d <= SINGULAR * (S @ rigid[c.child] @ S + armature):
                yield _finding(c, bodies)
                return
            P = P - np.outer(U, U) / d
        articulated[c.parent] += P
        rigid[c.parent] += rigid[c.child]


def _finding(c: Connection, bodies: Sequence[Body]) -> Finding:
    names = [f"'{b.name}'" for b in bodies if b.massless]
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return Finding(
        f"joint.{c.name}",
        f"motion that moves no mass (massless: {shown})",
        "inertia behind every freedom",
        "Give the body behind it a mass, give the joint an armature, or fix the joint.",
    )


def _added_inertia(c: Connection) -> list[float]:
    added = list(values_of(c.per_freedom("armature")))
    if c.rotor is not None and added:
        added[0] += value_of(c.rotor.ratio) ** 2 * value_of(c.rotor.inertia)
    return added


def _directions(
    connections: Sequence[Connection], rng: np.random.Generator
) -> tuple[dict[str, list[np.ndarray]], dict[str, np.ndarray]]:
    """Return the free directions of every joint about the ground origin, and the poses of the bodies."""
    pose = {"ground": np.eye(4)}
    directions: dict[str, list[np.ndarray]] = {}
    for c in connections:
        X = pose[c.parent] @ c.at.matrix()
        directions[c.name] = []
        for part in _with_values(c.joint).elementary():
            q = part.neutral() + 0.5 * rng.normal(size=part.nq)
            X = X @ np.array(ca.DM(part.transform(SX(ca.DM(q))).matrix()))
            columns = [np.array(ca.DM(S.column())).ravel() for S in part.motion_subspace()]
            directions[c.name] += [_at_ground(X, S) for S in columns]
        pose[c.child] = X @ np.linalg.inv(c.child_at.matrix())
    return directions, pose


def _with_values(joint: Joint) -> Joint:
    """Return the joint with every parameter at its own value."""
    held = {f.name: getattr(joint, f.name) for f in dataclasses.fields(joint)}  # type: ignore[arg-type]
    values = {name: x.value for name, x in held.items() if isinstance(x, Varying)}
    return dataclasses.replace(joint, **values) if values else joint  # type: ignore[type-var]


def _at_ground(X: np.ndarray, motion: np.ndarray) -> np.ndarray:
    w, v = X[:3, :3] @ motion[:3], X[:3, :3] @ motion[3:]
    return np.concatenate([w, v + np.cross(X[:3, 3], w)])


def _inertia_at_ground(body: Body, X: np.ndarray) -> np.ndarray:
    if body.modes is not None:  # about its own origin: only its presence counts here
        return np.array(body.modes.rr0)
    R, m = X[:3, :3], value_of(body.mass)
    com = R @ np.array(values_of(body.com)) + X[:3, 3]
    C = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
    J = R @ body.inertia_matrix() @ R.T - m * C @ C
    return np.block([[J, m * C], [-m * C, m * np.eye(3)]])
