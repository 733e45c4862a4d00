"""From a name, a path, a text or an open file to a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from articulus.dynamics.mechanism import Mechanism


def load(model: str | Path | IO, **options: Any) -> Mechanism:
    """Return a mechanism.

    Parameters
    ----------
    model : str, Path or file object
        Name of a library model, path of a .toml, .urdf, .xacro, .xml, .mjcf or .sdf file, an open file, or the text of a model
        (TOML, URDF or MJCF).
    **options
        Arguments of the library model (such as n of "pendulum_chain") or of the reader (such as
        base="free" of URDF).

    Raises
    ------
    ModelError
        With everything that is wrong in the file, each with its line.
    """
    from articulus.model import library
    from articulus.model.files.model import is_text, read_model

    if isinstance(model, str) and not is_text(model) and not Path(model).suffix and "/" not in model:
        return Mechanism.from_description(library.read(model, **options))
    return Mechanism.from_description(read_model(model, **options))
