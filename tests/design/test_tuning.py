"""Damping and frequency of runs as figures, objectives of several terms: against closed forms and differences."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.design import AtMost, optimize
from articulus.design.modal import DecayFigure
from articulus.design.objectives import Aim, AtLeast, Objective, WeightedFigure
from articulus.errors import InputError, NumericalError
from articulus.simulation.gradients import Final, Largest, Rms

RUN = {"step": 0.005, "sample": 0.05}
MASS, K, C = 2.0, 50.0, 6.0
START = {"q0": [0.1], "v0": [0.2]}


def cart() -> art.Loop:
    m = art.Mechanism("cart", gravity=(0, 0, 0)).body("cart", mass=MASS, inertia=(1, 1, 1))
    m.joint(
        "slide",
        art.Prismatic((1, 0, 0)),
        "ground",
        "cart",
        stiffness=art.Parameter("k", K),
        damping=art.Parameter("c", C),
    )
    return art.Loop(m)


def pendulum() -> art.Loop:
    m = art.Mechanism("pendulum").body(
        "rod", mass=art.Parameter("m", 1.0), com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01)
    )
    m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "rod", damping=art.Parameter("c", 0.3))
    return art.Loop(m)


@pytest.mark.parametrize("mode", ["forward", "adjoint"])
def test_damping_and_frequency_of_an_oscillator(mode) -> None:
    """w = sqrt(k / m), zeta = c / (2 sqrt(k m)), and their derivatives; RK4 errs by about (w h)^4 = 4e-7 a step of the phase."""
    figures = [DecayFigure("q.slide", kind) for kind in ("frequency", "damping")]
    w, zeta = cart().gradient(figures, 3.0, **START, by=["k", "c"], mode=mode, **RUN)
    assert w.value == pytest.approx(np.sqrt(K / MASS), rel=1e-6)
    assert zeta.value == pytest.approx(C / (2 * np.sqrt(K * MASS)), rel=1e-6)
    np.testing.assert_allclose(w.gradient, [np.sqrt(K / MASS) / (2 * K), 0.0], rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(zeta.gradient, [-zeta.value / (2 * K), zeta.value / C], rtol=1e-5, atol=1e-8)


def test_time_constant_of_an_overdamped_cart() -> None:
    """Of the two rates of m s^2 - c s + k = 0 the slow one comes first."""
    slow = DecayFigure("q.slide", "time_constant", modes=0, real=2)
    found = cart().gradient(slow, 2.0, **START, by=["c"], params={"c": 30.0, "k": 20.0}, **RUN)
    root = np.sqrt(30.0**2 - 4 * MASS * 20.0)
    rate = (30.0 - root) / (2 * MASS)
    assert found.value == pytest.approx(1 / rate, rel=1e-5)
    assert found["c"] == pytest.approx(-(1 - 30.0 / root) / (2 * MASS) / rate**2, rel=1e-4)


@pytest.mark.parametrize("kind", ["damping", "frequency"])
def test_derivative_where_the_decay_does_not_fit(kind) -> None:
    """A pendulum with large swings is no linear mode: residuals stay, and the derivative of what is identified is that of differences."""
    figure = DecayFigure("q.pin", kind, after=0.1)
    given = {"t_end": 5.0, "q0": [1.5], **RUN}
    exact = pendulum().gradient(figure, by=["m", "c"], **given)
    for name, value in (("m", 1.0), ("c", 0.3)):
        ends = [
            pendulum().gradient(figure, by=["m"], params={name: value + s * 1e-5}, **given).value
            for s in (1, -1)
        ]
        assert exact[name] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_several_figures_are_those_one_by_one() -> None:
    figures = [Final("q.pin"), Rms("q.pin"), Largest("v.pin"), lambda s: s["q"][0] * s.p["m"]]
    for mode in ("forward", "adjoint"):
        given = {"t_end": 0.5, "q0": [0.5], "by": ["m", "c"], "mode": mode, **RUN}
        together = pendulum().gradient(figures, **given)
        for one, figure in zip(together, figures):
            alone = pendulum().gradient(figure, **given)
            assert one.value == alone.value
            np.testing.assert_array_equal(one.gradient, alone.gradient)


def test_wanted_damping_is_reached_by_squares_and_beside_the_spike() -> None:
    """c = 2 zeta sqrt(k m); -B / (1e-14 + |x|) has the same least point."""
    damping = DecayFigure("q.slide", "damping")
    wanted = 2 * 0.2 * np.sqrt(K * MASS)
    for printed, close in ((False, 1e-5), (True, 1e-3)):
        objective = Objective(Aim(damping, 0.2, printed=printed))
        found = optimize(cart(), {"c": (0.5, 12.0)}, objective, t_end=3.0, **START, **RUN)
        assert found.values["c"] == pytest.approx(wanted, rel=close)


def test_lower_limits_hold() -> None:
    """Softest spring with a frequency of at least 4 rad/s."""
    floor = AtLeast("frequency", DecayFigure("q.slide", "frequency"), 4.0)
    found = optimize(cart(), {"k": (5.0, 100.0)}, lambda s: s.p["k"], [floor], t_end=3.0, **START, **RUN)
    assert found.ok
    assert found.values["k"] == pytest.approx(MASS * 16.0, rel=1e-5)


def test_terms_of_objectives() -> None:
    """Equations 4 and 5 of Lan & Ge 1989, and the square; slopes are those of differences."""
    spike, square = Aim("q.a", 2.0, 3.0, 0.5, printed=True), Aim("q.a", 2.0, 3.0, 0.5)
    assert spike.of(2.4)[0] == pytest.approx(-3.0 / (1e-14 + 0.8))
    assert spike.of(2.0)[0] == pytest.approx(-3e14)
    assert square.of(2.4)[0] == pytest.approx(3 * 0.64)
    for term in (spike, square, WeightedFigure("q.a", -0.1)):
        up, down = term.of(2.4 + 1e-6)[0], term.of(2.4 - 1e-6)[0]
        assert term.of(2.4)[1] == pytest.approx((up - down) / 2e-6, rel=1e-6)
    total, slope = Objective(square, WeightedFigure("q.b", -0.1)).total(
        np.array([2.4, 5.0]), np.array([[1.0, 0.0], [2.0, 3.0]])
    )
    assert total == pytest.approx(3 * 0.64 - 0.5)
    np.testing.assert_allclose(slope, [square.of(2.4)[1] - 0.2, -0.3])


def test_what_is_not_there_is_said() -> None:
    loop = cart()
    with pytest.raises(NumericalError, match="oscillating modes"):
        loop.gradient(DecayFigure("q.slide"), 2.0, **START, params={"c": 60.0}, **RUN)
    with pytest.raises(NumericalError, match="does not move"):
        loop.gradient(DecayFigure("q.slide"), 2.0, **RUN)
    with pytest.raises(InputError, match="found 5 samples"):
        loop.gradient(DecayFigure("q.slide"), 2.0, **START, step=0.01, sample=0.5)
    with pytest.raises(InputError, match="did you mean 'damping'"):
        DecayFigure("q.slide", "dampng")
    with pytest.raises(InputError, match="expected one of 1"):
        DecayFigure("q.slide", mode=1)
    with pytest.raises(InputError, match="scale above 0"):
        Aim("q.slide", 1.0, scale=0.0)
    with pytest.raises(InputError, match="at least one Aim or WeightedFigure"):
        Objective()
    with pytest.raises(InputError, match="not zero"):
        AtMost("a", "q.slide", 0.0)
