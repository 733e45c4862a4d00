"""Thick shell with eight nodes, flat or curved: tied membrane and shear strains (MITC8), three by three points.

Displacements and rotations are quadratic (serendipity functions of four corners and four middles of sides). With the tangents g_a and the normal n
of the true surface, strains for unit steps of the coordinates r, s of the element are

    e_ab = (g_a . u_b + g_b . u_a) / 2        gamma_a = n . u_a + (n x g_a) . theta        kappa_ab = sym (n x g_a) . theta_b

Rigid motion costs nothing on any surface. Membrane and shear strains are taken at points where quadratic functions do not lock and carried to the
others: e_rr and gamma_r by {1, r, s, rs, s^2} from r = +-1/sqrt(3), s = +-1 and the mean of the two at s = 0, e_ss and gamma_s likewise, e_rs by
{1, r, s, rs} from the points of two by two Gauss integration. Membrane strains keep their mean over the element, so that patches of any straight-sided
shape are exact. The difference of the rotation about the normal and that of the membrane is held by the
shear stiffness of the plate (Hughes & Brezzi 1989).

Sources: Bathe & Dvorkin 1986 (MITC8); Bathe, Bucalem & Brezzi 1990 (its plate).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError
from articulus.structure.element.base import Element, Node
from articulus.structure.element.shell import nodes_of
from articulus.structure.element.shell_points import massless, principal, sparse_rows
from articulus.structure.element.transverse_shear import per_plate, require_shear, shear_points
from articulus.structure.plate import Plate
from articulus.structure.samples import Samples
from articulus.structure.vectors import skew

SIGNS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (0, -1), (1, 0), (0, 1), (-1, 0)])
"""Coordinates r, s of the nodes."""
A = 1 / np.sqrt(3)
ALONG_R = np.array([(-A, -1), (A, -1), (A, 1), (-A, 1), (-A, 0), (A, 0)])
"""Where e_rr and gamma_r are taken; those of s have r and s exchanged."""
GAUSS = np.array([(-A, -A), (A, -A), (A, A), (-A, A)])
"""Where e_rs is taken."""

SOFTER = 1e-4
"""How thin elements soften against shear: by 1 + SOFTER / phi, phi = 12 D / (S area). Matrices stay well conditioned at any thickness; waves of
wave number k lose the share SOFTER k^2 area / 12 of their stiffness."""


@dataclass(frozen=True)
class MindlinQuadrilateral8(Element):
    """A quadrilateral of a thick shell with nodes in the middle of its sides, flat or curved.

    Parameters
    ----------
    corners : four of str or int
        Nodes in order; the normal sees them counterclockwise.
    middles : four of str or int
        Nodes of the sides from each corner to the next, in the middle half of each.
    plate : Plate
        Its section, with a transverse shear stiffness.
    along : three floats
        Direction whose part in the surface is the x axis of the plate; from the first corner to the second if not given.
    """

    corners: Sequence[Node]
    middles: Sequence[Node]
    plate: Plate
    along: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if len(self.corners) != 4 or len(self.middles) != 4:
            raise InputError(
                f"MindlinQuadrilateral8: {len(self.corners)} corners and {len(self.middles)} middles; expected four of each"
            )

    @property
    def nodes(self) -> tuple[Node, ...]:
        return nodes_of(*self.corners, *self.middles)

    def samples(self, positions: np.ndarray) -> Samples:
        columns = np.arange(48)
        return self.samples_of([self], [positions], [columns], 48)

    @classmethod
    def samples_of(
        cls,
        elements: Sequence[Element],
        positions: Sequence[np.ndarray],
        columns: Sequence[np.ndarray],
        count: int,
    ) -> Samples:
        shells = [e for e in elements if isinstance(e, MindlinQuadrilateral8)]
        x, cols = np.array(positions), np.array(columns)
        _check(shells, x)
        S = np.array([require_shear(_name(e), e.plate) for e in shells])
        at, weight = _points()
        g, normal, size = _surface(x, at)
        area = weight * size
        S = S / (1 + SOFTER / _ratio(shells, S, area.sum(axis=1)))[:, None, None]
        tangents = _tangents(shells, x, normal)
        inverse = np.linalg.inv(np.einsum("epbx,epax->epba", g, tangents))
        N, dN = shapes(at)
        u, turn, du = _displacement(N, np.einsum("epab,pib->epia", inverse, dN))
        membrane = _kept_mean(_membrane(x, at, inverse), tangents, du, area)
        strain = np.concatenate([membrane, _bending(dN, normal, tangents, inverse)], axis=2)
        gamma = inverse @ _shear(x, at)
        drill = np.einsum("epx,epxc->epc", normal, turn) - 0.5 * _spin(tangents, du)
        return _join_points(shells, x, cols, count, (N, area, normal, u, turn, du), strain, (gamma, S, drill))


def _ratio(shells: Sequence[MindlinQuadrilateral8], S: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Return the ratio of shear to bending flexibility of elements, (E,)."""
    D = per_plate([e.plate for e in shells], lambda plate: plate.bending[0, 0] + plate.bending[1, 1])
    return 12 * D / (np.trace(S, axis1=1, axis2=2) * area)


