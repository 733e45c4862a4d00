"""The table `beam` of a body in a TOML file: a straight uniform beam in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from articulus.declared import text
from articulus.errors import Finding, InputError
from articulus.model.mechanism import Number, Varying, Vector
from articulus.model.mechanism.modes import Modes
from articulus.model.mechanism.numbers import quantity


@dataclass(frozen=True)
class BeamTable:
    """Keys of the table, with the defaults and meanings of `structure.beam_body`."""

    length: Number = quantity("m", "length; the beam lies along x of the body frame, its root at the origin")
    EI: Vector = quantity("N m^2", "bending stiffness, or those about y and about z", size="any")
    mass_per_length: Number = quantity("kg/m", "mass of a unit of length")
    modes: Number = quantity("-", "bending modes in each plane", default=2)
    planes: str = text("directions of deflection: `y`, `z` or `both`", default="y")
    torsion: Number = quantity("-", "torsion modes; they need `GJ` and `rotary_inertia`", default=0)
    EA: Number | None = quantity("N", "stiffness against stretching", default=None)
    GJ: Number | None = quantity("N m^2", "stiffness against twisting", default=None)
    GA: Vector | None = quantity(
        "N", "shear stiffness along y and z; makes Timoshenko beams", size="any", default=None
    )
    rotary_inertia: Vector = quantity(
        "kg m", "moment of inertia of a unit of length, or those about y and z", size="any", default=(0.0,)
    )
    elements: Number = quantity("-", "finite elements", default=16)
    root: str = text("support of the root: `clamped`, `pinned` or `free`", default="clamped")
    tip: str = text("support of the tip", default="free")
    tip_mass: Number = quantity("kg", "mass of a rigid body at the tip, part of the beam", default=0.0)
    tip_inertia: Vector = quantity(
        "kg m^2", "its moments of inertia about x, y, z", size="3", default=(0.0, 0.0, 0.0)
    )
    damping: Vector = quantity("-", "damping ratio of all modes, or of each", size="any", default=(0.01,))
    level: str = text("`consistent`, `inconsistent` or `ruthless`", default="consistent")

    def body(self) -> Modes:
        """Return the flexible body; raise InputError when a number is none or makes no beam."""
        from articulus.structure import beam_body  # late: SciPy's sparse matrices are slow to import

        held = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "level"}
        counts = {name: _whole(name, held[name]) for name in ("modes", "torsion", "elements")}
        numbers = {name: _one_or_all(held[name]) for name in LISTS}
        return beam_body(**held | counts | numbers).at_level(self.level)  # type: ignore[arg-type]


LISTS = ("EI", "GA", "rotary_inertia", "damping")
"""Keys that hold one number or several."""


def _whole(name: str, value: Any) -> int:
    if isinstance(value, Varying):
        raise InputError(Finding(f"Beam.{name}", "a parameter", "a whole number", field=name))
    if value != int(value):
        raise InputError(Finding(f"Beam.{name}", f"{value:g}", "a whole number", field=name))
    return int(value)


def _one_or_all(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value
