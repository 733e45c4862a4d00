"""Prepared calls of a batch."""

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import InputError


@pytest.fixture(scope="module")
def product():
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3, 3)
    return kernel.compile(ca.Function("product", [a, b], [ca.mtimes(b, a), ca.sumsqr(a)]))


@pytest.mark.parametrize("rows", [1, 2, 7, 64, 203])
@pytest.mark.parametrize("shared", [False, True])
def test_rows_are_those_of_the_plain_call(product, rows, shared):
    rng = np.random.default_rng(rows)
    a, b = rng.normal(size=(rows, 3)), rng.normal(size=(3, 3) if shared else (rows, 3, 3))
    call = product.bind(a, b)
    for _ in range(2):
        a[:] = rng.normal(size=a.shape)
        assert call() == 0
        for found, want in zip(call.outputs, product(a, b)):
            np.testing.assert_array_equal(found, want)


def test_rows_that_differ_are_named(product):
    with pytest.raises(InputError, match=r"'i1' must be .* of shape \(4, 3, 3\)"):
        product.bind(np.zeros((4, 3)), np.zeros((5, 3, 3)))
