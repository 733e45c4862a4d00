"""Elements, one per file."""

from articulus.structure.element.bar import Bar
from articulus.structure.element.base import Element
from articulus.structure.element.euler_bernoulli import EulerBernoulli
from articulus.structure.element.lumped import Lumped
from articulus.structure.element.mindlin_quadrilateral import MindlinQuadrilateral
from articulus.structure.element.mindlin_quadrilateral8 import MindlinQuadrilateral8
from articulus.structure.element.mindlin_triangle import MindlinTriangle
from articulus.structure.element.scalar_spring import ScalarSpring
from articulus.structure.element.shell_quadrilateral import ShellQuadrilateral
from articulus.structure.element.shell_triangle import ShellTriangle
from articulus.structure.element.spring import Spring
from articulus.structure.element.timoshenko import Timoshenko

ALL_ELEMENTS: tuple[type[Element], ...] = (
    EulerBernoulli,
    Timoshenko,
    Bar,
    ShellTriangle,
    ShellQuadrilateral,
    MindlinTriangle,
    MindlinQuadrilateral,
    MindlinQuadrilateral8,
    Lumped,
    Spring,
    ScalarSpring,
)

__all__ = [
    "ALL_ELEMENTS",
    "Bar",
    "Element",
    "EulerBernoulli",
    "Lumped",
    "MindlinQuadrilateral",
    "MindlinQuadrilateral8",
    "MindlinTriangle",
    "ScalarSpring",
    "ShellQuadrilateral",
    "ShellTriangle",
    "Spring",
    "Timoshenko",
]
