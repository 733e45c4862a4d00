"""King's composite controller: slow computed torque of pseudolinks, fast feedback of the deflection."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.control import tzero
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.tracking import PseudolinkDesign, pseudolink
from articulus.simulation.loop.components import DeflectionFeedback, Pseudolink, Torque
from articulus.structure import beam_body

START = {"shoulder": 0.3, "elbow": -0.8}


def arm_of(payload: float) -> art.Mechanism:
    """Return two links in a vertical plane, one mode each."""
    out = art.Mechanism("arm", gravity=(0, 0, -9.81))
    for k, tip_mass in ((1, 0.5), (2, payload)):
        held = beam_body(1.0, EI=100.0, mass_per_length=0.5, modes=1, planes="z", tip_mass=tip_mass)
        out.flexible(f"link{k}", held)
    out.joint("shoulder", art.Revolute((0, -1, 0)), "ground", "link1")
    out.joint("elbow", art.Revolute((0, -1, 0)), "link1", "link2", node="tip")
    out.frame("end1", "link1", node="tip")
    return out.frame("tip", "link2", node="tip")


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return arm_of(0.3)


@pytest.fixture(scope="module")
def design(arm: art.Mechanism) -> PseudolinkDesign:
    return pseudolink(arm, "tip", at=START, weight=0.01)


def test_the_rigid_arm_has_its_tip_where_the_flexible_arm_has_it(
    arm: art.Mechanism, design: PseudolinkDesign
) -> None:
    straight = arm.positions(dict(zip(("shoulder", "elbow"), design.angles[0])))
    np.testing.assert_allclose(
        arm.pose("tip", straight)[:3, 3], arm.pose("tip", design.positions[0])[:3, 3], atol=1e-10
    )
    assert np.abs(design.positions[0][[1, 3]]).min() > 1e-3  # it sags


def test_zero_dynamics_are_the_zeros_between_joint_forces_and_tip(
    arm: art.Mechanism, design: PseudolinkDesign
) -> None:
    q = design.positions[0]
    model, J = arm.linearize(q), arm.jacobian("tip", q)[[3, 5]]
    C = np.hstack([J, np.zeros_like(J)])
    # about rest the place moves with J, and so does what holds it up: zeros of the linear model
    found = tzero((model.A, model.B[:, [0, 2]], C, np.zeros((2, 2)))).transmission
    assert len(found) == design.zeros.size
    for z in design.zeros[0]:
        assert np.abs(found - z).min() < 1e-6 * abs(z)
    assert design.zeros.real.max() > 10.0  # not stable without the fast part


def test_design_and_compiled_loop_have_the_same_poles(arm: art.Mechanism, design: PseudolinkDesign) -> None:
    slow, fast = design.components(tuple(design.angles[0]))
    whole = art.Loop(arm, components=[slow, fast]).linearize(design.positions[0]).poles
    np.testing.assert_allclose(np.sort_complex(whole), np.sort_complex(design.poles[0]), rtol=1e-5)
    alone = art.Loop(arm, components=[slow]).linearize(design.positions[0]).poles
    # pseudolinks obey e'' + kd e' + kp e = 0, double poles at -10, whatever the deflection does
    assert (np.abs(alone + 10.0) < 0.1).sum() == 4
    assert design.ok
    assert design.poles.real.max() < -5.0


def test_the_tip_follows(arm: art.Mechanism, design: PseudolinkDesign) -> None:
    """By another method and a finer step than any design knows of: the tip is that of the rigid arm on the target."""
    t = ca.SX.sym("t")
    s = ca.fmin(t, 1)
    begin, turn = design.angles[0], np.array([0.6, -0.5])
    target = ca.Function("target", [t], [ca.DM(begin) + ca.DM(turn) * s**3 * (10 - 15 * s + 6 * s**2)])
    motors = [Torque("shoulder"), Torque("elbow")]
    run = art.simulate(
        arm, 1.5, q0=design.positions[0], components=[*design.components(target), *motors], method="dormand_prince", rtol=1e-8
    )  # fmt: skip
    wanted = [
        arm.positions(dict(zip(("shoulder", "elbow"), np.array(target(x)).ravel()))) for x in run.t[::25]
    ]
    off = np.linalg.norm(
        arm.pose("tip", run.q[::25])[:, :3, 3] - arm.pose("tip", np.array(wanted))[:, :3, 3], axis=1
    )
    assert off.max() < 0.03  # links sag by 0.1 m
    assert off[-1] < 1e-3
    np.testing.assert_array_equal(run["tau"][:, [1, 3]], 0.0)  # nothing pushes the modes


def test_two_sampling_periods(design: PseudolinkDesign) -> None:
    """Exact poles of the sampled loop: those of the continuous one for short periods; not stable for long ones."""
    short = design.sampled_poles(2e-5, 2e-5)
    assert short.real.max() == pytest.approx(design.poles.real.max(), rel=2e-2)
    assert design.sampled_poles(0.01, 0.001).real.max() < 0
    assert design.sampled_poles(0.02, 0.02).real.max() > 0
    with pytest.raises(InputError, match="whole number of the other"):
        design.sampled_poles(0.01, 0.003)


def test_a_small_motion_with_two_periods_is_that_of_the_linear_model(
    arm: art.Mechanism, design: PseudolinkDesign
) -> None:
    """Three slow periods of a run with a small deviation against the transition matrix of the multirate loop."""
    slow, fast, size = 0.01, 0.002, 1e-6
    parts = design.components(tuple(design.angles[0]), slow=slow, fast=fast)
    model = art.Loop(arm, components=parts).linearize(design.positions[0], step=fast)
    away = size * np.array([1.0, -0.3, 0.5, 0.2])
    runs = [
        art.simulate(arm, 3 * slow, q0=q, components=parts, step=2e-4, outputs=[])
        for q in (design.positions[0], design.positions[0] + away)
    ]
    x = np.zeros(len(model.A))
    x[:4] = away
    for _ in range(3):
        x = model.A @ x
    assert model.states[:4] == tuple(f"q.{name}" for name in arm.v_names)
    np.testing.assert_allclose((runs[1].q - runs[0].q)[-1], x[:4], atol=1e-3 * np.abs(x[:4]).max())


def test_a_gain_for_a_sampling_period_and_for_the_nearest_configuration(arm: art.Mechanism) -> None:
    other = {"shoulder": 0.9, "elbow": -1.3}
    found = pseudolink(arm, ("end1", "tip"), at=[START, other], weight=0.01, fast=0.002)
    assert found.gains.shape == (2, 2, 4)
    assert found.ok
    parts = found.components(tuple(found.angles[1]), slow=0.002, fast=0.002)
    model = art.Loop(arm, components=parts).linearize(found.positions[1], step=0.002)
    assert model.poles.real.max() == pytest.approx(found.checks[1].found, rel=1e-6)


def test_a_controller_that_believes_in_a_lighter_payload(
    arm: art.Mechanism, design: PseudolinkDesign
) -> None:
    """It holds the arm, a little lower: the slow part has no integral."""
    lighter = arm_of(0.25)
    parts = design.components(tuple(design.angles[0]), model=lighter)
    assert (
        art.Loop(arm, components=parts).linearize(design.positions[0], trimmed=True).poles.real.max() < -5.0
    )
    run = art.simulate(
        arm, 1.0, q0=design.positions[0], components=parts, step=1e-3, outputs=["pseudolink.angles"]
    )
    off = run["pseudolink.angles"][-1] - design.angles[0]
    assert 1e-3 < np.abs(off).max() < 0.03
    assert arm.pose("tip", run.q[-1])[2, 3] < arm.pose("tip", design.positions[0])[2, 3]


def test_a_stretched_arm_needs_the_ends_of_its_links(arm: art.Mechanism) -> None:
    floating = art.Mechanism.from_description(dataclasses.replace(arm.description, gravity=(0.0, 0.0, 0.0)))
    with pytest.raises(InputError, match="do not determine all joints"):
        pseudolink(floating, "tip", at={"shoulder": 0.3, "elbow": 0.0})
    assert pseudolink(floating, ("end1", "tip"), at={"shoulder": 0.3, "elbow": 0.0}, weight=0.01).ok


def test_refusals(arm: art.Mechanism) -> None:
    with pytest.raises(InputError, match="an open arm with joints and flexible bodies"):
        pseudolink(art.load("two_link"), "tip", at=np.zeros(2))
    with pytest.raises(InputError, match="expected 1 or 2"):
        pseudolink(arm, ("tip", "tip", "tip"), at=START)
    with pytest.raises(NumericalError, match="lower kp and kd"):
        pseudolink(arm, "tip", at=START, kp=4e4, kd=400.0, weight=1e-8)
    with pytest.raises(InputError, match="names of frames or bodies"):
        art.Loop(arm, components=[Pseudolink("tipp", kp=1.0, kd=1.0)]).linearize()
    with pytest.raises(InputError, match="determine 1 of 2 joints"):
        art.Loop(arm, components=[Pseudolink("end1", kp=1.0, kd=1.0)]).linearize()
    with pytest.raises(InputError, match="2 x 4"):
        art.Loop(arm, components=[DeflectionFeedback(np.ones((2, 3)))]).linearize()
