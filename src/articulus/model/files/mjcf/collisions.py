"""Geoms of a compiled MuJoCo model that may touch, as shapes with their friction, groups and margins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.files.mesh.hull import hull_of
from articulus.model.files.mjcf.unsupported import NOTED, Omission
from articulus.model.mechanism import Device, Pose
from articulus.model.mechanism.pose import quaternion_of

PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
"""mjtGeom."""
FRICTIONLESS = 1
"""condim of a contact without friction."""
MOST_HEIGHTS = 40
"""Heights of a field in one direction; more are omitted in even distances, since each costs at every step."""

Values = list[tuple[str, Any]]


def collisions_of(model: Any, bodies: Sequence[str], filtered: bool) -> tuple[list[Device], list[Omission]]:
    """Return the shapes that may touch, and what cannot be said of them.

    Parameters
    ----------
    model : MjModel
    bodies : sequence of str
        Names that the bodies have here.
    filtered : bool
        Whether a body never touches that which carries it.
    """
    shapes, lost = [], list[Omission]()
    apart, taken, names = _apart(model, filtered), set[str](), dict[int, str]()
    paired = {int(g) for g in (*model.pair_geom1, *model.pair_geom2)}
    for g in range(model.ngeom):
        if not (model.geom_contype[g] or model.geom_conaffinity[g] or g in paired):
            continue
        name = model.geom(g).name or f"geom{g}"
        try:
            kind, own, at = _solid(model, g)
        except InputError as error:
            lost.append(Omission("", f"geom '{name}': {error}", "omitted contact shape", NOTED))
            continue
        while name in taken:
            name += "_"
        taken.add(name)
        names[g] = name
        body = int(model.geom_bodyid[g])
        values: Values = [("name", name), ("frame", bodies[body]), *own]
        if any(at.xyz):
            values.append(("xyz", at.xyz))
        if at.quaternion != (1.0, 0.0, 0.0, 0.0):
            values.append(("quaternion", at.quaternion))
        values += _surface(model, g)
        if apart[body]:
            values.append(("apart", tuple(bodies[b] for b in sorted(apart[body]))))
        shapes.append(Device(kind, tuple(values)))
    named = _pairs(model, names)
    return [Device(x.type, (*x.values, *named.get(x.name, ()))) for x in shapes], lost


def _pairs(m: Any, names: dict[int, str]) -> dict[str, Values]:
    """Return for the first shape of each pair that the file names which other it touches, how rough they are, and the margin."""
    rows: dict[str, list[tuple[str, float, float]]] = {}
    for k in range(m.npair):
        one, two = int(m.pair_geom1[k]), int(m.pair_geom2[k])
        if one in names and two in names:
            rubs = 0.0 if m.pair_dim[k] == FRICTIONLESS else float(m.pair_friction[k][0])
            margin = float(m.pair_margin[k] - m.pair_gap[k])
            rows.setdefault(names[one], []).append((names[two], rubs, margin))
    return {
        name: list(zip(("pairs", "pair_friction", "pair_margin"), zip(*found)))
        for name, found in rows.items()
    }


def _surface(m: Any, g: int) -> Iterator[tuple[str, Any]]:
    """Yield how a geom touches."""
    yield "friction", float(m.geom_friction[g][0])
    if m.geom_condim[g] == FRICTIONLESS:
        yield "slippery", True
    if margin := float(m.geom_margin[g] - m.geom_gap[g]):
        yield "margin", margin
    yield "groups", (float(m.geom_contype[g]), float(m.geom_conaffinity[g]))


def _solid(m: Any, g: int) -> tuple[str, Values, Pose]:
    """Return type, numbers and pose of a geom; raise InputError for what is no shape here."""
    kind, size = int(m.geom_type[g]), [float(x) for x in m.geom_size[g]]
    at = Pose(tuple(map(float, m.geom_pos[g])), quaternion=tuple(map(float, m.geom_quat[g])))
    if kind == PLANE:
        return "plane", [], at
    if kind == SPHERE:
        return "sphere", [("radius", size[0])], at
    if kind == CAPSULE:
        return "capsule", [("radius", size[0]), ("length", 2 * size[1])], at
    if kind == CYLINDER:
        return "cylinder", [("radius", size[0]), ("length", 2 * size[1])], at
    if kind == BOX:
        return "box", [("size", tuple(2 * x for x in size))], at
    if kind == FIELD:
        return _field(m, int(m.geom_dataid[g]), at)
    if kind == MESH:
        k = int(m.geom_dataid[g])
        first = int(m.mesh_vertadr[k])
        corners = hull_of(m.mesh_vert[first : first + int(m.mesh_vertnum[k])])
        middle = corners.mean(axis=0)
        corners, at = corners - middle, _move(at, middle)
        return "hull", [("vertices", tuple(map(tuple, corners.tolist())))], at
    raise InputError("an ellipsoid" if kind == ELLIPSOID else "a shape of another kind")


def _field(m: Any, k: int, at: Pose) -> tuple[str, Values, Pose]:
    """Return a height field: rows of MuJoCo go along y."""
    rows, columns, first = int(m.hfield_nrow[k]), int(m.hfield_ncol[k]), int(m.hfield_adr[k])
    x, y, top, _ = map(float, m.hfield_size[k])
    heights = (
        top * np.array(m.hfield_data[first : first + rows * columns], dtype=float).reshape(rows, columns).T
    )
    every = [max(1, -(-n // MOST_HEIGHTS)) for n in heights.shape]
    kept = heights[:: every[0], :: every[1]]
    spacing = [2 * half / (n - 1) * step for half, n, step in zip((x, y), heights.shape, every)]
    if min(kept.shape) < 4:
        raise InputError(f"a height field of {columns} x {rows}; expected at least 4 x 4")
    reach = [(n - 1) * s / 2 for n, s in zip(kept.shape, spacing)]
    at = _move(at, np.array([reach[0] - x, reach[1] - y, 0.0]))
    return "height_field", [("heights", tuple(map(tuple, kept.tolist()))), ("spacing", tuple(spacing))], at


def _move(at: Pose, by: np.ndarray) -> Pose:
    X = at.matrix()
    place = X[:3, 3] + X[:3, :3] @ by
    return Pose(tuple(map(float, place)), quaternion=quaternion_of(X[:3, :3]))


def _apart(m: Any, filtered: bool) -> list[set[int]]:
    """Return for each body those that it never touches: excluded ones, and the one that carries it unless that stands still."""
    out: list[set[int]] = [set() for _ in range(m.nbody)]
    weld = np.array(m.body_weldid)
    carrier = weld[np.array(m.body_parentid)[weld]]
    for a in range(m.nbody):
        for b in range(a):
            related = weld[a] and weld[b] and (weld[a] == carrier[b] or weld[b] == carrier[a])
            if weld[a] == weld[b] or (filtered and related):
                out[a].add(b)
                out[b].add(a)
    for signature in m.exclude_signature:
        a, b = int(signature) >> 16, int(signature) & 0xFFFF
        out[a].add(b)
        out[b].add(a)
    return out
