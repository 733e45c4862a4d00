"""A platform on six legs of variable length."""

from __future__ import annotations

import math

import numpy as np

from articulus.model.mechanism import (
    Body,
    Connection,
    Description,
    Frame,
    Free,
    PointOnPoint,
    Pose,
    Prismatic,
    Universal,
)

BASE, TOP, HEIGHT = 1.0, 0.6, 1.2
"""Radius of the joints on the ground, of those on the platform, and height of the platform at q = 0 [m]."""
BASE_ANGLE, TOP_ANGLE = math.radians(15.0), math.radians(45.0)
"""Half the angle between the two joints of a pair on the ground, and between the platform's joints of the same legs."""
PLATFORM, CYLINDER, ROD = 50.0, 8.0, 4.0
"""Masses [kg]; cylinder and rod are slender and 0.8 m long."""
PART = 0.8


def stewart_platform() -> Description:
    """Return a Stewart platform at rest in the middle of its range: six legs, each a universal joint and a slide.

    Legs `leg1` to `leg6` stand in pairs on a circle of 1 m and carry the platform, whose ball joints are on a circle of
    0.6 m, 1.2 m above. The platform moves on a free joint, and each leg's end is held to it: 24 velocities, 18
    constraint rows, six degrees of freedom. Slides `slide1` to `slide6` are what actuators drive; they are 0 at q = 0.

    Source: Stewart 1965 (the layout); all dimensions and masses are assumed.
    """
    flat = PLATFORM * TOP**2
    bodies = [Body("platform", PLATFORM, (0.0, 0.0, 0.0), (flat / 4, flat / 4, flat / 2, 0.0, 0.0, 0.0))]
    joints = [Connection("platform", Free(), "ground", "platform", Pose((0.0, 0.0, HEIGHT)))]
    frames, closures = [], []
    for i in range(1, 7):
        pair, side = math.radians(120.0 * ((i - 1) // 2)), 1 if i % 2 else -1
        foot = _on_circle(BASE, pair + side * BASE_ANGLE, 0.0)
        top = _on_circle(TOP, pair + side * TOP_ANGLE, 0.0)
        length, standing = _standing(foot, top + np.array([0.0, 0.0, HEIGHT]))
        bodies += [_rod(f"cylinder{i}", CYLINDER, PART / 2), _rod(f"rod{i}", ROD, length - PART / 2)]
        joints += [
            Connection(f"leg{i}", Universal(), "ground", f"cylinder{i}", Pose(tuple(foot), standing)),
            Connection(f"slide{i}", Prismatic((0.0, 0.0, 1.0)), f"cylinder{i}", f"rod{i}"),
        ]
        frames += [
            Frame(f"end{i}", f"rod{i}", Pose((0.0, 0.0, length))),
            Frame(f"ball{i}", "platform", Pose(tuple(top))),
        ]
        closures.append(PointOnPoint(f"joint{i}", f"ball{i}", f"end{i}"))
    return Description.build(
        "stewart_platform",
        tuple(bodies),
        tuple(joints),
        tuple(frames),
        source="Stewart 1965, the layout; all dimensions and masses are assumed",
        constraints=tuple(closures),
    )


def _on_circle(radius: float, angle: float, z: float) -> np.ndarray:
    return np.array([radius * math.cos(angle), radius * math.sin(angle), z])


def _standing(foot: np.ndarray, top: np.ndarray) -> tuple[float, tuple[float, float, float]]:
    """Return the distance from foot to top, and roll, pitch, yaw of a frame whose z points from one to the other."""
    x, y, z = top - foot
    return math.hypot(x, y, z), (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))


def _rod(name: str, mass: float, middle: float) -> Body:
    across = mass * PART**2 / 12
    return Body(name, mass, (0.0, 0.0, middle), (across, across, across / 100, 0.0, 0.0, 0.0))
