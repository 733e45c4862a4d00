"""Doubtful answers are told: which figure, the likely cause; healthy runs say nothing."""

import warnings

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.simulation.loop.components import Expression, JointStop
from articulus.simulation.results.status import RunStatus
from articulus.simulation.running import diagnostics

OMEGA = 3.0


def oscillator(stiffness=OMEGA**2) -> art.Mechanism:
    m = art.Mechanism("oscillator", gravity=(0, 0, 0)).body("mass", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return m.joint("slide", art.Prismatic((1, 0, 0)), "ground", "mass", stiffness=stiffness)


def euler(steps: int, h: float = 0.01):
    """A run of 4.5 J at the start, all of it kinetic, which grow by 1 + (omega h)^2 in every step of Euler's method."""
    return art.simulate(oscillator(), steps * h, v0=[OMEGA], method="euler", step=h)


def test_energy_that_appears_from_nowhere():
    # after 1000 steps the error is larger than all of the energy at the start, and the run is COMPLETE all the same
    with pytest.warns(DoubtfulResult, match="energy balance error") as told:
        run = euler(1000)
    assert run.status == RunStatus.COMPLETE
    assert not run.ok
    assert told[0].filename == __file__  # the place that asked
    assert run.doubtful.tolist() == [0]
    exact = 4.5 * ((1 + (OMEGA * 0.01) ** 2) ** 1000 - 1)
    assert run.warnings[0].value == pytest.approx(exact / run["energy"][:, :2].max(), rel=1e-6)
    assert "too large" in run.warnings[0].cause
    assert "warning" in dict(run.figures())
    assert "Likely cause" in run.summary()


def test_two_samples_at_rest_are_no_doubt():
    # from one turning point to the next: nothing but the balance error, 1e-5 of what was at play between, is seen to change
    period = 2 * np.pi / OMEGA
    for mechanism, q0, t_end in (
        (oscillator(), [1.0], period),
        (art.load("pendulum_chain", n=1), [0.1], None),
    ):
        if t_end is None:
            every = art.simulate(mechanism, 4.0, q0=q0, method="dormand_prince", rtol=1e-12, atol=1e-14)
            back = np.flatnonzero((every.v[:-1, 0] > 0) & (every.v[1:, 0] <= 0))[0]
            t_end = float(every.t[back + 1])
        run = art.simulate(
            mechanism,
            t_end,
            q0=q0,
            method="dormand_prince",
            rtol=1e-4,
            atol=1e-6,
            step=t_end,
            outputs=["energy"],
        )
        assert run.t.size == 2
        assert run.ok


def test_the_limit():
    # (1 + (omega h)^2)^n - 1 is 0.0090 at n = 10, 0.0118 at n = 13, of 4.5 J
    assert euler(10).ok
    with pytest.warns(DoubtfulResult, match="found 0.012; expected at most 0.01"):
        assert not euler(13).ok


def test_a_sound_run_says_nothing():
    run = art.simulate(oscillator(), 10.0, q0=[1.0], step=0.01)
    assert run.ok
    assert not run.warnings
    assert not run.doubtful.size


def test_energy_that_stays_kinetic_is_no_doubt():
    # a free body only has the error of the method as a change of its energy: all that moves is error, but it is small
    body = art.Mechanism("body", gravity=(0, 0, 0)).body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    body.joint("flight", art.Free(), "ground", "body")
    run = art.simulate(body, 10.0, v0=[1.0, 0.01, 2.0, 0, 0, 0], step=0.05)
    assert run.ok
    assert np.ptp(run["energy.kinetic"]) > 1e-7


def test_nothing_that_moves_is_no_doubt():
    # rounding and absolute tolerances are all there is: no share of it means anything
    for method in ("rk4", "dormand_prince", "rosenbrock"):
        assert art.simulate(oscillator(), 0.1, q0=[1e-7], method=method, step=0.01).ok
        assert art.simulate(oscillator(), 0.1, method=method, step=0.01).ok


def test_a_batch_tells_which_runs():
    k = np.array([1.0, 4.0, 400.0, 9.0, 900.0])
    loose = oscillator(stiffness=art.Parameter("k", 1.0))
    with pytest.warns(DoubtfulResult, match="2 of 5 runs are doubtful") as told:
        run = art.rollout(loose, 1.0, q0=[[1.0]], params={"k": k}, step=0.05)
    assert len(told) == 1
    assert run.doubtful.tolist() == [2, 4]
    assert not run.ok
    with pytest.warns(DoubtfulResult):
        assert not art.simulate(loose, 1.0, q0=[1.0], params={"k": 900.0}, step=0.05, outputs=[]).ok
    assert art.simulate(loose, 1.0, q0=[1.0], params={"k": 9.0}, step=0.05, outputs=[]).ok


def test_a_stiff_component_with_an_explicit_method():
    # damping of 2600 1/s at steps of 1 ms: RK4 is stable up to 2785 1/s, but the start decays by the wrong factor
    m = oscillator()
    v = ca.SX.sym("v", 1)
    damper = Expression(ca.Function("damper", [v], [-2600.0 * v], ["v"], ["tau"]))
    with pytest.warns(DoubtfulResult, match="stiffest component"):
        run = art.simulate(m, 0.05, v0=[1.0], components=[damper], step=1e-3)
    assert "0.000385 s" in run.warnings[0].cause  # 1 / 2600
    assert art.simulate(m, 0.05, v0=[1.0], components=[damper], step=1e-3, method="rosenbrock").ok


def test_an_impact_that_the_step_does_not_resolve():
    # a stop in which the mass stays for 3 ms, at steps of 4 ms
    stop = JointStop("slide", upper=0.1, stiffness=1e6, damping=0.0)
    with pytest.warns(DoubtfulResult):
        run = art.simulate(oscillator(), 0.4, v0=[1.0], components=[stop], step=4e-3)
    assert "stop" in run.warnings[0].cause or "stiffest" in run.warnings[0].cause


def test_loose_tolerances():
    with pytest.warns(DoubtfulResult, match="rtol 0.1"):
        art.simulate(oscillator(), 40.0, q0=[1.0], method="dormand_prince", step=4.0, rtol=0.1, atol=0.1)


def test_a_doubt_is_kept_in_files(tmp_path):
    pytest.importorskip("h5netcdf")
    with pytest.warns(DoubtfulResult):
        run = euler(1000)
    run.save(tmp_path / "run.nc")
    again = art.load_run(tmp_path / "run.nc")
    assert again.warnings == run.warnings
    assert not again.ok


def moving() -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    """Return a four-bar linkage that is no parallelogram, with a closed position and rates."""
    m = art.Mechanism("linkage")
    for name, parent, at, length in (
        ("crank", "ground", (0, 0, 0), 0.4),
        ("coupler", "crank", (0.4, 0, 0), 1.1),
    ):
        m.body(name, 1.0, (length / 2, 0, 0), (0.1, 0.1, 0.1))
        m.joint(f"{name}_pin", art.Revolute((0, 0, 1)), parent, name, at=at)
    m.body("rocker", 1.5, (0.4, 0, 0), (0.1, 0.1, 0.1))
    m.joint("rocker_pin", art.Revolute((0, 0, 1)), "ground", "rocker", at=(1, 0, 0))
    m.loop("pin", art.Revolute((0, 0, 1)), "coupler", "rocker", at=(1.1, 0, 0), child_at=(0.8, 0, 0))
    found = art.assemble(m, np.array([0.7, 0.3, 1.8]), np.array([15.0, 0.0, 0.0]))
    return m, found.q, found.v


def test_energy_of_the_projection():
    # one step of Euler's method by hand, without a projection, has the energy of the run less what the projection changed
    m, q, v = moving()
    h = 1e-3
    run = art.simulate(m, h, q0=q, v0=v, method="euler", step=h)
    free = m.energy(q + h * v, v + h * run["vdot"][0])
    changed = abs(sum(m.energy(run.q[1], run.v[1])) - sum(free))
    assert changed > 1e-7
    assert run["projected"][-1, 0] == pytest.approx(changed, rel=1e-6)


def test_work_of_the_projection_falls_with_the_step():
    # the drift of a step of Euler's method is of order h^2, so that the sum over the run falls with h
    m, q, v = moving()
    runs = [art.simulate(m, 0.01, q0=q, v0=v, method="euler", step=h) for h in (1e-4, 5e-5)]
    one, half = (run["projected"][-1, 0] for run in runs)
    assert one / half == pytest.approx(2.0, abs=0.2)


def test_a_projection_that_works_too_much():
    m, q, v = moving()
    with pytest.warns(DoubtfulResult) as told:
        run = art.simulate(m, 2.0, q0=q, v0=v, method="euler", step=0.05)
    assert any(d.figure.startswith("energy moved by the return") for d in run.warnings)
    assert any(d.figure.startswith("constraint residual in position") for d in run.warnings)
    assert len(told) == 1
    assert str(told[0].message).count("Likely cause") == 1


def test_limits_are_ordered():
    assert (
        0
        < diagnostics.ENERGY_FLOOR
        < diagnostics.CONSTRAINT
        < diagnostics.ENERGY
        <= diagnostics.PROJECTION
        < 1
    )


@pytest.mark.parametrize(("step", "ok"), [(1e-3, True), (0.02, False)])
def test_a_small_vibration_beside_a_large_energy(step, ok):
    """16 Hz beside a wheel of 1e5 J: at 2 rad a step rk4 leaves nothing of it (|R(2i)| = 0.745), at 0.1 rad all."""
    m = (
        art.Mechanism("craft", gravity=(0, 0, 0))
        .body("wheel", 100.0, inertia=(5, 5, 10))
        .body("p", 1.0, inertia=(1, 1, 1))
    )
    m.joint("w", art.Revolute((0, 0, 1)), "ground", "wheel")
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "p", stiffness=1e4)
    start = {"q0": [0, 0.01], "v0": [150.0, 0], "step": step}
    if ok:
        assert art.simulate(m, 2.0, **start).ok
    else:
        with pytest.warns(DoubtfulResult, match="amplitude that a vibration loses"):
            assert not art.simulate(m, 2.0, **start).ok


