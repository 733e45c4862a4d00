"""Ctrl-C while equations are written: CasADi loses the exceptions of Python code that it calls, KeyboardInterrupt as well.

An interrupt that comes while CasADi is at work is therefore tried again until it comes between two calls: some hundredths of a
second later, as long as no single call takes longer (LLVM needs about a second for a million operations).
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import casadi as ca

LOSING = (os.path.dirname(ca.__file__), "<frozen importlib")
"""Beginnings of the file names of code below which exceptions can be lost."""
AGAIN = 0.01
"""Seconds after which an interrupt is tried again."""


@contextmanager
def heed_interrupts() -> Iterator[None]:
    """Let no SIGINT be lost in a block that calls CasADi; as it was elsewhere than in the main thread.

    What handled SIGINT before is called, as soon as what it raises reaches the block's caller, and handles it again afterwards.
    """
    before = _handler()
    if before is None:
        yield
        return
    raised: list[BaseException] = []

    def later(number: int, frame: FrameType | None) -> None:
        if _loses(frame) or (frame is not None and frame.f_code.co_filename in _CHANGING):
            threading.Timer(AGAIN, _thread.interrupt_main).start()
            return
        try:
            before(number, frame)
        except BaseException as reason:
            raised.append(reason)
            raise

    signal.signal(signal.SIGINT, later)
    try:
        yield
    except Exception as error:
        if raised:
            raise raised[0] from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if raised:  # lost on its way all the same
        raise raised[0]


def _handler() -> Any:
    """Return what handles SIGINT now; None if it is not for this block to do."""
    if threading.current_thread() is not threading.main_thread():
        return None
    found = signal.getsignal(signal.SIGINT)
    return None if getattr(found, "__module__", None) == __name__ or not callable(found) else found


def _loses(frame: FrameType | None) -> bool:
    """Whether an exception in a frame would pass through code that can lose it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LOSING) or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


_CHANGING = (_loses.__code__.co_filename, contextmanager.__code__.co_filename)
"""Files of code that changes the handler: an exception raised there would leave the wrong one."""
