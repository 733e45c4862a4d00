"""From state to state with limited jerk: closed forms, laws of random motions, units, the same by ruckig, refusals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.motion.trajectory.extreme_motion import parts
from articulus.motion.trajectory.point_motion import PointMotion, point_to_point


def states(seed: int, count: int, n: int) -> dict[str, Any]:
    """Return random limits and states that can be left and reached."""
    rng = np.random.default_rng(seed)
    V, A, J = rng.uniform(0.5, 3.0, (3, n))
    ends = {name: rng.uniform(-0.6, 0.6, (count, n)) * V for name in ("v0", "goal_velocity")}
    most = np.sqrt(0.8 * J * V)
    ends |= {
        name: rng.uniform(-0.9, 0.9, (count, n)) * np.minimum(A, most)
        for name in ("vdot0", "goal_acceleration")
    }
    places = {
        name: rng.normal(size=(count, n)) * rng.choice([0.01, 1.0, 10.0], (count, 1))
        for name in ("q0", "goal")
    }
    return {**places, **ends, "velocity_limit": V, "acceleration_limit": A, "jerk_limit": J}


def check(run: PointMotion, given: dict[str, Any]) -> None:
    """Assert that a motion ends in its state and keeps to its limits; 1e-8 is the rounding of ways of 10 units."""
    times = np.linspace(0, 1, 301) * np.asarray(run.duration)[..., None]
    for k in range(len(times)):
        (q, v, a, _), j = run[k].at(times[k]), run[k].jerk(times[k])
        for x, name in ((q, "goal"), (v, "goal_velocity"), (a, "goal_acceleration")):
            assert x[-1] == pytest.approx(given[name][k], abs=1e-8)
        for x, name in ((v, "velocity_limit"), (a, "acceleration_limit"), (j, "jerk_limit")):
            assert (np.abs(x) / given[name]).max() <= 1 + 1e-8


def test_closed_forms_from_rest_to_rest() -> None:
    """Four equal parts T = 4 (d / 2 J)^(1/3); with all limits met T = d / V + V / A + A / J."""
    run = point_to_point([0.0], [1.0], velocity_limit=10.0, acceleration_limit=10.0, jerk_limit=1.0)
    assert run.duration == pytest.approx(4 * 0.5 ** (1 / 3), rel=1e-10)
    run = point_to_point([0.0, 0.0], [5.0, 1.0], velocity_limit=1.0, acceleration_limit=2.0, jerk_limit=8.0)
    assert run.duration == pytest.approx(5.0 + 0.5 + 0.25, rel=1e-10)
    assert run.least[1] == pytest.approx(1.0 + 0.5 + 0.25, rel=1e-10)
    q, v, a, _ = run.at([0.0, run.duration / 2, run.duration])
    assert q == pytest.approx(np.array([[0, 0], [2.5, 0.5], [5, 1]]), abs=1e-9)  # of symmetry
    assert v[[0, 2]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)
    assert a[[0, 2]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)


def test_random_states_are_reached_within_limits() -> None:
    given = states(0, 40, 3)
    run = point_to_point(**given)
    check(run, given)
    assert (run.duration >= run.least.max(-1) * (1 - 1e-12)).all()
    slow = point_to_point(**given, duration=3.0 * float(run.duration.max()))
    check(slow, given)


@pytest.mark.parametrize("pushed", [False, True])
def test_one_motion_is_that_of_many(pushed: bool) -> None:
    """A call for one motion reuses arrays of its thread: the same numbers as for many at once, in every thread, and earlier motions stay as they are."""
    given = states(7, 40, 4)
    if not pushed:
        given = {
            name: 0.0 * x if "_acceleration" in name and name[:3] != "acc" else x for name, x in given.items()
        }
    many = point_to_point(**given)

    def one(k: int) -> PointMotion:
        return point_to_point(**{name: x[k] if x.ndim == 2 else x for name, x in given.items()})

    with ThreadPoolExecutor(4) as pool:
        for motions in ([one(k) for k in range(40)], list(pool.map(one, range(40)))):
            assert [m.duration for m in motions] == many.duration.tolist()
            for name in ("q0", "least", "parts", "share", "ends", "jerk_limit"):
                assert np.array_equal(
                    [getattr(m, name) for m in motions],
                    np.broadcast_to(getattr(many, name), (40, *getattr(many[0], name).shape)),
                )


def test_units_do_not_matter() -> None:
    """Micrometres or kilometres: the same duration."""
    given = states(1, 10, 2)
    plain = point_to_point(**given).duration
    for unit in (1e-6, 1e6):
        other = point_to_point(**{name: unit * value for name, value in given.items()})
        assert other.duration == pytest.approx(plain, rel=1e-9)


def test_the_same_by_ruckig() -> None:
    ruckig = pytest.importorskip("ruckig")
    given = states(2, 60, 2)
    ours = point_to_point(**given)
    for k in range(60):
        asked = ruckig.InputParameter(2)
        ends = {"current": ("q0", "v0", "vdot0"), "target": ("goal", "goal_velocity", "goal_acceleration")}
        for end, names in ends.items():
            for quantity, name in zip(("position", "velocity", "acceleration"), names):
                setattr(asked, f"{end}_{quantity}", given[name][k])
        for name in ("velocity", "acceleration", "jerk"):
            setattr(asked, f"max_{name}", given[f"{name}_limit"])
        theirs = ruckig.Trajectory(2)
        assert ruckig.Ruckig(2).calculate(asked, theirs) == ruckig.Result.Working
        assert ours.duration[k] == pytest.approx(theirs.duration, rel=1e-8)


def test_bad_input_is_named() -> None:
    limits = {"velocity_limit": 1.0, "acceleration_limit": 1.0, "jerk_limit": 1.0}
    with pytest.raises(InputError, match=r"jerk_limit = 0\.0; expected finite numbers, above zero"):
        point_to_point([0.0], [1.0], velocity_limit=1.0, acceleration_limit=1.0, jerk_limit=0.0)
    with pytest.raises(InputError, match=r"speed at the start is 2 of its limit \(joint 1\)"):
        point_to_point([0.0, 0.0], [1.0, 1.0], v0=[0.0, 2.0], **limits)
    with pytest.raises(InputError, match=r"speed that follows from the acceleration at the start is 1\.3"):
        point_to_point([0.0], [1.0], v0=0.8, vdot0=1.0, **limits)
    with pytest.raises(InputError, match=r"duration = 1 s is not possible for joint 0, whose least is 3\.17"):
        point_to_point([0.0], [1.0], duration=1.0, **limits)
    with pytest.raises(InputError, match=r"shapes that fit together"):
        point_to_point([0.0, 0.0], [1.0, 1.0, 1.0], **limits)
    for duration in (np.inf, np.nan, np.array([3.0, 4.0])):
        with pytest.raises(InputError, match=r"expected one number of seconds"):
            point_to_point([[0.0], [0.0]], [[1.0], [2.0]], duration=duration, **limits)
    with pytest.raises(InputError, match=r"q0: found 'here'; expected numbers"):
        point_to_point("here", [1.0], **limits)
    with pytest.raises(InputError, match=r"positions of no joints"):
        point_to_point([], [], **limits)


def test_moving_ends_of_any_size() -> None:
    """Joints of sizes from 1e-6 to 1e6 and times from 1e-6 to 1e4 s, speeds at both ends: states reached, limits kept at every extreme, no less time.

    1e-12 is the rounding of seven parts whose lengths are up to a thousand times each other.
    """
    rng = np.random.default_rng(3)
    count, n = 2000, 3
    V, A, J = 10 ** rng.uniform(-0.5, 0.5, (3, count, n))
    size, time = 10 ** rng.uniform(-6, 6, (count, n)), 10 ** rng.uniform(-6, 4, (count, 1))
    V, A, J = V * size / time, A * size / time**2, J * size / time**3
    speeds = rng.uniform(-1, 1, (2, count, n)) * V
    end = rng.normal(size=(count, n)) * V * time * 10 ** rng.uniform(-3, 1, (count, n))
    limits = {"velocity_limit": V, "acceleration_limit": A, "jerk_limit": J}
    run = point_to_point(0.0, end, v0=speeds[0], goal_velocity=speeds[1], **limits)
    T = np.asarray(run.duration)[:, None]
    q, v, a = (x[:, 0] for x in run.at(T)[:3])
    assert (np.abs(q - end) <= 1e-12 * (np.abs(end) + V * T)).all()
    assert (np.abs(v - speeds[1]) <= 1e-12 * (V + A * T)).all()
    assert (np.abs(a) <= 1e-12 * (A + J * T)).all()
    for which, sign in enumerate((1.0, -1.0)):  # extremes of a mix lie within those of what is mixed
        v, a = speeds[0], np.zeros((count, n))
        for part, jerk in zip(np.moveaxis(run.parts[..., which, :], -1, 0), (1, 0, -1, 0, -1, 0, 1)):
            turn = np.clip(-a / (sign * jerk * J), 0.0, part) if jerk else 0.0
            top = v + turn * (a + turn * sign * jerk * J / 2)
            v, a = v + part * (a + part * sign * jerk * J / 2), a + part * sign * jerk * J
            assert (np.maximum(np.abs(top), np.abs(v)) <= V * (1 + 1e-12)).all()
            assert (np.abs(a) <= A * (1 + 1e-12)).all()
    one = {name: x[:1, 0] for name, x in limits.items()}
    ends = {"v0": speeds[0, :1, 0], "goal_velocity": speeds[1, :1, 0]}
    with pytest.raises(InputError, match="is not possible for joint 0"):
        point_to_point(0.0, end[:1, 0], duration=float(run.least[0, 0]) * (1 - 1e-6), **ends, **one)


def test_no_shorter_duration_is_possible() -> None:
    """With speeds and accelerations at both ends, and ways over six decades: at 2000 durations below the least one the goal is out of reach.

    1e-10 is the slack with which a goal counts as reached, over slopes of the ends that are far from 1.
    """
    rng = np.random.default_rng(5)
    count = 400
    V = 10 ** rng.uniform(-1.5, 1.5, count)
    a = rng.uniform(-1, 1, (2, count)) * np.minimum(1, np.sqrt(0.8 * V))
    v = rng.uniform(-0.6, 0.6, (2, count)) * V
    way = rng.normal(size=count) * 10 ** rng.uniform(-4, 2, count)
    states = {
        "v0": v[0],
        "goal_velocity": v[1],
        "vdot0": a[0],
        "goal_acceleration": a[1],
    }
    columns = {name: x[:, None] for name, x in states.items()}
    run = point_to_point(
        0.0, way[:, None], **columns, velocity_limit=V[:, None], acceleration_limit=1.0, jerk_limit=1.0
    )
    one = np.ones(count)
    rows = np.stack([0 * one, v[0], a[0], way, v[1], a[1], V, one, one], -1)[:, None]
    shares = (1 - 1e-10) * np.concatenate([rng.uniform(0, 1, 1000), 1 - 10.0 ** rng.uniform(-9, 0, 1000)])
    margin = parts()(rows, run.least * shares)[..., -1]
    assert not (margin >= 0).any()
    q, v1, a1, _ = run[:].at(np.asarray(run.duration)[:, None])
    assert (np.abs(q[:, 0, 0] - way) <= 1e-11 * (np.abs(way) + V * run.duration)).all()
    assert v1[:, 0, 0] == pytest.approx(v[1], abs=1e-10)
    assert a1[:, 0, 0] == pytest.approx(a[1], abs=1e-10)
