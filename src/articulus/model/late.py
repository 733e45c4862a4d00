"""Late registration: functions that lower layers call by name because they live in a layer above.

`articulus/__init__.py`, which knows every layer, registers them; their modules are imported when first called.

`name_finder` serves the front lists of packages: a name that lives beside them is refused with where it is.
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


def name_finder(package: str, *rooms: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: a name of one of its modules or subpackages is refused with where to find it."""

    def __getattr__(name: str) -> Any:
        message = f"module '{package}' has no attribute '{name}'"
        if name[:1] != "_":
            for room in rooms:
                owned = getattr(vars(import_module(f"{package}.{room}")).get(name), "__module__", None) or ""
                if owned.startswith(package):
                    message += f"; did you mean {package.rpartition('.')[2]}.{room}.{name}?"
        raise AttributeError(message, name=name)

    return __getattr__
