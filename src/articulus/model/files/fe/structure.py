"""From what a finite-element file holds to a Structure: elements and ties assembled, or matrices taken over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from articulus.errors import InputError, did_you_mean
from articulus.model.files.fe.data import (
    BulkModel,
    Dof,
    FeBeam,
    FeGrid,
    FeMaterial,
    FeRod,
    FeShell,
    LayUp,
    MatrixSet,
    MeanElement,
    Orthotropic,
    PointMass,
    Rigid,
    ScalarElement,
    ShellSection,
)
from articulus.structure.element import (
    Bar,
    Element,
    EulerBernoulli,
    Lumped,
    MindlinQuadrilateral,
    MindlinQuadrilateral8,
    MindlinTriangle,
    ScalarSpring,
    ShellQuadrilateral,
    ShellTriangle,
    Timoshenko,
)
from articulus.structure.geometric import GeometricStiffness
from articulus.structure.plate import Plate, Ply, shear_stiffness
from articulus.structure.section import Section
from articulus.structure.structure import COMPONENTS, Structure
from articulus.structure.ties import Average, Hold, RigidLink, Tie

ALIGNED = 1e-9
"""How far a direction may be from a basic axis to count as that axis."""

STIFF = 1e3
"""Stiffness against transverse shear of eight-node shells whose section does not yield to it, beside 12 D / thickness^2: the element
itself softens thin ones, so that more would change nothing."""


def node_name(id: int) -> str:
    """Return the name of a grid as a node of the Structure."""
    return f"grid{id}"


def bulk_structure(model: BulkModel) -> Structure:
    """Return the structure of a bulk-data model; its nodes are called "grid1", "grid2", ...

    Mass matrices are consistent, with the rotary inertia of the material. Beams with shear factors become Timoshenko
    elements, the others Euler-Bernoulli ones. An end of beam 7 that is pinned or off its grid is a node of its own,
    "beam7a" or "beam7b".

    Parameters
    ----------
    model : BulkModel
        As `read_bulk` returns it. Its analysis set is not applied: reduce the structure to those degrees of freedom.
    """
    if model.scalar_points:
        raise InputError(
            f"{model.name}: scalar point {model.scalar_points[0]} has no place in a structure of elements"
        )
    grids = {g.id: g for g in model.grids}
    at = {node_name(g.id): np.array(g.position) for g in model.grids}
    ties: list[Tie] = [tie for b in model.beams for tie in _ends(b, at)]
    elements: list[Element] = [_beam(b, at) for b in model.beams]
    elements += [_rod(r) for r in model.rods]
    sections = {id(s.section): _plate(s.section) for s in model.shells}
    shells = [_shell(s, sections[id(s.section)]) for s in model.shells]
    elements += sorted(shells, key=lambda s: (len(s.nodes), type(s).__name__))
    elements += [_mass(m) for m in model.masses]
    elements += _scalar_masses(model.scalar_masses, grids)
    elements += [_spring(s, grids) for s in model.springs]
    ties += [tie for r in model.rigids for tie in _rigid(r, grids)] + [_mean(m, grids) for m in model.means]
    fixed, skew = _fixed(model)
    return Structure.assemble(
        np.array(list(at.values())), elements, names=list(at), fixed=fixed, ties=[*ties, *skew]
    )


def matrix_structure(
    data: MatrixSet,
    M: str,
    K: str,
    D: str | None = None,
    *,
    grids: Iterable[FeGrid] = (),
    dofs: Sequence[Dof] = (),
    motions: Mapping[str, str] | None = None,
    loads: Mapping[int, Sequence[str]] | None = None,
    about: Sequence[float] = (0.0, 0.0, 0.0),
) -> Structure:
    """Return the structure of matrices that were read, in basic axes.

    With geometric stiffness matrices (`motions`) its flexible bodies can have the level "consistent".

    Parameters
    ----------
    data : MatrixSet
        As `read_op4`, `read_dmig`, `read_op2` or `read_matrices` returns it.
    M, K, D : str
        Names of the mass, stiffness and damping matrices in it.
    grids : iterable of FeGrid
        Grids with places and axes (`read_bulk(...).grids`), when the file has none.
    dofs : sequence of (grid, component)
        Degree of freedom of each row, when the file has none.
    motions : dict of str to str
        Names of the geometric stiffness matrices for unit motions along the basic axes, see `GeometricStiffness`:
        ``{"acceleration_x": "KGAX", ..., "angular_x": ..., "rate_xx": ..., "rate_xy": ...}``, twelve in all.
    loads : dict of grid to six names
        The same for unit forces and moments at grids where something may be attached.
    about : three floats [m]
        Point that the angular motions leave in place, basic axes.
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
        geometric=_geometric(data, T, motions, loads or {}, about),
    )