def test_a_modal_body_bent_beyond_its_validity():
    """A cantilever of 1 m with EI = 2 N m^2 under its weight of 9.81 N: tip w L^4 / (8 EI) = 0.61 m."""
    from articulus import structure

    body = structure.beam_body(1.0, EI=2.0, mass_per_length=1.0, modes=2, planes="z", damping=0.05)
    m = art.Mechanism("m").flexible("b", body).body("base", 1.0, inertia=(1, 1, 1))
    m.joint("s", art.Revolute((0, 1, 0)), "ground", "base", stiffness=1e6, damping=1e3)
    m.joint("w", art.Fixed(), "base", "b")
    with pytest.warns(DoubtfulResult, match="deflection of 'b' over its length"):
        rest = art.equilibrium(m)
    with pytest.warns(DoubtfulResult, match="deflection of 'b' over its length"):
        m.linearize(q=rest.q)
    with pytest.warns(DoubtfulResult, match="deflection of 'b' over its length"):
        assert not art.simulate(m, 0.2, q0=rest.q, step=1e-3).ok


def test_a_spun_body_that_does_not_know_how_it_stiffens():
    """5.7 times its first frequency (3.52 sqrt(EI / m) / L^2): the centrifugal force, which is left out, is far above its stiffness."""
    from articulus import structure

    beam = structure.beam(1.0, EI=1.0, mass_per_length=1.0, elements=16, planes="z")
    shapes = structure.normal_modes(beam, 2).shapes

    def spun(rate, **known):
        body = structure.modes_of(beam, shapes, origin=0, stations={"tip": "node16"}, **known)
        m = art.Mechanism("fast", gravity=(0, 0, -1e-3)).flexible("b", body)
        m.joint("r", art.Revolute((0, 0, 1)), "ground", "b")
        return m, {"v0": [rate, *np.zeros(m.nv - 1)]}

    m, start = spun(20.0, level="ruthless")
    with pytest.warns(DoubtfulResult, match="angular rate of 'b' over its first frequency: found 5.7"):
        assert not art.simulate(m, 0.1, **start).ok
    with pytest.warns(DoubtfulResult, match="angular rate of 'b' over its first frequency: found 5.7"):
        m.linearize(v=start["v0"])
    for quiet, start in (spun(0.3, level="ruthless"), spun(20.0)):  # slow, and a body that knows
        run = art.simulate(quiet, 0.1, **start)
        assert run.ok, run.warnings


