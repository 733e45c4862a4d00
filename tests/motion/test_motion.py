"""Laws of every kind of motion: derivatives, forces, replay by `simulate`, files, tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.motion import Motion
from articulus.motion.piecewise import Piecewise
from articulus.motion.store import load_motion
from articulus.motion.trajectory import path_speed, point_to_point, waypoints

ROBOTS = Path(__file__).parents[2] / "build/robots/cmeel.prefix/share/example-robot-data/robots"
LIMITS = {"velocity_limit": 2.0, "acceleration_limit": 3.0, "jerk_limit": 20.0}
POINTS = np.array([[-1.0, 0.5], [0.0, 1.0], [0.8, -0.4]])


def along_path() -> Motion:
    return path_speed(art.load("two_link"), POINTS, torque_limit=2500.0, velocity_limit=3.0, grid=200)


def along_path_with_jerk() -> Motion:
    return path_speed(
        art.load("two_link"), POINTS, torque_limit=2500.0, velocity_limit=3.0, jerk_limit=100.0, grid=60
    )


def along_path_of_loops() -> Motion:
    bars = art.load("n_four_bar", n=1)
    return path_speed(bars, [[0.2], [1.2]], actuators=["hinge0"], torque_limit=300.0, grid=100)


def from_point_to_point() -> Motion:
    arm = art.load("two_link")
    return point_to_point(POINTS[0], POINTS[2], mechanism=arm, start_velocity=[0.3, -0.2], **LIMITS)


def one_of_many() -> Motion:
    many = point_to_point(POINTS[:2], POINTS[1:], mechanism=art.load("two_link"), **LIMITS)
    return many[1]


def through_points() -> Motion:
    return waypoints(POINTS, mechanism=art.load("two_link"), **LIMITS)


KINDS: dict[str, Callable[[], Motion]] = {
    f.__name__: f
    for f in (
        along_path,
        along_path_with_jerk,
        along_path_of_loops,
        from_point_to_point,
        one_of_many,
        through_points,
    )
}
_found: dict[str, Motion] = {}


@pytest.fixture(params=KINDS)
def motion(request: pytest.FixtureRequest) -> Motion:
    name = request.param
    if name not in _found:
        _found[name] = KINDS[name]()
    return _found[name]


def inside(motion: Motion, share: float = 0.37) -> np.ndarray:
    """Return a time in each of 40 of its intervals, away from jumps."""
    begin, end = motion.t[:-1], motion.t[1:]
    long = end - begin > 1e-6 * (motion.t[-1] - motion.t[0])
    times = (begin + share * (end - begin))[long]
    return times[:: max(len(times) // 40, 1)]


def test_derivatives_fit(motion: Motion) -> None:
    """v is dq/dt and vdot is dv/dt, by central differences: their error is of second order in 1e-5 of the shortest interval that is looked at."""
    t = inside(motion)
    h = 1e-3 * np.min(np.diff(motion.t)[np.diff(motion.t) > 1e-6 * (motion.t[-1] - motion.t[0])])
    now, ahead, back = motion.at(t), motion.at(t + h), motion.at(t - h)
    for value, rate in ((0, 1), (1, 2)):
        slope = (ahead[value] - back[value]) / (2 * h)
        size = np.abs(now[rate]).max()
        assert np.abs(slope - now[rate]).max() < 2e-4 * size


def test_forces_are_those_of_the_motion(motion: Motion) -> None:
    """Forward dynamics of q, v and tau gives the accelerations; 1e-8 is the rounding of the solution with the mass matrix."""
    m = motion.mechanism
    assert m is not None
    q, v, vdot, tau = motion.at(inside(motion))
    assert np.abs(m.forward_dynamics(q, v, tau) - vdot).max() < 1e-8 * (1 + np.abs(vdot).max())
    others = np.setdiff1d(np.arange(m.nv), motion._motors)
    assert not np.abs(tau[:, others]).any()


def test_simulation_comes_back(motion: Motion) -> None:
    """The forces alone lead along the motion; feedback brings a start that is off back to it."""
    run = motion.run(track=False)
    assert run.ok
    assert run.t[-1] == pytest.approx(motion.t[-1] - motion.t[0], rel=1e-12)
    expected = motion.at(motion.t[0] + run.t)
    extent = np.ptp(motion.q, axis=0).max()
    assert (
        np.abs(run.q - expected.q).max() < 2e-5 * extent
    )  # the forces are cubics between 200 or more points
    if not motion.mechanism.constraint_names:
        off = motion.run(q0=motion.q[0] + 0.01)
        assert np.abs(off.q[-1] - motion.q[-1]).max() < 1e-3 * extent


def test_saved_and_loaded_are_equal(motion: Motion, tmp_path: Path) -> None:
    motion.save(tmp_path / "motion.nc")
    same = load_motion(tmp_path / "motion.nc")
    sampled = motion.sample()
    for name in ("t", "q", "v", "vdot", "vdot_before"):
        assert np.array_equal(getattr(same, name), getattr(sampled, name))
    assert same.actuators == motion.actuators
    assert same.names == motion.names
    t = inside(motion)
    for ours, theirs in zip(motion.at(t), same.at(t)):
        assert np.abs(ours - theirs).max() < 1e-6 * (1 + np.abs(ours).max())
    again, first = same.run(track=False), motion.run(track=False)
    assert np.array_equal(again.q, first.q)


def test_tables_have_headings_and_a_given_step(motion: Motion, tmp_path: Path) -> None:
    motion.to_csv(tmp_path / "motion.csv", step=0.01)
    head, *rows = (tmp_path / "motion.csv").read_text().splitlines()
    names = head.split(",")
    assert names[0] == "t [s]"
    assert f"tau.{motion.names[0]} [N m]" in names
    numbers = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.diff(numbers[:, 0]) == pytest.approx(np.full(len(rows) - 1, 0.01))
    assert numbers[-1, 0] >= motion.t[-1] - 1e-9


def test_figures(motion: Motion) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    assert len(motion.plot().axes) == 3


def test_a_ur5_plays_its_fastest_path() -> None:
    """Without a line of control code: forces, feedback, step and end are chosen; 2 mrad off at the start are gone at the end."""
    if not (path := ROBOTS / "ur_description/urdf/ur5_robot.urdf").exists():
        pytest.skip("example-robot-data is not there")
    arm = art.load(path)
    points = np.array(
        [[0.0, -1.0, 1.0, 0.0, 0.5, 0.0], [0.6, -1.3, 1.4, 0.3, 0.2, 0.4], [1.0, -0.8, 0.8, 0.0, 0.7, 0.0]]
    )
    motion = path_speed(arm, points)
    run = motion.run(q0=points[0] + 2e-3)
    assert run.ok
    assert run.t[-1] == pytest.approx(motion.duration)
    assert np.abs(run.q[-1] - points[-1]).max() < 2e-4


def test_joints_without_a_mechanism() -> None:
    """Positions, tables and files; what needs forces says what is missing."""
    motion = point_to_point([0.0, 0.0], [1.0, 0.5], **LIMITS)
    assert motion.at(0.1).tau is None
    assert motion.ok
    for call in (motion.run, motion.track, motion.feedforward):
        with pytest.raises(InputError, match=r"without a mechanism; expected .* mechanism=robot"):
            call()
    with pytest.raises(InputError, match="expected 2 joints"):
        point_to_point([0.0, 0.0], [1.0, 0.5], mechanism=art.load("pendulum_chain", n=3), **LIMITS)


def test_many_motions_are_taken_one_by_one() -> None:
    many = path_speed(
        art.load("two_link"), [POINTS, POINTS[::-1]], torque_limit=2500.0, velocity_limit=3.0, grid=50
    )
    with pytest.raises(InputError, match=r"found \(2,\) motions; expected one, such as motion\[0\]"):
        many.run()
    one = path_speed(art.load("two_link"), POINTS[::-1], torque_limit=2500.0, velocity_limit=3.0, grid=50)
    assert many[1].q == pytest.approx(one.q, abs=1e-12)
    assert many[1].duration == pytest.approx(one.duration, rel=1e-12)


@pytest.mark.parametrize("kind", ["linear", "cubic", "quintic"])
def test_arrays_and_symbols_agree(kind: str) -> None:
    """And derivatives are those of the polynomials; tolerance: rounding."""
    rng = np.random.default_rng(1)
    t = np.arange(7) + rng.uniform(0, 0.4, 7)
    given = rng.normal(size=({"linear": 1, "cubic": 2, "quintic": 3}[kind], 7, 3))
    pieces = getattr(Piecewise, kind)(t, *given)
    times = np.append(rng.uniform(-1, 6, 50), t)
    function = pieces.function()
    assert np.array([np.array(function(x)).ravel() for x in times]) == pytest.approx(pieces(times), abs=1e-12)
    for k, values in enumerate(given):
        assert pieces(t[:-1], k) == pytest.approx(values[:-1], abs=1e-12)
        assert pieces(t[1:] - 1e-9, k) == pytest.approx(values[1:], abs=1e-5)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    motion = point_to_point([0.0], [1.0], **LIMITS)
    motion.save(path := tmp_path / "motion.nc")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"Motion\.save"):
        load_motion(path)
