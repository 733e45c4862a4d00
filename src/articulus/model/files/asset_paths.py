"""Where the files that a model names may lie: inside the model's folder or a declared root, nowhere else."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)
PACKAGE_SCHEMES = ("package", "model")
PACKAGE_MARKS = ("__init__.py", "package.xml")
"""Files that say that a folder belongs to a package."""
MODEL_FOLDERS = ("urdf", "urdfs", "robots", "xacro")
"""Names of folders in which ROS packages keep their models; without a mark, what such a folder lies in is the package."""


def why_outside(filename: str, folder: Path | None, package_roots: Mapping[str, Path]) -> str:
    """Return why a file that a model names may not be used; empty when it may.

    Parameters
    ----------
    filename : str
        As the model writes it: a relative or absolute path, file:// or package://name/path.
    folder : Path or None
        The model's folder; None for a text without one, for which only the path itself is examined.
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
    """Return where a file that `why_outside` lets pass should lie; None when it leads out of its package.

    A package that is not declared is the nearest folder of its name in which the model itself lies, else one beside the
    model's own package or on the paths of ROS, else one in the model's folder.
    """
    plain = filename.replace("\\", "/")
    scheme = _SCHEME.fullmatch(plain)
    if scheme is None or scheme[1] not in PACKAGE_SCHEMES:
        return folder / (scheme[2] if scheme else plain)
    name, _, rest = scheme[2].lstrip("/").partition("/")
    root = package_roots[name] if name in package_roots else _package_named(name, folder)
    place = root / rest.lstrip("/")
    return None if why_not_inside(place, [root]) else place


def _package_named(name: str, folder: Path) -> Path:
    real = folder.resolve()
    around = [f for f in (real, *real.parents) if f.name == name]
    beside = package_folder(folder).parent / name
    found = [*around, *([beside] if os.path.isfile(beside / "package.xml") else []), *_of_ros(name)]
    return found[0] if found else folder / name


def _of_ros(name: str) -> list[Path]:
    """Return the folders of a package on the paths of ROS 1 and ROS 2."""
    first = [Path(p) / name for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    second = [
        Path(p) / "share" / name for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p
    ]
    return [f for f in (*first, *second) if os.path.isdir(f)]


def _package(path: str, package_roots: Mapping[str, Path]) -> str:
    name, _, rest = path.lstrip("/").partition("/")
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
    bare = real.parent if real.name in MODEL_FOLDERS else real
    found = next(
        (f for f in (real, *real.parents) if any(os.path.isfile(f / m) for m in PACKAGE_MARKS)), bare
    )
    while os.path.isfile(found.parent / "__init__.py"):
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
