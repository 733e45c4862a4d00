"""The fastest run along a path: closed forms, the same problem by collocation, limits between points, many paths, refusals."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy import sparse
from scipy.optimize import linprog

import articulus as art
from articulus.errors import DoubtfulResult, InputError
from articulus.motion.trajectory import (
    ode,
    path_run,
    path_speed,
    point_to_point,
    solve_problem,
    speed_profile,
)


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
    run = path_speed(wheel(), [[0.0], [3.0]], torque_limit=5.0, grid=10)
    assert run.duration == pytest.approx(2 * np.sqrt(3.0 * 2.0 / 5.0), rel=1e-12)
    assert np.abs(run.tau).max() == pytest.approx(5.0, rel=1e-9)


def test_speed_limit_makes_a_trapezoid() -> None:
    """Up with 2.5 rad/s^2 to 1 rad/s and down again: T = angle / v + v / a."""
    run = path_speed(wheel(), [[0.0], [3.0]], torque_limit=5.0, velocity_limit=1.0, grid=400)
    assert run.duration == pytest.approx(3.0 + 1.0 / 2.5, rel=1e-4)
    assert run.gap < 1e-4
    assert np.abs(run.along(4)[2]).max() <= 1 + 1e-9


def test_acceleration_and_moving_ends() -> None:
    """No torque limit that matters: from 1 rad/s up with 2 rad/s^2 for half of the angle and down again: T = sqrt(1 + 2 a angle / 2) - 1."""
    run = path_speed(
        wheel(), [[0.0], [3.0]], torque_limit=1e6, acceleration_limit=2.0, speeds=(1 / 3, 1 / 3), grid=50
    )
    assert run.duration == pytest.approx(np.sqrt(1 + 2 * 2.0 * 1.5) - 1, rel=1e-9)


def test_dampers_and_dry_friction_take_their_part() -> None:
    """A damper d with the whole torque: w(t) = (T / d)(1 - exp(-d t / J)) on the way up, and the mirrored law on the way down."""
    run = path_speed(wheel(damping=1.0), [[0.0], [40.0]], torque_limit=5.0, grid=400)
    assert run.along()[2].max() == pytest.approx(5.0, rel=1e-2)
    assert run.overload() < 1e-4
    # up for t: 5 t - 10 (1 - exp(-t / 2)); down from w: angle 10 ln(1 + w / 5) ... by the two arcs that meet
    up = np.linspace(0.0, 20.0, 400001)
    w = 5.0 * (1 - np.exp(-up / 2))
    gone, back = 5.0 * up - 10.0 * (1 - np.exp(-up / 2)), 2 * w - 10 * np.log(1 + w / 5)
    k = int(np.argmin(np.abs(gone + back - 40.0)))
    # first order: the damper's force begins like the square root of the way, and limits hold between the points
    assert run.duration == pytest.approx(up[k] + 2 * np.log(1 + w[k] / 5), rel=1e-3)
    assert (
        abs(run.duration / (up[k] + 2 * np.log(1 + w[k] / 5)) - 1) <= 1.1 * run.gap
    )  # first order: as much as the halves lose more
    dry = path_speed(wheel(), [[0.0], [3.0]], torque_limit=5.0, friction={"hinge": 1.0}, grid=400)
    rise, fall = (5.0 - 1.0) / 2, (5.0 + 1.0) / 2  # rad/s^2
    assert dry.duration == pytest.approx(np.sqrt(2 * 3.0 * (1 / rise + 1 / fall)), rel=1e-4)
    assert dry.overload() < 1e-4


def test_fastest_by_a_linear_program(arm: art.Mechanism) -> None:
    """The largest squared speeds at all points at once, with constant accelerations within the limits at both ends, by HiGHS on
    two grids: first order, so that twice the finer less the coarser is the limit. Within 0.01 % at 400 points."""
    points = np.array([[-1.0, 0.5], [0.0, 1.0], [0.8, -0.4], [1.2, 0.3]])
    found = path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0)
    coarse, fine = (_by_linear_program(arm, found.limits.curve, 2500.0, 3.0, n) for n in (1000, 2000))
    assert found.duration == pytest.approx(2 * fine - coarse, rel=1e-4)
    assert found.overload() < 1e-4
    assert found.gap < 2e-4


def _by_linear_program(arm: art.Mechanism, curve: Callable, effort: float, speed: float, n: int) -> float:
    s = np.linspace(0, 1, n + 1)
    q, first, second = curve(s)
    zero = np.zeros_like(q)
    c = arm.inverse_dynamics(q, zero, zero)
    a, b = arm.inverse_dynamics(q, zero, first) - c, arm.inverse_dynamics(q, first, second) - c
    top = np.min((speed / np.abs(first)) ** 2, axis=-1)
    top[[0, -1]] = 0.0
    per = n / 2  # u = per (x_next - x)
    rows, limits = [], []
    for end in (0, 1):
        for r in range(2):
            A, B, C = (y[end : n + end, r] for y in (a, b, c))
            low, high = -A * per + B * (end == 0), A * per + B * (end == 1)
            row = sparse.diags([low, high], [0, 1], shape=(n, n + 1))
            rows += [row, -row]
            limits += [effort - C, effort + C]
    found = linprog(
        -np.ones(n + 1),
        sparse.vstack(rows).tocsr(),
        np.concatenate(limits),
        bounds=np.stack([0 * top, top], 1),
    )
    v = np.sqrt(np.maximum(found.x, 0))
    return float((2 / n / (v[1:] + v[:-1])).sum())


def test_given_durations(arm: art.Mechanism) -> None:
    """With friction, dampers, moving ends and many paths: exactly as long as asked, and within the limits."""
    points = np.random.default_rng(3).uniform(-1, 1, size=(3, 4, 2))
    held = {
        "torque_limit": 2500.0,
        "velocity_limit": 3.0,
        "friction": {"joint1": 30.0},
        "tool": ("tip", 2.0),
        "grid": 150,
    }
    fast = path_speed(arm, points, **held)
    slow = path_speed(arm, points, duration=1.5 * float(fast.duration.max()), **held)
    assert slow.duration == pytest.approx(np.full(3, 1.5 * fast.duration.max()), rel=1e-9)
    assert slow.overload() < 1e-4
    moving = path_speed(
        wheel(damping=0.5), [[0.0], [3.0]], torque_limit=5.0, speeds=(0.3, 0.2), duration=3.0, grid=150
    )
    assert moving.duration == pytest.approx(3.0, rel=1e-9)
    assert moving.overload() < 1e-4
    assert moving.speed[[0, -1]] == pytest.approx([0.3, 0.2], rel=1e-9)
    with pytest.raises(InputError, match=r"the fastest run takes"):
        path_speed(arm, points, duration=0.01, **held)


def test_jerk_limits_of_one_wheel() -> None:
    """One joint on a straight path is the motion from point to point: T = d / V + V / A + A / J, also with moving ends."""
    held = {"torque_limit": 6.0, "velocity_limit": 2.0, "jerk_limit": 10.0, "grid": 100}
    run = path_speed(wheel(), [[0.0], [3.0]], **held)
    assert run.duration == pytest.approx(3.0 / 2 + 2.0 / 3 + 3.0 / 10, rel=1e-3)
    assert run.overload() < 1e-4
    assert run.gap < 5e-3
    moving = path_speed(wheel(), [[0.0], [3.0]], speeds=(0.3, 0.2), **held)
    same = point_to_point(
        [0.0],
        [3.0],
        velocity_limit=2.0,
        acceleration_limit=3.0,
        jerk_limit=10.0,
        v0=0.9,
        goal_velocity=0.6,
    )
    assert moving.duration == pytest.approx(same.duration, rel=1e-3)
    slow = path_speed(wheel(damping=0.5), [[0.0], [3.0]], duration=4.0, friction={"hinge": 0.5}, **held)
    assert slow.duration == pytest.approx(4.0, rel=1e-9)
    assert slow.overload() < 1e-4


def test_jerk_limits_with_closed_loops_friction_and_tool_speed() -> None:
    bars = art.load("n_four_bar", n=1)
    held = {
        "actuators": ["hinge0"],
        "torque_limit": 300.0,
        "friction": {"hinge0": 5.0},
        "tool": ("tip0", 8.0),
        "grid": 60,
    }
    plain = path_speed(bars, [[0.2], [1.2]], **held)
    run = path_speed(bars, [[0.2], [1.2]], jerk_limit=2e4, **held)
    t, _, _, a = run.along(20)
    assert run.overload() < 1e-4
    assert np.abs(np.gradient(a, t, axis=0)).max() < 2.05e4  # by differences
    assert run.duration > plain.duration
    loose = path_speed(bars, [[0.2], [1.2]], jerk_limit=1e6, **held)
    assert loose.duration == pytest.approx(plain.duration, rel=1e-2)  # a switch takes an interval of the grid
    with pytest.raises(InputError, match=r"expected one path at a time"):
        path_speed(wheel(), [[[0.0], [3.0]]], torque_limit=1.0, jerk_limit=1.0)


def test_closed_loops_of_one_degree_of_freedom_use_the_whole_motor() -> None:
    """One motor alone is at its limit at every moment; the motion obeys the equations of the closed mechanism."""
    bars = art.load("n_four_bar", n=1)
    run = path_speed(bars, [[0.2], [1.2]], actuators=["hinge0"], torque_limit=300.0, grid=60)
    _, q, v, a = run.along()
    share = np.abs(run.tau[:, 0]) / 300.0
    assert np.sort(share)[1] == pytest.approx(1.0, abs=1e-4)  # but for the interval of the switch
    tau = np.zeros_like(q)
    tau[:, 0] = run.tau[:, 0]
    assert np.abs(bars.forward_dynamics(q, v, tau) - a).max() < 1e-9 * np.abs(a).max()
    assert np.abs(bars.constraint_residual(q)).max() < 1e-9
    both = path_speed(
        bars, [[[0.2], [1.2]], [[0.2], [1.0]]], actuators=["hinge0"], torque_limit=300.0, grid=60
    )
    assert both.duration[0] == pytest.approx(run.duration, rel=1e-12)
    with pytest.raises(
        InputError, match=r"1 degree\(s\) of freedom, and actuators = \['hinge0', 'hinge1'\] has 2"
    ):
        path_speed(bars, [[0.2], [1.2]], actuators=["hinge0", "hinge1"], torque_limit=300.0)
    with pytest.raises(InputError, match=r"and actuators = \[\] has 0"):
        path_speed(bars, np.zeros((2, 3)), torque_limit=1.0)


def test_the_same_path_by_collocation(arm: art.Mechanism) -> None:
    """The line between two positions as x = (s, s'), u = s'' with the torques as limits along the way, solved by another method."""
    first, last = np.array([-0.5, 0.4]), np.array([0.6, -0.3])
    limits = np.array([600.0, 250.0])
    found = path_speed(arm, [first, last], torque_limit=dict(zip(arm.joint_names, limits)), gap=1e-4)
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
    other = solve_problem(phase, intervals=60, scheme="radau 3")
    assert found.duration == pytest.approx(other.duration, rel=3e-4)  # of collocation over the switch
    assert found.overload() < 1e-4


def test_limits_hold_between_points_and_the_gap_closes(arm: art.Mechanism) -> None:
    points = [[-1.0, 0.5], [0.0, 1.0], [0.8, -0.4], [1.2, 0.3]]
    runs = [path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0, grid=n) for n in (100, 200, 400)]
    assert runs[2].gap < 0.4 * runs[1].gap  # second order
    assert max(run.overload() for run in runs) < 1e-4
    tight = path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0, grid=50, gap=5e-5)
    assert tight.gap <= 5e-5
    assert tight.s.shape[-1] > 51


