"""Materials and properties of bulk data: MAT1, PBAR, PBEAM of constant section, PROD."""

from __future__ import annotations

from articulus.model.files.fe.cards import ROW
from articulus.model.files.fe.data import FeMaterial, FeSection
from articulus.model.files.fe.fields import Fields, real

CONSTANT = "Only sections that stay the same along the beam are read: split a tapered beam."


def material(f: Fields, scale: float) -> FeMaterial:
    """Return the material of a MAT1 card; `scale` multiplies masses. What is blank follows from E = 2 G (1 + nu)."""
    f.integer(0, "MID")
    f.ends(12)
    given = {label: bool(f.card.get(i)) for i, label in ((1, "E"), (2, "G"), (3, "NU"))}
    if sum(given.values()) < 2:
        f.refuse(
            2, "G", ", ".join(k for k in given if given[k]) or "neither E, G nor NU", "two of E, G and NU"
        )
        return FeMaterial(f.integer(0, "MID"), 1.0, 1.0, 0.0)
    E = f.positive(1, "E") if given["E"] else 0.0
    G = f.positive(2, "G") if given["G"] else 0.0
    nu = f.real(3, "NU", 0.0, -1.0)
    E = E if given["E"] else 2 * G * (1 + nu)
    G = G if given["G"] else E / (2 * (1 + nu)) if nu > -1 else E
    nu = nu if given["NU"] else E / (2 * G) - 1
    return FeMaterial(f.integer(0, "MID"), E, G, nu, scale * f.real(4, "RHO", 0.0, 0.0))


def bar_section(f: Fields, scale: float) -> FeSection:
    """Return the section of a PBAR card; stress points are read over, no K1 or K2 means no shear deformation."""
    f.ends(19)
    _check_moments(f, 3, 4, 18)
    return FeSection(
        f.integer(0, "PID"),
        f.positive(2, "A"),
        f.positive(3, "I1"),
        f.positive(4, "I2"),
        f.real(18, "I12", 0.0),
        f.real(5, "J", 0.0, 0.0),
        scale * f.real(6, "NSM", 0.0, 0.0),
        f.real(16, "K1", 0.0, 0.0),
        f.real(17, "K2", 0.0, 0.0),
    )


def beam_section(f: Fields, scale: float) -> FeSection:
    """Return the section of a PBEAM card whose stations all equal end A; K1 and K2 are 1 when they are not given."""
    row = _stations(f)
    f.zeros(row + 2, row + 3, "S1, S2", CONSTANT)
    f.zeros(row + 4, row + 15, "NSI, CW, M, N", "Warping and offset axes are not read.")
    f.ends(row + 16)
    _check_moments(f, 3, 4, 5)
    return FeSection(
        f.integer(0, "PID"),
        f.positive(2, "A"),
        f.positive(3, "I1"),
        f.positive(4, "I2"),
        f.real(5, "I12", 0.0),
        f.real(6, "J", 0.0, 0.0),
        scale * f.real(7, "NSM", 0.0, 0.0),
        f.real(row, "K1", 1.0, 0.0),
        f.real(row + 1, "K2", 1.0, 0.0),
    )


def _check_moments(f: Fields, I1: int, I2: int, I12: int) -> None:
    """Note second moments that no section has."""
    a, b, c = (real(f.card.get(i)) or 0.0 for i in (I1, I2, I12))
    if a > 0 and b > 0 and not a * b > c**2:
        f.refuse(I12, "I12", f"{c:g}, beside I1 = {a:g} and I2 = {b:g}", "I1 I2 > I12^2")


def _stations(f: Fields) -> int:
    """Note stations that differ from end A; return the index of the row with K1."""
    row = ROW
    if f.card.get(row).upper() not in ("YES", "YESA", "NO"):
        row += ROW  # stress points of end A
    while (kind := f.card.get(row).upper()) in ("YES", "YESA", "NO"):
        for i, label in enumerate(("A", "I1", "I2", "I12", "J", "NSM"), 2):
            here, there = real(f.card.get(row + i)), real(f.card.get(i)) or 0.0
            if f.card.get(row + i) and here != there:
                f.refuse(row + i, label, f.card.get(row + i), f"{there:g} as at end A", CONSTANT)
        row += 2 * ROW if kind == "YES" else ROW
    return row


def rod_section(f: Fields, scale: float) -> FeSection:
    """Return area, torsion constant and mass of a PROD card."""
    f.ends(6)
    area, J = f.positive(2, "A"), f.real(3, "J", 0.0, 0.0)
    return FeSection(f.integer(0, "PID"), area, 0.0, 0.0, J=J, nsm=scale * f.real(5, "NSM", 0.0, 0.0))
