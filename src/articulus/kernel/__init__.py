"""CasADi functions in batched native code: SIMD lanes, threads, a cache on disk. Knows no mechanics."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

import casadi as ca

from ..errors import InputError, UnsupportedOperation
from . import march, program, scan
from .build import Source
from .call import Kernel, PreparedCall
from .instructions import Instructions, instructions
from .jit import host, width
from .pieces import FunctionPieces
from .pool import threads
from .program import Ranks
from .recurrence import NEVER, Passage, Recurrence
from .scan import Scan
from .strided import copy_call
from .team import Team, TeamCall

__all__ = [
    "NEVER",
    "FunctionPieces",
    "Instructions",
    "Kernel",
    "Passage",
    "PreparedCall",
    "Recurrence",
    "Scan",
    "Team",
    "TeamCall",
    "cached",
    "compile",
    "copy_call",
    "instructions",
    "lanes",
    "recurrence",
    "scan_lanes",
    "threads",
]

MOST = 256
"""Kernels that are kept for the next caller; older ones live as long as somebody holds them (a mechanism holds its own)."""

T = TypeVar("T")
_sources: OrderedDict[str, Source] = OrderedDict()
_kernels: OrderedDict[tuple[str, bool], Kernel] = OrderedDict()
_lock = threading.Lock()


def _keep(table: OrderedDict, key: str | tuple[str, bool], make: Callable[[], T]) -> T:
    """Return what a table holds under a key, made if need be; the oldest entries beyond MOST go."""
    with _lock:
        if key not in table:
            table[key] = make()
        table.move_to_end(key)
        while len(table) > MOST:
            table.popitem(last=False)
        return table[key]


def compile(function: ca.Function, *, finite: bool = True, ranks: Ranks | None = None) -> Kernel:
    """Return a CasADi function as a batched native callable.

    Parameters
    ----------
    function : casadi.Function
        An SX function, or an MX function of calls, dense products and whatever else expands to SX.
    finite : bool
        Raise when an input or an output is not finite.
    ranks : (tuple of int, tuple of int), optional
        Number of trailing axes of each input and output, where a size of one must not take an axis away.

    Raises
    ------
    UnsupportedOperation
        The function contains an operation that has no native form; the text names it.
    """
    if not isinstance(function, ca.Function):
        raise InputError(f"kernel.compile: found {function!r}; expected a casadi.Function")
    try:
        key = hashlib.sha256(function.serialize().encode()).hexdigest()
    except RuntimeError as reason:
        kind = function.class_name()
        raise UnsupportedOperation(f"{function.name()} ({kind}) has no expressions to compile") from reason
    source = Source(f"function {key} {ranks}", lambda: program.build(function).ranked(ranks))
    return Kernel(source, finite=finite)


def cached(
    key: str,
    build: Callable[[], ca.Function],
    *,
    finite: bool = True,
    ranks: Callable[[], Ranks] | None = None,
    hurried: bool = False,
) -> Kernel:
    """Return the kernel of a function that is only built when the cache does not hold its code.

    Parameters
    ----------
    key : str
        Text that determines the function and its ranks completely: content, question, version of the code that builds it.
    build : callable
        Returns the function. Called at most once per process and key; never on a warm start.
    finite : bool
        Raise when an input or an output is not finite.
    ranks : callable, optional
        Returns the number of trailing axes of each input and output, where a size of one must not take an axis away; called
        when `build` is.
    hurried : bool
        Whether long code is made without optimization: for what is evaluated so rarely that compiling takes longer. Part of what `key` determines.
    """

    def made() -> program.Program:
        wanted = None if ranks is None else ranks()
        return program.build(build()).ranked(wanted)

    source = _keep(_sources, key, lambda: Source(f"cached {key}", made, hurried))
    source.signature()  # outside the lock: building one kernel must not keep others waiting
    return _keep(_kernels, (key, finite), lambda: Kernel(source, finite=finite))


def recurrence(key: str, build: Callable[[], Sequence[ca.Function]], logged: int) -> Recurrence:
    """Return native code that applies maps again and again, built only when the cache does not hold it.

    Parameters
    ----------
    key : str
        Text that determines the maps completely.
    build : callable
        Returns the maps, each from x (nx), p (np), w (nw) and k (the number of the step) to x; the step itself last.
    logged : int
        Number of leading state elements in a sample.
    """
    text = f"recurrence {logged} {key}"
    source = _keep(_sources, text, lambda: Source(text, lambda: march.build(build(), logged)))
    return Recurrence(source, logged)


def lanes() -> int:
    """Return how many rows a batched call computes at once: the doubles of the widest vector, or ARTICULUS_LANES."""
    return width()


def scan_lanes(step: ca.Function, lanes: int | None = None) -> Scan:
    """Return a scan in native code, a row of inputs for each lane of one vector.

    Parameters
    ----------
    step : casadi.Function
        (x, p, w) -> (x, y): state, constants, input of the step; the next state and an output.
    lanes : int, optional
        Lanes of the vector (1, 2, 4 or 8), those of the processor if not given.
    """
    if lanes is not None and (isinstance(lanes, bool) or lanes not in (1, 2, 4, 8)):
        raise InputError(f"scan_lanes: {lanes!r} lanes; expected 1, 2, 4 or 8")
    text = f"scan {hashlib.sha256(step.serialize().encode()).hexdigest()}"
    source = _keep(_sources, text, lambda: Source(text, lambda: scan.build(step)))
    return Scan(source, int(lanes or host().lanes))
