"""Base parameters: what joint forces can tell of the inertias."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.design import base_parameters
from articulus.design.regression import Regression
from articulus.errors import InputError, UnsupportedOperation


@pytest.mark.parametrize(("model", "count"), [("puma600", 36), ("rrc7", 43), ("two_link", 6)])
def test_counts_of_known_arms(model: str, count: int) -> None:
    """36 of a PUMA (Gautier & Khalil 1990) and 43 of a general arm of seven revolutes, first axis vertical; 6 of a double pendulum."""
    assert len(base_parameters(art.load(model))) == count


def test_double_pendulum_by_hand() -> None:
    """The mass of the second link joins the first moment and the moment of inertia of the first at the joint, 2 m away."""
    base = base_parameters(art.load("two_link"))
    assert base.base_names[1:3] == ("link1.hz - 2 link2.m", "link1.Jyy + 4 link2.m")
    assert {"link1.m", "link1.hy", "link2.Jxx"} <= set(base.unseen)


def test_forces_are_those_of_the_base_parameters() -> None:
    """Y phi = Y[:, independent] K phi at states that were not used; null directions change no force."""
    arm = art.load("puma600")
    terms = ("armature", "damping", "coulomb", "offset")
    base, regression = base_parameters(arm, terms), Regression(arm, terms)
    random = np.random.default_rng(5)
    q, v, vdot = random.normal(size=(3, 40, arm.nv))
    Y = regression.matrix(q, v, vdot)
    phi = random.normal(size=len(base.names))
    tau = Y @ phi
    np.testing.assert_allclose(Y[..., base.independent] @ base.of(phi), tau, atol=1e-9 * abs(tau).max())
    N = base.null_space
    assert N.shape == (len(base.names), len(base.names) - len(base))
    assert abs(Y @ N).max() < 1e-9 * abs(Y).max()


def test_forces_of_the_model_itself() -> None:
    """Known forces (springs, rotors) and Y phi add up to inverse dynamics; a motor's inertia joins the link's where they turn as one."""
    arm = (
        art.Mechanism("spring arm")
        .body("link", mass=2.0, com=(0.3, 0.0, 0.1), inertia=(0.1, 0.2, 0.25))
        .joint(
            "hinge",
            art.Revolute(axis=(0, 1, 0)),
            "ground",
            "link",
            stiffness=3.0,
            damping=0.4,
            coulomb=0.2,
            armature=0.05,
        )
    )
    regression = Regression(arm, ("damping", "armature"))
    q, v, vdot = np.random.default_rng(1).normal(size=(3, 9, 1))
    tau = regression.matrix(q, v, vdot) @ regression.values() + regression.known(q, v, vdot)
    np.testing.assert_allclose(tau, arm.inverse_dynamics(q, v, vdot), rtol=1e-12)
    np.testing.assert_allclose(
        regression.known(q, v, vdot), 3.0 * q + 0.2 * v / np.hypot(v, 1e-3), atol=1e-12
    )
    assert "link.Jyy + hinge.armature" in base_parameters(arm, "armature").base_names


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_scales(size: float) -> None:
    """The same arm of micrometres and of kilometres has as many base parameters."""
    arm = art.load("puma600").with_scale(length=size)
    assert len(base_parameters(arm)) == 36


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"terms: found 'viscous'; expected some of armature, damping"):
        base_parameters(art.load("two_link"), "viscous")
    with pytest.raises(UnsupportedOperation, match="closed loops"):
        base_parameters(art.load("n_four_bar"))
    with pytest.raises(UnsupportedOperation, match="flexible bodies"):
        base_parameters(art.load("king_arm"))
