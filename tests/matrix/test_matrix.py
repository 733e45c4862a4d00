"""Every component with every method on a tree, a loop and a flexible mechanism; single, in a batch, with parameters.

A combination runs and agrees with a tight reference, or is refused with its reason. Components and methods join by being in
their lists; a component needs an example here.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.model.mechanism import Polynomial, Prescribed
from articulus.simulation.integrate import ALL_METHODS
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.loop.component import Actuator, Component
from articulus.simulation.loop.components import (
    ALL_COMPONENTS,
    PD,
    PID,
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
from articulus.simulation.loop.components.spacecraft import DriftingGyro, StarTracker, ThermalBending
from articulus.simulation.loop.contact import Plane, Sphere
from articulus.simulation.results.diagnostics import energy_error
from selection import EVERYTHING, in_turn
from spacecraft_zoo import COMPANIONS, SPACECRAFT, WEIGHTLESS

from .hosts import HOSTS, MASS, POSITION, ROD, host, start

STEP, END = 5e-4, 0.01


def _of_time(size: int) -> ca.Function:
    """Return commands that swing."""
    t = ca.SX.sym("t")
    return ca.Function(
        "swing", [t], [ca.vertcat(*(1.5 * ca.sin(30 * t + i) for i in range(size)))], ["t"], ["u"]
    )


EXAMPLES: dict[type[Component], Callable[[art.Mechanism], Component]] = {
    JointSensor: lambda m: JointSensor(joints=("boom",)),
    FramePose: lambda m: FramePose("wrist"),
    FrameVelocity: lambda m: FrameVelocity("wrist"),
    FrameAcceleration: lambda m: FrameAcceleration("wrist"),
    RateGyro: lambda m: RateGyro("wrist"),
    Accelerometer: lambda m: Accelerometer("wrist"),
    Velocimeter: lambda m: Velocimeter("wrist"),
    ForceSensor: lambda m: ForceSensor("stick"),
    AirData: lambda m: AirData("wrist"),
    StrainSensor: lambda m: StrainSensor("near", "far", depth=0.01, axis=(0, 1, 0)),
    Measured: lambda m: Measured(RateGyro("wrist"), period=0.001, delay=2, noise=0.1, resolution=0.01),
    SensorFailure: lambda m: SensorFailure(Measured(RateGyro("wrist"), period=0.001), start=0.003, end=0.006),
    Voter: lambda m: Voter(("a.rate", "b.rate", "c.rate"), 0.1, 0.001),
    CommandCheck: lambda m: CommandCheck("boom", -1.0, 1.0, 0.001, delay=1),
    PD: lambda m: PD(kp=30.0, kd=3.0),
    PID: lambda m: PID(kp=30.0, ki=20.0, kd=3.0),
    ComputedTorque: lambda m: ComputedTorque(
        kp=30.0, kd=3.0, joints=("swing", "boom", "stick") if m.description.constraints else ()
    ),
    Pseudolink: lambda m: Pseudolink("wrist", kp=30.0, kd=10.0, target=tuple(POSITION.values()), angular=True),
    DeflectionFeedback: lambda m: DeflectionFeedback(0.5 * np.ones((4, 2))),
    StateFeedback: lambda m: StateFeedback(0.5 * np.ones((m.nv, m.nq + m.nv)), period=0.001),
    LinearController: lambda m: LinearController(
        -30.0 * np.eye(2), np.ones((2, m.nq + m.nv)), np.ones((m.nv, 2))
    ),
    Expression: lambda m: Expression(_of_time(m.nv)),
    JointRate: lambda m: JointRate(0.1, kp=30.0, kd=3.0, period=0.001),
    ResolvedRate: lambda m: ResolvedRate(0.1, kp=30.0, kd=3.0, period=0.001, point="wrist", tool="bucket"),
    ServoConstraints: lambda m: ServoConstraints(
        Prescribed("course", "swing", Polynomial((0.1, 0.3))), ("swing",), frequency=20.0
    ),
    PrescribedCommand: lambda m: PrescribedCommand("boom", 3.0),
    InputShaper: lambda m: InputShaper((0.0, 0.002), (0.5, 0.5), 0.001, before=1.0),
    LimitedFeedback: lambda m: LimitedFeedback("boom", "t", 2.0, 0.01, lower=-0.5, upper=0.5),
    ControlSurface: lambda m: ControlSurface("elevator", -0.4, 0.3, 2.0),
    Torque: lambda m: Torque("boom", limit=3.0),
    LinearDrive: lambda m: LinearDrive(
        ("boom", "stick"), (1.0, -2.0), gain=3.0, stiffness=2.0, damping=1.0, lower=-50.0, upper=50.0
    ),
    Motor: lambda m: Motor("boom", ratio=10.0, torque_constant=0.1, resistance=1.0, inductance=0.01),
    HydraulicRotary: lambda m: HydraulicRotary("boom", supply=10.0, gear=1.0, damping=10.0),
    ProofMass: lambda m: ProofMass("wrist", mass=0.3, stroke=0.1, stop_stiffness=10.0),
    ReactionWheel: lambda m: ReactionWheel("wrist", inertia=0.01, speed_limit=50.0, friction=0.01),
    PiezoPair: lambda m: PiezoPair("near", "far", gain=0.5, voltage_limit=50.0, axis=(0, 1, 0)),
    FirstOrderActuator: lambda m: FirstOrderActuator("boom", bandwidth=30.0),
    BoucWenActuator: lambda m: BoucWenActuator("boom", beta=0.05, bandwidth=50.0, feedback=1.0),
    PreisachActuator: lambda m: PreisachActuator("boom", extent=50.0, bandwidth=50.0, plays=4),
    SecondOrderActuator: lambda m: SecondOrderActuator("boom", bandwidth=30.0),
    Saturation: lambda m: Saturation("boom", -0.5, 0.5),
    DeadBand: lambda m: DeadBand("boom", 0.1),
    RateLimit: lambda m: RateLimit("boom", 20.0),
    ActuatorFailure: lambda m: ActuatorFailure("boom", 0.003, gain=0.5, offset=0.1),
    PrescribedForce: lambda m: PrescribedForce("boom", 3.0),
    FrameWrench: lambda m: FrameWrench("wrist", (1, 2, 3, 4, 5, 6)),
    WhiteNoise: lambda m: WhiteNoise(0.01, joint="boom"),
    Backlash: lambda m: Backlash("stick", 0.019, 1e3, 5.0, 0.9, driver="boom", ratio=0.02),
    JointStop: lambda m: JointStop("stick", stiffness=1e3, lower=-1.0, upper=0.902, damping=5.0),
    Thruster: lambda m: Thruster("wrist", axis=(0, 0, 1), upper=5.0, lower=-5.0),
    JointFriction: lambda m: JointFriction("boom", coulomb=0.3, static=0.4, stiffness=300.0, damping=1.0),
    BearingFriction: lambda m: BearingFriction(
        "boom", friction=0.2, deflection=1e-3, radius=0.05, damping=1e-3, preload=5.0, lag=5e-3
    ),
    SlidingFriction: lambda m: SlidingFriction("on_floor", friction=0.3, speed=0.1, lag=5e-3),
    TableAerodynamics: lambda m: TableAerodynamics(
        "wrist", 0.1, 0.5, 0.2, (-1.0, 0.0, 1.0), (-0.5, 0.5), [[-0.1, 0.0, 0.1]] * 2, [[0.5, 0.0, -0.5], [0.4, -0.1, -0.6]], [[0.1, 0.0, -0.1]] * 2,
        [[0.1] * 3, [-2.0] * 3, [-0.5] * 3, *[[0.05] * 3] * 3, *[[-0.1] * 3] * 3], [[-0.3] * 3] * 3, [[0.05] * 3] * 3, [[0.1] * 3] * 3, ("", "", ""), 5.0,
    ),
    Drag: lambda m: Drag("wrist", area=0.3, density=50.0, flow=(1.0, 0, 0), normal=(0, 0, 1)),
    Buoyancy: lambda m: Buoyancy("wrist", volume=1e-3, surface=0.02),
    VaryingGravity: lambda m: VaryingGravity(_of_time(3)),
    CentralGravity: lambda m: CentralGravity(mu=50.0, center=(0, 0, -3.0)),
    GroundContact: lambda m: GroundContact(
        "wrist", stiffness=1e4, dissipation=0.1, friction=0.3, slip_speed=0.05
    ),
    Contacts: lambda m: Contacts((Sphere("wrist", 0.01), Sphere("base", 0.05), Plane()), 1e4, 0.1, 0.3),
    Contact: lambda m: Contact(
        Sphere("wrist", 0.01),
        Plane(),
        stiffness=1e4,
        dissipation=0.1,
        friction=0.3,
        shear=300.0,
        rolling=1e-3,
    ),
    SpringDamper: lambda m: SpringDamper("base", "wrist", 200.0, 3.0, length=0.5, preload=5.0),
    TorsionSpring: lambda m: TorsionSpring("base", "wrist", (0, 1, 0), 30.0, 0.3, angle=0.2),
    Bushing: lambda m: Bushing("boom", "wrist", (3, 4, 5, 60, 70, 80), (0.1, 0.1, 0.1, 1, 1, 1)),
    BeamForces: lambda m: BeamForces.link(art.Mechanism("beam"), "rod", ROD, damping=1e-3),
    Cable: lambda m: Cable(("ground", "boom", "wrist"), stiffness=200.0, length=0.8, damping=2.0),
    LinearActuator: lambda m: LinearActuator("base", "wrist", limit=50.0, damping=2.0),
    HydraulicCylinder: lambda m: HydraulicCylinder(
        "base", "wrist", 1e-4, 6e-5, 0.5, 1.5, 1e6, 1e-7, bulk_modulus=1e7, dead_volume=1e-4, damping=20.0,
        pressures=(1e5, 2e5),
    ),
    Winch: lambda m: Winch(("ground", "boom", "wrist"), stiffness=200.0, length=0.8, damping=2.0),
} | {kind: functools.partial(lambda make, _: make("wrist"), make) for kind, make in SPACECRAFT.items()}  # fmt: skip

BENDS = {
    JointStop,
    Backlash,
    GroundContact,
    Contact,
    Contacts,
    Saturation,
    DeadBand,
    RateLimit,
    ActuatorFailure,
    HydraulicRotary,
    WhiteNoise,
    Torque,
    LimitedFeedback,
    ControlSurface,
    TableAerodynamics,
}
"""Components with a force that bends or jumps in time: no method keeps more than second order across that."""


ONLY = {StrainSensor: ("flexible",), PiezoPair: ("flexible",), ResolvedRate: ("tree",)}
ONLY |= {ThermalBending: ("flexible",)}
ONLY |= {Pseudolink: ("flexible",), DeflectionFeedback: ("flexible",)}
ONLY |= {Accelerometer: ("tree",), Velocimeter: ("tree",), AirData: ("tree",), BeamForces: ("beam",)}
ONLY |= {SlidingFriction: ("face",)}
"""Where a component has a place: strain is of flexible bodies, resolved rates are of trees of four coordinates. What some
sensors rest on (acceleration, velocity, pose of a frame) others show everywhere."""

WHOLE = {
    *(
        Measured,
        PD,
        ComputedTorque,
        StateFeedback,
        HydraulicRotary,
        ProofMass,
        ReactionWheel,
        PiezoPair,
        RateLimit,
        FrameWrench,
        WhiteNoise,
    ),
    *(JointStop, GroundContact, Contact, SpringDamper, JointFriction, BearingFriction),
}
"""Components that ask something of a method that no other asks: samples, delays, states, stiffness, bends, noise, reactions. The
others only read the state, or push by `Scope.wrench` and `Scope.force`: unless everything is run, one host each in turn and
the methods of `MUST_RUN`, of the implicit ones one in turn. Those in `WHOLE` have every host, and two of the other methods in turn."""
if not EVERYTHING:
    PARTLY = [kind for kind in ALL_COMPONENTS if kind not in WHOLE]
    ONLY = {kind: (HOSTS[i % len(HOSTS)],) for i, kind in enumerate(PARTLY)} | ONLY

ON_COUPLED = (PD, ForceSensor, GroundContact)
"""What runs on the mechanism with a coupled joint as well: forces in joints, reactions, wrenches on frames."""

NOISY = {Measured, WhiteNoise, StarTracker, DriftingGyro}
"""Components whose runs have noise of their own, by their number in a batch."""

MUST_RUN = ("rk4", "dormand_prince", "rosenbrock", "cvodes")
"""Methods that take every combination; others may refuse, with a reason."""


def turn(kind: type[Component], where: str) -> int:
    """Return a number for what takes turns: another one on every host, and for every component."""
    return list(EXAMPLES).index(kind) + (*HOSTS, "coupled", "beam", "face").index(where)


def methods(kind: type[Component], where: str) -> list[Integrator]:
    """Return the methods of a combination."""
    if EVERYTHING:
        return list(ALL_METHODS)
    named = [*MUST_RUN[:2], *in_turn(MUST_RUN[2:], turn(kind, where))]
    if kind in WHOLE:
        named += in_turn([m.name for m in ALL_METHODS if m.name not in MUST_RUN], turn(kind, where), 2)
    return [m for m in ALL_METHODS if m.name in named]


def place(kind: type[Component], where: str) -> art.Mechanism:
    """Return the mechanism for a component: the gravity of a planet takes the place of the uniform one."""
    return host(where, weightless=True) if kind is CentralGravity or kind in WEIGHTLESS else host(where)


@functools.cache
def components(kind: type[Component], where: str) -> tuple[Component, ...]:
    """Return a loop that uses the component; the same one whenever it is asked, so that its code is built once."""
    made = EXAMPLES[kind](place(kind, where))
    before = COMPANIONS[kind]("wrist") if kind in COMPANIONS else ()
    after = (Expression(_of_time(1), name="command"),) if isinstance(made, Actuator) else ()
    return *before, made, *after


def outcome(kind: type[Component], where: str, method: str, **more) -> art.Run | str:
    """Return the run, or the text of a refusal."""
    q, v = start(where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulResult)
            return art.simulate(
                place(kind, where),
                END,
                q,
                v,
                components=components(kind, where),
                method=method,
                step=STEP,
                seed=3,
                **more,
            )
    except (art.InputError, art.UnsupportedOperation) as refusal:
        return str(refusal)


@functools.lru_cache(maxsize=4)
def reference(kind: type[Component], where: str) -> art.Run | str:
    """Return a run with tight tolerances."""
    return outcome(kind, where, "dormand_prince", rtol=1e-11, atol=1e-12)


def limit(kind: type[Component], method: Integrator) -> float:
    """Return the error allowed at the end, relative to the largest speed.

    A method of order p errs by about (w h)^p. The fastest motions here, the flexible boom and joints under feedback, have
    about w = 100 rad/s. Across a bend every method with fixed steps is of first order in the size of what is bent.
    Adaptive methods have rtol 1e-8 for each of some 100 steps.
    """
    if method.kind in ("adaptive", "casadi"):
        return 1e-4
    return 8 * (100 * STEP) ** (1 if kind in BENDS else min(method.order or 2, 4))


def unbalanced(run: art.Run) -> float:
    """Return the energy that is unaccounted for, relative to the largest change of any part."""
    error, moved = energy_error(run)
    return error / moved


def rounding_of_potential(run: art.Run) -> float:
    """Return what rounding leaves of the balance where a potential is large beside its changes, as that of the Earth from its center is."""
    names, values = run.signals["energy"].labels, run.signals["energy"].values
    return float(
        16 * np.finfo(float).eps * np.abs(values[:, names.index("potential")]).max() / energy_error(run)[1]
    )


def faults(kind: type[Component], where: str, method: Integrator) -> list[str]:
    """Return what is wrong with a run of a combination."""
    run, wanted = outcome(kind, where, method.name), reference(kind, where)
    if isinstance(run, str):
        reasoned = "expected" in run
        return [] if reasoned and method.name not in MUST_RUN else [f"{method.name} is refused: {run}"]
    if not run.ok and (method.order or 2) > 1:
        return [f"{method.name}: the run is doubtful"]
    allowed = limit(kind, method)
    size = np.abs(wanted.v).max()
    found = {
        "q": np.abs(run.q[-1] - wanted.q[-1]).max() / (size * END),
        "v": np.abs(run.v[-1] - wanted.v[-1]).max() / size,
        "energy": unbalanced(run),
    }
    return [
        f"{method.name}: {name} is off by {x:.1e}, allowed {allowed:.1e}"
        for name, x in found.items()
        if not x <= allowed
    ]


COMBINATIONS = [
    pytest.param(kind, where, id=f"{kind.type_name}-{where}")
    for kind in ALL_COMPONENTS
    for where in (*HOSTS, "beam", "face")
    if where in ONLY.get(kind, HOSTS)
]
COMBINATIONS += [pytest.param(kind, "coupled", id=f"{kind.type_name}-coupled") for kind in ON_COUPLED]


def test_every_component_has_an_example() -> None:
    assert set(EXAMPLES) == set(ALL_COMPONENTS)


def test_every_method_has_its_turn_on_every_host() -> None:
    for where in HOSTS:
        assert {m.name for kind in WHOLE for m in methods(kind, where)} == {m.name for m in ALL_METHODS}


@pytest.mark.parametrize(("kind", "where"), COMBINATIONS)
def test_every_method_gives_the_motion_of_the_reference(kind: type[Component], where: str) -> None:
    wanted = reference(kind, where)
    assert not isinstance(wanted, str), wanted
    assert wanted.status.name == "COMPLETE"
    assert unbalanced(wanted) < 1e-6 + rounding_of_potential(wanted)
    assert not [fault for method in methods(kind, where) for fault in faults(kind, where, method)]


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(("kind", "where"), COMBINATIONS)
def test_a_batch_with_parameters_is_the_single_runs(kind: type[Component], where: str) -> None:
    """Bit by bit, with fixed and with adaptive steps; both for components in `WHOLE` on the tree, else one of them in turn."""
    (q, v), masses = start(where), np.array([1.2, 0.8, 1.9])
    ways = ("rk4", "dormand_prince")
    for method in ways if kind in WHOLE and where == "tree" else in_turn(ways, turn(kind, where)):
        given = {"components": components(kind, where), "method": method, "step": STEP, "seed": 3}
        batch = art.rollout(place(kind, where), END, q, v, params={MASS.name: masses}, **given)
        assert np.isfinite(batch.v).all()
        for row in range(1 if kind in NOISY else len(masses)):
            single = art.rollout(
                place(kind, where), END, q, v, params={MASS.name: masses[row : row + 1]}, **given
            )
            np.testing.assert_array_equal(batch.v[row], single.v[0])
        differ = np.abs(np.diff(batch.v[:, -1], axis=0)).max() > 1e-6
        assert differ or kind is ComputedTorque, (
            "other masses move otherwise, unless the torques are computed from them"
        )
