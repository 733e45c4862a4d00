"""The soil: factors by equilibrium of the wedge, a force that only takes energy, and only below ground."""

from __future__ import annotations

import math

import numpy as np
import pytest

from articulus.browser.drive.excavator import GROUND, cat215b
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.soil import failure_factors


def wedge(rake: float, phi: float, delta: float, weight: float, cohesion: float) -> float:
    """Return the force on a blade of unit width and unit depth, from equilibrium of the soil wedge in front of it.

    The wedge lies between the blade (angle `rake`), the ground and a failure plane (angle beta). On it act its weight,
    cohesion along the plane, the reaction R at phi from the normal of the plane, and the blade's P at delta from its normal.
    """
    beta = math.pi / 4 - phi / 2
    area = 0.5 * (1 / math.tan(rake) + 1 / math.tan(beta))
    plane = 1 / math.sin(beta)
    # horizontal: P sin(rake + delta) = R sin(beta + phi) + C cos(beta)
    # vertical:   P cos(rake + delta) + R cos(beta + phi) = W + C sin(beta)
    A = np.array(
        [
            [math.sin(rake + delta), -math.sin(beta + phi)],
            [math.cos(rake + delta), math.cos(beta + phi)],
        ]
    )
    b = [cohesion * plane * math.cos(beta), weight * area + cohesion * plane * math.sin(beta)]
    return float(np.linalg.solve(A, b)[0])


@pytest.mark.parametrize("rake", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("phi", [0.3, 0.6])
@pytest.mark.parametrize("delta", [0.1, 0.4])
def test_factors_are_the_equilibrium_of_a_wedge(rake, phi, delta) -> None:
    by_weight, by_cohesion = failure_factors(rake, phi, delta)
    assert by_weight == pytest.approx(wedge(rake, phi, delta, 1.0, 0.0), rel=1e-12)
    assert by_cohesion == pytest.approx(wedge(rake, phi, delta, 0.0, 1.0), rel=1e-12)


H = 1e-3
TIP = "bucket_tip"


@pytest.fixture(scope="module")
def force():
    """Return the force that the soil holds for a period, the velocity of the tip at its end and its height, from q, v, switch.

    The velocity comes from the accelerations of the whole system under that force, not from the soil's own equations.
    """
    plant = Plant(cat215b())
    system, mechanism = plant.system, plant.machine.mechanism
    renew = next(u.function for u in system.updates if u.name == "bucket_tip_soil")
    held = system.held_places["bucket_tip_soil.signal bucket_tip_soil.force"]

    def at(q, v, on):
        c, d = system.c0.copy(), system.d0.copy()
        c[system.places["q"]], c[system.places["v"]] = q, v
        d[system.held_places["sticks.signal sticks.soil"]] = on
        d = renew(c, d, plant.p, np.zeros(0), 0.0, H).full().ravel()
        vdot = system.acceleration(c, d, plant.p, np.zeros(0), 0.0, H)[0].full().ravel()
        velocity = (mechanism.jacobian(TIP, q) @ v)[3:] + H * mechanism.acceleration(TIP, q, v, vdot)[3:]
        return d[held], velocity, mechanism.pose(TIP, q)[2, 3]

    return at


def strength(z: float) -> float:
    by_weight, by_cohesion = failure_factors(*np.radians([60, 35, 23]))
    d = GROUND - z
    return 17e3 * d**2 * by_weight + 5e3 * d * by_cohesion


def test_it_takes_energy_below_ground_and_is_nothing_above(force) -> None:
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(200):
        q = np.array(
            [rng.uniform(-3, 3), rng.uniform(-0.8, 0.6), rng.uniform(-2.5, -0.6), rng.uniform(-2, 0.4)]
        )
        found, velocity, z = force(q, rng.normal(size=4), 1.0)
        if z >= GROUND:
            assert not found.any()
        else:
            below += 1
            assert found @ velocity < 0
            assert np.linalg.norm(np.cross(found, velocity)) < 1e-9 * np.linalg.norm(found) * np.linalg.norm(
                velocity
            )
    assert 20 < below < 180


@pytest.mark.parametrize("speed", [0.0, 1e-3, 0.1, 50.0])
def test_it_is_the_law_at_the_velocity_that_it_leaves(force, speed) -> None:
    """force = -F v / sqrt(v . v + v_s^2) at the end of the period, from rest (stuck) to fast; v_s = 2 mm/s.

    The speed is found to 1e-7, and the force with it.
    """
    q, v = np.array([0.0, -0.4, -1.9, -0.5]), np.array([0.0, 0.0, -speed, 0.0])
    found, velocity, z = force(q, v, 1.0)
    assert GROUND - z > 0.5
    expected = -strength(z) * velocity / np.sqrt(velocity @ velocity + 0.002**2)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6 * strength(z))
    if speed == 50.0:
        assert np.linalg.norm(found) == pytest.approx(strength(z), rel=1e-6)


def test_the_switch_takes_it_away(force) -> None:
    found, _, z = force(np.array([0.0, -0.6, -1.9, -0.5]), np.ones(4), 0.0)
    assert z < GROUND
    assert not found.any()
