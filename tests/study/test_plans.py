"""Tasks of motions as files: the page's example, the command, mistakes with their lines, the report."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import articulus as art
from articulus.cli.commands import app
from articulus.declared import fields_of
from articulus.errors import DoubtfulResult, InputError, ModelError
from articulus.motion.trajectory import Apart, Ball, Clear, Facing, Hull, InBox, OnLine, load_plan
from articulus.motion.trajectory.riccati_plan import FeedbackPlan
from articulus.simulation.solve.goals import FramePoint
from articulus.study.plans import parse_task, read_task, run_task
from articulus.study.plans import report as plan_page
from articulus.study.plans.reader import GOAL, HEAD, KEEPS, OBSTACLES, SOLVE, TASK, TOP
from articulus.study.plans.report import doubts, plan_report
from articulus.study.plans.runner import solve_task

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trajectory" / "tasks.md").read_text()
EXAMPLE = re.search(r"```toml\n(.*?)```", PAGE, re.S)


def test_every_key_is_on_the_page() -> None:
    words = [
        *TOP,
        *HEAD,
        *TASK,
        *GOAL,
        *(field.name for field in SOLVE),
        *OBSTACLES,
        *KEEPS,
        "hulls",
        "margin",
        "balls",
        "body",
        "frame",
    ]
    declared = [*OBSTACLES.values(), *KEEPS.values(), Hull]
    words += [field.name for kind in declared for field in fields_of(kind)]
    assert [w for w in words if not re.search(rf"\b{w}\b", PAGE)] == []


def test_the_example_of_the_page_by_the_command(tmp_path: Path) -> None:
    """Files and report are there; the plan keeps clear of the post, in the simulation too, to the error of the mesh."""
    assert EXAMPLE
    (tmp_path / "post.toml").write_text(EXAMPLE[1])
    done = CliRunner().invoke(app, ["plan", str(tmp_path / "post.toml")])
    assert done.exit_code == 0, done.output
    found = load_plan(tmp_path / "around_the_post.nc")
    assert found.q[0] == pytest.approx([np.radians(-20), 0.3])
    assert np.abs(found.u).max() <= 3000 * (1 + 1e-6)
    forces = np.genfromtxt(tmp_path / "around_the_post.forces.csv", delimiter=",", names=True)
    assert forces["joint1_N_m"] == pytest.approx(found.u[:, 0])
    report = (tmp_path / "around_the_post.html").read_text()
    for text in ("Proof by simulation", "tip clear of post", "articulus plan post.toml", 'class="replay"'):
        assert text in report


def test_the_riccati_solver_by_its_name(tmp_path: Path) -> None:
    text = """schema = 1
plan = {name = "steps", model = "two_link"}
task = {q0 = [0, 0], goal = [0.3, 0.2], duration = 1.0, torque_limit = 1e4}
solve = {scheme = "riccati", intervals = 20}
"""
    outcome = run_task(parse_task(text), tmp_path)
    assert outcome.ok
    assert outcome.run is not None
    assert outcome.run.q[-1] == pytest.approx([0.3, 0.2], abs=1e-3)
    back = load_plan(tmp_path / "steps.nc")
    assert isinstance(back, FeedbackPlan)
    assert np.array_equal(back.u, outcome.plan.u)
    beyond = text.replace("1e4}", "1.0}")
    with pytest.raises(InputError, match="holding still at the goal"):
        run_task(parse_task(beyond), tmp_path)
    with pytest.raises(ModelError, match="expected true or false"):
        parse_task(beyond.replace("intervals", 'hold = "no", intervals'))
    weak = run_task(parse_task(beyond.replace("intervals", "hold = false, intervals")), tmp_path)
    assert not weak.ok
    assert not (tmp_path / "steps.forces.csv").exists()  # not those of the first task


def test_what_frames_keep_to_is_read() -> None:
    text = """schema = 1
