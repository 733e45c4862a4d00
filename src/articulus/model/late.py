"""Late registration: functions that lower layers call by name because they live in a layer above.

`articulus/__init__.py`, which knows every layer, registers them; their modules are imported when first called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_places: dict[str, tuple[str, str]] = {}


def register(name: str, module: str, function: str) -> None:
    """Say in which module the function of a name is."""
    _places[name] = module, function


def late_function(name: str) -> Callable[..., Any]:
    """Return the function of a name; its module is imported now."""
    module, function = _places[name]
    return getattr(import_module(module), function)
