"""Material libraries of OBJ files (.mtl): the diffuse color of each material, and its picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.model.files.mesh.assets import AssetResolver
from articulus.model.files.mesh.texture import decode_picture


@dataclass(frozen=True)
class MeshMaterial:
    """What a material looks like.

    Parameters
    ----------
    color : three whole numbers, 0 to 255
    picture : array of bytes, (height, width, 3), or None
    """

    color: tuple[int, ...] = (178, 178, 178)
    picture: np.ndarray | None = None


def read_materials(content: bytes | None, beside: AssetResolver) -> dict[str, MeshMaterial]:
    """Return the materials of a library by name; what cannot be read is omitted, for a picture never stops a model."""
    out: dict[str, MeshMaterial] = {}
    name = ""
    for line in (content or b"").decode("utf-8", "replace").splitlines():
        key, _, rest = line.strip().partition(" ")
        if key == "newmtl":
            name = rest.strip()
            out[name] = MeshMaterial()
        elif key == "Kd" and name:
            out[name] = MeshMaterial(_color(rest) or out[name].color, out[name].picture)
        elif key == "map_Kd" and name:
            out[name] = MeshMaterial(out[name].color, decode_picture(beside(rest.split(" -")[-1].strip())))
    return out


def _color(text: str) -> tuple[int, ...]:
    try:
        numbers = [round(255 * min(max(float(x), 0.0), 1.0)) for x in text.split()[:3]]
    except (ValueError, OverflowError):
        return ()
    return tuple(numbers) if len(numbers) == 3 else ()