[plan]
name = "x"
model = "two_link"
[task]
q0 = [0, "10 deg"]
goal = {frame = "tip", pose = {xyz = [1, 0, -2], rpy = [0, "90 deg", 0]}}
duration = 1.0
velocity_limit = {joint1 = "100 deg/s"}
[[keep]]
type = "on_line"
frame = "tip"
start = [0, 0, 0]
end = [1, 0, 0]
tolerance = "2 mm"
[[keep]]
type = "in_box"
frame = "link2"
center = [0, 0, 0]
size = [9, 9, 9]
[[keep]]
type = "facing"
frame = "tip"
axis = [0, 0, 1]
direction = [0, 0, 2]
angle = "30 deg"
[[obstacle]]
type = "ball"
center = [0, 0, 5]
radius = 1
hulls = [{body = "link2", end = [0, 0, -2], radius = 0.1, balls = 3}]
"""
    found = parse_task(text).arguments
    assert found["q0"] == pytest.approx([0, np.radians(10)])
    turned = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    assert found["goal"].pose[:3, :3] == pytest.approx(np.array(turned), abs=1e-12)
    assert found["velocity_limit"] == {"joint1": pytest.approx(np.radians(100))}
    line, box, facing = found["keep"]
    assert line == OnLine("tip", (0, 0, 0), (1, 0, 0), 2e-3)
    assert box == InBox("link2", (0, 0, 0), (9, 9, 9))
    assert facing == Facing("tip", (0, 0, 1), (0, 0, 1), facing.angle)
    assert facing.angle == pytest.approx(np.radians(30))
    hull = Hull("link2", (0, 0, 0), (0, 0, -2), 0.1, 3)
    assert found["obstacles"] == [Clear(Ball((0, 0, 5), 1.0), (hull,))]


def test_all_that_a_plan_takes_is_read_and_planned() -> None:
    """Limits by joint and unit, ends in motion, a start of a frame, parameters of the model, hulls that keep apart, restarts."""
    text = """schema = 1
[plan]
name = "x"
model = "two_link"
[task]
q0 = {frame = "tip", point = [1, 0, -3]}
goal = [0.5, 0.4]
duration = 1.0
actuators = ["joint1", "joint2"]
acceleration_limit = "500 deg/s^2"
jerk_limit = {joint1 = 100, joint2 = "200 rad/s^3"}
torque_rate_limit = "30 kN m/s"
v0 = {joint2 = "10 deg/s"}
goal_velocity = "free"
[[apart]]
first = {body = "link1", radius = 0.1}
second = {body = "tip", radius = "5 cm"}
margin = "1 cm"
[solve]
restarts = 2
seed = 0
"""
    found = parse_task(text).arguments
    assert found["q0"] == FramePoint("tip", found["q0"].point)
    assert found["acceleration_limit"] == pytest.approx(np.radians(500))
    assert found["jerk_limit"] == {"joint1": 100.0, "joint2": 200.0}
    assert found["torque_rate_limit"] == pytest.approx(3e4)
    assert found["v0"] == pytest.approx([0, np.radians(10)])
    assert found["goal_velocity"] == "free"
    assert found["obstacles"] == [
        Apart(Hull("link1", (0, 0, 0), (0, 0, 0), 0.1, 1), Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, 1), 0.01)
    ]
    assert (found["restarts"], found["seed"]) == (2, 0)
    swing = """schema = 1
plan = {name = "x", model = "two_link"}
task = {q0 = [0, 0], goal = [0.5, 0.4], duration = 1.0, v0 = {joint2 = "10 deg/s"}, goal_velocity = "free"}
solve = {intervals = 10}
"""
    v = solve_task(parse_task(swing)).plan.v
    assert v[0] == pytest.approx([0, np.radians(10)])
    assert np.abs(v[-1]).max() > 0.1


def test_parameters_of_the_model_are_chosen(tmp_path: Path) -> None:
    """A hinge whose spring rests at the goal with any stiffness: the stiffest allowed swings there alone."""
    m = art.Mechanism("hinge")
    m.body("disc", mass=1.0, inertia=[2.0, 2.0, 2.0])
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "disc", stiffness=art.Parameter("k", 1.0), rest=0.15)
    m.with_gravity((0.0, 0.0, 0.0)).save(tmp_path / "hinge.toml")
    text = """schema = 1