def _geometric(
    data: MatrixSet,
    T: sparse.csr_array,
    motions: Mapping[str, str] | None,
    loads: Mapping[int, Sequence[str]],
    about: Sequence[float],
) -> GeometricStiffness | None:
    if motions is None:
        if loads:
            raise InputError(f"{data.name}: loads without motions; geometric stiffness needs both")
        return None
    return GeometricStiffness(
        {motion: T @ data[name] @ T.T for motion, name in motions.items()},
        {node_name(id): [T @ data[name] @ T.T for name in names] for id, names in loads.items()},
        about,
    )


# elements


def _nodes(beam: FeBeam) -> list[str]:
    """Return the names of the nodes at the ends of a beam."""
    own = [bool(pins) or any(offset) for pins, offset in zip(beam.pins, beam.offsets)]
    return [
        f"beam{beam.id}{side}" if mine else node_name(grid) for side, mine, grid in zip("ab", own, beam.grids)
    ]


def _ends(beam: FeBeam, at: dict[str, np.ndarray]) -> list[Tie]:
    """Return how pinned ends and those off their grids follow these; put their nodes to the positions `at`."""
    out: list[Tie] = []
    nodes = _nodes(beam)
    for name, grid, offset in zip(nodes, map(node_name, beam.grids), beam.offsets):
        at.setdefault(name, at[grid] + offset)
    for name, grid, pins in zip(nodes, map(node_name, beam.grids), beam.pins):
        if name != grid:
            kept = [COMPONENTS[c] for c in range(6) if c + 1 not in pins]
            if kept:
                out.append(RigidLink(grid, [name], kept, _beam_axes(beam, at).tolist()))
    return out


def _beam_axes(beam: FeBeam, at: dict[str, np.ndarray]) -> np.ndarray:
    """Return x, y, z of the element by rows, y in plane 1."""
    a, b = _nodes(beam)
    along = at[b] - at[a]
    x = along / np.linalg.norm(along)
    z = np.cross(x, beam.orientation)
    z /= np.linalg.norm(z)
    return np.array([x, np.cross(z, x), z])


def _beam(beam: FeBeam, at: dict[str, np.ndarray]) -> Element:
    """Return a beam element in the principal axes of its section."""
    s, m = beam.section, beam.material
    axes = _beam_axes(beam, at)[1:]
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
    a, b = _nodes(beam)
    return kind(a, b, section, up=tuple((turn.T @ axes)[1]))


def _principal(I1: float, I2: float, I12: float) -> tuple[np.ndarray, np.ndarray]:
    """Return principal second moments and their directions (columns, in y and z); those given when I12 is zero."""
    if not I12:
        return np.array([I1, I2]), np.eye(2)
    moments, turn = np.linalg.eigh([[I1, I12], [I12, I2]])
    return moments, turn * np.sign(np.linalg.det(turn))


def _rod(rod: FeRod) -> Element:
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


def _scalar_masses(masses: Iterable[ScalarElement], grids: dict[int, FeGrid]) -> list[Element]:
    """Return the bodies that the scalar masses of each grid make together."""
    found: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(6))
    for m in masses:
        if m.second is not None:
            raise InputError(
                f"CMASS2 {m.id}: it joins grids {m.first[0]} and {m.second[0]}; a body of a mechanism has no mass between two degrees of freedom: give one grid"
            )
        found[m.first[0]][m.first[1] - 1] += m.value
    out: list[Element] = []
    for id, values in found.items():
        if np.ptp(values[:3]) > 1e-9 * values[:3].max():
            raise InputError(
                f"CMASS2 of grid {id}: masses {values[0]:g}, {values[1]:g}, {values[2]:g} along its axes; a body of a mechanism has the same mass in all "
                "directions: give components 1, 2 and 3 the same, or a CONM2"
            )
        R = np.array(grids[id].axes)
        J = R @ np.diag(values[3:]) @ R.T
        inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        out.append(Lumped(node_name(id), float(values[0]), inertia))
    return out


