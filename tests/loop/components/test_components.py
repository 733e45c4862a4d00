"""Laws of all components: names, fields, parameters, signals, messages."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus import kernel, structure
from articulus.model.mechanism import Polynomial, Prescribed
from articulus.simulation.exact_beams import Beam, Section
from articulus.simulation.loop.component import Actuator, Component, Controller, Disturbance, Sensor
from articulus.simulation.loop.components import (
    ACTUATORS,
    ALL_COMPONENTS,
    CONTROLLERS,
    DISTURBANCES,
    PD,
    PID,
    SENSORS,
    Accelerometer,
    Backlash,
    BeamForces,
    BearingFriction,
    BoucWenActuator,
    Buoyancy,
    Bushing,
    Cable,
    CentralGravity,
    ComputedTorque,
    Contact,
    Contacts,
    DeadBand,
    DeflectionFeedback,
    Drag,
    Expression,
    FirstOrderActuator,
    ForceSensor,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    FrameWrench,
    GroundContact,
    HydraulicCylinder,
    HydraulicRotary,
    InputShaper,
    JointFriction,
    JointRate,
    JointSensor,
    JointStop,
    LinearActuator,
    LinearController,
    LinearDrive,
    Measured,
    Motor,
    Observer,
    PiezoPair,
    PreisachActuator,
    PrescribedCommand,
    PrescribedForce,
    ProofMass,
    Pseudolink,
    RateGyro,
    RateLimit,
    ReactionWheel,
    ResolvedRate,
    Saturation,
    SecondOrderActuator,
    ServoConstraints,
    SlidingFriction,
    SpringDamper,
    StateFeedback,
    StrainSensor,
    Thruster,
    Torque,
    TorsionSpring,
    VaryingGravity,
    Velocimeter,
    WhiteNoise,
    Winch,
)
from articulus.simulation.loop.components.aircraft import (
    AirData,
    ControlSurface,
    LimitedFeedback,
    TableAerodynamics,
)
from articulus.simulation.loop.components.executive import ActuatorFailure, CommandCheck, SensorFailure, Voter
from articulus.simulation.loop.components.spacecraft import ThermalBending
from articulus.simulation.loop.contact import Plane, Sphere
from articulus.simulation.loop.equations import Network
from spacecraft_zoo import COMPANIONS, SPACECRAFT

from .support import Loop, floater, slider


def _zero() -> ca.Function:
    q = ca.SX.sym("q", 4)
    return ca.Function("zero", [q], [0 * q], ["q"], ["u"])


OBSERVER = Observer(np.eye(8), np.zeros((8, 4)), np.eye(4, 8), np.zeros((8, 4)), ("q",))
EXAMPLES: dict[type, Callable[[], Component]] = {
    JointSensor: lambda: JointSensor(joints=("boom",)),
    FramePose: lambda: FramePose("wrist"),
    FrameVelocity: lambda: FrameVelocity("wrist"),
    FrameAcceleration: lambda: FrameAcceleration("wrist"),
    RateGyro: lambda: RateGyro("wrist"),
    Accelerometer: lambda: Accelerometer("wrist"),
    Velocimeter: lambda: Velocimeter("wrist"),
    ForceSensor: lambda: ForceSensor("stick"),
    AirData: lambda: AirData("wrist"),
    StrainSensor: lambda: StrainSensor("near", "far", depth=0.01),
    Measured: lambda: Measured(RateGyro("wrist"), period=0.02, delay=2, noise=0.1, resolution=0.01),
    SensorFailure: lambda: SensorFailure(RateGyro("wrist"), start=0.03, end=0.05, kind="bias", value=0.1),
    Voter: lambda: Voter(("a.rate", "b.rate", "c.rate"), 0.1, 0.02),
    PD: lambda: PD(kp=1.0, kd=1.0),
    CommandCheck: lambda: CommandCheck(("boom", "stick"), -1.0, 1.0, 0.02, rate=30.0, delay=1),
    PID: lambda: PID(kp=1.0, ki=1.0, kd=1.0),
    ComputedTorque: lambda: ComputedTorque(kp=1.0, kd=1.0),
    Pseudolink: lambda: Pseudolink(("far",), kp=1.0, kd=1.0, target=0.2),
    DeflectionFeedback: lambda: DeflectionFeedback(np.ones((1, 6)), period=0.02),
    StateFeedback: lambda: StateFeedback(np.ones((4, 8)), observer=OBSERVER, period=0.02),
    LinearController: lambda: LinearController(-np.eye(2), np.ones((2, 8)), np.ones((4, 2)), period=0.02),
    Expression: lambda: Expression(_zero()),
    JointRate: lambda: JointRate(0.1, kp=1.0, kd=1.0, period=0.02),
    ResolvedRate: lambda: ResolvedRate(0.1, kp=1.0, kd=1.0, period=0.02, point="wrist", tool="bucket"),
    ServoConstraints: lambda: ServoConstraints(
        Prescribed("course", "boom", Polynomial((0.1, 0.2))), ("boom",)
    ),
    LimitedFeedback: lambda: LimitedFeedback("boom", "t", 2.0, 0.01, lower=-0.5, upper=0.5),
    ControlSurface: lambda: ControlSurface("elevator", -0.4, 0.3, 2.0),
    Torque: lambda: Torque("boom", limit=3.0),
    LinearDrive: lambda: LinearDrive(
        ("boom", "stick"), (1.0, -2.0), gain=3.0, stiffness=2.0, damping=1.0, lower=-50.0, upper=50.0
    ),
    Motor: lambda: Motor("boom", ratio=100.0, torque_constant=0.1, resistance=1.0, inductance=0.01),
    HydraulicRotary: lambda: HydraulicRotary(
        "boom", supply=7000.0, gear=545.0, damping=1e5, pressure_feedback=1e-5
    ),
    ProofMass: lambda: ProofMass("wrist", mass=1.0, stroke=0.1, stop_stiffness=10.0),
    ReactionWheel: lambda: ReactionWheel("wrist", inertia=0.01, speed_limit=50.0, friction=0.01),
    PiezoPair: lambda: PiezoPair("near", "far", gain=0.01, voltage_limit=50.0),
    FirstOrderActuator: lambda: FirstOrderActuator("boom", bandwidth=3.0),
    SecondOrderActuator: lambda: SecondOrderActuator("boom", bandwidth=3.0),
    Saturation: lambda: Saturation("boom", -1.0, 1.0),
    DeadBand: lambda: DeadBand("boom", 0.1),
    RateLimit: lambda: RateLimit("boom", 1.0),
    ActuatorFailure: lambda: ActuatorFailure("boom", 0.03, gain=0.5, offset=0.1),
    BoucWenActuator: lambda: BoucWenActuator("boom", alpha=0.3, beta=0.5, gamma=0.1, bias=40.0, feedback=2.0),
    PreisachActuator: lambda: PreisachActuator("boom", extent=5.0, plays=4),
    PrescribedCommand: lambda: PrescribedCommand("boom", 3.0),
    InputShaper: lambda: InputShaper((0.0, 0.03), (0.5, 0.5), 0.02),
    PrescribedForce: lambda: PrescribedForce("boom", 3.0),
    FrameWrench: lambda: FrameWrench("wrist", (1, 2, 3, 4, 5, 6)),
    WhiteNoise: lambda: WhiteNoise(1.0, joint="boom"),
    JointStop: lambda: JointStop("boom", stiffness=10.0, lower=-1.0, upper=1.0),
    Backlash: lambda: Backlash("boom", 0.02, 10.0, 1.0, 0.1, driver="stick", ratio=0.5),
    GroundContact: lambda: GroundContact("wrist", stiffness=10.0),
    Contacts: lambda: Contacts((Sphere("wrist", 0.1), Sphere("cab", 0.5), Plane()), 10.0, 0.1, 0.3),
    Contact: lambda: Contact(Sphere("wrist", 0.1), Plane(), stiffness=10.0, friction=0.4, rolling=0.01),
    SpringDamper: lambda: SpringDamper("cab", "wrist", 10.0, 1.0, length=3.0, preload=2.0),
    TorsionSpring: lambda: TorsionSpring("cab", "wrist", (1, 0, 0), 10.0, 1.0, 0.1, 2.0),
    BeamForces: lambda: _with_rod()[1],
    Bushing: lambda: Bushing("cab", "wrist", (10.0,) * 6, (1.0,) * 6),
    Cable: lambda: Cable(("cab", "boom", "bucket_tip"), stiffness=10.0, length=1.0, damping=1.0),
    LinearActuator: lambda: LinearActuator("cab", "boom", limit=10.0, damping=1.0),
    HydraulicCylinder: lambda: HydraulicCylinder(
        "cab",
        "boom",
        0.02,
        0.01,
        1.0,
        2.0,
        2e7,
        1e-6,
        leakage=1e-12,
        damping=1e3,
        dead_band=0.1,
        pressures=(1e6, 2e6),
    ),
    Winch: lambda: Winch(("cab", "boom", "bucket_tip"), stiffness=10.0, length=1.0, damping=1.0),
    Thruster: lambda: Thruster("wrist", axis=(0, 0, 1), upper=5.0, lower=-5.0),
    JointFriction: lambda: JointFriction("boom", coulomb=3.0, static=4.0, stiffness=300.0),
    BearingFriction: lambda: BearingFriction(
        "boom", friction=0.2, deflection=0.1, radius=0.05, preload=5.0, lag=0.1
    ),
    SlidingFriction: lambda: SlidingFriction("on_slope", friction=0.3),
    TableAerodynamics: lambda: TableAerodynamics(
        "wrist",
        0.1,
        0.5,
        0.2,
        (-1.0, 0.0, 1.0),
        (-0.5, 0.5),
        [[-0.1, 0.0, 0.1]] * 2,
        [[0.5, 0.0, -0.5], [0.4, -0.1, -0.6]],
        [[0.1, 0.0, -0.1]] * 2,
        [[0.1] * 3, [-2.0] * 3, [-0.5] * 3, *[[0.05] * 3] * 3, *[[-0.1] * 3] * 3],
        [[-0.3] * 3] * 3,
        [[0.05] * 3] * 3,
        [[0.1] * 3] * 3,
        ("", "", ""),
        5.0,
    ),
    Drag: lambda: Drag("wrist", area=0.3, flow=(1.0, 0, 0), normal=(0, 0, 1)),
    Buoyancy: lambda: Buoyancy("wrist", volume=1e-3, surface=0.02),
    VaryingGravity: lambda: VaryingGravity((1.0, 2.0, 3.0)),
    CentralGravity: lambda: CentralGravity(mu=50.0, center=(1.0, 2.0, -30.0)),
} | {kind: functools.partial(make, "link3") for kind, make in SPACECRAFT.items()}

DIGGER = art.load("cat215b")


def _with_boom() -> art.Mechanism:
    """Return a hinge with a flexible boom of three modes."""
    m = art.Mechanism("boom").flexible(
        "boom", structure.beam_body(1.0, EI=500.0, mass_per_length=5000.0, modes=3)
    )
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), parent="ground", child="boom")
    return m.frame("near", "boom", node="root").frame("far", "boom", node="middle")


def _in_orbit() -> art.Mechanism:
    """Return an arm of four hinges without gravity."""
    m, y = art.Mechanism("arm", gravity=(0, 0, 0)), (0, 1, 0)
    for i, axis in enumerate(((0, 0, 1), y, y, y)):
        m.body(f"link{i}", mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.2, 0.3))
        m.joint(
            f"joint{i}",
            art.Revolute(axis=axis),
            f"link{i - 1}" if i else "ground",
            f"link{i}",
            at=(0.5, 0, 0),
        )
    return m


def _boom_in_orbit() -> art.Mechanism:
    """Return a boom that bends about y, on a hinge, without gravity."""
    m = art.Mechanism("boom", gravity=(0, 0, 0))
    m.flexible("link3", structure.beam_body(1.0, EI=500.0, mass_per_length=5000.0, modes=3, planes="z"))
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), parent="ground", child="link3")
    return m.frame("near", "link3", node="root").frame("far", "link3", node="tip")


def _with_rod() -> tuple[art.Mechanism, BeamForces]:
    """Return a rod of rubber of one element, and its forces."""
    section = Section(1.0, 200.0, 0.5, 0.4, 0.3, 100.0, 100.0, rotary=(2e-3, 1e-3, 1e-3))
    m = art.Mechanism("rod")
    forces = BeamForces.link(m, "rod", Beam.straight(0.4, 1, section), damping=1e-3)
    return m.joint("clamp", art.Fixed(), "ground", "rod_0"), forces


def _on_slope() -> art.Mechanism:
    """Return a ball that slides on a slope."""
    m = art.Mechanism("slope").frame("slope", "ground", art.Pose(rpy=(0, 0.3, 0)))
    m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1)).joint(
        "free", art.Free(), "ground", "ball", at=(0, 0, 0)
    )
    return m.constrain(art.SlidingContact("on_slope", "slope", "ball"))


HOSTS = dict.fromkeys((StrainSensor, PiezoPair, Pseudolink, DeflectionFeedback), _with_boom())
HOSTS |= {SlidingFriction: _on_slope()}
HOSTS |= {CentralGravity: _in_orbit(), Voter: _in_orbit(), BeamForces: _with_rod()[0]} | dict.fromkeys(
    SPACECRAFT, _in_orbit()
)
HOSTS[ThermalBending] = _boom_in_orbit()
"""Mechanisms for components that the digger has no place for."""


def companions(kind: type) -> tuple[Component, ...]:
    """Return the components that one reads from."""
    return COMPANIONS[kind]("link3") if kind in COMPANIONS else ()


def test_every_component_is_listed_once_in_its_kind() -> None:
    assert set(EXAMPLES) == set(ALL_COMPONENTS)
    assert len({c.type_name for c in ALL_COMPONENTS}) == len(ALL_COMPONENTS)
    kinds = {Sensor: SENSORS, Controller: CONTROLLERS, Actuator: ACTUATORS, Disturbance: DISTURBANCES}
    assert all(issubclass(c, kind) for kind, members in kinds.items() for c in members)


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_a_component_writes_the_signals_that_it_declares_and_moves(kind: type) -> None:
    component = EXAMPLES[kind]()
    loop = Loop(HOSTS.get(kind, DIGGER), *companions(kind), component)
    if kind not in (BeamForces, SlidingFriction):  # which have a free joint, and fall
        loop.put(q=[0.1, 0.5, -1.5, 0.2], v=[0.1, -0.1, 0.2, 0.3])
    prefix = f"{component.name}."
    written = {name.removeprefix(prefix) for name in loop.network.signals if name.startswith(prefix)}
    assert written == set(component.signal_units())
    found = loop.run(0.06, 0.01, *loop.network.signals)
    assert all(np.isfinite(values).all() for values in found.values())


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_a_component_is_frozen_and_its_numbers_have_a_unit_and_a_meaning(kind: type) -> None:
    component = EXAMPLES[kind]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        component.name = "other"
    for f in dataclasses.fields(component):
        named = f.name in {
            "name",
            "joint",
            "joints",
            "frame",
            "measured",
            "inputs",
            "point",
            "tool",
            "first",
            "second",
            "shapes",
            "frames",
            "side",
            "form",
            "reversed",
            "bodies",
            "driver",
            "commands",
            "tip",
            "angular",
            "reference",
            "authority",
            "environment",
            "epoch",
            "field",
            "field_digest",
            "magnetic",
            "magnetic_digest",
            "guidance",
            "torque",
            "actuators",
            "wheel",
            "wheels",
            "attitude",
            "rate",
            "rigid",
            "constraint",
            "surfaces",
            "kind",
            "channels",
            "unit",
        }
        held = f.name in {"actuator", "sensor", "observer", "model", "function", "program", "follows"}
        assert named or held or (f.metadata["unit"] and f.metadata["meaning"]), f.name


@pytest.mark.parametrize("kind", ALL_COMPONENTS, ids=lambda c: c.type_name)
def test_numbers_may_be_parameters(kind: type) -> None:
    """The first number of a component, written as a parameter, is one of the run's parameters."""
    component = EXAMPLES[kind]()
    fixed = {
        "axis",
        "normal",
        "pressures",
        "period",
        "delay",
        "delays",
        "initial",
        "before",
        "altitudes",
        "densities",
        "scale_height",
        "gains",
        "gimbal",
        "spin",
        "angle",
        "angles",
        "alpha",
        "elevator",
    } | ({"length"} if kind is Winch else set())
    for f in dataclasses.fields(component):
        value = getattr(component, f.name)
        if not f.metadata or f.name in fixed:
            continue
        if isinstance(value, float) and np.isfinite(value) and value:
            changed: object = art.Parameter("free", value)
        elif isinstance(value, tuple) and value and isinstance(value[0], float) and np.isfinite(value[0]):
            changed = (art.Parameter("free", value[0]), *value[1:])
        else:
            continue
        network = Network(
            HOSTS.get(kind, DIGGER).description,
            [*companions(kind), dataclasses.replace(component, **{f.name: changed})],
        )
        assert [p.name for p in network.parameters] == ["free"], f.name


