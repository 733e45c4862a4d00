"""One call for every format, to read and to write."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from articulus.errors import Finding, InputError, ModelError
from articulus.model.files.mjcf.reader import parse_mjcf, read_mjcf
from articulus.model.files.mjcf.writer import write_mjcf
from articulus.model.files.sdf.reader import parse_sdf, read_sdf
from articulus.model.files.storage import StrPath, as_path, decode, load_text
from articulus.model.files.toml.reader import parse_toml, read_toml
from articulus.model.files.toml.writer import write_toml
from articulus.model.files.urdf.reader import parse_urdf, read_urdf
from articulus.model.files.urdf.writer import write_urdf
from articulus.model.files.urdf.xacro import read_xacro
from articulus.model.files.xml_tree import parse_xml
from articulus.model.mechanism import Description

Reader = Callable[..., Description]
Writer = Callable[[Description, StrPath], None]

READERS: dict[str, Reader] = {
    ".toml": read_toml,
    ".urdf": read_urdf,
    ".xacro": read_xacro,
    ".mjcf": read_mjcf,
    ".sdf": read_sdf,
}
"""Reader by suffix; `.xml` is told apart by its root element."""

XML_ROOTS: dict[str, Reader] = {"robot": read_urdf, "mujoco": read_mjcf, "sdf": read_sdf}

PARSERS: dict[Reader, Reader] = {
    read_toml: parse_toml,
    read_urdf: parse_urdf,
    read_mjcf: parse_mjcf,
    read_sdf: parse_sdf,
}
"""What reads a text, for each reader of files."""

WRITERS: dict[str, Writer] = {
    ".toml": write_toml,
    ".urdf": write_urdf,
    ".xml": write_mjcf,
    ".mjcf": write_mjcf,
}
"""Writer by suffix."""


def write_model(description: Description, path: StrPath) -> None:
    """Write a mechanism in the format of the path's suffix; raise ModelError with all that it cannot carry."""
    suffix = as_path(path).suffix
    if suffix.lower() not in WRITERS:
        found = f"the suffix '{suffix}'" if suffix else "no suffix"
        raise InputError(f"{as_path(path)}: found {found}; expected one of {', '.join(WRITERS)}")
    WRITERS[suffix.lower()](description, path)


def read_model(model: StrPath | IO, **options: Any) -> Description:
    """Return the mechanism of a .toml, .urdf, .xacro, .mjcf, .sdf or .xml file; `options` go to the reader of its format.

    Parameters
    ----------
    model : path, file object or str
        A str with several lines, or one that begins with "<", is the text of a model itself: XML or TOML. A file object that
        is open on a file of a known suffix is read as that file is.
    """
    if hasattr(model, "read"):
        return _read_object(model, options)
    if is_text(model):
        return _read_text(str(model), "model", options)
    return _with_options(_reader(model), str(as_path(model).name), (model,), options)


def is_text(model: object) -> bool:
    """Return whether a str is the text of a model, not the path of one."""
    return isinstance(model, str) and ("\n" in model or model.lstrip().startswith("<"))


def _read_object(file: Any, options: dict[str, Any]) -> Description:
    content = file.read()
    name = getattr(file, "name", "")
    place = Path(name) if isinstance(name, str) and name else Path("model")
    text = decode(content, place.name) if isinstance(content, bytes) else content
    if not isinstance(text, str):
        raise InputError(f"model: found {file!r} that gives {type(content).__name__}; expected text or bytes")
    folder = (
        {"folder": place.parent}
        if place.suffix.lower() in (".urdf", ".sdf") and os.path.isfile(place)
        else {}
    )
    return _read_text(text, place.name, folder | options)


def _read_text(text: str, name: str, options: dict[str, Any]) -> Description:
    if not text.lstrip().startswith("<"):
        return _with_options(parse_toml, name, (text, name), options)
    return _with_options(PARSERS[_of_root(text, name)], name, (text, name), options)


def _with_options(reader: Reader, name: str, arguments: tuple, options: dict[str, Any]) -> Description:
    try:
        return reader(*arguments, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error) or not options:
            raise
        option, known = str(error).rsplit(" ", 1)[-1], sorted(_options(reader))
        hint = "; load it, then take Mechanism.with_gravity" if option == "'gravity'" else ""
        told = f"options are {', '.join(known)}" if known else "it has none"
        raise InputError(f"{name}: {reader.__name__} has no option {option}{hint}; {told}") from None


def _options(reader: Reader) -> set[str]:
    """Return what a user may give to a reader besides the model; those of xacro and URDF files go on to `parse_urdf`."""
    found = inspect.signature(reader).parameters.values()
    own = {p.name for p in found if p.kind is not p.VAR_KEYWORD}
    passed_on = any(p.kind is p.VAR_KEYWORD for p in found)
    return (own | (_options(parse_urdf) if passed_on else set())) - {
        "path",
        "text",
        "name",
        "attached",
        "folder",
    }


def _reader(path: StrPath) -> Reader:
    place = as_path(path)
    suffix = place.suffix.lower()
    if suffix == ".xml":
        return _of_root(load_text(place), place.name)
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


def _of_root(text: str, name: str) -> Reader:
    """Return the reader for the root element of an XML text."""
    root = parse_xml(text, name)
    if root.tag in XML_ROOTS:
        return XML_ROOTS[root.tag]
    found, expected = f"<{root.tag}>", "<robot> (URDF) or <mujoco> (MJCF)"
    raise ModelError(Finding(f"{name}:{root.line}", found, expected))
