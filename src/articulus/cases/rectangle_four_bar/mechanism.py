"""A body on a slide that carries a rectangular four-bar linkage; geometry and masses are not in the paper.

The corners are inferred: they give the printed constraint matrix. Masses (1 kg, slender rods along the sides) are assumed.
"""

import numpy as np

from articulus.model.mechanism import (
    Body,
    Connection,
    Description,
    Frame,
    LoopJoint,
    Pose,
    Prismatic,
    Revolute,
)

HALF = float(np.sqrt(0.5))
HINGE = Revolute((HALF, -HALF, 0.0))
R2, R3, R4, R5 = (np.array(p) for p in ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (1.0, 1.0, 2.0), (1.0, 1.0, 0.0)))
SIDES = {"body1": (R2, R5), "body2": (R2, R3), "body3": (R3, R4), "body4": (R4, R5)}


def rectangle_four_bar() -> Description:
    """Return the mechanism with hinge R5 cut; all body frames are parallel to the ground at zero angles."""
    corners = {name: start for name, (start, _) in SIDES.items()}
    parents = {"body1": "ground", "body2": "body1", "body3": "body2", "body4": "body3"}
    joints = [Connection("T1", Prismatic((HALF, HALF, 0.0)), "ground", "body1")]
    for name, hinge in (("body2", "R2"), ("body3", "R3"), ("body4", "R4")):
        parent = parents[name]
        joints.append(Connection(hinge, HINGE, parent, name, Pose(tuple(corners[name] - corners[parent]))))
    return Description.build(
        "rectangle_four_bar",
        tuple(_rod(name, end - start) for name, (start, end) in SIDES.items()),
        tuple(joints),
        (Frame("body4_R5", "body4", Pose(tuple(R5 - R4))), Frame("body1_R5", "body1", Pose(tuple(R5 - R2)))),
        constraints=(LoopJoint("R5", HINGE, "body1_R5", "body4_R5"),),
        gravity=(0.0, 0.0, -9.81),
        source="Nikravesh, Gim, Arabyan & Rein 1989, figure 4; corners inferred, masses assumed",
    )


def _rod(name: str, side: np.ndarray) -> Body:
    """Return a rod of 1 kg along a side that begins at the body's origin; its moment along itself does not act."""
    J = (side @ side * np.eye(3) - 0.99 * np.outer(side, side)) / 12
    return Body(name, 1.0, tuple(side / 2), (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
