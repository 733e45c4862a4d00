"""Planar arms of slender flexible links."""

from __future__ import annotations

import math

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism import Body, Connection, Description, Frame, Revolute
from articulus.model.mechanism.modes import Level, Modes
from articulus.structure import Structure, beam, modes_of, normal_modes

X, Y, RZ = 0, 1, 5
LENGTH, RADIUS = 1.22, 0.006
DENSITY, YOUNG = 2.78e3, 6.9e10
MASS = DENSITY * math.pi * RADIUS**2 * LENGTH
ROUND = YOUNG * math.pi * RADIUS**4 / 4
"""EI of a round link of this radius, 70.23 N m^2, which has the printed mass."""
SQUARE = YOUNG * (2 * RADIUS) ** 4 / 12
"""EI of a square link of twice this width, 119.2 N m^2, which has the printed frequencies."""


def king_arm(
    links: int = 2,
    modes: int | None = 1,
    payload: float = 0.0,
    EI: float = ROUND,
    elements: int = 32,
    level: Level = "consistent",
    damping: float = 0.0,
) -> Description:
    """Return one or two equal aluminium links of 1.22 m and 0.3836 kg in the x-y plane, gravity along -y.

    Parameters
    ----------
    links : int
        One or two.
    modes : int or None
        Clamped-free modes of each link; None takes the functions of the finite-element nodes themselves (NEFE).
    payload : float [kg]
        Point mass at the tip.
    EI : float [N m^2]
        Bending stiffness of each link: `ROUND` goes with the printed mass, `SQUARE` with the printed frequencies; the thesis mixes the two.
    elements : int
        Beam elements of each link; 8 in the thesis where modes is None.
    level : str
        Terms of the deformation; "inconsistent" is that of the thesis.
    damping : float [-]
        Ratio of every mode.

    Source: King 1988, table 3.1.
    """
    if links not in (1, 2):
        raise InputError(f"king_arm: links = {links!r}; expected 1 or 2")
    if not payload >= 0:
        raise InputError(f"king_arm: payload = {payload!r}; expected kilograms, not negative")
    bare = link(modes, EI, elements, damping).at_level(level)
    loaded = link(modes, EI, elements, damping, payload).at_level(level) if payload else bare
    chain = [loaded] if links == 1 else [bare, loaded]
    axis = Revolute((0.0, 0.0, 1.0))
    joints = [
        Connection("joint1", axis, "ground", "link1"),
        Connection("joint2", axis, "link1", "link2", node="tip"),
    ]
    return Description.build(
        "king_arm",
        tuple(Body(f"link{i + 1}", modes=held) for i, held in enumerate(chain)),
        tuple(joints[:links]),
        tuple(Frame(f"tip{i + 1}", f"link{i + 1}", node="tip") for i in range(links)),
        gravity=(0.0, -9.81, 0.0),
        source="J. O. King, Recursive Models and Controllers of Flexible Manipulators, 1988, table 3.1",
    )


def link(
    modes: int | None, EI: float = ROUND, elements: int = 32, damping: float = 0.0, payload: float = 0.0
) -> Modes:
    """Return one link along x that bends along y; its shapes are those of the link without the payload."""

    def whole(tip_mass: float) -> Structure:
        return beam(
            LENGTH, EI=EI, mass_per_length=MASS / LENGTH, elements=elements, planes="y", tip_mass=tip_mass
        )

    bare = whole(0.0)
    loaded = whole(payload) if payload else bare
    across = np.flatnonzero(bare.dofs[:, 1] != X)
    if modes is None:
        basis = np.eye(bare.count)[:, across]
        names = [f"{'slope' if c == RZ else 'deflection'}{node}" for node, c in bare.dofs[across]]
    else:
        basis = np.zeros((bare.count, modes))
        basis[across] = normal_modes(bare.keep(across), modes).shapes
        basis = basis * np.sign(bare.rows(elements)[Y] @ basis)
        names = [f"y{k + 1}" for k in range(modes)]
    stations = {"root": 0, "tip": elements}
    return modes_of(loaded, basis, stations=stations, damping=damping, names=names)
