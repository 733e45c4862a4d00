"""A mechanism cut at the elements of its beams: what is left of the tree, and the nodes that carry nothing but elements.

The nodes of a beam hang on each other by free joints (`BeamForces`), and in these coordinates every matrix is full. Cut there,
each node has a pose of its own, inertias do not mix, and an element sees its two nodes only: matrices are banded.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics import quantities
from articulus.errors import InputError
from articulus.model.mechanism import Connection, Description, Free, Pose
from articulus.model.mechanism.body import GROUND, Body
from articulus.model.mechanism.constraint import Constraint, references
from articulus.model.mechanism.equipment import NO_EQUIPMENT
from articulus.model.mechanism.numbers import parameters_in, value_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import BeamForces
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System
from articulus.spatial import quaternion_of_rotation

Array = np.ndarray
AGREE = 1e-9
"""Difference of forces between the whole and the cut mechanism, over the largest, up to which they are the same."""


@dataclasses.dataclass(frozen=True)
class Cut:
    """The parts of a mechanism that is cut at its elements.

    Attributes
    ----------
    rest : System
        The mechanism without the bare nodes: other nodes float, with the same names of joints.
    bare : tuple of str
        Nodes on which nothing acts but elements and gravity; neighbors follow each other.
    ends : tuple of str
        Other nodes, and bodies, to which elements are fixed.
    elements : tuple of Connection
        Free joints, beam by beam, each from its first node to its last.
    order : tuple of int
        Their places among the elements of all components.
    beams : tuple of BeamForces
        The components.
    """

    rest: System
    bare: tuple[str, ...]
    ends: tuple[str, ...]
    elements: tuple[Connection, ...]
    order: tuple[int, ...]
    beams: tuple[BeamForces, ...]


def cut(system: System) -> Cut | None:
    """Return the parts of a mechanism with beams; None without beams, or where something looks at the joints of elements.

    Such are constraints and components on these joints or on all coordinates at once, couplings, and stops.
    """
    net, d = system.network, system.description
    beams = tuple(c for c in net.components if isinstance(c, BeamForces))
    if not beams or net.stops or net.ports or d.couplings or next(parameters_in(d.gravity), None):
        return None
    elements = _elements(d, beams)
    if elements is None or not _constraints_fit(d, {c.name for c in elements}):
        return None
    others = tuple(c for c in net.components if not isinstance(c, BeamForces))
    alone = _bare(system, elements, others)
    rest = _without(d, elements, alone)
    if not rest.nv:  # something must be left that moves
        alone.discard(elements[-1].child)
        rest = _without(d, elements, alone)
    order = _order(elements, alone)
    bare = tuple(elements[k].child for k in order if elements[k].child in alone)
    bodies = [name for c in elements for name in (c.parent, c.child)]
    ends = tuple(name for name in dict.fromkeys(bodies) if name not in bare)
    try:
        left = System(Network(rest, others, bool(net.outside.numel()), as_found=net.as_found))
    except (
        InputError,
        RuntimeError,
    ):  # a component asks for a bare node, or for as many coordinates as the whole has
        return None
    cut_beams = Cut(left, bare, ends, tuple(elements[k] for k in order), order, beams)
    return cut_beams if _same_forces(system, cut_beams) else None


def _elements(d: Description, beams: Sequence[BeamForces]) -> tuple[Connection, ...] | None:
    """Return the joints of all elements; None where one is more than an element."""
    joints, found = {c.name: c for c in d.connections}, []
    for beam in beams:
        for name, pose in zip(beam.joints, beam.poses):
            c, undeformed = joints[name], Pose(xyz=pose[4:], quaternion=pose[:4])
            if c != Connection(c.name, Free(), c.parent, c.child, c.at) or next(parameters_in(c.at), None):
                return None
            if not np.allclose(c.at.matrix(), undeformed.matrix(), rtol=0, atol=1e-12):
                return None
            found.append(c)
    return tuple(found) if len({c.name for c in found}) == len(found) else None


def _constraints_fit(d: Description, joints: set[str]) -> bool:
    """Whether no constraint looks at the joints of elements, by name or at all coordinates."""
    for c in d.constraints:
        named = [name for _, kind, name in references(c) if kind == "joint"]
        if joints.intersection(named) or type(c).lift is not Constraint.lift:
            return False
    return True


def _bare(system: System, elements: Sequence[Connection], components: Sequence[Component]) -> set[str]:
    """Return the nodes behind elements that nobody else needs."""
    d, joints = system.description, {c.name for c in elements}
    needed = {c.parent for c in d.connections if c.name not in joints}
    carriers = [c.parent for c in elements]
    needed |= {name for name in carriers if carriers.count(name) > 1}
    frames = [name for c in d.constraints for _, kind, name in references(c) if kind == "frame"]
    frames += [*system.network.wrenches(), *(name for c in components for name in _texts(c))]
    known = {f.name: f.body for f in d.frames}
    needed |= {known.get(name, name) for name in frames}
    bodies = {b.name: b for b in d.bodies}
    return {c.child for c in elements if c.child not in needed and _constant(bodies[c.child])}


def _order(elements: Sequence[Connection], bare: set[str]) -> tuple[int, ...]:
    """Return the elements beam by beam: from each that does not hang on a bare node along the bare ones."""
    following = {c.parent: k for k, c in enumerate(elements)}
    out: list[int] = []
    for k, c in enumerate(elements):
        if c.parent not in bare:
            out.append(k)
            while elements[k].child in bare and elements[k].child in following:
                k = following[elements[k].child]
                out.append(k)
    return tuple(out)


def _constant(body: Body) -> bool:
    return body.modes is None and not body.massless and next(parameters_in(body), None) is None


def _texts(thing: Any) -> Iterator[str]:
    """Yield all texts in a dataclass, a sequence or a dict: the names that a component may mean."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        yield from _texts(tuple(thing.items()))
    elif isinstance(thing, (tuple, list, set, frozenset)):
        for item in thing:
            yield from _texts(item)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from _texts(getattr(thing, field.name))


