"""The robots' files that other packages bring along, found by the name of the package."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

ROBOTS = "example-robot-data"
"""Its robots are tested with every change."""
MORE = ("robosuite", "rtb-data", "pybullet")
"""Theirs by `make models`."""


def files_of(package: str, suffix: str) -> list[Path]:
    """Return the files with a suffix of an installed package, sorted; none where it is not installed."""
    try:
        found = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(f.locate()).resolve() for f in found if f.suffix == suffix)


def missing(package: str) -> str:
    """Return what a skipped test says."""
    return f"{package} is not installed: run make test (example-robot-data) or make models (the others)"
