"""CasADi functions in batched native code: SIMD lanes, threads, a cache on disk. Knows no mechanics."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

import casadi as ca

from ..errors import UnsupportedOperation
from .build import Source
from .call import Kernel, PreparedCall
from .instructions import Instructions, instructions
from .pool import threads

__all__ = ["Instructions", "Kernel", "PreparedCall", "cached", "compile", "instructions", "threads"]

_sources: dict[str, Source] = {}
_kernels: dict[tuple[str, bool], Kernel] = {}
_lock = threading.Lock()


def compile(function: ca.Function, *, finite: bool = True) -> Kernel:
    """Return a CasADi function as a batched native callable.

    Parameters
    ----------
    function : casadi.Function
        An SX function, or an MX function of calls, dense products and whatever else expands to SX.
    finite : bool
        Raise when an input or an output is not finite.

    Raises
    ------
    UnsupportedOperation
        The function contains an operation that has no native form; the text names it.
    """
    try:
        key = hashlib.sha256(function.serialize().encode()).hexdigest()
    except RuntimeError as reason:
        kind = function.class_name()
        raise UnsupportedOperation(f"{function.name()} ({kind}) has no expressions to compile") from reason
    return Kernel(Source(f"function {key}", lambda: function), finite=finite)


def cached(key: str, build: Callable[[], ca.Function], *, finite: bool = True) -> Kernel:
    """Return the kernel of a function that is only built when the cache does not hold its code.

    Parameters
    ----------
    key : str
        Text that determines the function completely: content, question, version of the code that builds it.
    build : callable
        Returns the function. Called at most once per process and key; never on a warm start.
    finite : bool
        Raise when an input or an output is not finite.
    """
    with _lock:
        source = _sources.setdefault(key, Source(f"cached {key}", build))
    source.signature()  # outside the lock: building one kernel must not keep others waiting
    with _lock:
        if (key, finite) not in _kernels:
            _kernels[key, finite] = Kernel(source, finite=finite)
        return _kernels[key, finite]
