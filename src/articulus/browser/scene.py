"""What a mechanism looks like, as plain data: everything that does not change while it moves."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from articulus.browser import skeleton
from articulus.browser.poses import body_poses
from articulus.browser.skeleton import Point, SkeletonShape
from articulus.browser.solids import MESH_BYTES, PackedMesh, SceneSolid, packed_meshes, solids
from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism import GROUND, Body, Description, Distance, Frame, Visual
from articulus.model.mechanism.inertias import body_mass
from articulus.model.mechanism.pose import quaternion_of
from articulus.model.mechanism.visual import box_corners

COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8a7a00", "#6a51a3")
"""Colors of bodies: those of Okabe and Ito, which color-blind people tell apart, yellow darkened, black replaced."""

SECOND_ORDER = 20_000
"""Most numbers of a flexible body's displacements of second order; with more it is drawn to first order."""


@dataclass(frozen=True)
class SceneStation:
    """A point of a flexible body: position + translation eta + 1/2 eta' shortening eta, and likewise its rotation vector.

    Parameters
    ----------
    name : str
    position : list of three numbers [m]
    translation, rotation : lists of 3 rows with a number per mode [m, rad]
    shortening, turning : lists of 3 matrices of modes [m, rad]; empty where they are not part of the motion
    """

    name: str
    position: list[float]
    translation: list[list[float]]
    rotation: list[list[float]]
    shortening: list[list[list[float]]]
    turning: list[list[list[float]]]


@dataclass(frozen=True)
class Flexible:
    """What deforms of a body.

    Parameters
    ----------
    stations : tuple of Station
    edges : tuple of pairs of int
        Stations that a tube joins.
    radius : float [m]
    """

    stations: tuple[SceneStation, ...]
    edges: tuple[tuple[int, int], ...]
    radius: float


@dataclass(frozen=True)
class SceneBody:
    """A body and what is drawn of it.

    Parameters
    ----------
    name : str
    parent : str
        Body that carries it, or "ground".
    node : str
        Station of a flexible parent that carries it, else empty.
    joint, joint_type : str
        By which it hangs.
    mass : float [kg]
    color : str
    shapes : tuple of Shape
        Its skeleton.
    origin : three numbers [m]
        Origin of its joint, in its frame.
    axes : tuple of three numbers each [-]
        Axes of its joint, in its frame.
    flexible : Flexible or None
    solids : tuple of Solid
        Its visuals.
    bare : bool
        Whether the skeleton is drawn: not where there are visuals, nor for a massless body of a mechanism that has some.
    """

    name: str
    parent: str
    node: str
    joint: str
    joint_type: str
    mass: float
    color: str
    shapes: tuple[SkeletonShape, ...]
    origin: Point
    axes: tuple[Point, ...]
    flexible: Flexible | None = None
    solids: tuple[SceneSolid, ...] = ()
    bare: bool = True


@dataclass(frozen=True)
class SceneFrame:
    """A named frame.

    Parameters
    ----------
    name, body, node : str
    position : three numbers [m]
        In its body, or in the frame of its node.
    quaternion : four numbers (w, x, y, z) [-]
    """

    name: str
    body: str
    node: str
    position: Point
    quaternion: tuple[float, float, float, float]


