"""Loop shaping with normalized coprime factors: closed forms, the margin as a gap, the order at the optimum."""

import numpy as np
import pytest

from articulus.control import ncfsyn
from articulus.control.connect import close
from articulus.control.plant import of_matrices
from articulus.errors import InputError

RNG = np.random.default_rng(8)
SYSTEM = (
    RNG.normal(size=(4, 4)),
    RNG.normal(size=(4, 2)),
    RNG.normal(size=(3, 4)),
    0.3 * RNG.normal(size=(3, 2)),
)


def test_margins_in_closed_form():
    """Of 1/s: 1/sqrt(2); of 1/s^2: 1/sqrt(4 + 2 sqrt(2)) (Glover & McFarlane 1989: both Riccati solutions by hand)."""
    assert ncfsyn(([[0.0]], [[1.0]], [[1.0]], [[0.0]])).margin_optimal == pytest.approx(
        np.sqrt(0.5), rel=1e-10
    )
    double = ([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], [[0]])
    found = ncfsyn(double, relax=0.0)
    assert found.margin_optimal == pytest.approx((4 + 2 * np.sqrt(2)) ** -0.5, rel=1e-10)
    assert found.margin == pytest.approx(found.margin_optimal, rel=1e-6)
    assert len(found.controller.A) == 1  # the order falls by one at the optimum


@pytest.mark.parametrize("period", [None, 0.2])
def test_margin_is_kept(period):
    """The smallest change of the coprime factors that the margin forbids destabilizes; checked by scaled plants.

    (1 + e) G / (1 - e) changes the normalized factors by at most e: stable for e below the margin, with either sign.
    """
    A, B, C, D = SYSTEM
    A = A if period is None else A / 2
    design = ncfsyn((A, B, C, D, period))
    assert design.margin >= design.margin_optimal / 1.1 * (1 - 1e-6)
    for e in (-0.99 * design.margin, 0.99 * design.margin):
        factor = (1 + e) / (1 - e)
        loop = close(of_matrices(A, B * factor, C, D * factor, period), design.controller, [0, 1], [0, 1, 2])
        values = np.linalg.eigvals(loop.A)
        assert (values.real.max() < 0) if period is None else (np.abs(values).max() < 1)


def test_weights_are_in_the_controller():
    integrating = ncfsyn(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), W1=([1.0, 1.0], [1.0, 0.0]))
    assert np.abs(integrating.controller.response(1e-6)).max() > 1e5
    assert 0.25 < integrating.margin < integrating.margin_optimal
    assert integrating.controller.inputs == ("y.0",)


def test_unstabilizable_shape_is_named():
    """A zero of the plant at the integrator of the weight."""
    with pytest.raises(InputError, match=r"ncfsyn: .*mode at .*no (input|output)"):
        ncfsyn(([[-1.0]], [[1.0]], [[-1.0]], [[1.0]]), W1=([1.0], [1.0, 0.0]))


def test_prints_numbers_not_models():
    text = str(ncfsyn(([[-1.0]], [[1.0]], [[1.0]], [[0.0]])))
    assert "margin_optimal = " in text
    assert "LinearModel" not in text
    assert "array" not in text
