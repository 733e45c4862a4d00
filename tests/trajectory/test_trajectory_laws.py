"""Laws of plans: other units; parameters and time; legs of a best motion are best; ends."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import (
    Acceleration,
    Itinerary,
    Leg,
    Phase,
    ode,
    plan,
    plan_legs,
    solve_problem,
)
from articulus.motion.trajectory.schemes import ALL_SCHEMES

A = np.array([[0.0, 1.0, 0.0], [-2.0, -0.3, 0.5], [0.0, 0.4, -1.0]])
B = np.array([[0.0], [1.0], [0.6]])
Q, R = np.diag([3.0, 0.5, 1.0]), np.array([[0.4]])
FIRST = np.array([1.0, -0.5, 0.3])
SCHEMES = [n for n in ALL_SCHEMES if "euler" not in n] + ["radau 3", "lobatto 4"]


def regulator(units: float = 1.0) -> Phase:
    """Return the regulator over 1 s; states are counted in `units`."""
    x, u = SX.sym("x", 3), SX.sym("u", 1)
    own = units * x
    running = (ca.bilin(ca.DM(Q), own, own) + ca.bilin(ca.DM(R), u, u)) / 2
    rates = (ca.mtimes(ca.DM(A), own) + ca.mtimes(ca.DM(B), u)) / units
    scale = np.ones(3) / units, np.ones(1)
    return ode(x, u, rates, duration=1.0, start=list(FIRST / units), running=running, scale=scale)


@pytest.mark.parametrize("name", SCHEMES)
def test_other_units_of_the_states_are_the_same_motion(name: str) -> None:
    metres, millimetres = (
        solve_problem(regulator(k), scheme=name, intervals=20, tolerance=1e-9) for k in (1.0, 1e-3)
    )
    assert millimetres.cost == pytest.approx(metres.cost, rel=1e-6)
    assert 1e-3 * millimetres.courses[0].z[:, :3] == pytest.approx(metres.courses[0].z[:, :3], abs=1e-5)


# parameters, conditions at the start and time in equations


def test_a_parameter_of_equations_is_chosen() -> None:
    """x' = p, from 0 to 3 in 2 s: p = 1.5, whatever it costs."""
    x, u, p = SX.sym("x"), SX.sym("u"), SX.sym("p")
    phase = ode(
        x,
        u,
        p + 0 * u,
        duration=2.0,
        start=[0],
        end=[3],
        parameters=p,
        parameter_bounds=[(0, 9)],
        running=u**2,
    )
    assert solve_problem(phase, intervals=4)["p"] == pytest.approx(1.5, abs=1e-6)


def test_time_in_equations_and_conditions_at_the_start() -> None:
    """x' = t + u with x(0)^2 + y^2 = 1, y' = 0: x(1) = x(0) + 1/2 is largest for x(0) = 1."""
    x, u, t = SX.sym("x", 2), SX.sym("u"), SX.sym("t")
    phase = ode(
        x,
        u,
        ca.vertcat(t + u, 0 * u),
        duration=1.0,
        start=[None, None],
        running=u**2,
        final=-10 * x[0],
        t=t,
        u_bounds=[(0, 0)],
        x_bounds=[(-2, 3), (-2, 2)],
        at_start={"circle": (ca.sumsqr(x), 1.0, 1.0)},
        guess=([[0.5, 0.5], [0.6, 0.5]], [[0.0]]),
    )
    found = solve_problem(phase, intervals=6)
    assert found.courses[0].z[0, :2] == pytest.approx([1.0, 0.0], abs=1e-4)
    assert found.cost == pytest.approx(-15.0, rel=1e-6)


# legs


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link")


def hinge(inertia: float) -> art.Mechanism:
    m = art.Mechanism(f"hinge {inertia}")
    m.body("disc", mass=1.0, inertia=[inertia, inertia, inertia])
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "disc")
    return m.with_gravity([0.0, 0.0, 0.0])


def test_legs_of_a_best_motion_are_best(arm: art.Mechanism) -> None:
    """Bellman 1957: through a point of the best motion, at its time, the best motion of two legs is the same one."""
    whole = plan(arm, [-0.4, 0.3], [0.9, -0.5], duration=1.0, torque_limit=2500.0, intervals=20)
    middle = len(whole.t) // 2
    legs = [Leg(whole.q[middle], 0.5, "free"), Leg([0.9, -0.5], 0.5)]
    parts = plan_legs(arm, [-0.4, 0.3], legs, torque_limit=2500.0, intervals=10)
    assert parts.ok
    assert parts.cost == pytest.approx(whole.cost, rel=1e-6)
    assert parts.v[middle] == pytest.approx(whole.v[middle], abs=1e-4)
    assert sum(leg.cost for leg in parts.legs) == pytest.approx(parts.cost, rel=1e-9)
    elsewhere = plan_legs(
        arm, [-0.4, 0.3], [Leg([0.5, 0.2], 0.5, "free"), legs[1]], torque_limit=2500.0, intervals=10
    )
    assert elsewhere.cost > whole.cost


