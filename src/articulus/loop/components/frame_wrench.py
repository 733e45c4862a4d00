"""A given wrench on a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from articulus.errors import InputError
from articulus.loop.component import Disturbance, Scope
from articulus.loop.components.checks import check_frame, named
from articulus.loop.components.columns import as_in_time, at_time
from articulus.mechanism.numbers import convert, quantity


@dataclass(frozen=True)
class FrameWrench(Disturbance):
    """A moment about a frame's origin and a force, in ground axes, given over time.

    Parameters
    ----------
    frame : str
        Body or frame.
    wrench : six numbers, Table or casadi.Function of t [N m, N]
        Moment, then force.
    name : str
        "<frame>_frame_wrench" if not given.

    Signals: `wrench` [N m, N].
    """

    frame: str
    wrench: Any = quantity("N m, N", "moment about the frame's origin and force, ground axes", size="6")
    name: str = ""

    type_name = "frame_wrench"
    signals: ClassVar = {"wrench": "N m, N"}

    def __post_init__(self) -> None:
        convert(self, wrench=_six_in_time)
        named(self, self.frame)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        wrench = at_time(s, self, "wrench", 6)
        s.write("wrench", wrench)
        s.wrench(self.frame, wrench)


def _six_in_time(x: Any) -> Any:
    held = as_in_time(x)
    if isinstance(held, tuple) and len(held) != 6:
        raise InputError(f"expected 6 numbers (moment, then force), found {len(held)}")
    return held