def test_limits_of_seven_joints_in_many_directions_hold_between_points() -> None:
    """Random paths pass many zero-inertia points."""
    arm = art.load("rrc7")
    points = np.random.default_rng(5).uniform(-1, 1, (8, 6, 7))
    effort = dict(zip(arm.joint_names, (700.0, 1000.0, 200.0, 250.0, 60.0, 60.0, 25.0)))
    run = path_speed(arm, points, torque_limit=effort, velocity_limit=1.0)
    assert run.overload() < 1e-4


def test_many_paths_are_each_alone(arm: art.Mechanism) -> None:
    """Bit by bit: a path does not know of its neighbors in the vectors."""
    points = np.random.default_rng(1).uniform(-1, 1, size=(11, 4, 2))
    together = path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0, grid=60)
    for k in (0, 7, 10):
        alone = path_speed(arm, points[k], torque_limit=2500.0, velocity_limit=3.0, grid=60)
        assert alone.duration == pytest.approx(together.duration[k], rel=1e-12)


def test_paths_that_need_many_repetitions_are_finished_together(
    arm: art.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Works of four paths each leave what exceeds limits to a common end: each path comes out as alone, within 1e-4 also at places that
    are not looked at."""
    monkeypatch.setattr(path_run, "TOGETHER", 4)
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(24, 6, 2))
    held = {"torque_limit": 2500.0, "velocity_limit": 3.0, "grid": 100}
    many = path_speed(arm, points, **held)
    assert many.duration == pytest.approx([path_speed(arm, p, **held).duration for p in points], rel=1e-9)
    assert many.overload(11) < 1e-4


def test_the_end_is_reached_from_rest_where_every_point_can_be_held(
    arm: art.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass without lower ends of the sets gives the same run as the whole one; it is taken only where motors can hold the arm."""
    taken, whole = [], speed_profile.Profiles.reachable

    def both(self: speed_profile.Profiles, last: np.ndarray, rests: bool) -> np.ndarray:
        copy = speed_profile.Profiles(self.table.copy())
        other, found = whole(copy, last), whole(self, last, rests)
        taken.append(rests)
        assert found == pytest.approx(other, rel=1e-12, abs=1e-12)
        assert self.table[:, :-1] == pytest.approx(copy.table[:, :-1], rel=1e-12, abs=1e-12)
        return found

    monkeypatch.setattr(speed_profile.Profiles, "reachable", both)
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(5, 6, 2))
    path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0, grid=60)
    assert all(taken)
    taken.clear()
    path_speed(arm, points, torque_limit=2500.0, velocity_limit=3.0, grid=60, speeds=(0.0, 0.1))
    assert not any(taken)


