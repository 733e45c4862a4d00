"""Sections of bulk data by their shape: PBARL and PBEAML, with the dimensions of the Nastran quick reference guides."""

from __future__ import annotations

import math
from collections.abc import Callable

from articulus.model.files.fe.cards import ROW
from articulus.model.files.fe.data import FeSection
from articulus.model.files.fe.fields import Fields, real
from articulus.structure.section import Section as BeamSection

Numbers = tuple[float, float, float, float, float, float]
"""Area, I1 (of y^2), I2 (of z^2), J, and shear factors K1, K2."""


def rod(r: float) -> Numbers:
    """Solid circle of radius r."""
    I = math.pi * r**4 / 4
    return math.pi * r**2, I, I, 2 * I, 0.9, 0.9


def tube(outer: float, inner: float) -> Numbers:
    """Round tube."""
    I = math.pi * (outer**4 - inner**4) / 4
    return math.pi * (outer**2 - inner**2), I, I, 2 * I, 0.5, 0.5


def bar(width: float, height: float) -> Numbers:
    """Solid rectangle, its width along z and height along y; torsion constant by Saint-Venant's series."""
    J = BeamSection.rectangle(width, height, 1.0, 1.0, 1.0).GJ
    return width * height, width * height**3 / 12, height * width**3 / 12, J, 5 / 6, 5 / 6


def box(width: float, height: float, flange: float, web: float) -> Numbers:
    """Hollow rectangle: thickness of the walls across y (flange) and across z (web); J by Bredt's formula."""
    w, h = width - 2 * web, height - 2 * flange
    area = width * height - w * h
    I1, I2 = (width * height**3 - w * h**3) / 12, (height * width**3 - h * w**3) / 12
    J = 2 * web * flange * (width - web) ** 2 * (height - flange) ** 2
    J /= width * web + height * flange - web**2 - flange**2
    return area, I1, I2, J, 2 * height * web / area, 2 * width * flange / area


def i_beam(height: float, bottom: float, top: float, web: float, t_bottom: float, t_top: float) -> Numbers:
    """I with equal flanges: height along y, widths of flanges along z, thicknesses."""
    clear = height - 2 * t_top
    area = 2 * top * t_top + web * clear
    I1 = (top * height**3 - (top - web) * clear**3) / 12
    I2 = (2 * t_top * top**3 + clear * web**3) / 12
    J = (2 * top * t_top**3 + clear * web**3) / 3
    return area, I1, I2, J, web * height / area, 5 / 3 * top * t_top / area


SHAPES: dict[str, tuple[int, Callable[..., Numbers]]] = {
    "ROD": (1, rod), "TUBE": (2, tube), "BAR": (2, bar), "BOX": (4, box), "I": (6, i_beam),
}  # fmt: skip
"""Number of dimensions and function of each shape."""


def shaped_section(f: Fields, scale: float) -> FeSection:
    """Return the section of a PBARL or PBEAML card."""
    shape = f.card.get(3).upper()
    id = f.integer(0, "PID")
    if shape not in SHAPES:
        f.refuse(
            3,
            "TYPE",
            repr(f.card.get(3)),
            f"one of {', '.join(SHAPES)}",
            "Give its numbers by a PBAR or PBEAM.",
        )
        return FeSection(id, 1.0, 1.0, 1.0)
    count, numbers = SHAPES[shape]
    dims = [f.positive(ROW + i, f"DIM{i + 1}") for i in range(count)]
    f.ends(ROW + count + 1) if f.card.name == "PBARL" else _stations(f, count)
    if not f.ok or not _fits(f, shape, dims):
        return FeSection(id, 1.0, 1.0, 1.0)
    area, I1, I2, J, k1, k2 = numbers(*dims)
    return FeSection(id, area, I1, I2, 0.0, J, scale * f.real(ROW + count, "NSM", 0.0, 0.0), k1, k2)


def _fits(f: Fields, shape: str, dims: list[float]) -> bool:
    """Note dimensions that leave no section."""
    wrong = ""
    if shape == "TUBE" and not dims[1] < dims[0]:
        wrong = "DIM2, the inner radius, less than DIM1"
    if shape == "BOX" and not (2 * dims[2] < dims[1] and 2 * dims[3] < dims[0]):
        wrong = "walls thinner than half of the box"
    if shape == "I" and not (dims[1] == dims[2] and dims[4] == dims[5]):
        wrong = "equal flanges (DIM2 = DIM3, DIM5 = DIM6): others have their centroid off the middle"
    elif shape == "I" and not (dims[3] < dims[1] and 2 * dims[4] < dims[0]):
        wrong = "a web thinner than the flanges are wide, and flanges thinner than half of the height"
    if wrong:
        f.refuse(ROW, "DIM", ", ".join(f"{d:g}" for d in dims), wrong)
    return not wrong


def _stations(f: Fields, count: int) -> None:
    """Note stations of a PBEAML that differ from end A: SO, X/XB, dimensions and NSM of each."""
    start, width = ROW + count + 1, count + 3
    for first in range(start, len(f.card.fields), width):
        for k in range(count + 1):
            here, there = f.card.get(first + 2 + k), f.card.get(ROW + k)
            if here and real(here) != real(there):
                f.refuse(first + 2 + k, f"DIM{k + 1}", here, f"{there} as at end A", "Split a tapered beam.")
