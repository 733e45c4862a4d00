"""What to draw of a mechanism without drawings: tubes between its joints, discs for hinges, bars for slides.

All lengths follow from the mechanism's own geometry, with every parameter at its own value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from articulus.model.mechanism import GROUND, Body, Description, Frame, Joint, LoopJoint, PointOnPoint
from articulus.model.mechanism.inertias import body_mass
from articulus.model.mechanism.numbers import values_of

Kind = Literal["tube", "disc", "box", "ball"]
Point = tuple[float, float, float]

SAME = 1e-6
"""Distance, in parts of the mechanism's size, below which two points are one."""


@dataclass(frozen=True)
class SkeletonShape:
    """A solid about a line, in the frame of its body.

    Parameters
    ----------
    kind : str
        "tube" (round ends), "disc" (flat ends), "box" (square bar) or "ball" (about `start`).
    start, end : three numbers [m]
    radius : float [m]
        Half the width of a box.
    role : str
        "link" (in the body's color), "joint" or "mass".
    """

    kind: Kind
    start: Point
    end: Point
    radius: float
    role: Literal["link", "joint", "mass"] = "link"


def landmarks(d: Description, body: str) -> np.ndarray:
    """Return the points of a body (or of ground) at which something is attached, in its frame, (n, 3) [m]."""
    points = [] if body == GROUND else [p for p in (inboard(d, body),) if p is not None]
    return np.array([*points, *outboard(d, body)]).reshape(-1, 3)


def inboard(d: Description, body: str) -> np.ndarray | None:
    """Return the origin of the joint by which a body hangs, in its frame, (3,) [m]; None for a free one."""
    c = d.inboard(body)
    return None if c.joint.nv == 6 else c.child_at.matrix()[:3, 3]


def outboard(d: Description, body: str) -> list[np.ndarray]:
    """Return the places of outer joints, frames and loops on a body, in its frame, each (3,) [m]."""
    out = [
        _on(d, body, c.node) + c.at.matrix()[:3, 3]
        for c in d.connections
        if c.parent == body and c.joint.nv < 6
    ]
    out += [_undeformed_pose(d, f)[:3, 3] for f in d.frames if f.body == body]
    return [*out, *_closings(d, body)]


def _closings(d: Description, body: str) -> Iterator[np.ndarray]:
    """Yield where loop joints sit on a body, in its frame, each (3,) [m]."""
    for loop in (c for c in d.constraints if isinstance(c, LoopJoint)):
        for side, at in ((loop.parent, loop.at), (loop.child, loop.child_at)):
            carrier, frame = d.carrier(side)
            if carrier == body:
                yield (_undeformed_pose(d, frame) @ at.matrix())[:3, 3]


def _on(d: Description, body: str, node: str) -> np.ndarray:
    """Return the place of a station when its body is undeformed, (3,) [m]."""
    modes = None if body == GROUND else _body(d, body).modes
    return np.zeros(3) if modes is None or not node else np.asarray(modes.station(node).position)


def _body(d: Description, name: str) -> Body:
    return next(b for b in d.bodies if b.name == name)


def thickness(d: Description, size: float) -> dict[str, float]:
    """Return the radius of each body's tubes [m]: more for heavier bodies, less for those with short links."""
    masses = {b.name: body_mass(b)[0] for b in d.bodies}
    heaviest = max(masses.values()) or 1.0
    out = {}
    for name, mass in masses.items():
        points = landmarks(d, name)
        longest = np.ptp(points, axis=0).max() if len(points) else 0.0
        radius = size * (0.008 + 0.015 * (mass / heaviest) ** (1 / 3))
        short = SAME * size < longest < 5 * radius
        out[name] = float(max(0.2 * longest, 0.0015 * size) if short else radius)
    return out


def body_shapes(
    d: Description, body: Body, size: float, radius: dict[str, float]
) -> tuple[SkeletonShape, ...]:
    """Return the skeleton of one body."""
    c = d.inboard(body.name)
    r = radius[body.name]
    joint_radius = max(r, radius.get(c.parent, r))
    hinge = c.child_at.matrix()
    shapes = [*joint_shapes(c.joint, hinge, joint_radius), *closing_shapes(d, body.name, r)]
    if body.modes is None or not body.modes.stations:
        shapes += _links(d, body, size, r)
    mass, center = body_mass(body)
    if mass:
        total = sum(body_mass(b)[0] for b in d.bodies)
        ball = 0.06 * size * (mass / total) ** (1 / 3)
        shapes.append(SkeletonShape("ball", _point(center), _point(center), float(ball), "mass"))
    return tuple(shapes)


def _links(d: Description, body: Body, size: float, r: float) -> Iterator[SkeletonShape]:
    """Yield tubes from a body's hub to everything on it; a body with nothing on it reaches through its center of mass."""
    _, center = body_mass(body)
    found = inboard(d, body.name)
    hub = center if found is None else found
    ends = _distinct([p for p in outboard(d, body.name) if np.linalg.norm(p - hub) > SAME * size], size)
    if not ends and np.linalg.norm(center - hub) > SAME * size:
        ends = [2 * center - hub]
    for end in ends:
        yield SkeletonShape("tube", _point(hub), _point(end), r)
    aside = min([_distance(center, hub, end) for end in ends], default=0.0)
    if aside > 2 * r:
        yield SkeletonShape("tube", _point(hub), _point(center), 0.45 * r)
    if not ends:
        yield SkeletonShape("ball", _point(hub), _point(hub), 1.2 * r)