def _spring(spring: ScalarElement, grids: dict[int, FeGrid]) -> Element:
    start, direction = spring.first[0], _direction(spring.first, grids)
    if spring.second is None:
        return ScalarSpring(spring.value, node_name(start), direction)
    end = spring.second
    return ScalarSpring(spring.value, node_name(start), direction, node_name(end[0]), _direction(end, grids))


def _direction(dof: Dof, grids: dict[int, FeGrid]) -> tuple[float, ...]:
    """Return the weights of a degree of freedom on the six components of its grid in basic axes."""
    column = np.kron(np.eye(2), np.array(grids[dof[0]].axes))[:, dof[1] - 1]
    return tuple(float(x) for x in column)


# shells


def _ply(material: FeMaterial | Orthotropic, thickness: float, angle: float = 0.0) -> Ply:
    m = material
    if isinstance(m, FeMaterial):
        return Ply(thickness, m.E, nu12=m.nu, G12=m.G, density=m.rho, angle=angle)
    return Ply(thickness, m.E1, m.E2, m.nu12, m.G12, m.rho, angle, m.G1Z, m.G2Z)


def _plate(section: ShellSection | LayUp) -> Plate:
    """Return the section of a shell, in the axes of its material."""
    s = section
    if isinstance(s, LayUp):
        plies = [_ply(layer.material, layer.thickness, layer.angle) for layer in s.layers]
        return Plate.laminate(plies, bottom=s.bottom, extra=s.nsm)
    ABD = np.zeros((6, 6))
    if s.membrane:
        ABD[:3, :3] = s.thickness * _ply(s.membrane, s.thickness).Q
    if s.bending:
        ABD[3:, 3:] = s.ratio * s.thickness**3 / 12 * _ply(s.bending, s.thickness).Q
    stuff = s.membrane or s.bending
    mass = stuff.rho * s.thickness if stuff else 0.0
    shear = None
    if s.shear:
        yields = _ply(s.shear, s.thickness).shear_compliance
        shear = shear_stiffness(yields / (s.shear_ratio * s.thickness))
    return Plate(ABD, mass + s.nsm, 0.0, mass * s.thickness**2 / 12, shear)


def _shell(shell: FeShell, plate: Plate) -> ShellTriangle | ShellQuadrilateral | MindlinQuadrilateral8:
    """Return a thick shell where the section yields to transverse shear, else a thin one; eight nodes are always thick ones."""
    plate = plate.turn(shell.angle) if shell.angle else plate
    plate = plate.shift(shell.offset) if shell.offset else plate
    nodes = [node_name(g) for g in shell.grids]
    thick = plate.shear is not None
    if len(nodes) == 8:
        plate = plate if thick else _stiff_in_shear(shell, plate)
        return MindlinQuadrilateral8(nodes[:4], nodes[4:], plate, shell.along)
    if len(nodes) == 3:
        triangle = MindlinTriangle if thick else ShellTriangle
        return triangle(nodes[0], nodes[1], nodes[2], plate, shell.along)
    square = MindlinQuadrilateral if thick else ShellQuadrilateral
    return square(nodes[0], nodes[1], nodes[2], nodes[3], plate, shell.along)


def _stiff_in_shear(shell: FeShell, plate: Plate) -> Plate:
    """Return a section that does not yield to transverse shear as the thick shell of eight nodes takes it."""
    section = shell.section
    thickness = (
        sum(layer.thickness for layer in section.layers) if isinstance(section, LayUp) else section.thickness
    )
    bends = plate.ABD.diagonal()[3:]
    if not bends.min() > 0:
        raise InputError(
            f"CQUAD8 {shell.id}: its property {section.id} does not bend (no MID2); expected one that does: take CQUAD4 for a membrane"
        )
    return replace(plate, shear=STIFF * 12 / thickness**2 * bends.max() * np.eye(2))


