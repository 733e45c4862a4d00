"""Parts of aircraft: flow angles and attitude, surfaces within limits, tables of the air, level flight."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.model.library.fighter import fighter_aerodynamics, fighter_surfaces, trim
from articulus.simulation.loop import components as c
from articulus.simulation.loop.components import aircraft as a
from articulus.simulation.loop.components.aircraft.table_aerodynamics import standard_density

FLIP = Rotation.from_euler("x", np.pi)
"""From axes with z up to axes with z down."""


def body(mass: float = 2.0, gravity: tuple[float, float, float] = (0, 0, -9.81)) -> art.Mechanism:
    m = art.Mechanism("body", gravity=gravity).body("body", mass=mass, inertia=(0.1, 0.2, 0.3))
    return m.joint("free", art.Free(), "ground", "body")


def plain(rows: int = 1, **changes: object) -> a.TableAerodynamics:
    """Return tables of zeros but for what is given."""
    zeros = {"forward": 2, "downward": 2, "pitching": 2, "rates": 9, "sideslip": 3, "aileron": 3, "rudder": 3}
    fields: dict = {k: np.zeros((n, 3)) for k, n in zeros.items()}
    given = {
        "area": 0.5,
        "span": 2.0,
        "chord": 0.4,
        "alpha": (-1, 0, 1),
        "elevator": (-0.5, 0.5),
        "surfaces": ("", "", ""),
    }
    return a.TableAerodynamics("body", **(fields | given | changes))


@pytest.mark.parametrize("angles", [(0.3, 0.2, -0.4), (-2.0, -1.0, 2.5), (0.0, 0.0, 0.0)])
def test_flow_angles_and_attitude(angles) -> None:
    """Heading about down, then pitch, then bank; alpha = atan(w/u), beta = asin(v/V): equations 1j and 1k of Lan & Ge 1989."""
    heading, pitch, bank = angles
    R = FLIP * Rotation.from_euler("ZYX", [heading, pitch, bank])
    x, y, z, w = R.as_quat()
    u = np.array([30.0, -4.0, 7.0])
    run = art.simulate(
        body(), 1e-3, [w, x, y, z, 0, 0, 0], [0, 0, 0, *u], components=[a.AirData("body", name="air")], step=1e-3
    )  # fmt: skip
    found = [
        float(np.squeeze(run[f"air.{n}"])[0]) for n in ("heading", "pitch", "bank", "alpha", "beta", "speed")
    ]
    V = np.linalg.norm(u)
    np.testing.assert_allclose(found, [*angles, np.arctan2(7, 30), np.arcsin(-4 / V), V], atol=1e-9)


def test_air_data_need_gravity() -> None:
    with pytest.raises(InputError, match="without gravity"):
        art.simulate(body(gravity=(0, 0, 0)), 0.01, components=[a.AirData("body")])


def test_a_surface_keeps_its_rate_and_its_limits() -> None:
    """From rest the rate is the limit until w times what is left is below it, then the rest decays; the limit holds the end."""
    surface = a.ControlSurface("flap", -0.1, 0.3, rate=0.5, bandwidth=10.0)
    run = art.simulate(
        body(), 1.0, components=[c.PrescribedCommand("flap", 5.0), surface], step=1e-3, sample=1e-2
    )
    d, t = np.squeeze(run["flap.deflection"]), run.t
    turn = (0.3 - 0.05) / 0.5  # w (0.3 - d) = 0.5 at d = 0.25
    expected = np.where(t < turn, 0.5 * t, 0.3 - 0.05 * np.exp(-10 * (t - turn)))
    np.testing.assert_allclose(d, expected, atol=1e-9)
    with pytest.raises(InputError, match="within the limits"):
        a.ControlSurface("flap", -0.1, 0.3, initial=0.5)


def test_feedback_is_limited_and_names_one_number() -> None:
    parts = [c.RateGyro("body", name="gyro"), a.ControlSurface("flap", -9, 9, bandwidth=500.0)]

    def end(law):
        run = art.simulate(body(), 0.2, v0=[0, 0.5, 0, 0, 0, 0], components=[*parts, law], step=1e-3)
        return float(np.squeeze(run["flap.deflection"])[-1])

    assert end(a.LimitedFeedback("flap", "gyro.rate.1", 2.0)) == pytest.approx(1.0, abs=1e-9)
    assert end(a.LimitedFeedback("flap", "gyro.rate.1", 2.0, upper=0.1)) == pytest.approx(0.2, abs=1e-9)
    assert end(a.LimitedFeedback("flap", "gyro.rate.1", 2.0, offset=0.6, lower=0.0)) == pytest.approx(
        0.0, abs=1e-9
    )
    for measured in ("gyro.rate", "gyro.rate.3"):
        with pytest.raises(InputError, match="one number: an entry from 0 to 2"):
            end(a.LimitedFeedback("flap", measured, 2.0))
    with pytest.raises(InputError, match="did you mean 'flap'"):
        end(a.LimitedFeedback("flop", "gyro.rate.1", 2.0))
    with pytest.raises(InputError, match="at most upper"):
        a.LimitedFeedback("flap", "gyro.rate.1", 2.0, lower=1.0, upper=0.0)


def test_tables_are_straight_between_points_and_constant_beyond() -> None:
    air = fighter_aerodynamics()
    x, b = ca.SX.sym("x", 2), ca.SX.sym("e")
    force, moment = air.coefficients(x[0], x[1], ca.SX.zeros(3), ca.vertcat(b, 0, 0))
    f = ca.Function("f", [x, b], [ca.vertcat(force, moment)])
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(-0.6, 1.9, 200), rng.uniform(-0.6, 0.6, 200)])
    inside = np.clip(points, [air.alpha[0], air.elevator[0]], [air.alpha[-1], air.elevator[-1]])
    for place, table in ((0, air.forward), (2, air.downward), (4, air.pitching)):
        expected = RegularGridInterpolator((air.alpha, air.elevator), np.array(table).T)(inside)
        found = [float(f([x, 0.0], e)[place]) for x, e in points]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    side = [np.interp(x, air.alpha, air.sideslip[1]) for x, _ in inside]  # Cl by sideslip
    np.testing.assert_allclose(
        [float(f([x, 0.2], e)[3]) for x, e in points], 0.2 * np.array(side), atol=1e-12
    )


def test_drag_of_a_table_slows_down_as_one_over_time() -> None:
    """m V' = -rho S C V^2 / 2."""
    air = plain(forward=np.full((2, 3), -0.8), density=1.1)
    run = art.simulate(
        body(gravity=(0, 0, 0)), 2.0, v0=[0, 0, 0, 40.0, 0, 0], components=[air], step=1e-3, sample=0.1
    )  # fmt: skip
    k = 1.1 * 0.5 * 0.8 / (2 * 2.0)
    np.testing.assert_allclose(run.v[:, 3], 40.0 / (1 + 40.0 * k * run.t), rtol=1e-9)


