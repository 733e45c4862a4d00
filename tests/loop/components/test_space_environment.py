"""Laws of gravity, air and light on craft in orbit: energy, momentum, scipy, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus import spacecraft as sc
from articulus.errors import DoubtfulResult
from articulus.simulation.loop import components as c

EPOCH = "2025-03-20T09:01:00Z"
ORBIT = sc.Orbit(6.778e6, 0.001, 0.9, 0.3, 0.5, -0.4)
BOX = (30.0, 40.0, 50.0)


def craft() -> art.Mechanism:
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", 500.0, (0, 0, 0), BOX)
    m.joint("hub", art.Free(), "ground", "hub")
    m.body("panel", 20.0, (0, 1.0, 0), (7.0, 1.0, 8.0))
    m.joint("hinge", art.Revolute((0, 1, 0)), "hub", "panel", at=(0, 0.5, 0), stiffness=0.02)
    return m.frame("face", "panel", (0, 1.0, 0))


def start(m: art.Mechanism, orbit: sc.Orbit = ORBIT) -> dict:
    state, q, v = orbit.state(), m.neutral.copy(), np.zeros(m.nv)
    q[4:7], v[3:6] = state.position, state.velocity
    return {"q0": q, "v0": v}


def test_gravity_of_harmonics_is_that_of_propagate() -> None:
    """A craft without extent falls as a point: two codes, one of them without a mechanism."""
    m = art.Mechanism("point", gravity=(0, 0, 0))
    m.body("hub", 1.0, (0, 0, 0), (1e-9, 1e-9, 1e-9)).joint("hub", art.Free(), "ground", "hub")
    gravity = c.spacecraft.HarmonicGravity(epoch=EPOCH)
    run = art.simulate(m, 5400.0, **start(m), components=[gravity], method="rk8", step=60.0, sample=5400.0)
    s = ORBIT.state()
    want = sc.propagate(s.position, s.velocity, 5400.0, step=60.0, field=gravity.coefficients, epoch=EPOCH)
    np.testing.assert_allclose(run.q[-1, 4:7], want.position[-1], atol=1e-3)


def test_energy_of_the_turning_earth_is_in_the_balance() -> None:
    """The field with tesseral terms does work on the craft; the balance holds that of a pulled panel too."""
    m = craft()
    run = art.simulate(
        m,
        3000.0,
        **start(m),
        components=[c.spacecraft.HarmonicGravity(epoch=EPOCH)],
        method="rk8",
        step=2.0,
        sample=300.0,
    )
    assert abs(run["energy.input"][-1]) > 100.0
    assert np.abs(run["energy.balance"]).max() < 1e-3


def test_zonal_gravity_needs_no_epoch_and_keeps_energy() -> None:
    m = craft()
    gravity = c.spacecraft.HarmonicGravity(order=0)
    run = art.simulate(m, 3000.0, **start(m), components=[gravity], method="rk8", step=2.0, sample=300.0)
    assert np.abs(run["energy.input"]).max() == 0
    assert np.abs(run["energy.balance"]).max() < 1e-3


def test_signals_of_the_environment() -> None:
    m = craft()
    run = art.simulate(
        m, 10.0, **start(m), components=[c.spacecraft.SpaceEnvironment("hub", EPOCH)], step=1.0
    )
    s, e = ORBIT.state(), sc.Epoch.of(EPOCH)
    np.testing.assert_allclose(run["space.position"][0], s.position)
    np.testing.assert_allclose(run["space.velocity"][0], s.velocity)
    np.testing.assert_allclose(
        run["space.sun"][0], np.array(sc.sun_position(e)).ravel() - s.position, rtol=1e-12
    )
    assert 1e-13 < run["space.density"][0] < 1e-11
    assert 2e-5 < np.linalg.norm(run["space.magnetic_field"][0]) < 6e-5
    assert 3.9e5 < run["space.altitude"][0] < 4.2e5


def test_drag_on_a_panel_turns_it() -> None:
    """Force and moment on a facet of a hinged panel, by hand."""
    m = craft()
    drag = c.spacecraft.AtmosphericDrag(("face",), 2.0, ((0, 0, 1),), coefficient=2.0)
    at = start(m)
    at["q0"][7] = 0.7
    run = art.simulate(m, 1e-3, **at, components=[c.spacecraft.SpaceEnvironment("hub"), drag], step=1e-3)
    n, u = np.array([np.sin(0.7), 0, np.cos(0.7)]), at["v0"][3:6] - run["space.wind"][0]
    want = -0.5 * run["space.density"][0] * 2.0 * 2.0 * max(n @ u, 0) * u
    np.testing.assert_allclose(run["atmospheric_drag.force"][0], want, rtol=1e-9, atol=1e-30)


def test_facets_that_look_away_feel_nothing() -> None:
    m = craft()
    at = start(m)
    along = at["v0"][3:6] / np.linalg.norm(at["v0"][3:6])
    drag = c.spacecraft.AtmosphericDrag(("hub", "hub"), 1.0, (tuple(along), tuple(-along)))
    both = art.simulate(m, 1e-3, **at, components=[c.spacecraft.SpaceEnvironment("hub"), drag], step=1e-3)
    front = c.spacecraft.AtmosphericDrag(("hub",), 1.0, (tuple(along),))
    one = art.simulate(m, 1e-3, **at, components=[c.spacecraft.SpaceEnvironment("hub"), front], step=1e-3)
    np.testing.assert_array_equal(both["atmospheric_drag.force"], one["atmospheric_drag.force"])
    assert np.linalg.norm(one["atmospheric_drag.force"][0]) > 1e-5


def test_pressure_of_light() -> None:
    """A mirror that faces the Sun feels twice what a black plate feels; nothing in the shadow."""
    m, e = craft(), sc.Epoch.of(EPOCH)
    toward = np.array(sc.sun_position(e)).ravel()
    toward /= np.linalg.norm(toward)
    forces = []
    for specular in (0.0, 1.0):
        light = c.spacecraft.SolarPressure(("hub",), 3.0, (tuple(toward),), specular=specular)
        at = start(m, sc.Orbit.of(sc.OrbitState(7e6 * toward, 7.5e3 * np.cross([0, 0, 1], toward))))
        run = art.simulate(
            m, 1e-3, **at, components=[c.spacecraft.SpaceEnvironment("hub", EPOCH), light], step=1e-3
        )
        forces.append(run["solar_pressure.force"][0])
    np.testing.assert_allclose(np.linalg.norm(forces[0]), 3 * 4.54e-6, rtol=0.04)
    np.testing.assert_allclose(forces[1], 2 * forces[0], rtol=1e-4)
    behind = sc.OrbitState(-7e6 * toward, 7.5e3 * np.cross([0, 0, 1], toward))
    at = start(m, sc.Orbit.of(behind))
    run = art.simulate(
        m, 1e-3, **at, components=[c.spacecraft.SpaceEnvironment("hub", EPOCH), light], step=1e-3
    )
    assert not run["solar_pressure.force"].any()


def test_pull_of_sun_and_moon_is_that_of_propagate() -> None:
    m = craft()
    at = start(m, sc.Orbit(2.66e7, 0.01, 0.96))
    run = art.simulate(
        m, 1.0, **at, components=[c.spacecraft.ThirdBodies(EPOCH), c.CentralGravity()], step=1.0
    )
    e, p = sc.Epoch.of(EPOCH), at["q0"][4:7]
    want = np.zeros(3)
    for where, mu in ((sc.sun_position, 1.32712440018e20), (sc.moon_position, 4.902800066e12)):
        s = np.array(where(e)).ravel()
        want += mu * ((s - p) / np.linalg.norm(s - p) ** 3 - s / np.linalg.norm(s) ** 3)
    np.testing.assert_allclose(run["third_bodies.acceleration"][0], want, rtol=1e-7)


def test_libration_of_a_gravity_gradient_satellite() -> None:
    """Pitch about the normal of a circular orbit: w = n sqrt(3 (Jx - Jz) / Jy), Hughes 1986, section 9.1; 1e-4 for 1 mrad and 10^-6 of coupling."""
    J = (100.0, 90.0, 30.0)
    m = art.Mechanism("boom", gravity=(0, 0, 0))
    m.body("hub", 500.0, (0, 0, 0), J).joint("hub", art.Free(), "ground", "hub")
    orbit = sc.Orbit(7e6)
    at = start(m, orbit)
    # z towards the Earth, y against the normal of the orbit: at (r, 0, 0) moving along +y
    R = np.array([[0, 0, -1.0], [1, 0, 0], [0, -1, 0]])
    at["q0"][:4] = art.spatial.quaternion_of_rotation(R)
    at["v0"][:3] = R.T @ [0, 0, orbit.rate]
    at["v0"][3:6] = R.T @ at["v0"][3:6]
    at["v0"][1] += 1e-6
    run = art.simulate(m, 5800.0, **at, components=[c.CentralGravity()], method="rk8", step=20.0)
    w = orbit.rate * np.sqrt(3 * (J[0] - J[2]) / J[1])
    rate = run.v[:, 1] + orbit.rate
    np.testing.assert_allclose(rate, 1e-6 * np.cos(w * run.t), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: c.spacecraft.HarmonicGravity(), "epoch: found none, with terms of 'EGM2008'"),
        (lambda: c.spacecraft.HarmonicGravity(degree=9, epoch=EPOCH), "at most 5"),
        (lambda: c.spacecraft.HarmonicGravity(field="nowhere.gfc", epoch=EPOCH), "nowhere.gfc"),
        (lambda: c.spacecraft.HarmonicGravity(epoch=EPOCH, field_digest="0"), "digest"),
        (lambda: c.spacecraft.ThirdBodies(), "Sun and Moon move"),
        (lambda: c.spacecraft.SpaceEnvironment("hub", "noon"), "UTC"),
        (
            lambda: c.spacecraft.SpaceEnvironment("hub", altitudes=(0.0, 1.0), densities=(1.0,)),
            "as many densities",
        ),
        (lambda: c.spacecraft.SolarPressure(("hub",), 1.0, specular=0.7, diffuse=0.7), "at most 1"),
        (lambda: c.spacecraft.AtmosphericDrag(("hub",), -1.0), "areas"),
    ],
)
def test_what_is_missing_or_wrong_is_told(make, message) -> None:
    with pytest.raises(art.InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([c.spacecraft.AtmosphericDrag(("hub",), 1.0)], "space.density"),
        ([c.spacecraft.SpaceEnvironment("hub"), c.spacecraft.SolarPressure(("hub",), 1.0)], "with an epoch"),
        (
            [
                c.spacecraft.SpaceEnvironment("hub"),
                c.spacecraft.AtmosphericDrag(("hub", "face"), (1.0, 2.0, 3.0)),
            ],
            "3 for 2 frames",
        ),
        ([c.spacecraft.SpaceEnvironment("hubb")], "hubb"),
    ],
)
def test_parts_that_do_not_fit_are_told(parts, message) -> None:
    m = craft()
    with pytest.raises(art.InputError, match=message):
        art.simulate(m, 1.0, **start(m), components=parts, step=1.0)


def test_gravity_of_two_kinds_is_refused() -> None:
    m = art.Mechanism("heavy")
    m.body("hub", 1.0, (0, 0, 0), (1, 1, 1)).joint("hub", art.Free(), "ground", "hub")
    with pytest.raises(art.InputError, match="uniform gravity"):
        art.simulate(m, 1.0, components=[c.spacecraft.HarmonicGravity(order=0)], step=1.0)


def test_a_craft_below_the_surface_is_told_with_the_time() -> None:
    """Let fall from 400 km it passes the surface after the time of a free fall, by its closed form; one of two runs does."""
    m, r, R = craft(), 6.778e6, 6378137.0
    q = np.tile(m.neutral, (2, 1))
    q[:, 4], v = r, np.zeros((2, m.nv))
    v[1, 4] = np.sqrt(sc.EARTH.mu / r)
    parts = [c.spacecraft.SpaceEnvironment("hub"), c.CentralGravity()]
    x = R / r
    fall = np.sqrt(r**3 / (2 * sc.EARTH.mu)) * (np.arccos(np.sqrt(x)) + np.sqrt(x * (1 - x)))
    with pytest.warns(DoubtfulResult, match="below the surface of the Earth from t = 301 s") as told:
        run = art.rollout(m, 320.0, q, v, components=parts, step=1.0, sample=1.0, outputs=["space.altitude"])
    assert fall == pytest.approx(300.5, abs=0.5)
    assert {w.run for w in run.warnings} == {0}
    assert len(told) == 1