@pytest.mark.parametrize("method", ["dormand_prince", "rosenbrock"])
@pytest.mark.parametrize(("amplitude", "ok"), [(1e-5, True), (1e-9, False), (1e-12, True)])
def test_a_motion_as_small_as_the_tolerance(method, amplitude, ok):
    """0.1 nm allowed per step of an oscillation of 1 nm: after 100 rad it is 4 to 7 % off. What moves less than the tolerance may be at rest."""
    m = art.Mechanism("r", gravity=(0, 0, 0)).body("b", 1.0, inertia=(1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "b", stiffness=1.0)
    start = {"q0": [amplitude], "step": 1.0, "method": method}
    if ok:
        assert art.simulate(m, 100.0, **start).ok
        return
    with pytest.warns(DoubtfulResult, match="absolute tolerance over the largest motion"):
        assert not art.simulate(m, 100.0, **start).ok
    run = art.simulate(m, 100.0, atol=1e-4 * amplitude, **start)  # what the cause advises
    assert run.ok
    np.testing.assert_allclose(run.q[:, 0] / amplitude, np.cos(run.t), atol=2e-3)


def test_a_start_with_a_quaternion_of_another_length():
    m = art.Mechanism("free").body("b", 1.0, inertia=(1, 1, 1)).joint("f", art.Free(), "ground", "b")
    with pytest.warns(art.errors.MovedStart, match="quaternion of length 2"):
        run = art.simulate(m, 0.01, q0=[2.0, 0, 0, 0, 0, 0, 0])
    assert run.q[0, 0] == 1.0


def test_stuck_friction_in_a_linear_model():
    arm = art.Mechanism("arm").body("l", 2.0, (0.25, 0, 0), (0.01, 0.05, 0.05))
    arm.joint("j", art.Revolute((0, 1, 0)), "ground", "l", stiffness=50.0)
    loop = art.Loop(
        arm, components=[art.components.JointFriction("j", coulomb=1.0, stiffness=1e3, damping=5.0)]
    )
    with pytest.warns(DoubtfulResult, match="sticks under"):
        loop.equilibrium([0.11]).linearize()


@pytest.mark.parametrize("method", ["newmark", "hht", "generalized_alpha"])
@pytest.mark.parametrize(("step", "ok"), [(1e-3, True), (0.02, False)])
def test_a_small_vibration_under_implicit_methods(method, step, ok):
    """As with rk4: at 2 rad a step the trapezoidal rule is 86 rad late after 4 s (2 atan(1) instead of 2 rad, 200 times), the others damp as well."""
    m = (
        art.Mechanism("craft", gravity=(0, 0, 0))
        .body("wheel", 100.0, inertia=(5, 5, 10))
        .body("p", 1.0, inertia=(1, 1, 1))
    )
    m.joint("w", art.Revolute((0, 0, 1)), "ground", "wheel")
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "p", stiffness=1e4)
    start = {"q0": [0, 0.01], "v0": [150.0, 0], "step": step, "method": method}
    if ok:
        assert art.simulate(m, 1.0, **start).ok
        return
    with pytest.warns(DoubtfulResult, match="phase by which the method"):
        run = art.simulate(m, 4.0, **start)
    figures = {d.figure: d.value for d in run.warnings}
    if method == "newmark":
        assert figures[diagnostics.PHASE_FIGURE] == pytest.approx(200 * (2 - 2 * np.arctan(1)), rel=1e-6)
    else:
        first, last = (np.abs(run.q[at, 1]).max() for at in (slice(0, 51), slice(150, 201)))
        # 150 of 200 steps lie between; some four samples a turn miss its largest by up to a tenth
        left = (1 - figures[diagnostics.VIBRATION_FIGURE]) ** 0.75
        assert left == pytest.approx(last / first, abs=0.1)


