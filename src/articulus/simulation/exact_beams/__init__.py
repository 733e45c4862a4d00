"""Beams of large deflection: a geometrically exact one in space, and planar chains of inextensible links."""

from articulus.simulation.exact_beams.assembly import Assembly, Energy
from articulus.simulation.exact_beams.beam import SUPPORTS, Base, Beam, Body, Load, turning
from articulus.simulation.exact_beams.chain import Chain, Element
from articulus.simulation.exact_beams.dynamics import Motion, Run, simulate
from articulus.simulation.exact_beams.modes import modes
from articulus.simulation.exact_beams.statics import static
from articulus.structure import Section

__all__ = [
    "SUPPORTS",
    "Assembly",
    "Base",
    "Beam",
    "Body",
    "Chain",
    "Element",
    "Energy",
    "Load",
    "Motion",
    "Run",
    "Section",
    "modes",
    "simulate",
    "static",
    "turning",
]
