"""Sensors against kinematics of the mechanism, and what the way from the sensor adds."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.components import (
    Accelerometer,
    ForceSensor,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    JointSensor,
    Measured,
    PrescribedForce,
    RateGyro,
    Velocimeter,
)

from .support import Loop, floater, slider

ARM = art.load("puma600")
RNG = np.random.default_rng(5)
Q, V = RNG.uniform(-1, 1, (2, 6))
FRAME = ARM.body_names[-1]


def arm(*components: object) -> Loop:
    return Loop(ARM, *components).put(q=Q, v=V)


def test_joint_sensor_in_the_order_asked_for() -> None:
    names = ARM.joint_names
    loop = arm(JointSensor(joints=(names[4], names[1])))
    assert loop.signal("joints.q") == pytest.approx(Q[[4, 1]])
    assert loop.signal("joints.v") == pytest.approx(V[[4, 1]])


def test_frame_pose_velocity_acceleration() -> None:
    tip = FRAME
    loop = arm(FramePose(tip), FrameVelocity(tip), FrameAcceleration(tip))
    X = ARM.pose(tip, Q)
    assert loop.signal(f"{tip}_frame_pose.position") == pytest.approx(X[:3, 3])
    roll, pitch, yaw = loop.signal(f"{tip}_frame_pose.rpy")
    m = art.Mechanism("turned")
    m.body("b", mass=1.0, inertia=(1, 1, 1))
    m.joint("j", art.Fixed(), parent="ground", child="b", at=art.Pose(rpy=(roll, pitch, yaw)))
    assert m.pose("b", np.zeros(0))[:3, :3] == pytest.approx(X[:3, :3])  # rpy as model files mean it
    J = ARM.jacobian(tip, Q) @ V
    assert loop.signal(f"{tip}_frame_velocity.angular") == pytest.approx(J[:3])
    assert loop.signal(f"{tip}_frame_velocity.linear") == pytest.approx(J[3:])
    vdot = ARM.forward_dynamics(Q, V, np.zeros(6))
    expected = ARM.acceleration(tip, Q, V, vdot)
    assert loop.signal(f"{tip}_frame_acceleration.angular") == pytest.approx(expected[:3])
    assert loop.signal(f"{tip}_frame_acceleration.linear") == pytest.approx(expected[3:])


def test_rate_gyro_gives_body_axes() -> None:
    w = np.array([0.3, -0.2, 0.7])
    loop = Loop(floater(), RateGyro("hull"))
    quaternion = np.array([0.5, -0.5, 0.1, np.sqrt(1 - 0.51)])
    places = floater().description.coordinate_names()
    q = np.zeros(7)
    q[[i for i, n in enumerate(places) if n.split(".")[-1].startswith("q")]] = quaternion
    assert loop.put(q=q, v=[*w, 0.1, 0.2, 0.3]).signal("hull_rate_gyro.rate") == pytest.approx(w)


def test_force_sensor_feels_the_weight_behind_it() -> None:
    m = slider(mass=2.0, gravity=-10.0)
    m.body("load", mass=3.0, inertia=(1, 1, 1))
    m.joint("weld", art.Fixed(), parent="carriage", child="load", at=(0.2, 0, 0))
    held = Loop(m, ForceSensor("weld"), PrescribedForce("lift", 50.0))  # 5 kg at rest
    assert held.signal("weld_force_sensor.force") == pytest.approx([0, 0, 30.0])
    falling = Loop(m, ForceSensor("weld"))
    assert falling.signal("weld_force_sensor.force") == pytest.approx([0, 0, 0], abs=1e-12)


def test_accelerometer_and_velocimeter_in_their_own_axes() -> None:
    loop = arm(Accelerometer(FRAME), Velocimeter(FRAME))
    R, vdot = ARM.pose(FRAME, Q)[:3, :3], ARM.forward_dynamics(Q, V, np.zeros(6))
    felt = ARM.acceleration(FRAME, Q, V, vdot)[3:] - ARM.description.gravity
    assert loop.signal(f"{FRAME}_accelerometer.specific_force") == pytest.approx(R.T @ felt)
    assert loop.signal(f"{FRAME}_velocimeter.velocity") == pytest.approx(
        R.T @ (ARM.jacobian(FRAME, Q) @ V)[3:]
    )


def test_accelerometer_at_rest_and_in_free_fall() -> None:
    held = Loop(slider(gravity=-9.81), Accelerometer("carriage"), PrescribedForce("lift", 2 * 9.81))
    assert held.signal("carriage_accelerometer.specific_force") == pytest.approx([0, 0, 9.81])
    falling = Loop(slider(gravity=-9.81), Accelerometer("carriage"))
    assert falling.signal("carriage_accelerometer.specific_force") == pytest.approx([0, 0, 0], abs=1e-12)


# on the way from the sensor


def moving(**options: object) -> Loop:
    """A slider with q = t."""
    return Loop(slider(), Measured(JointSensor(), **options)).put(v=1.0)


def test_bias_and_resolution() -> None:
    loop = moving(bias=(0.5, 0.0), resolution=(0.25, 0.0))
    found = loop.run(1.0, 0.01, "joints.q", "joints.v")
    exact = 0.25 * np.floor((found["t"] + 0.5) / 0.25 + 0.5)
    off = np.abs((found["t"] + 0.5) / 0.25 % 1 - 0.5) < 1e-6  # on an edge rounding decides
    assert found["joints.q"].ravel()[~off] == pytest.approx(exact[~off])
    assert np.all(found["joints.v"] == 1.0)


def test_sampling_holds() -> None:
    found = moving(period=0.04).run(1.0, 0.01, "joints.q")
    assert found["joints.q"].ravel() == pytest.approx(0.04 * (np.arange(101) // 4))


@pytest.mark.parametrize("delay", [1, 3])
def test_delay_is_a_shift_register_that_starts_with_the_first_sample(delay: int) -> None:
    loop = moving(period=0.02, delay=delay).put(q=7.0)
    found = loop.run(0.5, 0.01, "joints.q")
    late = np.maximum(np.arange(51) // 2 - delay, 0)
    assert found["joints.q"].ravel() == pytest.approx(7.0 + 0.02 * late)


def test_noise_has_its_standard_deviation_for_each_entry() -> None:
    loop = moving(noise=(0.1, 3.0))
    assert loop.system.nw == 2
    loop.w = np.array([2.0, -1.0])
    assert loop.signal("joints.q") == pytest.approx(0.2)
    assert loop.signal("joints.v") == pytest.approx(1.0 - 3.0)
    assert moving(period=0.01).system.nw == 0
