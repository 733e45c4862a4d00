"""Whether the mass matrix of a mechanism is positive definite: asked only where bodies are massless or doubtful.

Plain numbers at some positions that are not special. Joints are eliminated from the tips inward; a degree of freedom along which
what remains behind it has no inertia makes the mass matrix singular, a negative one makes it indefinite. Cost: O(n).
"""

from __future__ import annotations

import dataclasses
import functools
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
"""Share of the inertia behind a degree of freedom that must remain when the joints behind it yield."""
ROUNDING = 1e-13
"""Share of the terms of which the inertia along a degree of freedom is the sum that their rounding leaves of zero."""
NOWHERE = np.eye(4)
CROSS = np.array(
    [[0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]], dtype=float
)
"""w @ CROSS are the nine entries of the matrix of w x."""
TURNS = 1e-9
"""Angle below which a motion is a shift [rad]."""
POSITIONS = 3
"""Random positions that are examined."""
BLOCK = 64
"""Degrees of freedom of a mass matrix that are eliminated at a time."""


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
    """Return the least inertia that a degree of freedom of each joint feels while the joints behind it yield.

    As a share of what it feels while they are held, the least one at all sampled positions; infinite for fixed joints and
    for those that follow others.
    """
    rng = np.random.default_rng(0)
    least = dict.fromkeys((c.name for c in connections), np.inf)
    directions, pose = _directions(connections, rng)
    if not couplings:
        for name, shares in _shares(bodies, connections, directions, pose):
            least[name] = min(least[name], float(shares.min()))
        return least
    for k in range(POSITIONS):
        here = {name: [S[k] for S in held] for name, held in directions.items()}
        there = {name: X[k] for name, X in pose.items()}
        for name, share in _coupled_inertias(bodies, connections, couplings, here, there, rng):
            least[name] = min(least[name], share)
    return least


