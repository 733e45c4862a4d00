"""Ready mechanisms: a TOML file each, or a function for those with a size to choose."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

from articulus.errors import InputError, did_you_mean
from articulus.files import read_toml
from articulus.library.n_four_bar import n_four_bar
from articulus.library.pendulum_chain import pendulum_chain
from articulus.mechanism import Description

GENERATORS: dict[str, Callable[..., Description]] = {
    "n_four_bar": n_four_bar,
    "pendulum_chain": pendulum_chain,
}


def names() -> list[str]:
    """Return the names of the mechanisms in the library."""
    tomls = [p.name.removesuffix(".toml") for p in files(__package__).iterdir() if p.name.endswith(".toml")]
    return sorted([*tomls, *GENERATORS])


def read(name: str, **arguments: Any) -> Description:
    """Return a mechanism of the library by its name."""
    if name in GENERATORS:
        try:
            return GENERATORS[name](**arguments)
        except TypeError as error:
            raise InputError(f"library model '{name}': {error}") from None
    if name not in names():
        raise InputError(f"no library model '{name}'; {did_you_mean(name, names())}")
    if arguments:
        raise InputError(f"library model '{name}' takes no arguments, found {sorted(arguments)}")
    with as_file(files(__package__) / f"{name}.toml") as path:
        return read_toml(path)
