"""Components, one file each. `ALL_COMPONENTS` is the list that studies, documentation and tests go by."""

from articulus.simulate.component import Component
from articulus.simulate.components.pd import PD

ALL_COMPONENTS: tuple[type[Component], ...] = (PD,)

__all__ = ["ALL_COMPONENTS", "PD"]
