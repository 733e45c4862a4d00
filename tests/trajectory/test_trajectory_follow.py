"""`Plan.run`: real arms reach the end of their plans from a start that is off by 20 mrad, with the defaults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import path_speed, plan, point_to_point, waypoints

ROBOTS = Path(__file__).parents[2] / "build/robots/cmeel.prefix/share/example-robot-data/robots"
ARMS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
}


def task(arm: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = (np.clip(x, -1.5, 1.5) for x in (arm.limits.lower, arm.limits.upper))
    draw = np.random.default_rng(4)
    return tuple(lower + (upper - lower) * draw.uniform(0.35, 0.65, arm.nq) for _ in range(2))


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # 30 intervals do not resolve what feedback takes care of
@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("period", [None, 1e-3])
def test_real_arms_reach_the_end(name: str, period: float | None) -> None:
    """With the forces of the plan and feedback; what is left is the error of the mesh, and of 20 mrad what is not linear: 3 mrad."""
    if not (path := ROBOTS / ARMS[name]).exists():
        pytest.skip("example-robot-data is not there")
    arm = art.load(path)
    made = plan(arm, *task(arm), duration=1.2345)
    run = made.run(q0=made.q[0] + 0.02, period=period)
    assert -1e-9 < run.t[-1] - made.duration < (period or 1e-9)
    assert np.abs(run.q[-1] - made.q[-1]).max() < 3e-3
    if period is None:
        assert np.abs(run.v[-1]).max() < 0.05


def test_deviations_decay_as_those_of_one_mass() -> None:
    """(1 + w t) exp(-w t) of the deviation in every joint, whatever the inertia; without gravity, and slow, all other terms are below 1 %."""
    arm = art.load("two_link").with_gravity((0, 0, 0))
    made = plan(arm, [0.0, 0.0], [0.02, 0.01], duration=1.0, intervals=60)
    off = np.array([1e-3, -1e-3])
    with_it, without = (made.run(q0=made.q[0] + d, bandwidth=8.0) for d in (off, 0 * off))
    share = (with_it.q - without.q) / off
    expected = (1 + 8 * with_it.t) * np.exp(-8 * with_it.t)
    assert share == pytest.approx(np.column_stack([expected, expected]), abs=0.01)


def test_a_run_without_feedback_takes_no_controller_period() -> None:
    arm = art.load("two_link")
    made = plan(arm, [0.0, 0.0], [0.2, 0.1], duration=1.0, intervals=10)
    for given, text in (
        ({"track": False, "period": 0.01}, "with track=False"),
        ({"track": False, "bandwidth": 3.0}, "with track=False"),
        ({"mechanism": "ur5"}, "expected a Mechanism"),
    ):
        with pytest.raises(InputError, match=text):
            made.run(**given)


def test_plans_of_least_time_are_followed_to_their_end() -> None:
    """A duration that is no multiple of a step, and one controller for a heavier arm."""
    arm = art.load("two_link")
    fast = plan(arm, [0, 0], [1.0, 0.5], duration=(0.1, 5.0), cost="time", torque_limit=1000.0, overload=0.02)
    run = fast.run(q0=[0.02, -0.02])
    assert run.t[-1] == pytest.approx(fast.duration, rel=1e-12)
    assert np.abs(run.q[-1] - [1.0, 0.5]).max() < 1e-3
    with pytest.raises(
        InputError, match=r"whole number of steps\. step=(0\.000\d+) would do; `run` of a plan"
    ) as told:
        art.simulate(arm, fast.duration)
    step = float(str(told.value).partition("step=")[2].split()[0])
    assert art.simulate(arm, fast.duration, step=step).t[-1] == pytest.approx(fast.duration, rel=1e-9)
    with pytest.raises(InputError, match="follow: period: found -1"):
        fast.run(period=-1)


@pytest.mark.parametrize("joint", [art.Spherical(), art.Free()], ids=["ball", "free"])
def test_deviations_of_quaternions_decay_as_those_of_one_mass(joint: art.Joint) -> None:
    """The same for a spacecraft that turns by 0.6 rad: in every direction, by small steps from the planned position; 2 % is what is not linear."""
    craft = art.Mechanism("craft", gravity=(0, 0, 0))
    craft.body("hub", mass=2.0, inertia=[1.0, 2.0, 3.0]).joint("joint", joint, "ground", "hub")
    step = np.zeros(craft.nv)
    step[:3] = [0.2, -0.4, 0.4]
    made = plan(
        craft, craft.neutral, craft.integrate_position(craft.neutral, step),
        duration=2.0, actuators=["joint"], torque_limit=20.0, intervals=30,
    )  # fmt: skip
    off = 1e-3 * np.random.default_rng(3).uniform(0.5, 1, craft.nv)
    run = made.run(q0=craft.integrate_position(made.q[0], off), bandwidth=6.0)
    left = np.array([craft.position_difference(a, b) for a, b in zip(made.at(run.t).q, run.q)])
    size = np.linalg.norm(left, axis=1) / np.linalg.norm(off)
    assert size == pytest.approx((1 + 6 * run.t) * np.exp(-6 * run.t), abs=0.05)
    assert np.abs(left[-1]).max() < 1e-4 * np.abs(off).max() + 1e-6


MORE_ARMS = {
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so100": "so_arm_description/urdf/so100.urdf",
}


@pytest.mark.in_turn(9)
@pytest.mark.parametrize("kind", ["path_speed", "point_to_point", "waypoints"])
@pytest.mark.parametrize("name", MORE_ARMS)
def test_motions_of_every_kind_are_followed(name: str, kind: str) -> None:
    """2 mrad off at the start; what is left is below 0.2 mrad, and 0.44 mrad where the path of a UR3 takes 0.3 s. None of these arms has dry friction, which would hold it."""
    if not (path := ROBOTS / MORE_ARMS[name]).exists():
        pytest.skip("example-robot-data is not there")
    arm = art.load(path)
    lower, upper = (np.clip(x, -1.5, 1.5) for x in (arm.limits.lower, arm.limits.upper))
    draw = np.random.default_rng(4)
    points = np.array([lower + (upper - lower) * draw.uniform(0.4, 0.6, arm.nq) for _ in range(3)])
    speed = arm.limits.velocity
    limits = {"velocity_limit": speed, "acceleration_limit": 4 * speed, "jerk_limit": 40 * speed}
    if kind == "path_speed":
        motion = path_speed(arm, points)
    elif kind == "point_to_point":
        motion = point_to_point(*points[:2], mechanism=arm, **limits)
    else:
        motion = waypoints(points, mechanism=arm, **limits)
    run = motion.run(q0=motion.q[0] + 2e-3)
    assert run.ok
    assert run.t[-1] == pytest.approx(motion.t[-1] - motion.t[0], rel=1e-12)
    assert np.abs(run.q[-1] - motion.q[-1]).max() < 6e-4
