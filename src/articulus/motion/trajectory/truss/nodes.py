"""`Truss`: a manipulator of nodes, rods of fixed and legs of variable length, in the coordinates of its nodes (Naccarato & Hughes 1989)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.obstacles import Obstacle

BETWEEN = 4
"""Points of a member, beside its ends, whose distances from obstacles are examined."""


@dataclass(frozen=True, eq=False)
class TrussBay:
    """One cell of a truss.

    Parameters
    ----------
    nodes : tuple of int
        Those that it adds.
    face : (int, int, int)
        Three of them that a rigid triangle joins: the base of the next bay, or what carries the tool.
    """

    nodes: tuple[int, ...]
    face: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Truss:
    """Nodes and members.

    Parameters
    ----------
    nodes : array, (n, 3) [m]
        Positions at rest.
    base : (int, int, int)
        Nodes that are held; rigid like a face.
    rods, legs : array of int, (m, 2)
        Pairs of nodes at a fixed, at a variable distance.
    bays : tuple of TrussBay
        From the base to the end.
    stroke : (float, float) [m]
        Least and largest length of a leg.
    radius : float [m]
        Radius of the members, for clearances.
    """

    nodes: np.ndarray
    base: tuple[int, int, int]
    rods: np.ndarray
    legs: np.ndarray
    bays: tuple[TrussBay, ...]
    stroke: tuple[float, float]
    radius: float = 0.0

    def __post_init__(self) -> None:
        n = len(self.nodes)
        for name in ("rods", "legs"):
            pairs = np.asarray(getattr(self, name), dtype=int).reshape(-1, 2)
            object.__setattr__(self, name, pairs)
            if pairs.size and (pairs.min() < 0 or pairs.max() >= n or (pairs[:, 0] == pairs[:, 1]).any()):
                raise InputError(
                    f"Truss.{name}: found a member without two nodes of 0 to {n - 1}; expected pairs of different ones"
                )
        lengths = self.lengths(self.nodes, self.legs)
        low, high = self.stroke
        if not 0 < low < high or lengths.min(initial=high) < low or lengths.max(initial=low) > high:
            raise InputError(
                f"Truss.stroke: found {low:g} to {high:g} m, legs of {lengths.min(initial=np.inf):g} to {lengths.max(initial=0.0):g} m at rest; "
                "expected a stroke that these are within"
            )

    @cached_property
    def free(self) -> np.ndarray:
        """Nodes that are not held."""
        return np.setdiff1d(np.arange(len(self.nodes)), self.base)

    @property
    def dof(self) -> int:
        """Degrees of freedom: coordinates less rods between nodes that move."""
        held = np.isin(self.rods, self.base).all(1).sum()
        return int(3 * len(self.free) - len(self.rods) + held)

    @property
    def end(self) -> tuple[int, int, int]:
        """Face that carries the tool."""
        return self.bays[-1].face

    def lengths(self, nodes: np.ndarray, members: np.ndarray | None = None) -> np.ndarray:
        """Return the lengths of members, of the legs if none are given, (..., m) [m]."""
        pairs = self.legs if members is None else members
        return np.linalg.norm(nodes[..., pairs[:, 0], :] - nodes[..., pairs[:, 1], :], axis=-1)

    def pose(self, nodes: np.ndarray, face: Sequence[int] | None = None) -> np.ndarray:
        """Return the pose of a face, of the end if none is given: origin at its middle, x toward its first node, z away from the base, (4, 4)."""
        a, b, c = nodes[list(self.end if face is None else face)]
        middle = (a + b + c) / 3
        x = a - middle
        z = np.cross(b - a, c - a)
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = np.column_stack([x, np.cross(z, x), z]), middle
        return out

    def corners(self, pose: np.ndarray, face: Sequence[int] | None = None) -> np.ndarray:
        """Return where the three nodes of a face are at a pose, (3, 3) [m]."""
        which = list(self.end if face is None else face)
        at = self.pose(self.nodes, which)
        return (self.nodes[which] - at[:3, 3]) @ at[:3, :3] @ pose[:3, :3].T + pose[:3, 3]

    def clearance(self, nodes: np.ndarray, obstacles: Sequence[Obstacle]) -> float:
        """Return the least distance between members and obstacles, at the points that are examined [m]."""
        if not obstacles:
            return np.inf
        values, _ = Distances(obstacles)(self.spread @ nodes)
        return float(values.min()) - self.radius

    @cached_property
    def spread(self) -> np.ndarray:
        """Matrix from nodes to the points of all members, (points, nodes)."""
        pairs = np.vstack([self.rods, self.legs])
        part = np.linspace(0, 1, BETWEEN + 2)
        out = np.zeros((len(pairs), len(part), len(self.nodes)))
        rows = np.arange(len(pairs))
        out[rows, :, pairs[:, 0]] = 1 - part
        out[rows, :, pairs[:, 1]] += part
        return out.reshape(-1, len(self.nodes))


class Distances:
    """Distances of points from obstacles, and their directions of growth."""

    def __init__(self, obstacles: Sequence[Obstacle]):
        p = ca.SX.sym("p", 3)
        d = ca.vertcat(*(o.distance(p) for o in obstacles))
        self.count = d.numel()
        self.function = ca.Function("distances", [p], [d, ca.densify(ca.jacobian(d, p))])

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (obstacles, points) and gradients (obstacles, points, 3)."""
        n = len(points)
        d, slope = (np.asarray(out) for out in self.function.map(n)(points.T))
        return d, slope.reshape(self.count, n, 3)


