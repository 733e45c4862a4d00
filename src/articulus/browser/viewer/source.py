"""Where what a page shows comes from: files that are edited while it is open, files dropped onto it."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from articulus.browser.viewer.session import ViewerSession
from articulus.errors import InputError
from articulus.model.load import load

TEXTS = (".toml", ".urdf", ".xml", ".mjcf", ".sdf")
"""Endings of files that a page takes. An .xacro file runs what stands in it, so it is expanded by its owner."""

Stamp = tuple[tuple[int, int] | None, ...]


def open_model(name: str, text: str) -> ViewerSession:
    """Return the mechanism of a dropped file, which has no folder: meshes beside it are not found."""
    file: Any = io.StringIO(text)
    file.name = name
    return ViewerSession(load(file))


@dataclass(frozen=True)
class Source:
    """Where what a page shows comes from.

    Parameters
    ----------
    read : callable
        Returns the ViewerSession of the files as they are now; None for what is in memory only.
    paths : tuple of Path
        Files that are examined for changes.
    open_text : callable
        From name and text of a dropped file to its ViewerSession.
    """

    read: Callable[[], ViewerSession] | None = None
    paths: tuple[Path, ...] = ()
    open_text: Callable[[str, str], ViewerSession] = open_model

    def stamp(self) -> Stamp:
        """Return what differs once a file has been written: time and size of each, None for one that is not there."""
        return tuple(_stamp(path) for path in self.paths)

    def open(self, name: str, text: str) -> ViewerSession:
        """Return what a dropped file holds; raise InputError for one of another kind."""
        if PurePath(name).suffix.lower() not in TEXTS:
            hint = " (an .xacro file is a program: expand it first)" if name.endswith(".xacro") else ""
            raise InputError(f"{name[:80]}: expected a file of {', '.join(TEXTS)}{hint}")
        return self.open_text(PurePath(name).name, text)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:  # an editor that writes a new file has just removed the old one
        return None
    return found.st_mtime_ns, found.st_size
