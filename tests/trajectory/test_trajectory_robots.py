"""Every kind of problem on a UR5: own costs and conditions, limits, ends in motion, legs with a payload, hulls that keep apart, parameters."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.motion.trajectory import Apart, Condition, Hull, Leg, plan, plan_legs

ROBOT = (
    Path(__file__).parents[2]
    / "build/robots/cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
)
FIRST = np.array([0, -1.2, 1.0, -1.0, -1.5, 0.0])
LAST = np.array([1.2, -0.8, 0.6, -0.5, -1.0, 0.8])
TIP = "wrist_3_link"
pytestmark = [
    pytest.mark.skipif(not ROBOT.exists(), reason="example-robot-data is not there"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # limits between the points of 15 intervals
]


@pytest.fixture(scope="module")
def ur5() -> art.Mechanism:
    return art.load(ROBOT)


def test_a_cost_of_ones_own(ur5: art.Mechanism) -> None:
    """The integral of the squared tip speed over T is at least d^2 / T, of a straight line at constant speed."""
    own = plan(
        ur5,
        FIRST,
        LAST,
        duration=1.0,
        intervals=15,
        cost=lambda m: ca.sumsqr(m.point_velocity(TIP)) + 1e-4 * ca.sumsqr(m.a),
    )
    d = np.linalg.norm(ur5.pose(TIP, LAST)[:3, 3] - ur5.pose(TIP, FIRST)[:3, 3])
    effort = plan(ur5, FIRST, LAST, duration=1.0, intervals=15)
    t = np.linspace(0, 1, 400)

    def squared(found) -> float:
        points = np.array([np.interp(t, found.t, column) for column in ur5.pose(TIP, found.q)[:, :3, 3].T]).T
        return float((np.diff(points, axis=0) ** 2).sum() / t[1])

    assert d**2 * 0.99 < squared(own) < squared(effort)


def test_a_condition_on_the_tip(ur5: art.Mechanism) -> None:
    free = plan(ur5, FIRST, LAST, duration=1.0, intervals=15)
    ends = ur5.pose(TIP, np.array([FIRST, LAST]))[:, 1, 3]
    most = (ends.max() + ur5.pose(TIP, free.q)[:, 1, 3].max()) / 2
    kept = plan(
        ur5,
        FIRST,
        LAST,
        duration=1.0,
        intervals=15,
        conditions=[Condition("side", lambda m: m.point(TIP)[1], upper=most)],
    )
    assert ur5.pose(TIP, kept.q)[:, 1, 3].max() <= most + 1e-6
    assert kept.cost >= free.cost * (1 - 1e-6)


def test_least_time_within_acceleration_and_jerk(ur5: art.Mechanism) -> None:
    """The pan joint has 1.2 rad to go, the most of all: 2 sqrt(d / a), and a / j + sqrt((a / j)^2 + 4 d / a) with a limit of jerk."""
    a, j, d = 8.0, 60.0, 1.2
    given = {"duration": (0.1, 5.0), "cost": "time", "intervals": 20, "acceleration_limit": a}
    assert plan(ur5, FIRST, LAST, **given).duration == pytest.approx(2 * np.sqrt(d / a), rel=1e-3)
    jerky = plan(ur5, FIRST, LAST, **given, jerk_limit=j)
    assert jerky.duration == pytest.approx(a / j + np.sqrt((a / j) ** 2 + 4 * d / a), rel=1e-3)
    forced = plan(ur5, FIRST, LAST, **given | {"acceleration_limit": None}, torque_rate_limit=2000.0)
    rates = forced.courses[0].z[:, forced.task.columns.force_rate]
    assert np.abs(rates).max() == pytest.approx(2000.0, rel=1e-4)
    assert forced.duration < 0.7


def test_ends_in_motion_are_replayed(ur5: art.Mechanism) -> None:
    v0, v1 = 0.5 * np.eye(6)[0], 0.4 * np.eye(6)[2]
    moving = plan(ur5, FIRST, LAST, duration=1.0, intervals=40, v0=v0, goal_velocity=v1)
    run = moving.run(track=False)
    assert run.v[0] == pytest.approx(v0, abs=1e-12)
    assert run.v[-1] == pytest.approx(v1, abs=0.05)  # discretization of 40 intervals


def test_pick_and_place(ur5: art.Mechanism) -> None:
    """Reach, carry 3 kg, and return without stopping half-way; with the payload holding still takes more torque."""
    carry = art.load(ROBOT)
    carry.body("box", mass=3.0, inertia=[0.01, 0.01, 0.01]).joint("grip", art.Fixed(), TIP, "box")
    legs = [
        Leg(LAST, 1.0, name="reach"),
        Leg(FIRST, 1.5, mechanism=carry, name="carry"),
        Leg((FIRST + LAST) / 2, 0.6, "free", mechanism=ur5, name="back"),
        Leg(LAST, 0.6, name="end"),
    ]
    done = plan_legs(ur5, FIRST, legs, intervals=15)
    assert done.ok
    reach, carried, back, _ = done.legs
    assert carried.q[0] == pytest.approx(reach.q[-1], abs=1e-9)
    assert np.abs(back.v[-1]).max() > 0.5
    assert carried.u[0] == pytest.approx(
        carry.inverse_dynamics(LAST, 0 * LAST, carried.courses[0].z[0, 12:18]), abs=1e-5
    )
    runs = done.run()
    assert runs[1].q[-1] == pytest.approx(FIRST, abs=0.02)  # the payload swings it by its bandwidth


def test_hulls_keep_apart(ur5: art.Mechanism) -> None:
    """The elbow swings in and out again: hulls that keep apart turn it round earlier."""
    base = Hull("base_link", (0, 0, 0.1), (0, 0, 0.1), 0.12, 1)
    wrist = Hull(TIP, (0, 0, 0), (0, 0, 0), 0.08, 1)
    end, swing = np.array([0.0, -1.3, 1.3, -0.5, 0.0, 0.0]), 2.5 * np.eye(6)[2]

    def gap(found) -> float:
        away = ur5.pose(TIP, found.q)[:, :3, 3] - (ur5.pose("base_link", found.q[0])[:3, 3] + [0, 0, 0.1])
        return float(np.linalg.norm(away, axis=1).min() - 0.2)

    given = {"duration": 1.0, "intervals": 20, "v0": swing, "goal_velocity": -swing}
    free = plan(ur5, end, end, **given)
    ends = plan(ur5, end, end, duration=1.0, intervals=5)
    assert gap(free) < gap(ends) - 0.01
    margin = (gap(free) + gap(ends)) / 2
    apart = plan(ur5, end, end, **given, obstacles=[Apart(base, wrist, margin=margin)])
    assert gap(apart) >= margin - 1e-6
    assert apart.cost > free.cost
