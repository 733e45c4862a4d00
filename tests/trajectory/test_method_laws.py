"""Laws of the methods beside plans: distances against sampled surfaces, programs in stages, laws under noise, trusses, playing controllers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.linalg import solve_continuous_are
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.motion.trajectory import Ball, Crate, PathIntegral, RecedingHorizon, Rod, reaching, truss
from articulus.motion.trajectory.obstacles import Obstacle
from articulus.motion.trajectory.staircase import Stage, solve_stages
from articulus.motion.trajectory.stochastic import feedback_law

# obstacles


def surface(obstacle: Obstacle, count: int = 20000) -> np.ndarray:
    """Return points all over the surface of an obstacle."""
    rng = np.random.default_rng(1)
    out = rng.normal(size=(count, 3))
    out /= np.linalg.norm(out, axis=1)[:, None]
    match obstacle:
        case Ball():
            return np.array(obstacle.center) + obstacle.radius * out
        case Rod():
            a, b = np.array(obstacle.start), np.array(obstacle.end)
            along = (b - a) / np.linalg.norm(b - a)
            caps = np.where((out @ along < 0)[:, None], a, b) + obstacle.radius * out
            across = out - np.outer(out @ along, along)
            across *= obstacle.radius / np.linalg.norm(across, axis=1)[:, None]
            return np.vstack([caps, a + rng.uniform(0, 1, (count, 1)) * (b - a) + across])
    assert isinstance(obstacle, Crate)
    cube = rng.uniform(-1, 1, (count, 3))
    side = rng.integers(0, 3, count)
    cube[np.arange(count), side] = np.sign(cube[np.arange(count), side])
    return np.array(obstacle.center) + cube * np.array(obstacle.size) / 2


OBSTACLES = [
    Ball((0.1, 0.2, -0.3), 0.4),
    Rod((0, 0, 0), (0.5, 0.2, 0.3), 0.2),
    Crate((0.1, 0, 0), (0.4, 0.6, 1.0)),
]


def distances(obstacle: Obstacle, points: np.ndarray) -> np.ndarray:
    p = SX.sym("p", 3)
    return np.array(ca.Function("d", [p], [obstacle.distance(p)])(points.T)).ravel()


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=["ball", "rod", "crate"])
def test_distances_are_those_of_the_nearest_point_of_the_surface(obstacle: Obstacle) -> None:
    """Among 20000 points at random; outside. Distances are Lipschitz with constant 1, and zero on the surface to the smoothing of 3e-5 m."""
    on = surface(obstacle)
    points = np.random.default_rng(2).uniform(-1.2, 1.2, (60, 3))
    found = distances(obstacle, points)
    nearest = np.linalg.norm(points[:, None] - on, axis=2).min(1)
    outside = found > 0
    assert found[outside] == pytest.approx(nearest[outside], abs=0.02)
    assert (nearest + 1e-3 >= np.abs(found)).all()
    assert np.abs(distances(obstacle, on[:500])).max() < 1e-4
    steps = np.random.default_rng(3).normal(size=(60, 3)) * 0.01
    assert (np.abs(distances(obstacle, points + steps) - found) <= np.linalg.norm(steps, axis=1) + 1e-6).all()


# programs in stages


def program(seed: int, size: float = 1.0, N: int = 6) -> list[Stage]:
    """Return a quadratic program in stages with bounds of the inputs; its states are counted in `size`."""
    rng = np.random.default_rng(seed)
    A, B = 0.9 * np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=(3, 2))
    start, stages = rng.uniform(-1, 1, 3), []
    for k in range(N + 1):
        n = 3 + 2 * (k < N)
        units = np.append(np.full(3, size), np.ones(n - 3))
        low = np.append(np.full(3, -np.inf), np.full(n - 3, -0.3))
        high = -low
        if k == 0:
            low[:3] = high[:3] = start / size
        H = np.diag(rng.uniform(0.5, 2, n)) * np.outer(units, units)
        step = None if k == N else np.hstack([A, B / size])
        stages.append(Stage(3, rng.normal(size=n) * units, step, low=low, high=high, H=H))
    return stages


@pytest.mark.parametrize("seed", range(3))
def test_stages_count_states_in_any_unit(seed: int) -> None:
    usual = solve_stages(program(seed))
    for size in (1e-3, 1e3):
        other = solve_stages(program(seed, size))
        assert other.cost == pytest.approx(usual.cost, rel=1e-7)
        for a, b in zip(usual.z, other.z):
            assert b[:3] * size == pytest.approx(a[:3], abs=1e-5)
            assert b[3:] == pytest.approx(a[3:], abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_stages_are_left_best_from_every_one_of_them(seed: int) -> None:
    """Bellman 1957: from a stage of the best program on, the rest is the best."""
    stages = program(seed)
    whole = solve_stages(stages)
    rest = stages[2:]
    low, high = rest[0].low.copy(), rest[0].high.copy()
    low[:3] = high[:3] = whole.z[2][:3]
    found = solve_stages([replace(rest[0], low=low, high=high), *rest[1:]])
    for a, b in zip(whole.z[2:], found.z):
        assert b == pytest.approx(a, abs=1e-5)
    before = sum(s.c @ z + z @ s.H @ z / 2 for s, z in zip(stages[:2], whole.z))
    assert before + found.cost == pytest.approx(whole.cost, rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_wider_bounds_make_no_program_dearer(seed: int) -> None:
    def cost(width: float) -> float:
        bounds = [
            np.where(np.isfinite(s.low) & (s.low != s.high), width * s.low, s.low) for s in program(seed)
        ]
        return solve_stages(
            [
                replace(s, low=low, high=np.where(s.low == s.high, s.high, -low))
                for s, low in zip(program(seed), bounds)
            ]
        ).cost

    costs = [cost(width) for width in (0.3, 1.0, 3.0, 30.0)]
    assert all(b <= a + 1e-7 * abs(a) for a, b in pairwise(costs))


# laws under noise


def law(noise: float, size: float = 1.0, time: float = 1.0, **more):
    x, u = SX.sym("x"), SX.sym("u")
    return feedback_law(
        x,
        u,
        (-0.5 * x + u / size) / time,
        cost=((size * x) ** 2 + u**2) / (2 * time),
        duration=2.0 * time,
        grid=[(-2 / size, 2 / size, 33)],
        u_bounds=[(-10, 10)],
        gaussian=[[noise / size / np.sqrt(time)]],
        **more,
    )


def test_noise_that_adds_does_not_change_a_linear_law() -> None:
    """Certainty equivalence: gains of every noise are those without, which are the regulator's; the cost grows by the integral of s^2 p / 2."""
    p = float(solve_continuous_are([[-0.5]], [[1.0]], [[1.0]], [[1.0]])[0, 0])
    at = np.array([[-1.0], [0.5], [1.0]])
    quiet, loud = law(0.05), law(0.4)
    assert quiet.input(at) == pytest.approx(-p * at, rel=0.06)  # two time constants before the end
    assert loud.input(at) == pytest.approx(quiet.input(at), rel=0.02)
    more = loud.value(at) - quiet.value(at)
    assert more == pytest.approx(np.full(3, more.mean()), rel=0.02)
    assert 0 < more.mean() < (0.4**2 - 0.05**2) * p / 2 * 2.0