def test_tool_speed(arm: art.Mechanism) -> None:
    run = path_speed(arm, [[-0.5, 0.4], [0.6, -0.3]], torque_limit=2500.0, tool=("tip", 0.7), grid=300)
    _, q, v, _ = run.along()
    speed = np.linalg.norm(np.einsum("...ij,...j->...i", arm.jacobian("tip", q)[..., 3:, :], v), axis=-1)
    assert speed.max() == pytest.approx(0.7, rel=1e-3)


def test_bad_input_is_named(arm: art.Mechanism) -> None:
    with pytest.raises(
        InputError, match=r"no speed is within the limits; holding still at s = .* of the limit of 'joint1'"
    ):
        path_speed(arm, [[0.0, 0.0], [1.5, 0.0]], torque_limit=20.0)
    with pytest.raises(InputError, match=r"no finite limit"):
        path_speed(arm, [[0.0, 0.0], [1.5, 0.0]])
    with pytest.raises(InputError, match=r"two equal positions"):
        path_speed(arm, [[0.0, 0.0], [0.0, 0.0]], torque_limit=2500.0)
    with pytest.raises(InputError, match=r"shape \(2, 3\); expected \(\.\.\., k, 2\)"):
        path_speed(arm, [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], torque_limit=2500.0)
    with pytest.raises(InputError, match=r"found 'joint9'"):
        path_speed(arm, [[0.0, 0.0], [1.0, 0.5]], torque_limit={"joint9": 1.0})
    with pytest.raises(InputError, match=r"at the end is above"):
        path_speed(arm, [[0.0, 0.0], [1.0, 0.5]], torque_limit=2500.0, velocity_limit=1.0, speeds=(0.0, 50.0))
    with pytest.raises(InputError, match=r"the speed 100 1/s at the start is outside"):
        path_speed(arm, [[0.0, 0.0], [1.0, 0.5]], torque_limit=2500.0, speeds=(100.0, 0.0))


