"""The second-order form of mechanisms against their first-order linear models."""

import numpy as np
import pytest

import articulus as art
from articulus.control import second_order
from articulus.errors import InputError


@pytest.mark.parametrize("name", ["two_link", "bayo_link"])
def test_first_order_form_is_linearize(name):
    arm = art.load(name)
    q = np.zeros(arm.nq)
    q[0] = 0.4
    ours, theirs = second_order(arm, q).first_order(), arm.linearize(q=q)
    for matrix in "ABCD":
        a, b = getattr(ours, matrix), getattr(theirs, matrix)
        np.testing.assert_allclose(a, b, atol=1e-9 * max(np.abs(b).max(), 1.0))
    assert ours.inputs == theirs.inputs
    assert ours.outputs == theirs.outputs


def test_loops_are_refused():
    with pytest.raises(InputError, match="closed loops"):
        second_order(art.load("stewart_platform"))
