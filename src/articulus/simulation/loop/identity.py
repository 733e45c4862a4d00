"""What decides the equations of a loop, as a text: a process that finds their native code in the cache need not derive them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import Any

import casadi as ca
import numpy as np

from articulus.dynamics.compiled import source_digest
from articulus.model.mechanism import Parameter
from articulus.simulation.loop.equations import Network

PACKAGE = __name__.partition(".")[0]
WRITERS = (
    "spatial",
    "model/mechanism",
    "dynamics",
    "simulation/integrate",
    "spacecraft",
    "simulation/loop",
    "simulation/running",
)
"""Packages whose code writes the equations of a loop or its steps."""


class _Unknown(Exception):
    """Something that has no text."""


def identity(network: Network, form: str) -> str | None:
    """Return a text that two loops share only if their equations are the same; None where something has no such text.

    That is a component of a class of the user's own, or one that holds a Python function. Values of parameters take part:
    penalties of constraints are scaled by them.

    Parameters
    ----------
    network : Network
    form : str
        Form in which loops are closed.
    """
    d = network.description
    own = (network.outside.numel(), network.stops, network.ports, network.opened, network.as_found, form)
    try:
        parts = [_text(c) for c in network.components]
    except _Unknown:
        return None
    values = [float(p.value).hex() for p in network.parameters]
    return "|".join([_version(), d.fingerprint, repr(values), repr(own), *parts])


def text_of(x: Any) -> str | None:
    """Return a text that two events or components share only if they are the same; None where there is none."""
    try:
        return _text(x)
    except _Unknown:
        return None


@functools.cache
def _version() -> str:
    return source_digest(*WRITERS)


def _text(x: Any) -> str:
    """Return a text of a component, or of something that it holds."""
    if x is None or isinstance(x, (bool, int, str)):
        return repr(x)
    if isinstance(x, (float, np.floating)):
        return float(x).hex()
    if isinstance(x, Parameter):
        return f"Parameter({x.name})"
    if isinstance(x, np.ndarray) and x.dtype != object:
        return f"array{x.shape}{x.dtype}{hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
    if isinstance(x, (tuple, list)):
        return f"[{', '.join(map(_text, x))}]"
    if isinstance(x, dict):
        return f"{{{', '.join(f'{_text(k)}: {_text(value)}' for k, value in x.items())}}}"
    if isinstance(x, ca.Function):
        return _function_text(x)
    kind = type(x)
    if dataclasses.is_dataclass(x) and kind.__module__.partition(".")[0] == PACKAGE:
        fields = (f"{f.name}={_text(getattr(x, f.name))}" for f in dataclasses.fields(x))
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(fields)})"
    raise _Unknown


def _function_text(function: ca.Function) -> str:
    try:
        return f"Function({hashlib.sha256(function.serialize().encode()).hexdigest()})"
    except RuntimeError:  # a callback has no expressions
        raise _Unknown from None
