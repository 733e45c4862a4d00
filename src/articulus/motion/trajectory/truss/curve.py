"""`ShapeCurve` and `follow_curve`: a truss follows poses of its end along a reference curve; every bay follows the curve on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import comb

from articulus.errors import InputError
from articulus.motion.trajectory.obstacles import Obstacle
from articulus.motion.trajectory.truss.direct import TrussMotion, check_poses, with_clearances
from articulus.motion.trajectory.truss.nodes import Distances, Truss, member_lengths
from articulus.motion.trajectory.truss.settle import settle

POINTS = 61
"""Points of the curve whose distances from obstacles are examined."""


@dataclass(frozen=True)
class ShapeCurve:
    """Weights of control vertices along a curve, s from 0 to 1.

    Parameters
    ----------
    vertices : int
        How many; 4 or more. The more, the more the shape is free beside both ends.
    kind : str
        "bezier", or "bspline" (cubic, clamped at both ends).
    """

    vertices: int = 6
    kind: str = "bezier"

    def __post_init__(self) -> None:
        if self.vertices < 4 or self.kind not in ("bezier", "bspline"):
            raise InputError(
                f'ShapeCurve: found {self.vertices} vertices of kind "{self.kind}"; expected 4 or more, "bezier" or "bspline"'
            )

    def weights(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights of the vertices and their derivatives by s, (len(s), vertices); the weights sum to 1."""
        n = self.vertices - 1
        s = np.asarray(s, dtype=float)
        if self.kind == "bezier":
            return _bernstein(n, s), n * (
                np.pad(_bernstein(n - 1, s), ((0, 0), (1, 0)))
                - np.pad(_bernstein(n - 1, s), ((0, 0), (0, 1)))
            )
        knots = np.concatenate([np.zeros(3), np.linspace(0, 1, self.vertices - 2), np.ones(3)])
        basis = BSpline(knots, np.eye(self.vertices), 3)
        return basis(s), basis.derivative()(s)


def _bernstein(n: int, s: np.ndarray) -> np.ndarray:
    k = np.arange(n + 1)
    return comb(n, k) * s[:, None] ** k * (1 - s[:, None]) ** (n - k)


def follow_curve(
    truss: Truss,
    poses: np.ndarray,
    curve: ShapeCurve | None = None,
    *,
    obstacles: Sequence[Obstacle] = (),
    margin: float = 0.0,
    bays: str = "recursive",
) -> TrussMotion:
    """Return a motion whose end face follows poses; the truss has the shape of a curve from its base to its end.

    The curve leaves the base and arrives at the end along the normals of their faces; its other vertices keep it clear of obstacles, as a tube of
    the truss's radius, and its length within what the legs can reach. Faces are at equal lengths along it; the turn about it that the end
    asks for is spread evenly. Compare `track_nodes`, which moves all nodes at once.

    Parameters
    ----------
    truss : Truss
        Every bay with six degrees of freedom or more.
    poses : array, (poses, 4, 4)
        Poses of the end face, see `Truss.pose`.
    curve : ShapeCurve
    obstacles : sequence of Obstacle
    margin : float [m]
        Distance of members from obstacles.
    bays : str
        "recursive": each bay from the face that the bay before it reached; "parallel": each from the curve alone, so that all can be computed at
        the same time. Both have the same faces.
    """
    if bays not in ("recursive", "parallel"):
        raise InputError(f'follow_curve: found bays="{bays}"; expected "recursive" or "parallel"')
    targets, kind = check_poses(poses), curve or ShapeCurve()
    shape = _Shape(truss, kind, obstacles, margin)
    parts = _parts(truss)
    vertices = shape.first()
    nodes, out, off = truss.nodes.copy(), [], []
    for pose in targets:
        vertices = shape.at(vertices, pose)
        faces = shape.faces(vertices, pose)
        nodes, residual = _place(truss, parts, nodes, faces, bays)
        out.append(nodes)
        off.append(residual)
    return with_clearances(truss, np.array(out), obstacles, margin, np.array(off))


