"""Laws of paths, nonlinear inverses, previews, servo plans and piezos: coordinates, units, times, and methods beside each other."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.motion.inversion import (
    Circle,
    Inversion,
    Line,
    NonlinearSystem,
    Path,
    Profile,
    SplinePath,
    from_csv,
    mechanism_system,
    sample_path,
    servo_plan,
    stable_inversion,
    tip_torques,
)

STILL = np.eye(3)


# paths


def spatial(
    start: float = 0.0, duration: float = 1.0, turn: np.ndarray = STILL, move=(0, 0, 0), size: float = 1.0
):
    """Return paths in space, turned, moved and enlarged as wholes, on a clock of their own."""

    def put(x) -> np.ndarray:
        return size * (np.asarray(x, dtype=float) @ turn.T) + move

    clock = Profile(duration, t0=start, order=4)
    way = [[0, 0, 0], [1, 0.5, 0.2], [0.3, 1, 0.4], [0, 0.2, 1]]
    return {
        "line": Line(put((0, 1, 2)), put((2, -1, 0.5)), clock),
        "circle": Circle(put((0, 0, 1)), put((0, 2, 1)), 2.5, clock, normal=turn @ [3.0, 0.0, 0.0]),
        "curve": SplinePath(put(way), profile=clock),
        "timed": SplinePath(put(way), times=start + duration * np.array([0.0, 0.3, 0.6, 1.0])),
    }


@pytest.mark.parametrize("kind", spatial())
def test_paths_turn_move_and_grow_as_wholes(kind: str) -> None:
    turn, move = Rotation.from_rotvec([0.3, -1.0, 0.5]).as_matrix(), np.array([1.0, -2.0, 3.0])
    usual, other = spatial()[kind], spatial(0.0, 1.0, turn, move, 10.0)[kind]
    t = np.linspace(-0.1, 1.1, 61)
    own, changed = usual.derivatives(t, 3), other.derivatives(t, 3)
    assert changed[0] == pytest.approx(10 * own[0] @ turn.T + move, abs=1e-9)
    for k in (1, 2, 3):
        assert changed[k] == pytest.approx(10 * own[k] @ turn.T, abs=1e-7 * (1 + np.abs(own[k]).max()))


@pytest.mark.parametrize("kind", spatial())
@pytest.mark.parametrize(("start", "duration"), [(5.0, 1.0), (0.0, 1e-3), (-2.0, 1e3)])
def test_paths_run_on_any_clock(kind: str, start: float, duration: float) -> None:
    usual, other = spatial()[kind], spatial(start, duration)[kind]
    s = np.linspace(0.01, 0.99, 50)
    own, changed = usual.derivatives(s, 3), other.derivatives(start + duration * s, 3)
    for k in range(4):
        assert changed[k] * duration**k == pytest.approx(own[k], abs=1e-6 * (1 + np.abs(own[k]).max()))
    assert (other.t0, other.t_end) == pytest.approx((start, start + duration))


def test_paths_come_back_from_files(tmp_path) -> None:
    """Samples written as a table are the path again, to the error of cubic interpolation of 400 intervals."""
    for name, path in spatial().items():
        t = np.linspace(0, 1, 401)
        table = np.column_stack([t, path.position(t)])
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header="t,x,y,z", comments="", fmt="%.17g")
        read: Path = from_csv(tmp_path / f"{name}.csv")
        between = np.linspace(0.1, 0.9, 77)
        assert read.position(between) == pytest.approx(path.position(between), abs=1e-7)
        sampled = sample_path(path, t)
        assert sampled.y == pytest.approx(path.position(t), abs=1e-12)


@pytest.mark.parametrize("kind", [*spatial(), "sine"])
def test_paths_are_the_same_on_arrays_and_on_symbols(kind: str) -> None:
    """Positions, velocities and accelerations before, within and after; and coordinates are paths of their own."""
    path = (
        Line((0.0, 1.0, 2.0), (1.0, 0.0, 2.5), Profile(1.3, law="sine", t0=-0.2))
        if kind == "sine"
        else spatial(0.3, 1.7)[kind]
    )
    t, clock = np.append(np.linspace(-0.5, 2.5, 91), (path.t0 + path.t_end) / 2), SX.sym("t")
    value = path.at(clock)
    rate = ca.jacobian(value, clock)
    functions = [ca.Function("f", [clock], [x]) for x in (value, rate, ca.jacobian(rate, clock))]
    expected = path.derivatives(t, 2)
    for k, function in enumerate(functions):
        found = np.array([np.array(function(x)).ravel() for x in t])
        assert found == pytest.approx(expected[k], abs=1e-9 * (1 + np.abs(expected[k]).max()))
    for k, each in enumerate(path.coordinates()):
        assert each.derivatives(t, 2)[:, :, 0] == pytest.approx(expected[:, :, k], abs=1e-12)
        assert (each.t0, each.t_end, each.count) == (path.t0, path.t_end, 1)


def test_paths_are_targets_of_controllers() -> None:
    """A hinge whose controller is stiff follows a path that is given as it is."""
    m = art.Mechanism("wheel")
    m.body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "wheel")
    path = Line(0.0, 1.0, Profile(1.0))
    run = art.simulate(
        m.with_gravity((0, 0, 0)), 1.2, controller=art.components.PD(kp=1e4, kd=200.0, target=path)
    )
    assert run.q[:, 0] == pytest.approx(path.position(run.t)[:, 0], abs=0.1)
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-3)


# nonlinear systems


def cart(size: float = 1.0, faster: float = 1.0, turn: np.ndarray | None = None) -> NonlinearSystem:
    """Return an upright pendulum on a cart with units of length and time of its own, in states x of T x."""
    T = np.eye(4) if turn is None else turn
    z = SX.sym("z", 4)
    x = ca.mtimes(ca.DM(np.linalg.inv(T)), z)
    angle, speed, turning = x[1], x[2] / (size * faster), x[3] / faster
    F = SX.sym("F")
    s, c = ca.sin(angle), ca.cos(angle)
    pushed = (F - 0.2 * s * (9.81 * c - 0.5 * turning**2)) / (1 + 0.2 * s**2)
    tilted = (9.81 * s - pushed * c) / 0.5 - 0.1 * turning
    rate = ca.vertcat(size * speed, turning, size * faster * pushed, faster * tilted) * faster
    return NonlinearSystem.affine(z, F, ca.mtimes(ca.DM(T), rate), x[0])


def lean(system: NonlinearSystem, size: float = 1.0, faster: float = 1.0, way: float = 1.0) -> Inversion:
    path = Line(0.0, way * size, Profile(2.0 / faster, order=5))
    return stable_inversion(system, path, step=0.02 / faster, tolerance=1e-9)


@pytest.fixture(scope="module")
def usual() -> Inversion:
    return lean(cart())


def forces(found: Inversion, t: np.ndarray) -> np.ndarray:
    return CubicSpline(found.t, found.inputs[:, 0])(np.clip(t, found.t[0], found.t[-1]))


T = np.linspace(-1.0, 3.0, 201)


@pytest.mark.parametrize(("size", "faster"), [(1e3, 1.0), (1.0, 1e-2), (1e-3, 50.0)])
def test_nonlinear_inverses_in_other_units(usual: Inversion, size: float, faster: float) -> None:
    found = lean(cart(size, faster), size, faster)
    u = forces(usual, T)
    assert np.abs(forces(found, T / faster) - u).max() < 1e-6 * np.abs(u).max()
    assert found.pre == pytest.approx(usual.pre / faster, rel=1e-4)


def test_nonlinear_inverses_in_other_coordinates(usual: Inversion) -> None:
    turn = np.random.default_rng(3).normal(size=(4, 4)) + 3 * np.eye(4)
    found = lean(cart(turn=turn))
    u = forces(usual, T)
    assert np.abs(forces(found, T) - u).max() < 1e-6 * np.abs(u).max()
    x = CubicSpline(found.t, found.states)(T) @ np.linalg.inv(turn).T
    expected = CubicSpline(usual.t, usual.states)(T)
    assert np.abs(x - expected).max() < 1e-6 * np.abs(expected).max()


def test_opposite_ways_have_opposite_forces_and_small_ones_are_linear(usual: Inversion) -> None:
    u = forces(usual, T)
    back = forces(lean(cart(), way=-1.0), T)
    assert np.abs(back + u).max() < 1e-7 * np.abs(u).max()
    small, smaller = (forces(lean(cart(), way=w), T) / w for w in (1e-2, 1e-3))
    assert (
        np.abs(small - smaller).max() < 1e-4 * np.abs(small).max()
    )  # what is not linear is odd: of third order


def test_later_paths_have_later_forces(usual: Inversion) -> None:
    found = stable_inversion(cart(), Line(0.0, 1.0, Profile(2.0, order=5, t0=7.3)), step=0.02, tolerance=1e-9)
    u = forces(usual, T)
    assert np.abs(forces(found, T + 7.3) - u).max() < 1e-7 * np.abs(u).max()


# rigid arms: every method is inverse dynamics


@pytest.mark.parametrize("seed", range(3))
def test_methods_of_rigid_arms_are_inverse_dynamics(seed: int) -> None:
    """Whole trajectories by Newton's method, normal forms, servo constraints: one set of forces along a line of the tip of an arm at random."""
    rng = np.random.default_rng(seed)
    arm, before, at = art.Mechanism(f"arm {seed}"), "ground", (0.0, 0.0, 0.0)
    for k in range(2):
        length = float(rng.uniform(0.4, 0.6))
        arm.body(f"link{k}", mass=rng.uniform(1, 3), com=(length / 2, 0, 0), inertia=[0.1, 0.1, 0.1])
        arm.joint(f"hinge{k}", art.Revolute((0, 1, 0)), before, f"link{k}", at=at, damping=rng.uniform(0, 1))
        before, at = f"link{k}", (length, 0.0, 0.0)
    arm.frame("tip", "link1", at=at)
    q0 = np.array([-0.5, 1.4]) + rng.uniform(-0.2, 0.2, 2)
    begin = arm.pose("tip", q0)[[0, 2], 3]
    line = Line(begin, begin + rng.uniform(-0.15, 0.15, 2), Profile(0.8, order=4))
    whole = tip_torques(arm, "tip", line, actuators=arm.joint_names, outputs=["x", "z"], guess=q0, step=4e-3)
    system = mechanism_system(arm, arm.joint_names, ["tip.x", "tip.z"])
    normal = stable_inversion(system, line, step=4e-3, x0=np.append(q0, [0.0, 0.0]))
    x, z = line.coordinates()
    program = art.PrescribedPoint("line", "tip", x=x, z=z)
    servo = servo_plan(arm, program, arm.joint_names, q=q0).noncausal(0.0, 0.8, step=4e-3)
    times = np.linspace(0.05, 0.75, 36)
    for found in (whole, normal, servo):
        q, v, vdot, tau = found.at(found.t)
        expected = np.asarray(arm.inverse_dynamics(q, v, vdot))
        assert np.abs(tau - expected).max() < 1e-6 * np.abs(expected).max()
        assert arm.pose("tip", found.at(times).q)[:, [0, 2], 3] == pytest.approx(
            line.position(times), abs=1e-6
        )
        assert found.at(times).tau == pytest.approx(whole.at(times).tau, abs=1e-4 * np.abs(expected).max())
