"""Lines of sight by paraxial optics, and their jitter by closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import articulus as art
from articulus import components as c
from articulus import spacecraft as sc
from articulus.errors import DoubtfulResult, InputError

FOCUS = 2.0
"""Focal length of a lens that looks along x [m]."""
ROWS = np.zeros((2, 12))
ROWS[0, [4, 10]] = 1 / FOCUS, -1 / FOCUS  # about z: lens and detector across, y
ROWS[1, [5, 11]] = -1 / FOCUS, 1 / FOCUS  # about y: likewise, z


def camera(joint: art.Joint) -> art.Mechanism:
    m = art.Mechanism("camera", gravity=(0, 0, 0))
    m.body("hub", 50.0, (0, 0, 0), (4.0, 5.0, 6.0)).joint("flight", joint, "ground", "hub")
    m.frame("lens", "hub", (FOCUS + 0.3, 0.1, -0.2)).frame("detector", "hub", (0.3, 0.1, -0.2))
    return m


@pytest.mark.parametrize("angle", [1e-8, 1e-5, 1e-2])
def test_a_camera_that_turns_as_a_whole_looks_where_it_turned(angle) -> None:
    """Wherever it turns about and goes to: lens less detector over the focal length; second order in the angle is left."""
    rng = np.random.default_rng(3)
    m = camera(art.Free())
    for _ in range(5):
        turn, shift = angle * rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        half = np.linalg.norm(turn) / 2
        q = np.zeros(7)
        place = m.description.coordinate_names()
        quaternion = [math.cos(half), *(np.sin(half) / (2 * half) * turn)]
        for name, x in zip(("x", "y", "z", "qw", "qx", "qy", "qz"), (*shift, *quaternion)):
            q[[k for k, full in enumerate(place) if full.endswith("." + name)]] = x
        outer = c.spacecraft.LineOfSight(("lens", "detector"), ROWS)
        inner = c.spacecraft.LineOfSight(("lens", "detector"), ROWS, frame="hub", name="inner")
        run = art.simulate(m, 1e-9, q, components=[outer, inner], step=1e-9)
        np.testing.assert_allclose(run["line_of_sight.angle"][0], turn[[2, 1]], atol=1.5 * angle**2 + 4e-16)
        np.testing.assert_allclose(run["inner.angle"][0], 0, atol=4e-16)


def test_reference_and_rotation_columns() -> None:
    """A flat mirror on the hinge turns the ray by twice its angle, counted from the position of reference."""
    m = camera(art.Revolute(axis=(0, 0, 1)))
    rows = [(0, 0, 2, 0, 0, 0), (0, 0, 0, 0, 0, 0)]
    mirror = c.spacecraft.LineOfSight(("hub",), rows, at=(0.4,))
    run = art.simulate(m, 1e-3, [0.4 + 1e-4], components=[mirror], step=1e-3)
    np.testing.assert_allclose(run["line_of_sight.angle"][0], [2 * math.sin(1e-4), 0], atol=1e-15)


def test_jitter_of_an_unbalanced_wheel() -> None:
    """On a hinge: angle = (dynamic / I) sin W t, at every speed of the wheel; RK4 with 50 steps a turn leaves 1e-6."""
    speed, dynamic, turns = 2 * math.pi * 40, 2e-5, 32
    m = camera(art.Revolute(axis=(0, 1, 0)))
    parts = [
        c.ReactionWheel("hub", 0.02, (0, 0, 1), name="wheel", momentum=0.02 * speed),
        c.spacecraft.WheelImbalance("wheel", "hub", (0, 0, 1), dynamic=dynamic, phase=math.pi / 2),
        c.spacecraft.LineOfSight(("lens", "detector"), ROWS),
    ]
    run = art.simulate(m, turns / 40, components=parts, step=1 / 2000)
    found = sc.jitter(run.t[1:], run["line_of_sight.angle"][1:])
    inertia = 5.0
    np.testing.assert_allclose(found.rms, [0, dynamic / inertia / math.sqrt(2)], rtol=1e-4, atol=1e-15)
    assert found.total == pytest.approx(found.rms[1])
    assert found.frequency[found.density[:, 1].argmax()] == pytest.approx(40.0)
    assert found.rms_between(35.0, 45.0)[1] == pytest.approx(found.rms[1], rel=1e-3)
    assert found.rms_between(50.0, 1000.0)[1] < 1e-3 * found.rms[1]


def test_density_of_white_noise_is_flat() -> None:
    """Variance s^2 at rate f has the density 2 s^2 / f; the mean of 31 segments scatters by a few percent in a band."""
    rng = np.random.default_rng(5)
    y, t = 3e-6 * rng.standard_normal((64000, 2)), np.arange(64000) / 1000
    found = sc.jitter(t, y, segments=31)
    np.testing.assert_allclose(found.density[5:-5].mean(axis=0), 2 * 9e-12 / 1000, rtol=0.03)
    np.testing.assert_allclose(found.rms_between(100, 200), 3e-6 * math.sqrt(0.2), rtol=0.03)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_bands_add_up_and_narrow_ones_are_doubted(unit: float) -> None:
    """Between two values of the spectrum a tone at 3 Hz was not there at all."""
    t = np.arange(1000) * 0.01
    found = sc.jitter(t, unit * np.sin(2 * math.pi * 3.0 * t), segments=8)
    ends = [0.0, *found.frequency[[5, 10]], 11.3, 50.0]
    parts = [found.rms_between(a, b)[0] for a, b in itertools.pairwise(ends)]
    assert np.linalg.norm(parts) == pytest.approx(found.rms_between(0, 50)[0], rel=1e-12)
    assert found.rms_between(0, 50)[0] == pytest.approx(found.rms[0], rel=2e-3)
    with pytest.warns(DoubtfulResult, match="narrower than 4 steps"):
        assert found.rms_between(2.9, 3.1)[0] > 0.2 * found.rms[0]
    for low, high in ((4.0, 2.0), (60.0, 100.0), (-1.0, 2.0), (math.nan, 2.0)):
        with pytest.raises(InputError, match="low < high"):
            found.rms_between(low, high)


def test_bad_input() -> None:
    m = camera(art.Free())
    with pytest.raises(InputError, match="optical elements"):
        c.spacecraft.LineOfSight((), ROWS)
    for part, text in (
        (c.spacecraft.LineOfSight(("lens",), ROWS), "2 x 6"),
        (c.spacecraft.LineOfSight(("lens", "detecter"), ROWS), "detector"),
        (c.spacecraft.LineOfSight(("lens", "detector"), ROWS, frame="bench"), "bench"),
        (c.spacecraft.LineOfSight(("lens", "detector"), ROWS, at=(0.0,)), "7, as many as q has"),
    ):
        with pytest.raises(InputError, match=text):
            art.simulate(m, 1e-3, components=[part], step=1e-3)
    t, y = np.arange(100) / 10, np.zeros((100, 2))
    for args, text in (
        ((t**2, y), "evenly spaced"),
        ((t, y[1:]), "a row for each time"),
        ((t, y + math.nan), "finite"),
        ((t, y, 40), "from 1 to 12"),
        ((t[:5], y[:5]), "8 times"),
        ((t, "angle"), "numbers"),
    ):
        with pytest.raises(InputError, match=text):
            sc.jitter(*args)
