"""The excavator at the sticks: directions, modes, stops, ends."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from articulus.browser.drive.excavator import (
    CYLINDER_LOWER,
    CYLINDER_UPPER,
    LOWER,
    UPPER,
    cat215b,
    cat215b_cylinders,
)
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.rates import JOINT, RESOLVED


@functools.cache
def plant() -> Plant:
    return Plant(cat215b())


@pytest.fixture(scope="module")
def with_cylinders() -> Plant:
    return Plant(cat215b_cylinders())


@pytest.fixture
def digger() -> Plant:
    plant().put([0.0] * 4, JOINT, False)
    plant().reset()
    return plant()


def drive(digger: Plant, axes, mode, seconds, soil=False) -> np.ndarray:
    digger.put(axes, mode, soil)
    digger.advance(round(1000 * seconds))
    assert not digger.failed
    return digger.q(digger.state()).copy()


def wrist(digger: Plant, q) -> np.ndarray:
    """Return radius, height and pitch of the bucket [m, m, rad]."""
    x = digger.machine.mechanism.pose("wrist", q)[:3, 3]
    return np.array([np.hypot(x[0], x[1]), x[2], q[1:].sum()])


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_joint_mode_moves_one_joint_and_release_stops_it(digger, axis, sign) -> None:
    before = digger.q(digger.state()).copy()
    moved = drive(digger, sign * np.eye(4)[axis], JOINT, 1.0) - before
    assert sign * moved[axis] > np.radians(3)
    assert np.abs(np.delete(moved, axis)).max() < np.radians(0.5)
    end = drive(digger, [0] * 4, JOINT, 1.0) - before
    assert np.abs(end - moved).max() < np.radians(1)  # stopped, and not coming back


def test_cylinders_move_one_joint_each_and_stop_within_the_ends(with_cylinders) -> None:
    machine = with_cylinders
    for axis, sign in (
        (0, 1),
        (0, -1),
        (1, 1),
        (1, -1),
        (2, 1),
        (3, 1),
        (3, -1),
    ):  # the stick starts near its end
        machine.put([0.0] * 4, JOINT, False)
        machine.reset()
        before = machine.q(machine.state()).copy()
        moved = drive(machine, sign * np.eye(4)[axis], JOINT, 1.0) - before
        assert sign * moved[axis] > np.radians(3)
        assert np.abs(np.delete(moved, axis)).max() < np.radians(0.5)
        end = drive(machine, [0] * 4, JOINT, 1.0) - before
        assert np.abs(end - moved).max() < np.radians(1.5)
    for signs in ([0, 1, 1, 1], [0, -1, -1, -1]):
        q = drive(machine, signs, JOINT, 30.0)
        assert np.all(q[1:] < CYLINDER_UPPER[1:] + 0.05)
        assert np.all(q[1:] > CYLINDER_LOWER[1:] - 0.05)


def test_resolved_mode_reaches_out_at_constant_height_and_pitch(digger) -> None:
    start = wrist(digger, digger.q(digger.state()))
    end = wrist(digger, drive(digger, [0, 0, 1, 0], RESOLVED, 2.0))
    assert end[0] - start[0] > 0.4
    # the law follows with errors of degrees, as in section 5.5.2 of the source: Z within 0.15 m there too
    assert abs(end[1] - start[1]) < 0.15
    assert abs(end[2] - start[2]) < np.radians(8)


def test_resolved_mode_lifts_straight_up(digger) -> None:
    start = wrist(digger, digger.q(digger.state()))
    end = wrist(digger, drive(digger, [0, 1, 0, 0], RESOLVED, 2.0))
    assert end[1] - start[1] > 0.3
    assert abs(end[0] - start[0]) < 0.15


def test_the_mode_changes_without_a_jump(digger) -> None:
    drive(digger, [0, 1, 0, 0], JOINT, 1.0)
    before = drive(digger, [0] * 4, JOINT, 1.0)
    after = drive(digger, [0] * 4, RESOLVED, 1.0)
    assert np.abs(after - before).max() < np.radians(0.5)


def test_the_sticks_held_for_a_minute_stay_within_the_ends(digger) -> None:
    for signs in ([0, 1, 1, 1], [0, -1, -1, -1]):
        q = drive(digger, signs, JOINT, 30.0)
        # the wanted position ends there; the law lets gravity press a little further
        assert np.all(q[1:] < UPPER[1:] + 0.1)
        assert np.all(q[1:] > LOWER[1:] - 0.1)


@pytest.mark.parametrize("seed", [0, 1])
def test_wild_driving_stays_finite(digger, seed) -> None:
    rng = np.random.default_rng(seed)
    for k in range(40):
        drive(digger, rng.choice([-1, 0, 1], 4), k % 2, 0.5, soil=k % 3 == 0)
    assert np.abs(digger.v(digger.state())).max() < 10
