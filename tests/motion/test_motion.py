"""Laws of every kind of motion: derivatives, forces, replay by `simulate`, files, tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.inversion import (
    Line,
    Profile,
    link_by_link,
    mechanism_system,
    servo_plan,
    stable_inversion,
    tip_torques,
)
from articulus.motion.motion import Motion
from articulus.motion.piecewise import Piecewise
from articulus.motion.store import load_motion
from articulus.motion.trajectory import (
    PathIntegral,
    RecedingHorizon,
    path_speed,
    plan,
    plan_legs,
    point_to_point,
    reaching,
    waypoints,
)
from articulus.motion.trajectory.legs import Leg
from articulus.structure import beam_body

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
    return point_to_point(POINTS[0], POINTS[2], mechanism=arm, v0=[0.3, -0.2], **LIMITS)


def one_of_many() -> Motion:
    many = point_to_point(POINTS[:2], POINTS[1:], mechanism=art.load("two_link"), **LIMITS)
    return many[1]


def through_points() -> Motion:
    return waypoints(POINTS, mechanism=art.load("two_link"), **LIMITS)


def planned(scheme: str = "hermite_simpson", intervals: int = 30) -> Motion:
    arm = art.load("two_link")
    return plan(arm, POINTS[0], POINTS[2], duration=1.0, scheme=scheme, intervals=intervals)


def planned_at_points_of_radau() -> Motion:
    return planned("radau 3", 20)


def planned_by_shooting() -> Motion:
    return planned("shooting", 40)


def planned_in_elements() -> Motion:
    return planned("weak", 60)


def planned_in_steps() -> Motion:
    return planned("riccati", 60)


def planned_of_loops() -> Motion:
    bars = art.load("n_four_bar", n=1)
    first, last = (art.assemble(bars, {"hinge0": q}).q for q in (0.2, 1.2))
    return plan(bars, first, last, duration=1.0, actuators=["hinge0"], torque_limit=300.0, intervals=20)


def a_leg_in_motion() -> Motion:
    legs = [Leg(POINTS[1], 0.5, "free"), Leg(POINTS[2], 0.5)]
    return plan_legs(art.load("two_link"), POINTS[0], legs, intervals=15).legs[1]


def line_of_the_tip() -> tuple[art.Mechanism, Line, np.ndarray]:
    arm, q0 = art.load("two_link"), np.array([0.4, 1.1])
    begin = arm.pose("tip", q0)[[0, 2], 3]
    return arm, Line(begin, begin + np.array([-0.2, 0.15]), Profile(1.0)), q0


def all_legs() -> Motion:
    legs = [Leg(POINTS[1], 0.5, "free"), Leg(POINTS[2], 0.5), Leg(POINTS[0], 0.8)]
    return plan_legs(art.load("two_link"), POINTS[0], legs, intervals=15).motion


def inverted() -> Motion:
    arm, line, q0 = line_of_the_tip()
    return tip_torques(arm, "tip", line, actuators=arm.joint_names, outputs=["x", "z"], guess=q0, step=2e-3)


def inverted_from_its_normal_form() -> Motion:
    arm = art.load("two_link")
    system = mechanism_system(arm, arm.joint_names, [f"q.{n}" for n in arm.q_names])
    return stable_inversion(system, Line((0.0, 0.0), (0.5, -0.4), Profile(1.0)))


def kept_to_a_program() -> Motion:
    arm, line, q0 = line_of_the_tip()
    x, z = line.coordinates()
    program = art.PrescribedPoint("line", "tip", x=x, z=z)
    return servo_plan(arm, program, arm.joint_names, q=q0).noncausal(0.0, 1.0)


def flexible_arm() -> art.Mechanism:
    """Return two flexible links in a plane (Ledesma & Bayo 1993, open chain), one mode each."""
    arm = art.Mechanism("two_links", gravity=(0.0, 0.0, 0.0))
    for name, EI, mass in (("upper", 3.22, 0.3258), ("lower", 0.119, 0.1086)):
        arm.flexible(name, beam_body(0.66, EI=EI, mass_per_length=mass, modes=1, damping=None))
    arm.joint("shoulder", art.Revolute((0, 0, 1)), "ground", "upper")
    arm.joint("elbow", art.Revolute((0, 0, 1)), "upper", "lower", node="tip")
    return arm.frame("tip", "lower", node="tip")


FLEXIBLE_LINE = Line((0.5, 0.3), (0.9, 0.3), Profile(1.2, law="sine"))
FLEXIBLE_POSE = {"shoulder": -0.6, "elbow": 2.2}


def inverted_with_its_links() -> Motion:
    arm = flexible_arm()
    return tip_torques(arm, "tip", FLEXIBLE_LINE, ("shoulder", "elbow"), guess=FLEXIBLE_POSE, step=2e-3)


def inverted_link_by_link() -> Motion:
    return link_by_link(flexible_arm(), "tip", FLEXIBLE_LINE, guess=FLEXIBLE_POSE)


def planned_on_line() -> Motion:
    stages = reaching(
        art.load("two_link"), POINTS[2], step=5e-3, steps=60, q0=POINTS[1], torque_limit=2500.0, method="rk4"
    )
    control = RecedingHorizon(stages, iterations=20)
    control(0.0, POINTS[1], np.zeros(2))
    return control.motion


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
SOLVED: dict[str, Callable[[], Motion]] = {
    f.__name__: f
    for f in (
        planned,
        planned_at_points_of_radau,
        planned_by_shooting,
        planned_in_elements,
        planned_in_steps,
        planned_of_loops,
        a_leg_in_motion,
        all_legs,
        inverted,
        inverted_from_its_normal_form,
        kept_to_a_program,
        inverted_with_its_links,
        inverted_link_by_link,
        planned_on_line,
    )
}
"""Motions whose equations hold at points of a mesh, and between them as well as the mesh lets."""
_found: dict[str, Motion] = {}


def find(name: str) -> Motion:
    if name not in _found:
        _found[name] = (KINDS | SOLVED)[name]()
    return _found[name]


@pytest.fixture(params=KINDS)
def motion(request: pytest.FixtureRequest) -> Motion:
    return find(request.param)


@pytest.fixture(params=SOLVED)
def solved(request: pytest.FixtureRequest) -> Motion:
    return find(request.param)


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


MESH = {
    "planned": (1e-2, 3e-5),
    "planned_at_points_of_radau": (5e-2, 3e-5),
    "planned_by_shooting": (1e-3, 3e-5),
    "planned_in_elements": (0.1, 2e-3),
    "planned_in_steps": (1e-3, 3e-6),
    "planned_of_loops": (3e-3, 2e-5),
    "a_leg_in_motion": (1e-2, 3e-5),
    "all_legs": (1e-2, 3e-4),
    "planned_on_line": (1e-5, 3e-8),
}
"""What meshes of 15 to 60 intervals leave (of three legs more, one after the other): of accelerations by the forces between the points, which are polynomials of degree 0 (elements), 1 or 2, and
of positions after a simulation, over the extent. Inversions have a step of 2 ms and splines through it: 1e-7 and 1e-8."""


def test_solved_motions_are_motions(solved: Motion, request: pytest.FixtureRequest) -> None:
    """Derivatives fit, and forward dynamics of q, v and tau gives the accelerations."""
    t, (within, _) = inside(solved), MESH.get(request.node.callspec.params["solved"], (1e-7, 1e-8))
    h = 1e-4 * np.diff(solved.t).min()
    now, ahead, back = (solved.at(t + d) for d in (0.0, h, -h))
    for value, rate in ((0, 1), (1, 2)):
        slope = (ahead[value] - back[value]) / (2 * h)
        assert np.abs(slope - now[rate]).max() < 1e-4 * (1 + np.abs(now[rate]).max())
    m = solved.mechanism
    found = np.asarray(m.forward_dynamics(now.q, now.v, now.tau))
    assert np.abs(found - now.vdot).max() < within * (1 + np.abs(now.vdot).max())
    assert solved.ok
    assert set(solved.actuators) <= set(m.joint_names)
    assert not np.abs(np.delete(now.tau, solved._motors, axis=1)).any()


def test_solved_motions_come_back(solved: Motion, request: pytest.FixtureRequest) -> None:
    """By their forces alone, simulated by an adaptive method; feedback brings a start that is 10 mrad off back to within 0.5 mrad:
    what settles within the motion leaves 5e-6, the rest is not linear."""
    _, back = MESH.get(request.node.callspec.params["solved"], (1e-7, 1e-8))
    run = solved.run(track=False)
    assert run.t[-1] == pytest.approx(solved.t[-1] - solved.t[0], rel=1e-12)
    extent = np.ptp(solved.q, axis=0).max()
    assert np.abs(run.q - solved.at(solved.t[0] + run.t).q).max() < back * extent
    m = solved.mechanism
    if len(solved._motors) == m.nv:
        off = solved.run(q0=solved.q[0] + 0.01)
        assert np.abs(off.q[-1] - solved.q[-1]).max() < 5e-4


def test_feedback_of_loops_holds_them_on_their_way() -> None:
    """Linear-quadratic feedback without a line of control code; its loop is as stiff as the feedback makes it, and stays closed."""
    motion = find("planned_of_loops")
    run = motion.run()
    assert np.abs(run.q - motion.at(run.t).q).max() < 1e-4 * np.ptp(motion.q, axis=0).max()
    assert np.abs(motion.mechanism.constraint_residual(run.q)).max() < 1e-6


def test_solved_motions_are_saved_as_numbers(tmp_path: Path) -> None:
    """A plan and an inversion write all they know; their samples are a motion like others, and tables have a step of one's own."""
    for name in ("planned", "inverted"):
        motion = find(name)
        motion.sample().save(tmp_path / f"{name}.nc")
        t = inside(motion)
        for ours, theirs in zip(motion.at(t), load_motion(tmp_path / f"{name}.nc").at(t)):
            assert np.abs(ours - theirs).max() < 1e-4 * (1 + np.abs(ours).max())
        motion.to_csv(tmp_path / f"{name}.csv", step=0.01)
        head, *rows = (tmp_path / f"{name}.csv").read_text().splitlines()
        assert f"tau.{motion.names[0]} [N m]" in head.split(",")
        times = np.array([float(row.split(",")[0]) for row in rows])
        assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.01))


