"""Plans in files, and what the player shows of them."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.browser.recording import lanes, recording, trail_of
from articulus.errors import InputError
from articulus.trajectory import (
    Ball,
    Clear,
    Crate,
    Facing,
    FeedbackPlan,
    Hull,
    Obstacle,
    Plan,
    Rod,
    load_plan,
    ode,
    plan,
    solve_problem,
)

TIP = Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1)
SHAPES = (Ball((0, 0, 2), 0.3), Rod((-2, -1, -4), (-2, 1, -4), 0.2, "post"), Crate((0, 0, -6), (1, 2, 1)))


@pytest.fixture(scope="module")
def made() -> Plan:
    arm = art.load("two_link").with_gravity((0.0, 0.0, 0.0))
    point = art.goals.FramePoint("tip", arm.pose("tip", [0.9, -0.5])[:3, 3])
    return plan(
        arm,
        [-0.4, 0.3],
        point,
        duration=(0.5, 2.0),
        cost="time",
        effort=3e3,
        intervals=10,
        obstacles=[Clear(shape, (TIP,), 0.01) for shape in SHAPES],
        keep=[Facing("tip", (0, 0, 1), (0, 0, 1), 3.0)],
    )


def test_a_plan_comes_back_from_its_file(made: Plan, tmp_path: Path) -> None:
    """Numbers to the last bit; the problem solves again to the same cost; forces and limits act as before."""
    made.save(tmp_path / "plan.nc")
    back = load_plan(tmp_path / "plan.nc")
    assert np.array_equal(back.solution.x, made.solution.x)
    assert np.array_equal(back.solution.multipliers, made.solution.multipliers)
    assert (back.cost, back.duration, back.error) == (made.cost, made.duration, made.error)
    assert back.violations(0.0) == made.violations(0.0)
    assert back.end_error == pytest.approx(made.end_error, rel=1e-6)
    assert back.task is not None
    assert back.task.obstacles == tuple(Clear(shape, (TIP,), 0.01) for shape in SHAPES)
    again = solve_problem(back.task.phase(), intervals=10, tolerance=1e-6, task=back.task)
    assert again.cost == pytest.approx(made.cost, rel=1e-6)


def test_plans_of_equations_come_back(tmp_path: Path) -> None:
    x, u, T = ca.SX.sym("x", 2), ca.SX.sym("u", 1), ca.SX.sym("T")
    rates = ca.vertcat(x[1], u)
    cart = ode(x, u, rates, duration=(0.1, 9), start=[0, 0], end=[1, 0], u_bounds=[(-1, 1)], final=T, time=T)
    done = solve_problem(cart, intervals=10)
    done.save(tmp_path / "cart.nc")
    back = load_plan(tmp_path / "cart.nc")
    assert back.duration == done.duration == pytest.approx(2.0, rel=1e-6)
    assert np.array_equal(back["x_0"], done["x_0"])
    with pytest.raises(InputError, match="it has no mechanism"):
        _ = back.mechanism


@pytest.mark.parametrize("scheme", ["riccati", "riccati semi_implicit_euler"])
def test_plans_with_gains_come_back(tmp_path: Path, scheme: str) -> None:
    arm = art.load("two_link")
    done = plan(arm, [0, 0], [0.3, 0.2], duration=1.0, effort=1e4, scheme=scheme, intervals=20)
    done.save(tmp_path / "gains.nc")
    back = load_plan(tmp_path / "gains.nc")
    assert isinstance(done, FeedbackPlan)
    assert isinstance(back, FeedbackPlan)
    assert np.array_equal(back.gains, done.gains)
    assert np.array_equal(back.u, done.u)
    assert str(back) == str(done)
    assert back.violations(0.0) == done.violations(0.0)
    assert back.end_error == done.end_error


def test_bad_files_are_named(made: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the suffix '\.txt'"):
        made.save(tmp_path / "plan.txt")
    with pytest.raises(InputError, match="no such file"):
        load_plan(tmp_path / "none.nc")
    run = tmp_path / "run.nc"
    art.simulate(art.load("two_link"), 0.01).save(run)
    with pytest.raises(InputError, match="found articulus run 2; expected articulus plan 1"):
        load_plan(run)
    (tmp_path / "cut.nc").write_bytes(run.read_bytes()[:100])
    with pytest.raises(InputError, match="no readable netCDF4 file"):
        load_plan(tmp_path / "cut.nc")


def test_own_obstacles_are_refused_by_name(tmp_path: Path) -> None:
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Floor(Obstacle):
        name: str = "floor"

        def distance(self, point: ca.SX) -> ca.SX:
            return point[2] + 9

    arm = art.load("two_link").with_gravity((0.0, 0.0, 0.0))
    above = plan(
        arm, [0, 0.1], [0.2, 0.1], duration=1.0, effort=1e5, intervals=4, obstacles=[Clear(Floor(), (TIP,))]
    )
    with pytest.raises(InputError, match=r"found .*Floor.* in the task; expected parts of articulus"):
        above.save(tmp_path / "floor.nc")


def test_the_player_is_given_obstacles_and_the_trace(made: Plan, tmp_path: Path) -> None:
    """Shapes where they are, the picture large enough for them; also of a run that went through a file."""
    run = made.run(method="rk4", step=made.duration / 100)
    run.save(tmp_path / "run.nc")
    for each in (run, art.Run.load(tmp_path / "run.nc")):
        shown = lanes(each)
        assert trail_of(shown) == "tip"
        data = recording(shown[0])
        drawn = data["scene"]["obstacles"]
        assert [s["kind"] for s in drawn] == ["sphere", "capsule", "box"]
        assert [list(s["size"]) for s in drawn] == [[0.3], [0.2, 2.0], [1.0, 2.0, 1.0]]
        assert [list(s["position"]) for s in drawn] == [[0, 0, 2], [-2, 0, -4], [0, 0, -6]]
        assert data["bounds"][0][2] == pytest.approx(-6.5)
        assert data["bounds"][1][2] == pytest.approx(2.3)


def test_shapes_without_sense_are_named() -> None:
    with pytest.raises(InputError, match=r"Ball\.radius: found 0"):
        Ball((0, 0, 0), 0)
    with pytest.raises(InputError, match=r"Rod: start and end are both .* A Ball has one"):
        Rod((0, 0, 0), (0, 0, 0), 0.1)
    with pytest.raises(InputError, match=r"Crate\.center: found \(0, 0\); expected three numbers"):
        Crate((0, 0), (1, 1, 1))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Hull\.balls: found 0"):
        Hull("tip", (0, 0, 0), (0, 0, 0), 0.1, balls=0)
