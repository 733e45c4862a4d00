"""Closed loops on flexible bodies against the equations solved as one dense system."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from flexible_zoo import random_modes, state, stencil
from zoo import ask


def closed(level: str = "consistent") -> art.Mechanism:
    """Return two flexible branches on a flexible trunk whose ends are pinned together, and a rod to the ground."""
    rng = np.random.default_rng(9)
    m = art.Mechanism("closed")
    for name in ("trunk", "left", "right"):
        m.flexible(name, random_modes(rng, 2, level))
    m.joint("root", art.Universal(), parent="ground", child="trunk")
    m.joint("a", art.Spherical(), parent="trunk", child="left", node="s0", at=(0.1, 0, 0))
    m.joint(
        "b", art.Cylindrical(axis=(0, 1, 0)), parent="trunk", child="right", node="s1", child_at=(0, 0.2, 0)
    )
    m.frame("end_left", "left", at=(0.1, 0, 0), node="s0").frame("end_right", "right", node="s1")
    m.loop("pin", art.Universal(), parent="end_left", child="end_right")
    m.constrain(art.Distance("rod", "end_right", "ground", length=0.3))
    return m


@pytest.mark.parametrize("level", ["consistent", "ruthless"])
def test_accelerations_are_those_of_the_dense_system(level: str) -> None:
    """M vdot + G' lambda = tau - bias, G vdot + gamma = 0, solved by NumPy; G and gamma are differences of the residual.

    Differences of order four with steps of 1e-3 err by 1e-10 here, their second use by 1e-7 of what they differ.
    """
    m = closed(level)
    s = state(m, 3, bend=0.1)
    residual = lambda d: ask(m, "constraint_residual", ask(m, "integrate_position", s.q, d), 0.0).ravel()  # noqa: E731
    G = ask(m, "constraint_jacobian", s.q, 0.0)
    expected = np.array([stencil(lambda t, e=e: residual(t * e)) for e in np.eye(m.nv)]).T
    np.testing.assert_allclose(G, expected, atol=1e-8)
    moved = lambda t: ask(m, "integrate_position", s.q, t * s.v)  # noqa: E731
    np.testing.assert_allclose(ask(m, "constraint_rate", s.q, s.v, 0.0).ravel(), G @ s.v, atol=1e-12)
    gamma = stencil(lambda t: ask(m, "constraint_jacobian", moved(t), 0.0) @ s.v)
    rows = np.zeros((len(G), len(G)))
    M, bias = ask(m, "mass_matrix", s.q), ask(m, "bias", s.q, s.v)
    solution = np.linalg.solve(np.block([[M, G.T], [G, rows]]), np.r_[s.tau - bias, -gamma])
    vdot, multipliers = (np.ravel(x) for x in ask(m, "closed_dynamics", s.q, s.v, s.tau, 0.0))
    np.testing.assert_allclose(np.r_[vdot, multipliers], solution, atol=1e-7 * np.abs(solution).max())
