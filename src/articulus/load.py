"""From a name or a path to a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from articulus.api import Mechanism


def load(model: str | Path, **options: Any) -> Mechanism:
    """Return a mechanism.

    Parameters
    ----------
    model : str or Path
        Name of a library model, or path of a .toml, .urdf, .xml or .mjcf file.
    **options
        Arguments of the library model (such as n of "pendulum_chain") or of the reader (such as
        base="floating" of URDF).

    Raises
    ------
    ModelError
        With everything that is wrong in the file, each with its line.
    """
    from articulus import library
    from articulus.files import read_model

    if isinstance(model, str) and not Path(model).suffix and "/" not in model:
        return Mechanism.from_description(library.read(model, **options))
    return Mechanism.from_description(read_model(model, **options))
