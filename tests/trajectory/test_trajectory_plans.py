"""Plans of mechanisms: two transcriptions of one motion, closed loops, flexible links, obstacles, goals out of reach."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.integrate import solve_ivp

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.trajectory import Ball, Clear, Crate, Hull, Rod, ode, plan, solve_problem

START, GOAL = np.array([-0.4, 0.3]), np.array([0.9, -0.5])


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link").with_gravity((0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def free(arm: art.Mechanism):
    return plan(arm, START, GOAL, duration=1.0, torque_limit=1e5, intervals=20)


def test_inverse_and_forward_dynamics_give_one_motion(arm: art.Mechanism, free) -> None:
    """The same mesh, once with accelerations as unknowns and inverse dynamics, once as x' = f(x, u): one discrete problem."""
    x, u = SX.sym("x", 4), SX.sym("u", 2)
    rates = ca.vertcat(x[2:], arm.function("forward_dynamics")(x[:2], x[2:], u))
    ends = {"start": [*START, 0, 0], "end": [*GOAL, 0, 0]}
    phase = ode(
        x, u, rates, duration=1.0, running=ca.sumsqr(u / 1e5), scale=([1, 1, 1, 1], [1e3, 1e3]), **ends
    )
    other = solve_problem(phase, intervals=20, tolerance=1e-10)
    assert other.cost == pytest.approx(free.cost, rel=1e-6)
    assert other["x_1"] == pytest.approx(free["q.joint2"], abs=1e-5)


def test_simulation_with_the_planned_forces_arrives(free) -> None:
    """The estimated error bounds what a simulation finds: cubics between points are the worst that the mesh stands for."""
    assert free.end_error < free.error < 1e-2
    finer = plan(free.mechanism, START, GOAL, duration=1.0, torque_limit=1e5, intervals=20, error=1e-6)
    assert finer.error <= 1e-6
    assert finer.end_error < 1e-6


def test_tracking_brings_a_wrong_start_back(free) -> None:
    pd, forces = free.track(kp=4e4, kd=4e3)
    off = np.array([0.05, -0.05])
    run = art.simulate(
        free.mechanism, 1.0, q0=START + off, controller=pd, components=forces, method="dormand_prince"
    )
    assert np.abs(run.q[-1] - GOAL).max() < 0.1 * 0.05


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
def test_least_time_uses_some_motor_fully(arm: art.Mechanism) -> None:
    """Between the switches one of the forces is at its limit (Bobrow: at least one, always)."""
    fast = plan(arm, START, GOAL, duration=(0.1, 9.0), cost={"time": 1.0}, torque_limit=3e3, intervals=30)
    used = (np.abs(fast.u) / 3e3).max(1)
    assert used.max() <= 1 + 1e-6
    assert np.median(used) > 0.999
    slower = plan(arm, START, GOAL, duration=(0.1, 9.0), cost={"time": 1.0}, torque_limit=1.5e3, intervals=30)
    # no gravity: time scales with the square root of the inverse of the forces
    assert slower.duration == pytest.approx(fast.duration * np.sqrt(2), rel=1e-3)


def test_speed_and_position_limits_of_the_joints_hold(arm: art.Mechanism) -> None:
    kept = plan(arm, START, GOAL, duration=1.0, torque_limit=1e5, velocity_limit=1.6, intervals=20)
    assert np.abs(kept.v).max() <= 1.6 + 1e-6
    assert kept.cost > 0


def test_frame_goals_are_met_and_unreachable_ones_named(arm: art.Mechanism) -> None:
    tip = arm.pose("tip", GOAL)[:3, 3]
    reached = plan(arm, START, art.goals.FramePoint("tip", tip), duration=1.0, torque_limit=1e5, intervals=15)
    assert arm.pose("tip", reached.q[-1])[:3, 3] == pytest.approx(tip, abs=1e-6)
    with pytest.raises(InputError, match=r"goal: out of reach; the nearest position found is .* m"):
        plan(arm, START, art.goals.FramePoint("tip", (90.0, 0.0, 0.0)), duration=1.0, torque_limit=1e5)


