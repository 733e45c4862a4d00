"""Linear structures, sparse and second order: elements, solutions, reduction, and the way to flexible bodies.

The front list has what most structures need. Beside it: `structure.reduction` (all reductions and what they return),
`structure.solution` (modes, statics, responses and their results), `structure.element`, `structure.ties`,
`structure.geometric`, `structure.compliance`, `structure.heat`, `structure.plate`.
"""

from articulus.model.late import name_finder
from articulus.structure import compliance as compliance
from articulus.structure import element as element
from articulus.structure import geometric as geometric
from articulus.structure import heat as heat
from articulus.structure import reduction as reduction
from articulus.structure import solution as solution
from articulus.structure import ties as ties
from articulus.structure.beams import beam, beam_body
from articulus.structure.element import (
    Bar,
    EulerBernoulli,
    Lumped,
    MindlinQuadrilateral,
    MindlinQuadrilateral8,
    MindlinTriangle,
    ShellQuadrilateral,
    ShellTriangle,
    Spring,
    Timoshenko,
)
from articulus.structure.flexible_body import modes_of
from articulus.structure.panels import panel
from articulus.structure.plate import Plate
from articulus.structure.reduction import craig_bampton, guyan, modal
from articulus.structure.section import Section
from articulus.structure.solution.frequency_response import frequency_response
from articulus.structure.solution.normal_modes import normal_modes
from articulus.structure.solution.statics import Statics
from articulus.structure.state_space import state_space
from articulus.structure.structure import Structure
from articulus.structure.ties import Hold, RigidLink
from articulus.structure.varying import varying_body

__getattr__ = name_finder(
    __name__, "reduction", "solution", "element", "ties", "geometric", "compliance", "heat", "plate"
)

__all__ = [
    "Bar",
    "EulerBernoulli",
    "Hold",
    "Lumped",
    "MindlinQuadrilateral",
    "MindlinQuadrilateral8",
    "MindlinTriangle",
    "Plate",
    "RigidLink",
    "Section",
    "ShellQuadrilateral",
    "ShellTriangle",
    "Spring",
    "Statics",
    "Structure",
    "Timoshenko",
    "beam",
    "beam_body",
    "craig_bampton",
    "frequency_response",
    "guyan",
    "modal",
    "modes_of",
    "normal_modes",
    "panel",
    "state_space",
    "varying_body",
]
