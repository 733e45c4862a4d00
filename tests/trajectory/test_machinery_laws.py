"""Laws of what plans are made of: collocation of random polynomials, programs and their derivatives, structured solutions, refinement, limits between points."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy import sparse

import articulus as art
from articulus.motion.trajectory import ode, path_speed, plan, point_to_point, solve_problem
from articulus.motion.trajectory.problem import Problem
from articulus.motion.trajectory.schemes import scheme

SCHEMES = ["hermite_simpson", "radau 2", "radau 3", "lobatto 3", "lobatto 4", "lobatto 5"]


# schemes


@pytest.mark.parametrize("name", SCHEMES)
def test_relations_hold_for_polynomials_up_to_the_degree_of_the_scheme(name: str) -> None:
    """Sum A x + B x' = 0 and the quadrature are exact for all polynomials of so low a degree; their first error is beyond the order of the scheme."""
    s = scheme(name)
    c, rng = s.points, np.random.default_rng(1)
    for degree in range(len(c)):
        p = np.polynomial.Polynomial(rng.normal(size=degree + 1))
        assert s.A @ p(c) + s.B @ p.deriv()(c) == pytest.approx(np.zeros(len(s.A)), abs=1e-12)
        assert s.weights @ p(c) == pytest.approx(p.integ()(1) - p.integ()(0), rel=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_errors_fall_by_the_order_of_the_scheme(name: str) -> None:
    """x' = -x + sin(3 t) from a given start: no input, nothing to choose; its end against the closed form, on two meshes."""
    x, u, t = SX.sym("x"), SX.sym("u"), SX.sym("t")
    exact = np.exp(-2.0) * (1 + 0.3) + (np.sin(6.0) - 3 * np.cos(6.0)) / 10
    off = []
    for n in (4, 8):
        phase = ode(x, u, -x + ca.sin(3 * t), duration=2.0, start=[1.0], running=u**2, t=t)
        found = solve_problem(phase, scheme=name, intervals=n, tolerance=1e-12)
        off.append(abs(float(found["x"][-1]) - exact))
    order = scheme(name).order
    assert off[1] < 1e-11 or order - 0.7 < np.log2(off[0] / off[1]) < order + 1.2


@pytest.mark.parametrize("name", ["hermite_simpson", "radau 3", "lobatto 4", "shooting"])
def test_replayed_inputs_are_those_at_the_points(name: str) -> None:
    """Inputs between the points are the polynomials through them; where a scheme uses no rate at an end they come from within."""
    s = scheme(name)
    x, u = SX.sym("x", 2), SX.sym("u")
    phase = ode(x, u, ca.vertcat(x[1], u), duration=1.5, start=[0, 0], end=[1, 0], running=u**2)
    found = solve_problem(phase, scheme=name, intervals=5)
    layout, z = found.layouts[0], found.courses[0].z
    begin, h, c = s.replay(layout, z[:, [4]], 1.5)
    own = s.interval_values(z[layout.intervals][:, :, 4])
    for k, at in enumerate(s.points):
        values = np.einsum("ipn,p->in", c, at ** np.arange(c.shape[1]))[:, 0]
        assert values == pytest.approx(own[:, k], abs=1e-9)
    assert begin == pytest.approx(found.t[layout.intervals[:, 0]])
    assert h.sum() == pytest.approx(1.5)


# programs


def double_integrator(**more):
    x, u = SX.sym("x", 2), SX.sym("u")
    given = {"duration": (0.5, 3.0), "start": [0, 0], "end": [1, 0], "u_bounds": [(-4, 4)]} | more
    T = SX.sym("T")
    return ode(x, u, ca.vertcat(x[1], u - 0.1 * x[1] ** 3), running=u**2 / 10, final=T, time=T, **given)


@pytest.mark.parametrize("name", [*SCHEMES, "shooting"])
def test_derivatives_of_programs_are_those_of_their_values(name: str) -> None:
    """Gradient and Jacobian against central differences of cost and constraints at random unknowns; 1e-6 of the largest."""
    s, mesh = scheme(name), np.array([0.0, 0.3, 0.55, 1.0])
    program, layouts = s.transcribe(Problem((double_integrator(),)), [mesh])
    rng = np.random.default_rng(2)
    x = rng.normal(size=program.size)
    x[layouts[0].duration] = 1.3
    d, h = rng.normal(size=program.size), 1e-5
    slope = (program.cost(x + h * d) - program.cost(x - h * d)) / (2 * h)
    assert program.gradient(x) @ d == pytest.approx(slope, rel=1e-6, abs=1e-6)
    residuals = [
        np.concatenate([b.values(y).ravel() for b in program.constraints]) for y in (x + h * d, x - h * d)
    ]
    shape = program.jacobian_places[0]
    J = sparse.csc_array(
        (program.jacobian(x), shape.row(), shape.colind()), shape=(shape.size1(), shape.size2())
    )
    change = (residuals[0] - residuals[1]) / (2 * h)
    found = J @ d
    assert np.sort(found) == pytest.approx(np.sort(change), abs=1e-5 * (1 + np.abs(change).max()))


def test_finer_meshes_cost_no_more_and_come_to_one_cost() -> None:
    """Least cost of a smooth problem on 5, 10, 20, 40 intervals: differences fall by the order of the scheme, 4."""
    costs = [solve_problem(double_integrator(), intervals=n, tolerance=1e-10).cost for n in (5, 10, 20, 40)]
    steps = np.abs(np.diff(costs))
    assert (steps[1:] < 0.3 * steps[:-1]).all()


@pytest.mark.parametrize("error", [1e-3, 1e-5, 1e-7])
def test_refinement_keeps_what_it_promises(error: float) -> None:
    """The estimated error is below what is asked; a mesh of four times as many intervals is as far off as it says, to a factor."""
    found = solve_problem(double_integrator(), intervals=4, error=error)
    assert found.error <= error
    best = solve_problem(double_integrator(), intervals=120, scheme="lobatto 4", tolerance=1e-10)
    assert found.cost == pytest.approx(best.cost, rel=30 * error + 1e-6)


@pytest.mark.parametrize("most", [0.05, 0.01])
def test_limits_between_points_are_kept_as_asked(most: float) -> None:
    arm = art.load("two_link")
    given = {"duration": (0.1, 5.0), "cost": "time", "torque_limit": 1500.0, "intervals": 15}
    found = plan(arm, [0, 0], [1.0, 0.5], overload=most, **given)
    assert max((each.ratio for each in found.overload), default=0.0) <= 1 + most + 1e-9
    fine = found.at(np.linspace(0, found.duration, 2001)).tau
    assert np.abs(fine).max() <= 1500.0 * (1 + most) * (1 + 1e-6)


# multipliers


def test_prices_of_limits_are_derivatives_of_the_cost() -> None:
    """What a limit of the input saves per unit, by differences, is the sum of its multipliers (sensitivity theorem; Fiacco 1983)."""
    costs, found = [], None
    for most in (1.995, 2.0, 2.005):
        here = solve_problem(
            double_integrator(duration=1.5, u_bounds=[(-most, most)]),
            intervals=20,
            tolerance=1e-10,
            options={},
        )
        costs.append(here.cost)
        found = here if most == 2.0 else found
    slope = (costs[2] - costs[0]) / 0.01
    places = found.layouts[0].z[:, 4]
    prices = found.solution.bound_multipliers[places]
    assert slope < -1e-3
    assert -np.abs(prices).sum() == pytest.approx(slope, rel=0.02)


def test_costates_are_derivatives_of_the_cost_by_the_start() -> None:
    """dJ/dx0 by differences of two starts."""
    base = solve_problem(double_integrator(), intervals=30, tolerance=1e-10)
    for k in range(2):
        costs = []
        for d in (1e-3, -1e-3):
            start = [0.0, 0.0]
            start[k] += d
            costs.append(solve_problem(double_integrator(start=start), intervals=30, tolerance=1e-10).cost)
        assert base.costates[0][0][k] == pytest.approx((costs[0] - costs[1]) / 2e-3, rel=2e-3)


def test_the_hamiltonian_of_a_free_duration_is_constant_and_balances_its_price() -> None:
    """H + dJ/dT = 0 all the way, where equations do not know the time (Bryson & Ho 1975)."""
    found = solve_problem(double_integrator(), intervals=40, tolerance=1e-10)
    assert found.hamiltonian[0] == pytest.approx(np.full(len(found.t), -1.0), abs=5e-3)


# speeds along paths


def test_many_speeds_are_each_slower_than_the_limit_curve_and_meet_it() -> None:
    """Somewhere a limit is met at almost every point of the fastest motion along a path; nowhere it is passed by more than the grid lets."""
    arm = art.load("two_link")
    p = np.random.default_rng(4).uniform(-1, 1, (4, 2))
    found = path_speed(arm, p, torque_limit=2500.0, velocity_limit=3.0, grid=150)
    t = np.linspace(0, found.duration, 1001)
    _, v, _, tau = found.at(t)
    used = np.maximum(np.abs(v).max(1) / 3.0, np.abs(tau).max(1) / 2500.0)
    assert used.max() < 1.01
    assert (used > 0.97).mean() > 0.9
    still = path_speed(arm, p, torque_limit=2500.0, velocity_limit=1e6, grid=150)
    assert still.duration <= found.duration * (1 + 1e-9)


def test_speeds_of_free_joints_are_those_of_points() -> None:
    """One joint, limits of speed and acceleration alone: along its path as from point to point with jerks that hardly matter."""
    m = art.Mechanism("wheel")
    m.body("wheel", mass=1.0, inertia=(2.0, 2.0, 2.0))
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "wheel")
    m = m.with_gravity((0, 0, 0))
    for way in (0.3, 2.0):
        along = path_speed(m, [[0.0], [way]], torque_limit=8.0, velocity_limit=1.5, grid=200)
        point = point_to_point([0.0], [way], velocity_limit=1.5, acceleration_limit=4.0, jerk_limit=1e6)
        assert along.duration == pytest.approx(point.duration, rel=2e-3)