def test_legs_of_two_mechanisms_have_tables_but_no_simulation(tmp_path: Path) -> None:
    light = art.load("two_link")
    heavy = art.load("two_link").with_gravity((0, 0, -12.0))
    legs = [Leg(POINTS[1], 0.5), Leg(POINTS[0], 0.5, mechanism=heavy)]
    done = plan_legs(light, POINTS[0], legs, intervals=10)
    done.motion.to_csv(tmp_path / "legs.csv", step=0.05)
    assert len((tmp_path / "legs.csv").read_text().splitlines()) == 22
    assert done.motion.at([0.0, 0.5, 1.0]).q == pytest.approx(np.array([POINTS[0], POINTS[1], POINTS[0]]))
    with pytest.raises(InputError, match="found a motion of joints without a mechanism"):
        done.motion.run()
    assert [run.t[-1] for run in done.run()] == pytest.approx([0.5, 0.5])


def test_what_is_planned_on_line_begins_where_the_mechanism_is() -> None:
    """Both controllers; a sampled prediction is played within the error of its steps, and nothing is planned before the first call."""
    arm = art.load("two_link")
    stages = reaching(arm, POINTS[2], step=0.01, steps=20, q0=POINTS[1], torque_limit=2500.0, method="rk4")
    for control in (RecedingHorizon(stages), PathIntegral(stages, samples=64)):
        with pytest.raises(InputError, match="found no motion yet; expected a call"):
            control.motion.run()
        first = control(0.5, POINTS[1], np.array([0.2, -0.1]))
        motion = control.motion
        assert motion.t == pytest.approx(0.5 + 0.01 * np.arange(21))
        assert motion.q[0].tolist() == POINTS[1].tolist()
        assert motion.v[0] == pytest.approx([0.2, -0.1])
        assert motion.tau[0] == pytest.approx(first)
        run = motion.run(track=False)
        assert np.abs(run.q[-1] - motion.q[-1]).max() < 1e-6


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


def test_files_of_plans_name_what_reads_them(tmp_path: Path) -> None:
    find("planned").save(tmp_path / "plan.nc")
    with pytest.raises(
        InputError,
        match=r"found articulus plan 1; expected articulus motion 1\. `articulus\.trajectory\.load_plan` reads it",
    ):
        load_motion(tmp_path / "plan.nc")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    motion = point_to_point([0.0], [1.0], **LIMITS)
    motion.save(path := tmp_path / "motion.nc")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"Motion\.save"):
        load_motion(path)
