"""Components of spacecraft for the tests that go through all components: an example of each, and what it reads from."""

from __future__ import annotations

from collections.abc import Callable

from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import RateGyro, ReactionWheel, Thruster
from articulus.simulation.loop.components.executive import Voter
from articulus.simulation.loop.components.spacecraft import (
    AtmosphericDrag,
    AttitudeFilter,
    AxisSlew,
    BDotDamping,
    ControlMomentGyro,
    DriftingGyro,
    GyroSteering,
    HarmonicGravity,
    HillPointing,
    InertialPointing,
    LineOfSight,
    Magnetometer,
    Magnetorquer,
    Microgravity,
    MomentumDumping,
    MomentumManagement,
    MrpFeedback,
    MrpSteering,
    QuaternionFeedback,
    SchmittTrigger,
    SlidingAttitude,
    SolarPressure,
    SpaceEnvironment,
    StarTracker,
    SunSensor,
    Tachometer,
    ThermalBending,
    ThirdBodies,
    TorqueAllocation,
    WheelImbalance,
)

EPOCH = "2025-03-20T09:01:00Z"
CENTER = (0.0, 0.0, -6.6e6)
"""The Earth's center below a mechanism at the origin [m]."""


def _space(frame: str, epoch: str = EPOCH) -> SpaceEnvironment:
    return SpaceEnvironment(frame, epoch, CENTER)


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.57735026919, 0.57735026919, 0.57735026919))
WHEELS = ("wheel0", "wheel1", "wheel2", "wheel3")


def _wheels(frame: str) -> tuple[Component, ...]:
    wheels = [ReactionWheel(frame, 0.01, axis, name=name, momentum=0.02) for name, axis in zip(WHEELS, AXES)]
    return (*(Tachometer(name) for name in WHEELS), *wheels)


def _coils(frame: str) -> tuple[Component, ...]:
    return tuple(Magnetorquer(frame, axis, name=f"coil{k}") for k, axis in enumerate(AXES[:3]))


def _gyros(frame: str) -> tuple[Component, ...]:
    axes = zip(AXES[:3], (*AXES[1:3], AXES[0]))
    return tuple(ControlMomentGyro(frame, 0.3, g, x, name=f"gyro{k}") for k, (g, x) in enumerate(axes))


def _law(frame: str) -> tuple[Component, ...]:
    return InertialPointing(name="guidance"), MrpFeedback(frame, stiffness=0.2, damping=0.1, name="law")


