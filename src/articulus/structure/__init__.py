"""Linear structures, sparse and second order: elements, solutions, reduction, and the way to flexible bodies."""

from articulus.structure.beams import beam, beam_body
from articulus.structure.compliance import compliance, reduced_compliance
from articulus.structure.element import (
    ALL_ELEMENTS,
    Bar,
    Element,
    EulerBernoulli,
    Lumped,
    MindlinQuadrilateral,
    MindlinQuadrilateral8,
    MindlinTriangle,
    ScalarSpring,
    ShellQuadrilateral,
    ShellTriangle,
    Spring,
    Timoshenko,
)
from articulus.structure.flexible_body import modes_of
from articulus.structure.geometric import MOTIONS, GeometricStiffness
from articulus.structure.panels import panel
from articulus.structure.plate import Plate, Ply
from articulus.structure.reduction import (
    BalancedReduction,
    Convergence,
    Reduction,
    balanced,
    by_controllability,
    by_effective_mass,
    convergence,
    craig_bampton,
    guyan,
    modal,
    modal_measures,
    residual_flexibility,
)
from articulus.structure.section import Section
from articulus.structure.solution.frequency_response import frequency_response
from articulus.structure.solution.normal_modes import NormalModes, normal_modes
from articulus.structure.solution.participation import Participation, participation
from articulus.structure.solution.statics import Statics, rigid_motions
from articulus.structure.state_space import state_space
from articulus.structure.structure import Structure
from articulus.structure.ties import Average, Hold, RigidLink, Tie
from articulus.structure.varying import varying_body

__all__ = [
    "ALL_ELEMENTS",
    "MOTIONS",
    "Average",
    "BalancedReduction",
    "Bar",
    "Convergence",
    "Element",
    "EulerBernoulli",
    "GeometricStiffness",
    "Hold",
    "Lumped",
    "MindlinQuadrilateral",
    "MindlinQuadrilateral8",
    "MindlinTriangle",
    "NormalModes",
    "Participation",
    "Plate",
    "Ply",
    "Reduction",
    "RigidLink",
    "ScalarSpring",
    "Section",
    "ShellQuadrilateral",
    "ShellTriangle",
    "Spring",
    "Statics",
    "Structure",
    "Tie",
    "Timoshenko",
    "balanced",
    "beam",
    "beam_body",
    "by_controllability",
    "by_effective_mass",
    "compliance",
    "convergence",
    "craig_bampton",
    "frequency_response",
    "guyan",
    "modal",
    "modal_measures",
    "modes_of",
    "normal_modes",
    "panel",
    "participation",
    "reduced_compliance",
    "residual_flexibility",
    "rigid_motions",
    "state_space",
    "varying_body",
]
