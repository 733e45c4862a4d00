"""A controller on the full model: what `check` finds against the linear theory and against the runs themselves."""

import numpy as np
import pytest

import articulus as art
from articulus.control.plant import of_matrices
from articulus.control.proof.check import late
from articulus.errors import DoubtfulResult, InputError

c = art.components


def link(modes):
    """Return a flexible link on a hinge with an encoder and a motor."""
    arm = art.load("bayo_link", modes=modes, damping=0.005)
    return art.Loop(
        arm, components=[c.JointSensor(("hinge",), name="encoder"), c.Torque("hinge", name="motor")]
    )


@pytest.fixture(scope="module")
def design():
    """A regulator with filter for the link with two modes."""
    P = link(2).linearize(inputs=("u",), outputs=("encoder.q", "encoder.v"))
    Q = np.zeros(6)
    Q[0], Q[3] = 100.0, 1.0
    return art.control.lqg(P, Q, 1e4, 1e-5 * P.B @ P.B.T, [1e-5, 1e-2], measured=("encoder",))


def test_on_the_model_of_the_design_the_poles_are_those_of_the_design(design):
    proof = art.control.check(link(2), design)
    ours, theirs = (np.sort_complex(np.round(x, 6)) for x in (proof.closed.poles, design.poles))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert proof.ok
    assert all(mode.known for mode in proof.modes)


def test_modes_left_out_and_runs(design):
    proof = art.control.check(
        link(4), design, deviations=[0.3, 0, 0, 0, 0], runs=8, limits={"u.motor": 0.2}, step=2e-4
    )
    assert [mode.known for mode in proof.modes] == [True, False, False, False]
    frequencies = [abs(mode.before) for mode in proof.modes]
    np.testing.assert_allclose(
        frequencies[0], 37.06, rtol=2e-3
    )  # pinned-free beam: 15.418 sqrt(EI / (m L^4))
    assert proof.ok, str(proof)
    assert proof.runs.q.shape[0] == 8
    assert "not in the design" in str(proof)


# the loop is unstable on purpose: the link bends without bound
@pytest.mark.filterwarnings("ignore:(?s).*over its (length|first frequency)")
def test_a_slow_computer_is_found_out(design):
    """Sampled every 2 ms with a period of delay the third mode is driven; linear model and runs say so alike."""
    proof = art.control.check(
        link(4), design, period=0.002, delay=1, deviations=[0.01, 0, 0, 0, 0], runs=4, t_end=0.5
    )
    assert not proof.ok
    failed = {check.what for check in proof.checks if not check.passed}
    assert any("poles" in what for what in failed)
    assert any("left out" in what for what in failed)
    assert any("come back" in what for what in failed)


def test_an_operating_point_that_is_none_is_doubted():
    arm = art.load("two_link")
    design = art.control.lqr(arm.linearize(q=[0.4, 0.2]), 1.0, 1.0)
    proof = art.control.check(arm, design, q=[0.4, 0.2])  # the torques that hold the arm are found
    assert proof.checks[0].passed
    with pytest.warns(DoubtfulResult, match="does not rest"):
        art.control.check(arm, design, q=[0.4, 0.2], u0=0.0)


def test_mu_of_uncertain_parameters():
    """A rod that stands on its hinge falls when m g l/2 is more than the stiffness of the controller, whatever the damping."""
    rod = art.Mechanism("rod").body("rod", art.Parameter("mass", 2.0), (0, 0, 0.5), (0.2, 0.2, 0.01))
    rod.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")
    design = art.control.lqr(rod.linearize(), [10.0, 1.0], 1.0)
    critical = -float(design.controller.D[0, 0]) / (-rod.gravity_vector[2] * 0.5)
    for high, robust in ((0.9 * critical, True), (1.1 * critical, False)):
        proof = art.control.check(rod, design, uncertain={"mass": (1.0, high)})
        (check,) = (c for c in proof.checks if c.what == "mu over the ranges of mass")
        # the bound is searched to 1e-3
        assert check.found == pytest.approx(0.5 * (high - 1) / (critical - 0.5 * (high + 1)), rel=3e-3)
        assert check.passed == robust
        assert proof.robust.worst["mass"] == pytest.approx(critical, rel=3e-3)
    proof = art.control.check(rod, design, uncertain={"mass": (1.0, 1.5)}, deviations=0.01, runs=4, t_end=0.5)
    assert len(set(proof.runs.parameters[0].value)) == 4
    proof = art.control.check(rod, design, uncertain={"mass": (1.1 * critical, 2 * critical)})
    assert proof.robust is None
    assert not proof.ok


