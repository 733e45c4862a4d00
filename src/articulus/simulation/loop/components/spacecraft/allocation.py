"""From the torque that a law asks for to commands of wheels, gyros, thrusters and coils."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Component, Controller, Scope
from articulus.simulation.loop.components.checks import at_least, positive, sampling, wrong
from articulus.simulation.loop.components.columns import Rows, as_matrix, matrix, recall
from articulus.simulation.loop.components.spacecraft.attitude_error import read
from articulus.simulation.loop.components.tracking import names


def command_named(s: Scope, component: Component, actuators: Sequence[str], value: SX) -> None:
    """Command actuators by their names; raise InputError for one that the run has not."""
    every = SX.zeros(len(s.command_names))
    for k, name in enumerate(actuators):
        if name not in s.command_names:
            raise wrong(
                component,
                "actuators",
                f"'{name}'",
                "the names of actuators",
                did_you_mean(name, s.command_names),
            )
        every[s.command_names.index(name)] = value[k]
    s.command(every)


def _axes(s: Scope, component: Any) -> SX:
    """Return the axes as columns, (3, n)."""
    return matrix(s, component, "axes", (len(component.actuators), 3)).T


@dataclass(frozen=True)
class TorqueAllocation(Controller):
    """Commands of wheels for a torque on the craft: the smallest ones by the pseudoinverse, and speeds evened out in the null space.

    With the axes G of n wheels: u = -G+ torque - gain (1 - G+ G) (speeds - their mean along the null space), G+ = G' (G G')^-1.
    What moves in the null space puts no torque on the craft.

    Parameters
    ----------
    torque : str
        Signal of the torque on the craft, such as "mrp_feedback.torque".
    axes : rows of three numbers [-]
        Axis of each wheel, in the axes of the torque.
    actuators : names
        The wheels.
    damping : number [N m s/rad]
        Gain of the null space on the speeds, for which every wheel has a `Tachometer`; 0: none.
    name : str

    Notes
    -----
    Source: Schaub & Junkins 2018, section 8.7; Markley & Crassidis 2014, section 7.3.
    """

    torque: str
    axes: Rows = quantity("-", "axis of each wheel", size="wheels x 3")
    actuators: tuple[str, ...] = ()
    damping: Number = quantity("N m s/rad", "gain of the null space on the speeds", default=0.0)
    name: str = "torque_allocation"

    type_name = "torque_allocation"

    def __post_init__(self) -> None:
        convert(self, axes=as_matrix, actuators=names, damping=as_number)
        at_least(self, 0.0, damping=self.damping)
        if len(self.actuators) < 3:
            raise wrong(
                self, "actuators", f"{len(self.actuators)}", "at least 3, so that every torque can be had"
            )

    def work(self, s: Scope) -> None:
        G, torque = _axes(s, self), read(s, self, "torque", self.torque)
        inverse = ca.mtimes(G.T, ca.inv(ca.mtimes(G, G.T)))
        command = -ca.mtimes(inverse, torque)
        if self.damping != 0:
            speeds = ca.vertcat(
                *(read(s, self, "damping", f"{name}_tachometer.speed") for name in self.actuators)
            )
            command -= s.number(self.damping) * (speeds - ca.mtimes([inverse, G, speeds]))
        command_named(s, self, self.actuators, command)


@dataclass(frozen=True)
class GyroSteering(Controller):
    """Rates of the gimbals of control-moment gyros for a torque on the craft, robust near singular positions.

    With A_i = -H_i d(h_i)/d(angle_i), the torque by each gimbal's rate: rates = A' (A A' + k 1)^-1 torque, k = k0 H^2 exp(-10 m^2), where
    the measure m = sqrt(det(A A')) / H^3 tells the distance from a singular position. Momentum of the gyros turns with the craft; what
    that asks for, -w x h, is left to the law's feedforward.

    Parameters
    ----------
    torque : str
        Signal of the torque on the craft.
    gimbals, spins : rows of three numbers [-]
        Axes of each gyro as in `ControlMomentGyro`, in the axes of the torque.
    momentum : number [N m s]
        Momentum of each rotor.
    actuators : names
        The gyros.
    angles : numbers [rad]
        Gimbal angles at the start, one each; the law keeps count by its own rates.
    robustness : number [-]
        k0; 0: none, and rates grow without bound at a singular position.
    name : str

    Signals: `measure` of singularity [-], `angles` as counted [rad].

    Notes
    -----
    Source: Bedrossian et al. 1990 (singularity robust inverse); Schaub & Junkins 2018, section 8.8.
    """

    torque: str
    gimbals: Rows = quantity("-", "gimbal axis of each gyro", size="gyros x 3")
    spins: Rows = quantity("-", "spin axis of each gyro at angle 0", size="gyros x 3")
    momentum: Number = quantity("N m s", "momentum of each rotor")
    actuators: tuple[str, ...] = ()
    angles: tuple[float, ...] = quantity("rad", "gimbal angles at the start", size="gyros", default=())
    robustness: Number = quantity("-", "k0 of the robust inverse", default=0.01)
    name: str = "gyro_steering"

    type_name = "gyro_steering"
    signals: ClassVar = {"measure": "-", "angles": "rad"}

    def __post_init__(self) -> None:
        convert(
            self,
            gimbals=as_matrix,
            spins=as_matrix,
            actuators=names,
            momentum=as_number,
            robustness=as_number,
        )
        positive(self, momentum=self.momentum)
        at_least(self, 0.0, robustness=self.robustness)
        start = tuple(float(x) for x in self.angles) or (0.0,) * len(self.actuators)
        object.__setattr__(self, "angles", start)
        if not 3 <= len(self.actuators) == len(start):
            raise wrong(
                self,
                "actuators",
                f"{len(self.actuators)} with {len(start)} angles",
                "at least 3, and as many angles",
            )

    def work(self, s: Scope) -> None:
        torque, count = read(s, self, "torque", self.torque), len(self.actuators)
        g, x = (matrix(s, self, field, (count, 3)).T for field in ("gimbals", "spins"))
        H, angles = s.number(self.momentum), s.state("angles", self.angles)
        turned = [
            ca.cos(angles[k]) * ca.cross(g[:, k], x[:, k]) - ca.sin(angles[k]) * x[:, k] for k in range(count)
        ]
        A = -ca.horzcat(*turned)
        square = ca.mtimes(A, A.T)
        measure = ca.sqrt(ca.fmax(ca.det(square), 0))
        k = s.number(self.robustness) * ca.exp(-10 * measure**2)
        rates = ca.mtimes(A.T, ca.mtimes(ca.inv(square + k * SX.eye(3)), torque / H))
        s.rate("angles", rates)
        s.write("measure", measure)
        s.write("angles", angles)
        command_named(s, self, self.actuators, rates)


@dataclass(frozen=True)
class SchmittTrigger(Controller):
    """Thrusters on and off for a torque on the craft, with hysteresis and the shortest pulse: a period.

    Each thruster's share, max(0, b . torque) / |b|^2 with the torque b of its full thrust, turns it on above `on` and off below `off`.

    Parameters
    ----------
    torque : str
        Signal of the torque on the craft.
    thrust : number [N]
        Thrust of each thruster while it is on.
    torques : rows of three numbers [N m]
        Torque of each thruster at that thrust, in the axes of the torque.
    actuators : names
        The thrusters.
    period : number [s]
        Sampling period: no pulse is shorter, so that thrust times period is the smallest impulse.
    on, off : number [-]
        Parts of a thruster's torque, off <= on.
    name : str

    Signals: `firing`, 0 or 1 of each [-].
    """

    torque: str
    thrust: Number = quantity("N", "thrust while on")
    torques: Rows = quantity("N m", "torque of each thruster", size="thrusters x 3")
    actuators: tuple[str, ...] = ()
    period: float = quantity("s", "sampling period, the shortest pulse", default=0.1)
    on: Number = quantity("-", "share above which it is turned on", default=0.6)
    off: Number = quantity("-", "share below which it is turned off", default=0.2)
    name: str = "schmitt_trigger"

    type_name = "schmitt_trigger"
    signals: ClassVar = {"firing": "-"}

    def __post_init__(self) -> None:
        convert(self, torques=as_matrix, actuators=names, thrust=as_number, on=as_number, off=as_number)
        sampling(self)
        positive(self, thrust=self.thrust, on=self.on)
        if not 0 <= value_of(self.off) <= value_of(self.on):
            raise wrong(
                self,
                "off",
                f"{value_of(self.off):g}",
                f"from 0 to {value_of(self.on):g}, where it is turned on",
            )

    def work(self, s: Scope) -> None:
        torque, count = read(s, self, "torque", self.torque), len(self.actuators)
        B = matrix(s, self, "torques", (count, 3))
        before = s.memory("firing", [0.0] * count)
        shares = ca.mtimes(B, torque) / ca.sum2(B**2)
        firing = ca.if_else(shares > s.number(self.on), 1, ca.if_else(shares < s.number(self.off), 0, before))
        s.remember("firing", firing)
        s.write("firing", firing)
        command_named(s, self, self.actuators, s.number(self.thrust) * firing)


@dataclass(frozen=True)
class MomentumDumping(Controller):
    """Dipoles of coils that take momentum out of wheels: dipole = B x (gain h) / |B|^2, h the momentum of all wheels.

    The torque of the coils is -gain times the part of h across the field B; an orbit turns B, so that all of it goes in time.

    Parameters
    ----------
    field : str
        Signal of the magnetic field in the craft's axes, such as that of a `Magnetometer`.
    wheels : names
        The wheels, each with a `Tachometer`; their axes are rows of `wheel_axes`.
    wheel_axes : rows of three numbers [-]
    axes : rows of three numbers [-]
        Axis of each coil.
    actuators : names
        The coils.
    gain : number [1/s]
    name : str

    Signals: `momentum` of the wheels, craft's axes [N m s].

    Notes
    -----
    Source: Markley & Crassidis 2014, section 7.5.
    """

    field: str
    wheels: tuple[str, ...] = ()
    wheel_axes: Rows = quantity("-", "axis of each wheel", size="wheels x 3", default=((1.0, 0.0, 0.0),))
    axes: Rows = quantity("-", "axis of each coil", size="coils x 3", default=((1.0, 0.0, 0.0),))
    actuators: tuple[str, ...] = ()
    gain: Number = quantity("1/s", "torque by momentum", default=0.001)
    name: str = "momentum_dumping"

    type_name = "momentum_dumping"
    signals: ClassVar = {"momentum": "N m s"}

    def __post_init__(self) -> None:
        convert(self, wheels=names, wheel_axes=as_matrix, axes=as_matrix, actuators=names, gain=as_number)
        at_least(self, 0.0, gain=self.gain)

    def work(self, s: Scope) -> None:
        B = read(s, self, "field", self.field)
        held = ca.vertcat(*(read(s, self, "wheels", f"{wheel}_tachometer.momentum") for wheel in self.wheels))
        h = ca.mtimes(matrix(s, self, "wheel_axes", (len(self.wheels), 3)).T, held)
        dipole = -ca.cross(B, s.number(self.gain) * h) / ca.sumsqr(B)
        coils = matrix(s, self, "axes", (len(self.actuators), 3))
        s.write("momentum", h)
        command_named(s, self, self.actuators, ca.mtimes(coils, dipole))


@dataclass(frozen=True)
class BDotDamping(Controller):
    """Coils that stop a craft's tumbling by the magnetic field alone: dipole = -gain dB/dt, by differences of a magnetometer.

    Parameters
    ----------
    field : str
        Signal of the magnetic field in the craft's axes.
    axes : rows of three numbers [-]
        Axis of each coil.
    actuators : names
        The coils.
    period : number [s]
        Sampling period, over which differences are taken.
    gain : number [A m^2 s/T]
    name : str

    Notes
    -----
    Source: Markley & Crassidis 2014, section 7.5.1.
    """

    field: str
    axes: Rows = quantity("-", "axis of each coil", size="coils x 3", default=((1.0, 0.0, 0.0),))
    actuators: tuple[str, ...] = ()
    period: float = quantity("s", "sampling period", default=1.0)
    gain: Number = quantity("A m^2 s/T", "dipole by rate of the field", default=1e5)
    name: str = "bdot_damping"

    type_name = "bdot_damping"

    def __post_init__(self) -> None:
        convert(self, axes=as_matrix, actuators=names, gain=as_number)
        sampling(self)
        at_least(self, 0.0, gain=self.gain)

    def work(self, s: Scope) -> None:
        B = read(s, self, "field", self.field)
        before = recall(s, "before", B)
        s.remember("before", B)
        dipole = -s.number(self.gain) * (B - before) / self.period
        coils = matrix(s, self, "axes", (len(self.actuators), 3))
        command_named(s, self, self.actuators, ca.mtimes(coils, dipole))
