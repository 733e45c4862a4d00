"""`write_back`: changed numbers of a mechanism into the file it was read from."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.model import read_model
from articulus.model.files.storage import StrPath, as_path, load_text, write_text
from articulus.model.files.write_back.changes import Changes, changes, others, require_possible
from articulus.model.files.write_back.mjcf import mjcf_with
from articulus.model.files.write_back.toml import toml_with
from articulus.model.files.write_back.urdf import urdf_with
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import with_values

EDITORS: dict[str, Callable[[str, str, Changes], str]] = {
    ".toml": toml_with,
    ".urdf": urdf_with,
    ".xml": mjcf_with,
    ".mjcf": mjcf_with,
}
"""What changes a text, by suffix."""
READ = 1e-9
"""Difference of numbers, over the largest of their kind in the field, between what should be written and what is read again: MuJoCo diagonalizes
inertias."""


def write_back(path: StrPath, changed: Any, to: StrPath | None = None, **options: Any) -> str:
    """Write changed numbers into the file of a mechanism and return what was changed; comments, order and all other lines stay.

    Masses, centers of mass, inertias, friction, motor inertias, springs, frames of joints and values of named parameters. The new text is read again and
    compared before anything is written.

    Parameters
    ----------
    path : str or Path
        TOML, URDF or MJCF.
    changed : Mechanism, Description, or dict of parameter name to value
        The file's mechanism with other numbers, or values of its named parameters (TOML).
    to : str or Path
        Where to write; the file itself if not given.
    **options
        Options of the reader, as for `load`.

    Raises
    ------
    ModelError
        For inertias that no body has, for numbers that the format does not hold, and for other changes: gravity, limits, axes, named frames, loops.
    """
    place = as_path(path)
    editor = EDITORS.get(place.suffix.lower())
    if editor is None:
        raise InputError(f"write_back: found '{place.name}'; expected a file of {', '.join(EDITORS)}")
    old = read_model(place, **options)
    new = _description(old, changed)
    found = changes(old, new)
    left = others(old, new, found.parameters)
    if left:
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        raise ModelError(
            Finding(
                place.name,
                f"a change that is not written: {', '.join(left[:5])}{more}",
                "changes of masses, inertias, friction, motor inertias, springs, frames of joints and parameters alone",
                "Was the mechanism read with options? Pass the same ones. Edit all else in the file. Nothing was written.",
            )
        )
    if not found:
        return "nothing"
    require_possible(found)
    if found.parameters and editor is not toml_with:
        raise ModelError(
            Finding(
                place.name,
                f"other values of {', '.join(found.parameters)}",
                "a TOML file: no other holds parameters",
            )
        )
    text = editor(load_text(place), place.name, found)
    _require_read(place, text, new, options)
    write_text(as_path(to) if to is not None else place, text)
    return str(found)


def _description(old: Description, changed: Any) -> Description:
    if isinstance(changed, Mapping):
        known = {p.name for p in old.parameters}
        for name in changed:
            if name not in known:
                raise InputError(
                    f"write_back: the file has no parameter '{name}'; {did_you_mean(str(name), sorted(known))}"
                )
        return with_values(old, {n: float(x) for n, x in changed.items()})
    held = getattr(changed, "description", changed)
    if not isinstance(held, Description):
        raise InputError(
            f"write_back: found {type(changed).__name__}; expected a mechanism, or values of parameters by their names"
        )
    return held


def _require_read(place: Path, text: str, new: Description, options: dict[str, Any]) -> None:
    """Raise ModelError unless the text, read beside the files it names, is the mechanism that it should be."""
    handle, beside = tempfile.mkstemp(suffix=place.suffix, prefix=".", dir=place.parent)
    try:
        os.close(handle)
        write_text(beside, text)
        left = changes(read_model(beside, **options), new, READ)
    finally:
        os.unlink(beside)
    if left:
        raise ModelError(
            Finding(place.name, f"after the change the file still has another {left}", "a file that holds these numbers",
                    "Does a default, an include or a compiler option of the file decide them? Nothing was written.")
        )  # fmt: skip
