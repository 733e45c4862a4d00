"""`Plan.follow`: real arms reach the end of their plans from a start that is off by 20 mrad, with the defaults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import plan

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
@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("period", [None, 1e-3])
def test_real_arms_reach_the_end(name: str, period: float | None) -> None:
    """With the forces of the plan and feedback; what is left is the error of the mesh, and of 20 mrad what is not linear: 3 mrad."""
    if not (path := ROBOTS / ARMS[name]).exists():
        pytest.skip("example-robot-data is not there")
    arm = art.load(path)
    made = plan(arm, *task(arm), duration=1.2345)
    run = made.follow(q0=made.q[0] + 0.02, period=period)
    assert -1e-9 < run.t[-1] - made.duration < (period or 1e-9)
    assert np.abs(run.q[-1] - made.q[-1]).max() < 3e-3
    if period is None:
        assert np.abs(run.v[-1]).max() < 0.05


def test_deviations_decay_as_those_of_one_mass() -> None:
    """(1 + w t) exp(-w t) of the deviation in every joint, whatever the inertia; without gravity, and slow, all other terms are below 1 %."""
    arm = art.load("two_link").with_gravity((0, 0, 0))
    made = plan(arm, [0.0, 0.0], [0.02, 0.01], duration=1.0, intervals=60)
    off = np.array([1e-3, -1e-3])
    with_it, without = (made.follow(q0=made.q[0] + d, bandwidth=8.0) for d in (off, 0 * off))
    share = (with_it.q - without.q) / off
    expected = (1 + 8 * with_it.t) * np.exp(-8 * with_it.t)
    assert share == pytest.approx(np.column_stack([expected, expected]), abs=0.01)


def test_plans_of_least_time_are_followed_to_their_end() -> None:
    """A duration that is no multiple of a step, and one controller for a heavier arm."""
    arm = art.load("two_link")
    fast = plan(arm, [0, 0], [1.0, 0.5], duration=(0.1, 5.0), cost="time", torque_limit=1000.0, overload=0.02)
    run = fast.follow(q0=[0.02, -0.02])
    assert run.t[-1] == pytest.approx(fast.duration, rel=1e-12)
    assert np.abs(run.q[-1] - [1.0, 0.5]).max() < 1e-3
    with pytest.raises(InputError, match="follow: period: found -1"):
        fast.follow(period=-1)
