"""Time, Sun, Moon, fields, air and shadow against printed numbers and other programs."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from scipy.special import lpmv

from articulus import spacecraft as sc
from articulus.errors import InputError
from articulus.spacecraft.harmonics import from_unnormalized, potential, potential_and_gradient

RNG = np.random.default_rng(7)


def numbers(expression):
    return np.array(ca.DM(ca.evalf(ca.SX(expression)))).ravel()


def test_sidereal_angle() -> None:
    """Vallado 2013, example 3-5: 152.578787886 degrees of the older series; IAU 2006 differs by 1e-5."""
    e = sc.Epoch.of("1992-08-20T12:14:00Z")
    assert math.degrees(e.sidereal_angle) == pytest.approx(152.578787886, abs=2e-5)


def test_time_scales() -> None:
    assert sc.Epoch.of("2025-03-20T09:01:00Z").terrestrial == pytest.approx(69.184)
    assert sc.Epoch.of("1998-12-31T23:00:00Z").terrestrial == pytest.approx(63.184)
    assert str(sc.Epoch.of("2025-03-20T11:01:00+02:00")) == "2025-03-20T09:01:00.000Z"


@pytest.mark.parametrize("text", ["2025-03-20T09:01:00", "yesterday", 3.0, "1960-01-01T00:00:00Z"])
def test_an_epoch_without_its_scale_is_refused(text) -> None:
    with pytest.raises(InputError, match="epoch"):
        sc.Epoch.of(text)


def test_sun_and_moon() -> None:
    """Vallado 2013, examples 5-1 and 5-3, which take UT for terrestrial time; to rounding of the printed steps."""
    e = sc.Epoch.of("2006-04-02T00:00:00Z")
    sun = numbers(sc.sun_position(e, -e.terrestrial)) / 1e3
    np.testing.assert_allclose(sun, [146186212, 28788976, 12481064], atol=200)
    e = sc.Epoch.of("1994-04-28T00:00:00Z")
    moon = numbers(sc.moon_position(e, -e.terrestrial)) / 1e3
    np.testing.assert_allclose(moon, [-134240.626, -311571.590, -126693.785], atol=5)


def test_precession_turns_the_pole() -> None:
    """In 25 years the pole moves by 25 x 20.04", its direction by the rate of the general precession."""
    R = sc.precession(sc.Epoch.of("2025-01-01T12:00:00Z"))
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    angle = math.degrees(math.acos(R[2, 2])) * 3600
    assert angle == pytest.approx(0.25 * 2004.31, rel=1e-3)


def legendre_potential(p, radius, rows):
    """Sum by scipy's associated Legendre functions: spherical coordinates, another way altogether."""
    r = np.linalg.norm(p)
    s, longitude, total = p[2] / r, math.atan2(p[1], p[0]), 0.0
    for n, m, C, S in rows:
        norm = math.sqrt((2 - (m == 0)) * (2 * n + 1) * math.factorial(n - m) / math.factorial(n + m))
        P = (-1) ** m * lpmv(m, n, s) * norm
        total += (radius / r) ** (n + 1) * P * (C * math.cos(m * longitude) + S * math.sin(m * longitude))
    return total


def test_potential_is_that_of_legendre_functions() -> None:
    rows = [(n, m, *RNG.normal(size=2)) for n in range(13) for m in range(n + 1)]
    for _ in range(5):
        p = RNG.normal(size=3) * 7e6
        want = legendre_potential(p, 6.4e6, rows)
        assert numbers(potential(ca.SX(ca.DM(p)), 6.4e6, rows))[0] == pytest.approx(
            want, rel=1e-12, abs=1e-13
        )


def test_high_degrees_stay_finite_at_the_pole() -> None:
    """Degree 120: by scipy on the axis, where only zonal terms are left."""
    rows = [(n, 0, 1e-6, 0.0) for n in range(2, 121)] + [(120, m, 1e-6, 1e-6) for m in range(1, 121)]
    x = ca.SX.sym("x", 3)
    U = potential(x, 6.4e6, rows)
    f = ca.Function("f", [x], [U, ca.gradient(U, x)])
    value, slope = f([0, 0, 7e6])
    assert float(value) == pytest.approx(
        legendre_potential(np.array([0, 0, 7e6]), 6.4e6, rows[:119]), rel=1e-12
    )
    assert np.isfinite(np.array(slope)).all()