@pytest.mark.parametrize("kind", ["ball", "rod", "crate"])
def test_obstacles_are_kept_clear(arm: art.Mechanism, free, kind: str) -> None:
    """In the way of the tip; distances are looked at between the points of the mesh, too, where they may be off by its error."""
    half = arm.pose("tip", free.q[len(free.q) // 2])[:3, 3]
    side = np.array([0, 1, 0])
    made = {
        "ball": Ball(tuple(half), 0.2),
        "rod": Rod(tuple(half - side), tuple(half + side), 0.2),
        "crate": Crate(tuple(half), (0.3, 0.3, 0.3)),
    }[kind]
    hull = Hull("tip", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.05, balls=1)
    more = {"duration": 1.0, "torque_limit": 1e5, "intervals": 30, "obstacles": [Clear(made, (hull,))]}
    corner = pytest.warns(DoubtfulResult, match=r"tip is 0\.01\d m deep in crate")  # cut between two points
    with corner if kind == "crate" else nullcontext():
        round_it = plan(arm, START, GOAL, **more)
    assert round_it.cost > 1.001 * free.cost
    t = np.linspace(0, 1, 400)
    q = np.column_stack([np.interp(t, round_it.t, round_it.q[:, k]) for k in range(2)])
    offset = arm.pose("tip", q)[:, :3, 3] - half
    distance = {
        "ball": np.linalg.norm(offset, axis=1) - 0.2,
        "rod": np.linalg.norm(offset[:, [0, 2]], axis=1) - 0.2,
        "crate": np.abs(offset).max(1) - 0.15,  # never more than the true distance outside of the box
    }[kind]
    assert distance.min() > (0.05 if kind != "crate" else 0.03) - 5e-3


def test_closed_loops_stay_closed(arm: art.Mechanism) -> None:
    """Two four-bars in a row, one motor: residuals of the solver; the end by a simulation of the closed mechanism."""
    row = art.load("n_four_bar", n=2)
    start = art.assemble(row).q
    goal = start.copy()
    goal[0] += 0.4
    goal = art.assemble(row, goal, fixed=["hinge0"]).q
    moved = plan(row, start, goal, duration=1.0, actuators=["hinge0"], intervals=16)
    assert np.abs(row.constraint_residual(moved.q, 0.0)).max() < 1e-8
    assert moved.q[-1] == pytest.approx(goal, abs=1e-7)
    assert moved.end_error < 1e-3


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its length"
)  # the motion that the inputs alone give bends the links far
def test_flexible_links_come_to_rest(arm: art.Mechanism) -> None:
    """At both ends of the motion on the mesh; how well a mesh resolves vibrations is a matter of tests with softer links."""
    king = art.load("king_arm")
    goal = {"joint1": 0.3, "joint2": 0.2}
    with pytest.warns(
        DoubtfulResult, match=r"the inputs alone lead elsewhere: q\.joint1 ends 2\.6 off the plan"
    ):
        moved = plan(king, king.neutral, goal, duration=1.0, actuators=["joint1", "joint2"], intervals=60)
    assert moved.end_error == pytest.approx(
        2.6, abs=0.05
    )  # of another integrator, in the same figures as told
    assert moved.q[-1][[0, 2]] == pytest.approx([0.3, 0.2], abs=1e-7)
    assert np.abs(moved.v[-1]).max() < 1e-7


@pytest.mark.parametrize(("scheme", "told"), [("riccati semi_implicit_euler", True), ("radau 2", False)])
def test_coarse_meshes_are_doubted_where_they_lead_elsewhere(
    arm: art.Mechanism, scheme: str, told: bool
) -> None:
    """Both have large estimated errors; forward dynamics with the same forces, by scipy, tell which of them misses its end by a tenth."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        moved = plan(arm, START, GOAL, duration=1.0, intervals=4, scheme=scheme)
    assert moved.error > 0.1
    forces = [each.force for each in moved.feedforward()]
    end = solve_ivp(
        lambda t, y: np.append(
            y[2:], arm.forward_dynamics(y[:2], y[2:], np.array([float(f(t)) for f in forces]))
        ),
        (0, 1),
        [*START, 0, 0],
        rtol=1e-8,
        atol=1e-8,
        max_step=0.02,
    ).y[:, -1]
    off = (np.abs(end[:2] - GOAL) / np.ptp(moved.q, axis=0)).max()
    assert (off > 0.1) == told
    assert [each.category for each in found] == ([DoubtfulResult] if told else [])
    if told:
        assert f"{off:.2g} of the extent of its motion" in str(found[0].message)


def test_bad_input_is_named(arm: art.Mechanism) -> None:
    with pytest.raises(InputError, match=r"cost: found \"speed\""):
        plan(arm, START, GOAL, duration=1.0, cost="speed")
    with pytest.raises(InputError, match=r"torque_limit: found joint 'elbow'; valid names: joint1, joint2"):
        plan(arm, START, GOAL, duration=1.0, torque_limit={"elbow": 3.0})
    with pytest.raises(InputError, match=r"weight on time with the given duration"):
        plan(arm, START, GOAL, duration=1.0, cost="time")
    with pytest.raises(InputError, match=r"expected Clear\(obstacle, hulls\)"):
        plan(arm, START, GOAL, duration=1.0, obstacles=[Ball((0, 0, 0), 1.0)])


def test_wide_limits_do_not_change_the_motion(arm: art.Mechanism, free) -> None:
    """Limits far beyond what is needed say nothing of the sizes of forces: the same motion, costs in the ratio of their squares."""
    wide = plan(arm, START, GOAL, duration=1.0, torque_limit=1e8, intervals=20)
    assert wide.cost * 1e6 == pytest.approx(free.cost, rel=1e-6)


def test_functions_of_a_mechanism_are_made_once_and_anew_after_a_change() -> None:
    arm = art.load("two_link")
    made = arm.function("inverse_dynamics")
    assert arm.function("inverse_dynamics") is made
    arm.body("load", mass=1.0, inertia=(1.0, 1.0, 1.0))
    arm.joint("weld", art.Fixed(), "link2", "load")
    assert arm.function("inverse_dynamics") is not made


@pytest.mark.parametrize(("duration", "looks"), [(1e-6, 200), (0.5, 500), (1e4, 5000)])
def test_simulations_are_looked_at_often_enough_and_not_too_often(duration: float, looks: int) -> None:
    """A wheel of 1 kg m^2 with least effort: 6 (d / T^2) (1 - 2 t / T), of which the simulation is exact, whatever the duration."""
    wheel = art.Mechanism("wheel")
    wheel.body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    wheel.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "wheel")
    moved = plan(wheel, [0.0], [1.0], duration=duration, intervals=4, torque_limit=10 / duration**2)
    assert len(moved.run(track=False).t) == looks + 1
    assert moved.end_error < 1e-6


def scaled(size: float, closed: bool) -> art.Mechanism:
    """Return two links, or four bars, of that size and of one density."""
    made, mass = art.Mechanism("scaled"), size**3
    links, turn = ("a", "b", "c")[: 3 if closed else 2], art.Revolute(axis=(0, 1, 0))
    for before, each in zip(("ground", *links), links):
        own = mass * size**2 / 12
        made.body(each, mass=mass, com=(size / 2, 0, 0), inertia=(own / 100, own, own))
        made.joint(f"to_{each}", turn, before, each, None if before == "ground" else (size, 0, 0))
    if closed:
        made.frame("end", "c", (size, 0, 0))
        made.frame("pin", "ground", (1.3 * size, 0, 0))
        made.constrain(art.PointOnPoint("loop", "end", "pin"))
    return made


@pytest.mark.parametrize(("size", "closed"), [(1e-3, False), (1e3, False), (100.0, True)])
def test_motions_of_other_sizes_are_similar(size: float, closed: bool) -> None:
    """Froude's law: lengths times k, masses k^3, times k^(1/2) and moments k^4 leave the angles as they are, up to the solver's tolerance."""
    one, ends = scaled(1.0, closed), ([-0.4, 0.3], [0.9, -0.5])
    if closed:
        first = art.assemble(one, np.array([-1.2, 0.9, 0.9]), fixed=["to_a"]).q
        ends = first, art.assemble(one, first + np.array([0.4, 0, 0]), fixed=["to_a"]).q
    free = {"actuators": ["to_a"]} if closed else {}
    found, expected = (
        plan(scaled(k, closed), *ends, duration=k**0.5, **free or {"torque_limit": 150 * k**4})
        for k in (size, 1.0)
    )
    assert found.q == pytest.approx(expected.q, abs=1e-4)
    assert found.u / size**4 == pytest.approx(expected.u, abs=1e-3 * np.abs(expected.u).max())
