"""Rotary hydraulic actuator of the Caterpillar 215B: valve flow, two line pressures, torque."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive, wrong
from articulus.simulation.loop.components.columns import clip, plain
from articulus.simulation.loop.components.orifice import orifice_root

LBF_IN = 8.0
"""Torque unit psi x displacement over N m, as the source has it; lbf in to N m is 1/8.85 exactly."""

LAMINAR = 1.0
"""Pressure drop below which the flow through the valve grows in proportion to it and not to its root [psi]. Not in the
source; 0.025 percent of the lowest supply."""


@dataclass(frozen=True)
class HydraulicRotary(Actuator):
    """A motor between two lines that a spool valve opens to supply and exhaust; the command moves the spool.

        x = spool_gain command, at most +- spool_limit; 0 where |x| < dead_band
        x > 0:  Q_in = k_f x sqrt(P_s - p_in),  Q_out = k_f x sqrt(p_out - P_e)
        else:   Q_in = k_f x sqrt(p_in - P_e),  Q_out = k_f x sqrt(P_s - p_out)
        p_in'  = beta_v (Q_in - v D G),  p_out' = beta_v (v D G - Q_out)
        torque = (p_in - p_out) (D / 8) G - beta_m v

    Below a pressure drop of 1 psi the root yields to a parabola with a finite slope at zero (`LAMINAR`).
    Pressures stay between P_e and P_s: beyond them only a rate inwards counts, and what a step has run over is taken
    back in the next. The numbers are those of the source, whose units are mixed (psi, cm); 8 stands for the
    conversion of lbf in to N m.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    supply : number [psi]
        P_s.
    gear : number [-]
        G, motor speed over joint speed.
    damping : number [N m s/rad]
        beta_m.
    exhaust : number [psi]
        P_e.
    flow_gain : number
        k_f, flow by spool opening [cm] and root of pressure [psi].
    displacement : number
        D, volume a radian of the motor.
    compressibility : number
        beta_v, pressure rate by flow.
    spool_gain : number [cm/command]
        Not in the source; 0.05 makes a command of 1 the full opening.
    dead_band : number [cm]
    spool_limit : number [cm]
    pressures : two numbers [psi]
        p_in and p_out at the start.
    pressure_feedback : number [cm/psi]
        Dynamic pressure feedback of the valve, not in the source: the spool closes by this times the quick part of the load
        pressure, p_L - p_slow with p_L = p_in - p_out and feedback_time p_slow' = p_L - p_slow. It damps the hydraulic
        resonance while the valve is open; at rest and in steady motion it does nothing.
    feedback_time : number [s]
    name : str
        "<joint>_hydraulic_rotary" if not given.

    Signals: `spool` [cm], `pressures` [psi], `flows` through the valve, in and out [in^3/s, as psi times flow is a power in lbf],
    `force` [N m].

    Source: Wong 1991, section 5.4.2 and table 5.2.
    """

    joint: str = field()
    supply: Number = quantity("psi", "supply pressure")
    gear: Number = quantity("-", "motor speed over joint speed")
    damping: Number = quantity("N m s/rad", "viscous friction")
    exhaust: Number = quantity("psi", "exhaust pressure", default=0.0)
    flow_gain: Number = quantity(
        "flow/(cm psi^0.5)", "flow by spool opening and root of pressure", default=26.0
    )
    displacement: Number = quantity("flow s/rad", "volume a radian of the motor", default=0.7)
    compressibility: Number = quantity("psi/(flow s)", "pressure rate by flow", default=1000.0)
    spool_gain: Number = quantity("cm/command", "spool opening by command", default=0.05)
    dead_band: Number = quantity("cm", "opening below which the valve is closed", default=0.005)
    spool_limit: Number = quantity("cm", "largest opening either way", default=0.05)
    pressures: tuple[float, float] = quantity(
        "psi", "line pressures at the start", size="2", default=(0.0, 0.0)
    )
    pressure_feedback: Number = quantity(
        "cm/psi", "dynamic pressure feedback: closing by load pressure", default=0.0
    )
    feedback_time: Number = quantity("s", "time constant of the dynamic pressure feedback", default=0.05)
    name: str = ""

    type_name = "hydraulic_rotary"
    signals: ClassVar = {"spool": "cm", "pressures": "psi", "flows": "in^3/s", "force": "N m"}

    def __post_init__(self) -> None:
        numbers = ("supply", "gear", "damping", "exhaust", "flow_gain", "displacement", "compressibility")
        spool = ("spool_gain", "dead_band", "spool_limit", "pressure_feedback", "feedback_time")
        convert(self, **dict.fromkeys((*numbers, *spool), as_number), pressures=plain)
        name_after(self, self.joint)
        positive(
            self,
            feedback_time=self.feedback_time,
            flow_gain=self.flow_gain,
            displacement=self.displacement,
            gear=self.gear,
        )
        at_least(self, 0.0, damping=self.damping, dead_band=self.dead_band, spool_limit=self.spool_limit)
        if len(self.pressures) != 2:
            raise wrong(self, "pressures", f"{len(self.pressures)} numbers", "2, p_in and p_out")
        if not value_of(self.exhaust) < value_of(self.supply):
            raise wrong(
                self,
                "exhaust",
                f"{value_of(self.exhaust):g} psi",
                f"less than supply = {value_of(self.supply):g}",
            )

    def drive(self, s: Scope, command: SX) -> None:
        one_dof(s, self, self.joint)
        v, G, D = s.joint_v(self.joint), s.number(self.gear), s.number(self.displacement)
        low, high = s.number(self.exhaust), s.number(self.supply)
        p = s.state("pressures", self.pressures)
        p_in, p_out = ca.vertsplit(clip(p, low, high))
        x = self._spool(s, command, p_in - p_out)

        k_f, beta_v, beta_m = (s.number(n) for n in (self.flow_gain, self.compressibility, self.damping))
        flow_in = k_f * x * orifice_root(ca.if_else(x > 0, high - p_in, p_in - low), LAMINAR)
        flow_out = k_f * x * orifice_root(ca.if_else(x > 0, p_out - low, high - p_out), LAMINAR)
        swept = v * D * G
        s.rate(
            "pressures",
            _bounded_rate(s, p, beta_v * ca.vertcat(flow_in - swept, swept - flow_out), low, high),
        )

        torque = (p_in - p_out) * (D / LBF_IN) * G - beta_m * v
        s.write("spool", x)
        s.write("pressures", ca.vertcat(p_in, p_out))
        s.write("flows", ca.vertcat(flow_in, flow_out))
        s.write("force", torque)
        s.force(self.joint, torque)

    def _spool(self, s: Scope, command: SX, load: SX) -> SX:
        limit = s.number(self.spool_limit)
        x = s.number(self.spool_gain) * command
        if isinstance(self.pressure_feedback, Varying) or self.pressure_feedback:
            slow = s.state("slow_load", self.pressures[0] - self.pressures[1])
            s.rate("slow_load", (load - slow) / s.number(self.feedback_time))
            x = x - s.number(self.pressure_feedback) * (load - slow)
        x = clip(x, -limit, limit)
        return ca.if_else(ca.fabs(x) < s.number(self.dead_band), 0, x)


def _bounded_rate(s: Scope, p: SX, rate: SX, low: SX, high: SX) -> SX:
    """Return the rate that keeps p between bounds: none outwards beyond them, and back by what lies beyond in a step."""
    outwards = ca.logic_or(ca.logic_and(p >= high, rate > 0), ca.logic_and(p <= low, rate < 0))
    return ca.if_else(outwards, 0, rate) + (clip(p, low, high) - p) / s.h
