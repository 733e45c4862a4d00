"""Runs in absolute coordinates: the motion of the standard equations to second order, whatever acts on the bodies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop.components import Expression, FrameWrench, GroundContact, ProofMass
from articulus.simulation.loop.table import Table

END, STEPS = 0.2, (0.01, 0.005, 0.0025)
METHOD = "absolute_sdirk"


def hanging(damping: float = 0.1, mass: float | art.Parameter = 1.3) -> art.Mechanism:
    """Return four bodies on ball joints, the last two on the second."""
    rng = np.random.default_rng(3)
    m = art.Mechanism("hanging")
    for i, parent in enumerate(("ground", "body0", "body1", "body1")):
        center, at, turn, tip = rng.uniform(-0.3, 0.3, (4, 3))
        m.body(f"body{i}", mass if i == 1 else 1 + 0.2 * i, tuple(center), (0.05, 0.06, 0.07))
        m.joint(
            f"ball{i}",
            art.Spherical(),
            parent,
            f"body{i}",
            art.Pose(tuple(2 * at), tuple(turn)),
            damping=(damping,) * 3,
        )
        m.frame(f"tip{i}", f"body{i}", at=tuple(tip))
    return m


def law(inputs: dict[str, int], of, **more) -> Expression:
    """Return a controller with the joint torques of a law."""
    symbols = [ca.SX.sym(name, size) for name, size in inputs.items()]
    return Expression(ca.Function("law", symbols, [of(*symbols)], list(inputs), ["u"]), **more)


LOOPS = {
    "free": [],
    "torques and a wrench": [
        FrameWrench("tip3", (1, 2, 3, 4, 5, 6)),
        law({"t": 1}, lambda t: ca.vertcat(*(1.5 * ca.sin(30 * t + i) for i in range(12)))),
    ],
    "sampled feedback": [law({"v": 12}, lambda v: -0.5 * v - v**3, period=0.01)],
    "contact": [GroundContact("tip2", stiffness=1e3, dissipation=0.1, friction=0.3, slip_speed=0.05)],
}


@pytest.fixture(scope="module")
def mechanism() -> art.Mechanism:
    return hanging()


@pytest.fixture(scope="module")
def start() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = rng.normal(size=(4, 4))
    return (q / np.linalg.norm(q, axis=1)[:, None]).ravel(), rng.normal(size=12)


@pytest.mark.parametrize("loop", LOOPS)
def test_second_order_against_the_standard_equations(mechanism, start, loop):
    """Velocities and energy balance: errors of a step of 10 ms are some percent at most, and fall by 4 with each halving.

    The force of the contact bends where it begins, so that two halvings together are looked at.
    """
    given = {"q0": start[0], "v0": start[1], "components": LOOPS[loop], "sample": 0.01}
    wanted = art.simulate(mechanism, END, method="dormand_prince", rtol=1e-10, atol=1e-10, step=0.01, **given)
    runs = [art.simulate(mechanism, END, method=METHOD, step=h, **given) for h in STEPS]
    errors = np.array(
        [[np.abs(run.v[-1] - wanted.v[-1]).max(), np.abs(run["energy.balance"]).max()] for run in runs]
    )
    assert (errors[0] < 0.03).all()
    assert (np.abs(np.log2(errors[0] / errors[2]) / 2 - 2) < 0.2).all()
    assert np.abs(np.linalg.norm(runs[0].q.reshape(-1, 4), axis=1) - 1).max() < 1e-14


def test_stiff_friction_does_not_shorten_the_step(start):
    """Time constants of 0.5 ms and steps of 10 ms; rk4 needs steps of about 1 ms to be stable."""
    m, (q, v) = hanging(damping=100.0), start
    wanted = art.simulate(m, END, q, v, method="rosenbrock", rtol=1e-9, atol=1e-9, outputs=())
    with pytest.warns(
        art.errors.DoubtfulResult, match="energy balance"
    ):  # what the first step dissipates is not resolved
        run = art.simulate(m, END, q, v, method=METHOD, step=0.01)
    np.testing.assert_allclose(run.v[-1], wanted.v[-1], atol=1e-4)
    np.testing.assert_allclose(run.q[-1], wanted.q[-1], atol=1e-4)


def test_parameters_and_batches(start):
    """Each row of a batch is the single run with its parameter as a number, to the accuracy of the iteration."""
    q, v = start
    masses = np.array([0.9, 1.7])
    batch = art.rollout(
        hanging(mass=art.Parameter("m", 1.3)), 0.05, q, v, params={"m": masses}, method=METHOD, step=0.005
    )
    for row, mass in enumerate(masses):
        single = art.simulate(hanging(mass=float(mass)), 0.05, q, v, method=METHOD, step=0.005, outputs=())
        np.testing.assert_allclose(batch.v[row, -1], single.v[-1], rtol=1e-7, atol=1e-8)
    assert np.abs(batch.v[0, -1] - batch.v[1, -1]).max() > 1e-3


def test_inputs_may_jump_between_steps(mechanism, start):
    """A torque that changes its sign at 0.1 s: still second order."""
    force = np.array([1.0, -2.0, 1.0, 5.0, 4.0, 3.0])
    switched = FrameWrench("tip3", Table((0.0, 0.1), (force, -force), hold=True))
    given = {"q0": start[0], "v0": start[1], "components": [switched], "outputs": (), "sample": END}
    wanted = art.simulate(mechanism, END, method="dormand_prince", rtol=1e-10, atol=1e-10, **given)
    errors = [
        np.abs(art.simulate(mechanism, END, method=METHOD, step=h, **given).v[-1] - wanted.v[-1]).max()
        for h in STEPS
    ]
    assert (np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2) < 0.2).all()


def test_other_mechanisms_are_refused_with_the_reason():
    with pytest.raises(
        art.InputError,
        match=f"method '{METHOD}' is for trees of rigid bodies on ball joints: joint 'joint1' is",
    ):
        art.simulate(art.load("two_link"), 0.1, method=METHOD)


def test_states_of_components_are_refused(mechanism):
    mass = ProofMass("tip0", mass=0.3)
    with pytest.raises(
        art.InputError, match=f"'{METHOD}' is for mechanisms alone.*component state 'tip0_proof_mass"
    ):
        art.simulate(mechanism, 0.1, method=METHOD, components=[mass, law({"t": 1}, lambda t: ca.sin(t))])