@pytest.mark.parametrize(("size", "time"), [(1e-3, 1.0), (1.0, 100.0), (50.0, 1e-2)])
def test_laws_under_noise_count_in_any_unit(size: float, time: float) -> None:
    at = np.array([[-1.0], [0.5], [1.0]])
    assert law(0.3, size, time).input(at / size) == pytest.approx(law(0.3).input(at), rel=1e-6)
    assert law(0.3, size, time).value(at / size) == pytest.approx(law(0.3).value(at), rel=1e-6)


# trusses


@pytest.mark.parametrize("make", [truss.octahedral, truss.double_octahedral])
def test_trusses_do_not_know_where_they_stand(make) -> None:
    """Turned and moved as a whole, with the poses of its end, all legs have the same lengths; ten times as large, ten times."""
    usual = make(2)
    pose = usual.pose(usual.nodes)
    poses = np.tile(pose, (3, 1, 1))
    poses[:, :3, 3] += np.outer([0.3, 0.6, 1.0], [0.06, 0.03, 0.03])
    legs = truss.track_nodes(usual, poses).lengths
    G = np.eye(4)
    G[:3, :3], G[:3, 3] = Rotation.from_rotvec([0.4, -0.7, 0.2]).as_matrix(), [1.0, -2.0, 0.5]
    turned = replace(usual, nodes=usual.nodes @ G[:3, :3].T + G[:3, 3])
    assert truss.track_nodes(turned, G @ poses).lengths == pytest.approx(legs, abs=1e-8)
    large = replace(
        usual, nodes=10 * usual.nodes, stroke=tuple(10 * x for x in usual.stroke), radius=10 * usual.radius
    )
    wide = poses.copy()
    wide[:, :3, 3] *= 10
    assert truss.track_nodes(large, wide).lengths == pytest.approx(10 * legs, abs=1e-6)


# controllers that plan


def test_controllers_hold_the_goal_where_they_are() -> None:
    """At rest at the goal the best input holds the weight; both controllers, and mirrored tasks have mirrored inputs without gravity."""
    arm = art.load("two_link")
    goal = np.array([0.6, -0.4])
    stages = reaching(arm, goal, step=0.02, steps=15, q0=goal, torque_limit=3000.0)
    weight = np.asarray(arm.gravity(goal))
    exact = RecedingHorizon(stages, iterations=5)
    assert exact(0.0, goal, np.zeros(2)) == pytest.approx(weight, abs=1e-3 * np.abs(weight).max())
    free = arm.with_gravity((0, 0, 0))
    sides = []
    for sign in (1, -1):
        own = reaching(free, sign * goal, step=0.02, steps=15, q0=np.zeros(2), torque_limit=3000.0)
        sides.append(RecedingHorizon(own, iterations=5)(0.0, np.zeros(2), np.zeros(2)))
    assert sides[1] == pytest.approx(-sides[0], rel=1e-5)


def test_equal_seeds_give_equal_inputs() -> None:
    arm, goal = art.load("two_link"), np.array([0.6, -0.4])
    stages = reaching(arm, goal, step=0.02, steps=10, q0=goal, torque_limit=3000.0)
    control = PathIntegral(stages, samples=64)
    found = []
    for seed in (1, 1, 2):
        control.reset()
        control.seed(seed)
        found.append(control(0.0, np.zeros(2), np.zeros(2)))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
