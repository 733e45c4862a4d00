"""Hysteresis: closed forms of loops, the laws that define Preisach's model, and strain feedback."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.model.mechanism import TimeFunction
from articulus.simulation.loop.components import (
    BoucWenActuator,
    Expression,
    PreisachActuator,
    PrescribedForce,
)

from .support import slider

STEP = 1e-4
FAST = 2e3
"""Bandwidth of an amplifier [rad/s] beside commands of 1 Hz; its inner loop of the gain g is 1 + g times as fast."""


def played(actuator, command, t_end=3.0, step=STEP):
    """Return drive, response and time of an actuator under a command over time, a function of a CasADi symbol."""
    t = ca.SX.sym("t")
    source = Expression(ca.Function("command", [t], [command(t)], ["t"], ["u"]))
    run = art.simulate(
        slider(),
        t_end,
        controller=source,
        components=[actuator],
        step=step,
        outputs=["u", "lift_torque.drive", "lift_torque.response"],
    )
    name = "lift_torque"
    return np.ravel(run["u"]), np.ravel(run[f"{name}.drive"]), np.ravel(run[f"{name}.response"]), run.t


def area(x, y):
    """Return the integral of y dx around a closed curve, positive counterclockwise reversed: of a lag, positive."""
    return abs(float(np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2)))


def last_cycle(t, *columns):
    inside = t >= t[-1] - 1.0 - STEP / 2
    return [c[inside] for c in columns]


def sine(size):
    return lambda t: size * ca.sin(2 * ca.pi * t)


@pytest.mark.parametrize("size", [0.5, 3.0])
def test_a_loop_of_bouc_and_wen_has_its_closed_form(size):
    alpha, beta = 0.4, 0.7
    _, U, y, t = played(
        BoucWenActuator("lift", alpha=alpha, beta=beta, bandwidth=FAST), sine(size), t_end=10.0
    )
    U, y = last_cycle(t, U, y)
    A = U.max()
    assert y[U.argmax()] == pytest.approx(A - alpha / beta * np.tanh(beta * A), rel=1e-6)
    assert area(U, y) == pytest.approx(
        4 * alpha / beta * (A - np.tanh(beta * A) / beta), rel=1e-4
    )  # trapezoids


def test_gamma_tilts_loading_against_unloading_and_bounds_the_lag():
    alpha, beta, gamma = 0.4, 2.0, 1.0
    _, U, y, _ = played(
        BoucWenActuator("lift", alpha=alpha, beta=beta, gamma=gamma, bandwidth=FAST), sine(8.0)
    )
    lag = U - y
    assert np.abs(lag).max() == pytest.approx(alpha / (beta + gamma), rel=1e-3)


@pytest.mark.parametrize("size", [1.0, 4.0])
def test_a_loop_of_preisach_has_the_area_of_rayleigh(size):
    part, extent, plays = 0.4, 5.0, 60
    _, U, y, t = played(
        PreisachActuator("lift", part=part, extent=extent, plays=plays, bandwidth=FAST),
        sine(size),
        step=2 * STEP,
    )
    U, y = last_cycle(t, U, y)
    A = U.max()
    # midpoints of `plays` half widths over the part of the extent that the amplitude reaches; plays late by a step
    exact, late = 4 / 3 * part * A**3 / extent, part * 2 * STEP * 2 * np.pi**2 * A**2
    assert area(U, y) == pytest.approx(exact, rel=(extent / (plays * A)) ** 2, abs=late)


def test_relays_saturate_beyond_the_extent():
    _, _, y, _ = played(
        PreisachActuator("lift", part=1.0, extent=2.0, bandwidth=FAST), sine(6.0), step=2 * STEP
    )
    assert y.max() == pytest.approx(2.0, rel=1e-9)
    assert y.min() == pytest.approx(-2.0, rel=1e-9)


def corners(*points):
    """Return a command that goes straight from corner to corner, one a second."""
    return lambda t: ca.pw_lin(t, ca.DM(range(len(points))), ca.DM(points))


def test_extremes_wipe_out_smaller_ones_and_loops_between_the_same_extremes_are_congruent():
    """Mayergoyz's two properties, which hold of Preisach's model and of no other."""
    actuator = PreisachActuator("lift", part=0.8, extent=5.0, bandwidth=FAST)

    def at_corners(*points):
        _, _, y, t = played(actuator, corners(*points), t_end=len(points) - 1.0, step=5e-4)
        return y[np.searchsorted(t, np.arange(len(points)) - 1e-9)]

    plain = at_corners(0.0, 4.0, -1.0, 4.0)
    nested = at_corners(0.0, 4.0, -1.0, 2.0, 0.0, 1.5, 0.5, 4.0)
    assert nested[-1] == pytest.approx(
        plain[-1], abs=5e-3
    )  # the lag of the amplifier and of a step, at slopes of 1 to 5 a second
    low = at_corners(0.0, 1.0, 2.0, 1.0, 2.0)
    high = at_corners(0.0, 4.5, 1.0, 2.0, 1.0)
    assert low[4] - low[3] == pytest.approx(high[3] - high[4], abs=5e-3)
    assert abs(low[4] - high[3]) > 0.1  # congruent, not the same


@pytest.mark.parametrize("gain", [3.0, 19.0])
@pytest.mark.parametrize("kind", ["bouc_wen", "preisach", "electrostrictive"])
def test_strain_feedback_divides_the_area_of_a_loop_by_one_plus_its_gain(gain, kind):
    make = {
        "bouc_wen": lambda **x: BoucWenActuator("lift", alpha=0.3, beta=1.0, **x),
        "preisach": lambda **x: PreisachActuator("lift", part=0.2, extent=4.0, plays=12, **x),
        "electrostrictive": lambda **x: BoucWenActuator("lift", alpha=0.3, beta=1.0, bias=5.0, **x),
    }[kind]
    u, U, y = last_cycle(*_time_first(played(make(bandwidth=FAST, feedback=gain), sine(2.0), step=STEP / 2)))
    # u = (U + U' / bandwidth + gain y) / (1 + gain), and the area of y over y is zero
    late = float(np.gradient(U, STEP / 2)[1:] @ np.diff(y)) / FAST
    assert area(u, y) == pytest.approx((area(U, y) + late) / (1 + gain), rel=5e-3)  # sums for integrals
    open_, _, y0 = last_cycle(*_time_first(played(make(bandwidth=FAST), sine(2.0), step=2 * STEP)))
    ratio = area(open_, y0) / area(u, y)
    assert 0.6 * (1 + gain) < ratio < 1.4 * (1 + gain)  # at the same command; the drive is not quite the same
    line = np.abs(y - u).max(), np.abs(y0 - open_).max()
    assert line[0] < line[1] * 2 / (1 + gain)


def _time_first(found):
    *columns, t = found
    return t, *columns


def test_electrostriction_is_quadratic_in_the_whole_drive():
    _, U, y, _ = played(
        BoucWenActuator("lift", alpha=0.0, beta=1.0, bias=4.0, bandwidth=FAST), sine(3.0), t_end=1.0
    )
    assert y == pytest.approx(((4.0 + U) ** 2 - 16.0) / 8.0, abs=1e-12)


def test_the_inner_loop_may_measure_a_signal():
    """A gauge on the structure instead of the free strain: here the carriage's position, so drive and position settle together."""
    actuator = BoucWenActuator(
        "lift", alpha=0.2, beta=1.0, bandwidth=50.0, feedback=4.0, measured="place.q", scale=2.0, name="patch"
    )
    sensor = art.components.JointSensor(("lift",), name="place")
    spring = art.components.LinearController(D=[[-30.0, -20.0]], measured=("q", "v"))
    held = PrescribedForce("lift", TimeFunction.of(0.0))
    run = art.simulate(
        slider(), 8.0, controller=spring, components=[sensor, actuator, held], step=1e-3, q0=[0.3]
    )
    u, U, q = run["u"][-1, 0], run["patch.drive"][-1], run.q[-1, 0]
    assert float(np.ravel(U)[0]) == pytest.approx(u + 4.0 * (u - 2.0 * q), abs=1e-6)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: BoucWenActuator("lift", beta=0.1, gamma=-0.2), "beta above |gamma|"),
        (lambda: BoucWenActuator("lift", beta=1.0, alpha=-1.0), "alpha"),
        (lambda: BoucWenActuator("lift", beta=1.0, bias=0.0), "bias"),
        (lambda: BoucWenActuator("lift", beta=1.0, bandwidth=0.0), "bandwidth"),
        (lambda: PreisachActuator("lift", extent=1.0, part=1.5), "a part from 0 to 1"),
        (lambda: PreisachActuator("lift", extent=0.0), "extent"),
        (lambda: PreisachActuator("lift", extent=1.0, plays=0), "whole number"),
        (lambda: PreisachActuator("lift", extent=1.0, feedback=-0.5), "feedback"),
    ],
)
def test_wrong_numbers_are_refused(make, told):
    with pytest.raises(art.InputError, match=told.replace("|", r"\|")):
        make()