def _without(d: Description, elements: Sequence[Connection], bare: set[str]) -> Description:
    """Return the mechanism without the bare nodes; the nodes that stay float."""
    joints = {c.name for c in elements}
    floating = [
        dataclasses.replace(c, parent=GROUND, at=Pose()) if c.name in joints else c
        for c in d.connections
        if c.child not in bare
    ]
    return dataclasses.replace(
        d,
        bodies=tuple(b for b in d.bodies if b.name not in bare),
        connections=tuple(floating),
        frames=tuple(f for f in d.frames if f.body not in bare),
        visuals=(),
        equipment=NO_EQUIPMENT,
    )


class PartCoordinates:
    """From the joints of a mechanism to the coordinates of its parts, and what the parts need of a loop's values.

    Parameters
    ----------
    system : System
        System of the whole.
    parts : Cut
    """

    def __init__(self, system: System, parts: Cut):
        self._whole, self._parts = system, parts
        d, rest = system.description, parts.rest.description
        joints = {c.name for c in parts.elements}
        kept = [c for c in rest.connections if c.name not in joints]
        self.same = [_places(kept, d, rest, rates) for rates in (False, True)]
        self._floating = [(c.child, c.name) for c in rest.connections if c.name in joints]
        names = [q.name for q in system.network.parameters]
        self._p = [names.index(q.name) for q in parts.rest.network.parameters]
        self._d = self._held_places()

    def _held_places(self) -> list[int]:
        """Return the places of the parts' held values in those of the whole."""
        whole, rest, out = self._whole, self._parts.rest, list[int]()
        commands = whole.network.command_names
        for name, at in rest.held_places.items():
            places = range(*whole.held_places[name].indices(whole.nd))
            if name == "outside" and at.stop > at.start:
                out += [places[commands.index(each)] for each in rest.network.command_names]
            else:
                out += places
        return out

    def held_values(self, d: Array, p: Array) -> tuple[Array, Array]:
        """Return held values and parameters of the parts."""
        return d[self._d], p[self._p]

    @functools.cached_property
    def _poses(self) -> ca.Function:
        """(q, v, p) -> poses of all bodies, one below the other, and their rates."""
        d = self._whole.description
        q, v, p = SX.sym("q", d.nq), SX.sym("v", d.nv), SX.sym("p", len(d.parameters))
        model = [p] if d.parameters else []
        poses = quantities.function(d, "all_poses")(q, *model)[: 4 * len(d.bodies), :]
        rate = quantities.function(d, "position_rate")(q, v, *model)
        return ca.Function("poses", [q, v, p], [poses, ca.jtimes(poses, q, rate)])

    def __call__(self, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """Return position and velocity of the parts: those of the rest, then pose and velocity of each bare node."""
        d, rest = self._whole.description, self._parts.rest.description
        found = [np.array(x).reshape(-1, 4, 4) for x in self._poses(q, v, p[: len(d.parameters)])]
        number = {b.name: i for i, b in enumerate(d.bodies)}
        asked = [name for name, _ in self._floating] + list(self._parts.bare)
        T, rates = (x[[number[name] for name in asked]] for x in found)
        back = T[:, :3, :3].transpose(0, 2, 1)
        turning, moving = back @ rates[:, :3, :3], (back @ rates[:, :3, 3:])[..., 0]
        motions = np.column_stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0], moving])
        poses = np.column_stack([quaternion_of_rotation(T[:, :3, :3]), T[:, :3, 3]])
        out_q, out_v = np.array(rest.neutral), np.zeros(rest.nv)
        for out, given, (there, here) in zip((out_q, out_v), (q, v), self.same):
            out[here] = given[there]
        n = len(self._floating)
        for (_, joint), pose, motion in zip(self._floating, poses, motions):
            out_q[rest.q_slices[joint]], out_v[rest.v_slices[joint]] = pose, motion
        return np.append(out_q, poses[n:]), np.append(out_v, motions[n:])


