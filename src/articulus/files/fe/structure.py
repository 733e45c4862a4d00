"""From what a finite-element file holds to a Structure: beams, rods and masses assembled, or matrices taken over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from articulus.errors import InputError, did_you_mean
from articulus.files.fe.data import Beam, BulkModel, Dof, Grid, MatrixSet, PointMass, Rod
from articulus.structure.element import Bar, Element, EulerBernoulli, Lumped, Timoshenko
from articulus.structure.section import Section
from articulus.structure.structure import COMPONENTS, Structure

ALIGNED = 1e-9
"""How far a direction may be from a basic axis to count as that axis."""


def node_name(id: int) -> str:
    """Return the name of a grid as a node of the Structure."""
    return f"grid{id}"


def bulk_structure(model: BulkModel) -> Structure:
    """Return the structure of a bulk-data model; its nodes are called "grid1", "grid2", ...

    Mass matrices are consistent, with the rotary inertia of the material. Beams with shear factors become Timoshenko
    elements, the others Euler-Bernoulli ones.

    Parameters
    ----------
    model : BulkModel
        As `read_bulk` returns it. Its analysis set is not applied: reduce the structure to those freedoms.
    """
    if model.scalar_points:
        raise InputError(
            f"{model.name}: scalar point {model.scalar_points[0]} has no place in a structure of elements"
        )
    at = {g.id: np.array(g.position) for g in model.grids}
    elements: list[Element] = [_beam(b, at) for b in model.beams]
    elements += [_rod(r) for r in model.rods]
    elements += [_mass(m) for m in model.masses]
    return Structure.assemble(
        np.array([g.position for g in model.grids]),
        elements,
        names=[node_name(g.id) for g in model.grids],
        fixed=_fixed(model),
    )


def matrix_structure(
    data: MatrixSet,
    M: str,
    K: str,
    D: str | None = None,
    *,
    grids: Iterable[Grid] = (),
    dofs: Sequence[Dof] = (),
) -> Structure:
    """Return the structure of matrices that were read, in basic axes.

    Parameters
    ----------
    data : MatrixSet
        As `read_op4`, `read_dmig`, `read_op2` or `read_matrices` returns it.
    M, K, D : str
        Names of the mass, stiffness and damping matrices in it.
    grids : iterable of Grid
        Grids with places and axes (`read_bulk(...).grids`), when the file has none.
    dofs : sequence of (grid, component)
        Freedom of each row, when the file has none.
    """
    rows = tuple(dofs) or data.dofs
    points = {g.id: g for g in (tuple(grids) or data.grids)}
    used = sorted({id for id, _ in rows})
    _check_rows(data, M, rows, points)
    T = _turn(rows, points)
    number = {id: i for i, id in enumerate(used)}
    return Structure(
        tuple(node_name(id) for id in used),
        np.array([points[id].position for id in used]),
        np.array([(number[id], c - 1) for id, c in rows]),
        T @ data[M] @ T.T,
        T @ data[K] @ T.T,
        None if D is None else T @ data[D] @ T.T,
    )


# elements


def _beam(beam: Beam, at: dict[int, np.ndarray]) -> Element:
    """Return a beam element in the principal axes of its section."""
    s, m = beam.section, beam.material
    along = at[beam.grids[1]] - at[beam.grids[0]]
    x = along / np.linalg.norm(along)
    z = np.cross(x, beam.orientation)
    z /= np.linalg.norm(z)
    axes = np.array([np.cross(z, x), z])
    (I1, I2), turn = _principal(s.I1, s.I2, s.I12)
    if s.I12 and s.k1 != s.k2:
        raise InputError(
            f"beam {beam.id}: I12 = {s.I12:g} with shear factors {s.k1:g} and {s.k2:g} that differ; give the section in its "
            "principal axes (I12 = 0)"
        )
    GAy, GAz = (k * m.G * s.area if k else np.inf for k in (s.k1, s.k2))
    rotary = (m.rho * (I1 + I2), m.rho * I2, m.rho * I1)
    section = Section(m.rho * s.area + s.nsm, m.E * s.area, m.E * I2, m.E * I1, m.G * s.J, GAy, GAz, rotary)
    kind = Timoshenko if s.k1 or s.k2 else EulerBernoulli
    a, b = map(node_name, beam.grids)
    return kind(a, b, section, up=tuple((turn.T @ axes)[1]))


def _principal(I1: float, I2: float, I12: float) -> tuple[np.ndarray, np.ndarray]:
    """Return principal second moments and their directions (columns, in y and z); those given when I12 is zero."""
    if not I12:
        return np.array([I1, I2]), np.eye(2)
    moments, turn = np.linalg.eigh([[I1, I12], [I12, I2]])
    return moments, turn * np.sign(np.linalg.det(turn))


def _rod(rod: Rod) -> Element:
    s, m = rod.section, rod.material
    if s.J:
        raise InputError(
            f"rod {rod.id}: J = {s.J:g}; a bar of a structure carries no torsion: set J of its PROD to zero, or make it a beam"
        )
    a, b = map(node_name, rod.grids)
    return Bar(a, b, Section(m.rho * s.area + s.nsm, m.E * s.area))


def _mass(mass: PointMass) -> Element:
    J = mass.inertia
    inertia = (J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
    return Lumped(node_name(mass.grid), mass.mass, inertia, mass.offset)


# axes of displacement


def _fixed(model: BulkModel) -> dict[str | int, tuple[str, ...]]:
    """Return the held freedoms of each node in basic axes."""
    held: dict[int, set[int]] = defaultdict(set)
    for id, component in model.fixed:
        held[id].add(component - 1)
    out: dict[str | int, tuple[str, ...]] = {}
    for grid in model.grids:
        names = [COMPONENTS[c] for start in (0, 3) for c in _basic(grid, held[grid.id], start)]
        if names:
            out[node_name(grid.id)] = tuple(names)
    return out


def _basic(grid: Grid, held: set[int], start: int) -> list[int]:
    """Return which of three basic components from `start` on are held when some are in the axes of a grid."""
    mine = [c - start for c in held if start <= c < start + 3]
    if len(mine) in (0, 3):
        return [start + c for c in mine]
    directions = np.abs(np.array(grid.axes)[:, mine])
    if directions.max(axis=0).min() < 1 - ALIGNED:
        raise InputError(
            f"grid {grid.id}: held along some of its skew axes; a structure holds freedoms along basic axes only: turn the model, or hold all three"
        )
    return [start + int(c) for c in directions.argmax(axis=0)]


def _turn(rows: Sequence[Dof], points: dict[int, Grid]) -> sparse.csr_array:
    """Return T: displacements in basic axes are T times those in the axes of the grids."""
    place = {dof: i for i, dof in enumerate(rows)}
    T = sparse.lil_array((len(rows), len(rows)))
    for (id, component), i in place.items():
        start = 1 if component <= 3 else 4
        axes = np.array(points[id].axes)
        for k in range(3):
            weight = axes[k, component - start]
            j = place.get((id, start + k))
            if j is not None:
                T[j, i] = weight
            elif abs(weight) > ALIGNED:
                raise InputError(
                    f"grid {id}: component {component} is along a skew axis, and component {start + k} is missing; all three are "
                    "needed to turn them to basic axes"
                )
    return T.tocsr()


def _check_rows(data: MatrixSet, M: str, rows: Sequence[Dof], points: dict[int, Grid]) -> None:
    n = data[M].shape[0]
    if len(rows) != n:
        raise InputError(
            f"{data.name}: {len(rows)} freedoms for matrices of {n} rows; give one (grid, component) a row: dofs=..."
        )
    if len(set(rows)) < n:
        raise InputError(f"{data.name}: a freedom comes twice in dofs")
    for id, component in rows:
        if not 1 <= component <= 6:
            raise InputError(
                f"{data.name}: freedom ({id}, {component}); expected components 1 to 6 (no scalar points)"
            )
        if id not in points:
            hint = did_you_mean(str(id), map(str, points))
            raise InputError(f"{data.name}: no place of grid {id}; give grids=read_bulk(...).grids; {hint}")