def test_native_code_of_a_loop_of_many_components_equals_casadi() -> None:
    actuators = {
        FirstOrderActuator: FirstOrderActuator(DeadBand(Saturation("bucket", -1.0, 1.0), 0.1), 3.0),
        Motor: Motor("stick", ratio=100.0, torque_constant=0.1, resistance=1.0),
        RateLimit: RateLimit(SecondOrderActuator("swing", 5.0), 2.0),
        HydraulicRotary: EXAMPLES[HydraulicRotary](),
    }
    others = [
        EXAMPLES[kind]()
        for kind in (*SENSORS, *CONTROLLERS, *DISTURBANCES)
        if kind not in HOSTS and kind is not Measured
    ]
    others = [PrescribedCommand("stick_motor", 3.0) if type(c) is PrescribedCommand else c for c in others]
    others = [LimitedFeedback("stick_motor", "t", 2.0) if type(c) is LimitedFeedback else c for c in others]
    failing = SensorFailure(RateGyro("wrist", name="failing"), start=0.03, end=0.05, kind="bias", value=0.1)
    others = [failing if type(c) is SensorFailure else c for c in others]
    checked = CommandCheck("bucket_torque", -1.0, 1.0, 0.02, rate=30.0, delay=1)
    others = [checked if type(c) is CommandCheck else c for c in others]
    loop = Loop(DIGGER, *others, *actuators.values())
    rng = np.random.default_rng(4)
    for function in (loop.system.rhs, *(u.function for u in loop.system.updates)):
        inputs = [rng.uniform(0.1, 1.0, function.numel_in(i)) for i in range(6)]
        expected = np.array(function(*inputs)).ravel()
        found = kernel.compile(function)(*inputs[:4], *(float(x[0]) for x in inputs[4:]))
        assert np.ravel(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "mechanism", "text"),
    [
        (lambda: Torque("left"), slider, "Torque 'left_torque', joint: found 'left'; expected the name of a joint. did you mean 'lift'?"),
        (lambda: Torque("base"), floater, "found 'base', a free joint with 6 degrees of freedom; expected a joint with one degree of freedom"),
        (lambda: Motor("base", 1.0, 1.0, 1.0), floater, "Motor 'base_motor', joint"),
        (lambda: Saturation("base", -1, 1), floater, "a joint with one degree of freedom"),
        (lambda: JointStop("base", 1.0), floater, "a joint with one degree of freedom"),
        (lambda: Backlash("lift", 0.1, 1.0, driver="base"), slider, "found 'base'; expected the name of a joint"),
        (lambda: HydraulicRotary("base", 1.0, 1.0, 1.0), floater, "a joint with one degree of freedom"),
        (lambda: JointSensor(), floater, "'base', a free joint; expected joints whose velocities are the rates"),
        (lambda: FramePose("hul"), floater, "FramePose 'hul_frame_pose', frame: no body or frame 'hul'"),
        (lambda: PrescribedForce("base", (1.0, 2.0)), floater, "force: found 2 numbers; expected 1 or 6"),
        (lambda: WhiteNoise((1.0, 2.0), joint="base"), floater, "density: found 2 numbers; expected 1 or 6"),
        (lambda: Measured(JointSensor(), noise=(1, 2, 3)), slider, "noise: found 3 numbers; expected 1 or 2"),
    ],
)  # fmt: skip
def test_wrong_joints_frames_and_lengths(make: Callable, mechanism: Callable, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        Loop(mechanism(), make())
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Torque("lift", limit=-1.0), "Torque 'lift_torque', limit: found -1; expected at least 0"),
        (lambda: Motor("lift", 1.0, 1.0, 0.0), "resistance: found 0; expected a finite number above 0"),
        (lambda: Saturation("lift", 1.0, -1.0), "lower: found 1 above upper = -1"),
        (lambda: Saturation(3.0, 1.0, 2.0), "expected an actuator or the name of a joint"),
        (lambda: ProofMass("b", 1.0, stroke=0.1), "stop_stiffness: found 0"),
        (lambda: ProofMass("b", 1.0, axis=(1, 1, 0)), "expected a unit vector"),
        (
            lambda: HydraulicRotary("lift", 10.0, 1.0, 1.0, exhaust=20.0),
            "exhaust: found 20 psi; expected less than supply = 10",
        ),
        (lambda: WhiteNoise(1.0), "exactly one of the two"),
        (lambda: WhiteNoise(1.0, joint="a", frame="b"), "exactly one of the two"),
        (lambda: Measured(JointSensor(), delay=1), "delay: found 1 without a period"),
        (lambda: Measured(JointSensor(), delay=1.5, period=0.1), "a whole number of periods"),
        (lambda: Measured(Torque("a")), "expected a sensor"),
        (lambda: FrameWrench("b", (1, 2, 3)), "expected 6 numbers, found 3"),
        (lambda: GroundContact("b", 1.0, slip_speed=0.0), "slip_speed"),
        (
            lambda: ResolvedRate(0.0, 1.0, 1.0, 0.1, joints=("a",), point="p", tool="t"),
            "it works on all four",
        ),
    ],
)
def test_wrong_numbers(make: Callable, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        make()
    assert text in str(caught.value)
