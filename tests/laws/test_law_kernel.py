"""Native code equals the CasADi virtual machine; a row of a batch equals a single call, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import articulus as art
import zoo
from articulus.dynamics.quantities import QUANTITIES
from selection import in_turn

QUESTIONS = (*QUANTITIES, "derivatives")
FRAMES = {0: (), 1: ("tool",), 2: ("tool", "camera")}
SIZES = (1, 2, 3, 7, 8, 9, 16, 17, 61)


def question(mech, name):
    frames = FRAMES[QUANTITIES[name].frames if name in QUANTITIES else 0]
    return mech.function(name, frames), mech.kernel(name, frames)


def inputs(mech, f, count, seed=51):
    rng = np.random.default_rng(seed)
    states = [zoo.random_state(mech, rng) for _ in range(count)]
    columns = []
    for name in f.name_in():
        if name == "p":
            columns.append(np.tile(list(mech.parameters.values()), (count, 1)))
        else:
            columns.append(np.array([getattr(s, name) for s in states]))
    return columns


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(
    ("which", "name"),
    [
        pytest.param(which, name, id=f"{which}-{name}")
        for turn, name in enumerate(QUESTIONS)
        for which in ("parameters_quaternion", *in_turn(("several_roots", "screws", "free_body"), turn))
    ],
)
def test_compiled_equals_virtual_machine(which, name):
    mech = zoo.get(which)
    f, kernel = question(mech, name)
    columns = inputs(mech, f, 5)
    batch = kernel(*columns)
    batch = batch if isinstance(batch, tuple) else (batch,)
    for i in range(5):
        expected = f.call([x[i] for x in columns])
        for found, e in zip(batch, expected):
            e = np.array(e).reshape(found[i].shape)
            size = max(1.0, np.abs(e).max(initial=0))
            # sin, cos within 1 ulp and fused products: some ten roundings more or less, times cond(M) < 200 here
            assert np.abs(found[i] - e).max(initial=0) <= 1e-12 * size


@pytest.mark.parametrize("name", ["forward_dynamics", "derivatives", "energy", "pose", "reactions"])
def test_row_of_a_batch_is_the_single_call(name):
    mech = zoo.get("several_roots")
    f, kernel = question(mech, name)
    columns = inputs(mech, f, max(SIZES))
    single = [kernel(*(x[i] for x in columns)) for i in range(max(SIZES))]
    for size in SIZES:
        whole = kernel(*(x[:size] for x in columns))
        for i in range(size):
            parts = zip(whole, single[i]) if isinstance(whole, tuple) else [(whole, single[i])]
            for found, expected in parts:
                assert_array_equal(found[i], expected)


def test_threads_and_order_change_no_bit():
    mech = zoo.get("several_roots")
    kernel = mech.kernel("forward_dynamics")
    columns = inputs(mech, mech.function("forward_dynamics"), 2003)
    with art.kernel.threads(1):
        alone = kernel(*columns)
    for count in (2, 3, 8):
        with art.kernel.threads(count):
            assert_array_equal(kernel(*columns), alone)
    order = np.random.default_rng(52).permutation(2003)
    assert_array_equal(kernel(*(x[order] for x in columns)), alone[order])


def test_leading_axes_broadcast():
    mech = zoo.get("screws")
    q, v, tau, _ = inputs(mech, mech.function("forward_dynamics"), 6)
    n = mech.nv
    flat = mech.forward_dynamics(q, v, tau)
    assert_array_equal(
        mech.forward_dynamics(q.reshape(2, 3, -1), v.reshape(2, 3, n), tau.reshape(2, 3, n)),
        flat.reshape(2, 3, n),
    )
    outer = mech.forward_dynamics(q[:, None], v[None, :2], tau[0])
    assert outer.shape == (6, 2, n)
    assert_array_equal(outer[3, 1], mech.forward_dynamics(q[3], v[1], tau[0]))
    strided = np.repeat(q, 2, axis=1)[:, ::2]
    assert_array_equal(mech.forward_dynamics(strided, v, tau), flat)
    assert_array_equal(mech.forward_dynamics(np.asfortranarray(q), v[::1], tau), flat)


def test_wrenches_in_a_batch():
    mech = zoo.get("several_roots")
    q, v, tau = inputs(mech, mech.function("forward_dynamics"), 5)
    w = np.random.default_rng(53).normal(size=(5, 6))
    batch = mech.forward_dynamics(q, v, tau, wrenches={"tool": w, "camera": w[0]})
    for i in range(5):
        one = mech.forward_dynamics(q[i], v[i], tau[i], wrenches={"tool": w[i], "camera": w[0]})
        assert_array_equal(batch[i], one)
