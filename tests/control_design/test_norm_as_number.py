"""A norm is a number: it is compared, computed with and formatted as one."""

import copy
import math
import pickle

import numpy as np
import pytest

from articulus.control import h2norm, hinfnorm
from articulus.control.analysis import Norm

LAG = ([[-2.0]], [[1.0]], [[3.0]])  # 3 / (s + 2): peak 1.5 at rest, H2 norm 3 / sqrt(4)


def test_it_is_compared_and_computed_with() -> None:
    peak, energy = hinfnorm(LAG), h2norm(LAG)
    assert peak < 2
    assert peak > 1
    assert peak == pytest.approx(1.5)
    assert max(peak, 1.0) is peak
    assert energy**2 == pytest.approx(2.25)
    assert 2 * peak - peak / 2 == pytest.approx(2.25)
    assert np.allclose(np.array([peak, energy]), 1.5)
    assert math.isinf(hinfnorm(([[1.0]], [[1.0]], [[1.0]])))
    assert sorted([peak, Norm(1.0)])[0] == 1.0
    assert hash(Norm(2.0)) == hash(2.0)


def test_it_is_formatted_as_a_number_and_shown_with_its_frequency() -> None:
    assert f"{Norm(1.23456, 7.0):.3f}" == "1.235"
    assert str(Norm(1.5, 7.0)) == f"{Norm(1.5, 7.0)}" == "1.5 at 7 rad/s"
    assert repr(Norm(np.inf, reason="a pole at 1")) == "<Norm inf (a pole at 1)>"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])  # noqa: S301
def test_copies_keep_what_is_known_about_it(copied) -> None:
    found = copied(Norm(2.5, 3.0, "why"))
    assert (found.value, found.omega, found.reason) == (2.5, 3.0, "why")
    assert type(found.value) is float