class _Shape:
    """The curve of a truss."""

    def __init__(self, truss: Truss, curve: ShapeCurve, obstacles: Sequence[Obstacle], margin: float):
        self.truss, self.base, self.n = truss, truss.pose(truss.nodes, truss.base), curve.vertices
        self.s = np.linspace(0, 1, POINTS)
        self.W, self.dW = curve.weights(self.s)
        faces = [truss.base, *(bay.face for bay in truss.bays)]
        middles = np.array([truss.nodes[list(f)].mean(0) for f in faces])
        self.at_rest = np.linalg.norm(np.diff(middles, axis=0), axis=1)
        width = max(np.linalg.norm(truss.nodes[list(f)] - m, axis=1).max() for f, m in zip(faces, middles))
        self.tube = width + truss.radius + margin
        self.distances = Distances(obstacles) if obstacles else None
        # of a straight truss: legs at the ends of their stroke
        low, high = (
            np.sqrt(max(x**2 - truss.lengths(truss.nodes).min() ** 2 + self.at_rest.min() ** 2, 0.0))
            for x in truss.stroke
        )
        self.length = max(low, 0.3 * self.at_rest.min()) * len(truss.bays), 0.8 * high * len(truss.bays)

    def first(self) -> np.ndarray:
        total = self.at_rest.sum()
        along = np.linspace(0, total, self.n)[:, None] * self.base[:3, 2]
        return self.base[:3, 3] + along

    def at(self, vertices: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Return the vertices nearest to those given with which the curve ends at a pose, within limits."""
        n = self.n
        J = np.zeros((10, n, 3))
        goal = np.zeros(10)
        J[0:3, 0], goal[0:3] = np.eye(3), self.base[:3, 3]
        J[3:6, -1], goal[3:6] = np.eye(3), pose[:3, 3]
        for row, at, other, frame in ((6, 1, 0, self.base), (8, -1, -2, pose)):
            across = frame[:3, :2].T
            J[row : row + 2, at], J[row : row + 2, other] = across, -across
        flat = J.reshape(10, -1)

        def equal(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return flat @ x - goal, flat

        def keep(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return self._limits(x.reshape(n, 3), pose)

        bent = np.kron(np.diff(np.eye(n), 2, axis=0), np.eye(3))

        def smooth(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return bent @ x, bent

        x, _, _ = settle(vertices.ravel(), equal, keep, longest=0.2 * self.at_rest.min(), wish=smooth)
        return x.reshape(n, 3)

    def _limits(self, p: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = self.n
        values, rows = [], []
        # both ends leave their faces upward
        for at, other, axis, reach in ((1, 0, self.base[:3, 2], 0.05), (-1, -2, pose[:3, 2], 0.05)):
            row = np.zeros((n, 3))
            row[at], row[other] = axis, -axis
            values.append(np.array([axis @ (p[at] - p[other]) - reach * self.at_rest.sum()]))
            rows.append(row.reshape(1, -1))
        points = self.W @ p
        chords = np.diff(points, axis=0)
        size = np.linalg.norm(chords, axis=1)
        slope = ((self.W[1:] - self.W[:-1]).T @ (chords / size[:, None])).reshape(1, -1)
        total = size.sum()
        values.append(np.array([total - self.length[0], self.length[1] - total]))
        rows += [slope, -slope]
        if self.distances is not None:
            d, grows = self.distances(points)
            for each, up in zip(d - self.tube, grows):
                around = np.pad(each, 1, constant_values=np.inf)
                near = (each <= around[:-2]) & (each <= around[2:])  # the nearest points
                values.append(each[near])
                rows.append((self.W[near][:, :, None] * up[near][:, None, :]).reshape(near.sum(), 3 * n))
        return np.concatenate(values), np.vstack(rows)

    def faces(self, p: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Return the poses of all faces after the base, the last one as asked for, (bays, 4, 4)."""
        points, tangents = self.W @ p, self.dW @ p
        tangents /= np.linalg.norm(tangents, axis=1)[:, None]
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        frames = _without_turn(points, tangents, self.base[:3, :3])
        rest = self.truss.pose(self.truss.nodes)[:3, :3]
        turned = self.base[:3, :3].T @ rest  # faces are turned against each other at rest
        last = frames[-1].T @ pose[:3, :3] @ turned.T
        turn = np.arctan2(last[1, 0], last[0, 0])
        out = np.tile(np.eye(4), (len(self.truss.bays), 1, 1))
        goals = np.cumsum(self.at_rest) / self.at_rest.sum()
        for k, (goal, bay) in enumerate(zip(goals, self.truss.bays)):
            s = np.interp(goal * length[-1], length, np.arange(POINTS))
            i = min(int(s), POINTS - 2)
            part = s - i
            own = self.base[:3, :3].T @ self.truss.pose(self.truss.nodes, bay.face)[:3, :3]
            frame = frames[i if part < 0.5 else i + 1] @ _about_z(goal * turn) @ own
            out[k, :3, :3] = frame
            out[k, :3, 3] = (1 - part) * points[i] + part * points[i + 1]
        out[-1] = pose
        return out


def _without_turn(points: np.ndarray, tangents: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return frames along a curve that do not turn about it, z along the tangents: two mirrors from point to point (Wang, Jüttler, Zheng & Liu 2008)."""
    out = [first]
    for (a, b), (t, after) in zip(pairwise(points), pairwise(tangents)):
        v = b - a
        x, z = out[-1][:, 0], t
        x, z = (w - 2 * v * (v @ w) / (v @ v) for w in (x, z))
        v = after - z
        if v @ v > 1e-30:
            x = x - 2 * v * (v @ x) / (v @ v)
        x = x - after * (after @ x)
        x /= np.linalg.norm(x)
        out.append(np.column_stack([x, np.cross(after, x), after]))
    return np.array(out)


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


class _Part:
    """A bay as a small truss on the face before it."""

    def __init__(self, truss: Truss, k: int):
        self.truss = truss
        self.before = truss.base if k == 0 else truss.bays[k - 1].face
        self.face, self.nodes = truss.bays[k].face, list(truss.bays[k].nodes)
        self.place = np.full(len(truss.nodes), -1)
        self.place[self.nodes] = np.arange(len(self.nodes))
        rods, self.legs = (self._mine(pairs) for pairs in (truss.rods, truss.legs))
        self.dof = 3 * len(self.nodes) - len(rods)
        inside = np.isin(rods, self.face).all(1)
        self.rods = rods[~inside]
        self.length = truss.lengths(truss.nodes, self.rods)
        self.corners = np.zeros((9, 3 * len(self.nodes)))
        for i, node in enumerate(self.face):
            at = 3 * self.place[node]
            self.corners[3 * i : 3 * i + 3, at : at + 3] = np.eye(3)

    def _mine(self, pairs: np.ndarray) -> np.ndarray:
        here = np.isin(pairs, [*self.before, *self.nodes]).all(1)
        return pairs[here & (self.place[pairs] >= 0).any(1)]

    def solve(self, nodes: np.ndarray, pose: np.ndarray) -> float:
        """Place the nodes so that the face has a pose; return the largest error of it and of rods."""
        goal = self.truss.corners(pose, self.face).ravel()
        low, high = self.truss.stroke

        def equal(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nodes[self.nodes] = flat.reshape(-1, 3)
            now, slopes = member_lengths(nodes, self.rods, self.place)
            return np.concatenate([self.corners @ flat - goal, now - self.length]), np.vstack(
                [self.corners, slopes]
            )

        def keep(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nodes[self.nodes] = flat.reshape(-1, 3)
            length, slopes = member_lengths(nodes, self.legs, self.place)
            return np.concatenate([length - low, high - length]), np.vstack([slopes, -slopes])

        flat, off, _ = settle(nodes[self.nodes].ravel(), equal, keep, longest=0.1 * high)
        nodes[self.nodes] = flat.reshape(-1, 3)
        return off


def _parts(truss: Truss) -> list[_Part]:
    parts = [_Part(truss, k) for k in range(len(truss.bays))]
    for k, part in enumerate(parts):
        if part.dof < 6:
            raise InputError(
                f"follow_curve: bay {k} has {part.dof} degrees of freedom; expected 6 or more, for any pose of its face. Join bays to one, or use "
                "track_nodes"
            )
    return parts


def _place(
    truss: Truss, parts: list[_Part], nodes: np.ndarray, faces: np.ndarray, bays: str
) -> tuple[np.ndarray, float]:
    """Return the nodes with faces at their poses, and the largest error of what has to hold."""
    out, off = nodes.copy(), 0.0
    for k, part in enumerate(parts):
        if bays == "recursive":
            off = max(off, part.solve(out, faces[k]))
            continue
        own = nodes.copy()
        if k:
            own[list(part.before)] = truss.corners(faces[k - 1], part.before)
        off = max(off, part.solve(own, faces[k]))
        out[part.nodes] = own[part.nodes]
    return out, off
