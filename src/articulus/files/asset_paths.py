"""Where the files that a model names may lie: inside the model's folder or a declared root, nowhere else."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)
PACKAGE_SCHEMES = ("package", "model")
PACKAGE_MARKS = ("__init__.py", "package.xml")
"""Files that say that a folder belongs to a package."""


def why_outside(filename: str, folder: Path | None, package_roots: Mapping[str, Path]) -> str:
    """Return why a file that a model names may not be used; empty when it may.

    Parameters
    ----------
    filename : str
        As the model writes it: a relative or absolute path, file:// or package://name/path.
    folder : Path or None
        The model's folder; None for a text without one, for which only the path itself is looked at.
    package_roots : mapping of str to Path
        Folder of each declared package; a path may end in any of them.
    """
    plain = filename.replace("\\", "/")
    scheme = _SCHEME.fullmatch(plain)
    if scheme and scheme[1] in PACKAGE_SCHEMES:
        return _package(scheme[2], package_roots)
    if scheme and scheme[1] != "file":
        return f"it is fetched by {scheme[1]}"
    path = scheme[2] if scheme else plain
    if folder is None:
        return "" if _stays(path) else "it leads out of the model's folder"
    return why_not_inside(folder / path, [folder, *package_roots.values()])


def place_of(filename: str, folder: Path, package_roots: Mapping[str, Path]) -> Path | None:
    """Return where a file that `why_outside` lets pass should lie; None when its package is not known.

    A package that is not declared is the nearest folder of its name in which the model itself lies, else one in the model's
    folder.
    """
    plain = filename.replace("\\", "/")
    scheme = _SCHEME.fullmatch(plain)
    if scheme is None or scheme[1] not in PACKAGE_SCHEMES:
        return folder / (scheme[2] if scheme else plain)
    name, _, rest = scheme[2].partition("/")
    real = folder.resolve()
    around = (f for f in (real, *real.parents) if f.name == name)
    root = package_roots[name] if name in package_roots else next(around, folder / name)
    place = root / rest.lstrip("/")
    return None if why_not_inside(place, [root]) else place


def _package(path: str, package_roots: Mapping[str, Path]) -> str:
    name, _, rest = path.partition("/")
    if name in package_roots:
        root = package_roots[name]
        return why_not_inside(root / rest.lstrip("/"), [root])
    return "" if _stays(rest) and name not in ("", ".", "..") else "it leads out of its package"


def _stays(path: str) -> bool:
    """Return whether a path stays below where it starts, by its text alone."""
    normal = posixpath.normpath(path)
    return not (normal.startswith("/") or normal.split("/")[0] == ".." or re.match(r"[A-Za-z]:", normal))


def package_folder(folder: Path) -> Path:
    """Return the outermost folder of the Python or ROS package that a folder lies in; itself where it is in none."""
    real = folder.resolve()
    found = next((f for f in (real, *real.parents) if any((f / m).is_file() for m in PACKAGE_MARKS)), real)
    while (found.parent / "__init__.py").is_file():
        found = found.parent
    return found


def why_not_inside(path: Path, roots: list[Path]) -> str:
    """Return why a path, followed through every link, is in none of the roots; empty when it is in one."""
    try:
        real = path.resolve()
        if any(real.is_relative_to(root.resolve()) for root in roots):
            return ""
    except (OSError, ValueError, RuntimeError) as error:
        return f"it cannot be resolved ({error})"
    return "it leads out of the model's folder and of every declared root"
