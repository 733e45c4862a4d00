"""Material libraries of OBJ files (.mtl): the diffuse color of each material, and its picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.model.files.mesh.beside import Beside
from articulus.model.files.mesh.texture import decoded


@dataclass(frozen=True)
class Material:
    """What a material looks like.

    Parameters
    ----------
    color : three whole numbers, 0 to 255
    picture : array of bytes, (height, width, 3), or None
    """

    color: tuple[int, ...] = (178, 178, 178)
    picture: np.ndarray | None = None


def read_materials(content: bytes | None, beside: Beside) -> dict[str, Material]:
    """Return the materials of a library by name; what cannot be read is left out, for a picture never stops a model."""
    out: dict[str, Material] = {}
    name = ""
    for line in (content or b"").decode("utf-8", "replace").splitlines():
        key, _, rest = line.strip().partition(" ")
        if key == "newmtl":
            name = rest.strip()
            out[name] = Material()
        elif key == "Kd" and name:
            out[name] = Material(_color(rest) or out[name].color, out[name].picture)
        elif key == "map_Kd" and name:
            out[name] = Material(out[name].color, decoded(beside(rest.split(" -")[-1].strip())))
    return out


def _color(text: str) -> tuple[int, ...]:
    try:
        numbers = [round(255 * min(max(float(x), 0.0), 1.0)) for x in text.split()[:3]]
    except (ValueError, OverflowError):
        return ()
    return tuple(numbers) if len(numbers) == 3 else ()
