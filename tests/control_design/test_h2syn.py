"""H2 synthesis: the cost by traces is that of the closed loop, nothing near it is better, SLICOT finds the same controller."""

import numpy as np
import pytest

from articulus.control import h2norm, h2syn
from articulus.control.connect import close, select
from articulus.errors import InputError

RNG = np.random.default_rng(5)
N = 5
A = RNG.normal(size=(N, N))
B, C, D = RNG.normal(size=(N, 4)), RNG.normal(size=(5, N)), RNG.normal(size=(5, 4))
D[:3, :2] = 0.0


def test_controller_is_that_of_slicot():
    slycot = pytest.importorskip("slycot")
    ours = h2syn((A, B, C, D), measured=2, commands=2)
    Ak, Bk, Ck, Dk, *_ = slycot.sb10hd(N, 4, 5, 2, 2, A, B, C, D)
    omega = np.logspace(-2, 2, 7)
    theirs = [Ck @ np.linalg.solve(1j * w * np.eye(N) - Ak, Bk) + Dk for w in omega]
    np.testing.assert_allclose(ours.controller.response(omega), theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("period", [None, 0.5])
def test_nothing_near_it_is_better(period):
    """The derivative of the cost by the controller's matrices is zero and the second difference positive."""
    a = A if period is None else A / 2
    through = D.copy()
    if period is not None:
        through[:3, :2] = RNG.normal(size=(3, 2))
    design = h2syn((a, B, C, through, period), measured=2, commands=2)

    def cost(step):
        import dataclasses

        law = design.controller
        names = "ABC" if period is None else "ABCD"
        rng = np.random.default_rng(1)
        law = dataclasses.replace(
            law, **{x: getattr(law, x) + step * rng.normal(size=getattr(law, x).shape) for x in names}
        )
        return float(h2norm(select(close(design.plant, law, [2, 3], [3, 4]), [0, 1], [0, 1, 2])))

    low, mid, high = cost(-1e-4), cost(0.0), cost(1e-4)
    assert mid == pytest.approx(design.norm, rel=1e-9)
    assert low > mid < high
    assert abs(high - low) < 0.1 * (high + low - 2 * mid)  # of first order there is nothing


def test_feedthrough_is_refused():
    through = D.copy()
    through[1, 0] = 2.0
    with pytest.raises(InputError, match=r"feedthrough 2 from u\.0 to y\.1"):
        h2syn((A, B, C, through), measured=2, commands=2)


def test_units_of_states_do_not_matter():
    """States in units of 1e-6 to 1e6: no mode is taken for lost, the norm is the same."""
    d = 10.0 ** np.linspace(-6, 6, N)
    a = A / 2
    norms = [
        h2syn((s * a, t * B, C / d_, D, 0.5), measured=2, commands=2).norm
        for s, t, d_ in ((1.0, 1.0, 1.0), (d[:, None] / d, d[:, None], d))
    ]
    assert norms[1] == pytest.approx(norms[0], rel=1e-6)


def test_errors_that_can_be_zero():
    """As many commands as errors, as many measured outputs as disturbances, all zeros stable: rounding is no failure."""
    plant = ([[-2.0, 0.3], [0.1, -3.0]], np.eye(2), [[1.0, 2], [1, 1]], [[0.0, 1.0], [1.0, 0.0]])
    assert h2syn(plant, measured=1, commands=1).norm < 1e-6
