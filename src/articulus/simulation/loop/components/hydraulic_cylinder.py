"""A hydraulic cylinder between two frames: valve flows, pressures of two chambers, force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.between import FrameLine, two_frames
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import clip, plain
from articulus.simulation.loop.components.joint_stop import stop_force, stop_spring
from articulus.simulation.loop.components.orifice import orifice_root

LAMINAR = 1e4
"""Pressure drop below which the flow through the valve grows in proportion to it and not to its root [Pa]."""


@dataclass(frozen=True)
class HydraulicCylinder(Actuator):
    """A piston between two chambers that a spool valve opens to supply and tank; the command opens the valve, -1 to 1.

    With stroke x = l - retracted of the piston, flows Q into the chambers and opening u = command beyond the dead band:

        V_1 = dead_volume + A_1 x,  V_2 = dead_volume + A_2 (stroke - x)
        u > 0:  Q_1 = k_f u root(P_s - p_1),  Q_2 = -k_f u root(p_2 - P_t);   u < 0 the other way round
        p_1' = beta (Q_1 - A_1 x' - leak) / V_1,   p_2' = beta (Q_2 + A_2 x' + leak) / V_2,   leak = k_l (p_1 - p_2)
        force = p_1 A_1 - p_2 A_2 - damping x' + end stops

    Positive command (unless `reversed`) and force push the frames apart. A check valve in the supply line lets no oil back to the pump. Below
    tank pressure a chamber draws oil from the tank, and above `relief` it loses oil to it, both by k_r times the difference.
    The oil follows rho = rho_0 exp(p / beta): a volume at p holds beta (exp(p / beta) - 1) - p a unit of volume, close to p^2 /
    (2 beta). Pressures are above that of the air.

    Parameters
    ----------
    first, second : str
        Bodies or frames: the eyes of barrel and rod.
    area, rod_side_area : number [m^2]
        A_1 and A_2, of the piston and of the ring around the rod.
    retracted : number [m]
        Distance of the eyes at x = 0.
    stroke : number [m]
    supply : number [Pa]
        P_s.
    flow_gain : number [m^3/(s Pa^0.5)]
        k_f: flow by root of pressure drop at full opening.
    tank : number [Pa]
        P_t.
    relief : number [Pa]
        Relief of each chamber; the supply if not given.
    relief_gain : number [m^3/(s Pa)]
        k_r.
    leakage : number [m^3/(s Pa)]
        k_l.
    bulk_modulus : number [Pa]
        beta.
    dead_volume : number [m^3]
        Dead volume of each chamber and its line with the piston at its end.
    damping : number [N s/m]
        Viscous friction.
    dead_band : number [-]
        Command below which the valve is closed; beyond it the opening starts from 0 and is 1 at full command.
    stop_stiffness : number [N/m]
        Stiffness of the end stops.
    stop_damping : number [N s/m]
    pressures : two numbers [Pa]
        At the start.
    reversed : bool
        Whether the hoses are exchanged, so that a positive command retracts.
    name : str
        "<first>_<second>_hydraulic_cylinder" if not given.

    Signals: `force` [N], `pressures` [Pa], `flows` into the chambers [m^3/s], `length` [m].
    """

    first: str
    second: str
    area: Number = quantity("m^2", "area of the piston")
    rod_side_area: Number = quantity("m^2", "area of the ring around the rod")
    retracted: Number = quantity("m", "distance of the eyes when retracted")
    stroke: Number = quantity("m", "stroke")
    supply: Number = quantity("Pa", "supply pressure")
    flow_gain: Number = quantity("m^3/(s Pa^0.5)", "flow by root of pressure drop at full opening")
    tank: Number = quantity("Pa", "tank pressure", default=0.0)
    relief: Number | None = quantity(
        "Pa", "pressure above which a chamber loses oil; supply if not given", default=None
    )
    relief_gain: Number = quantity("m^3/(s Pa)", "flow beyond tank and relief pressure", default=1e-9)
    leakage: Number = quantity("m^3/(s Pa)", "flow past the piston", default=0.0)
    bulk_modulus: Number = quantity("Pa", "of the oil", default=1.4e9)
    dead_volume: Number = quantity("m^3", "of each chamber with the piston at its end", default=1e-3)
    damping: Number = quantity("N s/m", "viscous friction", default=0.0)
    dead_band: Number = quantity("-", "command below which the valve is closed", default=0.0)
    stop_stiffness: Number = quantity("N/m", "stiffness of the end stops", default=1e8)
    stop_damping: Number = quantity("N s/m", "damping of the end stops", default=1e5)
    pressures: tuple[float, float] = quantity("Pa", "at the start", size="2", default=(0.0, 0.0))
    reversed: bool = False
    name: str = ""

    type_name = "hydraulic_cylinder"
    signals: ClassVar = {"force": "N", "pressures": "Pa", "flows": "m^3/s", "length": "m"}

    def __post_init__(self) -> None:
        above = ("area", "rod_side_area", "retracted", "stroke", "supply", "flow_gain", "bulk_modulus", "relief_gain",
                 "dead_volume", "stop_stiffness")  # fmt: skip
        least = ("tank", "leakage", "damping", "dead_band", "stop_damping")
        convert(self, **dict.fromkeys((*above, *least), as_number), pressures=plain)
        two_frames(self, self.first, self.second)
        positive(self, **{name: getattr(self, name) for name in above})
        at_least(self, 0.0, **{name: getattr(self, name) for name in least})
        if self.relief is not None:
            convert(self, relief=as_number)
        for name, low, high in (
            ("tank", self.tank, self.supply),
            ("dead_band", self.dead_band, 1.0),
            ("tank", self.tank, self.supply if self.relief is None else self.relief),
        ):
            if not value_of(low) < value_of(high):
                raise wrong(self, name, f"{value_of(low):g}", f"less than {value_of(high):g}")
        if len(self.pressures) != 2:
            raise wrong(self, "pressures", f"{len(self.pressures)} numbers", "2")

    @property
    def path(self) -> tuple[str, ...]:
        return self.first, self.second

    def drive(self, s: Scope, command: SX) -> None:
        line = FrameLine.find(s, self, self.first, self.second)
        x, stroke, rate = line.length - s.number(self.retracted), s.number(self.stroke), line.rate
        areas = ca.vertcat(s.number(self.area), -s.number(self.rod_side_area))
        beta, p = s.number(self.bulk_modulus), s.state("pressures", self.pressures)
        volumes = s.number(self.dead_volume) + ca.vertcat(areas[0] * x, areas[1] * (x - stroke))
        flows = self._valve(s, command, p) + self._relief(s, p) + self._leak(s, p)
        s.rate("pressures", beta * (flows - areas * rate) / volumes)
        s.stores(ca.dot(volumes, beta * ca.expm1(p / beta) - p))

        k, b = s.number(self.stop_stiffness), s.number(self.damping)
        stop = stop_force(x, rate, 0, stroke, k, s.number(self.stop_damping))
        spring = stop_spring(x, 0, stroke, k)
        s.stores(spring**2 / (2 * k))
        s.dissipates((spring - stop) * rate + b * rate**2)
        force = ca.dot(p, areas) - b * rate + stop
        line.pull(s, -force)
        s.write("force", force)
        s.write("pressures", p)
        s.write("flows", flows)
        s.write("length", line.length)

    # flows into the two chambers. A volume that enters at p brings p and what it holds, beta (exp(p / beta) - 1) in all.

    def _valve(self, s: Scope, command: SX, p: SX) -> SX:
        band, high, low = (s.number(x) for x in (self.dead_band, self.supply, self.tank))
        u = clip(-command if self.reversed else command, -1, 1)
        u = ca.sign(u) * ca.fmax(ca.fabs(u) - band, 0) / (1 - band)
        opening = s.number(self.flow_gain) * ca.vertcat(u, -u)
        supplied = ca.fmax(opening, 0) * orifice_root(ca.fmax(high - p, 0), LAMINAR)
        drained = ca.fmax(-opening, 0) * orifice_root(p - low, LAMINAR)
        self._through(s, supplied, high, p)
        self._through(s, -drained, low, p)
        return supplied - drained

    def _relief(self, s: Scope, p: SX) -> SX:
        low, gain = s.number(self.tank), s.number(self.relief_gain)
        high = s.number(self.supply if self.relief is None else self.relief)
        flow = gain * (ca.fmax(low - p, 0) - ca.fmax(p - high, 0))
        self._through(s, flow, low, p)
        return flow

    def _leak(self, s: Scope, p: SX) -> SX:
        leak = s.number(self.leakage) * (p[0] - p[1])
        s.dissipates(leak * (self._brought(s, p[0]) - self._brought(s, p[1])))
        return ca.vertcat(-leak, leak)

    def _through(self, s: Scope, flow: SX, line: SX, p: SX) -> None:
        """Account for flows from a line at its pressure into the chambers: its work, and what is lost on the way.

        Oil that leaves loses what it holds; oil that enters is given what it holds there by the pump.
        """
        held = self._brought(s, p) - p
        s.supplies(ca.dot(flow, line + ca.if_else(flow > 0, held, 0)))
        s.dissipates(ca.dot(flow, line - p - ca.if_else(flow > 0, 0, held)))

    def _brought(self, s: Scope, p: SX) -> SX:
        beta = s.number(self.bulk_modulus)
        return beta * ca.expm1(p / beta)
