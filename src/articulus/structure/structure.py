"""Linear structures, kept second order and sparse: M q'' + D q' + K q = B u, y = H q + H_rate q'."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError, did_you_mean
from articulus.structure.check import check_matrices
from articulus.structure.element.base import Element, Node
from articulus.structure.geometric import GeometricStiffness
from articulus.structure.samples import Samples
from articulus.structure.ties import COMPONENTS, Components, Tie, components, motion_of

__all__ = ["COMPONENTS", "Components", "Structure", "components"]


@dataclass(frozen=True, eq=False)
class Structure:
    """A linear structure.

    Parameters
    ----------
    names : tuple of str
        Names of the nodes.
    positions : array, (nodes, 3) [m]
        Positions of the nodes.
    dofs : array of int, (n, 2)
        Node and component (see `COMPONENTS`) of each degree of freedom.
    M, K, D : sparse array, (n, n)
        Mass, stiffness, damping; D = 0 if not given.
    B : array, (n, m)
        Forces on the degrees of freedom for unit inputs.
    H, H_rate : array, (p, n)
        Outputs for unit displacements and for unit rates of the degrees of freedom.
    inputs, outputs : tuple of str
        Their names.
    samples : Samples
        Integration points; None for matrices that came without their elements.
    whole : Structure
        The structure before degrees of freedom were fixed; None if there is no such one.
    motion : sparse array, (6 nodes, n)
        All components of the nodes for unit degrees of freedom, where ties make some follow; None if each is free or held.
    geometric : GeometricStiffness
        How unit motions and loads stiffen a structure without samples; None if it is not known.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    dofs: np.ndarray
    M: sp.csr_array
    K: sp.csr_array
    D: sp.csr_array | None = None
    B: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    H: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    H_rate: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    samples: Samples | None = None
    whole: Structure | None = None
    motion: sp.csr_array | None = None
    geometric: GeometricStiffness | None = None

    def __post_init__(self) -> None:
        n = self.count
        D = sp.csr_array((n, n)) if self.D is None else self.D
        for name, matrix in (("M", self.M), ("K", self.K), ("D", D)):
            object.__setattr__(self, name, sp.csr_array(matrix))
        for name, ports in (("B", self.inputs), ("H", self.outputs), ("H_rate", self.outputs)):
            if not len(ports):
                object.__setattr__(self, name, np.zeros((n, 0) if name == "B" else (0, n)))
        check_matrices(self)

    @staticmethod
    def assemble(
        positions: Sequence[Sequence[float]] | np.ndarray,
        elements: Iterable[Element],
        *,
        names: Sequence[str] | None = None,
        fixed: Mapping[Node, Components] | None = None,
        plane: str | None = None,
        ties: Sequence[Tie] = (),
    ) -> Structure:
        """Return the structure of some elements.

        Parameters
        ----------
        positions : array, (nodes, 3) [m]
            Positions of the nodes.
        elements : iterable of Element
            They name nodes by number or name.
        names : sequence of str
            Names of the nodes; "node0", "node1", ... if not given.
        fixed : dict of node to components
            Degrees of freedom held fixed, for example ``{"node0": "all", "tip": ("y", "z")}``.
        plane : str
            "xy", "xz" or "yz": only motion in this plane is free, at all nodes.
        ties : sequence of Tie
            Nodes that follow others: `RigidLink`, `Average`, `Hold`.

        Degrees of freedom that no element gives mass or stiffness (rotations of a truss) are omitted.
        """
        positions = np.asarray(positions, dtype=float)
        names = tuple(names) if names is not None else tuple(f"node{i}" for i in range(len(positions)))
        _check_nodes(positions, names)
        samples = _samples(names, positions, elements)
        motion, leads = None, np.arange(6 * len(names))
        if ties:
            motion, leads = motion_of(len(names), ties, lambda n: _number(names, n), positions)
            samples = samples.over(motion)
        M, K = samples.mass_matrix(), samples.stiffness_matrix()
        used = M.diagonal() + K.diagonal() > 0
        T = _selection(np.flatnonzero(used), used.size)
        dofs = np.stack(np.divmod(leads[used], 6), axis=1)
        motion = None if motion is None else motion @ T
        whole = Structure(
            names, positions, dofs, T.T @ M @ T, T.T @ K @ T, samples=samples.over(T), motion=motion
        )
        held = _fixed_components(names, fixed or {})
        whole._refuse_followers(held)
        free = (_in_plane(plane) & ~held)[tuple(dofs.T)]
        if not free.any():
            raise InputError("a structure with every degree of freedom fixed; leave some free")
        return whole if free.all() else whole.keep(np.flatnonzero(free))

    @property
    def count(self) -> int:
        """Number of degrees of freedom."""
        return len(self.dofs)

    # nodes and degrees of freedom

    def node(self, node: Node) -> int:
        """Return the number of a node."""
        return _number(self.names, node)

    def rows(self, node: Node) -> np.ndarray:
        """Return translation and rotation of a node for unit degrees of freedom, (6, n); rows of fixed degrees of freedom are zero."""
        if self.motion is not None:
            place = 6 * self.node(node)
            return self.motion[place : place + 6].toarray()
        out = np.zeros((6, self.count))
        mine = np.flatnonzero(self.dofs[:, 0] == self.node(node))
        out[self.dofs[mine, 1], mine] = 1.0
        return out

    def where(self, node: Node, which: Components = "all") -> np.ndarray:
        """Return the numbers of the free degrees of freedom of a node."""
        wanted = np.zeros((len(self.names), 6), dtype=bool)
        wanted[self.node(node), components(which)] = True
        self._refuse_followers(wanted)
        chosen = np.isin(self.dofs[:, 1], components(which))
        return np.flatnonzero((self.dofs[:, 0] == self.node(node)) & chosen)

    def rigid(self, origin: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the degrees of freedom of unit rigid rotations and translations of the whole, (n, 6), angular first.

        Parameters
        ----------
        origin : three floats [m]
            Point that rotations leave in place.
        """
        arm = self.positions[self.dofs[:, 0]] - np.asarray(origin)
        turn = -np.stack([np.cross(arm, e) for e in np.eye(3)], axis=-1)
        nodal = np.zeros((self.count, 6, 6))
        nodal[:, :3, :3], nodal[:, :3, 3:], nodal[:, 3:, :3] = turn, np.eye(3), np.eye(3)
        return nodal[np.arange(self.count), self.dofs[:, 1]]

    def in_whole(self, columns: np.ndarray) -> np.ndarray:
        """Return degrees of freedom (n, ...) among those of the whole structure; fixed ones are zero."""
        if self.whole is None:
            return columns
        out = np.zeros((self.whole.count, *columns.shape[1:]))
        out[self._in_whole] = columns
        return out

    @functools.cached_property
    def _in_whole(self) -> np.ndarray:
        """Numbers of the degrees of freedom in the whole structure."""
        place = {tuple(f): i for i, f in enumerate((self.whole or self).dofs)}
        return np.array([place[tuple(f)] for f in self.dofs], dtype=int)

    def held_rigid(self, origin: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the motions of the fixed degrees of freedom in unit rigid motions of the whole, (fixed, 6); see `rigid`."""
        if self.whole is None:
            return np.zeros((0, 6))
        return np.delete(self.whole.rigid(origin), self._in_whole, axis=0)

    def _refuse_followers(self, wanted: np.ndarray) -> None:
        """Raise if some of the components (nodes, 6) are no degrees of freedom of their own because they follow others."""
        if self.motion is None:
            return
        follows = (abs(self.motion).sum(axis=1) > 0).reshape(-1, 6)
        follows[tuple(self.dofs.T)] = False
        for node, component in np.argwhere(wanted & follows)[:1]:
            raise InputError(
                f"node '{self.names[node]}': '{COMPONENTS[component]}' follows other nodes by a tie; hold or choose the node that leads"
            )

    # changed copies

    def fix(self, fixed: Mapping[Node, Components]) -> Structure:
        """Return the structure with more degrees of freedom held fixed."""
        wanted = _fixed_components(self.names, fixed)
        self._refuse_followers(wanted)
        return self.keep(np.flatnonzero(~wanted[tuple(self.dofs.T)]))

    def keep(self, chosen: np.ndarray) -> Structure:
        """Return the structure with only the chosen degrees of freedom (numbers), all others held fixed."""
        T = _selection(np.asarray(chosen), self.count)
        return dataclasses.replace(
            self,
            dofs=self.dofs[chosen],
            M=T.T @ self.M @ T,
            K=T.T @ self.K @ T,
            D=T.T @ self.D @ T,
            B=T.T @ self.B,
            H=self.H @ T,
            H_rate=self.H_rate @ T,
            samples=None if self.samples is None else self.samples.over(T),
            whole=self.whole or self,
            motion=None if self.motion is None else self.motion @ T,
            geometric=None if self.geometric is None else self.geometric.over(T),
        )

    def with_rayleigh_damping(self, alpha: float, beta: float) -> Structure:
        """Return the structure with D = alpha M + beta K.

        Parameters
        ----------
        alpha : float [1/s]
            Share of the mass matrix.
        beta : float [s]
            Share of the stiffness matrix.
        """
        return dataclasses.replace(self, D=alpha * self.M + beta * self.K)

    def with_modal_damping(self, ratio: float | Sequence[float], shapes: np.ndarray) -> Structure:
        """Return the structure with D = M X diag(2 zeta omega) X' M: a damping ratio for each of its normal modes.

        Parameters
        ----------
        ratio : float or sequence of floats [-]
            Ratio of all modes or of each.
        shapes : array, (n, k)
            Normal modes of unit modal mass.
        """
        MX = self.M @ shapes
        omega = np.sqrt(np.maximum(np.einsum("nk,nk->k", shapes, self.K @ shapes), 0.0))
        return dataclasses.replace(self, D=sp.csr_array((MX * (2 * np.asarray(ratio) * omega)) @ MX.T))

    def with_input(self, name: str, node: Node, forces: Mapping[str, float]) -> Structure:
        """Return the structure with one more input.

        Parameters
        ----------
        name : str
            Name of the input.
        node : str or int
            Where it acts.
        forces : dict of component to number
            Force or moment for a unit input, for example ``{"y": 1.0}``; call again with the same name for a second node.
        """
        row = self._at(node, forces)
        if name in self.inputs:
            B = self.B.copy()
            B[:, self.inputs.index(name)] += row
            return dataclasses.replace(self, B=B)
        return dataclasses.replace(self, B=np.column_stack([self.B, row]), inputs=(*self.inputs, name))

    def with_output(
        self, name: str, node: Node, weights: Mapping[str, float], rate: bool = False
    ) -> Structure:
        """Return the structure with one more output.

        Parameters
        ----------
        name : str
            Name of the output.
        node : str or int
            Where it measures.
        weights : dict of component to number
            Output for unit displacements, for example ``{"y": 1.0}``; call again with the same name for a second node.
        rate : bool
            Velocities instead of displacements.
        """
        row = self._at(node, weights)
        H, H_rate, outputs = self.H, self.H_rate, self.outputs
        if name not in outputs:
            blank = np.zeros((1, self.count))
            H, H_rate, outputs = np.vstack([H, blank]), np.vstack([H_rate, blank]), (*outputs, name)
        target = (H_rate if rate else H).copy()
        target[outputs.index(name)] += row
        H, H_rate = (H, target) if rate else (target, H_rate)
        return dataclasses.replace(self, H=H, H_rate=H_rate, outputs=outputs)

    def _at(self, node: Node, weights: Mapping[str, float]) -> np.ndarray:
        rows = self.rows(node)
        return sum((w * rows[components(name)[0]] for name, w in weights.items()), np.zeros(self.count))

    def __repr__(self) -> str:
        return f"Structure({len(self.names)} nodes, {self.count} degrees of freedom)"


def _check_nodes(positions: np.ndarray, names: tuple[str, ...]) -> None:
    if positions.ndim != 2 or positions.shape[1] != 3 or not np.isfinite(positions).all():
        raise InputError(
            f"positions of nodes have shape {positions.shape}; expected finite numbers, (nodes, 3) [m]"
        )
    if len(names) != len(positions) or len(set(names)) != len(names):
        raise InputError(
            f"{len(set(names))} different names for {len(positions)} nodes; expected one for each"
        )


def _samples(names: tuple[str, ...], positions: np.ndarray, elements: Iterable[Element]) -> Samples:
    """Return the points of all elements on six degrees of freedom of each node."""
    number = {name: i for i, name in enumerate(names)}
    parts = []
    for _, some in itertools.groupby(elements, type):
        group = list(some)
        at = [
            np.array([number[n] if n in number else _number(names, n) for n in element.nodes])
            for element in group
        ]
        columns = [(6 * a[:, None] + np.arange(6)).ravel() for a in at]
        parts.append(group[0].samples_of(group, [positions[a] for a in at], columns, 6 * len(names)))
    if not parts:
        raise InputError("a structure without elements; give at least one")
    return Samples.join(parts)


def _number(names: tuple[str, ...], node: Node) -> int:
    if isinstance(node, str):
        if node not in names:
            raise InputError(f"no node '{node}' in this structure; {did_you_mean(node, names)}")
        return names.index(node)
    if not 0 <= node < len(names):
        raise InputError(f"no node {node} in this structure; its {len(names)} nodes count from 0")
    return int(node)


def _fixed_components(names: tuple[str, ...], fixed: Mapping[Node, Components]) -> np.ndarray:
    out = np.zeros((len(names), 6), dtype=bool)
    for node, which in fixed.items():
        out[_number(names, node), components(which)] = True
    return out


def _in_plane(plane: str | None) -> np.ndarray:
    planes = {None: "all", "xy": ("x", "y", "rz"), "xz": ("x", "z", "ry"), "yz": ("y", "z", "rx")}
    if plane not in planes:
        raise InputError(f"plane {plane!r}; expected 'xy', 'xz' or 'yz'")
    return np.isin(np.arange(6), components(planes[plane]))


def _selection(chosen: np.ndarray, count: int) -> sp.csr_array:
    """Return T (count, chosen) that places the chosen degrees of freedom among all."""
    return sp.csr_array((np.ones(len(chosen)), (chosen, np.arange(len(chosen)))), (count, len(chosen)))
