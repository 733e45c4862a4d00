"""The fastest run along a path: closed forms, the same problem by collocation, limits between points, many paths, refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
from articulus.errors import InputError
from articulus.trajectory import ode, path_speed, solve_problem


def wheel(damping: float = 0.0) -> art.Mechanism:
    """Return a wheel of 2 kg m^2 on a hinge without gravity."""
    m = art.Mechanism("wheel", gravity=(0, 0, 0))
    m.body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0))
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "disc", damping=damping)
    return m


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link")


def test_bang_bang_of_one_wheel_is_exact() -> None:
    """T = 2 sqrt(angle inertia / torque); the path is straight, so u is constant on each half and the grid is exact."""
    run = path_speed(wheel(), [[0.0], [3.0]], effort=5.0, grid=10)
    assert run.duration == pytest.approx(2 * np.sqrt(3.0 * 2.0 / 5.0), rel=1e-12)
    assert np.abs(run.forces).max() == pytest.approx(5.0, rel=1e-9)


def test_speed_limit_makes_a_trapezoid() -> None:
    """Up with 2.5 rad/s^2 to 1 rad/s and down again: T = angle / v + v / a."""
    run = path_speed(wheel(), [[0.0], [3.0]], effort=5.0, velocity=1.0, grid=3000)
    assert run.duration == pytest.approx(3.0 + 1.0 / 2.5, rel=1e-3)
    assert run.gap < 1e-3
    assert np.abs(run.along(4)[2]).max() <= 1 + 1e-9


def test_acceleration_and_moving_ends() -> None:
    """No torque limit that matters: from 1 rad/s up with 2 rad/s^2 for half of the angle and down again: T = sqrt(1 + 2 a angle / 2) - 1."""
    run = path_speed(wheel(), [[0.0], [3.0]], effort=1e6, acceleration=2.0, speeds=(1 / 3, 1 / 3), grid=50)
    assert run.duration == pytest.approx(np.sqrt(1 + 2 * 2.0 * 1.5) - 1, rel=1e-9)


def test_dampers_and_dry_friction_take_their_part() -> None:
    """A damper d with the whole torque: w(t) = (T / d)(1 - exp(-d t / J)) on the way up; here long enough to see the terminal speed."""
    run = path_speed(wheel(damping=1.0), [[0.0], [40.0]], effort=5.0, grid=2000)
    assert run.along()[2].max() == pytest.approx(5.0, rel=1e-2)
    assert np.abs(run.forces).max() <= 5.0 * (1 + 1e-3)
    dry = path_speed(wheel(), [[0.0], [3.0]], effort=5.0, friction={"hinge": 1.0}, grid=2000)
    up, down = (5.0 - 1.0) / 2, (5.0 + 1.0) / 2  # rad/s^2
    assert dry.duration == pytest.approx(np.sqrt(2 * 3.0 * (1 / up + 1 / down)), rel=1e-3)


def test_the_same_path_by_collocation(arm: art.Mechanism) -> None:
    """The line between two positions as x = (s, s'), u = s'' with the torques as limits along the way, solved by another method."""
    first, last = np.array([-0.5, 0.4]), np.array([0.6, -0.3])
    limits = np.array([600.0, 250.0])
    found = path_speed(arm, [first, last], effort=dict(zip(arm.joint_names, limits)), gap=1e-4)
    x, u, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
    step = ca.DM(last - first)
    torque = arm.function("inverse_dynamics")(ca.DM(first) + x[0] * step, x[1] * step, u * step)
    phase = ode(
        x,
        u,
        ca.vertcat(x[1], u),
        duration=(0.05, 9.0),
        start=[0, 0],
        end=[1, 0],
        x_bounds=[(0, 1), (0, 50)],
        final=T,
        time=T,
        path={"torques": (torque / ca.DM(limits), -1, 1)},
    )
    other = solve_problem(phase, intervals=60, scheme_name="radau 3")
    assert found.duration == pytest.approx(other.duration, rel=1e-3)
    assert found.overload() < 1e-4


def test_limits_hold_between_points_and_the_gap_closes(arm: art.Mechanism) -> None:
    points = [[-1.0, 0.5], [0.0, 1.0], [0.8, -0.4], [1.2, 0.3]]
    runs = [path_speed(arm, points, effort=2500.0, velocity=3.0, grid=n) for n in (100, 200, 400)]
    durations = [r.duration for r in runs]
    assert durations[0] > durations[1] > durations[2]
    assert runs[2].gap < 0.7 * runs[1].gap
    assert runs[2].overload() < 1e-3
    tight = path_speed(arm, points, effort=2500.0, velocity=3.0, gap=5e-4)
    assert tight.gap <= 5e-4
    assert tight.overload() < 1e-4


def test_many_paths_are_each_alone(arm: art.Mechanism) -> None:
    """Bit by bit: a path does not know of its neighbours in the vectors."""
    points = np.random.default_rng(1).uniform(-1, 1, size=(11, 4, 2))
    together = path_speed(arm, points, effort=2500.0, velocity=3.0, grid=60)
    for k in (0, 7, 10):
        alone = path_speed(arm, points[k], effort=2500.0, velocity=3.0, grid=60)
        assert alone.duration == pytest.approx(together.duration[k], rel=1e-12)


def test_tool_speed(arm: art.Mechanism) -> None:
    run = path_speed(arm, [[-0.5, 0.4], [0.6, -0.3]], effort=2500.0, tool=("tip", 0.7), grid=300)
    _, q, v, _ = run.along()
    speed = np.linalg.norm(np.einsum("...ij,...j->...i", arm.jacobian("tip", q)[..., 3:, :], v), axis=-1)
    assert speed.max() == pytest.approx(0.7, rel=1e-3)


def test_bad_input_is_named(arm: art.Mechanism) -> None:
    with pytest.raises(
        InputError, match=r"cannot be reached .*holding still at s = .* of the limit of 'joint1'"
    ):
        path_speed(arm, [[0.0, 0.0], [1.5, 0.0]], effort=20.0)
    with pytest.raises(InputError, match=r"no finite limit"):
        path_speed(arm, [[0.0, 0.0], [1.5, 0.0]])
    with pytest.raises(InputError, match=r"two equal positions"):
        path_speed(arm, [[0.0, 0.0], [0.0, 0.0]], effort=2500.0)
    with pytest.raises(InputError, match=r"shape \(2, 3\); expected \(\.\.\., k, 2\)"):
        path_speed(arm, [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], effort=2500.0)
    with pytest.raises(InputError, match=r"closed loops"):
        path_speed(art.load("n_four_bar"), np.zeros((2, 11)), effort=1.0)
    with pytest.raises(InputError, match=r"the speed 100 1/s at the start is outside"):
        path_speed(arm, [[0.0, 0.0], [1.0, 0.5]], effort=2500.0, speeds=(100.0, 0.0))
