"""Linear fractions of polynomial matrices with few repetitions: the examples of Belcastro, Chang & Fischl 1989."""

import numpy as np
import pytest

from articulus.control import robstab, uncertain
from articulus.control.plant import of_matrices
from articulus.control.robust import cascade, fraction
from articulus.errors import DoubtfulResult, InputError

RNG = np.random.default_rng(2)


def spread(**nominal):
    return {name: (0.8 * x, 1.3 * x) for name, x in nominal.items()}


def off(model, exact):
    """Return the largest difference of responses at random parameters and frequencies."""
    found = 0.0
    for _ in range(12):
        p = {n: RNG.uniform(*r) for n, r in model.ranges.items()}
        w = RNG.uniform(0.1, 5.0)
        found = max(found, abs(model.at(p).response(w)[0, 0, 0] - exact(p, 1j * w)))
    return found


def test_inseparable_poles_repeat_one_parameter():
    """Example 7.2: 6 entries of Delta for 5 parameters."""
    ranges = spread(t1=1.0, t2=2.0, b1=0.5, b2=1.5, b3=3.0)
    model = uncertain(
        lambda p: cascade([([p["b1"], p["b2"], p["b3"]], [1, p["t1"] + p["t2"], p["t1"] * p["t2"]])]), ranges
    )
    assert model.structure.rows == 6
    assert (
        off(model, lambda p, s: (p["b1"] * s**2 + p["b2"] * s + p["b3"]) / ((s + p["t1"]) * (s + p["t2"])))
        < 1e-12
    )


def test_square_of_a_parameter():
    """Example 7.3: w^2 repeats w, 3 entries."""
    model = uncertain(
        lambda p: cascade([([1.0], [1, 2 * p["sigma"], p["w"] ** 2])]), {"sigma": (0.1, 0.3), "w": (2.0, 3.0)}
    )
    assert model.repetitions == {"sigma": 1, "w": 2}
    assert off(model, lambda p, s: 1 / (s**2 + 2 * p["sigma"] * s + p["w"] ** 2)) < 1e-12


def test_cascade_is_the_product():
    A, B, C, D = cascade(
        [([2.0, 1.0], [1, 3.0]), ([1.0], [1, 0.4, 2.0]), ([3.0, 0.5, 1.0], [1, 1.0, 5.0])], gain=0.7
    )
    s = 0.3 + 1.1j
    exact = 0.7 * (2 * s + 1) / (s + 3) / (s * s + 0.4 * s + 2) * (3 * s * s + 0.5 * s + 1) / (s * s + s + 5)
    assert (C @ np.linalg.solve(s * np.eye(5) - A, B) + D)[0, 0] == pytest.approx(exact, abs=1e-13)
    with pytest.raises(InputError, match="begins with 1"):
        cascade([([1.0], [2.0, 1.0])])


@pytest.mark.parametrize("seed", range(3))
def test_fraction_is_the_polynomial(seed):
    """A random polynomial matrix of three parameters; the rank of its affine parts is not exceeded."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(4, 1)), rng.normal(size=(1, 3))
    polynomial = {
        (0, 0, 0): rng.normal(size=(4, 3)),
        (1, 0, 0): u @ rng.normal(size=(1, 3)),
        (0, 1, 0): rng.normal(size=(4, 1)) @ v,
        (1, 1, 0): 2.0 * u @ v,
        (0, 0, 2): u @ v,
    }
    f = fraction(polynomial)
    d = rng.uniform(-1, 1, 3)
    exact = sum(c * np.prod(d ** np.array(e)) for e, c in polynomial.items())
    np.testing.assert_allclose(f.at(d), exact, atol=1e-12)
    assert f.counts == (1, 1, 2)


def test_rational_dependence_says_its_error():
    ranges = {"m": (1.0, 1.4)}
    source = lambda p: cascade([([1.0], [1.0, 0.2 / p["m"], 3.0 / p["m"]])])  # noqa: E731
    model = uncertain(source, ranges)
    assert 0 < model.error < 1e-3
    with pytest.raises(InputError, match=r"off by .*tolerance.*narrow them"):
        uncertain(source, {"m": (0.2, 5.0)}, degree=1)
    with pytest.raises(InputError, match="low < high"):
        uncertain(source, {"m": (2.0, 1.0)})
    with pytest.raises(InputError, match="no parameter 'mass'"):
        model.at(mass=1.0)


def test_parameter_without_effect_is_named():
    with pytest.warns(DoubtfulResult, match="no effect of b on"):
        model = uncertain(
            lambda p: cascade([([1.0], [1.0, p["a"] + 0.0 * p["b"]])]), {"a": (1.0, 2.0), "b": (0.0, 1.0)}
        )
    assert model.repetitions == {"a": 1}
    np.testing.assert_allclose(model.at(a=1.2, b=0.7).A, [[-1.2]])


def lag(p):
    """p["gain"] / (s + 1) from "u.0" to "y.0"."""
    return [[-1.0]], [[1.0]], [[p["gain"]]], [[0.0]]


def test_unmodelled_dynamics_at_an_input():
    """With u = -3 y and W = 0.2 s / (s / 10 + 1): mu of the dynamics alone is |W T|, T = 3 g / (s + 1 + 3 g)."""
    weight = ([[-10.0]], [[1.0]], [[-20.0]], [[2.0]])
    model = uncertain(lag, {"gain": (1.0, 3.0)}).with_dynamics(weight=weight)
    law = of_matrices(
        np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[-3.0]], inputs=["y.0"], outputs=["u.0"]
    )
    loop = model.close(law)
    s = 2.5j
    M = loop.M.response(2.5)[0]
    W, T = 0.2 * s / (s / 10 + 1), 6.0 / (s + 7.0)
    assert abs(M[-1, -1]) == pytest.approx(abs(W * T), rel=1e-12)
    report = robstab(loop)
    assert report.everywhere
    assert report.checks[0].passed
    # at the worst gain of the range the dynamics alone have the margin that the gain does not take
    assert set(report.worst) == {"gain"}
    at = loop.at(report.worst)
    assert at.inputs == ("u.0",)
    np.testing.assert_allclose(loop.at(gain=2.5).poles.real.max(), -8.5, rtol=1e-9)


def test_sampled_loop_with_a_parameter():
    """A recursion x' = a x + u with u = -0.5 x: unstable from a = 1.5 and a = -0.5 on; the range is 0.2 to 1.2."""
    model = uncertain(lambda p: ([[p["a"] - 0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1), {"a": (0.2, 1.2)})
    report = robstab(model)
    assert report.margin == pytest.approx(1.6, rel=2e-3)
    assert report.worst["a"] == pytest.approx(1.5, rel=1e-6)


def test_no_products_of_parameters_from_what_no_polynomial_follows():
    """sqrt(k) is fitted with an error, which depends on k alone: m, beside it, enters once, and not again in products with k."""
    a = uncertain(
        lambda p: (np.diag([-np.sqrt(p["k"]), -p["m"]]) + 0.1, np.eye(2), np.eye(2), np.zeros((2, 2))),
        {"k": (0.5, 1.5), "m": (1.0, 3.0)},
    )
    assert a.repetitions["m"] == 1
    assert a.error < 1e-3


def test_misspelt_parameter_of_a_function_is_named():
    with pytest.raises(InputError, match=r"asks for the parameter 'k'; found ranges of kk"):
        uncertain(lambda p: ([[0, 1], [-p["k"], -1]], [[0], [1]], [[1, 0]]), {"kk": (1, 2)})
