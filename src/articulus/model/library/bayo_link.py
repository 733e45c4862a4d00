"""A slender link on a hinge in the horizontal plane."""

from __future__ import annotations

import numpy as np

from articulus.model.mechanism import Body, Connection, Description, Fixed, Frame, Parameter, Revolute
from articulus.model.mechanism.modes import Level
from articulus.structure import beam, beam_body, modes_of

LENGTH, AREA, SECOND_MOMENT = 0.66, 4.0e-5, 8.5e-12
YOUNG, DENSITY = 14e9, 2715.0
EI, MASS_PER_LENGTH = YOUNG * SECOND_MOMENT, DENSITY * AREA


def bayo_link(
    modes: int | None = None,
    elements: int = 6,
    damping: float = 0.0,
    level: Level = "ruthless",
    payload: float = 0.0,
) -> Description:
    """Return the outer link of an experimental arm alone: 0.66 m, 72 g, EI = 0.119 N m^2, on a hinge about z, no gravity.

    Parameters
    ----------
    modes : int or None
        Clamped-free modes; None takes the functions of the finite-element nodes themselves.
    elements : int
        Beam elements.
    damping : float [-]
        Ratio of every mode.
    level : str
        Terms of the deformation; those of the paper are linear.
    payload : float [kg]
        Mass at the tip, a parameter of that name, with moments of inertia of 1e-6 kg m^2; none if zero.

    Source: Ledesma & Bayo 1993, open chain; hub inertia, tip mass and damping are not given there and are zero.
    """
    if modes is None:
        whole = beam(LENGTH, EI=EI, mass_per_length=MASS_PER_LENGTH, elements=elements, planes="y")
        across = np.flatnonzero(whole.dofs[:, 1] != 0)
        names = [f"{'deflection' if c == 1 else 'slope'}{node}" for node, c in whole.dofs[across]]
        stations = {"root": 0, "tip": elements}
        basis = np.eye(whole.count)[:, across]
        held = modes_of(whole, basis, stations=stations, damping=damping, names=names)
    else:
        held = beam_body(
            LENGTH, EI=EI, mass_per_length=MASS_PER_LENGTH, modes=modes, elements=elements, damping=damping
        )
    bodies = [Body("link", modes=held.at_level(level))]
    joints = [Connection("hinge", Revolute((0.0, 0.0, 1.0)), "ground", "link")]
    if payload:
        bodies.append(
            Body("payload", Parameter("payload", payload), (0.0, 0.0, 0.0), (1e-6, 1e-6, 1e-6, 0.0, 0.0, 0.0))
        )
        joints.append(Connection("grip", Fixed(), "link", "payload", node="tip"))
    return Description.build(
        "bayo_link",
        tuple(bodies),
        tuple(joints),
        (Frame("tip", "link", node="tip"),),
        gravity=(0.0, 0.0, 0.0),
        source="R. Ledesma and E. Bayo, IJNME 36, 1993, open chain, link 2",
    )
