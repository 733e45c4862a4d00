"""No kernel touches memory outside its arrays: they end right before an inaccessible page, or begin right after one."""

from __future__ import annotations

import ctypes
import mmap
import sys

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.kernel import jit

from .support import frame, native

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mprotect through libc")
PAGE = mmap.PAGESIZE


class Guarded:
    """Memory between two inaccessible pages."""

    def __init__(self, size: int):
        self.pages = -(-max(size, 1) // PAGE) * PAGE
        self.map = mmap.mmap(-1, self.pages + 2 * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.libc = ctypes.CDLL(None, use_errno=True)
        self._protect(0)

    def _protect(self, mode: int) -> None:
        for address in (self.start, self.start + PAGE + self.pages):
            assert self.libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), mode) == 0

    def array(self, shape: tuple[int, ...], at_end: bool) -> np.ndarray:
        """Return an array that touches the upper or the lower forbidden page."""
        size = 8 * int(np.prod(shape))
        offset = PAGE + (self.pages - size if at_end else 0)
        return np.frombuffer(self.map, np.float64, size // 8, offset).reshape(shape)


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 68, 71])
def test_no_overrun(n, at_end):
    x, y = ca.SX.sym("x", n), ca.SX.sym("y", n)
    code = native(ca.Function("f", [x, y], [x + 2 * y, ca.dot(x, y)]), jit.host())
    for rows in (1, 2, code.lanes, code.lanes + 1, 3 * code.lanes - 1):
        memory = [Guarded(8 * rows * n) for _ in range(4)]
        a, b, c, d = (m.array((rows, k), at_end) for m, k in zip(memory, (n, n, n, 1)))
        a[:], b[:] = np.arange(rows * n).reshape(rows, n), 1.0
        work = Guarded(8 * code.slots * code.lanes)  # a multiple of the lane size below the page: aligned
        scratch = work.array((code.slots * code.lanes,), True).ctypes.data
        assert code.run(frame(code, rows, [a, b, c, d], scratch)) == 0
        assert np.array_equal(c, a + 2)
        assert np.allclose(d[:, 0], a.sum(axis=1))


def test_bound_arrays():
    x = ca.SX.sym("x", 7)
    k = kernel.compile(ca.Function("f", [x], [x + 1]))
    for at_end in (True, False):
        memory = [Guarded(56), Guarded(56)]
        a, b = (m.array((7,), at_end) for m in memory)
        a[:] = 1.0
        assert k.bind(a, out=b)() == 0
        assert b.tolist() == [2.0] * 7