LINE = [[0.0, 0.0], [1.0, 0.5]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"friction": {"joint1": np.nan}}, "friction of 'joint1' is nan"),
        ({"points": np.zeros((0, 3, 2))}, "at least one path"),
        ({"grid": 40.0}, "grid = 40.0"),
        ({"tool": "tip"}, "expected a frame and the limit of its speed"),
        ({"speeds": (0.0, 0.0, 1.0)}, "expected two finite numbers"),
        ({"torque_limit": [2500.0, 2500.0]}, "torque_limit: found .* expected a number"),
    ],
)
def test_arguments_that_make_no_sense(arm: art.Mechanism, change: dict, text: str) -> None:
    given = {"points": LINE, "torque_limit": 2500.0} | change
    with pytest.raises(InputError, match=text):
        path_speed(arm, given.pop("points"), **given)


def helix(s: np.ndarray, place: float = 2.0, order: int = 0, wrong: float = 0.0) -> list[np.ndarray]:
    """Return a curve and its derivatives, one of them wrong at a place."""
    parts = np.sin(s), 0.5 * s**2, np.cos(s), s, -np.sin(s), np.ones_like(s)
    out = [np.stack(pair, -1) for pair in zip(parts[::2], parts[1::2])]
    out[order][np.abs(s - place) < 0.01] = wrong
    return out


