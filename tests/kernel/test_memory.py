"""Memory of large results: used again, never twice at once, never more than is allowed."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.kernel import memory

SHAPE = (400, 10, 10)  # 320 KB


def place(array: np.ndarray) -> int:
    """Return where the data of an array begin."""
    return array.ctypes.data


def test_memory_serves_again_once_no_array_is_on_it():
    first = memory.result(SHAPE)
    part, at = first[3:5, 2].T, place(first)
    del first
    second = memory.result(SHAPE)
    assert not np.shares_memory(second, part)
    del part
    assert place(memory.result(SHAPE)) == at


def test_results_in_use_lie_apart():
    held = [memory.result(SHAPE) for _ in range(5)]
    for k, array in enumerate(held):
        array[...] = k
    assert all((array == k).all() for k, array in enumerate(held))
    assert all(array.shape == SHAPE and array.flags.c_contiguous and array.flags.writeable for array in held)


def test_large_results_begin_with_a_cache_line():
    assert all(place(memory.result((rows, 10, 10))) % 64 == 0 for rows in range(400, 410))


def test_no_more_is_kept_than_allowed():
    for rows in range(1000, 1040):
        memory.result((rows, 1000))  # 8 MB each
    assert 0 < sum(x.nbytes for x in memory._kept) <= memory.KEPT
    before = len(memory._kept)
    memory.result((memory.KEPT // 8 + 1,))
    memory.result((3, 3))
    assert len(memory._kept) == before


def test_threads_do_not_get_the_same_memory():
    def fill(k: int) -> bool:
        good = True
        for _ in range(200):
            array = memory.result(SHAPE)
            array[...] = k
            good &= bool((array == k).all())
        return good

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fill, range(4)))


@pytest.mark.skipif(sys.platform == "win32", reason="no count of page faults")
def test_batches_of_large_results_need_no_new_pages():
    from resource import RUSAGE_SELF, getrusage

    x = ca.SX.sym("x", 10)
    k = kernel.compile(ca.Function("dyads", [x], [ca.mtimes(x, x.T)]))
    states, rows = np.random.default_rng(0).normal(size=(4096, 10)), 4096
    found = k(states)
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(10):
        found = k(states)
    faults = getrusage(RUSAGE_SELF).ru_minflt - before
    np.testing.assert_array_equal(found, states[:, :, None] * states[:, None, :])
    pages = (
        10 * rows * 800 / 4096
    )  # of all results, were each on new memory: the first time a second one is needed
    assert faults < pages / 4