def test_gradient_is_that_of_legendre_functions() -> None:
    """Differences of the potential by Legendre functions; finite and along the axis on it."""
    rng = np.random.default_rng(5)
    rows = [(n, m, *rng.normal(size=2)) for n in range(6) for m in range(n + 1)]
    x = ca.SX.sym("x", 3)
    f = ca.Function("f", [x], list(potential_and_gradient(x, 6.4e6, rows)))
    for p in (np.array([4e6, -5e6, 3.5e6]), np.array([-6e6, 2e6, -4e6])):
        value, slope = f(p)
        assert float(value) == pytest.approx(legendre_potential(p, 6.4e6, rows), rel=1e-12)
        h = 100.0
        difference = [
            (legendre_potential(p + h * e, 6.4e6, rows) - legendre_potential(p - h * e, 6.4e6, rows))
            / (2 * h)
            for e in np.eye(3)
        ]
        # central differences: (h / r)^2 times n^2, and rounding 1e-16 r / h
        np.testing.assert_allclose(np.array(slope).ravel(), difference, atol=2e-8 * np.abs(difference).max())
    _, slope = f([0, 0, 7e6])
    assert np.isfinite(np.array(slope)).all()


def test_zonal_coefficients() -> None:
    """The acceleration of J2, printed in every textbook."""
    mu, R, J2 = 3.986004415e14, 6378136.3, 1.0826e-3
    x = ca.SX.sym("x", 3)
    field = sc.GravityField.zonal(mu, R, J2)
    slope = ca.Function("a", [x], [field.potential_and_acceleration(x)[1]])
    p = np.array([4e6, -5e6, 3.5e6])
    r = np.linalg.norm(p)
    k = -1.5 * J2 * mu * R**2 / r**5
    want = k * p * (np.array([1, 1, 3]) - 5 * p[2] ** 2 / r**2)
    np.testing.assert_allclose(np.array(slope(p)).ravel(), want, rtol=1e-12)
    assert from_unnormalized(2, 0, -1.0826e-3) == pytest.approx(-1.0826e-3 / math.sqrt(5))


def test_dipole_field() -> None:
    """At the equator B = a^3/r^3 (-g10) northward, at the pole twice that along the axis."""
    field = sc.MagneticField("dipole", 2025.0, 2030.0, ((1, 0, -30000.0, 0.0, 0.0, 0.0),))
    a = field.radius
    np.testing.assert_allclose(
        numbers(field.field(ca.SX([2 * a, 0, 0]), 2026.0)), [0, 0, 30000e-9 / 8], atol=1e-18
    )
    np.testing.assert_allclose(numbers(field.field(ca.SX([0, 0, a]), 2026.0)), [0, 0, -60000e-9], rtol=1e-12)


def test_built_in_field_is_of_the_size_of_the_earths() -> None:
    field = sc.MagneticField.read("wmm2025")
    size = [np.linalg.norm(numbers(field.field(ca.SX(ca.DM(6.7712e6 * d)), 2025.5))) for d in np.eye(3)]
    assert 2e-5 < min(size) < max(size) < 6e-5
    assert len(field.dipole().rows) == 2


def test_year_outside_the_coefficients_is_refused() -> None:
    with pytest.raises(InputError, match="year 2031"):
        sc.MagneticField.read("wmm2025").field(ca.SX([7e6, 0, 0]), 2031.0)


IGRF = """# comment
c/s deg ord IGRF IGRF SV
g/h n m 2020.0 2025.0 2025-30
g 1 0 -29403.41 -29350.0 12.6
g 1 1 -1451.37 -1410.3 10.0
h 1 1 4653.35 4545.5 -21.5
"""


