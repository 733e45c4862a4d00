"""Plans of mechanisms with named parameters, coupled joints and joints of several degrees of freedom."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import Ball, Clear, Hull, InBox, plan, reaching
from articulus.motion.trajectory.costs import Effort
from articulus.motion.trajectory.task import Task

GOAL = 0.9


def link(mass, **more) -> art.Mechanism:
    made = art.Mechanism("link", gravity=(0.0, 0.0, -9.81))
    made.body("link", mass=mass, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    made.joint("hinge", art.Revolute(axis=(0, -1, 0)), "ground", "link", **more)
    made.frame("tip", "link", at=(1.0, 0, 0))
    return made


@pytest.mark.parametrize("scheme", ["hermite_simpson", "riccati"])
def test_named_parameters_have_the_values_of_the_model(scheme: str) -> None:
    """The same motion as of a mechanism with the numbers themselves; goals, boxes and obstacles need the parameters, too."""
    named = link(art.Parameter("mass", 2.0))
    box = InBox("tip", (0.5, 0, 0.5), (3.0, 3.0, 3.0))
    post = Clear(Ball((0, 0, 5.0), 0.1), (Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1),))
    more = {"duration": 1.0, "intervals": 16, "keep": [box], "obstacles": [post], "scheme": scheme}
    goal = art.goals.FramePoint("tip", named.pose("tip", [GOAL])[:3, 3])
    found, expected = (plan(m, [0.0], goal, **more) for m in (named, link(2.0)))
    assert found.q == pytest.approx(expected.q, abs=1e-6)
    assert found.u == pytest.approx(expected.u, rel=1e-5)


def test_joints_of_several_degrees_of_freedom_have_several_motors() -> None:
    """A free mass in a plane: each force of least effort is linear in time, 6 m d / T^2 (1 - 2 t / T); the simulation arrives."""
    disc = art.Mechanism("disc")
    disc.body("disc", mass=2.0, inertia=(0.5, 0.5, 0.5))
    disc.joint("plane", art.Planar(), "ground", "disc")
    goal = np.array([0.5, -0.3, 1.0])
    moved = plan(disc, np.zeros(3), goal, duration=1.0, actuators=["plane"], intervals=8)
    linear = 6 * goal * [2.0, 2.0, 0.5] * (1 - 2 * moved.t[:, None])
    assert moved.u == pytest.approx(linear, abs=1e-5)
    assert moved.actuators == ("plane",)
    assert moved.end_error < 1e-6
    for gains in ({}, {"kp": 200.0, "kd": 40.0}):
        controller, forces = moved.track(**gains)
        run = art.simulate(disc, 1.0, q0=[0.02, -0.02, 0.02], controller=controller, components=forces)
        assert np.abs(run.q[-1] - goal).max() < 0.5 * 0.02  # the forces alone would leave all of it


def test_ball_joints_with_motors() -> None:
    """Half a radian about one axis from rest: 6 I d / T^2 (1 - 2 t / T) about it, the others without moment."""
    ball = art.Mechanism("ball", gravity=(0.0, 0.0, 0.0))
    ball.body("ball", mass=1.0, inertia=(0.5, 0.5, 0.5))
    ball.joint("socket", art.Spherical(), "ground", "ball")
    goal = ball.integrate_position(ball.neutral, np.array([0.0, 0.5, 0.0]))
    moved = plan(ball, ball.neutral, goal, duration=1.0, actuators=["socket"], intervals=8)
    assert moved.u[:, 1] == pytest.approx(6 * 0.5 * 0.5 * (1 - 2 * moved.t), abs=1e-3)
    assert np.abs(moved.u[:, [0, 2]]).max() < 1e-5
    assert moved.end_error < 1e-3
    with pytest.raises(InputError, match=r"track: found the motor in 'socket'"):
        moved.track(kp=1.0, kd=1.0)
    with pytest.raises(InputError, match=r"found 4 coordinates and 3 velocities; .* take collocation"):
        plan(ball, ball.neutral, goal, duration=1.0, actuators=["socket"], scheme="riccati")


@pytest.fixture(scope="module")
def geared() -> art.Mechanism:
    """A link in front of another, turned by it twice as far and as fast."""
    held = art.Limits(lower=-1.0, upper=1.0, velocity=2.2)
    arm = link(1.0)
    arm.body("hand", mass=0.5, com=(0.2, 0, 0), inertia=(0.02, 0.02, 0.02))
    arm.joint("wrist", art.Revolute(axis=(0, -1, 0)), "link", "hand", (1.0, 0, 0), limits=held)
    return arm.couple("wrist", "hinge", ratio=2.0)


@pytest.mark.parametrize("scheme", ["hermite_simpson", "riccati"])
def test_coupled_joints_keep_their_limits(geared: art.Mechanism, scheme: str) -> None:
    """From -0.45 to 0.45 in a second takes a wrist of more than 1.8 rad/s at the mean; the free motion would be faster than 2.2."""
    more = {"duration": 1.0, "intervals": 20, "scheme": scheme}
    kept = plan(geared, [-0.45], [0.45], **more)
    assert 2 * np.abs(kept.v).max() == pytest.approx(2.2, abs=1e-4)
    own = plan(geared, [-0.45], [0.45], velocity_limit={"wrist": 2.0}, **more)
    assert 2 * np.abs(own.v).max() == pytest.approx(2.0, abs=1e-4)


def test_coupled_joints_that_cannot_be_named(geared: art.Mechanism) -> None:
    with pytest.raises(InputError, match=r"goal: found position of wrist off by 0.2"):
        plan(geared, [0.0], [0.6], duration=1.0)
    with pytest.raises(InputError, match=r"actuators: found 'wrist', a coupled joint that follows 'hinge'"):
        plan(geared, [0.0], [0.3], duration=1.0, actuators=["wrist"])
    with pytest.raises(
        InputError, match=r"torque_limit: found 'wrist', a coupled joint that follows 'hinge'"
    ):
        plan(geared, [0.0], [0.3], duration=1.0, torque_limit={"wrist": 3.0})


@pytest.mark.parametrize("scheme", ["hermite_simpson", "radau 3", "shooting", "weak"])
def test_ends_of_quaternions_leave_their_length_open(scheme: str) -> None:
    """The motion to the same pose of the body, up to the error of each scheme: four numbers fixed at the end are one too many, and the
    goal with the other sign is the same position."""
    ball = art.Mechanism("ball")
    ball.body("ball", mass=1.0, com=(0.2, 0.1, 0.3), inertia=(0.3, 0.5, 0.7))
    ball.joint("socket", art.Spherical(), "ground", "ball")
    goal = ball.integrate_position(ball.neutral, np.array([1.2, -2.0, 0.5]))
    more = {"duration": 1.0, "actuators": ["socket"], "scheme": scheme, "intervals": 8, "iterations": 50}
    moved = plan(ball, ball.neutral, -goal, **more)
    pose = art.goals.FramePose("ball", ball.pose("ball", goal))
    other = plan(ball, ball.neutral, pose, duration=1.0, actuators=["socket"], intervals=16)
    assert moved.cost == pytest.approx(other.cost, rel=0.02)
    assert moved.q[-1] == pytest.approx(goal, abs=0.05 if scheme == "weak" else 0.01)


def test_a_skate_arrives_beside_its_track() -> None:
    """A constraint on velocities determines no position: to a goal at the side the skate has to turn on its way."""
    q, v, t = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t")
    sideways = ca.Function("sideways", [q, v, t], [ca.cos(q[2]) * v[1] - ca.sin(q[2]) * v[0]])
    skate = art.Mechanism("skate")
    skate.body("skate", mass=1.0, inertia=(0.5, 0.5, 0.5))
    skate.joint("plane", art.Planar(), "ground", "skate")
    skate.constrain(art.CustomVelocityConstraint("edge", sideways))
    moved = plan(skate, np.zeros(3), [1.0, 0.5, 0.0], duration=2.0, actuators=["plane"], intervals=16)
    assert moved.q[-1] == pytest.approx([1.0, 0.5, 0.0], abs=1e-7)
    assert moved.end_error < 1e-3


def test_half_a_turn_from_the_goal_is_not_there() -> None:
    """At half a turn the sines of the angle that is left are zero as at the goal; its cosine, and a distance that grows with it, are not."""
    hinge, c = link(1.0), 0.5
    goal = art.goals.FramePose("link", hinge.pose("link", [c]))
    (held,) = Task(hinge, [0.0], goal, 1.0, (Effort(),)).phase().at_end
    stages = reaching(hinge, goal, step=0.1, steps=4, weights={"velocity": 0.0, "input": 0.0})
    cost = ca.Function("cost", [ca.vertcat(*stages.full_symbols[0])], [stages.running])
    for away in (0.0, 0.3, 2.0, np.pi):
        rows = np.array(held.function([c + away, 0, 0, 0])).ravel()
        off = np.maximum(held.lower - rows, rows - held.upper).max()
        assert (off < 1e-12) == (away == 0)
        assert float(cost([c + away, *[0] * 4])) == pytest.approx(2 * (1 - np.cos(away)), abs=1e-12)


@pytest.mark.filterwarnings("ignore:plan. the inputs alone lead elsewhere")
def test_loops_stay_closed_from_a_singular_position() -> None:
    """A parallelogram stretched out: one of its constraints follows from the other there, and not on the way. Between two such
    positions neither end tells, and the plan warns. Which way a simulation takes out of such a position is a matter of rounding, and so is
    the doubt about the inputs alone."""
    bars = art.load("n_four_bar", n=1).with_gravity((0.0, 0.0, 0.0))
    flat, bent = np.pi / 2 * np.array([1, -1, 1]), 0.6 * np.array([1, -1, 1])
    more = {"duration": 1.0, "actuators": ["hinge0"], "intervals": 8, "iterations": 100}
    moved = plan(bars, flat, bent, **more)
    assert moved.converged
    assert np.abs(bars.constraint_residual(moved.q, 0.0)).max() < 1e-8
    with pytest.warns(UserWarning, match=r"constraint 'loop1\..' is open by .* along the motion"):
        plan(bars, flat, -flat, **more)
