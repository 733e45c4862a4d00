"""What a compiled MuJoCo model draws: the geoms that MuJoCo's own viewer shows at its start."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism import Box, Capsule, Cylinder, Ellipsoid, Mesh, Pose, Sphere, Visual
from articulus.model.mechanism.visual import MAX_TRIANGLES, color_text

VISIBLE_GROUPS = 3
"""Groups 0, 1 and 2 are shown at the start, higher ones (collision shapes, as a rule) are not."""
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(2, 8)
"""mjtGeom; planes, height fields and signed distance fields are not drawn."""
DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)

SOLIDS: dict[int, Callable[[Any], Visual]] = {
    SPHERE: lambda s: Sphere(s[0]),
    CAPSULE: lambda s: Capsule(s[0], 2 * s[1]),
    ELLIPSOID: lambda s: Ellipsoid(s),
    CYLINDER: lambda s: Cylinder(s[0], 2 * s[1]),
    BOX: lambda s: Box(2 * s),
}
"""Shape of the three numbers of geom_size, which are radii and half lengths."""


def body_visuals(model: Any, body: int) -> tuple[Visual, ...]:
    """Return what is drawn for a body of a compiled model, in its frame."""
    first = int(model.body_geomadr[body])
    found = []
    for g in range(first, first + int(model.body_geomnum[body])):
        with contextlib.suppress(InputError):  # beyond what a picture can show
            found.append(_visual(model, g))
    return tuple(v for v in found if v is not None)


def _visual(m: Any, g: int) -> Visual | None:
    kind, rgba = int(m.geom_type[g]), _rgba(m, g)
    if m.geom_group[g] >= VISIBLE_GROUPS or rgba[3] == 0:
        return None
    placed: dict[str, Any] = {
        "at": Pose(tuple(map(float, m.geom_pos[g])), quaternion=tuple(map(float, m.geom_quat[g]))),
        "color": "" if rgba == DEFAULT_RGBA else color_text(rgba),
    }
    if kind == MESH:
        return _mesh(m, int(m.geom_dataid[g]), placed)
    return replace(SOLIDS[kind](m.geom_size[g]), **placed) if kind in SOLIDS else None


def _rgba(m: Any, g: int) -> tuple[float, ...]:
    """Return the color that MuJoCo's viewer gives a geom: its own unless that is the default, then its material's."""
    own, material = tuple(map(float, m.geom_rgba[g])), int(m.geom_matid[g])
    return own if own != DEFAULT_RGBA or material < 0 else tuple(map(float, m.mat_rgba[material]))


def _mesh(m: Any, k: int, placed: dict[str, Any]) -> Mesh | None:
    """Return a mesh; none when it has more triangles than are kept."""
    vertices = slice(int(m.mesh_vertadr[k]), int(m.mesh_vertadr[k]) + int(m.mesh_vertnum[k]))
    faces = slice(int(m.mesh_faceadr[k]), int(m.mesh_faceadr[k]) + int(m.mesh_facenum[k]))
    if not 0 < faces.stop - faces.start <= MAX_TRIANGLES:
        return None
    return Mesh(np.array(m.mesh_vert[vertices]), np.array(m.mesh_face[faces]), **placed)
