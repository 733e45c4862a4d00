"""A station that holds its torque equilibrium: gravity gradient takes the momentum out of its gyros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.columns import Rows, as_matrix, matrix
from articulus.simulation.loop.components.spacecraft.attitude_error import errors, read
from articulus.simulation.loop.components.tracking import names, two_signals


@dataclass(frozen=True)
class MomentumManagement(Controller):
    """Attitude and momentum control at the torque equilibrium: the craft turns until gravity gradient balances steady torques.

    torque = K (angles, rates relative to the orbit, momentum of the wheels, its integral): with the integral the mean momentum goes to zero
    and the mean attitude to that at which steady torques, of drag say, are balanced by gravity alone; no propellant is needed.

    Parameters
    ----------
    frame : str
        Body or frame that points.
    gains : 3 rows of 12 numbers
        K, such as `articulus.spacecraft.momentum_gains` gives.
    wheels : three names
        Wheels or ideal momentum stores along x, y and z of the frame, each with a `Tachometer`.
    guidance : str
        Name of the part that says where to: `HillPointing`.
    measured : two names
        Signals of attitude and rate; the true ones if not given.
    name : str

    Signals: `torque` on the craft, axes of the frame [N m], `angles` from the axes of the orbit [rad].

    Notes
    -----
    Source: Wie et al. 1989.
    """

    frame: str
    gains: Rows = quantity("N m by x", "gains on angles, rates, momentum and its integral", size="3 x 12")
    wheels: tuple[str, ...] = ()
    guidance: str = "guidance"
    measured: tuple[str, str] | None = None
    name: str = "momentum_management"

    type_name = "momentum_management"
    signals: ClassVar = {"torque": "N m", "angles": "rad"}
    inertia: ClassVar = ()

    def __post_init__(self) -> None:
        convert(self, gains=as_matrix, wheels=names, measured=two_signals)
        if len(self.wheels) != 3:
            raise wrong(self, "wheels", f"{len(self.wheels)}", "three, along x, y and z")

    def work(self, s: Scope) -> None:
        q, rate, _ = errors(s, self)
        angles = 2 * ca.if_else(q[0] < 0, -1, 1) * q[1:]
        h = ca.vertcat(*(read(s, self, "wheels", f"{w}_tachometer.momentum") for w in self.wheels))
        total = s.state("integral", [0.0] * 3)
        s.rate("integral", h)
        x = ca.vertcat(angles, rate, h, total)
        s.write("torque", ca.mtimes(matrix(s, self, "gains", (3, 12)), x))
        s.write("angles", angles)
