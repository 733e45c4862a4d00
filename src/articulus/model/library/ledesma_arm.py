"""Two slender links in the horizontal plane, the inner one stiffer."""

from __future__ import annotations

from articulus.model.mechanism import Body, Connection, Description, Frame, Revolute
from articulus.model.mechanism.modes import Level
from articulus.structure import beam_body

LENGTH, YOUNG, DENSITY = 0.66, 14e9, 2715.0
AREAS, SECOND_MOMENTS = (1.2e-4, 4.0e-5), (2.3e-10, 8.5e-12)


def ledesma_arm(
    modes: int = 2, elements: int = 8, damping: float = 0.0, level: Level = "consistent"
) -> Description:
    """Return an experimental arm of two flexible links of 0.66 m on hinges about z, no gravity; frame "tip" at its end.

    Parameters
    ----------
    modes : int
        Clamped-free modes of each link.
    elements : int
        Beam elements of each link.
    damping : float [-]
        Ratio of every mode.
    level : str
        Terms of the deformation: "consistent", "inconsistent" or "ruthless".

    Source: Ledesma & Bayo 1993, open chain; hubs, tip mass and damping are not given there: no hubs, no tip mass, and the damping that is chosen.
    """
    links = [
        beam_body(
            LENGTH, EI=YOUNG * I, mass_per_length=DENSITY * A, modes=modes, elements=elements, damping=damping
        ).at_level(level)
        for A, I in zip(AREAS, SECOND_MOMENTS)
    ]
    axis = Revolute((0.0, 0.0, 1.0))
    return Description.build(
        "ledesma_arm",
        (Body("upper", modes=links[0]), Body("lower", modes=links[1])),
        (
            Connection("shoulder", axis, "ground", "upper"),
            Connection("elbow", axis, "upper", "lower", node="tip"),
        ),
        (Frame("tip", "lower", node="tip"),),
        gravity=(0.0, 0.0, 0.0),
        source="R. Ledesma and E. Bayo, International Journal for Numerical Methods in Engineering 36, 1993",
    )
