"""Heat in a structure: capacity, conduction and thermal expansion of bars, beams and flat shells.

    M q'' + D q' + K q - C theta = f,        Q theta' + H theta + theta0 C' q' = r

Temperatures theta are deviations from the reference temperature theta0, at which nothing is strained: one at each node, linear in between, and
where asked for the gradients across each element, constant along it. With a temperature theta + g . y across a beam (theta + g z through a shell)
the strains of unloaded material are

    stretch = expansion theta,    curvature = expansion g x e    (e along the beam)

and the nodal loads C theta are the section forces that would hold them, integrated over the element (Boley & Weiner 1960).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from articulus.errors import Finding, InputError, did_you_mean
from articulus.structure.element.base import Element, axes_along
from articulus.structure.element.shell import Shell, geometry
from articulus.structure.element.slender import WEIGHT, XI, Slender
from articulus.structure.structure import Structure


@dataclass(frozen=True)
class Heated:
    """What heat needs of an element of one material.

    Parameters
    ----------
    element : bar, beam, or flat shell with three or four nodes
        One of those that the structure was assembled of.
    expansion : float [1/K]
        Coefficient of thermal expansion.
    capacity : float [J/(m K)], of shells [J/(m^2 K)]
        density c A, of shells density c h.
    conduction : float [W m/K], of shells [W/K]
        k A, of shells k h.
    loss : float [W/(m K)], of shells [W/(m^2 K)]
        Heat given off to the surroundings by a kelvin: radiation 4 emissivity 5.67e-8 T^3 times the perimeter (the number of faces).
    gradients : bool
        Whether temperatures vary across the element, too.
    across : float [-]
        How much of the section conducts across: 1 where it is solid, 0.5 around a thin tube, 0 where nothing does.
    """

    element: Element
    expansion: float
    capacity: float
    conduction: float
    loss: float = 0.0
    gradients: bool = False
    across: float = 1.0

    def __post_init__(self) -> None:
        where = f"Heated, {type(self.element).__name__}({', '.join(map(repr, self.element.nodes))})"
        if not isinstance(self.element, Slender | Shell):
            raise InputError(
                Finding(
                    where,
                    type(self.element).__name__,
                    "a bar, a beam, or a flat shell of three or four nodes",
                    field="element",
                )
            )
        for name in ("capacity", "conduction", "loss", "across"):
            value = getattr(self, name)
            if not 0 <= value < np.inf:
                raise InputError(
                    Finding(where, f"{name} = {value!r}", "a number that is not negative", field=name)
                )
        if not self.capacity > 0:
            raise InputError(
                Finding(where, "capacity = 0", "a number above 0: density c A", field="capacity")
            )
        if not abs(self.expansion) < np.inf:
            raise InputError(Finding(where, f"expansion = {self.expansion!r}", "a number", field="expansion"))

    def temperatures(self, nodes: Sequence[str]) -> tuple[str, ...]:
        """Return the names of its temperatures: those of its nodes, then the gradients across it, in its axes."""
        if not self.gradients:
            return tuple(nodes)
        axes = ("y", "z") if isinstance(self.element, Slender) else ("z",)
        return (*nodes, *(f"{'-'.join(nodes)} d{axis}" for axis in axes))

    @property
    def spread(self) -> np.ndarray:
        """Mean squares of the height across the section along each gradient, (gradients,) [m^2]: those of the stiffness."""
        e = self.element
        if isinstance(e, Slender):
            return np.array([e.section.EIz, e.section.EIy]) / e.section.EA
        assert isinstance(e, Shell)
        return np.array([e.plate.ABD[3, 3] / e.plate.ABD[0, 0]])


@dataclass(frozen=True, eq=False)
class Heat:
    """Heat of a structure with n degrees of freedom and k temperatures.

    Parameters
    ----------
    names : tuple of str
        Of the temperatures: nodes [K], then gradients across elements, "<node>-<node> dy" [K/m] in axes of the element.
    C : sparse array, (n, k)
        Forces for unit temperatures.
    Q, H : sparse array, (k, k)
        Heat capacity and conduction, losses included.
    parts : tuple of Heated
        What they were made of.
    sizes : array, (parts,) [m], of shells [m^2]
        Lengths or areas of the parts.
    places : tuple of tuples of str
        Names of the temperatures of each part.
    """

    names: tuple[str, ...]
    C: sp.csr_array
    Q: sp.csr_array
    H: sp.csr_array
    parts: tuple[Heated, ...]
    sizes: np.ndarray
    places: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(structure: Structure, parts: Iterable[Heated]) -> Heat:
        """Return the matrices of a structure whose elements are heated; nodes of no part have no temperature.

        Parameters
        ----------
        structure : Structure
        parts : iterable of Heated
            Each element once; elements that are left out stay at the reference temperature and conduct no heat.
        """
        parts = tuple(parts)
        if not parts:
            raise InputError(Finding("Heat.of", "no part", "at least one Heated element", field="parts"))
        at = [[structure.node(n) for n in p.element.nodes] for p in parts]
        places = [p.temperatures([structure.names[n] for n in nodes]) for p, nodes in zip(parts, at)]
        nodal = [structure.names[n] for n in sorted({n for nodes in at for n in nodes})]
        names = nodal + [name for nodes, place in zip(at, places) for name in place[len(nodes) :]]
        _refuse_twice(names)
        number = {name: i for i, name in enumerate(names)}
        count, loads, capacity, conduction, sizes = 6 * len(structure.names), [], [], [], []
        for p, nodes, place in zip(parts, at, places):
            load, Q, H, size = _matrices(p, structure.positions[nodes], len(place) - len(nodes))
            columns = (6 * np.array(nodes)[:, None] + np.arange(6)).ravel()
            thermal = [number[name] for name in place]
            loads.append((columns, thermal, load))
            capacity.append((thermal, thermal, Q))
            conduction.append((thermal, thermal, H))
            sizes.append(size)
        k = len(names)
        C = _motion(structure).T @ _sum(loads, (count, k))
        return Heat(
            tuple(names),
            sp.csr_array(C),
            _sum(capacity, (k, k)),
            _sum(conduction, (k, k)),
            parts,
            np.array(sizes),
            tuple(places),
        )

    def hold(self, names: Iterable[str]) -> Heat:
        """Return the same with some temperatures held at the reference, by name."""
        held = {self._number(name) for name in names}
        kept = [i for i in range(len(self.names)) if i not in held]
        if not kept:
            raise InputError(Finding("Heat.hold", "every temperature", "some that are free", field="names"))
        return dataclasses.replace(
            self,
            names=tuple(self.names[i] for i in kept),
            C=self.C[:, kept],
            Q=self.Q[kept][:, kept],
            H=self.H[kept][:, kept],
        )

    def source(self, part: int, power: float, first: Sequence[float] = ()) -> np.ndarray:
        """Return the heat r, (k,), that one part takes up.

        Parameters
        ----------
        part : int
            Number of the part.
        power : float [W/m], of shells [W/m^2]
            Heat taken up by length (area).
        first : floats [W], of shells [W/m]
            Its first moments about the axis, integral of heat times y and z around the section, one for each gradient. A tube of radius r
            in parallel light q square on its y axis takes up 2 r q with the moment pi r^2 q / 2 along it.
        """
        r, nodes = np.zeros(len(self.names)), len(self.parts[part].element.nodes)
        place, size = self.places[part], self.sizes[part]
        if len(first) not in (0, len(place) - nodes):
            raise InputError(
                Finding(
                    "Heat.source, first", f"{len(first)} numbers", f"one for each of {list(place[nodes:])}"
                )
            )
        first = [size * value for value in first] or [0.0] * (len(place) - nodes)
        for name, value in zip(place, [power * size / nodes] * nodes + first):
            if name in self.names:
                r[self._number(name)] += value
        return r

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"no temperature '{name}'; {did_you_mean(name, self.names)}")
        return self.names.index(name)


def _matrices(
    p: Heated, positions: np.ndarray, extra: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return loads (dofs, temperatures), capacity and conduction of one part, and its length or area."""
    N, dN, weight, strain, mean = (_slender if isinstance(p.element, Slender) else _shell)(p, positions)
    force = p.element.samples(positions).force.toarray()[: 6 * len(weight)].reshape(len(weight), 6, -1)
    nodes = N.shape[1]
    load = np.zeros((force.shape[2], nodes + extra))
    load[:, :nodes] = p.expansion * np.einsum("p,psd,ps,pi->di", weight, force, mean, N)
    Q, H = np.zeros((2, nodes + extra, nodes + extra))
    NN = np.einsum("p,pi,pj->ij", weight, N, N)
    Q[:nodes, :nodes] = p.capacity * NN
    H[:nodes, :nodes] = p.conduction * np.einsum("p,pia,pja->ij", weight, dN, dN) + p.loss * NN
    size = float(weight.sum())
    if extra:
        load[:, nodes:] = p.expansion * np.einsum("p,psd,psg->dg", weight, force, strain)
        at = np.arange(nodes, nodes + extra)
        Q[at, at] = p.capacity * p.spread * size
        H[at, at] = (p.conduction * p.across + p.loss * p.spread) * size
    return load, Q, H, size


