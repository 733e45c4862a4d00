"""The batch loop: rows of any length and distance, and a finite check that misses no element."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from .support import frame, native, run, targets

LENGTHS = (1, 3, 4, 5, 7, 8, 13, 64, 66, 71)


@pytest.mark.parametrize("target", targets(), ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_every_element_arrives(n, target):
    x, y = ca.SX.sym("x", n), ca.SX.sym("y", n)
    function = ca.Function("f", [x, y], [x - 2 * y, ca.vertcat(y, x)])
    code = native(function, target)
    for rows in (1, target.lanes, 2 * target.lanes + 1):
        a = np.arange(rows * n, dtype=float).reshape(rows, n)
        b = a[::-1] + 0.5
        difference, both = run(function, [a, b], target, code)
        assert np.array_equal(difference, a - 2 * b)
        assert np.array_equal(both, np.hstack([b, a]))


@pytest.mark.parametrize("target", targets(), ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_no_value_escapes_the_check(n, target):
    x = ca.SX.sym("x", n)
    code = native(ca.Function("f", [x], [1 / x]), target)
    rows = target.lanes + 1
    good, out = np.ones((rows, n)), np.empty((rows, n))
    for place in np.ndindex(rows, n):
        for value, flags in ((np.nan, 3), (-np.inf, 1), (0.0, 2)):
            bad = good.copy()
            bad[place] = value
            assert code.run(frame(code, rows, [bad, out])) == flags
    assert code.run(frame(code, rows, [good, out])) == 0
