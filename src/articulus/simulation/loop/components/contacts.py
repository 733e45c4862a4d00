"""Many shapes that may touch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism import GROUND, Description
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, positive, wrong
from articulus.simulation.loop.contact.cores import length
from articulus.simulation.loop.contact.crowd import (
    Kind,
    faceted,
    facing,
    highest,
    kind_of,
    numbers,
    states_of,
    swept,
    written_out,
)
from articulus.simulation.loop.contact.patch import SHEAR, held_states
from articulus.simulation.loop.contact.place import moving_frame, placed
from articulus.simulation.loop.contact.polyhedra import PlacedSolid, polyhedron
from articulus.simulation.loop.contact.shapes import (
    Box,
    ConvexHull,
    Cylinder,
    HeightField,
    Plane,
    Shape,
)

WRITTEN_OUT = 24
"""Pairs of one kind on planes up to which they are written out."""


@dataclass(frozen=True)
class Contacts(Disturbance):
    """Contact of many shapes, each with all others that are not of its own body.

    The forces of each pair are those of `Contact`. A pair costs a comparison of distances while the balls around both shapes do
    not meet; native code passes it over then.

    Friction that holds needs 3 states for each pair (4 where it touches at several points, 3 more with resistance to rolling),
    near or far. With `slip_speed` it has none and yields slowly under load, T = -mu N v / sqrt(v^2 + v_s^2): for heaps of
    many shapes that need not rest.

    A hull meets hulls, boxes and cylinders (as prisms of 16 sides) with the corners and edges of both: without friction and losses
    that conserves energy up to a percent of what an impact turns. Boxes have sharp edges there.

    Parameters
    ----------
    shapes : sequence of Shape
        Of `articulus.simulation.loop.contact`, solids, planes and height fields in any order.
    stiffness, dissipation, friction : numbers [N/m^1.5, s/m, -]
        As in `Contact`, of every pair.
    shear, shear_damping, rolling : numbers [N/m, s, m]
        As in `Contact`.
    among : sequence of pairs of numbers
        Which shapes may touch, by their places in `shapes`. Not given: all that are on different bodies.
    slip_speed : number [m/s]
        v_s, at which friction without states has reached 71 percent. Not given: friction holds.
    name : str
        "contacts" if not given.

    Signals: `force` on each shape, in their order, ground axes; `touching`, the number of points in contact; of each pair, in the
    order of `pairs`, the `point` at which it touches and the `push` on its first shape there, zero while the pair is far apart.
    """

    shapes: tuple[Shape, ...]
    stiffness: Number = quantity("N/m^1.5", "stiffness of each contact")
    dissipation: Number = quantity("s/m", "loss of each contact", default=0.0)
    friction: Number = quantity("-", "coefficient of friction", default=0.0)
    shear: Number | None = quantity("N/m", "stiffness along the surface", default=None)
    shear_damping: Number = quantity("s", "damping along the surface over its stiffness", default=1e-3)
    rolling: Number = quantity("m", "moment against rolling per normal force", default=0.0)
    slip_speed: Number | None = quantity(
        "m/s", "speed at which friction without states has reached 71 percent", default=None
    )
    name: str = "contacts"
    among: tuple[tuple[float, ...], ...] | None = quantity(
        "-", "pairs that may touch, by the places of their shapes", size="rows x 2", default=None
    )

    type_name = "contacts"
    signals: ClassVar = {"force": "N", "touching": "-", "point": "m", "push": "N"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise wrong(self, "shapes", repr(shape), "shapes, such as Sphere('ball', 0.02)")
        convert(
            self,
            **dict.fromkeys(("stiffness", "dissipation", "friction", "shear_damping", "rolling"), as_number),
        )
        positive(self, stiffness=self.stiffness, shear_damping=self.shear_damping)
        for name in ("shear", "slip_speed"):
            if getattr(self, name) is not None:
                convert(self, **{name: as_number})
                positive(self, **{name: getattr(self, name)})
        at_least(self, 0.0, dissipation=self.dissipation, friction=self.friction, rolling=self.rolling)
        if self.among is not None:
            object.__setattr__(self, "among", tuple(tuple(int(k) for k in pair) for pair in self.among))
            for pair in self.among:
                if len(pair) != 2 or pair[0] == pair[1] or not all(0 <= k < len(self.shapes) for k in pair):
                    expected = f"pairs of different numbers from 0 to {len(self.shapes) - 1}"
                    raise wrong(self, "among", f"{pair}", expected)

    def work(self, s: Scope) -> None:
        for shape in self.shapes:
            check_frame(s, self, shape.frame)
        every = self._touchable(s.description)
        faced = [pair for pair in every if self._has_faces(pair)]
        places = {_place(shape): shape for shape in self.shapes}
        frames = [list(places).index(_place(shape)) for shape in self.shapes]
        moving = ca.densify(ca.vertcat(*(_state(s, shape) for shape in places.values())))
        whole = {k for pair in every if pair not in faced and not self._on_surface(pair) for k in pair}
        columns = [numbers(shape, s.number, k in whole) for k, shape in enumerate(self.shapes)]
        starts = np.cumsum([0, *(column.numel() for column in columns)]).tolist()
        solids, faces = self._polyhedra(s, faced, frames, starts)
        sizes, law = ca.densify(ca.vertcat(*columns, *faces)), self._law(s)
        wrenches, account = SX.zeros(6 * len(self.shapes)), SX.zeros(3)
        points, pushes = dict[tuple[int, int], SX](), dict[tuple[int, int], SX]()
        groups = [
            (kinds, pairs) for kinds, pairs in self._by_kind([x for x in every if x not in faced]).items()
        ]
        for kinds, pairs in [*groups, *([(None, faced)] if faced else [])]:
            z = self._states(s, kinds, pairs)
            given = [moving, sizes[: starts[-1]], law, z]
            which = (self.holds, self.rolling != 0.0, frames, starts, pairs)
            if kinds is None:
                both = [(solids[i], solids[j]) for i, j in pairs]
                found_here = faceted(*which[:2], both, pairs, [moving, sizes, law, z], len(self.shapes))
            elif kinds[1] is Plane and len(pairs) <= WRITTEN_OUT:
                found_here = written_out(kinds, *which, given)
            else:
                found_here = swept(kinds, *which).call(given, False, True)
            on, more, rates, where, found = found_here
            wrenches, account = wrenches + on, account + more
            if z.numel():
                s.rate(_name(pairs), rates - z / law[4])
            points |= zip(pairs, ca.vertsplit(where, 3))
            pushes |= zip(pairs, ca.vertsplit(found, 3))
        each = ca.vertsplit(wrenches, 6)
        for shape, wrench in zip(self.shapes, each):
            if s.description.carrier(shape.frame)[0] != GROUND:
                arm = placed(s, shape).o - moving_frame(s, shape.frame).o
                s.wrench(shape.frame, ca.vertcat(wrench[:3] + ca.cross(arm, wrench[3:]), wrench[3:]))
        s.meets(lambda: self._gaps(s, every))
        s.write("force", ca.vertcat(*(wrench[3:] for wrench in each)))
        s.write("touching", account[2])
        s.write("point", ca.vertcat(*(points[pair] for pair in every)))
        s.write("push", ca.vertcat(*(pushes[pair] for pair in every)))
        s.stores(account[0])
        s.dissipates(account[1])

    def _gaps(self, s: Scope, pairs: list[tuple[int, int]]) -> list[tuple[SX, SX]]:
        """Return the gaps between the balls around the shapes of each pair, or between a ball and a surface."""
        poses = {_place(shape): _state(s, shape) for shape in self.shapes}
        out = []
        for i, j in pairs:
            (a, b), own = (poses[_place(self.shapes[k])] for k in (i, j)), s.number(self.shapes[i].bound)  # type: ignore[attr-defined]
            if isinstance(self.shapes[j], Plane | HeightField):
                out.append((ca.dot(b[15:18], a[:3] - b[:3]) - highest(self.shapes[j]) - own, own))
            else:
                other = s.number(self.shapes[j].bound)  # type: ignore[attr-defined]
                out.append((length(a[:3] - b[:3]) - own - other, ca.fmin(own, other)))
        return out

    @property
    def holds(self) -> bool:
        """Whether friction holds at rest."""
        return self.slip_speed is None and self.friction != 0.0

    def pairs(self, description: Description) -> list[tuple[int, int]]:
        """Return the pairs that may touch, by the numbers of their shapes: solids before planes and height fields."""
        count = len(self.shapes)
        chosen = itertools.combinations(range(count), 2) if self.among is None else self.among
        bodies = [description.carrier(shape.frame)[0] for shape in self.shapes]
        flat = [isinstance(shape, Plane | HeightField) for shape in self.shapes]
        return [
            (j, i) if flat[i] else (i, j)
            for i, j in ((int(i), int(j)) for i, j in chosen)
            if bodies[i] != bodies[j] and not (flat[i] and flat[j])
        ]

    def _touchable(self, description: Description) -> list[tuple[int, int]]:
        """Return the pairs that may touch; raise InputError where there is none."""
        found = self.pairs(description)
        if not found:
            bodies = sorted({description.carrier(shape.frame)[0] for shape in self.shapes})
            text = f"{len(self.shapes)} shapes on {', '.join(bodies) or 'no body'}, of which no two can touch"
            raise wrong(self, "shapes", text, "a solid, and another shape on another body")
        return found

    def _on_surface(self, pair: tuple[int, int]) -> bool:
        return isinstance(self.shapes[pair[1]], Plane | HeightField)

    def _has_faces(self, pair: tuple[int, int]) -> bool:
        """Whether corners and edges of a pair meet faces: a hull with another hull, a box or a cylinder."""
        both = [self.shapes[k] for k in pair]
        return any(isinstance(x, ConvexHull) for x in both) and all(
            isinstance(x, ConvexHull | Box | Cylinder) for x in both
        )

    def _by_kind(self, pairs: list[tuple[int, int]]) -> dict[tuple[Kind, Kind], list[tuple[int, int]]]:
        out: dict[tuple[Kind, Kind], list[tuple[int, int]]] = {}
        for pair in pairs:
            kind = kind_of if self._on_surface(pair) else facing
            first, second = (kind(self.shapes[k]) for k in pair)
            out.setdefault((first, second), []).append(pair)
        return out

    def _polyhedra(
        self, s: Scope, pairs: list[tuple[int, int]], frames: list[int], starts: list[int]
    ) -> tuple[dict[int, PlacedSolid], list[SX]]:
        """Return where the corners and faces of what touches by them are, and these numbers, which follow those of all shapes."""
        at, placed, columns = starts[-1], dict[int, PlacedSolid](), list[Any]()
        for k in sorted({k for pair in pairs for k in pair}):
            solid = polyhedron(self.shapes[k])
            if solid is None:
                raise wrong(
                    self,
                    "shapes",
                    f"a flat hull at '{self.shapes[k].frame}'",
                    "a hull with a volume where it touches solids",
                )
            columns.append(ca.vertcat(*solid.column(s.number, s.number(self.shapes[k].bound))))  # type: ignore[attr-defined]
            placed[k] = PlacedSolid(solid, frames[k], starts[k], at)
            at += columns[-1].numel()
        return placed, columns

    def _law(self, s: Scope) -> SX:
        k, a, mu, T, rolling = map(
            s.number, (self.stiffness, self.dissipation, self.friction, self.shear_damping, self.rolling)
        )
        shear = SHEAR * k if self.shear is None else s.number(self.shear)
        slow = SX(1) if self.slip_speed is None else s.number(self.slip_speed)
        return ca.densify(ca.vertcat(k, a, mu, shear, T, rolling, slow))

    def _states(self, s: Scope, kinds: tuple[Kind, Kind] | None, pairs: list[tuple[int, int]]) -> SX:
        """Return the states of the pairs of one kind, those of each pair together."""
        if kinds is None:
            size = sum(held_states(self.holds, self.rolling != 0.0, True).values())
        else:
            size = sum(states_of(*kinds, self.holds, self.rolling != 0.0).values())
        return s.state(_name(pairs), (0.0,) * (size * len(pairs))) if size else SX(0, 1)


def _name(pairs: list[tuple[int, int]]) -> str:
    """Return the name of the states of pairs of one kind: that of the first pair."""
    return "held {} {}".format(*pairs[0])


def _state(s: Scope, shape: Shape) -> SX:
    """Return origin, angular velocity, velocity and axes of a shape, ground axes."""
    at = placed(s, shape)
    return ca.densify(ca.vertcat(at.o, at.omega, at.v, ca.vec(ca.densify(at.R))))


def _place(shape: Shape) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
    """Return what shapes that move together have in common."""
    return shape.frame, shape.xyz, shape.quaternion
