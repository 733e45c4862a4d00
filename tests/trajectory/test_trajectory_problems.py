"""What a mechanism's plan may have besides ends and limits of forces: costs and conditions of one's own, limits of acceleration, jerk and torque
rate, ends in motion, starts of frames, time, parameters, hulls that keep apart."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import (
    Acceleration,
    Apart,
    Condition,
    Cost,
    Effort,
    FunctionCost,
    Hull,
    MotionSymbols,
    Time,
    costs,
    plan,
)

START, GOAL = [-0.4, 0.3], [0.9, -0.5]
GIVEN = {"duration": 1.0, "torque_limit": 2500.0, "intervals": 12}


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link")


@pytest.fixture(scope="module")
def hinge() -> art.Mechanism:
    """A disc of 2 kg m^2 about a vertical axis: angle'' = torque / 2."""
    m = art.Mechanism("hinge")
    m.body("disc", mass=1.0, inertia=[2.0, 2.0, 2.0])
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "disc")
    return m.with_gravity([0.0, 0.0, 0.0])


# costs


def test_costs_by_word_weight_and_object_are_one(arm: art.Mechanism) -> None:
    by_word = plan(arm, START, GOAL, **GIVEN | {"duration": (0.3, 3.0), "overload": 0.02}, cost="time")
    by_weight = plan(
        arm,
        START,
        GOAL,
        **GIVEN | {"duration": (0.3, 3.0), "overload": 0.02},
        cost={"time": 1.0, "effort": 1e-4},
    )
    by_object = plan(
        arm, START, GOAL, **GIVEN | {"duration": (0.3, 3.0), "overload": 0.02}, cost=[Time(), Effort(1e-4)]
    )
    assert np.array_equal(by_word.solution.x, by_weight.solution.x)
    assert np.array_equal(by_word.solution.x, by_object.solution.x)


def test_a_function_is_the_cost_it_says(arm: art.Mechanism) -> None:
    own = plan(arm, START, GOAL, **GIVEN, cost=lambda motion: ca.sumsqr(motion.a))
    named = plan(arm, START, GOAL, **GIVEN, cost=Acceleration())
    assert own.cost == pytest.approx(named.cost, rel=1e-9)
    # the least integral of a^2 from rest to rest over T is 12 d^2 / T^3 for each joint, by a cubic
    least = 12 * sum((b - a) ** 2 for a, b in zip(START, GOAL))
    assert own.cost == pytest.approx(least, rel=1e-6)


def test_a_cost_at_the_end_pulls_an_open_end(arm: art.Mechanism) -> None:
    cost = [Effort(1e-6), FunctionCost(lambda motion: ca.sumsqr(motion.v - ca.DM([0.5, -0.2])), when="end")]
    moving = plan(arm, START, GOAL, **GIVEN, cost=cost, goal_velocity="free")
    assert moving.v[-1] == pytest.approx([0.5, -0.2], abs=1e-3)  # effort counts a millionth


def test_recipe_of_a_new_cost(arm: art.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places: a class and a line of `ALL_COSTS`. Weights by name, task files and plan files know it then."""

    @dataclass(frozen=True)
    class Power(Cost):
        """The integral of the squared power of the actuators [W^2 s]."""

        weight: float = 1.0

        def running(self, motion: MotionSymbols) -> ca.SX:
            return ca.sumsqr(motion.u * motion.v)

    monkeypatch.setitem(costs.ALL_COSTS, "power", Power)
    by_name = plan(arm, START, GOAL, **GIVEN, cost={"power": 1e-6, "effort": 1e-3})
    as_object = plan(arm, START, GOAL, **GIVEN, cost=[Effort(1e-3), Power(1e-6)])
    assert by_name.cost == pytest.approx(as_object.cost, rel=1e-9)
    assert (
        inspect.getsource(costs).count("Acceleration") == 2
    )  # the class and its line: nothing else names a kind


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cost": lambda motion: motion.u}, r"cost: found .* from a function; expected one expression"),
        (
            {"cost": FunctionCost(lambda m: m.u[0] ** 2, weight=-1.0)},
            "expected nonnegative weights",
        ),
        (
            {"conditions": [Condition("empty", lambda motion: 1.0, upper=2.0)]},
            "does not depend on the motion",
        ),
        ({"conditions": [Condition("rows", lambda motion: motion.q, upper=[1, 2, 3])]}, "numbers for 2 rows"),
        ({"conditions": ["low"]}, r"conditions: found 'low'; expected Condition"),
        ({"goal_velocity": [1.0]}, r"goal_velocity: found \[1.0\]; expected 2 finite numbers"),
        ({"parameters": {"mass": (0.0, 1.0)}}, "parameters: found 'mass'"),
        ({"jerk_limit": 10.0, "actuators": ["joint1"]}, "expected an actuator for every degree of freedom"),
        ({"jerk_limit": 10.0, "scheme": "riccati"}, r"found states besides positions and velocities"),
    ],
)
def test_what_is_no_problem_is_said(arm: art.Mechanism, given, told: str) -> None:
    with pytest.raises(InputError, match=told):
        plan(arm, START, GOAL, **GIVEN | given)


