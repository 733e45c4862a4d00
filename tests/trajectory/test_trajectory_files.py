"""Plans in files, and what the player shows of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.browser.recording import lanes, recording, trail_of
from articulus.errors import InputError
from articulus.motion.trajectory import (
    Ball,
    Clear,
    Crate,
    Facing,
    Hull,
    Plan,
    Rod,
    load_plan,
    ode,
    plan,
    solve_problem,
)
from articulus.motion.trajectory.formulas import encode_function, read
from articulus.motion.trajectory.obstacles import Obstacle
from articulus.motion.trajectory.riccati_plan import FeedbackPlan
from articulus.simulation.results.store import read_dataset, write_dataset

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
        torque_limit=3e3,
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
    done = plan(arm, [0, 0], [0.3, 0.2], duration=1.0, torque_limit=1e4, scheme=scheme, intervals=20)
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
    with pytest.raises(InputError, match="found articulus run 3; expected articulus plan"):
        load_plan(run)
    (tmp_path / "cut.nc").write_bytes(run.read_bytes()[:100])
    with pytest.raises(InputError, match="found a file without a seal"):
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
        arm,
        [0, 0.1],
        [0.2, 0.1],
        duration=1.0,
        torque_limit=1e5,
        intervals=4,
        obstacles=[Clear(Floor(), (TIP,))],
    )
    with pytest.raises(InputError, match=r"found .*Floor.* in the task; expected parts of articulus"):
        above.save(tmp_path / "floor.nc")


def test_the_player_is_given_obstacles_and_the_trace(made: Plan, tmp_path: Path) -> None:
    """Shapes where they are, the picture large enough for them; also of a run that went through a file."""
    run = made.run(track=False, method="rk4", step=made.duration / 100)
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


def _evil(folder: Path) -> ca.Function:
    """Return a function that CasADi compiles again when its text is read, by a command of our choice."""
    x = ca.SX.sym("x", 5)
    script = folder / "cc"
    script.write_text(f'#!/bin/sh\ntouch {folder / "ran"}\nexec cc "$@"\n')
    script.chmod(0o755)
    options = {"jit": True, "compiler": "shell", "jit_options": {"compiler": str(script), "linker": "cc"}}
    return ca.Function("equations", [x], [x[2:4] - ca.vertcat(x[1], x[4])], options)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_a_file_runs_nothing_when_it_is_loaded(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that hold CasADi's text of a function with a compiler's command: of a task it is not looked at, else refused."""
    monkeypatch.chdir(tmp_path)
    text = _evil(tmp_path).serialize()
    (tmp_path / "ran").unlink()
    ca.Function.deserialize(text)
    assert (tmp_path / "ran").exists()  # the attack works on CasADi
    (tmp_path / "ran").unlink()
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 1)
    cart = solve_problem(
        ode(x, u, ca.vertcat(x[1], u), duration=1.0, start=[0, 0], running=u**2), intervals=4
    )
    for k, each in enumerate((made, cart)):
        each.save(tmp_path / f"{k}.nc")
        data = read_dataset(tmp_path / f"{k}.nc", "articulus plan 1", "Plan.save")
        phases = json.loads(data.attrs.get("phases", "[{}]"))
        phases[0]["equations"] = {"kind": "Function", "text": text}
        data.attrs["phases"] = json.dumps(phases)
        write_dataset(data, tmp_path / f"evil_{k}.nc")
    assert load_plan(tmp_path / "evil_0.nc").cost == made.cost
    with pytest.raises(InputError, match="can run programs when it is read"):
        load_plan(tmp_path / "evil_1.nc")
    assert not (tmp_path / "ran").exists()


def test_functions_come_back_from_their_operations() -> None:
    """Values to the last bit, of every operation; what is no list of operations is refused."""
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    parts = [
        SX_ONE(x[0]) for SX_ONE in (ca.sin, ca.tanh, ca.exp, ca.fabs, ca.sqrt, ca.floor, ca.sign, ca.erf)
    ]
    parts += [
        ca.fmin(x[1], y),
        ca.atan2(x[1], y),
        ca.if_else(x[2] > 0.3, 1.5, x[1] ** 3),
        2 * x[1] ** y,
        0,
        np.inf,
    ]
    f = ca.Function("f", [x, y], [ca.vertcat(*parts), ca.reshape(ca.vertcat(x, y), 2, 2)])
    g = read(json.loads(json.dumps(encode_function(f))))
    for row in np.random.default_rng(3).uniform(0.01, 1, (50, 4)):
        for a, b in zip(f(row[:3], row[3]), g(row[:3], row[3])):
            assert np.array_equal(np.array(a), np.array(b))
    for change in (
        {"steps": [["CALL", 0]]},
        {"steps": [["SIN", -1]]},
        {"steps": [["SIN", 10**9]]},
        {"inputs": [[10**9, 1]]},
        {"steps": [["__import__", "os"]]},
    ):
        with pytest.raises((ValueError, LookupError, TypeError)):
            read(encode_function(f) | change)
