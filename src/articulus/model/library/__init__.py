"""Ready mechanisms and structures: a TOML file each, or a function in a file of its name for those with a size to choose."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from articulus.errors import InputError, did_you_mean
from articulus.model.files import read_toml
from articulus.model.files.toml.numbers import short_text
from articulus.model.library.looks import with_looks
from articulus.model.mechanism import Description

if TYPE_CHECKING:
    from articulus.structure import Structure

GENERATORS = (
    "backhoe",
    "bayo_link",
    "cat215b_cylinders",
    "fighter",
    "hub_with_appendages",
    "king_arm",
    "ledesma_arm",
    "n_four_bar",
    "padilla_arm",
    "pendulum_chain",
    "stewart_platform",
    "truss_arm",
)
"""Mechanisms that a function makes."""

MOST = 10_000
"""Largest whole number, such as that of links, that a model takes: files name models, too."""

STRUCTURES = ("draper_tetrahedron", "minas_truss", "satellite582", "three_masses", "truss54")
"""Structures; each a function."""


def names() -> list[str]:
    """Return the names of the mechanisms in the library."""
    tomls = [p.name.removesuffix(".toml") for p in files(__package__).iterdir() if p.name.endswith(".toml")]
    return sorted([*tomls, *GENERATORS])


def read(name: str, **arguments: Any) -> Description:
    """Return a mechanism of the library by its name."""
    if name in GENERATORS:
        return with_looks(_generate(name, arguments), name)
    if name not in names():
        raise InputError(f"no library model '{name}'; {did_you_mean(name, names())}")
    if arguments:
        raise InputError(f"library model '{name}' takes no arguments, found {sorted(arguments)}")
    with as_file(files(__package__) / f"{name}.toml") as path:
        return with_looks(read_toml(path), name)


def structure(name: str, **arguments: Any) -> Structure:
    """Return a structure of the library (see `STRUCTURES`) by its name.

    Parameters
    ----------
    name : str
        One of `STRUCTURES`.
    **arguments
        Those of its function, such as parasitic of "minas_truss".
    """
    if name not in STRUCTURES:
        raise InputError(f"no structure '{name}' in the library; {did_you_mean(name, STRUCTURES)}")
    return _generate(name, arguments)


def _generate(name: str, arguments: dict[str, Any]) -> Any:
    """Return what the function of this name makes; its module is imported only now."""
    for key, value in arguments.items():
        if isinstance(value, int) and abs(value) > MOST:
            raise InputError(
                f"library model '{name}': {key}: found {short_text(value)}; expected a whole number of at most {MOST}"
            )
    make: Callable[..., Any] = getattr(import_module(f"{__package__}.{name}"), name)
    try:
        return make(**arguments)
    except TypeError as error:
        known = ", ".join(inspect.signature(make).parameters) or "none"
        raise InputError(f"library model '{name}': {error}; its arguments: {known}") from None