def _places(
    kept: Sequence[Connection], whole: Description, rest: Description, rates: bool
) -> tuple[list[int], list[int]]:
    """Return the places in the whole and in the rest of the coordinates of joints, and of the modes behind them."""
    places: tuple[list[int], list[int]] = ([], [])
    for c in kept:
        for d, out in zip((whole, rest), places):
            joint = (d.v_slices if rates else d.q_slices)[c.name]
            modes = d.mode_slices(c.child)[0 if rates else 1]
            out += [*range(joint.start, joint.stop), *range(modes.start, modes.stop)]
    return places


def _same_forces(system: System, parts: Cut) -> bool:
    """Whether the components push the rest as they push the whole, at a state that is nothing special, and no element's joint."""
    d, rest, rng = system.description, parts.rest, np.random.default_rng(7)
    c, states = system.c0.copy(), system.d0 + rng.uniform(0.1, 0.2, system.nd)
    c[system.places["q"]] = d.neutral + rng.uniform(0.1, 0.2, d.nq)
    c[system.places["v"]] = rng.uniform(0.1, 0.2, d.nv)
    p = np.array([value_of(x) for x in system.network.parameters])
    w, t, h = rng.uniform(0.1, 0.2, system.nw), 0.3, 1e-3
    apart = PartCoordinates(system, parts)
    q, v = apart(c[system.places["q"]], c[system.places["v"]], p)
    own = rest.c0.copy()
    own[rest.places["q"]], own[rest.places["v"]] = q[: rest.description.nq], v[: rest.description.nv]
    held_rest, p_rest = apart.held_values(states, p)
    if system.network.wrenches().keys() != rest.network.wrenches().keys():
        return False
    others = [e for c, e in zip(system.network.components, system.network.effects) if c not in parts.beams]
    whole = ca.Function("tau", system.arguments, [system.network.joint_forces_of(others)])
    tau = np.array(whole(c, states, p, w, t, h)).ravel()
    tau_rest, *pushes = (np.array(x).ravel() for x in rest.loads.call([own, held_rest, p_rest, w, t, h]))
    _, *wanted = (np.array(x).ravel() for x in system.loads.call([c, states, p, w, t, h]))
    expected = np.zeros(rest.description.nv)
    there, here = apart.same[1]
    expected[here] = tau[there]
    left = np.delete(tau, there)
    pairs = [(left, 0 * left), (tau_rest, expected), *zip(pushes, wanted)]
    return all(np.allclose(a, b, rtol=AGREE, atol=AGREE * (1 + np.abs(b).max(initial=0.0))) for a, b in pairs)
