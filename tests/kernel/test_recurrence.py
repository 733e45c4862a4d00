"""The native time loop against a Python loop over the same maps, lane by lane."""

from __future__ import annotations

import functools
import itertools

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import InputError
from articulus.kernel import NEVER, Recurrence
from articulus.kernel.march import BOUND

from .support import same_bits

NX, NP, NW, LOGGED = 5, 2, 3, 4
X, P, W, K = ca.SX.sym("x", NX), ca.SX.sym("p", NP), ca.SX.sym("w", NW), ca.SX.sym("k")


def function(name: str, out: ca.SX) -> ca.Function:
    return ca.Function(name, [X, P, W, K], [out], ["x", "p", "w", "k"], ["x_next"])


@functools.cache
def maps() -> tuple[ca.Function, ...]:
    """Return two maps that renew one element each and a step that moves all; every input matters."""
    first, second = ca.SX(X), ca.SX(X)
    first[3] = ca.sin(X[0]) + 0.1 * K
    second[4] = X[3] * P[0] + W[2]
    step = ca.vertcat(
        X[0] + 0.1 * X[1],
        X[1] - 0.1 * ca.sin(X[0]) * P[1] + 0.01 * W[0],
        X[2] + X[4] * ca.cos(0.3 * K),
        X[3],
        0.9 * X[4] + 0.1 * W[1],
    )
    return function("first", first), function("second", second), function("step", step)


def recurrence() -> Recurrence:
    return kernel.recurrence("test of the time loop", maps, LOGGED)


def data(rows: int, steps: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, NX)), rng.normal(size=(rows, NP)), rng.normal(size=(rows, steps, NW))


def by_python(x, p, w, every, periods) -> tuple[np.ndarray, np.ndarray]:
    """Return final states and samples of a plain loop, row by row."""
    *sampled, step = maps()
    out, logs = x.copy(), []
    for row in range(len(x)):
        state, samples = ca.DM(x[row]), []
        for k in range(w.shape[1]):
            for each, period in zip(sampled, periods):
                if k % period == 0:
                    state = each(state, p[row], w[row, k], k)
            if k % every == 0:
                samples.append(np.array(state).ravel()[:LOGGED])
            state = step(state, p[row], w[row, k], k)
        out[row] = np.array(state).ravel()
        logs.append(samples)
    return out, np.array(logs).reshape(len(x), -1, LOGGED)


