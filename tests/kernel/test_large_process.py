"""Loading code into a process whose memory is large and full of small holes."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCATTERED = """
import ctypes
from articulus.kernel import jit

PAGE, GIGABYTE, SIZE = 4096, 1 << 30, 40_000
values = ", ".join(f"i64 {7 * k}" for k in range(SIZE))  # constants too large for a hole
text = f'''@slots = constant i64 1
@table = internal constant [{SIZE} x i64] [{values}], align 64
define i64 @run(ptr %place) {{
  %k = load i64, ptr %place
  %at = getelementptr [{SIZE} x i64], ptr @table, i64 0, i64 %k
  %value = load i64, ptr %at
  ret i64 %value
}}'''
code = jit.compile_object(text)
jit.Native(code, 1)

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def reserved(size):
    return libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, no memory behind it

pages = sorted(reserved(PAGE) for _ in range(20_000))[-2_000:]
reserved(8 * GIGABYTE)
for page in (p for k in range(0, 2_000, 64) for p in pages[k : k + 4]):
    libc.munmap(page, PAGE)  # holes for a few pages of code
natives = [jit.Native(code, 1) for _ in range(20)]
print(sum(native.run(ctypes.byref(ctypes.c_int64(39_999))) for native in natives))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="flags of mmap")
def test_code_and_constants_of_a_library_stay_together():
    """With 8 GB reserved below small holes, sections that are placed one by one lie too far apart for relative addresses."""
    child = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr
    assert int(child.stdout) == 20 * 7 * 39_999