def shapes(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the functions of the nodes at points (P, 2), (P, 8), and their derivatives by r and s, (P, 8, 2)."""
    r, s = at[:, :1], at[:, 1:]
    a, b = SIGNS[:4].T
    corner = (1 + a * r) * (1 + b * s) * (a * r + b * s - 1) / 4
    d_corner = [a * (1 + b * s) * (2 * a * r + b * s) / 4, b * (1 + a * r) * (a * r + 2 * b * s) / 4]
    b, a = SIGNS[[4, 6], 1], SIGNS[[5, 7], 0]
    along = (1 - r**2) * (1 + b * s) / 2, -r * (1 + b * s), b * (1 - r**2) / 2
    across = (1 + a * r) * (1 - s**2) / 2, a * (1 - s**2) / 2, -s * (1 + a * r)
    order = [0, 1, 2, 3, 4, 6, 5, 7]
    parts = [corner, *d_corner], along, across
    N, dr, ds = (np.concatenate(each, axis=1)[:, order] for each in zip(*parts))
    return N, np.stack([dr, ds], axis=2)


@functools.cache
def _points() -> tuple[np.ndarray, np.ndarray]:
    """Return the integration points (9, 2) and their weights (9,)."""
    z, w = np.polynomial.legendre.leggauss(3)
    return np.array([(r, s) for r in z for s in z]), np.array([a * b for a in w for b in w])


def _surface(x: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tangents by r and s (E, P, 2, 3), normals (E, P, 3) and areas for unit steps (E, P) of the surfaces through x (E, 8, 3)."""
    g = np.einsum("pia,eix->epax", shapes(at)[1], x)
    normal = np.cross(g[:, :, 0], g[:, :, 1])
    size = np.linalg.norm(normal, axis=2)
    return g, normal / size[..., None], size


def _tangents(shells: Sequence[MindlinQuadrilateral8], x: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return x and y axis of the plates in the surfaces, (E, P, 2, 3)."""
    along = np.array([x[i, 1] - x[i, 0] if e.along is None else e.along for i, e in enumerate(shells)])
    t = along[:, None] - np.einsum("ex,epx->ep", along, normal)[..., None] * normal
    size = np.linalg.norm(t, axis=2)
    for i in np.flatnonzero(size.min(axis=1) <= 1e-6 * np.linalg.norm(along, axis=1)):
        raise InputError(
            f"{_name(shells[int(i)])}: along = {shells[int(i)].along} is square to the element somewhere; give a direction whose part in its "
            "surface is the x axis of the plate"
        )
    t = t / size[..., None]
    return np.stack([t, np.cross(normal, t)], axis=2)


def _displacement(N: np.ndarray, dN: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of u and of the rotation (E, P, 3, 48), and of the derivatives of u along the tangents (E, P, 2, 3, 48)."""
    E, P = dN.shape[:2]
    u, turn = np.zeros((2, E, P, 3, 8, 2, 3))
    du = np.zeros((E, P, 2, 3, 8, 2, 3))
    u[..., 0, :] = turn[..., 1, :] = np.einsum("pi,xy->pxiy", N, np.eye(3))
    du[..., 0, :] = np.einsum("epia,xy->epaxiy", dN, np.eye(3))
    return u.reshape(E, P, 3, 48), turn.reshape(E, P, 3, 48), du.reshape(E, P, 2, 3, 48)


def _spin(tangents: np.ndarray, du: np.ndarray) -> np.ndarray:
    """Return rows of u_2,1 - u_1,2, (E, P, 48)."""
    return np.einsum("epx,epxc->epc", tangents[:, :, 1], du[:, :, 0]) - np.einsum(
        "epx,epxc->epc", tangents[:, :, 0], du[:, :, 1]
    )


def _tying_functions(at: np.ndarray) -> np.ndarray:
    """Return the functions that carry strains from `ALONG_R` to points (P, 2), (P, 6)."""
    r, s = at[:, :1], at[:, 1:]
    inner = (1 - s**2) / 4
    outer = (1 + r * ALONG_R[:4, 0] / A**2) * (1 + s * ALONG_R[:4, 1]) / 4 - inner
    return np.concatenate([outer, 2 * inner, 2 * inner], axis=1)


def _stretch(x: np.ndarray, at: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return rows of g_a . u_b at points, (E, P, 48)."""
    g, _, _ = _surface(x, at)
    out = np.zeros((*g.shape[:2], 8, 2, 3))
    out[..., 0, :] = np.einsum("epx,pi->epix", g[:, :, a], shapes(at)[1][:, :, b])
    return out.reshape(*g.shape[:2], 48)


def _membrane(x: np.ndarray, at: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return rows of the tied membrane strains in the axes of the plate, (E, P, 3, 48)."""
    rr = np.einsum("pt,etc->epc", _tying_functions(at), _stretch(x, ALONG_R, 0, 0))
    ss = np.einsum("pt,etc->epc", _tying_functions(at[:, ::-1]), _stretch(x, ALONG_R[:, ::-1], 1, 1))
    bilinear = (1 + at[:, :1] * GAUSS[:, 0] / A**2) * (1 + at[:, 1:] * GAUSS[:, 1] / A**2) / 4
    rs = np.einsum("pt,etc->epc", bilinear, 0.5 * (_stretch(x, GAUSS, 0, 1) + _stretch(x, GAUSS, 1, 0)))
    e = np.stack([np.stack([rr, rs], axis=2), np.stack([rs, ss], axis=2)], axis=2)
    e = np.einsum("epac,epbd,epcdk->epabk", inverse, inverse, e, optimize=True)
    return np.stack([e[:, :, 0, 0], e[:, :, 1, 1], 2 * e[:, :, 0, 1]], axis=2)


def _kept_mean(tied: np.ndarray, tangents: np.ndarray, du: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Return tied membrane strains with the mean of those that were not tied."""
    e = np.einsum("epbx,epaxc->epabc", tangents, du)  # u_b,a
    own = np.stack([e[:, :, 0, 0], e[:, :, 1, 1], e[:, :, 0, 1] + e[:, :, 1, 0]], axis=2)
    lost = np.einsum("ep,epic->eic", area, own - tied) / area.sum(axis=1)[:, None, None]
    return tied + lost[:, None]


def _bending(dN: np.ndarray, normal: np.ndarray, tangents: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return rows of curvatures in the axes of the plate, (E, P, 3, 48)."""
    E, P = normal.shape[:2]
    turns = np.cross(normal[:, :, None], tangents)  # beta_a = turns_a . theta
    k = np.zeros((E, P, 2, 2, 8, 2, 3))
    k[..., 1, :] = np.einsum("epbc,pic,epax->epabix", inverse, dN, turns, optimize=True)
    k = k.reshape(E, P, 2, 2, 48)
    return np.stack([k[:, :, 0, 0], k[:, :, 1, 1], k[:, :, 0, 1] + k[:, :, 1, 0]], axis=2)


def _shear(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return rows of the tied gamma_r, gamma_s, (E, P, 2, 48)."""
    rows = []
    for a, tie, where in ((0, ALONG_R, at), (1, ALONG_R[:, ::-1], at[:, ::-1])):
        g, normal, _ = _surface(x, tie)
        N, dN = shapes(tie)
        out = np.zeros((*g.shape[:2], 8, 2, 3))
        out[..., 0, :] = np.einsum("epx,pi->epix", normal, dN[:, :, a])
        out[..., 1, :] = np.einsum("epx,pi->epix", np.cross(normal, g[:, :, a]), N)
        rows.append(np.einsum("pt,etc->epc", _tying_functions(where), out.reshape(*g.shape[:2], 48)))
    return np.stack(rows, axis=2)


def _join_points(
    shells: Sequence[MindlinQuadrilateral8],
    x: np.ndarray,
    cols: np.ndarray,
    count: int,
    moves: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    strain: np.ndarray,
    held: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Samples:
    """Return the points: mass, membrane and bending, then transverse shear, then drilling."""
    N, area, normal, u, turn, du = moves
    gamma, S, drill = held
    E, P = area.shape
    ABD = np.array([e.plate.ABD for e in shells])
    modes, energy = principal(ABD)
    mass, center, rotary = (
        np.array([getattr(e.plate, n) for e in shells]) for n in ("mass", "center", "rotary")
    )
    surface = np.einsum("pi,eix->epx", N, x)
    lever = center[:, None, None] * normal
    sheet = np.eye(3) - normal[..., :, None] * normal[..., None, :]
    points = Samples(
        position=(surface + lever).reshape(-1, 3),
        mass=(mass[:, None] * area).ravel(),
        inertia=((rotary[:, None] * area)[..., None, None] * sheet).reshape(-1, 3, 3),
        lever=lever.reshape(-1, 3),
        translation=sparse_rows(u - skew(lever) @ turn, cols, count),
        rotation=sparse_rows(turn, cols, count),
        strain=sparse_rows(modes[:, None] @ strain, cols, count),
        stiffness=(area[..., None] * energy[:, None]).ravel(),
        length=np.zeros(E * P),
        direction=np.zeros((E * P, 3)),
        derivative=sparse_rows(du.reshape(E, P, 6, 48), cols, count),
        force=sparse_rows(ABD[:, None] @ strain, cols, count),
        own=sp.csr_array((6 * E * P, 3 * E * P)),
        area=area.ravel(),
        lag=np.zeros(E * P),
    )
    held_rows, stiffness = np.zeros((E, P, 6, 48)), np.zeros((E, P, 6))
    held_rows[:, :, 0], stiffness[..., 0] = drill, ABD[:, 2, 2, None] * area
    drilling = massless(surface.reshape(-1, 3), held_rows, stiffness.reshape(-1, 6), cols, count)
    return Samples.join([points, shear_points(gamma, S, area, surface, cols, count), drilling])


def _name(shell: MindlinQuadrilateral8) -> str:
    return f"MindlinQuadrilateral8({', '.join(map(repr, shell.nodes))})"


def _check(shells: Sequence[MindlinQuadrilateral8], x: np.ndarray) -> None:
    """Raise for a middle node off the middle half of its side, and for an element that folds over itself."""
    side = np.roll(x[:, :4], -1, axis=1) - x[:, :4]
    square = np.einsum("eix,eix->ei", side, side)
    share = np.einsum("eix,eix->ei", x[:, 4:] - x[:, :4], side) / np.where(square > 0, square, 1.0)
    for i, k in np.argwhere(~((share > 0.25) & (share < 0.75)))[:1]:
        shell = shells[int(i)]
        raise InputError(
            f"{_name(shell)}: its middle node {shell.middles[int(k)]!r} lies at {share[i, k]:.2f} of the side from {shell.corners[int(k)]!r} to "
            f"{shell.corners[(int(k) + 1) % 4]!r}; expected its middle half, 0.25 to 0.75: are the middles in the order of the sides?"
        )
    whole = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    every = np.concatenate([SIGNS.astype(float), _points()[0]])
    g = np.einsum("pia,eix->epax", shapes(every)[1], x)
    along = np.einsum("epx,ex->ep", np.cross(g[:, :, 0], g[:, :, 1]), whole)
    for i in np.flatnonzero(~(along.min(axis=1) > 1e-6 * square.max(axis=1) * np.linalg.norm(whole, axis=1))):
        raise InputError(
            f"{_name(shells[int(i)])}: it has no area or folds over itself; expected corners in order around it, each below 180 degrees, and "
            "sides that do not bulge into it"
        )
