"""Shells of bulk data: MAT8, PSHELL, PCOMP."""

from __future__ import annotations

import math
from collections.abc import Callable

from articulus.model.files.fe.data import FeMaterial, Layer, LayUp, Orthotropic, ShellSection
from articulus.model.files.fe.fields import Fields

SHARE = 5 / 6
"""TS/T of a card that gives none."""
SOFT = 0.01
"""Stiffness of a layer beside the stiffest one below which it is a core."""

Stuff = FeMaterial | Orthotropic
FindMaterial = Callable[[Fields, int, str], Stuff]
"""Material of a card's field; it notes one that is not there."""


def orthotropic(f: Fields, scale: float) -> Orthotropic:
    """Return the material of a MAT8 card; `scale` multiplies masses. Expansion and strength are read over.

    Moduli of transverse shear that are blank or zero are infinite.
    """
    f.ends(19)
    E1, E2 = f.positive(1, "E1"), f.positive(2, "E2")
    nu12 = f.real(3, "NU12", 0.0)
    if f.ok and not nu12**2 < E1 / E2:
        f.refuse(3, "NU12", f"{nu12:g} with E1 = {E1:g} and E2 = {E2:g}", "less than sqrt(E1 / E2)")
    return Orthotropic(
        f.integer(0, "MID"), E1, E2, nu12, f.real(4, "G12", 0.0, 0.0), scale * f.real(7, "RHO", 0.0, 0.0),
        f.real(5, "G1Z", 0.0, 0.0) or math.inf, f.real(6, "G2Z", 0.0, 0.0) or math.inf,
    )  # fmt: skip


def shell_section(f: Fields, scale: float, find: FindMaterial) -> ShellSection:
    """Return the section of a PSHELL card: membrane (MID1), bending (MID2), transverse shear (MID3) of constant thickness."""
    f.ends(11)
    if f.card.get(3).startswith("-"):
        f.refuse(3, "MID2", f.card.get(3), "the id of a material, or nothing", "Plane strain is not read.")
    if f.card.get(10):
        f.refuse(10, "MID4", f.card.get(10), "nothing: it is not read here", "Give the layers by a PCOMP.")
    fields = ((1, "MID1"), (3, "MID2"), (5, "MID3"))
    materials = [find(f, i, label) if f.card.get(i) else None for i, label in fields]
    if materials[2] is not None and materials[1] is None:
        f.refuse(5, "MID3", f.card.get(5), "nothing without MID2: what does not bend has no transverse shear")
    if materials[:2] == [None, None]:
        f.refuse(1, "MID1", "neither MID1 nor MID2", "the id of a MAT1 or MAT8")
    ratio = f.real(4, "12I/T**3", 1.0, 0.0)
    return ShellSection(
        f.integer(0, "PID"), f.positive(2, "T"), materials[0], materials[1], ratio, scale * f.real(7, "NSM", 0.0, 0.0),
        materials[2], f.positive(6, "TS/T") if f.card.get(6) else SHARE,
    )  # fmt: skip


def lay_up(f: Fields, scale: float, find: FindMaterial, note: Callable[[str], None]) -> LayUp:
    """Return the lay-up of a PCOMP card, symmetric ones written out; failure criteria, damping and temperature are read over.

    A soft layer without moduli of transverse shear is noted: Nastran takes them as infinite.
    """
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
    for m in _rigid_cores([layer.material for layer in layers]):
        note(
            f"{f.card.where(0)}: PCOMP {f.card.get(0)}: its soft layers of MAT8 {m.id} do not yield to transverse shear: G1Z and G2Z "
            "are not given, which means infinite"
        )
    bottom = f.real(1, "Z0", -sum(layer.thickness for layer in layers) / 2)
    return LayUp(f.integer(0, "PID"), tuple(layers), bottom, scale * f.real(2, "NSM", 0.0, 0.0))


def _rigid_cores(materials: list[Stuff]) -> list[Orthotropic]:
    """Return the materials of cores, soft beside others, without a modulus of transverse shear."""
    along = [max(m.E1, m.E2) if isinstance(m, Orthotropic) else m.E for m in materials]
    found = {
        m.id: m
        for m, E in zip(materials, along)
        if isinstance(m, Orthotropic) and SOFT * max(along) > E and math.inf in (m.G1Z, m.G2Z)
    }
    return list(found.values())
