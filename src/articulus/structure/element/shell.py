"""Flat shells with three or four nodes of six degrees of freedom each; all elements of a kind are computed at once.

Displacements. An edge bends like a beam: with the rotations theta of its ends and the vector e from one to the other, its
middle moves by (u_1 + u_2) / 2 + (theta_1 - theta_2) x e / 8. Within the element u is quadratic through corners and middles.
In the surface that is Allman's membrane with rotations about the normal (Allman 1984; Ibrahimbegovic, Taylor & Wilson 1990),
across it the displacement that mass points have.

Drilling. The difference of the rotation about the normal and that of the membrane, theta . n - (u_2,1 - u_1,2) / 2, is held
small by the shear stiffness of the plate (Hughes & Brezzi 1989, gamma = G): no degree of freedom is loose, and rigid motion is free.
Rotations of a quadrilateral that alternate from corner to corner bend its edges without strain at two by two points; the
same stiffness holds that part of theta . n which no linear field has (Flanagan & Belytschko 1981).

Bending. Rotations of the normal beta are linear, with a part along each edge that is zero at its ends and makes
beta_s = -w_s in its middle, where w is the cubic of the edge: discrete Kirchhoff elements (Batoz, Bathe & Ho 1980, DKT;
Batoz & Ben Tahar 1982, DKQ). They have no shear deformation and do not lock. Thick shells have one, see `transverse_shear`.

Everything is written with vectors of the true edges, so that rigid motion of a warped element costs nothing either.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError
from articulus.structure.element.base import Element, Node
from articulus.structure.element.shell_points import massless, principal, sparse_rows
from articulus.structure.element.transverse_shear import edge_ratios, lags, shear_points
from articulus.structure.plate import Plate
from articulus.structure.samples import Samples
from articulus.structure.vectors import skew


@dataclass(frozen=True)
class Shapes:
    """Shape functions of a reference element with k nodes at its P integration points.

    Parameters
    ----------
    weight : array, (P,)
        Weight of the points; they sum up to the reference area.
    L, N : array, (P, k)
        Linear function of each corner, and quadratic one of the middle of each edge, from each corner to the next.
    dL, dN : array, (P, k, 2)
        Their derivatives.
    alternate : array, (k,)
        Weights of the corners in the pattern that strains at the points do not see; zero where there is none.
    C : array, (P, 2, k)
        Covariant components at the points of the field whose work along the edge from each corner to the next is one, and zero along the
        others (Nedelec's edge functions): transverse shear of thick shells.
    """

    weight: np.ndarray
    L: np.ndarray
    dL: np.ndarray
    N: np.ndarray
    dN: np.ndarray
    alternate: np.ndarray
    C: np.ndarray


class Shell(Element):
    """Base of shells: `corners`, their nodes, a `plate`, and the direction `along` of its x axis; thin unless `thick`."""

    plate: Plate
    along: Sequence[float] | None
    thick: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def shapes(cls) -> Shapes:
        """Return the shape functions."""

    def samples(self, positions: np.ndarray) -> Samples:
        columns = np.arange(6 * len(positions))
        return self.samples_of([self], [positions], [columns], len(columns))

    @classmethod
    def samples_of(
        cls,
        elements: Sequence[Element],
        positions: Sequence[np.ndarray],
        columns: Sequence[np.ndarray],
        count: int,
    ) -> Samples:
        shells = [e for e in elements if isinstance(e, Shell)]
        x, cols, shapes = np.array(positions), np.array(columns), cls.shapes()
        g = geometry(shells, x, shapes)
        u, du, turn = _displacement(g, shapes)
        bending, thick = _edge_bending(g), []
        if cls.thick:
            lean = (
                -2 / 3 * bending * np.linalg.norm(g.edges, axis=2)[..., None]
            )  # shear strain of straight edges, times their lengths
            phi = edge_ratios([(_name(e), e.plate) for e in shells], g.edges, g.tangents.mean(axis=1))
            bending = bending / (1 + phi)[..., None]
            gamma = np.einsum(
                "epab,pbi,ei,eic->epac", g.inverse, shapes.C, phi / (1 + phi), lean, optimize=True
            )
            S = np.array([e.plate.shear for e in shells])
            thick = [shear_points(gamma, S, g.area, np.einsum("pi,eix->epx", shapes.L, x), cols, count)]
        strain, drill = _strains(g, shapes, du, bending)
        ABD = np.array([e.plate.ABD for e in shells])
        modes, energy = principal(ABD)
        mass, center, rotary = (
            np.array([getattr(e.plate, n) for e in shells]) for n in ("mass", "center", "rotary")
        )
        lever = center[:, None, None] * g.normal
        u = u - skew(lever) @ turn
        E, P = g.area.shape
        sheet = np.eye(3) - g.normal[..., :, None] * g.normal[..., None, :]
        points = Samples(
            position=(np.einsum("pi,eix->epx", shapes.L, x) + lever).reshape(-1, 3),
            mass=(mass[:, None] * g.area).ravel(),
            inertia=((rotary[:, None] * g.area)[..., None, None] * sheet).reshape(-1, 3, 3),
            lever=lever.reshape(-1, 3),
            translation=sparse_rows(u, cols, count),
            rotation=sparse_rows(turn, cols, count),
            strain=sparse_rows(modes[:, None] @ strain, cols, count),
            stiffness=(g.area[..., None] * energy[:, None]).ravel(),
            length=np.zeros(E * P),
            direction=np.zeros((E * P, 3)),
            derivative=sparse_rows(du.reshape(*du.shape[:2], 6, -1), cols, count),
            force=sparse_rows(ABD[:, None] @ strain, cols, count),
            own=sp.csr_array((6 * E * P, 3 * E * P)),
            area=g.area.ravel(),
            lag=np.repeat(np.zeros(E) if cls.thick else lags([e.plate for e in shells]), P),
        )
        pattern = _alternating(g, shapes, x)
        drilling = _drilling(g, drill, pattern, ABD[:, 2, 2], x, cols, count)
        return Samples.join([points, drilling, *thick])


@dataclass(frozen=True)
class ShellGeometry:
    """Axes and sizes of E elements at P points."""

    tangents: np.ndarray
    """(E, P, 2, 3) x axis of the plate, and the one square to it."""
    normal: np.ndarray
    """(E, P, 3)"""
    area: np.ndarray
    """(E, P) Share of each point [m^2]."""
    dL: np.ndarray
    """(E, P, k, 2) Derivatives of the shape functions along the tangents [1/m]."""
    dN: np.ndarray
    edges: np.ndarray
    """(E, k, 3) From each corner to the next [m]."""
    middle: np.ndarray
    """(E, 3) Normal of the whole element."""
    inverse: np.ndarray
    """(E, P, 2, 2) Derivatives along the tangents are `inverse` times those by the coordinates of the reference element."""


def geometry(shells: Sequence[Shell], x: np.ndarray, shapes: Shapes) -> ShellGeometry:
    """Return axes and sizes of shells of one class with corners x (E, k, 3)."""
    edges = np.roll(x, -1, axis=1) - x
    whole = np.cross(x[:, 2] - x[:, 0], x[:, -1] - x[:, 1])
    _check_corners(shells, edges, whole)
    middle = whole / np.linalg.norm(whole, axis=1)[:, None]
    g = np.einsum("pia,eix->epax", shapes.dL, x)
    normal = np.cross(g[:, :, 0], g[:, :, 1])
    size = np.linalg.norm(normal, axis=2)
    normal = normal / size[..., None]
    along = np.array([x[i, 1] - x[i, 0] if e.along is None else e.along for i, e in enumerate(shells)])
    t1 = along[:, None] - np.einsum("ex,epx->ep", along, normal)[..., None] * normal
    t1_size = np.linalg.norm(t1, axis=2)
    for i in np.flatnonzero(t1_size.min(axis=1) <= 1e-6 * np.linalg.norm(along, axis=1)):
        shell = shells[int(i)]
        raise InputError(
            f"{_name(shell)}: along = {shell.along} is square to the element; give a direction whose part in its surface is the "
            "x axis of the plate"
        )
    t1 = t1 / t1_size[..., None]
    tangents = np.stack([t1, np.cross(normal, t1)], axis=2)
    inverse = np.linalg.inv(np.einsum("epbx,epax->epba", g, tangents))
    dL, dN = (np.einsum("epab,pib->epia", inverse, d) for d in (shapes.dL, shapes.dN))
    return ShellGeometry(tangents, normal, shapes.weight * size, dL, dN, edges, middle, inverse)


def _check_corners(shells: Sequence[Shell], edges: np.ndarray, whole: np.ndarray) -> None:
    """Raise if an element has no area or a corner of 180 degrees or more."""
    turns = np.einsum("eix,ex->ei", np.cross(np.roll(edges, 1, axis=1), edges), whole)
    sizes = np.einsum("eix,eix->ei", edges, edges).max(axis=1) * np.linalg.norm(whole, axis=1)
    for i in np.flatnonzero(~(turns.min(axis=1) > 1e-6 * sizes)):
        raise InputError(
            f"{_name(shells[int(i)])}: its nodes make no convex polygon with an area; expected them in order around it, each corner below "
            "180 degrees"
        )


def _name(shell: Shell) -> str:
    return f"{type(shell).__name__}({', '.join(map(repr, shell.nodes))})"


def _displacement(g: ShellGeometry, shapes: Shapes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of u (E, P, 3, 6 k), of its derivatives along the tangents (E, P, 2, 3, 6 k), and of the rotation."""
    E, P, k, _ = g.dL.shape
    u, turn = np.zeros((2, E, P, 3, k, 2, 3))
    du = np.zeros((E, P, 2, 3, k, 2, 3))
    eye = np.eye(3)
    u[..., 0, :] = np.einsum("pi,xy->pxiy", shapes.L, eye)
    turn[..., 1, :] = u[..., 0, :]
    du[..., 0, :] = np.einsum("epia,xy->epaxiy", g.dL, eye)
    across = -skew(g.edges) / 8  # theta x e = -(e x) theta
    for i in range(k):
        ahead, behind = across[:, i], across[:, i - 1]
        u[..., i, 1, :] = (
            shapes.N[:, i, None, None] * ahead[:, None] - shapes.N[:, i - 1, None, None] * behind[:, None]
        )
        du[..., i, 1, :] = np.einsum("epa,exy->epaxy", g.dN[:, :, i], ahead) - np.einsum(
            "epa,exy->epaxy", g.dN[:, :, i - 1], behind
        )
    return u.reshape(E, P, 3, -1), du.reshape(E, P, 2, 3, -1), turn.reshape(E, P, 3, -1)


def _strains(
    g: ShellGeometry, shapes: Shapes, du: np.ndarray, bending: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of strains and curvatures (E, P, 6, 6 k), and of the drilling strain (E, P, 6 k).

    `bending` (E, k, 6 k) is what beta_s in the middle of each edge has beyond the mean of its ends.
    """
    E, P, k, _ = g.dL.shape
    gradient = np.einsum("epbx,epaxc->epabc", g.tangents, du)  # u_b,a
    spin = np.zeros((E, P, k, 2, 3))
    spin[..., 1, :] = np.einsum("pi,epx->epix", shapes.L, g.normal)
    drill = spin.reshape(E, P, -1) - 0.5 * (gradient[:, :, 0, 1] - gradient[:, :, 1, 0])
    turns = np.cross(g.normal[:, :, None], g.tangents)  # beta_a = turns_a . theta
    bend = np.zeros((E, P, 2, 2, k, 2, 3))
    bend[..., 1, :] = np.einsum("epib,epax->epabix", g.dL, turns)
    bend = bend.reshape(E, P, 2, 2, -1)
    s = g.edges / np.linalg.norm(g.edges, axis=2)[..., None]
    along = np.einsum("eix,epax->epia", s, g.tangents)
    bend += np.einsum("epib,epia,eic->epabc", g.dN, along, bending, optimize=True)
    rows = [gradient[:, :, 0, 0], gradient[:, :, 1, 1], gradient[:, :, 0, 1] + gradient[:, :, 1, 0]]
    rows += [bend[:, :, 0, 0], bend[:, :, 1, 1], bend[:, :, 0, 1] + bend[:, :, 1, 0]]
    return np.stack(rows, axis=2), drill


def _edge_bending(g: ShellGeometry) -> np.ndarray:
    """Return what beta_s in the middle of each edge without shear has beyond the mean of its ends, (E, k, 6 k).

    -w_s of the cubic is -3 (w_2 - w_1) / (2 l) - (beta_s1 + beta_s2) / 4, the mean (beta_s1 + beta_s2) / 2.
    """
    E, k, _ = g.edges.shape
    length = np.linalg.norm(g.edges, axis=2)
    w, beta = np.zeros((2, E, k, 3))
    w[:] = -1.5 * g.middle[:, None] / length[..., None]
    beta[:] = -0.75 * np.cross(g.middle[:, None], g.edges) / length[..., None]
    out = np.zeros((E, k, k, 2, 3))
    for i in range(k):
        j = (i + 1) % k
        out[:, i, i, 0], out[:, i, j, 0] = -w[:, i], w[:, i]
        out[:, i, i, 1] = out[:, i, j, 1] = beta[:, i]
    return out.reshape(E, k, -1)


def _alternating(g: ShellGeometry, shapes: Shapes, x: np.ndarray) -> np.ndarray:
    """Return rows of the alternating part of theta . n, zero for any linear field, (E, 6 k)."""
    E, P, k, _ = g.dL.shape
    across = np.einsum("i,eix,epax->epa", shapes.alternate, x, g.tangents)
    pattern = shapes.alternate - np.einsum("epa,epia->ei", across, g.dL) / P
    out = np.zeros((E, k, 2, 3))
    out[:, :, 1] = pattern[..., None] * g.middle[:, None]
    return out.reshape(E, -1)


def _drilling(
    g: ShellGeometry,
    drill: np.ndarray,
    pattern: np.ndarray,
    shear: np.ndarray,
    x: np.ndarray,
    columns: np.ndarray,
    count: int,
) -> Samples:
    """Return one point per element without mass that holds the drilling strains of all points, and the alternating one."""
    E, P, c = drill.shape
    strain, stiffness = np.zeros((E, 1, 6, c)), np.zeros((E, 6))
    strain[:, 0, :P], stiffness[:, :P] = drill, shear[:, None] * g.area
    strain[:, 0, P], stiffness[:, P] = pattern, shear * g.area.sum(axis=1)
    return massless(x.mean(axis=1), strain, stiffness, columns, count)


def nodes_of(*nodes: Node) -> tuple[Node, ...]:
    """Return the nodes; raise if one comes twice."""
    if len(set(nodes)) < len(nodes):
        raise InputError(f"shell with the nodes {', '.join(map(repr, nodes))}; expected nodes that differ")
    return nodes
