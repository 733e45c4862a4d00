"""A given wrench on a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import check_frame, name_after
from articulus.simulation.loop.components.columns import at_time, in_time


@dataclass(frozen=True)
class FrameWrench(Disturbance):
    """A moment about a frame's origin and a force, given over time, in ground axes or in the axes of the frame.

    Parameters
    ----------
    frame : str
        Body or frame.
    wrench : six numbers, Table or casadi.Function of t [N m, N]
        Moment, then force.
    follows : bool
        Whether the wrench is given in the axes of the frame and turns with it.
    name : str
        "<frame>_frame_wrench" if not given.

    Signals: `wrench` in ground axes [N m, N]; also an input of linear models, `linearize(inputs=["<name>.wrench"])`.
    """

    frame: str
    wrench: Any = quantity("N m, N", "moment about the frame's origin and force", size="6")
    follows: bool = False
    name: str = ""

    type_name = "frame_wrench"
    signals: ClassVar = {"wrench": "N m, N"}

    def __post_init__(self) -> None:
        convert(self, wrench=in_time(6))
        name_after(self, self.frame)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        wrench = at_time(s, self, "wrench", 6)
        if self.follows:
            R = s.ask("pose", s.q, frames=[self.frame])[:3, :3]
            wrench = ca.vertcat(ca.mtimes(R, wrench[:3]), ca.mtimes(R, wrench[3:]))
        s.write("wrench", wrench)
        s.wrench(self.frame, s.read(f"{self.name}.wrench"))  # read: an input of linear models