def test_a_path_of_ones_own_is_as_the_spline_through_many_of_its_points(arm: art.Mechanism) -> None:
    s = np.linspace(0, 1, 101)
    own = path_speed(arm, helix, torque_limit=2500.0)
    spline = path_speed(arm, helix(s)[0], torque_limit=2500.0)
    assert own.duration == pytest.approx(spline.duration, rel=1e-4)  # second order in 400 intervals


@pytest.mark.parametrize(
    ("curve", "text"),
    [
        (lambda s: helix(s)[:2], "expected q, dq/ds and d2q/ds2"),
        (lambda s: [x[:, :1] for x in helix(s)], r"\(..., 401, 2\) each"),
        (lambda s: helix(s, 0.5, 1, np.nan), "first derivative of the path at s = 0.49.* is no number"),
        (lambda s: [0 * x for x in helix(s)], "does not move"),
        (lambda s: [helix(s)[k] for k in (0, 0, 2)], "first derivatives of the path do not fit"),
        (lambda s: [helix(s)[k] for k in (0, 1, 0)], "second derivatives of the path do not fit"),
        (
            lambda s: [
                np.stack([s, np.abs(s - 0.3)], -1),
                np.stack([s**0, np.sign(s - 0.3)], -1),
                np.zeros((len(s), 2)),
            ],
            "without corners",
        ),
    ],
)
def test_paths_of_ones_own_that_make_no_sense(arm: art.Mechanism, curve: Callable, text: str) -> None:
    with pytest.raises(InputError, match=text):
        path_speed(arm, curve, torque_limit=2500.0)