def go(x, p, w, every=1, periods=(1, 1), cuts=()) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return final states, samples and failures of the native loop, called once or in pieces."""
    steps = w.shape[-2]
    x, failed = x.copy(), np.full(len(x), NEVER)
    log = np.full((len(x), -(-steps // every), LOGGED), 7.0)
    passage = recurrence().on(x, p, w, failed, log, every=every, periods=periods)
    ends = [0, *cuts, steps]
    for start, stop in itertools.pairwise(ends):
        passage(start, stop)
    return x, log, failed


@pytest.mark.parametrize("rows", [1, 2, 9])
@pytest.mark.parametrize(("every", "periods"), [(1, (1, 1)), (3, (2, 5)), (7, (10, 4)), (100, (100, 3))])
def test_equals_a_loop_in_python(rows: int, every: int, periods: tuple[int, int]) -> None:
    """Rounding only: native code fuses products and sums. The maps are not chaotic over 40 steps."""
    x, p, w = data(rows, 40)
    expected, samples = by_python(x, p, w, every, periods)
    final, log, failed = go(x, p, w, every, periods)
    assert np.allclose(final, expected, rtol=1e-13, atol=1e-13)
    assert np.allclose(log, samples, rtol=1e-13, atol=1e-13)
    assert (failed == NEVER).all()


@pytest.mark.parametrize("rows", [1, 3, 8, 17, 40])
def test_batch_and_threads_change_no_bit(rows: int) -> None:
    """Row i is the same alone, in any batch, on one thread or two, in one piece or in many."""
    x, p, w = data(40, 600)
    whole = go(x, p, w, 3, (2, 5))
    for count in (1, 2):
        with kernel.threads(count):
            part = go(x[:rows], p[:rows], w[:rows], 3, (2, 5))
        assert all(same_bits(a, b[:rows]) for a, b in zip(part, whole))
    pieces = go(x[:rows], p[:rows], w[:rows], 3, (2, 5), cuts=(1, 2, 64, 65, 301, 599))
    assert all(same_bits(a, b[:rows]) for a, b in zip(pieces, whole))


def test_threads_are_used() -> None:
    """A batch large enough for two threads (see `batch.SHARE`) gives the bits of one."""
    x, p, w = data(64, 2000)
    found = []
    for count in (1, 2):
        with kernel.threads(count):
            found.append(go(x, p, w, 50, (2, 5)))
    assert all(same_bits(a, b) for a, b in zip(*found))


def test_one_set_of_parameters_and_inputs_serves_all_rows() -> None:
    x, p, w = data(6, 20)
    alike = go(x, np.tile(p[0], (6, 1)), np.tile(w[0], (6, 1, 1)))
    assert all(same_bits(a, b) for a, b in zip(alike, go(x, p[0].copy(), w[0].copy())))


@pytest.mark.parametrize("rows", [1, 5])
def test_later_pieces_have_their_own_arrays(rows: int) -> None:
    """A march that begins at step 13 counts steps and samples from 13 on."""
    x, p, w = data(rows, 40)
    final, log, _ = go(x, p, w, 4, (3, 5))
    state, failed = x.copy(), np.full(rows, NEVER)
    logs = []
    for first, stop in ((0, 13), (13, 14), (14, 40)):
        part = np.zeros((rows, -(-stop // 4) - -(-first // 4), LOGGED))
        inputs = np.ascontiguousarray(w[:, first:stop])
        recurrence().on(state, p, inputs, failed, part, first=first, every=4, periods=(3, 5))(first, stop)
        logs.append(part)
    assert same_bits(state, final)
    assert same_bits(np.concatenate(logs, axis=1), log)


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("k", [12, 13])
def test_closing_prepares_and_samples_only(rows: int, k: int) -> None:
    """The closing sample is the one that the loop would take at that step; the step itself is left out."""
    x, p, w = data(rows, 20)
    _, log, _ = go(x, p, w, 1, (3, 4))
    before, failed = go(x, p, w[:, :k].copy(), 1, (3, 4))[0], np.full(rows, NEVER)
    sample = np.zeros((rows, 1, LOGGED))
    recurrence().on(
        before, p, np.ascontiguousarray(w[:, k : k + 1]), failed, sample, first=k, periods=(3, 4)
    )(k, k, closing=True)
    assert same_bits(sample[:, 0], log[:, k])


def test_every_element_may_read_every_other() -> None:
    """A rotation of the elements: a loop that overwrote its own input would smear them."""
    turn = ca.Function("turn", [X, P, W, K], [ca.vertcat(X[1:], X[0])], ["x", "p", "w", "k"], ["x_next"])
    loop = kernel.recurrence("turn", lambda: [turn], NX)
    x = np.arange(35.0).reshape(7, NX)
    final, failed = x.copy(), np.full(7, NEVER)
    log = np.zeros((7, 13, NX))
    loop.on(final, np.zeros(NP), np.zeros((13, NW)), failed, log)(0, 13)
    assert np.array_equal(final, np.roll(x, -13, axis=1))
    assert np.array_equal(log[:, 4], np.roll(x, -4, axis=1))


# rows that fail


def breaking() -> tuple[ca.Function, ...]:
    """Return a map that is no number when x1 > 10 and a step that adds p0 to x1 and doubles x2."""
    nan = ca.SX(X)
    nan[0] = ca.sqrt(10 - X[1])
    step = ca.SX(X)
    step[1], step[2] = X[1] + P[0], 2 * X[2]
    return function("nan", nan), function("step", step)


@pytest.mark.parametrize("rows", [1, 4, 11])
def test_a_row_fails_alone(rows: int) -> None:
    """Row i meets the root of a negative number at the first even step k with k p > 10, and stays at the state before."""
    rates = np.linspace(0.0, 3.0, 11)[::-1][:rows]
    x, p = np.zeros((rows, NX)), np.column_stack([rates, np.zeros(rows)])
    failed, log = np.full(rows, NEVER), np.zeros((rows, 30, NX))
    loop = kernel.recurrence("breaking", breaking, NX)
    loop.on(x, p, np.zeros((30, NW)), failed, log, periods=(2,))(0, 30)
    for i, rate in enumerate(rates):
        due = [k for k in range(0, 30, 2) if sum([rate] * k) > 10]
        last = due[0] if due else 30
        assert failed[i] == (last if due else NEVER)
        steps = np.concatenate([[0.0], np.cumsum(np.full(30, rate))])
        assert x[i, 1] == steps[last]
        assert np.array_equal(log[i, :, 1], steps[np.minimum(np.arange(30), last)])
    assert np.isfinite(x).all()


def test_a_row_beyond_the_bound_fails() -> None:
    """Doubled from 1, 2^498 is the last power below the bound: step 498 fails; a row at zero goes on."""
    assert 2.0**498 < BOUND < 2.0**499
    x = np.zeros((3, NX))
    x[1, 2] = 1.0
    failed, log = np.full(3, NEVER), np.zeros((3, 560, NX))
    loop = kernel.recurrence("breaking", breaking, NX)
    loop.on(x, np.zeros(NP), np.zeros((560, NW)), failed, log, periods=(1,))(0, 560)
    assert list(failed) == [NEVER, 498, NEVER]
    assert x[1, 2] == 2.0**498


def test_a_failed_row_stays_so_in_later_calls() -> None:
    x, p, w = data(3, 10)
    failed = np.array([NEVER, 4.0, NEVER])
    start, log = x.copy(), np.zeros((3, 10, LOGGED))
    recurrence().on(x, p, w, failed, log, periods=(1, 1))(0, 10)
    assert same_bits(x[1], start[1])
    assert failed[1] == 4
    assert same_bits(x[[0, 2]], go(start, p, w)[0][[0, 2]])


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_views_of_larger_arrays_and_backwards(rows: int) -> None:
    """Inputs read backwards from every other place, samples written backwards between others: as with packed arrays, nothing else is touched."""
    x, p, w = data(rows, 10)
    wide = np.full((rows, 21, NW + 3), np.nan)
    wide[:, 1::2, 2 : 2 + NW] = w[:, ::-1]
    around = np.full((2 * rows, 23, LOGGED + 2), 7.0)
    log = around[1::2, 21:1:-2, 1 : 1 + LOGGED]
    wanted_x, wanted_log, _ = go(x, p, w, periods=(2, 3))
    failed = np.full(rows, NEVER)
    passage = recurrence().on(x, p, wide[:, 19::-2, 2 : 2 + NW], failed, log, periods=(2, 3))
    passage(0, 4)
    passage(4, 10)
    assert same_bits(x, wanted_x)
    assert same_bits(np.ascontiguousarray(log), wanted_log)
    log[...] = 7.0
    assert (around == 7.0).all()


@pytest.mark.parametrize("rows", [1, 3])
def test_nothing_to_read_and_nothing_to_log(rows: int) -> None:
    x, none, k = ca.SX.sym("x", 1), ca.SX.sym("none", 0), ca.SX.sym("k")
    each = kernel.recurrence(
        "nothing to read", lambda: [ca.Function("m", [x, none, ca.SX.sym("w", 0), k], [x + k])], 0
    )
    state = np.arange(rows, dtype=float)[:, None]
    each.on(state, np.zeros(0), np.zeros((5, 0)), np.full(rows, NEVER), np.zeros((rows, 5, 0)))(0, 5)
    assert (state[:, 0] == np.arange(rows) + 10).all()


# refusals


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("x", np.zeros((3, NX + 1))),
        ("x", np.zeros(NX)),
        ("x", np.zeros((NX, 3)).T),
        ("x", np.zeros((3, NX), dtype=np.float32)),
        ("p", np.zeros((2, NP))),
        ("p", np.zeros(NP + 1)),
        ("w", np.zeros((2, 10, NW))),
        ("w", np.zeros((10, NW + 1))),
        ("w", np.zeros(NW)),
        ("failed", np.zeros(2)),
        ("log", np.zeros((3, 10, LOGGED + 1))),
        ("log", np.zeros(30)),
        ("log", np.zeros((3, 10, 2 * LOGGED))[:, :, ::2]),
    ],
)
def test_wrong_arrays_refused(name: str, array: np.ndarray) -> None:
    good = {
        "x": np.zeros((3, NX)),
        "p": np.zeros(NP),
        "w": np.zeros((10, NW)),
        "failed": np.full(3, NEVER),
        "log": np.zeros((3, 10, LOGGED)),
    }
    with pytest.raises(InputError, match=f"recurrence: '{name}' of shape"):
        recurrence().on(**{**good, name: array}, periods=(1, 1))


@pytest.mark.parametrize("periods", [(), (1,), (1, 2, 3), (0, 1), (1, -1)])
def test_wrong_periods_refused(periods: tuple[int, ...]) -> None:
    x, p, w = data(3, 10)
    with pytest.raises(InputError, match="periods"):
        recurrence().on(x, p, w, np.full(3, NEVER), np.zeros((3, 10, LOGGED)), periods=periods)


def test_wrong_distance_of_samples_refused() -> None:
    x, p, w = data(3, 10)
    with pytest.raises(InputError, match="every"):
        recurrence().on(x, p, w, np.full(3, NEVER), np.zeros((3, 10, LOGGED)), every=0, periods=(1, 1))


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("start", "stop"), [(4, 8), (5, 16), (16, 17)])
def test_steps_without_inputs_refused(rows: int, start: int, stop: int) -> None:
    """Inputs are given for the steps 5 to 14; memory beside them is not touched."""
    x, p, w = data(rows, 10)
    passage = recurrence().on(
        x, p, w, np.full(rows, NEVER), np.zeros((rows, 10, LOGGED)), first=5, periods=(1, 1)
    )
    with pytest.raises(InputError, match=r"inputs exist for the steps 5 to 14"):
        passage(start, stop)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_full_log_is_not_overrun(rows: int) -> None:
    x, p, w = data(rows, 20)
    log = np.zeros((rows, 3, LOGGED))
    passage = recurrence().on(x, p, w, np.full(rows, NEVER), log, every=5, periods=(1, 1))
    passage(0, 15)
    with pytest.raises(InputError, match="log has room for 3 samples"):
        passage(15, 16)


def test_nothing_to_do() -> None:
    """No rows, or no steps, change nothing."""
    x, p, w = data(2, 10)
    before = x.copy()
    recurrence().on(x, p, w, np.full(2, NEVER), np.zeros((2, 10, LOGGED)), periods=(1, 1))(4, 4)
    assert same_bits(x, before)
    none = np.zeros((0, NX))
    recurrence().on(none, p[0], w[0], np.zeros(0), np.zeros((0, 10, LOGGED)), periods=(1, 1))(0, 10)


@pytest.mark.parametrize(
    "wrong",
    [
        ca.Function("wrong", [X, P, W, K], [X[:-1]]),
        ca.Function("wrong", [X, P, W], [X]),
        ca.Function("wrong", [X, P, W[1:], K], [X]),
    ],
)
def test_wrong_maps_refused(wrong: ca.Function) -> None:
    with pytest.raises(InputError, match="recurrence: map 0 takes"):
        kernel.recurrence(f"wrong {wrong}", lambda: [wrong, maps()[-1]], LOGGED)


def test_samples_longer_than_the_state_refused() -> None:
    with pytest.raises(InputError, match="samples of 6 elements; expected 0 to 5"):
        kernel.recurrence("long samples", maps, NX + 1)


@pytest.mark.parametrize("bad", [0, 9, 12])
def test_long_rows_one_by_one_and_in_vectors_of_any_length(bad: int) -> None:
    """Rows longer than a vector, inputs that all have in common; whichever element fails, the row keeps the state before."""
    n, m, steps = 13, 21, 6
    x, p, w, k = ca.SX.sym("x", n), ca.SX.sym("p"), ca.SX.sym("w", m), ca.SX.sym("k")
    step = 0.5 * x + w[:n] - w[m - n :]
    step[bad] = ca.if_else(k == p, ca.SX(np.nan), step[bad])
    moved = ca.Function("moved", [x, p, w, k], [step])
    made = kernel.recurrence(f"test of long rows {bad}", lambda: [moved], n)
    rng = np.random.default_rng(bad)
    start, inputs = rng.normal(size=(3, n)), rng.normal(size=(steps, m))
    fails = np.array([[99.0], [4.0], [99.0]])
    want, logs = start.copy(), []
    for j in range(steps):
        logs.append(want.copy())
        want = np.where(j < fails, 0.5 * want + inputs[j, :n] - inputs[j, m - n :], want)
    for lanes, each in ((None, [0, 1, 2]), (2, [0, 1, 2]), (None, [0]), (None, [1])):
        found, failed = start[each].copy(), np.full(len(each), NEVER)
        log = np.zeros((len(each), steps, n))
        made.on(found, fails[each].copy(), inputs.copy(), failed, log, lanes=lanes)(0, steps)
        assert found == pytest.approx(want[each], rel=1e-13, abs=1e-14)
        assert log == pytest.approx(np.array(logs).transpose(1, 0, 2)[each], rel=1e-13, abs=1e-14)
        assert failed.tolist() == [NEVER if fails[i, 0] > 50 else 4.0 for i in each]