# ties


def _names(numbers: Iterable[int]) -> list[str]:
    return [COMPONENTS[c - 1] for c in numbers]


def _rigid(rigid: Rigid, grids: dict[int, FeGrid]) -> list[Tie]:
    """Return links of one grid with others, in components along the axes of those."""
    names = _names(rigid.components)
    return [
        RigidLink(node_name(rigid.grid), [node_name(d)], names, np.array(grids[d].axes).T.tolist())
        for d in rigid.dependents
    ]


def _mean(mean: MeanElement, grids: dict[int, FeGrid]) -> Tie:
    """Return the mean of grids; all sets have to count the same components."""
    counted = {components for _, components, _ in mean.sets}
    used = [mean.grid, *(g for _, _, ids in mean.sets for g in ids)]
    turned = [g for g in used if not np.allclose(grids[g].axes, np.eye(3), atol=ALIGNED)]
    parts = {frozenset(c) & {1, 2, 3} for c in (*counted, mean.components)}
    if len(counted) > 1:
        shown = ", ".join("".join(map(str, c)) for c in sorted(counted))
        raise InputError(
            f"RBE3 {mean.id}: grids that count with the components {shown}; expected the same of all of its grids"
        )
    if turned and not all(len(p) in (0, 3) for p in parts):
        raise InputError(
            f"RBE3 {mean.id}: grid {turned[0]} has local axes; expected components 123 together, or basic axes"
        )
    weights: dict[str | int, float] = defaultdict(float)
    for weight, _, ids in mean.sets:
        for g in ids:
            weights[node_name(g)] += weight
    return Average(node_name(mean.grid), dict(weights), _names(mean.components), _names(next(iter(counted))))


# axes of displacement


def _fixed(model: BulkModel) -> tuple[dict[str | int, tuple[str, ...]], list[Tie]]:
    """Return the held degrees of freedom of each node in basic axes, and those along axes of their own."""
    held: dict[int, set[int]] = defaultdict(set)
    for id, component in model.fixed:
        held[id].add(component - 1)
    out: dict[str | int, tuple[str, ...]] = {}
    skew: list[Tie] = []
    for grid in model.grids:
        names: list[str] = []
        for start in (0, 3):
            basic = _basic(grid, held[grid.id], start)
            if basic is None:
                mine = [COMPONENTS[c] for c in sorted(held[grid.id]) if start <= c < start + 3]
                skew.append(Hold(node_name(grid.id), mine, np.array(grid.axes).T.tolist()))
            else:
                names += [COMPONENTS[c] for c in basic]
        if names:
            out[node_name(grid.id)] = tuple(names)
    return out, skew


def _basic(grid: FeGrid, held: set[int], start: int) -> list[int] | None:
    """Return which of three basic components from `start` on are held when some are in the axes of a grid; None for skew ones."""
    mine = [c - start for c in held if start <= c < start + 3]
    if len(mine) in (0, 3):
        return [start + c for c in mine]
    directions = np.abs(np.array(grid.axes)[:, mine])
    if directions.max(axis=0).min() < 1 - ALIGNED:
        return None
    return [start + int(c) for c in directions.argmax(axis=0)]


def _turn(rows: Sequence[Dof], points: dict[int, FeGrid]) -> sparse.csr_array:
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


def _check_rows(data: MatrixSet, M: str, rows: Sequence[Dof], points: dict[int, FeGrid]) -> None:
    n = data[M].shape[0]
    if len(rows) != n:
        raise InputError(
            f"{data.name}: {len(rows)} degrees of freedom for matrices of {n} rows; give one (grid, component) a row: dofs=..."
        )
    if len(set(rows)) < n:
        raise InputError(f"{data.name}: a degree of freedom comes twice in dofs")
    for id, component in rows:
        if not 1 <= component <= 6:
            raise InputError(
                f"{data.name}: degree of freedom ({id}, {component}); expected components 1 to 6 (no scalar points)"
            )
        if id not in points:
            hint = did_you_mean(str(id), map(str, points))
            raise InputError(f"{data.name}: no place of grid {id}; give grids=read_bulk(...).grids; {hint}")