def test_joints_that_follow_others_keep_their_limits() -> None:
    """A second wheel turns three times as fast as the first: its largest speed makes a trapezoid with a third of it."""

    def two(**held) -> art.Mechanism:
        m = wheel()
        m.body("second", mass=1.0, inertia=(1.0, 1.0, 1.0))
        m.joint("gear", art.Revolute(axis=(0, 0, 1)), "ground", "second", **held)
        return m

    inertia, effort, way, fastest = 2.0 + 9 * 1.0, 11.0, 3.0, 1.5 / 3
    wanted = way / fastest + fastest * inertia / effort
    own = two(limits=art.Limits(velocity=1.5)).couple("gear", to="hinge", ratio=-3.0)
    for m, given in ((own, None), (two().couple("gear", to="hinge", ratio=-3.0), {"gear": 1.5})):
        run = path_speed(m, [[0.0], [way]], torque_limit=effort, velocity_limit=given, grid=400)
        assert run.duration == pytest.approx(
            wanted, rel=1e-4
        )  # corners of the trapezoid lie within intervals
    with pytest.raises(InputError, match="velocity_limit of 'gear' = nan"):
        path_speed(own, [[0.0], [way]], torque_limit=effort, velocity_limit={"gear": np.nan})
    with pytest.raises(InputError, match="torque_limit: found 'gear', a coupled joint"):
        path_speed(own, [[0.0], [way]], torque_limit={"gear": 1.0})
    bent = two().couple("gear", to="hinge", polynomial=(0.0, 1.0, 0.5))
    with pytest.raises(InputError, match=r"follows hinge by .* constant ratio"):
        path_speed(bent, [[0.0], [way]], torque_limit=effort, velocity_limit={"gear": 1.5})


def test_ranges_of_joints_are_warned_of() -> None:
    m = art.Mechanism("wheel", gravity=(0, 0, 0))
    m.body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0))
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), "ground", "disc", limits=art.Limits(lower=-1.0, upper=2.0))
    path_speed(m, [[-1.0], [2.0]], torque_limit=5.0, grid=10)
    with pytest.warns(DoubtfulResult, match="'hinge' 0.5 rad or m beyond its range from -1 to 2"):
        path_speed(m, [[-1.0], [2.5]], torque_limit=5.0, grid=10)


def test_mechanisms_that_cannot_follow_a_path_are_named() -> None:
    with pytest.raises(InputError, match="has flexible bodies"):
        path_speed(art.load("bayo_link"), np.eye(2, 13), torque_limit=100.0)
    driven = wheel()
    driven.constrain(art.Prescribed("drive", "hinge", 1.0))
    with pytest.raises(InputError, match="motion 'drive', which is given over time"):
        path_speed(driven, [[0.0], [1.0]], torque_limit=5.0, actuators=["hinge"])


def test_grids_that_are_too_coarse_for_the_points_are_told(arm: art.Mechanism) -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(DoubtfulResult, match="limit is exceeded by 3. %"):
        path_speed(arm, points, torque_limit=2500.0, grid=20)
    with pytest.raises(InputError, match="fewer points than the path, more intervals may help"):
        path_speed(arm, points, torque_limit=2500.0, grid=80)
    s = np.linspace(0, 1, 301)  # a smooth motion, recorded at many places, needs no more
    path_speed(arm, np.stack([np.sin(3 * s), np.cos(2 * s)], -1), torque_limit=2500.0, grid=100)


