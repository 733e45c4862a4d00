"""The logarithm against mpmath: below 1 ulp for normal numbers, the C library's for all others."""

from __future__ import annotations

import casadi as ca
import mpmath
import numpy as np
import pytest

from articulus.kernel import jit

from .support import native, run, same_bits, targets

x = ca.SX.sym("x")
FUNCTION = ca.Function("f", [x], [ca.log(x)])


def points() -> np.ndarray:
    """Return arguments of all sizes, many near 1, where the logarithm vanishes, and near the border sqrt(2) of the fraction."""
    rng = np.random.default_rng(5)
    spread = 10.0 ** rng.uniform(-16, -1, 1000)
    ends = [2.0**-1022, np.finfo(float).max, 0.5, 2.0]
    near = np.sqrt([0.5, 2.0])[:, None] * (1 + 1e-7 * np.linspace(-1, 1, 41))
    parts = [rng.uniform(0, 3, 1000), 1 + spread, 1 - spread, 2.0 ** rng.uniform(-1022, 1023, 500), near.ravel(), ends]  # fmt: skip
    found = np.concatenate(parts)
    return found[found != 1][:, None]


@pytest.mark.parametrize("target", targets(), ids=str)
def test_error(target):
    arguments = points() if target.lanes == 1 else points()[::7]
    found = run(FUNCTION, [arguments], target)[0]
    with mpmath.workprec(160):
        errors = [
            abs(mpmath.mpf(f) - mpmath.log(mpmath.mpf(a))) / np.spacing(abs(f))
            for f, a in zip(found.ravel(), arguments.ravel())
        ]
    assert max(errors) < 1


@pytest.mark.parametrize("target", targets(), ids=str)
def test_edge_values(target):
    arguments = np.array([1.0, 0.0, -0.0, np.inf, 2.0**-1074, 3e-310, -1.0, -np.inf, np.nan])[:, None]
    found = run(FUNCTION, [arguments], target)[0].ravel()
    assert found[:4].tolist() == [0.0, -np.inf, -np.inf, np.inf]
    assert not np.signbit(found[0])
    assert found[4:6] == pytest.approx([-1074 * np.log(2), np.log(3) - 310 * np.log(10)], rel=4e-16)
    assert np.isnan(found[6:]).all()


def test_a_lane_does_not_feel_its_neighbors():
    """Zero or infinity in one lane takes the slow branch; the other lanes keep their bits."""
    target = jit.host()
    code = native(FUNCTION, target)
    calm = np.linspace(0.1, 3, 8 * target.lanes)[:, None]
    wild = calm.copy()
    wild[:: target.lanes] = 0.0
    wild[3 :: 2 * target.lanes] = np.inf
    untouched = (calm == wild).ravel()
    found, expected = run(FUNCTION, [wild], target, code)[0], run(FUNCTION, [calm], target, code)[0]
    assert same_bits(found[untouched], expected[untouched])
