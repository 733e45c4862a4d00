"""Writing bulk data: a model as Nastran reads it, and a straight beam to begin with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from articulus.errors import InputError
from articulus.model.files.fe.data import (
    IDENTITY,
    BulkModel,
    FeBeam,
    FeGrid,
    FeMaterial,
    FeRod,
    FeSection,
    FeShell,
    LayUp,
    Matrix3,
    MeanElement,
    Orthotropic,
    PointMass,
    ScalarElement,
    ShellSection,
)
from articulus.model.files.storage import StrPath, write_text

CONSTRAINTS = 1
"""Id of the set of held degrees of freedom that is written."""

WIDTH = 16
"""Columns of a large field."""


def write_bulk(path: StrPath, model: BulkModel) -> None:
    """Write a model as a bulk-data file that Nastran and `read_bulk` read; numbers have 16 columns, about 11 digits.

    Parameters
    ----------
    path : path
        The file; replaced whole or not at all.
    model : BulkModel
    """
    write_text(path, bulk_text(model))


def bulk_text(model: BulkModel) -> str:
    """Return a model as bulk data with a normal-modes solution in front, in large fields."""
    systems = _systems(model.grids)
    cards = [_card("PARAM", "COUPMASS", 1)]
    cards += [_system(id, axes) for axes, id in systems.items() if axes != IDENTITY]
    cards += [_grid(g, systems[g.axes]) for g in model.grids]
    cards += [_card("SPOINT", id) for id in model.scalar_points]
    cards += [_material(b.material) for b in model.beams] + [_material(r.material) for r in model.rods]
    cards += [line for b in model.beams for line in _beam(b, {g.id: g.axes for g in model.grids})]
    cards += [line for r in model.rods for line in _rod(r)]
    systems_of_shells = _shell_systems(model, len(systems))
    cards += [_shell_system(id, x) for x, id in systems_of_shells.items()]
    cards += [card for s in model.shells for card in _shell(s, systems_of_shells)]
    cards += [_mass(m) for m in model.masses]
    cards += [_scalar("CELAS2", s) for s in model.springs] + [
        _scalar("CMASS2", m) for m in model.scalar_masses
    ]
    cards += [_card("RBE2", r.id, r.grid, _digits(r.components), *r.dependents) for r in model.rigids]
    cards += [_mean(m) for m in model.means]
    cards += [_card("SPC1", CONSTRAINTS, component or None, id) for id, component in model.fixed]
    cards += [_card("ASET1", component or None, id) for id, component in model.retained]
    control = f"SOL 103\nCEND\nTITLE = {model.name}\n" + (f"SPC = {CONSTRAINTS}\n" if model.fixed else "")
    return control + "BEGIN BULK\n" + "\n".join(dict.fromkeys(cards)) + "\nENDDATA\n"


def beam_model(
    length: float,
    *,
    material: FeMaterial,
    section: FeSection,
    elements: int = 10,
    tip: float = 0.0,
    clamped: bool = True,
    name: str = "beam",
) -> BulkModel:
    """Return a straight beam along x, plane 1 in x-y: grids 1 to `elements` + 1, the first at the origin.

    Parameters
    ----------
    length : float [m]
    material : FeMaterial
    section : Section
    elements : int
    tip : float [kg]
        Point mass at the last grid.
    clamped : bool
        Whether grid 1 is held.
    name : str
    """
    if not length > 0 or elements < 1:
        raise InputError(
            f"beam_model: length {length} and {elements} elements; expected a length and at least one"
        )
    grids = tuple(FeGrid(i + 1, (length * i / elements, 0.0, 0.0)) for i in range(elements + 1))
    y = (0.0, 1.0, 0.0)
    none = ((0.0, 0.0, 0.0),) * 3
    return BulkModel(
        name,
        grids,
        tuple(FeBeam(i, (i, i + 1), y, section, material) for i in range(1, elements + 1)),
        masses=(PointMass(elements + 1, elements + 1, tip, (0.0, 0.0, 0.0), none),) if tip else (),
        fixed=tuple((1, c) for c in range(1, 7)) if clamped else (),
    )


# cards


def _card(name: str, *fields: str | int | float | None) -> str:
    """Return a card in large fields, four a line."""
    texts = ["" if f is None else f if isinstance(f, str) else _number(f) for f in fields]
    rows = [texts[i : i + 4] for i in range(0, len(texts), 4)]
    rows += [[]] * (len(rows) % 2)  # a row is two lines
    heads = [f"{name}*", *["*"] * (len(rows) - 1)]
    return "\n".join(
        (f"{h:<8}" + "".join(f"{t:>{WIDTH}}" for t in row)).rstrip() for h, row in zip(heads, rows)
    )


def _number(value: int | float) -> str:
    """Return a number in at most 16 columns, a real with as many digits as fit."""
    if isinstance(value, int):
        return str(value)
    for digits in range(17, 0, -1):
        text = f"{value:.{digits}G}"
        mantissa, mark, exponent = text.partition("E")
        text = (mantissa if "." in mantissa else f"{mantissa}.") + (f"E{int(exponent):+d}" if mark else "")
        if len(text) <= WIDTH:
            return text
    raise InputError(f"the number {value!r} does not fit {WIDTH} columns")


def _systems(grids: Iterable[FeGrid]) -> dict[Matrix3, int]:
    """Return an id for the axes of every grid; 0 for basic ones."""
    systems = {IDENTITY: 0}
    for grid in grids:
        systems.setdefault(grid.axes, len(systems))
    return systems


def _system(id: int, axes: Matrix3) -> str:
    x, _, z = zip(*axes)
    return _card("CORD2R", id, 0, 0.0, 0.0, 0.0, *z, *x)


def _grid(grid: FeGrid, system: int) -> str:
    return _card("GRID", grid.id, 0, *_reals(grid.position), system)


def _material(m: FeMaterial) -> str:
    return _card("MAT1", m.id, *_reals((m.E, m.G, m.nu, m.rho)))


def _beam(beam: FeBeam, systems: dict[int, Matrix3]) -> tuple[str, str]:
    s = beam.section
    numbers = _reals((s.area, s.I1, s.I2, s.J, s.nsm))
    card = _card("PBAR", s.id, beam.material.id, *numbers, None, *[None] * 8, *_reals((s.k1, s.k2, s.I12)))
    pins = [_digits(p) or None for p in beam.pins]
    axes = (np.array(systems[g]).T for g in beam.grids)
    offsets = [float(x) for R, w in zip(axes, beam.offsets) for x in R @ np.array(w)]
    ends = [*pins, *offsets] if any(pins) or any(offsets) else []
    return card, _card("CBAR", beam.id, s.id, *beam.grids, *_reals(beam.orientation), "BGG", *ends)


def _rod(rod: FeRod) -> tuple[str, str]:
    s = rod.section
    return (
        _card("PROD", s.id, rod.material.id, float(s.area), float(s.J), None, float(s.nsm)),
        _card("CROD", rod.id, s.id, *rod.grids),
    )


def _stuff(m: FeMaterial | Orthotropic) -> str:
    if isinstance(m, FeMaterial):
        return _material(m)
    return _card("MAT8", m.id, *_reals((m.E1, m.E2, m.nu12, m.G12)), *_finite(m.G1Z, m.G2Z), float(m.rho))


def _shell_systems(model: BulkModel, first: int) -> dict[tuple[float, ...], int]:
    """Return an id for each direction along which a shell has its material."""
    out: dict[tuple[float, ...], int] = {}
    for shell in model.shells:
        if shell.along is not None:
            out.setdefault(shell.along, first + len(out))
    return out


def _shell_system(id: int, x: Sequence[float]) -> str:
    z = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    return _card("CORD2R", id, 0, 0.0, 0.0, 0.0, *(float(v) for v in z), *(float(v) for v in x))


def _shell(shell: FeShell, systems: dict[tuple[float, ...], int]) -> list[str]:
    s = shell.section
    if isinstance(s, LayUp):
        cards = [_stuff(layer.material) for layer in s.layers]
        layers = [
            x for y in s.layers for x in (y.material.id, float(y.thickness), float(np.degrees(y.angle)), None)
        ]
        cards.append(
            _card("PCOMP", s.id, float(s.bottom), float(s.nsm), None, None, None, None, None, *layers)
        )
    else:
        cards = [_stuff(m) for m in (s.membrane, s.bending, s.shear) if m is not None]
        cards.append(_pshell(s))
    axis = float(np.degrees(shell.angle)) if shell.along is None else systems[shell.along]
    name = {3: "CTRIA3", 4: "CQUAD4", 8: "CQUAD8"}[len(shell.grids)]
    thicknesses = [None] * 4 if name == "CQUAD8" else []
    return [*cards, _card(name, shell.id, s.id, *shell.grids, *thicknesses, axis, float(shell.offset))]


def _pshell(s: ShellSection) -> str:
    ids = [None if m is None else m.id for m in (s.membrane, s.bending, s.shear)]
    shear = (None, None) if s.shear is None else (ids[2], float(s.shear_ratio))
    return _card("PSHELL", s.id, ids[0], float(s.thickness), ids[1], float(s.ratio), *shear, float(s.nsm))


def _finite(*values: float) -> list[float | None]:
    """Return numbers, None for infinite ones: Nastran reads a blank modulus of transverse shear so."""
    return [None if math.isinf(v) else float(v) for v in values]


def _scalar(name: str, s: ScalarElement) -> str:
    return _card(name, s.id, float(s.value), *s.first, *(s.second or ()))


def _mean(m: MeanElement) -> str:
    sets: list[str | int | float] = []
    for weight, counts, grids in m.sets:
        sets += [float(weight), _digits(counts), *grids]
    return _card("RBE3", m.id, None, m.grid, _digits(m.components), *sets)


def _reals(values: Iterable[float]) -> list[float]:
    """Return numbers as floats: Nastran reads an integer in the field of a real number as a mistake."""
    return [float(x) for x in values]


def _digits(components: Sequence[int]) -> str:
    return "".join(map(str, components))


def _mass(mass: PointMass) -> str:
    (xx, xy, xz), (_, yy, yz), (*_, zz) = mass.inertia
    offset, J = _reals(mass.offset), _reals((xx, -xy, yy, -xz, -yz, zz))
    return _card("CONM2", mass.id, mass.grid, 0, float(mass.mass), *offset, None, *J)
