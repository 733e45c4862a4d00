"""Finite elements in time against closed forms, against collocation, and by their own laws."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.motion import trajectory
from articulus.motion.trajectory.ipopt import solve
from articulus.motion.trajectory.newton import newton

x, u, T = ca.SX.sym("x", 2), ca.SX.sym("u"), ca.SX.sym("T")


def transfer() -> trajectory.Phase:
    """Return the transfer of Bryson & Ho 2.7.9 for a h / U^2 = 0.75, in units of a and U."""
    s = ca.SX.sym("s", 4)
    return trajectory.ode(
        s,
        u,
        ca.vertcat(s[2], s[3], ca.cos(u), ca.sin(u)),
        duration=(0.5, 5.0),
        start=[0, 0, 0, 0],
        end=[None, 0.75, 1, 0],
        final=T,
        time=T,
        guess=([[0, 0, 0, 0], [1, 0.75, 1, 0]], [[0.5], [-0.5]]),
    )


@pytest.fixture(scope="module")
def transfers() -> dict[int, trajectory.Plan]:
    with pytest.warns(DoubtfulResult, match="The mesh does not resolve the motion"):  # of two elements
        made = {2: trajectory.solve_problem(transfer(), scheme="weak", intervals=2)}
    for n in (8, 16, 32):
        made[n] = trajectory.solve_problem(transfer(), scheme="weak", intervals=n)
    return made


def exact_time() -> float:
    """Return a T / U from the closed form."""

    def time(tan: float) -> float:
        return tan / np.arcsinh(tan)

    def height(tan: float) -> float:
        return time(tan) ** 2 / (4 * tan) * (np.hypot(1, tan) - np.arcsinh(tan) / tan)

    return time(brentq(lambda tan: height(tan) - 0.75, 1, 10))


def test_order_two(transfers: dict[int, trajectory.Plan]) -> None:
    off = np.array([transfers[n].duration - exact_time() for n in (8, 16, 32)])
    assert off[0] / exact_time() == pytest.approx(0.00243, abs=5e-6)  # printed digits of the recomputed table
    np.testing.assert_allclose(off[:-1] / off[1:], 4.0, atol=0.15)


def test_estimated_error_is_near_the_true_one(transfers: dict[int, trajectory.Plan]) -> None:
    fine, finest = transfers[16], transfers[32]
    a, b = (plan.courses[0].z[::2, :4] for plan in (fine, finest))
    true = (np.abs(a - b[::2]) / np.abs(b).max(0)).max() * 4 / 3
    assert 0.5 < fine.error / true < 2
    assert np.isinf(transfers[2].error)


def test_newton_takes_few_steps_from_the_coarser_mesh(transfers: dict[int, trajectory.Plan]) -> None:
    assert all(transfers[n].solution.iterations <= 3 for n in (8, 16, 32))


def test_same_solution_as_collocation(transfers: dict[int, trajectory.Plan]) -> None:
    other = trajectory.solve_problem(transfer(), intervals=32)
    a, b = transfers[16], transfers[32]
    better = (4 * b.duration - a.duration) / 3
    assert other.duration == pytest.approx(better, abs=2e-6)  # order four: 7e-6 / 16 of the step before
    nodes = b.courses[0].z[::2, :4]
    better = nodes[::2] + (nodes[::2] - a.courses[0].z[::2, :4]) / 3
    np.testing.assert_allclose(other.courses[0].z[::4, :4], better, atol=5e-5)


def test_hamiltonian_becomes_constant(transfers: dict[int, trajectory.Plan]) -> None:
    spread = [np.abs(transfers[n].hamiltonian[0] + 1).max() for n in (8, 16, 32)]
    assert spread[-1] < 1e-3
    np.testing.assert_allclose(np.divide(spread[:-1], spread[1:]), [3, 4], atol=0.8)
    for n in (8, 32):  # the condition of the free duration holds exactly: the mean over the elements
        assert transfers[n].hamiltonian[0].mean() == pytest.approx(-1, abs=1e-7)


def cart(start: float = 0.0, limit: float = 100.0) -> trajectory.Phase:
    return trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=1.0,
        start=[start, 0],
        end=[1, 0],
        u_bounds=[(-limit, limit)],
        running=u**2,
    )


def test_costates_are_derivatives_of_the_cost() -> None:
    up, here, down = (trajectory.solve_problem(cart(s), scheme="weak", intervals=8) for s in (1e-3, 0, -1e-3))
    assert here.costates[0][0, 0] == pytest.approx((up.cost - down.cost) / 2e-3, rel=1e-9)
    assert here.costates[0].shape == (17, 2)
    other = trajectory.solve_problem(cart(0.0), intervals=8).costates[0]
    assert other[0, 0] == pytest.approx(here.costates[0][0, 0], rel=0.02)


def test_bounds_that_hold_for_part_of_the_time() -> None:
    costs = [
        trajectory.solve_problem(cart(limit=5.0), scheme="weak", intervals=n).cost for n in (32, 64, 128)
    ]
    exact = 25 - 100 / 3 * np.sqrt(0.15)
    assert costs[-1] == pytest.approx(exact, abs=1e-3)
    assert abs(costs[0] - exact) / abs(costs[-1] - exact) > 10  # two halvings of order two: 16
    plan = trajectory.solve_problem(cart(limit=5.0), scheme="weak", intervals=64)
    assert np.abs(plan["u"]).max() <= 5 + 1e-9


def test_a_state_at_its_bound() -> None:
    """Bryson and Denham: the least effort that turns a cart before a wall at L = 1/9 is 4 / (9 L)."""
    phase = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=1.0,
        start=[0, 1],
        end=[0, -1],
        x_bounds=[(-1, 1 / 9), (-5, 5)],
        running=u**2 / 2,
    )
    plans = [trajectory.solve_problem(phase, scheme="weak", intervals=n) for n in (16, 64)]
    off = [plan.cost - 4 for plan in plans]
    assert off[1] < 3e-3
    assert off[0] / off[1] > 12  # order two: 16
    assert plans[1]["x_0"].max() <= 1 / 9 + 1e-8


def test_newton_finds_what_ipopt_finds_with_bounds_that_hold() -> None:
    plan = trajectory.solve_problem(cart(limit=5.0), scheme="weak", intervals=16)
    by_ipopt = solve(plan.program, plan.solution.x * 1.01, tolerance=1e-10)
    by_newton = newton(plan.program, plan.solution.x * 1.01, tolerance=1e-10)
    np.testing.assert_allclose(by_newton.x, by_ipopt.x, atol=1e-7)
    np.testing.assert_allclose(by_newton.multipliers, by_ipopt.multipliers, atol=1e-6)
    np.testing.assert_allclose(by_newton.bound_multipliers, by_ipopt.bound_multipliers, atol=1e-6)


def test_newton_tells_a_maximum_from_a_minimum() -> None:
    phase = trajectory.ode(
        x[0], u, u, duration=1.0, start=[0], running=ca.cos(u), guess=([[0.0], [3.0]], [[3.0], [3.0]])
    )
    plan = trajectory.solve_problem(phase, scheme="weak", intervals=4)
    np.testing.assert_allclose(plan["u"], np.pi, atol=1e-6)
    assert newton(plan.program, 0.98 * plan.solution.x).converged
    wrong = newton(plan.program, 0.02 * plan.solution.x)
    assert np.abs(wrong.x[plan.layouts[0].z[:, 2]]).max() < 1e-6  # stationary too: the largest cost
    assert wrong.status == "Not_A_Minimum"


def test_bang_bang() -> None:
    phase = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=(0.1, 10.0),
        start=[0, 0],
        end=[1, 0],
        u_bounds=[(-1, 1)],
        final=T,
        time=T,
    )
    plan = trajectory.solve_problem(phase, scheme="weak", intervals=10)
    assert plan.duration == pytest.approx(
        2, abs=1e-6
    )  # a node is where the input jumps: the rule is exact then


def staged() -> trajectory.Problem:
    """Return a push with one engine, loss of half the speed, a push with another; the time of the change is free, its place given."""
    first = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], u - x[1]),
        duration=(0.1, 20.0),
        start=[0, 0],
        end=[0.4, None],
        running=u**2 + 3,
    )
    second = trajectory.ode(
        x,
        u,
        ca.vertcat(x[1], 2 * u),
        duration=(0.1, 20.0),
        start=[None, None],
        end=[1, 0],
        running=u**2 + 3,
    )
    a, b = ca.SX.sym("a", 5), ca.SX.sym("b", 5)
    link = ca.Function("link", [a, b], [ca.vertcat(a[0] - b[0], a[1] / 2 - b[1])])
    return trajectory.Problem((first, second), (trajectory.PhaseLink(link, "stage"),))


def test_stages() -> None:
    coarse, fine = (
        trajectory.solve_problem(staged(), scheme="weak", intervals=n) for n in ([16, 16], [32, 32])
    )
    other = trajectory.solve_problem(staged(), intervals=16)
    assert (4 * fine.cost - coarse.cost) / 3 == pytest.approx(other.cost, rel=1e-6)
    before, after = fine.costates[0][-1], fine.costates[1][0]
    assert before[1] == pytest.approx(after[1] / 2, rel=1e-8)  # by the transposed jump of the states
    assert abs(before[0] - after[0]) > 1  # the place is given: its costate jumps
    for each in fine.hamiltonian:  # both durations are free
        assert each.mean() == pytest.approx(0, abs=1e-6)


def test_from_another_plan_to_a_file_and_back(transfers: dict[int, trajectory.Plan], tmp_path) -> None:
    other = trajectory.solve_problem(transfer(), scheme="hermite_simpson", intervals=8)
    made = trajectory.solve_problem(transfer(), scheme="weak", intervals=8, guess=other)
    assert made.duration == pytest.approx(transfers[8].duration, rel=1e-7)
    made.save(tmp_path / "plan.nc")
    back = trajectory.load_plan(tmp_path / "plan.nc")
    np.testing.assert_array_equal(back.costates[0], made.costates[0])


def test_error_asked_for() -> None:
    plan = trajectory.solve_problem(cart(), scheme="weak", intervals=4, error=1e-3)
    assert plan.error <= 1e-3
    assert len(plan.meshes[0]) - 1 == 32
    with pytest.warns(UserWarning, match="refinements"):
        trajectory.solve_problem(cart(), scheme="weak", intervals=2, error=1e-6)


def test_a_stop_keeps_the_motion_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("articulus.motion.trajectory.time_elements.newton", stopped)
    coarse = pytest.warns(DoubtfulResult, match="The mesh does not resolve the motion")
    with coarse, pytest.warns(UserWarning, match=r"\[2\] is kept"):
        plan = trajectory.solve_problem(cart(), scheme="weak", intervals=8)
    assert len(plan.meshes[0]) == 3
    plan = trajectory.solve_problem(cart(), scheme="weak", intervals=8, time_limit=1e-9)
    assert len(plan.meshes[0]) == 3
    with pytest.raises(art.NumericalError):
        plan.cost  # noqa: B018


def test_an_infeasible_problem_says_so() -> None:
    plan = trajectory.solve_problem(cart(limit=3.0), scheme="weak", intervals=4)
    with pytest.raises(art.NumericalError, match="not kept"):
        plan.cost  # noqa: B018


def test_a_mechanism() -> None:
    arm = art.load("two_link")
    weak, other = (
        trajectory.plan(
            arm, [0.0, 0.0], [1.0, 0.5], duration=1.0, torque_limit=1000.0, intervals=30, scheme=scheme
        )
        for scheme in ("weak", "hermite_simpson")
    )
    assert weak.cost == pytest.approx(other.cost, rel=5e-3)  # order two: 0.33 %
    assert np.ptp(weak.hamiltonian[0]) < 0.01 * abs(weak.hamiltonian[0].mean())
    assert weak.end_error < 5e-3
