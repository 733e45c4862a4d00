"""Actuators, sensors and states of a mechanism that is edited."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.files import parse_mjcf

ARM = """<mujoco model="arm">
  <worldbody>
    <body name="a"><joint name="h" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
      <site name="imu"/>
      <body name="b" pos="0 0 1"><joint name="k" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
        <site name="tip" pos="0 0 1"/></body></body>
  </worldbody>
  <actuator><motor name="first" joint="h"/><position name="second" joint="k" kp="3" ctrllimited="true" ctrlrange="-1 1"/></actuator>
  <sensor><gyro name="gyro" site="imu"/><accelerometer name="felt" site="tip"/></sensor>
  <keyframe><key name="home" qpos="0.1 0.2" ctrl="0.3 0.4"/></keyframe>
</mujoco>"""


@pytest.fixture
def arm() -> art.Mechanism:
    return art.Mechanism.from_description(parse_mjcf(ARM))


def names(mechanism: art.Mechanism) -> list[str]:
    return [c.name for c in mechanism.components()]


def test_a_branch_takes_its_equipment_with_it(arm: art.Mechanism) -> None:
    short = arm.without("b")
    assert names(short) == ["first", "gyro"]
    assert short.states["home"].q == pytest.approx([0.1])
    assert short.states["home"].commands == {"first": 0.3}


def test_a_held_joint_has_no_drive(arm: art.Mechanism) -> None:
    held = arm.with_locked({"h": 0.5})
    assert names(held) == ["second", "gyro", "felt"]
    assert held.states["home"].q == pytest.approx([0.2])


@pytest.mark.filterwarnings("ignore:(?s).*the run has no contact")  # told once a process
def test_attached_equipment_has_the_prefix(arm: art.Mechanism) -> None:
    both = arm.with_attached(arm, "tip", prefix="left_")
    assert names(both) == [
        "first",
        "second",
        "gyro",
        "felt",
        "left_first",
        "left_second",
        "left_gyro",
        "left_felt",
    ]
    np.testing.assert_allclose(both.states["left_home"].q, [0, 0, 0.1, 0.2])
    run = art.simulate(both, 0.01, components=both.components(), step=1e-3)
    assert run.ok


def test_scaling_leaves_equipment_behind(arm: art.Mechanism) -> None:
    assert arm.with_scale(2.0).components() == []
