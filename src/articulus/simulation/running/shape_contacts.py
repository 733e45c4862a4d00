"""Contacts of the shapes that a model file holds, in one word: `simulate(contacts=True)`, `Mechanism.components(contacts=True)`."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError, did_you_mean
from articulus.model.files.mesh.hull import with_hull
from articulus.model.mechanism import GROUND, Device
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import Contact, Contacts, GroundContact
from articulus.simulation.loop.contact import (
    SHAPES,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    HeightField,
    Plane,
    Shape,
    Sphere,
)
from articulus.simulation.loop.contact.polyhedra import polyhedron

DEPTH = 0.01
"""How far a mechanism that stands on a single point sinks in, in parts of its characteristic length [-]."""
FRICTION = 1.0
"""Coefficient of friction where the file says none, as MuJoCo's [-]."""
RATE = 50.0
"""Natural frequency of a mechanism on one point without gravity [rad/s]."""
SLOW = 0.02
"""Speed at which friction without states has reached 71 percent, over that of a fall by the depth [-]."""
STEP_SHARE = 0.04
"""Largest step of `quick_contacts`, over the time in which a mechanism on one point swings by a radian [-]."""
SLIP_SHARE = 0.05
"""Speed at which its friction has reached 71 percent, over that of a fall by the characteristic length [-]."""
TYPES = {kind.type_name: kind for kind in SHAPES}
MADE = (Contact, Contacts, GroundContact)


def shape_contacts(
    mechanism: Mechanism,
    *,
    stiffness: float | None = None,
    dissipation: float | None = None,
    friction: float | None = None,
    shear: float | None = None,
    slip_speed: float | None = None,
) -> list[Contacts]:
    """Return the contacts of all shapes that the file of a mechanism holds.

    Which shapes touch is what the file says: groups, excluded bodies, never a body and the one that carries it. A file without any surface
    or shape that stands still (as all URDF files are) gets the plane z = 0. With numbers that are not given, the whole mechanism on a
    single point sinks in by a hundredth of its characteristic length, critically damped. This is a default and no property of a machine:
    give numbers where they matter.

    Parameters
    ----------
    mechanism : Mechanism
    stiffness, dissipation : float [N/m^1.5, s/m]
        Stiffness and dissipation of every point, see `Contact`.
    friction : float [-]
        Friction of every pair; otherwise the larger one of both shapes, as in MuJoCo.
    shear : float [N/m]
        Stiffness along the surface while friction holds: that across it at the depth of rest if not given.
    slip_speed : float [m/s]
        Friction without states, for learning and crowds, see `Contacts`; otherwise friction holds on what stands still, and
        moving bodies rub on each other without holding.

    Returns
    -------
    list of Contacts
        One for each coefficient of friction; empty for a file without shapes.
    """
    collisions = mechanism.description.equipment.collisions
    if not collisions:
        return []
    shapes = [_Shape.of(with_hull(device)) for device in collisions]
    if all(_stands(mechanism, x.shape) is False for x in shapes):
        shapes.append(_Shape(Plane(), "floor", groups=(1, 1)))
    law = _law(mechanism, stiffness, dissipation)
    depth, gravity = law.pop("depth"), law.pop("gravity")
    slow = SLOW * math.sqrt(2 * gravity * depth) if slip_speed is None else slip_speed
    groups: dict[tuple[float, bool], list[tuple[int, int]]] = {}
    for i, j, rubs in _rubbing(mechanism, shapes, friction):
        still = bool(_stands(mechanism, shapes[i].shape) or _stands(mechanism, shapes[j].shape))
        groups.setdefault((rubs, still), []).append((i, j))
    along = {"shear": 1.5 * law["stiffness"] * math.sqrt(depth) if shear is None else shear}
    out = []
    for number, ((rubs, still), pairs) in enumerate(sorted(groups.items(), reverse=True)):
        used = sorted({k for pair in pairs for k in pair})
        options = along if still and slip_speed is None else {"slip_speed": slow}
        out.append(
            Contacts(
                tuple(shapes[k].shape for k in used),
                friction=rubs,
                among=tuple((used.index(i), used.index(j)) for i, j in pairs),
                name="contacts" if not number else f"contacts_{number + 1}",
                **law,
                **(options if rubs else {}),
            )
        )
    return out