def test_igrf_tables_are_read(tmp_path) -> None:
    file = tmp_path / "igrf14coeffs.txt"
    file.write_text(IGRF)
    field = sc.MagneticField.read(file)
    assert (field.year, field.end) == (2025.0, 2030.0)
    assert field.rows == ((1, 0, -29350.0, 0.0, 12.6, 0.0), (1, 1, -1410.3, 4545.5, 10.0, -21.5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "earth_gravity_constant"),
        ("earth_gravity_constant 4e14\nradius 6e6\n", "no line that begins with gfc"),
        ("earth_gravity_constant 4e14\nradius 6e6\ngfc 2 x 1 1\n", "line 3"),
        ("earth_gravity_constant 4e14\nradius 6e6\ngfc 2 3 1 1\n", "degree and order"),
        ("earth_gravity_constant -1\nradius 6e6\ngfc 2 0 1 1\n", "above 0"),
        ("earth_gravity_constant 4e14\nradius 6e6\nnorm unnormalized\ngfc 2 0 1 1\n", "norm"),
        ("earth_gravity_constant 4e14\nradius 6e6\ngfct 2 0 1 1 2000\n", "change with time"),
    ],
)
def test_bad_gravity_files_are_told_by_line(tmp_path, text, message) -> None:
    file = tmp_path / "bad.gfc"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        sc.GravityField.read(file)


def test_missing_file_is_told() -> None:
    with pytest.raises(InputError, match="egm2008"):
        sc.GravityField.read("nowhere.gfc")


def test_atmosphere_meets_its_rows() -> None:
    air = sc.EXPONENTIAL
    for h, rho in zip(air.altitudes, air.densities):
        assert numbers(air.density(h))[0] == pytest.approx(rho, rel=1e-12)
    middle = numbers(air.density(475e3))[0]
    assert middle == pytest.approx(math.sqrt(1.585e-12 * 6.967e-13), rel=1e-12)
    assert numbers(air.density(1268e3))[0] == pytest.approx(3.019e-15 / math.e, rel=1e-12)
    with pytest.raises(InputError, match="ascending"):
        sc.Atmosphere((0.0, 0.0), (1.0, 1.0), 1.0)


def test_shadow() -> None:
    """Full light by day, none behind; half of the disk is seen about where its center sets."""
    R, sun = 6378137.0, ca.SX([1.496e11, 0, 0])

    def seen(p):
        return numbers(sc.sunlight(ca.SX(p), sun, R))[0]

    assert seen([7e6, 0, 0]) == 1
    assert seen([-7e6, 0, 0]) == 0
    assert seen([-7e6, R + 50e3, 0]) == 1
    edge = [seen([-7e6, y, 0]) for y in np.linspace(R - 60e3, R + 60e3, 41)]
    assert edge == sorted(edge)
    assert edge[0] == 0
    assert edge[-1] == 1
    assert 0.4 < seen([-7e6, R, 0]) < 0.6
    assert 0 < seen([-3e9, 0, 0]) < 1  # beyond the tip of the umbra: a ring


def test_orbit_elements_there_and_back() -> None:
    for _ in range(20):
        o = sc.Orbit(
            RNG.uniform(7.5e6, 4e7), RNG.uniform(0, 0.1), RNG.uniform(0.1, 3.0), *RNG.uniform(-3, 3, size=3)
        )
        back = sc.Orbit.of(o.state())
        for name in (
            "semi_major_axis",
            "eccentricity",
            "inclination",
            "ascending_node",
            "periapsis",
            "anomaly",
        ):
            assert getattr(back, name) == pytest.approx(getattr(o, name), rel=1e-10, abs=1e-9), name


@pytest.mark.parametrize(
    "given",
    [
        {"semi_major_axis": 6e6},
        {"semi_major_axis": 7e6, "eccentricity": 0.2},
        {"semi_major_axis": 7e6, "eccentricity": 1.0},
    ],
)
def test_orbits_below_the_surface_are_refused(given) -> None:
    with pytest.raises(InputError, match="orbit"):
        sc.Orbit(**given)


def test_local_axes() -> None:
    state = sc.Orbit(7e6, 0.0, 0.9, 0.4, 0.2, 1.0).state()
    R, w = (np.array(ca.DM(x)) for x in sc.lvlh(ca.DM(state.position), ca.DM(state.velocity)))
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_allclose(R[:, 2], -state.position / 7e6, atol=1e-15)
    np.testing.assert_allclose(R[:, 0], state.velocity / np.linalg.norm(state.velocity), atol=1e-14)
    assert np.linalg.norm(w) == pytest.approx(sc.Orbit(7e6).rate, rel=1e-14)


def test_wheels_of_the_table_fit_the_component() -> None:
    from articulus.simulation.loop.components import ReactionWheel

    for data in sc.WHEELS.values():
        wheel = ReactionWheel("hub", **data.fields())
        assert wheel.inertia * wheel.speed_limit == pytest.approx(data.momentum)