def test_a_payload_that_is_picked_up_on_the_way() -> None:
    """From rest to rest over d in T the least integral of u^2 is 12 (I d)^2 / T^3; with the payload the inertia I is five times as much."""
    legs = [Leg([1.0], 1.0, name="reach"), Leg([-0.5], 2.0, mechanism=hinge(10.0), name="carry")]
    done: Itinerary = plan_legs(hinge(2.0), [0.0], legs, intervals=12)
    least = 12 * (2.0 * 1.0) ** 2, 12 * (10.0 * 1.5) ** 2 / 8
    assert [leg.cost for leg in done.legs] == pytest.approx(least, rel=1e-6)
    assert done.duration == pytest.approx(3.0)
    runs = done.run(track=False)
    assert [float(run.q[-1, 0]) for run in runs] == pytest.approx([1.0, -0.5], abs=1e-6)
    assert "carry: 2 s of hinge 10" in str(done)


def test_passing_without_a_stop_is_cheaper_and_as_good_as_the_spline() -> None:
    """The best way through a via point at a given time is the cubic spline: least integral of a^2 (Holladay 1957)."""
    legs = [Leg([1.0], 0.5, "free"), Leg([0.2], 0.7)]
    passed = plan_legs(hinge(2.0), [0.0], legs, cost=Acceleration(), intervals=10)
    spline = CubicSpline([0.0, 0.5, 1.2], [0.0, 1.0, 0.2], bc_type="clamped")
    t = np.linspace(0, 1.2, 2401)
    assert passed.cost == pytest.approx(np.trapezoid(spline(t, 2) ** 2, t), rel=1e-5)


@pytest.mark.parametrize(
    ("legs", "more", "told"),
    [
        ([], {}, "expected one or more Leg"),
        (
            [Leg([1.0], 1.0), Leg([0.0, 0.0], 1.0, mechanism=art.load("two_link"))],
            {},
            "expected the same joints|expected",
        ),
        ([Leg([1.0], 1.0)], {"torque": 1.0}, "found the argument 'torque'"),
    ],
)
def test_legs_that_are_none(legs, more, told: str) -> None:
    with pytest.raises(InputError, match=told):
        plan_legs(hinge(1.0), [0.0], legs, **more)


# ends


def turning(end: list[float], **more) -> Phase:
    """Return a point that an input turns about the origin, x' = -w y, y' = w x: its distance from there never changes."""
    x, w = SX.sym("x", 2), SX.sym("w")
    rates = w * ca.vertcat(-x[1], x[0])
    given = {"duration": 1.0, "start": [1.0, 0.0], "running": w**2, "x_bounds": [(-2, 2), (-2, 2)]} | more
    return ode(x, w, rates, end=end, **given)


@pytest.mark.parametrize("name", ["hermite_simpson", "radau 2", "shooting"])
def test_ends_that_hold_by_themselves_are_left_out(name: str) -> None:
    """A quarter turn in 1 s costs (pi / 2)^2; both coordinates of the end are one number too many."""
    found = solve_problem(turning([0.0, 1.0]), scheme=name, intervals=20)
    assert found.converged
    assert found.cost == pytest.approx((np.pi / 2) ** 2, rel=1e-4)
    assert found.courses[0].z[-1, :2] == pytest.approx([0.0, 1.0], abs=1e-4)


def test_ends_that_no_input_connects_are_told() -> None:
    with pytest.raises(InputError, match=r"a square sum of x_0, x_1 is 1 and 1.44; expected the same"):
        solve_problem(turning([0.0, 1.2]))


def test_given_ends_are_kept_exactly_where_inputs_are_fixed() -> None:
    x, u = SX.sym("x", 2), SX.sym("u")
    phase = ode(
        x, u, ca.vertcat(x[1], u), duration=1.0, start=[0.1, 0.3], u_bounds=[(0.7, 0.7)], running=u**2
    )
    found = solve_problem(phase, intervals=5)
    assert found.courses[0].z[0, :2].tolist() == [0.1, 0.3]
    assert found.courses[0].z[-1, 0] == pytest.approx(0.1 + 0.3 + 0.35, rel=1e-9)