def test_a_condition_of_another_time_is_refused() -> None:
    with pytest.raises(InputError, match="when='middle'"):
        Condition("low", lambda motion: motion.q, when="middle")


# limits


@pytest.mark.filterwarnings(
    "ignore::UserWarning"
)  # accelerations jump between points; jerks swing about zero at full acceleration
def test_least_time_within_limits_of_acceleration_and_jerk(hinge: art.Mechanism) -> None:
    """Bang-bang takes 2 sqrt(d / a); with a largest jerk j and a phase of full acceleration a / j + sqrt((a / j)^2 + 4 d / a) (Biagiotti & Melchiorri 2008)."""
    d, a, j = 1.2, 8.0, 60.0
    given = {
        "duration": (0.1, 5.0),
        "cost": {"time": 1.0, "effort": 1e-8},
        "torque_limit": 1e3,
        "intervals": 40,
    }
    fast = plan(hinge, [0.0], [d], acceleration_limit=a, **given)
    assert fast.duration == pytest.approx(2 * np.sqrt(d / a), rel=1e-4)
    smooth = plan(hinge, [0.0], [d], acceleration_limit=a, jerk_limit=j, **given)
    assert smooth.duration == pytest.approx(
        a / j + np.sqrt((a / j) ** 2 + 4 * d / a), rel=5e-4
    )  # jerks jump inside of intervals
    assert smooth["a.hinge"][[0, -1]] == pytest.approx([0.0, 0.0], abs=1e-9)
    # torque = 2 a: the limit of its rate that goes with that jerk gives the same motion
    forced = plan(hinge, [0.0], [d], acceleration_limit=a, torque_rate_limit=2 * j, **given)
    assert forced.duration == pytest.approx(smooth.duration, rel=5e-4)
    both = plan(hinge, [0.0], [d], acceleration_limit=a, torque_rate_limit=2 * j, jerk_limit=10 * j, **given)
    assert both.duration == pytest.approx(smooth.duration, rel=5e-4)


