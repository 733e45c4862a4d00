"""Solutions of a structure: normal modes, statics, frequency responses; `solution.participation` beside them."""

from articulus.structure.solution.frequency_response import frequency_response
from articulus.structure.solution.normal_modes import NormalModes, normal_modes
from articulus.structure.solution.statics import Statics, rigid_motions

__all__ = [
    "NormalModes",
    "Statics",
    "frequency_response",
    "normal_modes",
    "rigid_motions",
]