def test_rolling_is_damped() -> None:
    """Ixx p' = rho V S b Clp b p / 4 with V kept by a large mass."""
    rates = np.zeros((9, 3))
    rates[4] = -0.4
    air = plain(rates=rates, density=1.2)
    m = body(mass=1e9, gravity=(0, 0, 0))
    run = art.simulate(m, 0.05, v0=[0.3, 0, 0, 30.0, 0, 0], components=[air], step=1e-4, sample=0.01)
    np.testing.assert_allclose(
        run.v[:, 0], 0.3 * np.exp(-1.2 * 30 * 0.5 * 2.0**2 * 0.4 / 4 / 0.1 * run.t), rtol=1e-6
    )


def test_standard_atmosphere() -> None:
    """Printed values of the standard atmosphere at 10,000 ft, 30,000 ft and 11 km [kg/m^3]; four digits."""
    heights = np.array([3048.0, 9144.0, 11000.0])
    found = [float(standard_density(h)) for h in heights]
    np.testing.assert_allclose(found, [0.9046, 0.4583, 0.3639], rtol=3e-4)


@pytest.mark.parametrize("center", [0.3, 0.35])
def test_level_flight_goes_on(center: float) -> None:
    """Forces and moments of `trim` leave nothing: seconds later the stable aircraft flies as it did."""
    air = fighter_aerodynamics(density=0.905)
    level = trim(air, 98.5, 0.905, center)
    parts = [
        c.PrescribedCommand("elevator", level.elevator),
        *fighter_surfaces(level.elevator),
        air,
        c.FrameWrench("aircraft", (0, 0, 0, level.thrust, 0, 0), follows=True),
    ]
    run = art.simulate(
        art.load("fighter", center=center), 3.0, level.q0, level.v0, components=parts, step=0.01
    )
    np.testing.assert_allclose(run.v[-1], level.v0, atol=1e-7)
    assert abs(run.q[-1, 6]) < 1e-6


def test_too_slow_to_fly() -> None:
    with pytest.raises(NumericalError, match="no level flight at 20 m/s"):
        trim(fighter_aerodynamics(), 20.0, 1.225)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"forward": np.zeros((2, 4))}, "forward: found 2 x 4 numbers; expected 2 x 3"),
        ({"rates": np.zeros((8, 3))}, "rates: found 8 x 3 numbers; expected 9 x 3"),
        ({"alpha": (0, 0, 1)}, "ascending"),
        ({"surfaces": ("a",)}, "surfaces: found 1 names; expected three"),
        ({"area": -1.0}, "area: found -1"),
    ],
)
def test_wrong_tables(changes: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        plain(**changes)


def test_wrong_center() -> None:
    with pytest.raises(InputError, match="place of the center of mass over the chord"):
        art.load("fighter", center=35.0)
