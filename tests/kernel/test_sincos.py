"""Sine and cosine against mpmath: below 1.5 ulp up to the bound of the reduction, libm beyond."""

from __future__ import annotations

import casadi as ca
import mpmath
import numpy as np
import pytest

from articulus.kernel import elementary, jit

from .support import native, run, same_bits, targets

x = ca.SX.sym("x")
FUNCTION = ca.Function("f", [x], [ca.sin(x), ca.cos(x)])


def hard_points(limit: int) -> np.ndarray:
    """Return doubles next to multiples of pi/2, where the reduction cancels most."""
    with mpmath.workprec(200):
        near = np.array([float(mpmath.pi / 2 * k) for k in range(1, limit)])
    return np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf)])


def points() -> np.ndarray:
    rng = np.random.default_rng(3)
    parts = [rng.uniform(-1e4, 1e4, 1500), rng.uniform(-4, 4, 1500), 10.0 ** rng.uniform(-12, 4, 500), hard_points(6367)[::9],
             hard_points(40), [1e-320, 5e-324, 1e4, 6381956970095103.0 / 2**40]]  # fmt: skip
    return np.concatenate(parts)[:, None]


def ulp_error(found: np.ndarray, arguments: np.ndarray, exact) -> float:
    with mpmath.workprec(160):
        errors = [
            abs(mpmath.mpf(f) - exact(mpmath.mpf(a))) / np.spacing(abs(f))
            for f, a in zip(found.ravel(), arguments.ravel())
        ]
    return float(max(errors))


@pytest.mark.parametrize("target", targets(), ids=str)
def test_error(target):
    arguments = points() if target.lanes == 1 else points()[::7]
    sine, cosine = run(FUNCTION, [arguments], target)
    assert ulp_error(sine, arguments, mpmath.sin) < 1.5
    assert ulp_error(cosine, arguments, mpmath.cos) < 1.5


@pytest.mark.parametrize("target", targets(), ids=str)
def test_large_arguments(target):
    bound = elementary.BOUND_FMA if target.fma else elementary.BOUND_PLAIN
    rng = np.random.default_rng(4)
    arguments = np.concatenate(
        [bound * rng.uniform(0.5, 1, 100), bound * 10.0 ** rng.uniform(0, 290, 100), [bound, 1e22]]
    )[:, None]
    sine, cosine = run(FUNCTION, [arguments], target)
    with mpmath.workprec(1200):
        exact = np.array(
            [[float(f(mpmath.mpf(a))) for f in (mpmath.sin, mpmath.cos)] for a in arguments.ravel()]
        )
    np.testing.assert_allclose(np.hstack([sine, cosine]), exact, rtol=4.5e-16, atol=0.0)


@pytest.mark.parametrize("target", targets(), ids=str)
def test_edge_values(target):
    arguments = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 0.5])[:, None]
    sine, cosine = (out.ravel() for out in run(FUNCTION, [arguments], target))
    assert np.signbit(sine[:2]).tolist() == [False, True]
    assert cosine[:2].tolist() == [1.0, 1.0]
    assert np.isnan(sine[2:5]).all()
    assert np.isnan(cosine[2:5]).all()


def test_a_lane_does_not_feel_its_neighbors():
    """A huge or infinite argument in one lane takes the slow branch; the other lanes keep their bits."""
    target = jit.host()
    code = native(FUNCTION, target)
    calm = np.linspace(-3, 3, 8 * target.lanes)[:, None]
    wild = calm.copy()
    wild[:: target.lanes] = 1e300
    wild[3 :: 2 * target.lanes] = np.inf
    untouched = (calm == wild).ravel()
    for a, b in zip(run(FUNCTION, [calm], target, code), run(FUNCTION, [wild], target, code)):
        assert same_bits(a[untouched], b[untouched])


def test_sine_alone_is_the_same_sine():
    alone = ca.Function("s", [x], [ca.sin(x)])
    values = points()[:300]
    for target in targets():
        assert same_bits(run(alone, [values], target)[0], run(FUNCTION, [values], target)[0])
