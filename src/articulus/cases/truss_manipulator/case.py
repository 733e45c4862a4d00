"""A truss of five bays of variable geometry follows 50 poses of its end between two cubes: all nodes at once, and by a shape curve."""

import numpy as np
from scipy.spatial.transform import Rotation

from articulus.motion.trajectory import Crate
from articulus.motion.trajectory.truss import Truss, TrussMotion, follow_curve, octahedral, track_nodes

CUBES = (Crate((0.5, 0.0, 1.6), (0.3, 0.3, 0.3)), Crate((0.3, 0.68, 1.8), (0.3, 0.3, 0.3)))
"""In the way of both methods' motions without them [m]."""
MARGIN = 0.02
"""Clearance of the members [m]."""
END, TILT, ROLL = np.array([1.2, 0.3, 1.7]), 1.0, 0.3
"""Where the middle of the last face ends [m], its tilt about y and its turn about its axis [rad]."""


def path(truss: Truss) -> np.ndarray:
    """Return 50 poses from the pose at rest, slow at both ends."""
    first = truss.pose(truss.nodes)
    s = np.linspace(0, 1, 51)[1:]
    out = np.tile(np.eye(4), (50, 1, 1))
    for pose, part in zip(out, s * s * (3 - 2 * s)):
        turn = Rotation.from_rotvec([0, TILT * part, 0]) * Rotation.from_rotvec([0, 0, ROLL * part])
        pose[:3, :3] = turn.as_matrix() @ first[:3, :3]
        pose[:3, 3] = (1 - part) * first[:3, 3] + part * END
    return out


def errors(motion: TrussMotion, poses: np.ndarray) -> tuple[float, float]:
    """Return the largest errors of an end pose and of the length of a rod."""
    truss = motion.truss
    pose = max(np.abs(truss.pose(nodes) - goal).max() for nodes, goal in zip(motion.nodes, poses))
    rods = np.abs(truss.lengths(motion.nodes, truss.rods) - truss.lengths(truss.nodes, truss.rods)).max()
    return float(pose), float(rods)


def compute() -> dict:
    truss = octahedral(5)
    poses = path(truss)
    motions = {
        "all nodes": track_nodes(truss, poses, obstacles=CUBES, margin=MARGIN),
        "curve": follow_curve(truss, poses, obstacles=CUBES, margin=MARGIN),
    }
    parallel = follow_curve(truss, poses, obstacles=CUBES, margin=MARGIN, bays="parallel")
    alone = {"all nodes": track_nodes(truss, poses), "curve": follow_curve(truss, poses)}
    out: dict = {"degrees of freedom": truss.dof}
    for name, motion in motions.items():
        pose, rods = errors(motion, poses)
        out |= {
            f"{name}: 1 + largest error of an end pose": 1 + pose,
            f"{name}: 1 + largest error of a rod [m]": 1 + rods,
            f"{name}: poses with the clearance of 20 mm": int((motion.clearance > MARGIN - 1e-9).sum()),
            f"{name}: poses with all legs within their stroke": int(
                ((motion.lengths >= truss.stroke[0] - 1e-9) & (motion.lengths <= truss.stroke[1] + 1e-9))
                .all(1)
                .sum()
            ),
            f"{name}: collides where the cubes are not looked at": int(
                min(truss.clearance(nodes, CUBES) for nodes in alone[name].nodes) < 0
            ),
        }
    out["curve: 1 + difference between recursive and parallel bays [m]"] = (
        1 + np.abs(parallel.nodes - motions["curve"].nodes).max()
    )
    return out