def _rubbing(
    mechanism: Mechanism, shapes: list[_Shape], friction: float | None
) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs that may touch with their friction; those that the file names have numbers of their own, margins as another shape."""
    numbers = {shape.name: k for k, shape in enumerate(shapes)}
    named = set[frozenset[int]]()
    for i, shape in enumerate(list(shapes)):
        for name, rubs, margin in shape.pairs:
            if name not in numbers:
                where = f"collision '{shape.name}', pairs"
                raise InputError(
                    Finding(where, f"'{name}'", "the name of a shape", did_you_mean(name, numbers))
                )
            j = numbers[name]
            named.add(frozenset((i, j)))
            if not _may_meet(mechanism, shape, shapes[j]):
                continue
            places = []
            for k, more in ((i, margin), (j, 0.0)):
                if more != shapes[k].margin:
                    plain = shapes[k].plain or shapes[k].shape
                    shapes.append(dataclasses.replace(shapes[k], shape=_grown(plain, more), margin=more))
                    k = len(shapes) - 1
                places.append(k)
            yield places[0], places[1], rubs if friction is None else friction
    for i, j in itertools.combinations(range(len(numbers)), 2):
        a, b = shapes[i], shapes[j]
        if frozenset((i, j)) not in named and _touches(mechanism, a, b):
            rough = 0.0 if a.slippery and b.slippery else max(a.friction, b.friction)
            yield i, j, rough if friction is None else friction


def quick_contacts(mechanism: Mechanism, step: float) -> list[Contacts]:
    """Return the contacts of all shapes for games and learning: friction without states, as stiff and lossy as an explicit step takes.

    The whole mechanism on a single point sinks in by a hundredth of its length, or by what a natural frequency of 0.04 / step takes
    where that is more (9 mm at 1 ms). Losses and the speed at which friction rises go by the speed v of a fall from its length:
    dissipation 1 / v (restitution about 0.5 at v), slip speed v / 20.

    Parameters
    ----------
    mechanism : Mechanism
    step : float [s]
    """
    scales = mechanism.description.scales()
    gravity = scales.gravity or RATE**2 * DEPTH * scales.length / 1.5
    depth = max(DEPTH * scales.length, 1.5 * gravity * (step / STEP_SHARE) ** 2)
    fall = math.sqrt(2 * gravity * scales.length)
    return shape_contacts(
        mechanism,
        stiffness=scales.mass * gravity / depth**1.5,
        dissipation=1 / fall,
        slip_speed=SLIP_SHARE * fall,
    )


def with_contacts(mechanism: Mechanism, components: Sequence[Component]) -> tuple[Component, ...]:
    """Return components and the contacts of the shapes of the file, unless there are contacts among them already."""
    if any(isinstance(c, MADE) for c in components):
        return tuple(components)
    found = shape_contacts(mechanism)
    if not found:
        raise InputError(
            f"contacts: found no shapes that touch in '{mechanism.name}'; expected a model file with some, such as <collision> of URDF or geoms of "
            "MJCF, or `Contact` and `Contacts` of your own"
        )
    return (*components, *found)


@dataclasses.dataclass(frozen=True)
class _Shape:
    """A shape with how it touches."""

    shape: Shape
    name: str
    friction: float = FRICTION
    slippery: bool = False
    groups: tuple[int, int] = (1, 0)
    apart: tuple[str, ...] = ()
    margin: float = 0.0
    pairs: tuple[tuple[str, float, float], ...] = ()
    plain: Shape | None = None
    """The shape without its margin."""

    @staticmethod
    def of(device: Device) -> _Shape:
        held: dict[str, Any] = dict(device.values)
        where = f"collision '{device.name}'"
        if device.type not in TYPES:
            raise InputError(
                Finding(
                    where, f"the type '{device.type}'", "that of a shape", did_you_mean(device.type, TYPES)
                )
            )
        own = {k: held.pop(k) for k in ("name", "friction", "slippery", "apart") if k in held}
        what, touched = (int(x) for x in held.pop("groups", (1, 0)))
        margin = float(held.pop("margin", 0.0))
        pairs = tuple(held.pop("pairs", ()))
        given = [held.pop(key, (0.0,) * len(pairs)) for key in ("pair_friction", "pair_margin")]
        if any(len(x) != len(pairs) for x in given):
            found = f"{len(pairs)} pairs, {len(given[0])} and {len(given[1])} numbers"
            raise InputError(Finding(where, found, "pair_friction and pair_margin for each of pairs"))
        try:
            shape = TYPES[device.type](**held)
        except TypeError as error:  # a field that the shape does not have, or lacks
            raise InputError(f"{where} of type '{device.type}': {error}") from None
        named = tuple((str(name), float(rubs), float(more)) for name, rubs, more in zip(pairs, *given))
        return _Shape(
            _grown(shape, margin), groups=(what, touched), margin=margin, pairs=named, plain=shape, **own
        )


def _grown(shape: Shape, margin: float) -> Shape:
    """Return a shape whose surface lies further out."""
    if not margin:
        return shape
    match shape:
        case Sphere() | Capsule():
            return dataclasses.replace(shape, radius=shape.radius + margin)
        case Box() if shape.rounding is not None:
            size = tuple(x + 2 * margin for x in shape.size)
            return dataclasses.replace(shape, size=size, rounding=shape.rounding + margin)
        case Cylinder() if shape.rounding is not None:
            radius, length = shape.radius + margin, shape.length + 2 * margin
            return dataclasses.replace(shape, radius=radius, length=length, rounding=shape.rounding + margin)
        case ConvexHull():
            moved = _corners_further_out(np.array(shape.vertices), margin)
            return dataclasses.replace(shape, vertices=tuple(map(tuple, moved.tolist())))
    up = shape.at.rotation()[:, 2] * margin
    return dataclasses.replace(shape, xyz=tuple(float(x + u) for x, u in zip(shape.xyz, up)))


def _corners_further_out(corners: np.ndarray, margin: float) -> np.ndarray:
    """Return corners (n, 3) of a hull whose faces lie a margin further out, each moved by twice that at most."""
    from scipy import spatial  # a run without shapes must not wait for SciPy

    try:
        hull = spatial.ConvexHull(corners / np.ptp(corners))
    except spatial.QhullError:  # flat: away from the middle
        away = corners - corners.mean(axis=0)
        return corners + margin * away / np.maximum(np.linalg.norm(away, axis=1), 1e-300)[:, None]
    out = corners.copy()
    for k in hull.vertices:
        normals = hull.equations[(hull.simplices == k).any(axis=1), :3]
        move = np.linalg.lstsq(normals, np.ones(len(normals)), rcond=1e-6)[0]
        out[k] += margin * move * min(1.0, 2 / np.linalg.norm(move))
    return out


def _stands(mechanism: Mechanism, shape: Shape) -> bool:
    """Whether a shape is part of the ground."""
    return mechanism.description.carrier(shape.frame)[0] == GROUND


def _may_meet(mechanism: Mechanism, a: _Shape, b: _Shape) -> bool:
    """Whether two shapes are of such kinds and on such bodies that they can meet."""
    carriers = [mechanism.description.carrier(x.shape.frame)[0] for x in (a, b)]
    surfaces = [isinstance(x.shape, Plane | HeightField) for x in (a, b)]
    flat = any(isinstance(x.shape, ConvexHull) and polyhedron(x.shape) is None for x in (a, b))
    return carriers[0] != carriers[1] and not all(surfaces) and (any(surfaces) or not flat)


def _touches(mechanism: Mechanism, a: _Shape, b: _Shape) -> bool:
    """Whether two shapes may touch, as groups and exclusions say."""
    meant = a.groups[0] & b.groups[1] or b.groups[0] & a.groups[1]
    apart = b.shape.frame in a.apart or a.shape.frame in b.apart
    return bool(meant) and not apart and _may_meet(mechanism, a, b)


def _law(mechanism: Mechanism, stiffness: float | None, dissipation: float | None) -> dict[str, float]:
    """Return stiffness and dissipation, and the depth and gravity from which they come where they are not given."""
    scales = mechanism.description.scales()
    depth = DEPTH * scales.length
    gravity = scales.gravity or RATE**2 * depth / 1.5
    weight = scales.mass * gravity
    if stiffness is None:
        stiffness = weight / depth**1.5
    else:
        depth = (weight / stiffness) ** (2 / 3)
    if dissipation is None:  # c = 3/2 a N is critical for the stiffness 3/2 N / depth
        dissipation = 4 / 3 * math.sqrt(1.5 / (gravity * depth))
    return {"stiffness": stiffness, "dissipation": dissipation, "depth": depth, "gravity": gravity}