def test_limited_rates_do_not_swing(arm: art.Mechanism) -> None:
    """A little of their squares, as "time" and "effort" have it, makes those of the joint smooth that has time left, and hardly costs any time."""
    given = {"duration": (0.1, 5.0), "intervals": 20, "acceleration_limit": 8.0, "jerk_limit": 60.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        open_, smooth = (
            plan(arm, START, GOAL, cost=cost, torque_limit=1e5, **given)
            for cost in ({"time": 1.0, "effort": 1e-4}, "time")
        )
    assert smooth.duration == pytest.approx(open_.duration, rel=1e-3)
    swinging = [{each.name for each in found.chatter} for found in (open_, smooth)]
    assert "jerk.joint2" in swinging[0] - swinging[1]


# ends


def test_ends_in_motion(arm: art.Mechanism) -> None:
    """The least integral of a^2 between given positions and velocities is the cubic's: 4 (v0^2 + v0 v1 + v1^2 - 3 d (v0 + v1) + 3 d^2) for T = 1."""
    v0, v1 = np.array([0.5, -0.3]), np.array([0.0, 0.4])
    moving = plan(arm, START, GOAL, **GIVEN, cost=Acceleration(), v0=v0, goal_velocity=v1)
    d = np.subtract(GOAL, START)
    least = 4 * (v0**2 + v0 * v1 + v1**2 - 3 * d * (v0 + v1) + 3 * d**2).sum()
    assert moving.cost == pytest.approx(least, rel=1e-6)
    assert moving.v[[0, -1]] == pytest.approx(np.array([v0, v1]), abs=1e-9)
    assert moving.end_error < 1e-3  # discretization of 12 intervals


def test_a_start_that_only_a_frame_has(arm: art.Mechanism) -> None:
    """Any position that has the tip at a point may be the start: never dearer than one of them."""
    tip = arm.description.frames[-1].name if arm.description.frames else arm.description.bodies[-1].name
    point = arm.pose(tip, np.array(START))[:3, 3]
    given = plan(arm, START, GOAL, **GIVEN)
    free = plan(arm, art.goals.FramePoint(tip, point), GOAL, **GIVEN)
    assert free.cost <= given.cost * (1 + 1e-6)
    assert arm.pose(tip, free.q[0])[:3, 3] == pytest.approx(point, abs=1e-6)


# conditions, time, parameters


def test_conditions_hold_at_the_points(arm: art.Mechanism) -> None:
    free = plan(arm, START, GOAL, **GIVEN)
    most = 0.8 * np.abs(free.v[:, 0]).max()
    slow = plan(arm, START, GOAL, **GIVEN, conditions=[Condition("slow", lambda m: m.v[0], -most, most)])
    limited = plan(arm, START, GOAL, **GIVEN, velocity_limit={"joint1": most})
    assert slow.cost == pytest.approx(limited.cost, rel=1e-5)
    assert slow.cost > free.cost


def test_time_in_a_condition_and_a_cost(hinge: art.Mechanism) -> None:
    """A goal that moves with time: catch angle = 0.3 + 0.5 t at its speed; and time in the running cost, whose integral is known."""
    meet = Condition("meet", lambda motion: motion.q[0] - 0.3 - 0.5 * motion.t, 0.0, 0.0, when="end")
    caught = plan(
        hinge,
        [0.0],
        [0.8],
        duration=(0.2, 5.0),
        torque_limit=1e3,
        cost=Effort(),
        goal_velocity=[0.5],
        conditions=[meet],
    )
    assert caught.duration == pytest.approx(1.0, rel=1e-6)  # 0.8 = 0.3 + 0.5 t
    clocked = plan(hinge, [0.0], [1.0], **GIVEN, cost=lambda motion: motion.t**2 + 1e-9 * motion.u[0] ** 2)
    assert clocked.cost == pytest.approx(1 / 3, rel=1e-6)


def test_parameters_that_the_plan_chooses() -> None:
    """A counterweight that balances the arm: at its best value no torque is needed against gravity at rest."""
    weight = art.Parameter("weight", 1.0)
    m = art.Mechanism("balance")
    m.body("bar", mass=1.0, com=[0.4, 0.0, 0.0], inertia=[0.01, 0.1, 0.1])
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bar")
    m.body("counterweight", mass=weight, inertia=[1e-4, 1e-4, 1e-4])
    m.joint("fixed", art.Fixed(), "bar", "counterweight", at=(-0.2, 0.0, 0.0))
    given = {"duration": 3.0, "intervals": 20}
    own = plan(m, [0.0], [0.3], **given)
    best = plan(m, [0.0], [0.3], **given, parameters={"weight": (0.1, 5.0)})
    assert best.parameters["weight"] == pytest.approx(
        2.0, abs=0.01
    )  # 1 kg at 0.4 m against 2 kg at 0.2 m; slow, so that inertia hardly counts
    assert best.cost < 0.1 * own.cost


# hulls


def test_hulls_of_the_mechanism_keep_apart(arm: art.Mechanism) -> None:
    first, second = (b.name for b in arm.description.bodies[:2])
    hulls = Hull(first, (0.1, 0, 0), (0.1, 0, 0), 0.05, 1), Hull(second, (0.5, 0, 0), (0.5, 0, 0), 0.05, 1)

    def distance(q: np.ndarray) -> np.ndarray:
        a, b = ((p := arm.pose(h.body, q))[:, :3, 3] + p[:, :3, :3] @ np.array(h.start) for h in hulls)
        return np.linalg.norm(a - b, axis=1)

    free = plan(arm, [0.0, -1.2], [0.0, 1.2], **GIVEN)
    least = float(distance(free.q[[0]])[0]) - 0.1
    apart = plan(arm, [0.0, -1.2], [0.0, 1.2], **GIVEN, obstacles=[Apart(*hulls)])
    assert distance(apart.q).min() >= 0.1 - 1e-6
    folded = plan(arm, [0.0, 2.2], [0.5, 2.0], **GIVEN)
    margin = float(distance(folded.q).min()) - 0.1
    assert least > 0
    assert margin > 0
    with pytest.raises(InputError, match=r"clear of .* off by"):
        plan(arm, [0.0, 2.2], [0.5, 2.0], **GIVEN, obstacles=[Apart(*hulls, margin=margin + 0.1)])
    with pytest.raises(InputError, match="hulls of two bodies"):
        Apart(hulls[0], hulls[0])
