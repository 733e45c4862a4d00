"""Reading the part of Nastran bulk data that describes grids, beams, rods, shells, masses and what joins them, strictly.

Fields of the cards as in the Nastran quick reference guides. Everything comes out in basic coordinates; what is not read is refused by name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.fe.cards import ROW, Card, Deck
from articulus.model.files.fe.data import (
    BulkModel,
    Dof,
    FeBeam,
    FeGrid,
    FeMaterial,
    FeRod,
    FeSection,
    FeShell,
    LayUp,
    MeanElement,
    Orthotropic,
    PointMass,
    Rigid,
    ScalarElement,
    ShellSection,
    Vector,
)
from articulus.model.files.fe.fields import Fields
from articulus.model.files.fe.frames import BASIC, CoordinateSystem, as_matrix, as_vector, coordinate_systems
from articulus.model.files.fe.joins import mean, rigid, scalar
from articulus.model.files.fe.sections import bar_section, beam_section, material, rod_section
from articulus.model.files.fe.shapes import shaped_section
from articulus.model.files.fe.shells import lay_up, orthotropic, shell_section
from articulus.model.files.storage import StrPath, as_path, load_text

SECTIONS: dict[str, Callable[[Fields, float], FeSection]] = {
    "PBAR": bar_section,
    "PBEAM": beam_section,
    "PBARL": shaped_section,
    "PBEAML": shaped_section,
    "PROD": rod_section,
}
"""Reader of each property card of beams and rods."""

SHELL_SECTIONS = ("PSHELL", "PCOMP")

PROPERTIES = {
    "CBAR": ("PBAR", "PBARL"),
    "CBEAM": ("PBEAM", "PBEAML"),
    "CROD": ("PROD",),
    "CQUAD4": SHELL_SECTIONS,
    "CQUAD8": SHELL_SECTIONS,
    "CTRIA3": SHELL_SECTIONS,
}
"""Property cards of which an element needs one."""

SHELL_GRIDS = {"CTRIA3": 3, "CQUAD4": 4, "CQUAD8": 8}
"""Grids of each card of shells."""

JOINS: dict[str, Callable[[Fields], Rigid | MeanElement | ScalarElement]] = {
    "RBE2": rigid,
    "RBE3": mean,
    "CELAS2": scalar,
    "CMASS2": scalar,
}
"""Reader of each card that joins grids."""

SYSTEMS = ("CORD2R", "CORD2C", "CORD2S")

CARDS = (
    "ASET", "ASET1", "CONM2", "GRDSET", "GRID", "MAT1", "MAT8", "SPC", "SPC1", "SPOINT",
    *SYSTEMS, *SECTIONS, *SHELL_SECTIONS, *PROPERTIES, *JOINS,
)  # fmt: skip
"""Cards that are read."""

IGNORED = ("PARAM", "EIGR", "EIGRL", "FREQ", "FREQ1", "TSTEP", "FORCE", "MOMENT", "GRAV", "LOAD")
"""Cards that say how to solve or what to load, not what the structure is: read over, with a note."""

PARALLEL = 1e-6
"""Sine of the angle between a beam and its orientation vector below which they count as parallel."""

SCALAR_MASS = "CMASS2"

T = TypeVar("T")
Stuff = FeMaterial | Orthotropic
Property = tuple[str, FeSection | ShellSection | LayUp, FeMaterial]
Member = FeBeam | FeRod | PointMass | FeShell | Rigid | MeanElement | ScalarElement


def read_bulk(path: StrPath, *, spc: int | None = None) -> BulkModel:
    """Return the model of a bulk-data file; raise ModelError with everything that is wrong in it.

    Parameters
    ----------
    path : path
        The file; UTF-8, at most 64 MB, with or without executive and case control. Included files have to lie in its
        folder.
    spc : int
        The constraint set that holds; else the one that the case control selects, or the only one.
    """
    place = as_path(path)
    return parse_bulk(load_text(place), place.name, spc=spc, folder=place.parent)


def parse_bulk(
    text: str, name: str = "model.bdf", *, spc: int | None = None, folder: Path | None = None
) -> BulkModel:
    """Return the model of a bulk-data text, as `read_bulk` does; `name` stands for the file in messages."""
    if spc is not None and (not isinstance(spc, int) or isinstance(spc, bool)):
        raise InputError(f"spc: found {spc!r}; expected the id of a constraint set, or None")
    deck = Deck(name, folder)
    deck.read(text)
    return _Reader(deck).model(spc)


class _Reader:
    """The cards of a deck on their way to a BulkModel."""

    def __init__(self, deck: Deck):
        self.deck = deck
        self.findings = deck.findings
        self.notes: list[str] = []
        self.cards: dict[str, list[Card]] = defaultdict(list)
        for card in deck.cards:
            self.cards[card.name].append(card)

    def model(self, spc: int | None) -> BulkModel:
        self._unread()
        self.scale = self._mass_scale()
        self.systems = coordinate_systems([c for n in SYSTEMS for c in self.cards[n]], self.findings)
        self._default_grid()
        self.grids = self._each(("GRID",), self._grid)
        self.points = self._scalar_points()
        self.materials = self._each(("MAT1", "MAT8"), self._material)
        self.properties = self._each((*SECTIONS, *SHELL_SECTIONS), self._property)
        elements = self._each((*PROPERTIES, "CONM2", *JOINS), self._element)
        fixed = self._constraints(spc)
        retained = self._retained_dofs()
        if not self.grids and not self.points and not self.findings:
            self.findings.append(Finding(self.deck.name, "no grid", "bulk data with at least one GRID"))
        if self.findings:
            raise ModelError(sorted(self.findings, key=_place))

        def of(kind: type[T]) -> tuple[T, ...]:
            return tuple(e for _, e in sorted(elements.items()) if isinstance(e, kind))

        heavy = {Fields(c, []).integer(0, "EID") for c in self.cards[SCALAR_MASS]}
        return BulkModel(
            name=Path(self.deck.name).stem,
            grids=tuple(grid for _, grid in sorted(self.grids.items())),
            beams=of(FeBeam),
            rods=of(FeRod),
            masses=of(PointMass),
            shells=of(FeShell),
            springs=tuple(e for e in of(ScalarElement) if e.id not in heavy),
            scalar_masses=tuple(e for e in of(ScalarElement) if e.id in heavy),
            rigids=of(Rigid),
            means=of(MeanElement),
            scalar_points=tuple(sorted(self.points)),
            fixed=tuple(sorted(fixed)),
            retained=tuple(sorted(retained)),
            notes=tuple(self.notes),
        )

    # cards that are not read

    def _unread(self) -> None:
        """Note each kind of card that is unknown, once with its count, and those that are read over."""
        for name, count in Counter(c.name for c in self.deck.cards).items():
            where, times = self.cards[name][0].where(), f" ({count} times)" if count > 1 else ""
            if name in IGNORED and name != "PARAM":
                self.notes.append(f"{where}: {name}{times} is read over")
            elif name not in CARDS and name != "PARAM":
                known = (*CARDS, *IGNORED)
                hint = "Read it with read_dmig." if name == "DMIG" else did_you_mean(name, known)
                self.findings.append(
                    Finding(where, f"the card {name[:20]!r}{times}", "a card that is read here", hint)
                )

    def _mass_scale(self) -> float:
        """Return what PARAM,WTMASS multiplies masses with; other parameters are noted."""
        scale = 1.0
        for card in self.cards["PARAM"]:
            if card.get(0).upper() == "WTMASS":
                scale = Fields(card, self.findings).positive(1, "V1")
            else:
                self.notes.append(f"{card.where()}: PARAM {card.get(0)} is read over")
        return scale

    # objects by their ids

    def _each(self, names: tuple[str, ...], build: Callable[[Fields], T]) -> dict[int, T]:
        """Return an object for each card of these names; ids have to differ."""
        out: dict[int, T] = {}
        first: dict[int, str] = {}
        for card in [c for name in names for c in self.cards[name]]:
            f = Fields(card, self.findings)
            id = f.integer(0, "ID")
            made = build(f)
            if id in out:
                f.refuse(0, "ID", f"a second {id}, the first at {first[id]}", "ids that differ")
            else:
                out[id], first[id] = made, card.where()
        return out

    def _system(self, f: Fields, index: int, label: str) -> CoordinateSystem:
        id = f.integer(index, label, 0, 0)
        if id not in self.systems:
            f.refuse(
                index,
                label,
                f"system {id}",
                f"0, or the id of a {', '.join(SYSTEMS)}",
                self._nearest(id, self.systems),
            )
        return self.systems.get(id, BASIC)

    def _nearest(self, id: int, valid: dict[int, T]) -> str:
        return did_you_mean(str(id), map(str, valid))

    def _grid(self, f: Fields) -> FeGrid:
        f.ends(8)
        position = self._system(f, 1, "CP").point(f.vector(2, "X"))
        axes = as_matrix(self._system(f, 5, "CD").axes(position))
        f.components(6, "PS")
        return FeGrid(f.integer(0, "ID"), position, axes)

    def _default_grid(self) -> None:
        """Put what a GRDSET card gives into the fields CP, CD and PS that GRID cards leave blank."""
        cards = self.cards["GRDSET"]
        for card in cards[1:]:
            Fields(card, self.findings).refuse(0, "GRDSET", "a second one", "at most one")
        for card in self.cards["GRID"] if cards else ():
            card.fields += [""] * (ROW - len(card.fields))
            for index in (1, 5, 6):
                card.fields[index] = card.fields[index] or cards[0].get(index)

    def _scalar_points(self) -> set[int]:
        points: set[int] = set()
        for card in self.cards["SPOINT"]:
            f = Fields(card, self.findings)
            for id in f.ids(0):
                if id in self.grids:
                    f.refuse(0, "ID", f"{id}, which is a GRID", "ids that differ")
                points.add(id)
        return points

    def _material(self, f: Fields) -> Stuff:
        if f.card.name == "MAT8":
            return orthotropic(f, self.scale)
        if f.card.get(7):
            self.notes.append(f"{f.card.where(7)}: MAT1 {f.card.get(0)}: the damping GE is read over")
        return material(f, self.scale)

    def _material_at(self, f: Fields, index: int, label: str) -> Stuff:
        id = f.integer(index, label)
        if id not in self.materials:
            f.refuse(
                index, label, f"material {id}", "the id of a MAT1 or MAT8", self._nearest(id, self.materials)
            )
        return self.materials.get(id, FeMaterial(id, 1.0, 1.0, 0.0))

    def _property(self, f: Fields) -> Property:
        nothing = FeMaterial(0, 1.0, 1.0, 0.0)
        if f.card.name == "PSHELL":
            section = shell_section(f, self.scale, self._material_at)
            return f.card.name, section, nothing
        if f.card.name == "PCOMP":
            return f.card.name, lay_up(f, self.scale, self._material_at, self.notes.append), nothing
        id = f.integer(1, "MID")
        stuff = self.materials.get(id)
        if not isinstance(stuff, FeMaterial):
            found = f"material {id}" if stuff is None else f"material {id}, a MAT8"
            f.refuse(1, "MID", found, "the id of a MAT1", self._nearest(id, self.materials))
            stuff = nothing
        return f.card.name, SECTIONS[f.card.name](f, self.scale), stuff

    # elements

    def _element(self, f: Fields) -> Member:
        if f.card.name == "CONM2":
            return self._mass(f)
        if f.card.name in JOINS:
            return self._join(f)
        if f.card.name in SHELL_GRIDS:
            return self._shell(f)
        section, stuff = self._section(f)
        assert isinstance(section, FeSection)
        a, b = self._grid_at(f, 2, "GA"), self._grid_at(f, 3, "GB")
        id, ends = f.integer(0, "EID"), (a.id, b.id)
        if f.card.name == "CROD":
            f.ends(4)
            self._along(f, a, b)
            return FeRod(id, ends, section, stuff)
        pins = self._pins(f, 8, "PA"), self._pins(f, 9, "PB")
        for shared in sorted({1, 4} & set(pins[0]) & set(pins[1])):
            f.refuse(
                9, "PB", f"{shared}, released at both ends", "an end that holds it: the beam would be loose"
            )
        wa, wb = (np.array(g.axes) @ f.vector(i, "W") for g, i in ((a, 10), (b, 13)))
        f.zeros(16, 17, "SA, SB", "Warping is not read.")
        f.ends(18)
        along = self._along(f, a, b, wb - wa)
        offsets = as_vector(wa), as_vector(wb)
        return FeBeam(id, ends, self._orientation(f, a, along), section, stuff, pins, offsets)

    def _along(self, f: Fields, a: FeGrid, b: FeGrid, more: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the vector from end A to end B; note when it is zero."""
        along = np.subtract(b.position, a.position) + more
        if f.ok and not np.linalg.norm(along) > 0:
            f.refuse(3, "GB", f"grids {a.id} and {b.id} at the same place", "an element with a length")
        return along

    def _pins(self, f: Fields, index: int, label: str) -> tuple[int, ...]:
        return tuple(c for c in f.components(index, label) if c)

    def _join(self, f: Fields) -> Rigid | MeanElement | ScalarElement:
        made = JOINS[f.card.name](f)
        if isinstance(made, Rigid):
            used = [made.grid, *made.dependents]
        elif isinstance(made, MeanElement):
            used = [made.grid, *(g for _, _, grids in made.sets for g in grids)]
        else:
            used = [end[0] for end in (made.first, made.second) if end]
        for id in used:
            if f.ok and id not in self.grids:
                f.refuse(1, "G", f"grid {id}", "the id of a GRID", self._nearest(id, self.grids))
        return made

    def _shell(self, f: Fields) -> FeShell:
        """Return the shell of a CQUAD4, CQUAD8 or CTRIA3 card; thicknesses stand behind the axis of the material, of a CQUAD8 in front of it."""
        section, _ = self._section(f)
        assert isinstance(section, (ShellSection, LayUp))
        count = SHELL_GRIDS[f.card.name]
        grids = [self._grid_at(f, 2 + i, f"G{i + 1}") for i in range(count)]
        if f.ok and len({g.id for g in grids}) < count:
            f.refuse(2, "G1", ", ".join(str(g.id) for g in grids), "grids that differ")
        corners = min(count, 4)
        axis, last = (14, 16) if count == 8 else (2 + count, 10 + count)
        f.zeros(
            10, 9 + corners, "T1 ... T4", "Thicknesses of single corners are not read: give a PSHELL each."
        )
        f.ends(last)
        angle, along = self._material_axis(f, axis, grids)
        offset = f.real(axis + 1, "ZOFFS", 0.0)
        return FeShell(f.integer(0, "EID"), tuple(g.id for g in grids), section, angle, along, offset)

    def _material_axis(self, f: Fields, index: int, grids: list[FeGrid]) -> tuple[float, Vector | None]:
        """Return THETA [rad], or the x axis of the system MCID in the middle of the element."""
        if f.card.get(index).isdigit():
            system = self._system(f, index, "MCID")
            middle = as_vector(np.mean([g.position for g in grids], axis=0))
            return 0.0, as_vector(system.axes(middle)[:, 0])
        return float(np.radians(f.real(index, "THETA", 0.0))), None

    def _section(self, f: Fields) -> tuple[FeSection | ShellSection | LayUp, FeMaterial]:
        kinds = PROPERTIES[f.card.name]
        id = f.integer(1, "PID", f.integer(0, "EID"))
        found = self.properties.get(id)
        if found is None or found[0] not in kinds:
            shown = f"property {id}" if found is None else f"property {id}, a {found[0]}"
            hint = self._nearest(id, {i: p for i, p in self.properties.items() if p[0] in kinds})
            f.refuse(1, "PID", shown, f"the id of a {' or '.join(kinds)}", hint)
            nothing = FeMaterial(0, 1.0, 1.0, 0.0)
            if kinds is SHELL_SECTIONS:
                return ShellSection(id, 1.0, nothing, nothing), nothing
            return FeSection(id, 1.0, 1.0, 1.0), nothing
        return found[1], found[2]

    def _grid_at(self, f: Fields, index: int, label: str) -> FeGrid:
        id = f.integer(index, label)
        if id not in self.grids:
            f.refuse(index, label, f"grid {id}", "the id of a GRID", self._nearest(id, self.grids))
        return self.grids.get(id, FeGrid(id, (0.0, 0.0, 0.0)))

    def _orientation(self, f: Fields, a: FeGrid, along: np.ndarray) -> Vector:
        """Return the unit vector of plane 1: towards a grid, or given in the axes of displacement at end A (or basic)."""
        flag = f.card.get(7).upper() or "GGG"
        if flag not in ("GGG", "BGG"):
            f.refuse(7, "OFFT", repr(flag), "GGG or BGG")
        if f.card.get(4).isdigit() and not f.card.get(5) and not f.card.get(6):
            to = self._grid_at(f, 4, "G0").position
            v = np.subtract(to, a.position)
        else:
            x = f.vector(4, "X")
            v = np.array(x) if flag == "BGG" else np.array(a.axes) @ x
        size, length = float(np.linalg.norm(v)), float(np.linalg.norm(along))
        if f.ok and not np.linalg.norm(np.cross(v, along)) > PARALLEL * size * length:
            found = (
                f"the vector {_show_vector(v)} along the beam {_show_vector(along)}"
                if size
                else "a vector of zeros"
            )
            f.refuse(4, "X1", found, "a direction across the beam, which orients its plane 1")
        return as_vector(v / size) if size else (0.0, 0.0, 1.0)

    def _mass(self, f: Fields) -> PointMass:
        f.ends(15)
        grid = self._grid_at(f, 1, "G")
        x = f.vector(4, "X")
        if f.card.get(2) == "-1":
            system, offset = BASIC, as_vector(np.subtract(x, grid.position))
        else:
            system = self._system(f, 2, "CID")
            if system.kind != "R":
                f.refuse(
                    2, "CID", f.card.get(2), "a CORD2R, 0 or -1", "Other systems are not read for masses."
                )
            offset = as_vector(system.rotation @ x)
        xx, xy, yy, xz, yz, zz = (
            self.scale * f.real(8 + i, label, 0.0)
            for i, label in enumerate(("I11", "I21", "I22", "I31", "I32", "I33"))
        )
        inertia = np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])
        lowest = float(np.linalg.eigvalsh(inertia)[0])
        if lowest < -1e-9 * float(abs(inertia).max()):
            f.refuse(8, "I11", f"an inertia with the moment {lowest:.6g}", "moments that are not negative")
        turned = system.rotation @ inertia @ system.rotation.T
        mass = self.scale * f.real(3, "M", 0.0, 0.0)
        return PointMass(f.integer(0, "EID"), grid.id, mass, offset, as_matrix(turned))

    # sets of degrees of freedom

    def _dofs(
        self, f: Fields, id: int, components: tuple[int, ...], index: int, ranged: bool = False
    ) -> list[Dof]:
        """Return degrees of freedom of a grid or scalar point; note one that is not there, unless it is inside a range."""
        if id in self.points:
            if components not in ((0,), (1,)):
                f.refuse(index, "C", "".join(map(str, components)), f"0 or 1: {id} is a scalar point")
            return [(id, 0)]
        if id not in self.grids:
            if not ranged:
                f.refuse(
                    index, "G", f"grid {id}", "the id of a GRID or SPOINT", self._nearest(id, self.grids)
                )
            return []
        if components == (0,):
            f.refuse(index, "C", "no component", f"digits of 1 to 6: {id} is a grid")
            return []
        return [(id, c) for c in components]

    def _constraints(self, spc: int | None) -> set[Dof]:
        """Return the degrees of freedom that are held: those of the chosen set, and the permanent ones of the grids."""
        cards = [*self.cards["SPC"], *self.cards["SPC1"]]
        sets: dict[int, set[Dof]] = defaultdict(set)
        for card in cards:
            f = Fields(card, self.findings)
            sets[f.integer(0, "SID")] |= self._single(f) if card.name == "SPC" else self._common(f, 1)
        held = set(sets.get(self._constraint_set(spc, sets), ()))
        for card in self.cards["GRID"]:
            f = Fields(card, [])
            held |= {(f.integer(0, "ID"), c) for c in f.components(6, "PS") if c and f.ok}
        return held

    def _single(self, f: Fields) -> set[Dof]:
        """Return the degrees of freedom of an SPC card: up to two grids with their components."""
        out: set[Dof] = set()
        f.ends(7)
        for index in (1, 4):
            if index == 1 or f.card.get(index):
                f.zeros(index + 2, index + 2, "D", "Prescribed displacements are not read.")
                components = f.components(index + 1, "C")
                out |= set(self._dofs(f, f.integer(index, "G"), components, index))
        return out

    def _common(self, f: Fields, first: int) -> set[Dof]:
        """Return the degrees of freedom of an SPC1 or ASET1 card: components, then grids."""
        components = f.components(first, "C")
        out = [d for id in f.ids(first + 1) for d in self._dofs(f, id, components, first + 1, f.range)]
        if not out and f.ok:
            f.refuse(first + 1, "G", "a range without any grid", "ids of GRIDs or SPOINTs")
        return set(out)

    def _constraint_set(self, spc: int | None, sets: dict[int, set[Dof]]) -> int:
        """Return the constraint set that holds; note when it is not there or not told."""
        choices = {spc} if spc is not None else self.deck.chosen or set(sets)
        shown = ", ".join(map(str, sorted(sets))) or "none"
        if len(choices) > 1:
            found = f"the constraint sets {', '.join(map(str, sorted(choices)))}"
            self.findings.append(Finding(self.deck.name, found, "one", "Choose it: spc=..."))
            return 0
        chosen = next(iter(choices), 0)
        if choices and chosen not in sets:
            expected = f"one that SPC or SPC1 cards define: {shown}"
            self.findings.append(Finding(self.deck.name, f"the constraint set {chosen}", expected))
        return chosen

    def _retained_dofs(self) -> set[Dof]:
        out: set[Dof] = set()
        for card in self.cards["ASET1"]:
            out |= self._common(Fields(card, self.findings), 0)
        for card in self.cards["ASET"]:
            f = Fields(card, self.findings)
            for index in range(0, len(card.fields), 2):
                if card.get(index):
                    out |= set(self._dofs(f, f.integer(index, "ID"), f.components(index + 1, "C"), index))
        return out


def _show_vector(v: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:g}" for x in v) + ")"


def _place(finding: Finding) -> tuple[str, int]:
    """Return file and line of a finding, to sort by."""
    name, _, rest = finding.where.partition(":")
    digits = rest.partition(":")[0]
    return name, int(digits) if digits.isdecimal() else 0
