"""White noise on a joint or on a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import (
    at_least,
    check_frame,
    find_joint,
    name_after,
    sampling,
    wrong,
)
from articulus.simulation.loop.components.columns import column


@dataclass(frozen=True)
class WhiteNoise(Disturbance):
    """A random force of flat two-sided power spectral density S, so that its autocorrelation is S delta(t).

    It is held over a step h (over a period when sampled) with variance S / h, which keeps the density at low
    frequencies whatever the step is. The numbers come from the seed of the run.

    Parameters
    ----------
    density : numbers [(N m)^2 s or N^2 s]
        S for each degree of freedom of the joint, or for moment and force on the frame, ground axes; one for all or one each.
    joint, frame : str
        Where it acts: exactly one of the two.
    period : number [s]
        Time for which each number is held; a step if not given.
    name : str
        "<joint or frame>_white_noise" if not given.

    Signals: `force` [N m or N].
    """

    density: Any = quantity("(N m)^2 s or N^2 s", "two-sided power spectral density", size="1 or nv or 6")
    joint: str = ""
    frame: str = ""
    period: float | None = quantity(
        "s", "time for which each number is held; a step if not given", default=None
    )
    name: str = ""

    type_name = "white_noise"
    signals: ClassVar = {"force": "N m or N"}

    def __post_init__(self) -> None:
        convert(self, density=as_numbers)
        name_after(self, self.joint or self.frame)
        if bool(self.joint) == bool(self.frame):
            raise wrong(self, "joint, frame", f"{self.joint!r} and {self.frame!r}", "exactly one of the two")
        at_least(self, 0.0, density=self.density)
        sampling(self)

    def work(self, s: Scope) -> None:
        n = find_joint(s, self, self.joint).joint.nv if self.joint else 6
        h = s.h if self.period is None else s.number(self.period)
        force = ca.sqrt(column(s, self, "density", n) / h) * s.noise(n)
        s.write("force", force)
        if self.joint:
            s.force(self.joint, force)
        else:
            check_frame(s, self, self.frame)
            s.wrench(self.frame, force)
