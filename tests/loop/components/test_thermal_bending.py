"""A boom that sunlight bends, against closed forms of one mode."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import articulus as art
from articulus.simulation.loop import components as c
from articulus.structure import beam_body

EPOCH, FAR = "2025-03-20T09:01:00Z", (-1e7, 0.0, 0.0)
"""The Sun stands along x, and the boom is on that side of the Earth, whose center is at `FAR`."""
LENGTH, EI, RHO = 10.0, 500.0, 0.2
BODY = beam_body(LENGTH, EI=EI, mass_per_length=RHO, modes=1, planes="y", damping=None, elements=40)
BETA = 1.8751040687119611
OMEGA = BETA**2 / LENGTH**2 * np.sqrt(EI / RHO)
SIGMA = (np.cosh(BETA) + np.cos(BETA)) / (np.sinh(BETA) + np.sin(BETA))
TIP = (np.cosh(BETA) - np.cos(BETA) - SIGMA * (np.sinh(BETA) - np.sin(BETA))) / np.sqrt(RHO * LENGTH)
SLOPE = BETA / LENGTH * (np.sinh(BETA) + np.sin(BETA) - SIGMA * (np.cosh(BETA) - np.cos(BETA)))
SLOPE /= np.sqrt(RHO * LENGTH)
"""Deflection and slope of the tip in the first mode, of unit modal mass."""


def boom(sunward: float, curvature: float, lag: float, axis: float = 1.0) -> tuple[art.Mechanism, list]:
    """Return a clamped boom whose direction is turned by `sunward` about z from that to the Sun."""
    m = art.Mechanism("boom", gravity=(0, 0, 0)).flexible("boom", BODY)
    m.joint("root", art.Fixed(), "ground", "boom", art.Pose(rpy=(0, 0, sunward)))
    m.frame("near", "boom", node="root").frame("far", "boom", node="tip")
    heat = c.spacecraft.ThermalBending("near", "far", EI, curvature, lag, axis=(0, 0, axis), name="heat")
    return m, [c.spacecraft.SpaceEnvironment("boom", EPOCH, FAR), heat]


@pytest.mark.parametrize("lag", [0.2, 3.0])
@pytest.mark.parametrize("axis", [1.0, -1.0])
def test_it_rings_when_light_comes_as_boley_says(lag: float, axis: float) -> None:
    """q'' + w^2 q = w^2 qs (1 - exp(-t / T)): the amplitude that stays is qs / sqrt(1 + (w T)^2) (Boley & Weiner 1960).

    The steady curvature acts on the mode by EI k times its slope at the tip; the boom turns away from the Sun, which stands across it.
    """
    k = 1e-6
    m, parts = boom(np.pi / 2, k, lag, axis)
    run = art.simulate(m, 40.0, components=parts, method="rk8", step=0.05)
    t, w = run.t, OMEGA
    scale = EI * k * SLOPE / w**2
    x = w * lag
    shape = 1 - (x**2 * np.exp(-t / lag) + np.cos(w * t) + x * np.sin(w * t)) / (1 + x**2)
    # the Sun moves by 8e-6 rad; the mode of 40 elements has 1e-6 of error, after 14 periods 1e-4 of phase
    np.testing.assert_allclose(run.q[:, 0], scale * shape, atol=2e-4 * scale)
    assert run["heat.curvature"][-1] == pytest.approx(axis * k * (1 - np.exp(-40.0 / lag)), rel=1e-6)
    assert scale * TIP > 0  # along +y of the boom, that is -x of the ground


@pytest.mark.parametrize("sunward", [0.7, np.pi - 0.7])
def test_light_from_the_root_makes_it_flutter(sunward: float) -> None:
    """(s^2 + w^2) (T s + 1) - b = 0, b = EI k slope deflection cos(sunward) / L: the roots, and the sign of their growth."""
    k, lag, w = 8e-3, 1.5, OMEGA
    b = EI * k * SLOPE * TIP / LENGTH * np.cos(sunward)
    expected = np.roots([lag, 1.0, lag * w**2, w**2 - b])
    m, parts = boom(sunward, k, lag)
    found = np.linalg.eigvals(art.Loop(m, components=parts).linearize([0.0], [0.0]).A)
    for s in expected:
        assert np.abs(found - s).min() < 2e-5 * w  # the Sun is 8e-6 rad off, the mode 1e-6
    assert found.real.max() * np.cos(sunward) < 0


def test_in_the_shadow_it_straightens() -> None:
    """Behind the Earth the curvature it starts with goes by the time constant alone."""
    m, parts = boom(np.pi / 2, 1e-6, 2.0)
    parts = [
        c.spacecraft.SpaceEnvironment("boom", EPOCH, (1e7, 0.0, 0.0)),
        dataclasses.replace(parts[1], initial=1e-6),
    ]
    run = art.simulate(m, 5.0, components=parts, method="rk8", step=0.05)
    np.testing.assert_allclose(run["heat.curvature"].ravel(), 1e-6 * np.exp(-run.t / 2.0), rtol=1e-9)


def test_wrong_places_and_numbers_are_told() -> None:
    m, parts = boom(1.0, 1e-6, 2.0)
    with pytest.raises(art.InputError, match="above"):
        dataclasses.replace(parts[1], time_constant=0.0)
    with pytest.raises(art.InputError, match="name of a frame"):
        art.simulate(m, 0.1, components=[parts[0], dataclasses.replace(parts[1], second="boom")])
    with pytest.raises(art.InputError, match="epoch"):
        art.simulate(m, 0.1, components=[c.spacecraft.SpaceEnvironment("boom", center=FAR), parts[1]])
