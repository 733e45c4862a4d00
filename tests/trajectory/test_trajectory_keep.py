"""Frames that keep to a line, a box, a direction; flexible links at rest in both energies; ends that contradict the way."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.trajectory import Ball, Clear, Facing, Hull, InBox, OnLine, path_speed, plan

START, GOAL = np.array([-0.4, 1.3]), np.array([0.9, 0.5])


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link").with_gravity((0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def line(arm: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    return arm.pose("tip", START)[:3, 3], arm.pose("tip", GOAL)[:3, 3]


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
def test_fastest_line_is_that_of_path_speed(arm: art.Mechanism, line) -> None:
    """Two methods: the tip on a line as a constraint, and the speed along the given path by reachability, to 0.5 % (their grids)."""
    begin, finish = line
    tolerance = 1e-5
    found = plan(
        arm,
        START,
        art.goals.FramePoint("tip", finish),
        duration=(0.1, 9.0),
        cost={"time": 1.0},
        torque_limit=3e3,
        intervals=40,
        keep=[OnLine("tip", begin, finish, tolerance)],
    )
    off = arm.pose("tip", found.q)[:, :3, 3] - begin
    along = (finish - begin) / np.linalg.norm(finish - begin)
    assert np.linalg.norm(off - np.outer(off @ along, along), axis=1).max() <= tolerance * (1 + 1e-3)
    q = [START]
    for s in np.linspace(0, 1, 41)[1:]:
        point = art.goals.FramePoint("tip", begin + s * (finish - begin))
        q.append(art.inverse_kinematics(arm, point, guess=q[-1]).q)
    assert found.duration == pytest.approx(
        path_speed(arm, np.array(q), torque_limit=3e3, grid=400).duration, rel=5e-3
    )


def test_boxes_are_kept(arm: art.Mechanism) -> None:
    """The tip would swing lower on the way than at either end."""
    start, goal = [-0.4, 0.3], [0.9, -0.5]
    free = plan(arm, start, goal, duration=1.0, torque_limit=1e5, intervals=20)
    floor = -3.86
    assert arm.pose("tip", free.q)[:, 2, 3].min() < floor - 0.03
    box = InBox("tip", (0, 0, floor + 5), (20, 1, 10))
    boxed = plan(arm, start, goal, duration=1.0, torque_limit=1e5, intervals=20, keep=[box])
    assert arm.pose("tip", boxed.q)[:, 2, 3].min() > floor - 1e-6
    assert boxed.cost > free.cost


def test_directions_are_kept(arm: art.Mechanism) -> None:
    """The second link has the same attitude at both ends, and would turn on the way."""
    start, goal = [-0.4, 0.3], [0.9, -1.0]
    axis = arm.pose("tip", start)[:3, 2]

    def widest(q: np.ndarray) -> float:
        return float(np.arccos((arm.pose("tip", q)[:, :3, 2] @ axis).clip(-1, 1)).max())

    free = plan(arm, start, goal, duration=1.0, torque_limit=1e5, intervals=20)
    angle = widest(free.q) / 2
    assert angle > 0.01
    facing = Facing("tip", (0, 0, 1), tuple(axis), angle)
    held = plan(arm, start, goal, duration=1.0, torque_limit=1e5, intervals=20, keep=[facing])
    assert widest(held.q) < angle * (1 + 1e-3)


@pytest.mark.filterwarnings("ignore:plan. between the points of the mesh limits")  # the mesh is the subject
def test_flexible_links_end_at_rest_in_both_energies() -> None:
    """At a frame goal, under gravity: nothing pushes the modes at the end, nor at the start; velocities are zero."""
    king = art.load("king_arm")
    point = king.pose("tip2", king.positions({"joint1": 0.1, "joint2": 0.1}))[:3, 3]
    with pytest.warns(DoubtfulResult, match="The mesh does not resolve the motion"):  # of 40 intervals
        moved = plan(
            king,
            king.neutral,
            art.goals.FramePoint("tip2", point),
            duration=1.0,
            torque_limit=30.0,
            velocity_limit=2.0,
            actuators=["joint1", "joint2"],
            intervals=40,
        )
    assert king.pose("tip2", moved.q[-1])[:3, 3] == pytest.approx(point, abs=1e-6)
    for k in (0, -1):
        left = king.inverse_dynamics(moved.q[k], np.zeros(4), np.zeros(4))[[1, 3]]
        assert (
            np.abs(left).max()
            < 1e-5 * np.abs(king.inverse_dynamics(moved.q[k], np.zeros(4), np.zeros(4))).max()
        )
    assert np.abs(moved.v[-1]).max() < 1e-7


# the motion is fast on purpose, so that it leaves a vibration; plan and run have the same equations
@pytest.mark.filterwarnings("ignore:(?s).*over its (length|first frequency)")
def test_residual_vibration_is_what_locked_joints_leave() -> None:
    """One link, one mode: the simulation goes on with the hub held; the tip's swing about its rest is the amplitude, to 2 %."""
    bayo = art.load("bayo_link", modes=1)
    moved = plan(bayo, bayo.neutral, {"hinge": 0.3}, duration=0.5, actuators=["hinge"], intervals=15)
    found = moved.residual_vibration("tip")
    end = moved.run(track=False)
    bent, rate = float(end.q[-1, 1]), float(end.v[-1, 1])
    mass = bayo.mass_matrix(end.q[-1])
    rate += float(mass[1, 0] / mass[1, 1] * end.v[-1, 0])
    omega = 2 * np.pi * found.hertz[0]
    slope = np.linalg.norm(bayo.jacobian("tip", end.q[-1])[3:, 1])
    t = np.linspace(0, 3 / found.hertz[0], 400)
    swing = slope * (bent * np.cos(omega * t) + rate / omega * np.sin(omega * t))
    assert np.abs(swing).max() == pytest.approx(found.amplitude[0], rel=0.02)
    assert found.energy == pytest.approx(mass[1, 1] * ((omega * bent) ** 2 + rate**2) / 2, rel=0.02)
    assert found.largest == found.amplitude.sum()
    rigid = plan(art.load("two_link"), START, GOAL, duration=1.0, torque_limit=1e5, intervals=4)
    with pytest.raises(InputError, match="expected an open mechanism with flexible bodies"):
        rigid.residual_vibration("tip")