def joint_shapes(joint: Joint, at: np.ndarray, r: float) -> Iterator[SkeletonShape]:
    """Yield discs about turning axes, blocks that slide along others, a ball for a spherical joint."""
    origin = at[:3, 3]
    if joint.nv == 3 and all(joint.rotational):
        yield SkeletonShape("ball", _point(origin), _point(origin), 1.7 * r, "joint")
    for part in joint.elementary():
        if part.axis_line is None or joint.nv == 6:
            continue
        axis = at[:3, :3] @ np.array(part.axis_line)
        if any(part.rotational):
            ends = _point(origin - 1.3 * r * axis), _point(origin + 1.3 * r * axis)
            yield SkeletonShape("disc", *ends, 1.7 * r, "joint")
        if not all(part.rotational) and joint.nv <= 2:
            ends = _point(origin - 3.5 * r * axis), _point(origin + 3.5 * r * axis)
            yield SkeletonShape("box", *ends, 2.2 * r)


def closing_shapes(d: Description, body: str, r: float) -> Iterator[SkeletonShape]:
    """Yield the joints at which loops close, each on one of its two bodies."""
    for c in d.constraints:
        if isinstance(c, LoopJoint):
            carrier, frame = d.carrier(c.parent)
            if carrier == body:
                yield from joint_shapes(c.joint, _undeformed_pose(d, frame) @ c.at.matrix(), r)
        elif isinstance(c, PointOnPoint):
            carrier, frame = d.carrier(c.first)
            if carrier == body:
                point = _point(_undeformed_pose(d, frame)[:3, 3])
                yield SkeletonShape("ball", point, point, 1.5 * r, "joint")


def _undeformed_pose(d: Description, frame: Frame) -> np.ndarray:
    """Return the pose of a frame in its undeformed body, (4, 4)."""
    X = frame.at.matrix()
    X[:3, 3] += _on(d, frame.body, frame.node)
    return X


def joint_axes(joint: Joint, at: np.ndarray) -> tuple[Point, ...]:
    """Return the axes of a joint in the frame in which `at` is its pose, each a unit vector."""
    lines = [part.axis_line for part in joint.elementary()]
    return tuple(_point(at[:3, :3] @ np.array(line)) for line in lines if line is not None)


def rails(d: Description, body: str, size: float, radius: dict[str, float]) -> Iterator[SkeletonShape]:
    """Yield the rails on a body (or on ground) along which outer bodies slide."""
    for c in d.connections:
        if c.parent != body or c.joint.nv > 2:
            continue
        at = c.at.matrix()
        for part in c.joint.elementary():
            if part.axis_line is not None and not all(part.rotational):
                axis = at[:3, :3] @ np.array(part.axis_line)
                low, high = _stroke(values_of(c.limits.lower), values_of(c.limits.upper), size)
                start, end = (at[:3, 3] + _on(d, body, c.node) + axis * s for s in (low, high))
                yield SkeletonShape("box", _point(start), _point(end), 0.6 * radius[c.child], "joint")


def _stroke(lower: tuple[float, ...], upper: tuple[float, ...], size: float) -> tuple[float, float]:
    """Return the range of a slide [m]; a part of the mechanism's size where it has no limits."""
    low, high = (x[-1] if x and np.isfinite(x[-1]) else s * 0.3 * size for x, s in ((lower, -1), (upper, 1)))
    return float(low), float(high)


def ground_shapes(d: Description, size: float, radius: dict[str, float]) -> tuple[SkeletonShape, ...]:
    """Return what does not move: rails, a foot under each hinge to ground, a bar between these."""
    shapes = list(rails(d, GROUND, size, radius))
    hinges = [c for c in d.connections if c.parent == GROUND and all(c.joint.rotational)]
    pivots = _distinct([*(c.at.matrix()[:3, 3] for c in hinges), *_closings(d, GROUND)], size)
    r = max((radius[c.child] for c in hinges), default=0.02 * size)
    down = -up_direction(d)
    for p in pivots:
        shapes.append(
            SkeletonShape("disc", _point(p + 1.2 * r * down), _point(p + 2.1 * r * down), 2.1 * r, "joint")
        )
    for a, b in itertools.pairwise(pivots):
        under = 1.6 * r * down
        shapes.append(SkeletonShape("tube", _point(a + under), _point(b + under), 0.45 * r, "joint"))
    return tuple(shapes)


def up_direction(d: Description) -> np.ndarray:
    """Return the unit vector against gravity in ground axes, (3,); z where there is no gravity."""
    g = np.array(values_of(d.gravity))
    length = np.linalg.norm(g)
    return -g / length if length > 0 else np.array([0.0, 0.0, 1.0])


def _distinct(points: list[np.ndarray], size: float) -> list[np.ndarray]:
    """Return the points without those that repeat an earlier one."""
    out: list[np.ndarray] = []
    for p in points:
        if all(np.linalg.norm(p - other) > SAME * size for other in out):
            out.append(p)
    return out


def _distance(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance of a point from the segment a b [m]."""
    ab = b - a
    s = np.clip((p - a) @ ab / (ab @ ab), 0.0, 1.0)
    return float(np.linalg.norm(p - a - s * ab))


def _point(p: np.ndarray) -> Point:
    x, y, z = (round(float(u), 9) for u in p)
    return x, y, z
