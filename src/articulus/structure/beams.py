"""Straight uniform beams in one call, as structures and as flexible bodies. The beam lies along x, its root at the origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import Number, require_count, require_plain
from articulus.structure.element import Element, EulerBernoulli, Lumped, Timoshenko
from articulus.structure.element.base import Node
from articulus.structure.flexible_body import modes_of
from articulus.structure.modal_damping import Damping
from articulus.structure.section import Section
from articulus.structure.solution.normal_modes import normal_modes
from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Components, Structure
from articulus.structure.varying import evaluate_varying

Planes = Literal["y", "z", "both"]
Support = Literal["clamped", "pinned", "free"]

SLENDER = 1e6
"""EA L^2 / EI of a beam whose stiffness against stretching was not given."""


def beam(
    length: float,
    *,
    EI: float | tuple[float, float],
    mass_per_length: float,
    EA: float | None = None,
    GJ: float | None = None,
    GA: float | tuple[float, float] | None = None,
    rotary_inertia: float | tuple[float, float] = 0.0,
    elements: int = 16,
    planes: Planes = "both",
    root: Support = "clamped",
    tip: Support = "free",
    tip_mass: float = 0.0,
    tip_inertia: Sequence[float] = (0.0, 0.0, 0.0),
) -> Structure:
    """Return a straight uniform beam along x with nodes "node0" to "node<elements>".

    Parameters
    ----------
    length : float [m]
        Length of the beam.
    EI : float or two floats [N m^2]
        Bending stiffness, or those about y and about z.
    mass_per_length : float [kg/m]
        Mass per length of the beam.
    EA : float [N]
        Stiffness against stretching; 1e6 EI / length^2 if not given.
    GJ : float [N m^2]
        Stiffness against twisting; without it the beam does not twist.
    GA : float or two floats [N]
        Shear stiffness along y and z, shear coefficient included; it makes the elements Timoshenko's.
    rotary_inertia : float or two floats [kg m]
        Moments of inertia per unit length about y and z; that about x is their sum.
    elements : int
        Number of elements.
    planes : str
        "y" or "z": the beam deflects in this direction only; "both".
    root, tip : str
        "clamped"; "pinned": held in place but free to turn about y and z; "free".
    tip_mass : float [kg]
        Rigid body at the tip.
    tip_inertia : three floats [kg m^2]
        Tip inertia of that body about x, y and z.
    """
    single = {"length": length, "mass_per_length": mass_per_length, "tip_mass": tip_mass}
    require_plain("beam", (0,), **single, EA=0.0 if EA is None else EA, GJ=0.0 if GJ is None else GJ)
    require_plain("beam", (0, 2), EI=EI, GA=np.inf if GA is None else GA, rotary_inertia=rotary_inertia)
    require_plain("beam", (3,), tip_inertia=tip_inertia)
    require_count("beam", elements=elements)
    _check_beam(length, elements, planes, root, tip)
    EIy, EIz = _pair(EI)
    GAy, GAz = _pair(np.inf if GA is None else GA)
    EA = SLENDER * max(EIy, EIz) / length**2 if EA is None else EA
    Jy, Jz = _pair(rotary_inertia)
    section = Section(mass_per_length, EA, EIy, EIz, GJ or 0.0, GAy, GAz, (Jy + Jz, Jy, Jz))
    kind = EulerBernoulli if GA is None else Timoshenko
    parts: list[Element] = [kind(i, i + 1, section) for i in range(elements)]
    if tip_mass or any(tip_inertia):
        parts.append(Lumped(elements, tip_mass, tip_inertia))
    positions = np.zeros((elements + 1, 3))
    positions[:, 0] = np.linspace(0.0, length, elements + 1)
    whole = Structure.assemble(positions, parts)
    bending = {"y": ("y", "rz"), "z": ("z", "ry"), "both": ("y", "z", "ry", "rz")}[planes]
    moving = ("x", *bending, *(("rx",) if GJ else ()))
    still = tuple(name for name in ("x", "y", "z", "rx", "ry", "rz") if name not in moving)
    fixed: dict[Node, Components] = dict.fromkeys(range(elements + 1), still)
    supports: dict[Support, Components] = {"clamped": "all", "pinned": ("x", "y", "z", "rx"), "free": ()}
    at_tip: dict[Support, Components] = {"clamped": "all", "pinned": ("y", "z"), "free": ()}
    return whole.fix(fixed).fix({0: supports[root]}).fix({elements: at_tip[tip]})


def beam_body(
    length: Number,
    *,
    EI: Number | tuple[Number, Number],
    mass_per_length: Number,
    modes: int = 2,
    planes: Planes = "y",
    torsion: int = 0,
    EA: Number | None = None,
    GJ: Number | None = None,
    GA: Number | tuple[Number, Number] | None = None,
    rotary_inertia: Number | tuple[Number, Number] = 0.0,
    elements: int = 16,
    root: Support = "clamped",
    tip: Support = "free",
    tip_mass: Number = 0.0,
    tip_inertia: Sequence[Number] = (0.0, 0.0, 0.0),
    damping: Damping = 0.01,
) -> Modes:
    """Return a straight uniform beam along x as a flexible body, its frame at the root.

    Parameters
    ----------
    modes : int
        Bending modes in each plane of deflection, named "y1", "y2", ..., "z1", ...
    planes : str
        Directions of deflection: "y", "z" or "both".
    torsion : int
        Torsion modes, named "torsion1", ...; they need `GJ` and `rotary_inertia`.
    tip_mass, tip_inertia : float [kg], three floats [kg m^2]
        Rigid body at the tip, part of the flexible body.
    damping : float, sequence of floats or None
        Damping ratio of all modes or of each [-].
    length, EI, mass_per_length, EA, GJ, GA, rotary_inertia, elements, root, tip
        As for `beam`.

    Every number but the counts may be a `Parameter` with a range or an expression of some; the body is then prepared over the
    ranges (`varying_body`).

    Stations: "root", "middle" (for an even number of elements), "tip", "node0" ... Modal coordinates have unit modal mass.
    With `root` "pinned" and `tip` "free" the frame follows the mean rotation of the beam about its root, with both "free"
    its mean motion.
    """
    if not isinstance(tip, str):
        raise InputError(
            f"beam_body, tip: found {tip!r}; expected 'clamped', 'pinned' or 'free', the support of the tip. A mass at the tip is `tip_mass`"
        )
    return evaluate_varying(_beam_body, locals())


def _beam_body(
    length: float,
    *,
    modes: int,
    planes: Planes,
    torsion: int,
    GJ: float | None,
    rotary_inertia: float | tuple[float, float],
    elements: int,
    tip_inertia: Sequence[float],
    damping: Damping,
    **others: Any,
) -> Modes:
    """Return the body of plain numbers."""
    require_plain("beam_body", (0,), GJ=0.0 if GJ is None else GJ)
    require_plain("beam_body", (0, 2), rotary_inertia=rotary_inertia)
    require_plain("beam_body", (3,), tip_inertia=tip_inertia)
    require_count("beam_body", modes=modes, torsion=torsion)
    if torsion and not (GJ and (np.any(rotary_inertia) or tip_inertia[0])):
        raise InputError(
            "beam_body: torsion modes need GJ, and an inertia that twists: rotary_inertia or tip_inertia"
        )
    whole = beam(
        length, GJ=GJ if torsion else None, rotary_inertia=rotary_inertia, elements=elements, planes=planes,
        tip_inertia=tip_inertia, **others,
    )  # fmt: skip
    wanted = {"y": ((1, 5), modes), "z": ((2, 4), modes), "torsion": ((3,), torsion)}
    shapes, names = [], []
    for name, (family, count) in wanted.items():
        if not count or (name in "yz" and planes not in (name, "both")):
            continue
        mine = np.flatnonzero(np.isin(whole.dofs[:, 1], family))
        lowest = _lowest(whole.keep(mine), count)
        columns = np.zeros((whole.count, count))
        columns[mine] = lowest
        shapes.append(columns)
        names += [f"{name}{k + 1}" for k in range(count)]
    stations: dict[str, Node] = {"root": 0, "tip": elements}
    if elements % 2 == 0:
        stations["middle"] = elements // 2
    stations |= {name: name for name in whole.names}
    basis = np.hstack(shapes) if shapes else np.zeros((whole.count, 0))
    return modes_of(whole, basis, origin=0, stations=stations, damping=damping, names=names)


def _lowest(structure: Structure, count: int) -> np.ndarray:
    """Return the elastic modes of lowest frequency, positive at the tip."""
    rigid = rigid_motions(structure).shape[1]
    if count + rigid > structure.count:
        raise InputError(
            f"beam_body: {count} modes asked of {structure.count} degrees of freedom, {rigid} of them rigid; give more elements"
        )
    shapes = normal_modes(structure, count + rigid).shapes[:, rigid:]
    tip = structure.dofs[:, 0].max()
    last = np.flatnonzero(structure.dofs[:, 0] == tip)[0]
    return shapes * np.where(shapes[last] < 0, -1.0, 1.0)


def _pair(given: float | tuple[float, float]) -> tuple[float, float]:
    first, second = np.broadcast_to(np.asarray(given, dtype=float), (2,))
    return float(first), float(second)


def _check_beam(length: float, elements: int, planes: str, root: str, tip: str) -> None:
    if not length > 0:
        raise InputError(f"beam: length = {length}; expected metres, more than zero")
    if elements < 1:
        raise InputError(f"beam: elements = {elements}; expected at least one")
    if planes not in ("y", "z", "both"):
        raise InputError(
            f"beam: planes = {planes!r}; expected 'y', 'z' or 'both', the directions of deflection"
        )
    for name, held in (("root", root), ("tip", tip)):
        if held not in ("clamped", "pinned", "free"):
            raise InputError(f"beam: {name} = {held!r}; expected 'clamped', 'pinned' or 'free'")
