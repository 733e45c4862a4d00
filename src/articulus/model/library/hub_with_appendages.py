"""A rigid spacecraft hub in free flight with flexible appendages."""

from __future__ import annotations

import math

from articulus.errors import InputError
from articulus.model.mechanism import Body, Connection, Description, Fixed, Frame, Free, Pose
from articulus.model.mechanism.modes import Level, Modes
from articulus.structure import beam, modes_of, normal_modes

HUB_MASS, HUB_INERTIA = 2.0e4, (3.0e5, 2.0e5, 4.0e5, 0.0, 0.0, 0.0)
APPENDAGES = (
    ("array1", 30.0, 400.0, 0.10, 0.0, (0.0, 4.0, 0.0)),
    ("array2", 30.0, 400.0, 0.11, 180.0, (0.0, -4.0, 0.0)),
    ("radiator1", 15.0, 250.0, 0.25, 0.0, (3.0, 4.0, 0.0)),
    ("radiator2", 15.0, 250.0, 0.27, 180.0, (3.0, -4.0, 0.0)),
    ("antenna", 10.0, 80.0, 0.60, 90.0, (-4.0, 0.0, 0.0)),
    ("boom", 12.0, 120.0, 0.45, -90.0, (4.0, 0.0, 0.0)),
)
"""Name, length [m], mass [kg], first frequency [Hz], direction from y about z [deg], root [m]."""


def hub_with_appendages(
    modes: int = 141, level: Level = "consistent", damping: float = 0.005, elements: int = 20
) -> Description:
    """Return a free rigid hub of 20 t with six clamped beams; their lowest modes begin at 0.1 Hz.

    Parameters
    ----------
    modes : int
        Modes of all appendages together; each has the lowest of its own, in equal shares.
    level : str
        Terms of the deformation.
    damping : float [-]
        Ratio of every mode.
    elements : int
        Beam elements of each appendage.

    All data are assumed. Only the number of modes is that of an early simulation of a space station: 141 modes took 7 to 8
    hours for 300 s (final report on the 3rd Annual Conference on Aerospace Computational Control, JPL, 1989).
    """
    most = len(APPENDAGES) * 5 * elements
    if not isinstance(modes, int) or not 0 <= modes <= most:
        raise InputError(
            f"hub_with_appendages: modes = {modes!r}; expected an integer from 0 to {most} with {elements} elements"
        )
    each, more = divmod(modes, len(APPENDAGES))
    bodies = [Body("hub", HUB_MASS, (0.0, 0.0, 0.0), HUB_INERTIA)]
    joints = [Connection("flight", Free(), "ground", "hub")]
    frames = []
    for i, (name, length, mass, hertz, heading, root) in enumerate(APPENDAGES):
        appendage = _appendage(length, mass, hertz, each + (i < more), damping, elements)
        bodies.append(Body(name, modes=appendage.at_level(level)))
        turn = (0.0, 0.0, math.radians(heading + 90.0))
        joints.append(Connection(f"{name}_root", Fixed(), "hub", name, Pose(root, turn)))
        frames.append(Frame(f"{name}_tip", name, node="tip"))
    return Description.build(
        "hub_with_appendages",
        tuple(bodies),
        tuple(joints),
        tuple(frames),
        gravity=(0.0, 0.0, 0.0),
        source="a test model of assumed data, with the number of modes of an early space-station simulation",
    )


def _appendage(length: float, mass: float, hertz: float, modes: int, damping: float, elements: int) -> Modes:
    """Return a beam whose first frequency is that of deflection along z; along y it is 1.4 times as stiff, and it twists."""
    rho = mass / length
    EI = rho * length**4 * (2 * math.pi * hertz / 1.8751041**2) ** 2
    width = 0.05 * length
    whole = beam(
        length, EI=(EI, 1.4 * EI), mass_per_length=rho, EA=1e4 * EI / width**2, GJ=0.5 * EI,
        rotary_inertia=rho * width**2 / 12, elements=elements,
    )  # fmt: skip
    shapes = normal_modes(whole, modes).shapes
    return modes_of(whole, shapes, stations={"root": 0, "tip": elements}, damping=damping)