def _slender(p: Heated, positions: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return shape functions of the temperatures, their derivatives, weights, strains by unit gradients and unit temperature."""
    assert isinstance(p.element, Slender)
    length, axes = axes_along(positions[0], positions[1], p.element.up)
    N = np.stack([1 - XI, XI], axis=1)
    dN = np.tile(np.array([[-1.0], [1.0]]) / length, (len(XI), 1, 1))
    x, y, z = axes
    bend = np.zeros((6, 2))
    bend[3:, 0], bend[3:, 1] = np.cross(y, x), np.cross(z, x)
    stretch = np.concatenate([x, np.zeros(3)])
    return N, dN, WEIGHT * length, np.tile(bend, (len(XI), 1, 1)), np.tile(stretch, (len(XI), 1))


def _shell(p: Heated, positions: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the same of a shell, whose generalized strains are those of its plate."""
    shell = p.element
    assert isinstance(shell, Shell)
    shapes = shell.shapes()
    g = geometry([shell], positions[None], shapes)
    bend, stretch = np.zeros((6, 1)), np.zeros(6)
    bend[3:5], stretch[:2] = 1.0, 1.0
    points = len(g.area[0])
    return shapes.L, g.dL[0], g.area[0], np.tile(bend, (points, 1, 1)), np.tile(stretch, (points, 1))


def _sum(blocks: list, shape: tuple[int, int]) -> sp.csr_array:
    """Return the sum of dense blocks at their rows and columns."""
    rows = np.concatenate([np.repeat(r, len(c)) for r, c, _ in blocks])
    columns = np.concatenate([np.tile(c, len(r)) for r, c, _ in blocks])
    values = np.concatenate([np.ravel(block) for _, _, block in blocks])
    return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=shape))


def _motion(structure: Structure) -> sp.csr_array:
    """Return all components of the nodes for unit degrees of freedom, (6 nodes, n)."""
    if structure.motion is not None:
        return structure.motion
    rows = 6 * structure.dofs[:, 0] + structure.dofs[:, 1]
    shape = (6 * len(structure.names), structure.count)
    return sp.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=shape)


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                Finding(
                    "Heat.of",
                    f"two gradients '{name}'",
                    "one part with gradients between the same nodes",
                    "Is an element given twice?",
                )
            )
