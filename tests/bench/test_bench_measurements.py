"""The rows of gradients, regressors and fits are there and agree with what they say."""

import numpy as np
import pytest

from articulus.bench import measurements
from articulus.bench.models import chain
from articulus.bench.rows import Effort
from articulus.design.regression import Regression

QUICK = Effort(seconds=0.0, quick=True, rounds=1)


def test_sum_of_products_is_that_of_the_regressors():
    model = chain(7)
    q, v, vdot = model.states(300)
    regression = Regression(model.mechanism)
    Y = regression.matrix(q, v, vdot).reshape(-1, 70)
    np.testing.assert_allclose(regression.products(q, v, vdot), Y.T @ Y, atol=1e-13 * np.abs(Y.T @ Y).max())
    with_terms = Regression(model.mechanism, ("damping",))
    Y = with_terms.matrix(q, v, vdot).reshape(-1, 77)
    np.testing.assert_allclose(with_terms.products(q, v, vdot), Y.T @ Y, atol=1e-13 * np.abs(Y.T @ Y).max())


def test_every_number_of_an_arm_can_be_a_parameter():
    loop = measurements.arm(chain(1), every=True)
    assert len(loop.mechanism.description.parameters) == 22


@pytest.mark.parametrize("section", [measurements.regressors, measurements.fits])
def test_rows_agree(section):
    rows = list(section(QUICK))
    assert rows
    assert not any(r.failed for r in rows)
    assert all(r.ours_us > 0 for r in rows)
