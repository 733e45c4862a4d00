"""Derivatives of all components at, just off and far from their kinks: finite, and equal to one-sided differences.

Implicit methods and linear models take the derivatives of everything that a component does: rates of its states, forces
(through the accelerations), signals, and what a sampled one holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import Pose, value_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import (
    ALL_COMPONENTS,
    Backlash,
    Cable,
    DeadBand,
    FramePose,
    GroundContact,
    HydraulicCylinder,
    HydraulicRotary,
    JointStop,
    LinearActuator,
    Measured,
    Motor,
    PiezoPair,
    ProofMass,
    RateLimit,
    Saturation,
    SpringDamper,
    Torque,
)
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System

from .support import floater, slider
from .test_components import DIGGER, EXAMPLES, HOSTS, companions

STEP = 0.01
OFF = 1e-6
"""How far beside a kink the derivatives are compared, in units of the state that passes it."""


@dataclass(frozen=True)
class Kink:
    """A state at which something that a component does bends or jumps.

    Parameters
    ----------
    along : str and int
        State or command that passes the kink, such as ("q", 1); the kink is at its value in `at`.
    at : dict of str to numbers
        Values of states other than those at the start; "command" are commands from outside.
    jumps : bool
        Whether a value or slope is infinite across it, so that nothing but finiteness can be asked at the kink itself.
    """

    along: tuple[str, int]
    at: dict[str, Sequence[float]] = field(default_factory=dict)
    jumps: bool = False
    component: Callable[[], Component] | None = None
    mechanism: Callable[[], art.Mechanism] | None = None


def _pitched() -> art.Mechanism:
    """Return a wheel on axles along z and y, with a frame that stands at a pitch of exactly 90 degrees at q = 0."""
    m = art.Mechanism("pitched", gravity=(0, 0, 0))
    for name, axis, parent in (("fork", (0, 0, 1), "ground"), ("disc", (0, 1, 0), "fork")):
        m.body(name, mass=1.0, inertia=(0.5, 0.5, 0.5))
        m.joint(f"{name}_axle", art.Revolute(axis=axis), parent=parent, child=name)
    return m.frame("nose", "disc", at=Pose(quaternion=(1, 0, 1, 0)))


def _stop() -> JointStop:
    return JointStop("lift", stiffness=10.0, damping=0.5, lower=-1.0, upper=1.0)


def _contact() -> GroundContact:
    return GroundContact("carriage", stiffness=1e4, dissipation=0.2, friction=0.6)


def _hull_contact() -> GroundContact:
    return GroundContact("hull", stiffness=1e4, dissipation=0.2, friction=0.6)


def _mass() -> ProofMass:
    return ProofMass("carriage", mass=1.0, stroke=0.1, stop_stiffness=10.0, stop_damping=1.0)


def _valve() -> HydraulicRotary:
    return HydraulicRotary("lift", supply=4000.0, gear=2.0, damping=1.0)


def _hung() -> art.Mechanism:
    return slider().frame("anchor", "ground")


def _rope() -> SpringDamper:
    return SpringDamper("anchor", "carriage", 10.0, 5.0, length=1.0, side="tension")


def _progressive() -> SpringDamper:
    rows = ((1.0, 0), (1.2, 2), (1.5, 20))
    return SpringDamper("anchor", "carriage", forces=rows, losses=((-1, -1), (0, 0), (1, 3)))


def _stay() -> Cable:
    return Cable(("anchor", "carriage"), stiffness=10.0, length=1.0)


def _pusher() -> LinearActuator:
    return LinearActuator("anchor", "carriage", limit=3.0)


def _ram() -> HydraulicCylinder:
    return HydraulicCylinder(
        "anchor", "carriage", 1e-3, 6e-4, retracted=1.0, stroke=1.0, supply=9e4, flow_gain=1e-6, bulk_modulus=1e5,
        stop_stiffness=10.0, dead_band=0.1, name="ram",
    )  # fmt: skip


CHAMBERS = "ram.pressures"
OPEN = {"command": [0.5], "v": [0.1]}
SHUT = {"command": [0.0]}
PRESSURES = "lift_hydraulic_rotary.pressures"
KINKS: dict[type, list[Kink]] = {
    Torque: [Kink(("command", 0), {"command": [3.0]}, component=lambda: Torque("lift", limit=3.0))],
    Motor: [
        Kink(("command", 0), {"command": [5.0]}, component=lambda: Motor("lift", 1.0, 1.0, 1.0, voltage_limit=5.0))
    ],
    Saturation: [Kink(("command", 0), {"command": [b]}, component=lambda: Saturation("lift", -1.0, 1.0)) for b in (-1, 1)],
    DeadBand: [Kink(("command", 0), {"command": [b]}, component=lambda: DeadBand("lift", 0.1)) for b in (-0.1, 0.1)],
    RateLimit: [Kink(("command", 0), {"command": [STEP]}, component=lambda: RateLimit("lift", 1.0))],
    PiezoPair: [Kink(("command", 0), {"command": [50.0]})],
    ProofMass: [
        Kink(("lift.stroke", 0), {"lift.stroke": [b], "lift.speed": [w]}, jumps=bool(w), component=lambda: _named(_mass()))
        for b in (-0.1, 0.1)
        for w in (0.0, 0.3)
    ],
    HydraulicRotary: [
        *(Kink((PRESSURES, 0), {PRESSURES: p, **OPEN}, jumps=True, component=_valve) for p in ([0, 0], [4000, 0])),
        *(Kink((PRESSURES, i), {PRESSURES: p, **SHUT}, component=_valve) for p in ([0, 0], [4000, 4000]) for i in (0, 1)),
        *(Kink((PRESSURES, 0), {PRESSURES: [p, 100], **OPEN}, component=_valve) for p in (1.0, 3999.0)),
        Kink(("command", 0), {PRESSURES: [900, 100], "command": [0.1]}, jumps=True, component=_valve),
        Kink(("command", 0), {PRESSURES: [900, 100], "command": [1.0]}, component=_valve),
    ],
    JointStop: [
        Kink(("q", 0), {"q": [b], "v": [v]}, jumps=bool(v), component=_stop) for b in (-1, 1) for v in (0.0, 0.3, -0.3)
    ]
    + [Kink(("v", 0), {"q": [1.1], "v": [-2.0]}, component=_stop)],
    Backlash: [
        Kink(("q", 0), {"q": [b], "v": [v]}, jumps=bool(v), component=lambda: Backlash("lift", 2.0, 10.0, 0.5))
        for b in (-1, 1)
        for v in (0.0, 0.3)
    ],
    GroundContact: [
        *(Kink(("q", 0), {"q": [0.0], "v": [v]}, component=_contact) for v in (0.0, 1.0, -1.0, 5.0)),
        Kink(("v", 0), {"q": [-0.1], "v": [1 / 0.3]}, component=_contact),
        Kink(("v", 3), {"q": [1, 0, 0, 0, 0, 0, -0.01]}, component=_hull_contact, mechanism=floater),
        Kink(("q", 6), {"q": [1, 0, 0, 0, 0, 0, 0.0]}, component=_hull_contact, mechanism=floater),
    ],
    SpringDamper: [
        *(Kink(("q", 0), {"q": [1.0], "v": [v]}, jumps=bool(v), component=_rope, mechanism=_hung) for v in (0.0, 0.3)),
        Kink(("v", 0), {"q": [1.1], "v": [-0.2]}, component=_rope, mechanism=_hung),
        Kink(("q", 0), {"q": [1.2]}, component=_progressive, mechanism=_hung),
        Kink(("v", 0), {"q": [1.1]}, component=_progressive, mechanism=_hung),
    ],
    Cable: [Kink(("q", 0), {"q": [1.0]}, component=_stay, mechanism=_hung)],
    LinearActuator: [Kink(("command", 0), {"q": [1.0], "command": [3.0]}, component=_pusher, mechanism=_hung)],
    HydraulicCylinder: [
        Kink(("q", 0), {"q": [1.0], CHAMBERS: [5, 5]}, component=_ram, mechanism=_hung),
        *(Kink((CHAMBERS, 0), {"q": [1.5], CHAMBERS: [p, 5], "command": [0.5]}, component=_ram, mechanism=_hung) for p in (0, 8e4, 9e4)),
        *(Kink(("command", 0), {"q": [1.5], CHAMBERS: [7e4, 5e4], "command": [u]}, component=_ram, mechanism=_hung) for u in (0.1, 1)),
    ],
    FramePose: [Kink(("q", i), jumps=True, component=lambda: FramePose("nose"), mechanism=_pitched) for i in (0, 1)],
    Measured: [
        Kink(
            ("q", 0), {"q": [0.05]}, jumps=True,
            component=lambda: Measured(EXAMPLES[FramePose]().__class__("carriage"), period=STEP, resolution=0.1),
        )
    ],
}  # fmt: skip
"""Components that bend or jump; the others are smooth, and looked at where they start and at a general state."""


def _named(component: ProofMass) -> ProofMass:
    return ProofMass(
        component.frame, component.mass, stroke=component.stroke, stop_stiffness=component.stop_stiffness,
        stop_damping=component.stop_damping, name="lift",
    )  # fmt: skip


class Everything:
    """All that a component does, as one function of the continuous states and the commands, and its Jacobian."""

    def __init__(self, mechanism: art.Mechanism, *components: Component):
        self.network = Network(mechanism.description, list(components), outside=True)
        self.system = s = System(self.network)
        self.p = np.array([value_of(p) for p in self.network.parameters])
        self.places = s.places | {"command": slice(s.nc, s.nc + self.network.outside.numel())}
        self.x0 = np.concatenate([s.c0, np.zeros(self.network.outside.numel())])
        functions = [s.rhs, *(u.function for u in s.updates), s.reporting(("u", *self.network.signals))]
        x = ca.SX.sym("x", self.x0.size)
        d = ca.SX(ca.DM(s.d0))
        d[s.held_places["outside"]] = x[s.nc :]
        given = [x[: s.nc], d, ca.SX(ca.DM(self.p)), ca.SX.zeros(s.nw), ca.SX(0.3), ca.SX(STEP)]
        out = ca.vertcat(*(ca.vec(o) for f in functions for o in f.call(given)))
        self.value = ca.Function("f", [x], [out])
        self.jacobian = ca.Function("J", [x], [ca.densify(ca.jacobian(out, x))])

    def at(self, values: dict[str, Sequence[float]]) -> np.ndarray:
        x = self.x0.copy()
        for name, value in values.items():
            x[self.places[name]] = value
        return x

    def J(self, x: np.ndarray) -> np.ndarray:
        return np.array(self.jacobian(x))

    def f(self, x: np.ndarray) -> np.ndarray:
        return np.array(self.value(x)).ravel()

    def difference(self, x: np.ndarray, i: int, h: float) -> np.ndarray:
        """Return the derivative by x_i on the side of h: (4 f(x + h) - f(x + 2 h) - 3 f(x)) / (2 h), of second order."""
        e = np.eye(x.size)[i] * h
        return (4 * self.f(x + e) - self.f(x + 2 * e) - 3 * self.f(x)) / (2 * h)


def assert_smooth(all_of: Everything, x: np.ndarray, step: float = 1e-5) -> None:
    """The Jacobian is finite and equals differences in every state, on both sides.

    Differences of second order: their error is 1e-10 times third derivatives plus 1e-16 times values over 1e-5.
    """
    J = all_of.J(x)
    assert np.isfinite(J).all()
    values = np.abs(all_of.f(x)).max()
    for i in range(x.size):
        for h in (step, -step):
            scale = 1e-3 * np.abs(J[:, i]).max() + 1e-9 * values + 1e-6
            assert np.abs(J[:, i] - all_of.difference(x, i, h)).max() < scale, (i, h)


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_derivatives_at_the_start_and_at_a_general_state(kind: type) -> None:
    """Every component joins by being in the list. At the start many are at a kink: there finiteness is asked."""
    all_of = Everything(HOSTS.get(kind, DIGGER), *companions(kind), EXAMPLES[kind]())
    assert np.isfinite(all_of.J(all_of.x0)).all()
    rng = np.random.default_rng(1)
    x = all_of.x0 + rng.uniform(0.02, 0.05, all_of.x0.size)
    x[all_of.places["q"]][: min(4, DIGGER.nq)] += [0.1, 0.5, -1.5, 0.2]
    assert_smooth(all_of, x)


CASES = [pytest.param(kind, kink, id=f"{kind.type_name}-{i}") for kind, kinks in KINKS.items() for i, kink in enumerate(kinks)]  # type: ignore[attr-defined]  # fmt: skip


@pytest.mark.parametrize(("kind", "kink"), CASES)
def test_derivatives_at_and_beside_a_kink(kind: type, kink: Kink) -> None:
    """At a kink each entry lies between the slopes of its two sides; just off it is that of its side."""
    make = kink.component or EXAMPLES[kind]
    host = kink.mechanism() if kink.mechanism else (HOSTS.get(kind) or slider())
    all_of = Everything(host, make())
    x, i = all_of.at(kink.at), all_of.places[kink.along[0]].start + kink.along[1]
    J = all_of.J(x)
    assert np.isfinite(J).all()
    for side in (-1, 1):
        beside = x.copy()
        beside[i] += side * OFF
        found = all_of.J(beside)[:, i]
        assert np.isfinite(found).all()
        h = side * OFF / 10  # away from the kink
        scale = 1e-3 * np.abs(found).max() + 1e-9 * np.abs(all_of.f(x)).max() / OFF + 1e-5
        assert np.abs(found - all_of.difference(beside, i, h)).max() < scale
    if not kink.jumps:
        sides = [all_of.difference(x, i, h) for h in (-OFF, OFF)]
        slack = 1e-3 * np.abs(sides).max() + 1e-9 * np.abs(all_of.f(x)).max() / OFF + 1e-5
        assert (J[:, i] > np.min(sides, axis=0) - slack).all()
        assert (J[:, i] < np.max(sides, axis=0) + slack).all()


@pytest.mark.parametrize("method", ["rosenbrock", "cvodes", "idas", "newmark", "generalized_alpha"])
def test_implicit_methods_start_out_of_contact(method: str) -> None:
    """A mass that falls freely onto the ground: the height before the contact is h - g t^2 / 2."""
    m = slider(gravity=-9.81)
    ground = GroundContact("carriage", stiffness=1e6, dissipation=0.2)
    run = art.simulate(m, 0.3, q0=[0.1], step=2e-4, method=method, components=[ground], rtol=1e-8, atol=1e-10)
    free = run.t < np.sqrt(0.2 / 9.81)
    # a constant acceleration is exact for all but cvodes and idas, which control local errors of 1e-8
    assert np.allclose(run.q[free, 0], 0.1 - 9.81 * run.t[free] ** 2 / 2, rtol=0, atol=1e-6)
    assert run.q.min() > -0.01
    assert np.isfinite(run.linearize(0.0).A).all()
