"""Inversions as motions: derivatives, inverse dynamics of rigid arms, replay by `simulate`, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.inversion import (
    Inversion,
    Line,
    Profile,
    invert,
    load_inversion,
    mechanism_system,
    stable_inversion,
    tip_torques,
)


@pytest.fixture(scope="module")
def rigid() -> Inversion:
    """Return the forces that move the tip of a rigid arm of two links along a line."""
    arm = art.load("two_link")
    q0 = np.array([0.4, 1.1])
    begin = arm.pose("tip", q0)[:3, 3]
    axes = [k for k in range(3) if np.abs(arm.jacobian("tip", q0)[3 + k]).max() > 1e-9]
    path = Line(begin[axes], begin[axes] + [-0.2, 0.15], Profile(1.0))
    return tip_torques(
        arm, "tip", path, actuators=arm.joint_names, outputs=["xyz"[k] for k in axes], guess=q0, step=2e-3
    )


def test_forces_of_a_rigid_arm_are_inverse_dynamics(rigid: Inversion) -> None:
    """1e-8 of the largest force: what Newton's method leaves."""
    q, v, vdot, tau = rigid.at(rigid.t)
    expected = rigid.mechanism.inverse_dynamics(q, v, vdot)
    assert np.abs(tau - expected).max() < 1e-8 * np.abs(tau).max()
    assert rigid.ok


def test_derivatives_fit(rigid: Inversion) -> None:
    """Samples of velocities are the slopes of the positions, and accelerations those of the velocities; differences of second order over 2 ms."""
    q, v, vdot, _ = rigid.at(rigid.t)
    assert q == pytest.approx(rigid.q, abs=1e-12)
    assert np.abs(np.gradient(q, rigid.t, axis=0) - v)[1:-1].max() < 1e-4 * np.abs(v).max()
    assert np.abs(np.gradient(v, rigid.t, axis=0) - vdot)[1:-1].max() < 1e-3 * np.abs(vdot).max()


def test_simulation_comes_back(rigid: Inversion) -> None:
    """With the forces alone, and with feedback from a start that is off."""
    run = rigid.run(track=False)
    expected = rigid.at(rigid.t[0] + run.t).q
    assert np.abs(run.q - expected).max() < 1e-5
    off = rigid.run(q0=rigid.q[0] + 0.01)
    assert np.abs(off.q[-1] - rigid.q[-1]).max() < 1e-3


def test_saved_and_loaded_are_equal(rigid: Inversion, tmp_path: Path) -> None:
    rigid.save(tmp_path / "tip.nc")
    same = load_inversion(tmp_path / "tip.nc")
    for name in ("t", "inputs", "outputs", "states"):
        assert np.array_equal(getattr(same, name), getattr(rigid, name))
    for name in ("method", "input_names", "output_units", "t0", "t_end", "zero_order_hold", "checks"):
        assert getattr(same, name) == getattr(rigid, name)
    assert np.array_equal(same.figures["zeros"], rigid.figures["zeros"])
    assert same.figures["force_error"] == rigid.figures["force_error"]
    assert np.array_equal(same.at(0.3).q, rigid.at(0.3).q)


def test_stable_inversion_of_a_mechanism_is_a_motion_of_it() -> None:
    """A joint that is driven along a profile: the forces are those of inverse dynamics."""
    arm = art.load("two_link")
    system = mechanism_system(arm, arm.joint_names, [f"q.{n}" for n in arm.q_names])
    path = Line((0.0, 0.0), (0.5, -0.4), Profile(1.0))
    found = stable_inversion(system, path)
    q, v, vdot, tau = found.at(found.t)
    assert np.abs(tau - arm.inverse_dynamics(q, v, vdot)).max() < 1e-6 * np.abs(tau).max()
    assert np.abs(found.run(track=False).q[-1] - found.q[-1]).max() < 1e-4


def test_linear_models_have_inputs_but_no_mechanism(tmp_path: Path) -> None:
    from articulus.linear import LinearModel

    A, B, C = np.array([[0.0, 1.0], [-4.0, -0.2]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
    model = LinearModel(A, B, C, np.zeros((1, 1)), ("x", "v"), ("f",), ("y",), ("N",), ("m",))
    found = invert(model, Profile(1.0))
    with pytest.raises(InputError, match="components"):
        found.run()
    found.save(tmp_path / "linear.nc")
    assert np.array_equal(load_inversion(tmp_path / "linear.nc").inputs, found.inputs)
