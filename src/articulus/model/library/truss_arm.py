"""An arm of octahedral truss bays whose legs change their lengths."""

from __future__ import annotations

import numpy as np

from articulus.model.mechanism import Body, Connection, Description, Frame, Free, Pose
from articulus.motion.trajectory.truss import octahedral

SIDE, HEIGHT, STROKE, RADIUS = 0.5, 0.5, (0.3, 1.2), 0.02
"""Edge of the triangles, their distance at rest, least and largest length of a leg, radius of the members [m]."""
FACE, LEG = 1.2, 0.4
"""Mass of a triangle and of a leg [kg]; half of a leg goes with each of its ends."""


def truss_arm(bays: int = 5) -> Description:
    """Return an arm of rigid triangles, each on six legs of variable length from the one below; in space, without gravity.

    Bodies `face1`, `face2`, ... move on free joints `bay1`, `bay2`, ..., six degrees of freedom each. Frames `foot1` to `foot3` on the ground and
    `face1.1` to `face1.3`, ... are the corners: legs are what acts between them (`components.LinearActuator`, `components.SpringDamper`). Frame
    `tool` is the middle of the last triangle. `trajectory.truss.octahedral(bays)` is the same arm by its nodes.

    Parameters
    ----------
    bays : int

    Source: Naccarato & Hughes 1989 (a truss of five bays); all dimensions and masses are assumed.
    """
    truss = octahedral(bays, side=SIDE, height=HEIGHT, stroke=STROKE, radius=RADIUS)
    mass = FACE + 6 * LEG
    flat = mass * SIDE**2 / 12  # three uniform edges
    bodies, joints, frames = [], [], []
    for k, corner in enumerate(truss.nodes[:3]):
        frames.append(Frame(f"foot{k + 1}", "ground", Pose(tuple(corner))))
    for k in range(1, bays + 1):
        name, below = f"face{k}", "ground" if k == 1 else f"face{k - 1}"
        bodies.append(Body(name, mass, (0.0, 0.0, 0.0), (flat, flat, 2 * flat, 0.0, 0.0, 0.0)))
        joints.append(Connection(f"bay{k}", Free(), below, name, Pose((0.0, 0.0, HEIGHT))))
        corners = truss.nodes[3 * k : 3 * k + 3] - np.array([0.0, 0.0, k * HEIGHT])
        frames += [Frame(f"{name}.{i + 1}", name, Pose(tuple(c))) for i, c in enumerate(corners)]
    frames.append(Frame("tool", f"face{bays}", Pose((0.0, 0.0, 0.0))))
    return Description.build(
        "truss_arm",
        tuple(bodies),
        tuple(joints),
        tuple(frames),
        gravity=(0.0, 0.0, 0.0),
        source="Naccarato & Hughes 1989, five bays; all dimensions and masses are assumed",
    )
