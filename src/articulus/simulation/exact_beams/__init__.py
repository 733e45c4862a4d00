"""Beams of large deflection: a geometrically exact one in space, and planar chains of inextensible links."""

from articulus.simulation.exact_beams.assembly import BeamAssembly, Energy
from articulus.simulation.exact_beams.beam import SUPPORTS, Base, Beam, Load, NodeBody, turning
from articulus.simulation.exact_beams.chain import BeamChain, ChainElement
from articulus.simulation.exact_beams.dynamics import BeamMotion, BeamRun, simulate
from articulus.simulation.exact_beams.modes import modes
from articulus.simulation.exact_beams.statics import static
from articulus.structure import Section

__all__ = [
    "SUPPORTS",
    "Base",
    "Beam",
    "BeamAssembly",
    "BeamChain",
    "BeamMotion",
    "BeamRun",
    "ChainElement",
    "Energy",
    "Load",
    "NodeBody",
    "Section",
    "modes",
    "simulate",
    "static",
    "turning",
]