def member_lengths(
    nodes: np.ndarray, members: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths and their derivatives by the coordinates of the nodes that have a place (others: -1)."""
    apart = nodes[members[:, 0]] - nodes[members[:, 1]]
    length = np.linalg.norm(apart, axis=1)
    slopes = np.zeros((len(members), place.max() + 1, 3))
    rows = np.arange(len(members))
    for side, sign in ((0, 1.0), (1, -1.0)):
        at = place[members[:, side]]
        slopes[rows[at >= 0], at[at >= 0]] += sign * (apart / length[:, None])[at >= 0]
    return length, slopes.reshape(len(members), 3 * (place.max() + 1))


def octahedral(
    bays: int = 5,
    *,
    side: float = 0.5,
    height: float = 0.5,
    stroke: tuple[float, float] = (0.3, 1.2),
    radius: float = 0.02,
) -> Truss:
    """Return a truss of octahedral bays on the ground, upward: rigid triangles, each joined to the next by six legs of variable length.

    Every triangle is turned by 60 degrees against the one below; a bay has six degrees of freedom.

    Parameters
    ----------
    bays : int
    side, height : float [m]
        Edge of the triangles, and their distance at rest.
    stroke : (float, float) [m]
        Stroke of the legs.
    radius : float [m]
        Radius of the members.
    """
    if bays < 1:
        raise InputError(f"octahedral: found {bays} bays; expected 1 or more")
    nodes = []
    for k in range(bays + 1):
        angle = np.pi / 3 * k + 2 * np.pi / 3 * np.arange(3)
        nodes += [
            *np.column_stack(
                [side / np.sqrt(3) * np.cos(angle), side / np.sqrt(3) * np.sin(angle), np.full(3, height * k)]
            )
        ]
    faces = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(bays + 1)]
    rods = [(f[i], f[(i + 1) % 3]) for f in faces for i in range(3)]
    legs = [
        (below[j], above[i]) for below, above in pairwise(faces) for i in range(3) for j in (i, (i + 1) % 3)
    ]
    return Truss(
        np.array(nodes),
        faces[0],
        np.array(rods),
        np.array(legs),
        tuple(TrussBay(f, f) for f in faces[1:]),
        stroke,
        radius,
    )


def double_octahedral(
    bays: int = 5,
    *,
    side: float = 0.5,
    height: float = 0.5,
    stroke: tuple[float, float] = (0.25, 0.75),
    radius: float = 0.02,
) -> Truss:
    """Return a truss of bays with three legs each: the triangle in the middle of a bay has legs for edges, all other members are rods.

    A bay has three degrees of freedom: it bends in two directions and stretches.

    Parameters
    ----------
    bays : int
    side, height : float [m]
        Edge of all triangles, and length of a bay, at rest.
    stroke : (float, float) [m]
        Stroke of the legs.
    radius : float [m]
        Radius of the members.
    """
    layers = octahedral(2 * bays, side=side, height=height / 2, stroke=(1e-3, 1e3))
    faces = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(2 * bays + 1)]
    middle = np.isin(layers.rods, [node for f in faces[1::2] for node in f]).all(1)
    cells = tuple(TrussBay((*a, *b), b) for a, b in zip(faces[1::2], faces[2::2]))
    return Truss(
        layers.nodes,
        faces[0],
        np.vstack([layers.rods[~middle], layers.legs]),
        layers.rods[middle],
        cells,
        stroke,
        radius,
    )
