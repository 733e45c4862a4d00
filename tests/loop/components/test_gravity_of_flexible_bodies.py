"""Fields of gravity on flexible bodies: uniform fields against the mechanism's own, a planet's against sums over mass points."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism.modes import LEVELS, Level
from articulus.simulation.loop import components as c
from articulus.simulation.results.diagnostics import energy_error
from articulus.structure import beam_body

TIGHT = {"method": "dormand_prince", "rtol": 1e-11, "atol": 1e-11}


def boom(level: Level = "consistent", gravity=(0.0, 0.0, 0.0), modes: int = 2) -> art.Mechanism:
    """Return a beam on a hinge with a second body at its tip."""
    m = art.Mechanism("boom", gravity=gravity)
    m.flexible("boom", beam_body(1.0, EI=8.0, mass_per_length=0.8, modes=modes, elements=4).at_level(level))
    m.joint("hinge", art.Revolute((0, 0, 1)), "ground", "boom")
    m.body("load", mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    return m.joint("wrist", art.Revolute((0, 0, 1)), "boom", "load", node="tip")


@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # spun beyond what such bodies are for; two models of one body are compared
@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_field_is_the_gravity_of_the_mechanism(level: Level) -> None:
    g = (0.7, -9.0, 0.0)
    runs = []
    for gravity, fields in ((g, []), ((0.0, 0.0, 0.0), [c.VaryingGravity(g)])):
        m = boom(level, gravity)
        runs.append(art.rollout(m, 0.2, m.q(hinge=0.3)[None], components=fields, sample=0.05))
    assert np.abs(runs[0].q[0, -1, 1:3]).max() > 1e-3  # it bends
    assert runs[1].q == pytest.approx(runs[0].q, abs=1e-10)


def test_a_body_without_modes_feels_it() -> None:
    g, m = (0.7, -9.0, 0.0), boom("consistent", modes=0)
    own = boom("consistent", (0.7, -9.0, 0.0), modes=0)
    runs = [
        art.rollout(x, 0.1, x.q(hinge=0.3)[None], components=fields, sample=0.05)
        for x, fields in ((own, []), (m, [c.VaryingGravity(g)]))
    ]
    assert runs[1].q == pytest.approx(runs[0].q, abs=1e-10)


def satellite() -> art.Mechanism:
    m = art.Mechanism("satellite", gravity=(0, 0, 0))
    m.body("hub", mass=5.0, inertia=(1.0, 1.2, 0.9)).joint("free", art.Free(), "ground", "hub")
    m.flexible("wing", beam_body(2.0, EI=3.0, mass_per_length=0.6, modes=2, elements=32, damping=None))
    return m.joint("root", art.Fixed(), "hub", "wing", at=(0.3, 0, 0))


def test_a_planet_pulls_the_modes_as_it_pulls_all_mass_points() -> None:
    """Simpson's rule over 33 points of the beam, 1e-5. The gradient of the field is 3e-2 of it, what is left out 3e-4."""
    m, mu, center = satellite(), 4000.0, np.array([60.0, 90.0, 15.0])
    q = m.neutral.copy()
    q[7:] = 0.05, -0.01
    run = art.simulate(m, 1e-4, q0=q, components=[c.CentralGravity(mu, tuple(center))], step=1e-4)
    found = m.inverse_dynamics(q, np.zeros(m.nv), run["vdot"][0])  # what acts, elastic forces left out
    wing = m.description.bodies[1].modes
    assert wing is not None
    stations = [wing.station(f"node{k}") for k in range(33)]
    weights = 0.6 * 2.0 / 32 / 3 * np.array([1, *[4, 2] * 15, 4, 1])
    eta, force, modal = q[7:], np.zeros(3), np.zeros(2)
    for s, weight in zip(stations, weights, strict=True):
        place = np.array([0.3, 0, 0]) + s.position + s.translation @ eta + 0.5 * s.shortening @ eta @ eta
        pull = mu * weight * (center - place) / np.linalg.norm(center - place) ** 3
        force += pull
        modal += (s.translation + s.shortening @ eta).T @ pull
    force += mu * 5.0 * center / np.linalg.norm(center) ** 3
    assert found[3:6] == pytest.approx(force, rel=1e-4)
    assert found[6:] == pytest.approx(modal, rel=5e-4)


def test_energy_and_angular_momentum_stay_in_orbit() -> None:
    """About the center of the planet, which is the origin."""
    m = satellite()
    q, v = m.neutral.copy(), np.zeros(m.nv)
    q[4:7], v[3:6] = (30.0, 0, 0), (0, 3.0, 0.5)
    q[7:] = 0.05, 0.0
    run = art.simulate(
        m,
        1.0,
        q0=q,
        v0=v,
        components=[c.CentralGravity(400.0)],
        outputs=["momentum", "energy"],
        sample=0.1,
        **TIGHT,
    )
    error, moved = energy_error(run)
    assert error <= 1e-8 * moved
    momentum = run["momentum"][:, :3]
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.abs(momentum[0]).max()
