"""One call for every format."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from articulus.errors import Finding, InputError, ModelError
from articulus.files.mjcf.reader import read_mjcf
from articulus.files.mjcf.writer import write_mjcf
from articulus.files.storage import StrPath, as_path, load_text
from articulus.files.toml.reader import read_toml
from articulus.files.toml.writer import write_toml
from articulus.files.urdf.reader import read_urdf
from articulus.files.xml_tree import parse_xml
from articulus.mechanism import Description

Reader = Callable[..., Description]

READERS: dict[str, Reader] = {".toml": read_toml, ".urdf": read_urdf, ".mjcf": read_mjcf}
"""Reader by suffix; `.xml` is told apart by its root element."""

XML_ROOTS: dict[str, Reader] = {"robot": read_urdf, "mujoco": read_mjcf}


WRITERS: dict[str, Callable[[Description, StrPath], None]] = {
    ".toml": write_toml,
    ".xml": write_mjcf,
    ".mjcf": write_mjcf,
}
"""Writer by suffix."""


def write_model(description: Description, path: StrPath) -> None:
    """Write a mechanism in the format of the path's suffix; raise ModelError with all that it cannot carry."""
    suffix = as_path(path).suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"{path}: found the suffix '{suffix}'; expected one of {', '.join(WRITERS)}")
    WRITERS[suffix](description, path)


def read_model(path: StrPath, **options: Any) -> Description:
    """Return the mechanism of a .toml, .urdf, .mjcf or .xml file; `options` go to the reader of its format."""
    reader = _reader(path)
    try:
        return reader(path, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error) or not options:
            raise
        raise InputError(
            f"{as_path(path).name}: {reader.__name__} has no option {_last_word(error)}"
        ) from None


def _last_word(error: TypeError) -> str:
    return str(error).rsplit(" ", 1)[-1]


def _reader(path: StrPath) -> Reader:
    place = as_path(path)
    suffix = place.suffix.lower()
    if suffix == ".xml":
        root = parse_xml(load_text(place), place.name)
        if root.tag in XML_ROOTS:
            return XML_ROOTS[root.tag]
        found, expected = f"<{root.tag}>", "<robot> (URDF) or <mujoco> (MJCF)"
        raise ModelError(Finding(f"{place.name}:{root.line}", found, expected))
    if suffix in READERS:
        return READERS[suffix]
    known = ", ".join(sorted([*READERS, ".xml"]))
    if os.path.isdir(place):
        raise ModelError(Finding(str(place), "a directory", f"a model file: {known}"))
    if not suffix:
        raise InputError(
            f"{place}: found a path without suffix; expected one of {known}. "
            f'Models of the library have plain strings as names, such as load("puma600")'
        )
    raise ModelError(Finding(str(place), f"the suffix '{place.suffix}'", f"one of {known}"))
