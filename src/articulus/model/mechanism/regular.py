"""Whether the mass matrix of a mechanism is positive definite: asked only where bodies are massless or doubtful.

Plain numbers at some positions that are not special. Joints are eliminated from the tips inward; a degree of freedom along which
what remains behind it has no inertia makes the mass matrix singular, a negative one makes it indefinite. Cost: O(n).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.coupling import Coupling
from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.joint import Joint
from articulus.model.mechanism.numbers import value_of, values_of

SINGULAR = 1e-9
"""Share of the inertia behind a degree of freedom that must remain when the joints behind it give way."""
ROUNDING = 1e-13
"""Share of the terms of which the inertia along a degree of freedom is the sum that their rounding leaves of zero."""
POSITIONS = 3
"""Random positions that are looked at."""


def singular_findings(
    bodies: Sequence[Body], connections: Sequence[Connection], couplings: Sequence[Coupling] = ()
) -> Iterator[Finding]:
    """Yield a finding for each joint along which no inertia, or a negative one, is felt; parents and leaders come first."""
    if not any(body.massless or body.doubtful for body in bodies):
        return
    felt = felt_inertia(bodies, connections, couplings)
    for c in connections:
        if felt[c.name] < -SINGULAR:
            yield _indefinite(c, felt[c.name], bodies)
        elif felt[c.name] <= SINGULAR and not c.massless:
            yield _singular(c, bodies)


def joints_without_inertia(
    bodies: Sequence[Body], connections: Sequence[Connection], couplings: Sequence[Coupling] = ()
) -> tuple[str, ...]:
    """Return the joints along which no inertia is felt; parents and leaders come first."""
    if not any(body.massless or body.doubtful for body in bodies):
        return ()
    felt = felt_inertia(bodies, connections, couplings)
    return tuple(name for name, share in felt.items() if abs(share) <= SINGULAR)


def felt_inertia(
    bodies: Sequence[Body], connections: Sequence[Connection], couplings: Sequence[Coupling] = ()
) -> dict[str, float]:
    """Return the least inertia that a degree of freedom of each joint feels while the joints behind it give way.

    As a share of what it feels while they are held, the least one at all sampled positions; infinite for fixed joints and
    for those that follow others.
    """
    rng = np.random.default_rng(0)
    least = dict.fromkeys((c.name for c in connections), np.inf)
    for _ in range(POSITIONS):
        shares = (
            _coupled(bodies, connections, couplings, rng) if couplings else _shares(bodies, connections, rng)
        )
        for name, share in shares:
            least[name] = min(least[name], share)
    return least


def _shares(
    bodies: Sequence[Body], connections: Sequence[Connection], rng: np.random.Generator
) -> Iterator[tuple[str, float]]:
    """Yield what each degree of freedom of a tree feels, by articulated bodies."""
    directions, pose = _directions(connections, rng)
    articulated = {body.name: _inertia_at_ground(body, pose[body.name]) for body in bodies}
    articulated["ground"] = np.zeros((6, 6))
    rigid = {name: I.copy() for name, I in articulated.items()}
    for c in reversed(connections):
        P = articulated[c.child]
        for S, armature in reversed(list(zip(directions[c.name], _added_inertia(c)))):
            U = P @ S
            size = np.abs(S) @ np.abs(rigid[c.child]) @ np.abs(S) + armature
            share = _share(S @ U + armature, S @ rigid[c.child] @ S + armature, size)
            yield c.name, share
            if share > SINGULAR:
                P = P - np.outer(U, U) / (S @ U + armature)
        articulated[c.parent] += P
        rigid[c.parent] += rigid[c.child]


def _coupled(
    bodies: Sequence[Body],
    connections: Sequence[Connection],
    couplings: Sequence[Coupling],
    rng: np.random.Generator,
) -> Iterator[tuple[str, float]]:
    """Yield what each degree of freedom feels that follows no other one, by the mass matrix T^T M_tree T."""
    directions, pose = _directions(connections, rng)
    tree, size = _tree_mass_matrix(bodies, connections, directions, pose)
    rows = {c.name: list(np.eye(len(tree))[at]) for c, at in zip(connections, _places(connections))}
    for c in couplings:
        rows[c.joint] = [sum(rate * rows[name][0] for rate, name in zip(_rates(c, rng), c.to))]
    follow = {c.joint for c in couplings}
    names = [c.name for c in connections if c.name not in follow for _ in rows[c.name]]
    kept = np.array([r for c in connections if c.name not in follow for r in rows[c.name]]).reshape(
        -1, len(tree)
    )
    T = np.array([r for c in connections for r in rows[c.name]]).reshape(-1, len(tree)) @ kept.T
    M, size = T.T @ tree @ T, np.abs(T).T @ size @ np.abs(T)
    held = np.diag(M).copy()
    for k in reversed(range(len(M))):
        share = _share(M[k, k], held[k], size[k, k])
        yield names[k], share
        if share > SINGULAR:
            M = M - np.outer(M[:, k], M[k]) / M[k, k]


def _rates(c: Coupling, rng: np.random.Generator) -> list[float]:
    """Return the speeds of a coupled joint over those of the joints that it follows, somewhere."""
    if not c.polynomial:
        return list(values_of(c.ratio))
    q = 0.5 * rng.normal()
    return [sum(k * value * q ** (k - 1) for k, value in enumerate(values_of(c.polynomial)) if k)]


def _places(connections: Sequence[Connection]) -> list[slice]:
    ends = np.cumsum([0, *(c.joint.nv for c in connections)])
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def _tree_mass_matrix(
    bodies: Sequence[Body],
    connections: Sequence[Connection],
    directions: dict[str, list[np.ndarray]],
    pose: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mass matrix of the tree, and the sums of the sizes of the terms in its entries (for their rounding)."""
    composite = {body.name: _inertia_at_ground(body, pose[body.name]) for body in bodies} | {
        "ground": np.zeros((6, 6))
    }
    inboard = {c.child: (c, at) for c, at in zip(connections, _places(connections))}
    n = sum(c.joint.nv for c in connections)
    M, size = np.zeros((n, n)), np.zeros((n, n))
    for c in reversed(connections):
        at, S = inboard[c.child][1], _columns(directions[c.name])
        body = c.child
        while body in inboard:
            other, place = inboard[body]
            R = _columns(directions[other.name])
            M[place, at] = R.T @ composite[c.child] @ S
            size[place, at] = np.abs(R).T @ np.abs(composite[c.child]) @ np.abs(S)
            M[at, place], size[at, place] = M[place, at].T, size[place, at].T
            body = other.parent
        M[at, at] += np.diag(_added_inertia(c))
        composite[c.parent] = composite[c.parent] + composite[c.child]
    return M, size


def _columns(directions: list[np.ndarray]) -> np.ndarray:
    return np.array(directions).reshape(-1, 6).T


def _share(felt: float, held: float, size: float) -> float:
    """Return an inertia as a share of what is held, zero where it is rounding of terms of the given size."""
    return float(felt / abs(held)) if abs(felt) > ROUNDING * size else 0.0


def _singular(c: Connection, bodies: Sequence[Body]) -> Finding:
    names = [f"'{b.name}'" for b in bodies if b.massless]
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return Finding(
        f"joint.{c.name}",
        f"motion that moves no mass (massless: {shown})" if names else "motion that moves no inertia",
        "inertia behind every freedom",
        "Give the body behind it a mass, give the joint an armature, or fix the joint.",
    )


def _indefinite(c: Connection, share: float, bodies: Sequence[Body]) -> Finding:
    names = ", ".join(f"'{b.name}'" for b in bodies if b.doubtful)
    return Finding(
        f"joint.{c.name}",
        f"a mass matrix that is not positive definite: it feels {share:.3g} times the inertia behind it",
        "a positive inertia along every freedom",
        f"No rigid body has the moments of {names}." if names else "",
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