def test_lines_where_every_point_can_be_held_have_the_same_upper_ends() -> None:
    """Random rows a u + b x + c within limits that hold c, some without u or without x: the short rule, the one for all, and HiGHS agree."""
    rng = np.random.default_rng(0)
    count, motors = 200, 3
    a, b, c = rng.normal(size=(3, count, motors))
    a[:20, 0], b[20:40, 1], a[30:50, 2] = 0.0, 0.0, 0.0
    c *= 0.3
    forces = np.concatenate([a, b, c, rng.uniform(0.5, 50.0, (count, 1))], axis=1)
    given = forces, np.full(motors, 1.5), np.ones((count, motors + 1)), np.ones((count, 2))
    short, whole = (speed_profile.lines(motors, 0, False, rests)(*given) for rests in (True, False))
    assert short[:, :-2] == pytest.approx(whole[:, :-2], rel=1e-12)
    assert short[:, -1] == pytest.approx(whole[:, -1], rel=1e-12)
    assert np.abs(short[:, -2]).max() == np.abs(whole[:, -2]).max() == 0.0
    for k in range(0, count, 10):
        rows = np.stack([a[k], b[k]], axis=1)
        limits = np.concatenate([1.5 - c[k], 1.5 + c[k]])
        best = linprog([0, -1], np.vstack([rows, -rows]), limits, bounds=[(None, None), (0, forces[k, -1])])
        assert short[k, -1] == pytest.approx(best.x[1], rel=1e-9)


def test_limits_hold_where_joints_with_dry_friction_turn_round() -> None:
    """The friction jumps between two points of the grid; forces by inverse dynamics and the sign of the speed, 64 times as dense as the grid."""
    arm = art.load("two_link").with_gravity((0.0, 0.0, -1.0))
    paths = np.random.default_rng(3).uniform(-1, 1, (16, 5, 2))
    held = {"torque_limit": 2500.0, "velocity_limit": 3.0, "friction": {"joint1": 400.0, "joint2": 400.0}}
    run = path_speed(arm, paths, **held)
    for each, duration in zip(paths, run.duration):
        alone = path_speed(arm, each, **held)
        assert alone.duration == pytest.approx(duration, rel=1e-6)
        _, q, v, a = alone.along(64)
        forces = (arm.inverse_dynamics(q, v, a) + 400.0 * np.sign(v))[1:-1]  # at the very ends it rests
        assert np.abs(forces).max() < 2500.0 * (1 + 1e-4)
        fine = path_speed(arm, each, grid=3200, **held).duration
        assert fine * (1 - 1e-4) < duration < fine * 1.005


def test_a_stewart_platform_runs_on_its_legs() -> None:
    """24 velocities, 25 coordinates, six legs with motors: the loops stay closed and forces move it as the motion says; one leg is always at a limit.

    All legs alike lift the platform straight up: the fastest lift of its mass is that of the equations of motion.
    """
    m = art.load("stewart_platform")
    legs = [f"slide{k}" for k in range(1, 7)]
    points = np.array([np.zeros(6), [0.05, 0.02, -0.03, 0.0, 0.04, 0.01], np.full(6, 0.08)])
    run = path_speed(
        m, points, actuators=legs, torque_limit=2000.0, velocity_limit=dict.fromkeys(legs, 1.0), grid=60
    )
    q, v, vdot, tau = run.at(np.linspace(0, run.duration, 31)[1:-1] + 1e-4)
    assert np.abs(m.constraint_residual(q)).max() < 1e-9
    assert np.abs(m.constraint_rate(q, v)).max() < 1e-8
    assert np.abs(m.forward_dynamics(q, v, tau) - vdot).max() < 1e-7 * np.abs(vdot).max()
    assert run.overload() < 1e-3
    share = np.maximum(np.abs(tau).max(1) / 2000.0, np.abs(v[:, [m.v_slice(j).start for j in legs]]).max(1))
    assert np.median(share) > 0.98
    h = 1e-6
    ahead, back = (
        m.position_difference(q, run.at(np.linspace(0, run.duration, 31)[1:-1] + 1e-4 + d).q) for d in (h, -h)
    )
    assert np.abs((ahead - back) / (2 * h) - v).max() < 1e-4 * np.abs(v).max()
