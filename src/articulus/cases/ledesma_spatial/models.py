"""The spatial arm and the spatial closed chain of Ledesma & Bayo 1994."""

import numpy as np

import articulus as art
from articulus.model.mechanism import PointOnPoint
from articulus.model.mechanism.modes import Modes
from articulus.structure import beam_body

SIDE, LENGTH, DENSITY = 0.01, 1.0, 2715.0  # m, m, kg/m^3
TORSION = 0.1406
"""Torsion constant of a square section over the fourth power of its side."""
RAYLEIGH = 4.04e-4  # s, damping over stiffness: 0.4 % at 3.4 Hz, 3.8 % at 30 Hz
ABOUT_Z = art.Revolute(axis=(0, 0, 1))


def link(young: float, shear: float, modes: int, tip_mass: float = 0.0) -> Modes:
    """Return a link with bending modes in both planes and one torsion mode, damping in proportion to stiffness."""
    bending = SIDE**4 / 12
    data: dict = {
        "EI": (young * bending,) * 2,
        "GJ": shear * TORSION * SIDE**4,
        "mass_per_length": DENSITY * SIDE**2,
        "rotary_inertia": 2 * DENSITY * bending,
        "modes": modes,
        "planes": "both",
        "torsion": 1,
        "elements": 8,
        "tip_mass": tip_mass,
    }
    stiffness = np.diag(beam_body(LENGTH, damping=None, **data).stiffness)
    return beam_body(LENGTH, damping=tuple(RAYLEIGH / 2 * np.sqrt(stiffness)), **data)


def arm(modes: int = 1) -> art.Mechanism:
    """Return the open chain: two links, three motors at the base and one at the elbow, tip mass 0.1 kg, no gravity.

    The axes of the joints are assumed: z, y and x at the base, along x the first link, z at the elbow.
    """
    m = art.Mechanism("spatial flexible arm", gravity=(0, 0, 0))
    for name in ("axes1", "axes2"):
        m.body(name, massless="axes of the base")
    m.flexible("upper", link(70e9, 27e9, modes))
    m.flexible("lower", link(70e9, 27e9, modes, 0.1))
    m.joint("base1", ABOUT_Z, "ground", "axes1")
    m.joint("base2", art.Revolute(axis=(0, 1, 0)), "axes1", "axes2")
    m.joint("base3", art.Revolute(axis=(1, 0, 0)), "axes2", "upper")
    m.joint("elbow", ABOUT_Z, "upper", "lower", node="tip")
    return m.frame("tip", "lower", node="tip").frame("knee", "upper", node="tip")


def chain(modes: int = 1) -> art.Mechanism:
    """Return the closed chain: four links, joints 1 to 4 revolute, joint 5 spherical, motors at joints 2 and 3, no gravity.

    Assumed: parallel axes, ground joints 0.8 m apart, and the tip mass of 0.1 kg 0.1 m beside the plane of the links, at the end of link
    2, so that they twist and bend out of their plane.
    """
    m = art.Mechanism("spatial flexible chain", gravity=(0, 0, 0))
    for i in (1, 2, 3, 4):
        m.flexible(f"link{i}", link(40e9, 15e9, modes))
    m.body("payload", 0.1, inertia=(1e-5, 1e-5, 1e-5))
    m.joint("joint1", ABOUT_Z, "ground", "link1")
    m.joint("joint2", ABOUT_Z, "link1", "link2", node="tip")
    m.joint("joint4", ABOUT_Z, "ground", "link4", at=(0.8, 0, 0))
    m.joint("joint3", ABOUT_Z, "link4", "link3", node="tip")
    m.joint("grip", art.Fixed(), "link2", "payload", node="tip", child_at=(0, 0, -0.1))
    m.frame("tip", "link2", node="tip").frame("other", "link3", node="tip")
    return m.constrain(PointOnPoint("joint5", "tip", "other"))