def test_runs_with_a_step_too_long_for_the_loop_are_doubted():
    arm = art.load("two_link")
    design = art.control.synthesis.decoupling_pd(arm.linearize(q=[0.4, 0.2]), frequency=4000.0)
    with pytest.warns(
        DoubtfulResult, match=r"step of the runs, 0\.001 s, is too long for the fastest pole, 4000 rad/s"
    ):
        art.control.check(arm, design, q=[0.4, 0.2], deviations=1e-3, runs=1, t_end=0.2)


def test_delays_and_periods():
    law = of_matrices([[0.5]], [[1.0]], [[1.0]], [[2.0]], 0.1)
    omega = np.array([1.0, 7.0])
    z = np.exp(1j * omega * 0.1)
    np.testing.assert_allclose(
        late(law, 2).response(omega)[:, 0, 0], law.response(omega)[:, 0, 0] / z**2, rtol=1e-12
    )
    with pytest.raises(InputError, match="delay without a sampling period"):
        art.control.check(
            link(2),
            of_matrices([[-1.0]], [[1.0]], [[1.0]], inputs=["encoder.q"], outputs=["u.motor"]),
            delay=1,
        )


def test_regulator_of_a_free_body_holds_any_attitude():
    """The linear model has small turns and shifts in the body's axes: so has the component, from the attitude of the design."""
    hull = art.Mechanism("hull", gravity=(0, 0, 0))
    hull.body("hull", mass=3.0, inertia=(0.2, 0.3, 0.4))
    hull.joint("flight", art.Free(), "ground", "hull")
    turned = hull.q(flight=(np.cos(0.6), 0.0, np.sin(0.6), 0.0, 0.3, 0.0, -1.0))
    design = art.control.lqr(hull.linearize(q=turned), 10.0, 1.0)
    proof = art.control.check(hull, design, q=turned, deviations=0.1, runs=2)
    ours, theirs = (np.sort_complex(np.round(x, 6)) for x in (proof.closed.poles, design.poles))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert proof.ok, str(proof)
    with pytest.raises(InputError, match=r"q0: found 3 numbers; expected 7"):
        art.simulate(hull, 0.1, components=[design.component(q0=[0, 0, 0])])


def test_one_motor_holds_and_brings_back_a_mechanism_with_closed_loops():
    """The torque of the one motor that holds the weight of all links is found, and starts are moved onto the loops."""
    bars = art.load("n_four_bar", n=1)
    design = art.control.lqr(bars.linearize(), 10.0, 1.0, commands=("tau.hinge0",))
    proof = art.control.check(bars, design, deviations=0.05, runs=2)
    assert proof.ok, str(proof)