def _shares(
    bodies: Sequence[Body],
    connections: Sequence[Connection],
    directions: dict[str, list[np.ndarray]],
    pose: dict[str, np.ndarray],
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what each degree of freedom of a tree feels at all positions, (positions,), by articulated bodies."""
    articulated = {body.name: _inertia_at_ground(body, pose[body.name]) for body in bodies}
    articulated["ground"] = np.zeros((POSITIONS, 6, 6))
    rigid = {name: I.copy() for name, I in articulated.items()}
    for c in reversed(connections):
        P = articulated[c.child]
        for S, armature in reversed(list(zip(directions[c.name], _added_inertia(c)))):
            U = (P @ S[:, :, None])[:, :, 0]
            felt = (S * U).sum(axis=1) + armature
            held = (S[:, None] @ rigid[c.child] @ S[:, :, None])[:, 0, 0] + armature
            size = (np.abs(S[:, None]) @ np.abs(rigid[c.child]) @ np.abs(S[:, :, None]))[:, 0, 0] + armature
            share = _share(felt, held, size)
            yield c.name, share
            given_way = np.where(share > SINGULAR, felt, np.inf)  # elsewhere nothing is eliminated
            P = P - U[:, :, None] * U[:, None] / given_way[:, None, None]
        articulated[c.parent] += P
        rigid[c.parent] += rigid[c.child]


def _coupled_inertias(
    bodies: Sequence[Body],
    connections: Sequence[Connection],
    couplings: Sequence[Coupling],
    directions: dict[str, list[np.ndarray]],
    pose: dict[str, np.ndarray],
    rng: np.random.Generator,
) -> Iterator[tuple[str, float]]:
    """Yield what each degree of freedom feels at one position that follows no other one, by the mass matrix T^T M_tree T."""
    tree, size = _tree_mass_matrix(bodies, connections, directions, pose)
    every, places = np.arange(len(tree)), dict(zip((c.name for c in connections), _places(connections)))
    follow = {c.joint: dict(zip(c.to, _rates(c, rng))) for c in couplings}
    leads = [c for c in connections if c.name not in follow]
    names = [c.name for c in leads for _ in every[places[c.name]]]
    own = np.array([k for c in leads for k in every[places[c.name]]], dtype=int)
    rows = dict(zip(own.tolist(), np.eye(len(own))))  # speeds over those of `own`
    for c in couplings:
        rows[places[c.joint].start] = sum(r * rows[places[to].start] for to, r in follow[c.joint].items())
    others = np.array([places[c.joint].start for c in couplings], dtype=int)
    T = np.array([rows[k] for k in others.tolist()]).reshape(-1, len(own))
    M, size = _reduced(tree, own, others, T), _reduced(size, own, others, np.abs(T))
    for k, share in zip(reversed(range(len(M))), _shares_of_matrix(M, size)):
        yield names[k], share


def _reduced(M: np.ndarray, own: np.ndarray, others: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return a mass matrix by the speeds `own`, of which those of `others` are T times as large."""
    half = M[:, own] + M[:, others] @ T
    return half[own] + T.T @ half[others]


def _shares_of_matrix(M: np.ndarray, size: np.ndarray) -> Iterator[float]:
    """Yield what each freedom feels of a mass matrix, the last one first, as a share of what it feels held; those that feel nothing are not eliminated.

    Blocks of degrees of freedom at a time: the others learn of a block by one product of matrices.
    """
    held, M = np.diag(M).copy(), M.copy()
    for end in range(len(M), 0, -BLOCK):
        begin = max(0, end - BLOCK)
        eliminated = np.zeros((end - begin, end))
        for k in reversed(range(begin, end)):
            share = float(_share(M[k, k], held[k], size[k, k]))
            yield share
            if share > SINGULAR:
                eliminated[k - begin, :k] = row = M[k, :k] / np.sqrt(M[k, k])
                M[begin:k, :k] -= np.outer(row[begin:k], row)
        M[:begin, :begin] -= eliminated[:, :begin].T @ eliminated[:, :begin]


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
    for c in reversed(connections):
        composite[c.parent] = composite[c.parent] + composite[c.child]
    places = _places(connections)
    n = places[-1].stop if places else 0
    S, forces, sizes = np.zeros((3, n, 6))
    behind, added = {"ground": np.zeros(n, bool)}, np.zeros(n)
    before = np.zeros(
        (n, n), bool
    )  # row: a freedom; column: itself, those of its joint and those on its way to ground
    for c, at in zip(connections, places):
        behind[c.child] = way = behind[c.parent].copy()
        way[at] = True
        before[at] = way
        if at.start < at.stop:
            S[at] = _columns(directions[c.name]).T
            forces[at], sizes[at] = S[at] @ composite[c.child], np.abs(S[at]) @ np.abs(composite[c.child])
            added[at] = _added_inertia(c)
    M, size = (np.where(before, x @ y.T, 0.0) for x, y in ((forces, S), (sizes, np.abs(S))))
    M, size = (np.where(before, x, x.T) for x in (M, size))
    M[np.diag_indices(n)] += added
    return M, size


def _columns(directions: list[np.ndarray]) -> np.ndarray:
    return np.array(directions).reshape(-1, 6).T


def _share(felt: np.ndarray, held: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return an inertia as a share of what is held, zero where it is rounding of terms of the given size."""
    sure = np.abs(felt) > ROUNDING * size
    return np.where(sure, felt, 0.0) / np.where(sure, np.abs(held), 1.0)


def _singular(c: Connection, bodies: Sequence[Body]) -> Finding:
    names = [f"'{b.name}'" for b in bodies if b.massless]
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return Finding(
        f"joint.{c.name}",
        f"motion that moves no mass (massless: {shown})" if names else "motion that moves no inertia",
        "inertia behind every degree of freedom",
        "Give the body behind it a mass, give the joint an armature, or fix the joint.",
    )


def _indefinite(c: Connection, share: float, bodies: Sequence[Body]) -> Finding:
    names = ", ".join(f"'{b.name}'" for b in bodies if b.doubtful)
    return Finding(
        f"joint.{c.name}",
        f"a mass matrix that is not positive definite: it feels {share:.3g} times the inertia behind it",
        "a positive inertia along every degree of freedom",
        f"No rigid body has the moments of {names}." if names else "",
    )


def _added_inertia(c: Connection) -> list[float]:
    added = list(values_of(c.per_dof("armature")))
    if c.rotor is not None and added:
        added[0] += value_of(c.rotor.ratio) ** 2 * value_of(c.rotor.inertia)
    return added


def _directions(
    connections: Sequence[Connection], rng: np.random.Generator
) -> tuple[dict[str, list[np.ndarray]], dict[str, np.ndarray]]:
    """Return the free directions of every joint about the ground origin, (positions, 6), and the poses of the bodies, (positions, 4, 4)."""
    pose = {"ground": np.tile(np.eye(4), (POSITIONS, 1, 1))}
    directions: dict[str, list[np.ndarray]] = {}
    for c in connections:
        X = pose[c.parent] @ c.at.matrix()
        directions[c.name] = []
        for part in _with_values(c.joint).elementary():
            columns = _free_directions(part)
            q = part.neutral() + 0.5 * rng.normal(size=(POSITIONS, part.nq))
            if part.nq == 1:
                X = X @ _screw(columns[0] * q)
            elif part.nq:
                X = X @ np.array([_transform(part)(row).full() for row in q])
            directions[c.name] += [_at_ground(X, S) for S in columns]
        at = c.child_at.matrix()
        pose[c.child] = X if np.array_equal(at, NOWHERE) else X @ np.linalg.inv(at)
    return directions, pose


@functools.lru_cache(maxsize=4096)
def _free_directions(part: Joint) -> tuple[np.ndarray, ...]:
    """Return the motions that an elementary joint leaves free, wherever it is, (6,) each."""
    return tuple(np.array(ca.DM(S.column())).ravel() for S in part.motion_subspace())


@functools.lru_cache(maxsize=64)
def _transform(part: Joint) -> ca.Function:
    """Return the transform of an elementary joint of several coordinates, q to 4 x 4."""
    q = SX.sym("q", part.nq)
    return ca.Function("transform", [q], [part.transform(q).matrix()])


def _screw(motion: np.ndarray) -> np.ndarray:
    """Return the poses, (rows, 4, 4), to which constant motions (rows, 6) lead in unit time (Murray, Li & Sastry 1994, eq. 2.36)."""
    w, v = motion[:, :3], motion[:, 3:, None]
    angle = np.sqrt((w * w).sum(axis=1))[:, None, None]
    turns = angle > TURNS
    safe = np.where(turns, angle, 1.0)
    a = np.where(turns, np.sin(safe) / safe, 1.0)
    b = np.where(turns, (1 - np.cos(safe)) / safe**2, 0.0)
    c = np.where(turns, (1 - a) / safe**2, 0.0)
    W = _cross(w)
    X = np.tile(NOWHERE, (len(w), 1, 1))
    X[:, :3, :3] += a * W + b * (W @ W)
    X[:, :3, 3:] = v + b * (W @ v) + c * (W @ (W @ v))
    return X


def _cross(w: np.ndarray) -> np.ndarray:
    """Return the matrices, (rows, 3, 3), of the cross products with vectors (rows, 3)."""
    return (w @ CROSS).reshape(-1, 3, 3)


def _with_values(joint: Joint) -> Joint:
    """Return the joint with every parameter at its own value."""
    held = {f.name: getattr(joint, f.name) for f in dataclasses.fields(joint)}  # type: ignore[arg-type]
    values = {name: x.value for name, x in held.items() if isinstance(x, Varying)}
    return dataclasses.replace(joint, **values) if values else joint  # type: ignore[type-var]


def _at_ground(X: np.ndarray, motion: np.ndarray) -> np.ndarray:
    both = X[:, :3, :3] @ motion.reshape(2, 3).T
    w, v = both[:, :, 0], both[:, :, 1]
    return np.concatenate([w, v + (_cross(X[:, :3, 3]) @ w[:, :, None])[:, :, 0]], axis=1)


def _inertia_at_ground(body: Body, X: np.ndarray) -> np.ndarray:
    """Return the inertia of a body at poses (..., 4, 4) about the ground origin, (..., 6, 6)."""
    if body.modes is not None:  # about its own origin: only its presence counts here
        return np.tile(np.array(body.modes.rr0), (*X.shape[:-2], 1, 1))
    R, m = X[..., :3, :3], value_of(body.mass)
    com = R @ np.array(values_of(body.com)) + X[..., :3, 3]
    C = _cross(com.reshape(-1, 3)).reshape(R.shape)
    out = np.zeros((*X.shape[:-2], 6, 6))
    out[..., :3, :3] = R @ body.inertia_matrix() @ np.swapaxes(R, -1, -2) - m * C @ C
    out[..., :3, 3:], out[..., 3:, :3] = m * C, -m * C
    out[..., 3:, 3:] = m * np.eye(3)
    return out