COILS, GYROS = ("coil0", "coil1", "coil2"), ("gyro0", "gyro1", "gyro2")
SPACECRAFT: dict[type[Component], Callable[[str], Component]] = {
    SpaceEnvironment: _space,
    StarTracker: lambda frame: StarTracker(frame, noise=(1e-4, 1e-4, 1e-3), period=0.02),
    DriftingGyro: lambda frame: DriftingGyro(frame, 0.02, noise=1e-3, drift=1e-4),
    Magnetometer: Magnetometer,
    SunSensor: SunSensor,
    Tachometer: lambda _: Tachometer("wheel0"),
    AttitudeFilter: lambda _: AttitudeFilter("tracker.attitude", "gyro.rate", 0.02),
    Microgravity: lambda frame: Microgravity(frame, center=CENTER),
    LineOfSight: lambda frame: LineOfSight((frame,), [(1, 0, 0, 0, 0.5, 0), (0, 1, 0, -0.5, 0, 0)]),
    MomentumManagement: lambda frame: MomentumManagement(frame, [[-1e-3] * 12] * 3, WHEELS[:3]),
    InertialPointing: lambda _: InertialPointing(),
    HillPointing: lambda _: HillPointing(),
    AxisSlew: lambda _: AxisSlew((0.0, 0.0, 1.0), angle=0.5, duration=2.0),
    MrpFeedback: lambda frame: MrpFeedback(frame, inertia=(1.0, 1.0, 2.0), stiffness=0.2, damping=0.1),
    QuaternionFeedback: lambda frame: QuaternionFeedback(frame, stiffness=0.2, damping=0.1),
    SlidingAttitude: lambda frame: SlidingAttitude(
        frame, inertia=(0.2, 0.2, 0.2), slope=0.2, layer=2.0, disturbance=0.1
    ),
    MrpSteering: lambda frame: MrpSteering(frame, linear=0.1, cubic=0.1, damping=0.1),
    TorqueAllocation: lambda _: TorqueAllocation("law.torque", AXES, WHEELS, damping=1e-3),
    GyroSteering: lambda _: GyroSteering("law.torque", AXES[:3], (*AXES[1:3], AXES[0]), 0.3, GYROS),
    SchmittTrigger: lambda _: SchmittTrigger(
        "law.torque", 0.1, ((0.1, 0, 0), (0, 0.1, 0)), ("jet0", "jet1"), period=0.02
    ),
    MomentumDumping: lambda _: MomentumDumping("compass.field", WHEELS, AXES, AXES[:3], COILS),
    BDotDamping: lambda _: BDotDamping("compass.field", AXES[:3], COILS, period=0.02),
    Magnetorquer: lambda frame: Magnetorquer(frame, limit=20.0),
    ControlMomentGyro: lambda frame: ControlMomentGyro(frame, 0.3, rate_limit=1.0),
    HarmonicGravity: lambda _: HarmonicGravity(degree=3, epoch=EPOCH, center=CENTER),
    ThirdBodies: lambda _: ThirdBodies(EPOCH, CENTER),
    AtmosphericDrag: lambda frame: AtmosphericDrag((frame, frame), 0.3, ((0, 0, 1), (0.6, 0, 0.8))),
    SolarPressure: lambda frame: SolarPressure((frame,), (0.3,), specular=0.2, diffuse=0.1),
    ThermalBending: lambda _: ThermalBending("near", "far", 30.0, 1e-2, 0.05, axis=(0, 1, 0), initial=1e-3),
    WheelImbalance: lambda frame: WheelImbalance("wheel0", frame, (1, 0, 0), static=1e-3, dynamic=1e-3),
}
"""By the frame that carries it."""

COMPANIONS: dict[type[Component], Callable[[str], tuple[Component, ...]]] = {
    kind: lambda frame: (_space(frame),)
    for kind in (
        AtmosphericDrag,
        SolarPressure,
        Magnetometer,
        SunSensor,
        HillPointing,
        Magnetorquer,
        ThermalBending,
    )
} | {
    Voter: lambda frame: tuple(RateGyro(frame, name=name) for name in "abc"),
    Tachometer: lambda frame: _wheels(frame)[4:],
    WheelImbalance: lambda frame: _wheels(frame)[4:],
    AttitudeFilter: lambda frame: (
        StarTracker(frame, name="tracker", period=0.02),
        DriftingGyro(frame, 0.02, name="gyro"),
    ),
    **{
        kind: lambda _: (InertialPointing(),)
        for kind in (MrpFeedback, QuaternionFeedback, MrpSteering, SlidingAttitude)
    },
    MomentumManagement: lambda frame: (InertialPointing(), *_wheels(frame)),
    TorqueAllocation: lambda frame: (*_law(frame), *_wheels(frame)),
    GyroSteering: lambda frame: (*_law(frame), *_gyros(frame)),
    SchmittTrigger: lambda frame: (
        *_law(frame),
        Thruster(frame, name="jet0"),
        Thruster(frame, (0, 1, 0), name="jet1"),
    ),
    MomentumDumping: lambda frame: (
        _space(frame),
        Magnetometer(frame, name="compass"),
        *_wheels(frame),
        *_coils(frame),
    ),
    BDotDamping: lambda frame: (_space(frame), Magnetometer(frame, name="compass"), *_coils(frame)),
}
"""Components that it reads from."""
WEIGHTLESS = {HarmonicGravity}
"""Those that want a mechanism without a gravity of its own."""
