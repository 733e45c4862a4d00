"""Two flexible links between rigid joint bodies, in a plane."""

from __future__ import annotations

from collections.abc import Sequence

from articulus.errors import InputError
from articulus.model.mechanism import Body, Connection, Description, Fixed, Frame, Pose, Revolute
from articulus.model.mechanism.modes import Level
from articulus.structure import beam_body

MASSES = {"shoulder": (20.0, 0.01), "elbow": (14.0, 0.03), "tip_body": (2.0, 0.01)}
"""Mass [kg] and moment of inertia [kg m^2]."""
LENGTH = 0.9144
DENSITIES = (1.33937, 0.669685)
B1, B21, B22, BT = 0.0762, 0.0762, 0.0127, 0.0508
EI = (113.8, 14.23)
"""Assumed [N m^2]: the paper does not give it. Aluminium strips of 3 in x 1/4 in and 3 in x 1/8 in; a first frequency of
about 3 rad/s straight and 4 rad/s at 135 deg, as printed, bounds the first to 90-117 and leaves the second open."""


def padilla_arm(
    EI: Sequence[float] = EI,
    modes: int = 2,
    level: Level = "consistent",
    damping: float = 0.01,
    elements: int = 16,
) -> Description:
    """Return a two-link flexible arm in the horizontal plane: hinges about z at shoulder and elbow, no gravity.

    Parameters
    ----------
    EI : two floats [N m^2]
        Bending stiffness of the links; the default is assumed (see the module), the paper gives none.
    modes : int
        Clamped-free modes of each link; none makes the rigid arm.
    level : str
        "consistent", "inconsistent" or "ruthless".
    damping : float [-]
        Ratio of every mode.
    elements : int
        Beam elements of each link.

    Source: Padilla & von Flotow 1989, table 1. Assumed besides EI: the whole elbow mass sits at the hinge, on the side of
    link 1; b21 reaches from the end of link 1 to the hinge, b22 from there to the root of link 2, bt from the end of link 2
    to the center of the tip body.
    """
    if len(EI) != 2:
        raise InputError(f"padilla_arm: EI = {EI}; expected two numbers, one for each link [N m^2]")
    links = [
        beam_body(
            LENGTH, EI=stiff, mass_per_length=rho, modes=modes, damping=damping, elements=elements
        ).at_level(level)
        for stiff, rho in zip(EI, DENSITIES)
    ]
    axis = Revolute((0.0, 0.0, 1.0))
    bodies = (
        *(Body(name, mass, (0.0, 0.0, 0.0), (J, J, J, 0.0, 0.0, 0.0)) for name, (mass, J) in MASSES.items()),
        *(Body(f"link{i + 1}", modes=held) for i, held in enumerate(links)),
    )
    joints = (
        Connection("shoulder_hinge", axis, "ground", "shoulder"),
        Connection("root1", Fixed(), "shoulder", "link1", Pose((B1, 0.0, 0.0))),
        Connection("end1", Fixed(), "link1", "elbow", Pose((B21, 0.0, 0.0)), node="tip"),
        Connection("elbow_hinge", axis, "elbow", "link2", child_at=Pose((-B22, 0.0, 0.0))),
        Connection("end2", Fixed(), "link2", "tip_body", Pose((BT, 0.0, 0.0)), node="tip"),
    )
    return Description.build(
        "padilla_arm",
        bodies,
        joints,
        (Frame("tip1", "link1", node="tip"), Frame("tip2", "link2", node="tip")),
        gravity=(0.0, 0.0, 0.0),
        source="C. E. Padilla and A. H. von Flotow, 1989, table 1; EI and the place of the elbow mass are assumed",
    )
