"""A scan is its map applied row after row, each lane for itself."""

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import InputError


def step() -> ca.Function:
    x, p, w = ca.SX.sym("x", 3), ca.SX.sym("p", 2), ca.SX.sym("w", 2)
    following = ca.vertcat(ca.sin(x[1]) + p[0] * w[0], x[2] - w[1], x[0] * p[1])
    return ca.Function("step", [x, p, w], [following, ca.vertcat(x[0] + w[1])])


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_scan_is_its_map_again_and_again(lanes, backwards):
    f, steps, rng = step(), 5, np.random.default_rng(lanes)
    scan = kernel.scan_lanes(f, lanes)
    x, p, w, held = scan.zeros(3), scan.zeros(2), scan.zeros(steps, 2), scan.zeros(steps, 4)
    x[:], p[:], w[:] = rng.normal(size=x.shape), rng.normal(size=p.shape), rng.normal(size=w.shape)
    y = held[:, :1]
    expected_x, expected_y = x.copy(), np.zeros_like(y)
    order = range(steps)[:: -1 if backwards else 1]
    for k in order:
        for lane in range(lanes):
            a, b = f(expected_x[:, lane], p[:, lane], w[k, :, lane])
            expected_x[:, lane], expected_y[k, 0, lane] = np.array(a).ravel(), float(b)
    turned = slice(None, None, -1 if backwards else 1)
    scan.bind(x, p, w[turned], y[turned])()
    assert x == pytest.approx(expected_x, rel=1e-14, abs=1e-14)
    assert y == pytest.approx(expected_y, rel=1e-14, abs=1e-14)
    assert not held[:, 1:].any()


def test_arrays_that_do_not_fit():
    scan = kernel.scan_lanes(step(), 2)
    good = [scan.zeros(3), scan.zeros(2), scan.zeros(4, 2), scan.zeros(4, 1)]
    for k, bad in (
        (0, scan.zeros(2)),
        (2, scan.zeros(4, 3)),
        (3, scan.zeros(5, 1)),
        (1, np.zeros((2, 2), dtype=int)),
    ):
        with pytest.raises(InputError, match=f"scan: '{'xpwy'[k]}'"):
            scan.bind(*(bad if k == j else x for j, x in enumerate(good)))
    x = ca.SX.sym("x", 2)
    with pytest.raises(InputError, match="expected x, p, w and out x, y"):
        kernel.scan_lanes(ca.Function("f", [x], [x]))


@pytest.mark.parametrize("lanes", [0, 3, 16, -2, "4", True])
def test_lanes_are_those_of_a_vector(lanes):
    with pytest.raises(InputError, match="expected 1, 2, 4 or 8"):
        kernel.scan_lanes(step(), lanes)
