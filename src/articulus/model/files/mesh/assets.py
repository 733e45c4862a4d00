"""Files that a mesh file names: pictures, materials, buffers. They lie near it, or are omitted."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from articulus.errors import ModelError
from articulus.model.files.asset_paths import why_not_inside
from articulus.model.files.storage import load_bytes

AssetResolver = Callable[[str], bytes | None]
"""Gives the content of a file by the name that a mesh file uses; None when there is none."""
FOLDERS_UP = 2
"""How far above the folder of a mesh its pictures may lie: makers put them in ../materials/textures."""


def no_assets(name: str) -> bytes | None:
    """Return nothing: for a content without a folder."""
    return None


def assets_near(place: Path) -> AssetResolver:
    """Return what gives the files that a mesh file at `place` names."""
    above = place.resolve().parents
    root = above[min(FOLDERS_UP, len(above) - 1)]

    def content(name: str) -> bytes | None:
        plain = urllib.parse.unquote(name).replace("\\", "/").removeprefix("file://")
        for folder in (plain, plain.rpartition("/")[2]):
            path = place.parent / folder
            if not why_not_inside(path, [root]) and os.path.isfile(path):
                try:
                    return load_bytes(path)
                except ModelError:
                    return None
        return None

    return content
