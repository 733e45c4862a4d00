"""Shells of bulk data: MAT8, PSHELL, PCOMP."""

from __future__ import annotations

import math
from collections.abc import Callable

from articulus.model.files.fe.data import Layer, LayUp, Material, Orthotropic, ShellSection
from articulus.model.files.fe.fields import Fields

THIN = "Shells are thin here."
"""Hint where transverse shear is asked for."""

Stuff = Material | Orthotropic
FindMaterial = Callable[[Fields, int, str], Stuff]
"""Material of a card's field; it notes one that is not there."""


def orthotropic(f: Fields, scale: float) -> Orthotropic:
    """Return the material of a MAT8 card; `scale` multiplies masses. Transverse shear, expansion and strength are read over."""
    f.ends(19)
    E1, E2 = f.positive(1, "E1"), f.positive(2, "E2")
    nu12 = f.real(3, "NU12", 0.0)
    if f.ok and not nu12**2 < E1 / E2:
        f.refuse(3, "NU12", f"{nu12:g} with E1 = {E1:g} and E2 = {E2:g}", "less than sqrt(E1 / E2)")
    return Orthotropic(
        f.integer(0, "MID"), E1, E2, nu12, f.real(4, "G12", 0.0, 0.0), scale * f.real(7, "RHO", 0.0, 0.0)
    )


def shell_section(f: Fields, scale: float, find: FindMaterial, note: Callable[[str], None]) -> ShellSection:
    """Return the section of a PSHELL card: membrane (MID1) and bending (MID2) of constant thickness."""
    f.ends(11)
    if f.card.get(3).startswith("-"):
        f.refuse(3, "MID2", f.card.get(3), "the id of a material, or nothing", "Plane strain is not read.")
    if f.card.get(10):
        f.refuse(10, "MID4", f.card.get(10), "nothing: it is not read here", "Give the layers by a PCOMP.")
    if f.card.get(5):
        note(
            f"{f.card.where(5)}: PSHELL {f.card.get(0)}: transverse shear (MID3, TS/T) is read over: shells are thin here"
        )
    materials = [find(f, i, label) if f.card.get(i) else None for i, label in ((1, "MID1"), (3, "MID2"))]
    if materials == [None, None]:
        f.refuse(1, "MID1", "neither MID1 nor MID2", "the id of a MAT1 or MAT8")
    ratio = f.real(4, "12I/T**3", 1.0, 0.0)
    return ShellSection(
        f.integer(0, "PID"), f.positive(2, "T"), materials[0], materials[1], ratio, scale * f.real(7, "NSM", 0.0, 0.0)
    )  # fmt: skip


def lay_up(f: Fields, scale: float, find: FindMaterial) -> LayUp:
    """Return the lay-up of a PCOMP card, symmetric ones written out; failure criteria, damping and temperature are read over."""
    option = f.card.get(7).upper()
    if option not in ("", "SYM"):
        f.refuse(7, "LAM", repr(f.card.get(7)), "nothing or SYM")
    layers: list[Layer] = []
    material, thickness = None, 0.0
    for i in range(8, len(f.card.fields), 4):
        if not any(f.card.get(i + k) for k in range(4)):
            continue
        number = len(layers) + 1
        if f.card.get(i) or material is None:
            material = find(f, i, f"MID{number}")
        if f.card.get(i + 1) or not thickness:
            thickness = f.positive(i + 1, f"T{number}")
        layers.append(Layer(material, thickness, math.radians(f.real(i + 2, f"THETA{number}", 0.0))))
    if not layers:
        f.refuse(8, "MID1", "no layer", "at least one: MID, T, THETA, SOUT")
    if option == "SYM":
        layers += reversed(layers)
    bottom = f.real(1, "Z0", -sum(layer.thickness for layer in layers) / 2)
    return LayUp(f.integer(0, "PID"), tuple(layers), bottom, scale * f.real(2, "NSM", 0.0, 0.0))