plan = {name = "swing", model = "hinge.toml"}
task = {q0 = [0], goal = [0.3], duration = 1.0, torque_limit = 10, parameters = {k = [0.1, "50 N m"]}}
solve = {intervals = 20}
"""
    found = solve_task(parse_task(text, folder=tmp_path)).plan
    assert found.parameters["k"] == pytest.approx(2 * np.pi**2, rel=1e-3)  # half a swing takes 1 s
    with pytest.raises(ModelError, match="no parameter 'kk'"):
        parse_task(text.replace("{k =", "{kk ="), folder=tmp_path)
    with pytest.raises(ModelError, match="the least and the largest value, in a list"):
        parse_task(text.replace('[0.1, "50 N m"]', "3.0"), folder=tmp_path)


BAD = """schema = 1
[plan]
name = "a b"
model = "two_link"
[task]
q0 = {elbow = 1.0}
goal = {frame = "tool", point = [0, 0]}
duration = [2, 1]
cost = "speed"
torque_limit = {joint1 = -3}
joint = ["joint1"]
[[obstacle]]
type = "cube"
hulls = []
[[keep]]
type = "on_line"
frame = "tip"
start = [0, 0, 0]
end = [0, 0, 0]
[solve]
scheme = "euler"
intervals = 2.5
"""
MISTAKES = {
    3: "'a b'",
    6: "no joint 'elbow'",
    7: "no frame 'tool'",
    8: "the least and the largest",
    9: '"effort", "time" or weights',
    10: "a number above 0",
    11: "joint",
    13: "one of ball, rod, crate",
    14: "hulls",
    15: "expected two points",
    21: "hermite_simpson",
    22: "a whole number above 0",
}


def test_all_mistakes_are_told_with_their_lines() -> None:
    with pytest.raises(ModelError) as caught:
        parse_task(BAD, "bad.toml")
    told = {int(f.where.split(":")[1].split(" ")[0]): str(f) for f in caught.value.findings}
    assert sorted(told) == sorted(MISTAKES)
    for line, words in MISTAKES.items():
        assert words in told[line]


def test_a_task_without_a_motion_says_what_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a section that cannot be written does not take the others along."""
    text = EXAMPLE[1].replace('duration = ["0.1 s", "9 s"]', "duration = 0.2").replace("time = 1.0, ", "")  # type: ignore[index]
    text += "iterations = 60\n"
    outcome = run_task(parse_task(text), tmp_path)
    assert not outcome.ok
    report = (tmp_path / "around_the_post.html").read_text()
    assert "No motion found" in report
    assert "Not kept" in report
    assert not (tmp_path / "around_the_post.forces.csv").exists()

    def broken(plan: object) -> None:
        raise ZeroDivisionError("a section & its defect")

    monkeypatch.setattr(plan_page, "_limits", broken)
    with pytest.warns(DoubtfulResult, match="the section 'Limits' could not be written"):
        text = plan_report(outcome)
    assert "ZeroDivisionError: a section &amp; its defect" in text
    for title in ("Result", "Not kept", "Motion and forces", "Task"):
        assert f">{title}</h2>" in text


def test_a_coarse_mesh_is_doubted() -> None:
    """Ten intervals of a motion at the limits: the estimate says so; and flexible links say how they swing on."""
    rough = solve_task(
        parse_task(EXAMPLE[1].replace("intervals = 30", "intervals = 6").replace("0.1}", "1e-4}"))
    )  # type: ignore[index]
    assert any("estimated error" in text for text in doubts(rough))
    bayo = """schema = 1
[plan]
name = "link"
model = "bayo_link"
options = {modes = 1}
[task]
q0 = {}
goal = {hinge = 0.2}
duration = 0.5
actuators = ["hinge"]
[solve]
intervals = 20
"""
    swings = solve_task(parse_task(bayo))
    assert swings.residual is not None
    assert swings.residual.hertz[0] > 0


def test_the_excavator_of_the_examples_is_read() -> None:
    task = read_task(ROOT / "examples" / "tasks" / "excavator_wall.toml")
    assert task.arguments["obstacles"][0].obstacle.name == "wall"
    assert task.mechanism.name == art.load("cat215b").name
