"""What sensors on a frame have in common."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import check_frame, named


@dataclass(frozen=True)
class FrameSensor(Sensor):
    """A sensor on a body or frame.

    Parameters
    ----------
    frame : str
        Body or frame.
    name : str
        "<frame>_<type>" if not given.
    """

    frame: str
    name: str = ""

    def __post_init__(self) -> None:
        named(self, self.frame)

    def seen(self, s: Scope, quantity: str, *inputs: SX) -> SX:
        """Return a quantity of the frame."""
        check_frame(s, self, self.frame)
        return s.ask(quantity, *inputs, frames=[self.frame])
