"""xacro files: macros that the package `xacro` expands to URDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from articulus.errors import Finding, ModelError, UnsupportedOperation, brief
from articulus.files.storage import StrPath, as_path, load_text, note_file
from articulus.files.urdf.reader import parse_urdf
from articulus.mechanism import Description


def read_xacro(path: StrPath, *, arguments: Mapping[str, str] | None = None, **options: Any) -> Description:
    """Return the mechanism of a xacro file; needs the package `xacro`.

    Parameters
    ----------
    path : path
    arguments : mapping of str to str
        Values of the file's <xacro:arg>.
    **options
        Those of `read_urdf`.
    """
    place = as_path(path)
    load_text(place)  # the messages of a file that is missing, too large or no text
    return parse_urdf(
        _expanded(str(place), place.name, arguments or {}), place.name, folder=place.parent, **options
    )


def _expanded(path: str, name: str, arguments: Mapping[str, str]) -> str:
    try:
        import xacro
    except ImportError:
        raise UnsupportedOperation(
            f"{name}: xacro macros are expanded by the package xacro, which is not installed: pip install xacro"
        ) from None
    known = len(xacro.all_includes)
    try:
        document = xacro.process_file(path, mappings={k: str(v) for k, v in arguments.items()})
        return str(document.toprettyxml(indent="  "))
    except Exception as error:  # noqa: BLE001 (of many kinds, from a program of macros)
        raise ModelError(
            Finding(name, f"what xacro refuses ({brief(error)})", "a file that it expands")
        ) from None
    finally:
        for included in xacro.all_includes[known:]:
            note_file(as_path(included))
