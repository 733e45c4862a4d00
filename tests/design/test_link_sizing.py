"""Link sizes: stress, deflection and frequency against formulas of their own, and limits that an optimization keeps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import articulus as art
from articulus.design import RoundLink, optimize
from articulus.errors import InputError
from articulus.simulation.gradients import Final
from articulus.simulation.loop.components import PD

LINK = RoundLink(1.2, hollow=0.8)


@pytest.mark.parametrize("payload", [0.0, 0.1, 1.0, 10.0, 1000.0])
def test_frequency_is_that_of_the_beam(payload: float) -> None:
    """1 + cos x cosh x + m x (cos x sinh x - sin x cosh x) = 0, m the payload over the bar's mass."""
    R = 0.03
    m = payload / LINK.mass(R)
    root = scipy.optimize.brentq(
        lambda x: 1 + np.cos(x) * np.cosh(x) + m * x * (np.cos(x) * np.sinh(x) - np.sin(x) * np.cosh(x)),
        0.05,
        2.0,
    )
    exact = root**2 * np.sqrt(LINK.bending_stiffness(R) / (LINK.mass(R) / 1.2 * 1.2**4))
    assert LINK.frequency(R, payload) == pytest.approx(exact, rel=1e-12 if payload == 0 else 0.015)


def test_radii_just_meet_their_limit() -> None:
    assert LINK.stress(LINK.strength_radius(300.0, 2.0), 300.0) == pytest.approx(200e6 / 2)
    assert LINK.deflection(LINK.stiffness_radius(50.0, 1e-3), 50.0) == pytest.approx(1e-3)
    R = LINK.bandwidth_radius(20.0, 5.0)
    assert LINK.frequency(R, 5.0) / 3 == pytest.approx(20.0)
    solid = RoundLink(1.0)
    assert solid.stress(0.02, 100.0) == pytest.approx(100.0 * 0.02 / (np.pi * 0.02**4 / 4))  # M R / I


def test_an_optimization_keeps_them() -> None:
    """The lightest link under three limits has the largest of the three radii."""
    radius = art.Parameter("radius", 0.05, range=(0.005, 0.2))
    m = art.Mechanism("arm").body("link", mass=1.0, com=(0.6, 0, 0), inertia=(0.01, 0.1, 0.1))
    m.joint("lift", art.Revolute(axis=(0, 1, 0)), "ground", "link", armature=radius)
    loop = art.Loop(m, PD(kp=10.0, kd=2.0, target=0.1))
    limits = LINK.limits(
        lambda s: s.p["radius"], moment=300.0, force=50.0, deflection=1e-3, crossover=20.0, payload=5.0
    )
    found = optimize(
        loop,
        {"radius": (0.005, 0.2)},
        Final(lambda s: LINK.mass(s.p["radius"])),
        limits,
        t_end=0.1,
        step=1e-2,
    )
    least = [LINK.strength_radius(300.0), LINK.stiffness_radius(50.0, 1e-3), LINK.bandwidth_radius(20.0, 5.0)]
    assert found.x[0] == pytest.approx(max(least), rel=1e-5)
    assert found.active == (["strength", "stiffness", "bandwidth"][int(np.argmax(least))],)


def test_refusals() -> None:
    with pytest.raises(InputError, match="positive numbers"):
        RoundLink(-1.0)
    with pytest.raises(InputError, match="expected both"):
        LINK.limits(lambda s: s.p["r"], force=3.0)
