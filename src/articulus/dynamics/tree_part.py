"""Some nodes of a tree on symbols of their own: what a procedure is written on that several parts of a mechanism share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.tree import ROOT, Node, Tree, entry_pattern
from articulus.spatial import Transform


@dataclass(frozen=True, eq=False)
class TreePart:
    """Some nodes of a tree, ascending, and frames that they carry.

    A node whose parent is not among the nodes stands on the ground of the part.

    Attributes
    ----------
    at_v : list of int
        Where its velocities stand in those of the mechanism.
    shape : tuple
        Parts of the same shape have the same expressions and differ in their constants.
    constants : SX
        They may depend on the named parameters of the tree.
    """

    parts: Parts
    nodes: tuple[int, ...]
    frames: tuple[str, ...] = ()

    @property
    def tree(self) -> Tree:
        return self.parts.tree

    @functools.cached_property
    def at_place(self) -> list[int]:
        """Return where the places of its joints stand among those of the tree (see `Parts.places`)."""
        first = self.parts.first_place
        return [k for i in self.nodes for k in range(first[i], first[i + 1])]

    @functools.cached_property
    def at_v(self) -> list[int]:
        return [k for i in self.nodes for k in self.tree.dofs[i]]

    @functools.cached_property
    def parents(self) -> tuple[int, ...]:
        """Parent of every node, by its place among the nodes."""
        local = {i: k for k, i in enumerate(self.nodes)}
        return tuple(local.get(self.tree.parents[i], ROOT) for i in self.nodes)

    @functools.cached_property
    def _poses(self) -> list[tuple[int, Transform]]:
        local = {i: k for k, i in enumerate(self.nodes)}
        return [(local.get(node, ROOT), X) for node, X in map(self.tree.frame, self.frames)]

    @functools.cached_property
    def _loose(self) -> list[tuple[SX, tuple]]:
        """Return gravity and the poses of the frames, each with its pattern."""
        leaves = [self.tree.gravity, *(X.pack() for _, X in self._poses)]
        return [(ca.densify(x), entry_pattern(x)) for x in leaves]

    @functools.cached_property
    def shape(self) -> tuple:
        own = tuple(self.parts.node(i)[0] for i in self.nodes)
        return own, self.parents, tuple(n for n, _ in self._poses), tuple(kinds for _, kinds in self._loose)

    @functools.cached_property
    def constants(self) -> SX:
        loose = [x[k] for x, kinds in self._loose for k, kind in enumerate(kinds) if kind is None]
        return ca.vertcat(SX(0, 1), *loose, *(self.parts.node(i)[1] for i in self.nodes))

    def on_symbols(self) -> PartTree:
        """Return the part as a tree of its own."""
        return PartTree(self)


class Parts:
    """Parts of one tree; what they have in common is found once."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._nodes: dict[int, tuple[tuple, SX]] = {}

    @functools.cached_property
    def places(self) -> SX:
        """The numbers of all joints' poses that change with q (`NodeParts.place`), sines and cosines for example."""
        q = self.tree.q
        return ca.vertcat(SX(0, 1), *(part.place(q[part.q]) for part in self.tree.parts))

    @functools.cached_property
    def first_place(self) -> list[int]:
        """Where the places of every node begin, and the end of the last."""
        out = [0]
        for part in self.tree.parts:
            out.append(out[-1] + (3 if part.has_axis else 12))
        return out

    def node(self, i: int) -> tuple[tuple, SX]:
        """Return shape and constants of a node."""
        if i not in self._nodes:
            self._nodes[i] = self.tree.parts[i].exactly()
        return self._nodes[i]

    def part(self, nodes: Sequence[int], frames: Sequence[str] = ()) -> TreePart:
        """Return some nodes of the tree, with frames on them or on the ground of the part."""
        return TreePart(self, tuple(nodes), tuple(frames))


class PartTree(Tree):
    """A part as a tree of its own, with symbols for constants, places of the joints and velocities.

    Algorithms on a tree take it as one, unless they ask for q or for the whole mechanism's description.

    Attributes
    ----------
    constants : SX
        Symbols, in the order of `Part.constants`.
    places : SX
        Symbols of the places of the joints (see `Parts.places`).
    """

    def __init__(self, part: TreePart):
        tree = part.tree
        self.description, self.p, self._index = tree.description, tree.p, tree._index
        self.constants = SX.sym("constants", part.constants.numel())
        self.places, self.v = SX.sym("places", len(part.at_place)), SX.sym("v", len(part.at_v))
        taken = iter(range(self.constants.numel()))
        self.gravity, *poses = (
            ca.vertcat(*(self.constants[next(taken)] if kind is None else SX(kind) for kind in kinds))
            for _, kinds in part._loose
        )
        placed = zip(part.frames, part._poses, poses)
        self._frames = {name: (node, Transform.unpack(X)) for name, (node, _), X in placed}
        parts, at, first_v = [], next(taken, self.constants.numel()), 0
        for i, parent in zip(part.nodes, part.parents):
            own, size = tree.parts[i], part.parts.node(i)[1].numel()
            v = tuple(range(first_v, first_v + len(own.v)))
            own = own.with_data(self.constants[at : at + size], exact=True)
            parts.append(replace(own, parent=parent, v=v))
            at, first_v = at + size, first_v + len(v)
        self.parts = tuple(parts)
        self.parents = part.parents
        self.dofs = tuple(each.v for each in self.parts)
        self.modes = tuple(each.modes for each in self.parts)
        self.stations = (False,) * len(self.parts)
        self.unfelt = []

    @functools.cached_property
    def nodes(self) -> tuple[Node, ...]:
        ends = np.cumsum([0, *(3 if part.has_axis else 12 for part in self.parts)]).tolist()
        return tuple(part.node(x) for part, x in zip(self.parts, ca.vertsplit(self.places, ends)))

    def frame(self, name: str) -> tuple[int, Transform]:
        return self._frames[name]

    def carries(self, name: str) -> bool:
        """Tell whether a frame is one of those that the part was asked for."""
        return name in self._frames
