"""Trapezoidal steps by corrections against a dense solution; on any number of threads, interrupted, and without convergence."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest
from scipy import sparse

from articulus import kernel
from articulus.motion.trajectory.stochastic.corrections import Corrections, Sums, ThreadShare

ROWS, EDGE, STEPS, DT = 53, 2, 7, 0.1
SIZE = ROWS + 2 * EDGE
MOST = 40
RNG = np.random.default_rng(8)
COUPLING = sparse.csr_array(np.where(RNG.random((ROWS, SIZE)) < 0.1, RNG.normal(size=(ROWS, SIZE)), 0.0))
BEGIN, TIMES = RNG.normal(size=ROWS), np.linspace(0.3, 2, STEPS)
INNER = slice(EDGE, SIZE - EDGE)


def edges(threads: int) -> list[Sums]:
    """Return for each thread the sums that fill the elements beyond its ends: those of the first mirror the first rows, those of the last the last."""
    whole = sparse.lil_array((2 * EDGE, SIZE))
    for k in range(EDGE):
        whole[k, 2 * EDGE - 1 - k] = whole[EDGE + k, SIZE - EDGE - 1 - k] = 1.0
    matrix, places = whole.tocsr(), np.r_[0:EDGE, SIZE - EDGE : SIZE]
    cuts = [0, *[EDGE] * (threads - 1), 2 * EDGE]
    return [Sums(matrix[a:b], places[a:b]) for a, b in itertools.pairwise(cuts)]


def taken(threads: int, speed: float = 1.0, begin: np.ndarray = BEGIN):
    """Return values after all steps of x' = speed (-x + COUPLING x) + t, and the number of corrections."""
    mean, t, extra, now, last = (ca.SX.sym(n) for n in ("mean", "t", "extra", "now", "last"))
    new = now + DT * (speed * (extra - mean) + t)
    function = ca.Function("next", [mean, t, extra, now, last], [new, (new + now) / 2, new - last])
    code = kernel.compile(function, finite=False)
    arrays = [np.zeros(SIZE) for _ in range(4)]
    values, fresh, *means = arrays
    extra_values, change = np.zeros(ROWS), np.zeros(ROWS)
    values[INNER] = fresh[INNER] = begin
    cuts = [ROWS * k // threads for k in range(threads + 1)]
    parts, before = [], []
    for k, after in enumerate(edges(threads)):
        own = slice(cuts[k], cuts[k + 1])
        rows, time = slice(own.start + EDGE, own.stop + EDGE), np.zeros(())
        calls = [
            code.bind(means[a][rows], time, extra_values[own], values[rows], fresh[rows], out=(fresh[rows], means[1 - a][rows], change[own]))
            for a in (0, 1)
        ]  # fmt: skip
        counts = np.ones(own.stop - own.start, bool)
        parts.append(ThreadShare(rows, change[own], counts, time, tuple(calls), after))
        before.append([Sums(COUPLING[own], np.arange(own.start, own.stop))])
    steps = Corrections(values, fresh, tuple(means), extra_values, parts, MOST)
    steps.before(before)
    with ThreadPoolExecutor(threads) as executor:
        found = [steps.run(part, 1e-14, executor) for part in (TIMES[:3], TIMES[3:])]
    return fresh[INNER], found


def test_steps_are_those_of_the_trapezoidal_rule() -> None:
    """The dense solution of the same implicit steps; corrections stop at changes of 1e-14, and each makes the error at least halve."""
    mirrored = np.zeros((SIZE, ROWS))
    mirrored[INNER] = np.eye(ROWS)
    mirrored[:EDGE] = np.eye(ROWS)[EDGE - 1 :: -1]
    mirrored[-EDGE:] = np.eye(ROWS)[: -EDGE - 1 : -1]
    L = COUPLING @ mirrored - np.eye(ROWS)
    x, one = BEGIN, np.eye(ROWS)
    for t in TIMES:
        x = np.linalg.solve(one - DT / 2 * L, (one + DT / 2 * L) @ x + DT * t)
    found, corrections = taken(1)
    np.testing.assert_allclose(found, x, rtol=1e-12, atol=1e-12)
    assert all(STEPS < n < MOST * STEPS for n in corrections)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(threads: int) -> None:
    one, many = taken(1), taken(threads)
    assert np.array_equal(one[0], many[0])
    assert one[1] == many[1]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("worst", [np.inf, np.nan])
def test_steps_that_do_not_converge(threads: int, worst: float) -> None:
    assert taken(threads, speed=100.0)[1][0] is None
    assert taken(threads, begin=np.where(np.arange(ROWS) == 40, worst, BEGIN))[1][0] is None


def test_an_interrupt_leaves_no_thread_waiting(monkeypatch) -> None:
    """The first thread is interrupted before its first round; the second, which waits for it, must end, too."""
    member, codes = Corrections._member, []

    def interrupted(self, k: int) -> int:
        if k == 0:
            raise KeyboardInterrupt
        codes.append(member(self, k))
        return codes[-1]

    monkeypatch.setattr(Corrections, "_member", interrupted)
    with pytest.raises(KeyboardInterrupt):
        taken(2)
    assert codes == [-2]
