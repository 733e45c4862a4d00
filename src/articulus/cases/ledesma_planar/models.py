"""The planar arm and the five-bar linkage of Ledesma & Bayo 1993."""

import articulus as art
from articulus.model.mechanism import PointOnPoint
from articulus.structure import beam_body

YOUNG, DENSITY = 14e9, 2715.0  # Pa, kg/m^3
SECTIONS = (1.2e-4, 2.3e-10), (4.0e-5, 8.5e-12)  # m^2, m^4
ABOUT_Z = art.Revolute(axis=(0, 0, 1))


def arm(modes: int = 2) -> art.Mechanism:
    """Return the open chain: two undamped links of 0.66 m in a horizontal plane, motors at shoulder and elbow.

    Hubs, tip mass and damping are not given in the paper and are zero.
    """
    m = art.Mechanism("two flexible links", gravity=(0, 0, 0))
    for name, (area, second_moment) in zip(("upper", "lower"), SECTIONS):
        EI, mass = YOUNG * second_moment, DENSITY * area
        m.flexible(name, beam_body(0.66, EI=EI, mass_per_length=mass, modes=modes, damping=None))
    m.joint("shoulder", ABOUT_Z, "ground", "upper")
    m.joint("elbow", ABOUT_Z, "upper", "lower", node="tip")
    return m.frame("tip", "lower", node="tip")


def five_bar(modes: int = 2) -> art.Mechanism:
    """Return the closed chain: four links of 0.6 m, motors at the ground (joints 1 and 3), end point at joint 5.

    The spacing of the ground joints, 0.6 m, and the damping ratio, 0.02, are assumed: without damping the outer links, hinged at both
    ends, vibrate forever while the end point is held.
    """
    m = art.Mechanism("flexible five-bar", gravity=(0, 0, 0))
    area, second_moment = SECTIONS[1]
    EI, mass = YOUNG * second_moment, DENSITY * area
    for i in (1, 2, 3, 4):
        m.flexible(f"link{i}", beam_body(0.6, EI=EI, mass_per_length=mass, modes=modes, damping=0.02))
    m.joint("joint1", ABOUT_Z, "ground", "link1")
    m.joint("joint2", ABOUT_Z, "link1", "link2", node="tip")
    m.joint("joint3", ABOUT_Z, "ground", "link3", at=(0.6, 0, 0))
    m.joint("joint4", ABOUT_Z, "link3", "link4", node="tip")
    m.frame("tip", "link2", node="tip").frame("other", "link4", node="tip")
    return m.constrain(PointOnPoint("joint5", "tip", "other"))
