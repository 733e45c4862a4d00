"""Joint control of flexible arms at two sampling rates: slow computed torque of straight links, fast feedback of the deflection."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.tracking import joint_control
from articulus.simulation.loop.components import ComputedTorque, DeflectionFeedback, JointSensor
from articulus.structure import beam_body
from articulus.study import parse_study

START = {"shoulder": 0.3, "elbow": -0.8}


def arm_of(EI: float = 3000.0) -> art.Mechanism:
    """Return two links with hubs in a vertical plane, one mode each."""
    out = art.Mechanism("arm", gravity=(0, 0, -9.81))
    for k, (tip_mass, rotor) in enumerate(((0.5, 1.5), (0.3, 0.3)), 1):
        out.body(f"hub{k}", mass=0.5, com=(0, 0, 0), inertia=(rotor,) * 3)
        held = beam_body(
            1.0, EI=EI, mass_per_length=0.5, modes=1, planes="z", tip_mass=tip_mass, damping=0.005
        )
        out.flexible(f"link{k}", held)
    out.joint("shoulder", art.Revolute((0, -1, 0)), "ground", "hub1").joint(
        "root1", art.Fixed(), "hub1", "link1"
    )
    out.joint("elbow", art.Revolute((0, -1, 0)), "link1", "hub2", node="tip")
    return out.joint("root2", art.Fixed(), "hub2", "link2")


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return arm_of()


def test_the_slow_part_is_computed_torque_of_straight_links(arm: art.Mechanism) -> None:
    """Against inverse dynamics of the whole arm without deflections; what is left on the modes is held by the stiffness."""
    law = ComputedTorque((20.0, 30.0), (4.0, 5.0), (0.1, -0.2), rigid=True)
    joints = [arm.v_slice(j).start for j in ("shoulder", "elbow")]
    modes = [k for k in range(arm.nv) if k not in joints]
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, arm.nv))
    q[modes] *= 1e-3
    run = art.Loop(arm, law).simulate(1e-5, q, v, step=1e-5)
    straight, speed, vdot = q.copy(), v.copy(), np.zeros(arm.nv)
    straight[modes] = speed[modes] = 0.0
    vdot[joints] = np.array([20, 30]) * (np.array([0.1, -0.2]) - q[joints]) - np.array([4, 5]) * v[joints]
    force = arm.inverse_dynamics(straight, speed, vdot)
    np.testing.assert_allclose(run["u"][0, joints], force[joints], rtol=1e-12)
    assert not run["u"][0, modes].any()
    stiffness = [b.modes.stiffness[0, 0] for b in arm.description.bodies if b.modes is not None]
    np.testing.assert_allclose(
        run["computed_torque.deflection"][0], -force[modes] / np.array(stiffness), rtol=1e-12
    )


def test_it_knows_no_more_than_encoders_tell(arm: art.Mechanism) -> None:
    law = {"kp": 20.0, "kd": 4.0, "target": (0.1, -0.2), "rigid": True}
    q, v = 0.1 * np.arange(1.0, 5.0), np.array([0.3, 0.2, -0.5, 0.1])
    seen = [
        JointSensor(joints=("shoulder", "elbow")),
        ComputedTorque(**law, measured=("joints.q", "joints.v")),
    ]
    runs = [
        art.Loop(arm, components=c).simulate(1e-5, q * 1e-2, v, step=1e-5)
        for c in (seen, [ComputedTorque(**law)])
    ]
    np.testing.assert_allclose(runs[0]["u"][0], runs[1]["u"][0], rtol=1e-12)


def test_the_fast_part_damps_what_the_slow_part_leaves(arm: art.Mechanism) -> None:
    """Two periods, under gravity: the vibration decays faster, and the arm rests where it was asked to."""
    design = joint_control(arm, at=[START, {"shoulder": 0.9, "elbow": -0.4}], slow=0.01, fast=0.002)
    assert design.ok
    assert design.gains.shape == (2, 2, 4)
    assert "slow and fast part" in str(design)
    target = tuple(design.positions[0][[arm.q_slice(j).start for j in ("shoulder", "elbow")]])
    parts = design.components(target, slow=0.01, fast=0.002)
    alone = art.Loop(arm, components=parts[:1]).linearize(design.positions[0], step=0.01, trimmed=True).poles
    both = design.poles(0.01, 0.002)
    swing = [-p[np.abs(p.imag) > 30].real.max() for p in (alone, both)]
    assert swing[1] > 1.3 * swing[0]
    run = art.simulate(arm, 1.5, q0=design.positions[0], components=parts, step=1e-3, outputs=[])
    np.testing.assert_allclose(run.q[-1], design.positions[0], atol=2e-3)  # no integral: held a little lower


def test_a_study_holds_both_parts(tmp_path) -> None:
    """The same loop from two components of a study file, at 50 and 100 Hz."""
    arm = art.Mechanism("link", gravity=(0, 0, 0))
    arm.flexible(
        "link",
        beam_body(1.0, EI=1000.0, mass_per_length=1.0, modes=1, planes="y", tip_mass=2.0, damping=0.03),
    )
    arm.joint("q", art.Revolute((0, 0, 1)), "ground", "link")
    arm.save(tmp_path / "link.toml")
    design = joint_control(arm, at=np.zeros(2), slow=0.02, fast=0.01)
    text = f"""
        schema = 1
        [study]
        name = "two_rates"
        model = "link.toml"
        [[component]]
        type = "computed_torque"
        kp = 100.0
        kd = 20.0
        target = 0.1
        rigid = true
        period = "20 ms"
        [[component]]
        type = "deflection_feedback"
        gain = {design.gains[0].tolist()}
        reference = "computed_torque.deflection"
        period = "10 ms"
        [run]
        t_end = "0.2 s"
        step = "1 ms"
    """
    study = parse_study(text, str(tmp_path / "study.toml"), folder=tmp_path)
    run = study.loop.run(study.settings)
    own = art.simulate(arm, 0.2, components=design.components((0.1,), slow=0.02, fast=0.01), step=1e-3)
    np.testing.assert_allclose(run.q[-1], own.q[-1], rtol=1e-12)


def test_refusals(arm: art.Mechanism) -> None:
    with pytest.raises(InputError, match="an open arm with flexible bodies and joints"):
        joint_control(art.load("two_link"), at=np.zeros(2))
    with pytest.raises(NumericalError, match="lower kp and kd, or sample faster"):
        joint_control(arm, at=START, kp=1e4, kd=200.0, slow=0.05, fast=0.05)
    design = joint_control(arm, at=START)
    with pytest.raises(InputError, match="one sampling period of two"):
        design.poles(0.01)
    with pytest.raises(InputError, match=r"joint_control: found sampling periods 0\.01 and 0\.003 s"):
        design.poles(0.01, 0.003)
    with pytest.raises(
        InputError, match=r"'two_link' without flexible bodies; expected an open arm with flexible"
    ):
        art.Loop(art.load("two_link"), ComputedTorque(1.0, 1.0, rigid=True)).linearize()
    with pytest.raises(InputError, match="with rigid = true; expected all joints"):
        art.Loop(arm, ComputedTorque(1.0, 1.0, joints="elbow", rigid=True)).linearize()
    loose = DeflectionFeedback(np.ones((2, 4)), reference="computed_torque.deflection")
    with pytest.raises(InputError, match=r"computed_torque\.deflection"):
        art.Loop(arm, components=[ComputedTorque(1.0, 1.0), loose]).linearize()