@dataclass(frozen=True)
class Scene:
    """What a mechanism looks like.

    Parameters
    ----------
    name : str
    bodies : tuple of SceneBody
        In the order of the mechanism's bodies, as are poses.
    ground : tuple of Shape
        Its skeleton, for a mechanism without visuals.
    frames : tuple of SceneFrame
    rods : tuple of pairs of str
        Frames or bodies at a fixed distance, or that a spring, cable or cylinder joins: a thin rod is drawn between their origins.
    up : three numbers [-]
        Against gravity.
    size : float [m]
        Diagonal of the box around all joints, frames and visuals of bodies in the neutral position.
    standing : tuple of Solid
        Visuals of ground.
    meshes : tuple of PackedMesh
        To which solids refer.
    depth : float [m]
        How far the visuals of ground reach below its origin.
    obstacles : tuple of Solid
        What stands around the mechanism and is no part of it.
    """

    name: str
    bodies: tuple[SceneBody, ...]
    ground: tuple[SkeletonShape, ...]
    frames: tuple[SceneFrame, ...]
    rods: tuple[tuple[str, str], ...]
    up: Point
    size: float
    standing: tuple[SceneSolid, ...] = ()
    meshes: tuple[PackedMesh, ...] = ()
    depth: float = 0.0
    obstacles: tuple[SceneSolid, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return everything as dicts, lists, texts and numbers."""
        return dataclasses.asdict(self)


def scene_of(
    mechanism: Mechanism,
    mesh_bytes: float = MESH_BYTES,
    paths: Sequence[Sequence[str]] = (),
    obstacles: Sequence[Visual] = (),
) -> Scene:
    """Return what a mechanism looks like: its visuals, and a skeleton from its geometry.

    Parameters
    ----------
    mechanism : Mechanism
    mesh_bytes : float
        Most characters of all meshes; they lose detail where they would need more.
    paths : sequence of sequences of str
        Frames or bodies along which components are drawn (`Component.path`).
    obstacles : sequence of Visual
        What stands around it, in the ground frame.
    """
    d = mechanism.description
    size = mechanism_size(mechanism)
    radius = skeleton.thickness(d, size)
    bodies = [_body(d, b, COLORS[k % len(COLORS)], size, radius) for k, b in enumerate(d.bodies)]
    visuals = [*d.visuals, *(v for b in d.bodies for v in b.visuals)]
    numbers, meshes = packed_meshes(visuals, size, mesh_bytes)
    standing = solids(d.visuals, numbers)
    drawn = [solids(b.visuals, numbers) for b in d.bodies]
    shown = bool(standing or any(drawn))
    bodies = [
        dataclasses.replace(s, solids=own, bare=not own and not (shown and b.massless))
        for s, b, own in zip(bodies, d.bodies, drawn)
    ]
    up = skeleton.up_direction(d)
    return Scene(
        d.name,
        tuple(bodies),
        skeleton.ground_shapes(d, size, radius),
        tuple(_frame(f) for f in d.frames),
        (
            *((c.first, c.second) for c in d.constraints if isinstance(c, Distance)),
            *(pair for path in paths for pair in itertools.pairwise(path)),
        ),
        (float(up[0]), float(up[1]), float(up[2])),
        size,
        standing,
        meshes,
        _depth(d, up),
        solids(obstacles, {}),
    )


def _depth(d: Description, up: np.ndarray) -> float:
    """Return how far the visuals of ground reach below its origin [m]."""
    return max([0.0, *(-float((v.corners() @ up).min()) for v in d.visuals)])


def outline(d: Description, body: str) -> np.ndarray:
    """Return points that span what is drawn of a body, in its frame, (n, 3) [m]; of ground, only what is attached to it."""
    points = [skeleton.landmarks(d, body)]
    if body != GROUND:
        held = next(b for b in d.bodies if b.name == body)
        _, center = body_mass(held)
        hub = skeleton.inboard(d, body)
        points.append(center[None])
        if held.visuals:
            corners = np.concatenate([v.corners() for v in held.visuals])
            points.append(box_corners(np.stack([corners.min(axis=0), corners.max(axis=0)])))
        elif len(points[0]) < 2 and hub is not None:
            points.append((2 * center - hub)[None])
        if held.modes is not None:
            points.append(np.array([s.position for s in held.modes.stations.values()]).reshape(-1, 3))
    return np.concatenate(points)


def mechanism_size(mechanism: Mechanism) -> float:
    """Return the diagonal of the box around everything in the neutral position [m]; 1 for a mechanism without extent."""
    d = mechanism.description
    poses = body_poses(mechanism, mechanism.neutral)
    points = [outline(d, GROUND), *(move_points(x, outline(d, b.name)) for b, x in zip(d.bodies, poses))]
    size = float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))
    return size if size > 0 else 1.0


def move_points(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points (n, 3) of a body in ground axes, (..., n, 3), at poses (..., 7)."""
    w, u = pose[..., 3:4], pose[..., 4:]
    u = np.broadcast_to(u[..., None, :], (*u.shape[:-1], *points.shape))
    cross = np.cross(u, points)
    return points + 2 * (w[..., None] * cross + np.cross(u, cross)) + pose[..., None, :3]


def _body(d: Description, body: Body, color: str, size: float, radius: dict[str, float]) -> SceneBody:
    c = d.inboard(body.name)
    at = c.child_at.matrix()
    mass, _ = body_mass(body)
    shapes = (*skeleton.body_shapes(d, body, size, radius), *skeleton.rails(d, body.name, size, radius))
    axes = skeleton.joint_axes(c.joint, at)
    origin = (float(at[0, 3]), float(at[1, 3]), float(at[2, 3]))
    parts = (c.parent, c.node, c.name, c.joint.type_name, mass, color, shapes, origin, axes)
    return SceneBody(body.name, *parts, flexible=flexible_of(body, radius[body.name]))


def flexible_of(body: Body, radius: float) -> Flexible | None:
    """Return the stations of a flexible body, joined by the shortest tubes that hold all of them together."""
    if body.modes is None or not body.modes.stations:
        return None
    modes = body.modes
    numbers = 3 * len(modes.stations) * modes.count**2
    second = modes.level == "consistent" and numbers <= SECOND_ORDER
    stations = tuple(
        SceneStation(
            name,
            _short(s.position),
            _short(s.translation),
            _short(s.rotation),
            _short(s.shortening) if second and s.shortening.any() else [],
            _short(s.turning) if second and s.turning is not None and s.turning.any() else [],
        )
        for name, s in modes.stations.items()
    )
    _, first = np.unique([s.position for s in stations], axis=0, return_index=True)
    apart = np.array([stations[i].position for i in first])
    tree = minimum_spanning_tree(cdist(apart, apart)).tocoo()
    edges = tuple((int(first[i]), int(first[j])) for i, j in zip(tree.row, tree.col))
    return Flexible(stations, edges, radius)


def _short(numbers: np.ndarray) -> Any:
    """Return an array as lists of numbers with eight digits, what single precision keeps."""
    return [_short(x) for x in numbers] if numbers.ndim else float(f"{numbers:.8g}")


def _frame(f: Frame) -> SceneFrame:
    X = f.at.matrix()
    position = (float(X[0, 3]), float(X[1, 3]), float(X[2, 3]))
    return SceneFrame(f.name, f.body, f.node, position, quaternion_of(X[:3, :3]))
