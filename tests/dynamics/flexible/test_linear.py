"""Linear models of flexible mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus import structure
from flexible_zoo import stencil

BEAM = structure.beam_body(1.2, EI=80.0, mass_per_length=0.7, modes=3, planes="y", damping=0.02)
EXACT = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2 * np.sqrt(80.0 / 0.7) / 1.2**2
"""Clamped-free frequencies of the beam [rad/s], from the roots of cos x cosh x = -1."""


def hub(joint: art.Joint, stiffness: float = 0.0) -> art.Mechanism:
    m = art.Mechanism("hub", gravity=(0, 0, 0))
    m.body("hub", mass=2.0, inertia=(0.1, 0.1, 0.1)).flexible("beam", BEAM)
    springs = {"stiffness": stiffness} if stiffness else {}
    m.joint("turn", joint, parent="ground", child="hub", **springs)
    m.joint("clamp", art.Fixed(), parent="hub", child="beam")
    return m


def test_poles_with_the_joint_locked_are_the_structural_frequencies() -> None:
    model = hub(art.Fixed()).linearize(q=np.zeros(3), v=np.zeros(3))
    assert model.states[:3] == ("q.beam.y1", "q.beam.y2", "q.beam.y3")
    poles = model.poles
    frequency, ratio = np.sort(np.abs(poles))[::2], -poles.real / np.abs(poles)
    # frequencies of Hermite elements converge with (x / elements)^4 / 1440 from above: 4e-5 at x = 7.85 with 16 elements
    np.testing.assert_allclose(frequency, EXACT, rtol=6e-5)
    np.testing.assert_allclose(ratio, 0.02, rtol=1e-8)


def test_poles_with_a_free_joint() -> None:
    """M of hub and beam by hand: I = hub + beam, couplings F_k = int x phi_k dm; the rigid pole is double and zero."""
    m = hub(art.Revolute(axis=(0, 0, 1)))
    model = m.linearize(q=np.zeros(4), v=np.zeros(4))
    inertia = 0.1 + 0.7 * 1.2**3 / 3
    M = np.block([[np.array([[inertia]]), BEAM.rf0[2:3]], [BEAM.rf0[2:3].T, BEAM.ff]])
    squares = np.linalg.eigvals(
        np.linalg.solve(M, np.block([[np.zeros((1, 4))], [np.zeros((3, 1)), BEAM.stiffness]]))
    )
    expected = np.sort(np.sqrt(np.abs(squares)))[1:]
    frequency = np.sort(np.abs(model.poles))
    assert (frequency[:2] < 1e-3).all()
    np.testing.assert_allclose(frequency[2::2], expected, rtol=2e-3)  # 2 % damping shifts free poles by 1e-3
    assert model.inputs == ("tau.turn", "tau.beam.y1", "tau.beam.y2", "tau.beam.y3")


@pytest.mark.filterwarnings("ignore:(?s).*over its (length|first frequency)")  # states that bend bodies far
def test_linear_model_is_the_derivative() -> None:
    m = hub(art.Revolute(axis=(0, 0, 1)), stiffness=5.0)
    rng = np.random.default_rng(2)
    q, v, u = 0.1 * rng.normal(size=4), rng.normal(size=4), rng.normal(size=4)
    model = m.linearize(q=q, v=v, tau=u)
    f = m.function("forward_dynamics")
    by_q = [stencil(lambda t, e=e: np.array(f(q + t * e, v, u)).ravel()) for e in np.eye(4)]
    np.testing.assert_allclose(
        model.A[4:, :4], np.array(by_q).T, rtol=1e-7, atol=1e-7 * np.abs(model.A).max()
    )