def test_a_ball_joint_that_absolute_sdirk_damps():
    """R(i w h) of Alexander's method in closed form: a pendulum on a ball joint with 1 rad a step loses 5 % in some ten steps."""
    m = art.Mechanism("pendulum").body("rod", 1.0, (0, 0, -1.0), (0.01, 0.01, 0.01))
    m.joint("ball", art.Spherical(), "ground", "rod")
    start = [np.cos(0.05), np.sin(0.05), 0, 0]
    step = 1 / np.sqrt(9.81 / 1.01)
    with pytest.warns(DoubtfulResult, match="amplitude that a vibration loses"):
        art.simulate(m, 100 * step, q0=start, step=step, method="absolute_sdirk")


def three_bodies() -> art.Mechanism:
    """Return a free body with two others hinged to it."""
    m = art.Mechanism("tree")
    joints = (art.Free(), art.Revolute((0, 1, 0)), art.Revolute((1, 0, 0)))
    for i, (name, parent, joint) in enumerate(zip("abc", ("ground", "a", "a"), joints)):
        m.body(name, 1.0 + i, (0.1, 0.05 * i, 0.2), (0.05, 0.06, 0.04))
        m.joint(f"j{name}", joint, parent, name, at=(0.3, 0.1 * i, 0) if i else (0, 0, 0))
    return m


