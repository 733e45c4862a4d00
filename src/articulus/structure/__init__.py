"""Linear structures, sparse and second order: elements, solutions, reduction, and the way to flexible bodies."""

from articulus.structure.beams import beam, beam_body
from articulus.structure.element import ALL_ELEMENTS, Bar, Element, EulerBernoulli, Lumped, Spring, Timoshenko
from articulus.structure.flexible_body import modes_of
from articulus.structure.section import Section
from articulus.structure.solution.normal_modes import NormalModes, normal_modes
from articulus.structure.solution.statics import Statics, rigid_motions
from articulus.structure.structure import Structure

__all__ = [
    "ALL_ELEMENTS",
    "Bar",
    "Element",
    "EulerBernoulli",
    "Lumped",
    "NormalModes",
    "Section",
    "Spring",
    "Statics",
    "Structure",
    "Timoshenko",
    "beam",
    "beam_body",
    "modes_of",
    "normal_modes",
    "rigid_motions",
]
