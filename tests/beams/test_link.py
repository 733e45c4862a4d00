"""Geometrically exact beams as links of mechanisms, beside beams on their own."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import PointOnPoint
from articulus.simulation.exact_beams import Beam, Section, modes, simulate
from articulus.simulation.loop.components import BeamForces
from articulus.simulation.results.diagnostics import energy_error

SOFT = Section(mass=1.0, EA=2e3, EIy=2.0, EIz=3.0, GJ=2.5, GAy=1e3, GAz=1e3, rotary=(2e-3, 1e-3, 1e-3))
"""A rubber rod: soft in stretching, so that explicit methods take steps of 0.2 ms."""


def cantilever(gravity=(0.0, 0.0, 0.0), damping: float = 0.0) -> tuple[art.Mechanism, BeamForces]:
    m = art.Mechanism("cantilever", gravity=gravity)
    forces = BeamForces.link(m, "rod", Beam.straight(1.0, 4, SOFT), damping)
    m.joint("clamp", art.Fixed(), "ground", "rod_0")
    return m, forces


@pytest.fixture(scope="module")
def falling() -> tuple[art.Mechanism, art.Run]:
    """A rod that sags by more than half its length."""
    m, forces = cantilever((0, 2.0, -9.81))
    return m, art.simulate(m, 0.4, components=[forces], step=2e-4, sample=0.01)


def test_a_rod_falls_as_the_beam_on_its_own_does(falling) -> None:
    """Same elements and nodes; the beam's generalized-alpha of order 2 with 8000 steps errs by some 1e-5 of the deflection."""
    m, run = falling
    alone = simulate(Beam.straight(1.0, 4, SOFT).support(0).weighing((0, 2.0, -9.81)), t_end=0.4, steps=8000)
    tip = m.pose("rod_4", run.q[-1])[:3, 3]
    assert tip[2] < -0.5
    np.testing.assert_allclose(tip, alone.position[-1, -1], atol=2e-5)


def test_energy_is_in_the_balance(falling) -> None:
    error, moved = energy_error(falling[1])
    assert error < 1e-6 * moved


def test_frequencies_are_those_of_the_beam_alone() -> None:
    m, forces = cantilever()
    model = art.Loop(m, components=[forces]).linearize()
    found = np.sort(np.abs(np.linalg.eigvals(model.A).imag))[::2]
    expected, _ = modes(Beam.straight(1.0, 4, SOFT).support(0), 6)
    np.testing.assert_allclose(found[:6], expected, rtol=1e-7)


def test_a_loop_of_a_rod_on_two_hinges_keeps_closed_and_loses_by_damping_only() -> None:
    m = art.Mechanism("bow")
    forces = BeamForces.link(m, "rod", Beam.straight(1.0, 4, SOFT), damping=2e-3)
    m.joint("left", art.Revolute(axis=(0, 1, 0)), "ground", "rod_0")
    m.frame("right", "ground", (1.0, 0, 0))
    m.constrain(PointOnPoint("pin", "rod_4", "right"))
    run = art.simulate(m, 0.1, components=[forces], step=2e-4, sample=0.01)
    assert np.abs(run["constraint"]).max() < 1e-8
    assert m.pose("rod_2", run.q[-1])[2, 3] < -0.01
    assert run["energy"][-1, -1] > 0
    error, moved = energy_error(run)
    assert error < 1e-5 * moved
    gaps = [
        np.abs(
            art.simulate(m, 0.1, components=[forces], method=method, step=step, sample=0.01).q - run.q
        ).max()
        for method, step in (("generalized_alpha", 1e-3), ("generalized_alpha", 5e-4), ("newmark", 5e-4))
    ]
    assert gaps[1] < 0.3 * gaps[0] < 0.3 * 2e-3  # order 2
    assert gaps[2] < 1e-3


def test_what_belongs_to_the_mechanism_is_refused() -> None:
    m = art.Mechanism("arm")
    with pytest.raises(art.InputError, match="found supports"):
        BeamForces.link(m, "rod", Beam.straight(1.0, 4, SOFT).support(0))