@pytest.mark.parametrize(("method", "step"), [("euler", 0.01), ("semi_implicit_euler", 0.04)])
def test_steps_of_low_order_in_smooth_motion(method, step):
    """A tree that falls and tumbles is wrong by some hundredths of its motion, whatever its energy says; told is what it is wrong by."""
    m, v0 = three_bodies(), [1.0, 2, -1, 0.5, 0, 1, 2, -3]
    exact = art.simulate(m, 1.0, v0=v0, method="dormand_prince", step=0.01, rtol=1e-11, outputs=())
    with pytest.warns(DoubtfulResult, match="error of the method's steps"):
        run = art.simulate(m, 1.0, v0=v0, method=method, step=step)
    told = {d.figure: d.value for d in run.warnings}[diagnostics.STEPS_FIGURE]
    hinges = [6, 7]
    wrong = np.abs(run.v[-1] - exact.v[-1])[hinges] / np.abs(run.v).max(axis=0)[hinges]
    assert 0.5 * wrong.max() < told < 0.2
    assert art.simulate(m, 1.0, v0=v0, method=method, step=2e-4).ok


@pytest.mark.parametrize(
    ("wh", "told"), [(0.02, ""), (1.0, "phase"), (2.05, "too large for the fastest motion")]
)
def test_a_step_beyond_the_limit_of_central_differences_is_told(wh, told):
    """A mass on a spring, w = 1 rad/s; stable below w h = 2, in phase far below."""
    m = art.Mechanism("spring", gravity=(0, 0, 0)).body("b", 1.0, inertia=(1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "b", stiffness=1.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = art.simulate(m, 40 * wh, q0=[0.1], step=wh, method="central_difference")
    assert run.ok == (not told)
    assert told in " ".join(str(w.message) for w in said)