def test_a_loop_is_held_by_the_commands_that_trim_finds() -> None:
    """A rod under gravity with a motor and an encoder: no u0 is given, the motor carries m g l / 2 cos(q) and runs come back."""
    rod = art.Mechanism("rod", gravity=(0, -9.81, 0)).body("rod", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    rod.joint("hinge", art.Revolute((0, 0, 1)), "ground", "rod", damping=0.1)
    parts = [art.components.JointSensor(name="encoder"), art.components.Torque("hinge", name="motor")]
    loop = art.Loop(rod, components=parts)
    design = art.control.lqg(loop.trim([0.4]).linearize(("u",), ("encoder.q",)), 10.0, 0.1, 1.0, 1e-6)
    proof = art.control.check(loop, design, q=[0.4], deviations=0.05, runs=4, t_end=8.0)
    assert proof.checks[0].passed  # stable
    assert proof.checks[-1].passed  # all runs come back; margins are no matter of the operating point
    held = proof.loop.components[-1]
    assert held.u0[0] == pytest.approx(9.81 / 2 * np.cos(0.4))


def test_margins_beside_poles_at_zero_are_not_judged_and_the_states_are_named():
    """A good loop beside an axis that nothing holds: no FAIL beside numbers that satisfy their bounds."""
    from articulus.control import margins
    from articulus.control.plant import of_matrices
    from articulus.control.proof.check import _linear_checks

    A = np.diag([-1.0, 0.0])
    closed = of_matrices(A, np.eye(2), np.eye(2), states=("q.arm", "q.base.wx"))
    found = margins(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]))
    first, *rest = _linear_checks(closed, found, 2.0, 0.5, 2.0)
    assert str(first).startswith("FAIL largest real part")
    for check in rest:
        assert not check.passed
        assert str(check).endswith("not judged: poles at 0 in q.base.wx")


def slider(**sensor):
    """A mass of 2 kg on a rail, with an encoder and a controller of its position and speed."""
    cart = art.Mechanism("cart", gravity=(0, 0, 0))
    cart.body("mass", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    cart.joint("rail", art.Prismatic((1, 0, 0)), "ground", "mass")
    encoder = c.JointSensor(("rail",), name="encoder")
    law = c.LinearController(
        D=[[-40.0, -8.0]],
        measured=("encoder.q", "encoder.v"),
        commands=("force",),
        name="controller",
    )
    parts = [c.Measured(encoder, **sensor) if sensor else encoder, c.Torque("rail", name="force"), law]
    return art.Loop(cart, components=parts)


def test_a_sensor_that_rounds_has_margins_and_is_named():
    """The slope of a staircase is zero: there were no margins, for a reason that was none. With a gain of one: those without rounding."""
    plain = art.control.run_margins(slider().simulate(0.5, [0.1], step=1e-3))
    found = art.control.run_margins(slider(resolution=1e-4).simulate(0.5, [0.1], step=1e-3))
    assert "'encoder' (resolution 0.0001) counts as a gain of one" in found.note
    assert plain.note.count("rounding") == 0
    for ours, theirs in zip(found.margins.channels, plain.margins.channels):
        assert ours.phase == pytest.approx(theirs.phase, rel=1e-9)
        assert ours.delay == pytest.approx(theirs.delay, rel=1e-9)
    # one channel rounds, the other does not: the loop has a gain, but not that of the controller
    half = art.control.run_margins(slider(resolution=[1e-4, 0.0]).simulate(0.5, [0.1], step=1e-3))
    assert half.margins.channels[0].phase == pytest.approx(plain.margins.channels[0].phase, rel=1e-9)
    varied = slider(resolution=art.Parameter("step", 1e-4)).simulate(0.5, [0.1], step=1e-3)
    assert art.control.run_margins(varied).margins.channels[0].delay == pytest.approx(
        plain.margins.channels[0].delay, rel=1e-9
    )


def test_check_of_a_loop_whose_sensor_rounds(design):
    loop = link(2)
    parts = [c.Measured(p, resolution=1e-4) if p.name == "encoder" else p for p in loop.components]
    rounds = art.control.check(art.Loop(loop.mechanism, components=parts), design)
    smooth = art.control.check(loop, design)
    assert rounds.ok, str(rounds)
    np.testing.assert_allclose(
        np.sort_complex(rounds.closed.poles), np.sort_complex(smooth.closed.poles), rtol=1e-6
    )


def test_tables_in_html_say_what_was_not_judged():
    from articulus.control import Check
    from articulus.control.proof.check import Proof

    rows = (
        Check("a", 1.0, 2.0, False, "poles at 0 in <x>"),
        Check("b", 1.0, 2.0, False),
        Check("c", 1.0, 2.0, True),
    )
    text = Proof(rows, None, None, None, ())._repr_html_()
    assert "not judged: poles at 0 in &lt;x&gt;" in text
    assert text.count("fails") == 1