def test_ends_that_contradict_the_way_are_named(arm: art.Mechanism, line) -> None:
    begin, finish = line
    aside = np.add(begin, [0.0, 0.0, 0.2])
    with pytest.raises(InputError, match=r"q0: found tip on its line off by"):
        plan(arm, START, GOAL, duration=1.0, keep=[OnLine("tip", aside, finish)])
    ball = Clear(Ball(tuple(finish), 0.1, "post"), (Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1),))
    with pytest.raises(InputError, match=r"goal: found tip clear of post off by 0\.15"):
        plan(arm, START, GOAL, duration=1.0, obstacles=[ball])
    with pytest.raises(InputError, match=r"found 0 whatever the position; expected between 0\.5 and 1\.5"):
        plan(arm, START, GOAL, duration=1.0, keep=[InBox("tip", (0, 1, 0), (9, 1, 9))])


def test_bad_numbers_are_named() -> None:
    with pytest.raises(InputError, match=r"OnLine: start and end are both"):
        OnLine("tip", (0, 0, 0), (0, 0, 0))
    with pytest.raises(InputError, match=r"OnLine\.tolerance: found 0"):
        OnLine("tip", (0, 0, 0), (1, 0, 0), 0.0)
    with pytest.raises(InputError, match=r"Facing\.angle: found 0"):
        Facing("tip", (0, 0, 1), (0, 0, 1), 0.0)
    with pytest.raises(InputError, match=r"InBox\.size: found"):
        InBox("tip", (0, 0, 0), (1, 1, -1))


def test_obstacles_that_are_jumped_across_are_told() -> None:
    """On a line through a ball no motion is clear of it: at the points of a coarse mesh one is, and the ball is between two of them."""
    arm = art.load("two_link").with_gravity((0.0, 0.0, 0.0))
    start, goal = [-0.4, 1.3], [0.9, 0.5]
    begin, finish = (arm.pose("tip", q)[:3, 3] for q in (start, goal))
    tip = Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1)
    post = Clear(Ball(tuple((begin + finish) / 2), 0.3, name="post"), (tip,))
    more = {"duration": 3.0, "torque_limit": 1e5, "intervals": 30, "iterations": 300}
    line = OnLine("tip", begin, finish, tolerance=1e-3)
    point = art.goals.FramePoint("tip", finish)
    with pytest.warns(DoubtfulResult, match=r"tip is 0\.3\d m deep in post at t = .*Take more intervals"):
        jumped = plan(arm, start, point, keep=[line], obstacles=[post], **more)
    away = np.linalg.norm(arm.pose("tip", jumped.q)[:, :3, 3] - (begin + finish) / 2, axis=1)
    assert away.min() > 0.35 - 1e-5  # clear at every point
    plan(arm, start, point, obstacles=[post], **more)  # round it: nothing is told
