"""Calling kernels: values, batches, broadcasting, shapes, errors, prepared calls."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import InputError, NumericalError, Status
from articulus.kernel import jit, pool

from .support import same_bits, virtual_machine


def sample() -> ca.Function:
    """Return a function with a vector, a matrix and a scalar input, and as many kinds of output."""
    x, a, s = ca.SX.sym("x", 5), ca.SX.sym("a", 2, 5), ca.SX.sym("s")
    return ca.Function(
        "sample",
        [x, a, s],
        [ca.mtimes(a, ca.sin(x)) * s, a * s + 1, ca.sumsqr(x) / s],
        ["x", "a", "s"],
        ["y", "b", "e"],
    )


def random_function(seed: int, size: int) -> ca.Function:
    """Return a random straight-line function of bounded values."""
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("x", 6)
    values = [x[i] for i in range(6)]
    make = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: ca.sin(a) * ca.cos(b), lambda a, b: a / (1 + b * b),
            lambda a, b: ca.sqrt(1 + a * a), lambda a, b: ca.fmax(a, b), lambda a, b: ca.atan2(a, 2 + b), lambda a, b: 0.3 * a]  # fmt: skip
    for _ in range(size):
        a, b = (values[-1 - int(k)] for k in rng.integers(0, min(len(values), 40), 2))
        values.append(ca.tanh(make[rng.integers(len(make))](a, b)))
    return ca.Function("random", [x], [ca.vertcat(*values[-7:])], ["x"], ["y"])


def test_signature():
    k = kernel.compile(sample())
    assert (k.name, k.input_names, k.output_names) == ("sample", ("x", "a", "s"), ("y", "b", "e"))
    assert (k.input_shapes, k.output_shapes) == (((5,), (2, 5), ()), ((2,), (2, 5), ()))
    assert k.lanes == jit.host().lanes
    assert k.flops > 20
    assert "a (..., 2, 5)" in repr(k)


def test_one_state_and_batch_against_casadi():
    function, rng = sample(), np.random.default_rng(0)
    k = kernel.compile(function)
    x, a, s = rng.normal(size=(9, 5)), rng.normal(size=(9, 2, 5)), rng.uniform(1, 2, 9)
    batch = k(x, a, s)
    assert [out.shape for out in batch] == [(9, 2), (9, 2, 5), (9,)]
    for i in range(9):
        reference = function(x[i], a[i], s[i])
        for out, ref in zip(k(x[i], a[i], s[i]), reference):
            np.testing.assert_allclose(out, ref.full().reshape(np.shape(out)), rtol=1e-14, atol=1e-15)
    assert all(same_bits(np.asarray(one), many[4]) for one, many in zip(k(x[4], a[4], s[4]), batch))


@pytest.mark.parametrize("seed", range(3))
def test_random_functions(seed):
    function = random_function(seed, 1500)
    x = np.random.default_rng(seed).normal(size=(7, 6))
    np.testing.assert_allclose(
        kernel.compile(function)(x), virtual_machine(function, [x])[0], rtol=1e-9, atol=1e-11
    )


def test_bits_do_not_depend_on_batch_position_lane_or_threads(monkeypatch):
    monkeypatch.setattr("articulus.kernel.batch.SHARE", 1)
    k = kernel.compile(random_function(7, 900))
    x = np.random.default_rng(1).normal(size=(2 * k.lanes + 1, 6))
    single = np.array([k(row) for row in x])
    for size in range(1, len(x) + 1):
        for start in range(len(x) - size + 1):
            assert same_bits(k(x[start : start + size]), single[start : start + size])
    big = np.tile(x, (20, 1))
    for n in (1, 2, 3, 8):
        with kernel.threads(n):
            assert same_bits(k(big), np.tile(single, (20, 1)))


def test_leading_axes_broadcast():
    k, rng = kernel.compile(sample()), np.random.default_rng(2)
    x, a, s = rng.normal(size=(3, 1, 5)), rng.normal(size=(4, 2, 5)), rng.uniform(1, 2, ())
    y, b, e = k(x, a, s)
    assert (y.shape, b.shape, e.shape) == ((3, 4, 2), (3, 4, 2, 5), (3, 4))
    for i in range(3):
        for j in range(4):
            for found, out in zip(k(x[i, 0], a[j], s), (y, b, e)):
                assert same_bits(np.asarray(found), np.asarray(out[i, j]))


def test_memory_layouts_and_types():
    k, rng = kernel.compile(sample()), np.random.default_rng(3)
    x, a, s = rng.integers(1, 9, (6, 5)), rng.integers(1, 9, (6, 2, 5)), rng.integers(1, 9, 6)
    expected = k(x.astype(float), a.astype(float), s.astype(float))
    wide = np.zeros((6, 17))
    wide[:, 4:9] = x
    backwards = np.ascontiguousarray(x[::-1].astype(float))[::-1]
    unaligned = (
        np.frombuffer(b"\0" + x.astype(float).tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(6, 5)
    )
    for variant in (
        x,
        x.tolist(),
        x.astype(np.float32),
        wide[:, 4:9],
        np.asfortranarray(x.astype(float)),
        backwards,
        unaligned,
    ):
        assert all(same_bits(f, e) for f, e in zip(k(variant, np.asfortranarray(a), s[::1]), expected))
    assert k(x[0], a[0], 2)[2] == k(x[0] * 1.0, a[0] * 1.0, 2.0)[2]


def test_read_only_arrays_and_single_rows_in_a_batch():
    k, rng = kernel.compile(sample()), np.random.default_rng(6)
    x, a, s = rng.normal(size=(9, 5)), rng.normal(size=(2, 5)), rng.uniform(1, 2, 9)
    expected = k(x, np.tile(a, (9, 1, 1)), s)
    x.flags.writeable = a.flags.writeable = False
    assert all(same_bits(f, e) for f, e in zip(k(x, a, s), expected))
    assert all(same_bits(f, e) for f, e in zip(k(x, a[None], s), expected))
    with pytest.raises(InputError, match="do not broadcast"):
        k(x, a, s[:8])


def test_empty_batch_and_empty_function():
    k = kernel.compile(sample())
    assert [out.shape for out in k(np.zeros((0, 5)), np.zeros((2, 5)), 1.0)] == [(0, 2), (0, 2, 5), (0,)]
    constant = kernel.compile(ca.Function("c", [], [ca.SX([1, 2])]))
    assert constant().tolist() == [1.0, 2.0]


def test_copied_constant_sparse_and_repeated_outputs():
    x, d = ca.SX.sym("x", 3), ca.SX.sym("d", ca.Sparsity.diag(3))
    function = ca.Function("f", [x, d], [x, x, ca.SX(7), ca.diag(x), d @ x, ca.SX(2, 2)])
    k = kernel.compile(function)
    full = np.arange(9.0).reshape(3, 3) + 1
    a, b, c, e, f, g = k([1.0, 2.0, 3.0], full)
    assert (a.tolist(), b.tolist(), float(c)) == ([1, 2, 3], [1, 2, 3], 7)
    assert np.array_equal(e, np.diag([1.0, 2.0, 3.0]))
    assert f.tolist() == [1, 10, 27]
    assert not g.any()
    assert all(
        np.array_equal(out[2], one)
        for out, one in zip(k(np.tile([1.0, 2.0, 3.0], (6, 1)), full), (a, b, c, e, f, g))
    )


def test_single_output_is_not_a_tuple():
    x = ca.SX.sym("x")
    k = kernel.compile(ca.Function("f", [x], [x * x]))
    assert k(3.0) == 9.0
    assert isinstance(k(3.0), float)
    assert k([1.0, 2.0]).tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(5), np.zeros((2, 5))), r"found 2 arguments; expected 3 \(x, a, s\)"),
        ((np.zeros(4), np.zeros((2, 5)), 1.0), r"'x' has shape \(4,\); expected \(\.\.\., 5\)"),
        ((np.zeros(5), np.zeros(5), 1.0), r"'a' has shape \(5,\); expected \(\.\.\., 2, 5\)"),
        ((np.zeros((3, 5)), np.zeros((4, 2, 5)), 1.0), r"do not broadcast: x \(3,\), a \(4,\), s \(\)"),
        ((np.zeros(5, complex), np.zeros((2, 5)), 1.0), "'x' has dtype complex128"),
        (([None] * 5, np.zeros((2, 5)), 1.0), "'x' has dtype object"),
        (([[1.0], [1.0, 2.0]], np.zeros((2, 5)), 1.0), "'x' is not an array"),
        ((np.full(5, np.nan), np.zeros((2, 5)), 1.0), r"'x' is nan at index \(0,\)"),
        ((np.zeros((8, 5)), np.zeros((2, 5)), np.r_[np.ones(6), np.inf, 1]), r"'s' is inf at index \(6,\)"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        kernel.compile(sample())(*arguments)


def test_results_that_are_not_finite():
    x = ca.SX.sym("x", 2)
    function = ca.Function("f", [x], [ca.log(x), x[0]], ["x"], ["y", "z"])
    values = np.ones((11, 2))
    values[3, 1] = -1.0
    values[10, 0] = 0.0
    with pytest.raises(
        NumericalError, match=r"f: output 'y' is nan at index \(3, 1\); 2 of 11 rows"
    ) as caught:
        kernel.compile(function)(values)
    assert caught.value.rows.tolist() == [3, 10]
    assert caught.value.result[0][0].tolist() == [0.0, 0.0]
    with pytest.raises(NumericalError):
        kernel.compile(function)(values[3])
    loose = kernel.compile(function, finite=False)
    assert np.isnan(loose(values)[0][3, 1])
    assert np.isnan(loose(values * np.nan)[0]).all()


def test_bind():
    k, rng = kernel.compile(sample()), np.random.default_rng(5)
    x, a, s = rng.normal(size=5), rng.normal(size=(2, 5)), np.array(1.5)
    call = k.bind(x, a, s)
    assert call() == Status.OK
    assert all(same_bits(np.asarray(f), o) for f, o in zip(k(x, a, s), call.outputs))
    x[0] = np.nan
    assert call() & Status.INPUT_NOT_FINITE
    out = (np.zeros(2), np.zeros((2, 5)), np.zeros(()))
    x[0] = 0.0
    assert k.bind(x, a, s, out=out)() == 0
    assert out[0].any()


def test_bind_takes_only_the_callers_own_memory():
    k = kernel.compile(sample())
    good = (np.zeros(5), np.zeros((2, 5)), np.zeros(()))
    for wrong in (np.zeros(5, np.float32), np.zeros(10)[::2], np.zeros(4), [0.0] * 5):
        with pytest.raises(InputError, match="'x' must be"):
            k.bind(wrong, *good[1:])
    with pytest.raises(InputError, match="output arrays"):
        k.bind(*good, out=np.zeros(2))


def test_thread_count(monkeypatch):
    monkeypatch.setenv("ARTICULUS_THREADS", "3")
    assert pool.count() == 3
    with kernel.threads(5):
        assert pool.count() == 5
    monkeypatch.delenv("ARTICULUS_THREADS")
    assert pool.count() == pool.cores()


def test_single_calls_from_many_threads():
    from concurrent.futures import ThreadPoolExecutor

    k = kernel.compile(random_function(3, 200))
    x = np.random.default_rng(0).normal(size=(400, 6))
    expected = k(x)
    with ThreadPoolExecutor(4) as workers:
        assert same_bits(np.array(list(workers.map(k, x))), expected)


def test_numbers_beside_arrays_are_the_same_call():
    """Python's and NumPy's floats for scalars, arrays for columns: the same bits as arrays alone, before and after the first call."""
    x, t = ca.SX.sym("x", 3), ca.SX.sym("t")
    built = kernel.compile(ca.Function("f", [x, t], [ca.sin(x) * t], ["x", "t"], ["y"]), ranks=((1, 0), (1,)))
    at = np.array([0.1, 0.2, 0.3])
    wanted = built(at, np.array(0.7))
    for number in (0.7, np.float64(0.7), np.array(0.7)):
        assert np.array_equal(built(at, number), wanted)
    with pytest.raises(InputError):
        built(0.7, at)
