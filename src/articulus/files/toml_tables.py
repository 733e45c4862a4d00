"""The field tables of `docs/toml.md`, from the declarations of the mechanism's classes."""

from __future__ import annotations

from articulus.files.toml_fields import JOINTS, Field, fields_of
from articulus.files.units import UNITS, base_text
from articulus.mechanism import Body, Connection, Frame, Limits, Pose, Rotor

TABLES: dict[str, type] = {
    "body": Body,
    "joint": Connection,
    "frame": Frame,
    "at": Pose,
    "rotor": Rotor,
    "limits": Limits,
}
"""Kind of table in the file, and the class it describes."""

_KINDS = {"text": "text", "pose": "pose", "record": "table"}
_SIZES = {"1": "number", "nv": "one number a freedom"}


def field_table(cls: type) -> str:
    """Return a Markdown table of the keys of one kind of TOML table."""
    rows = [
        f"| `{f.name}` | {_shape(f)} | {f.unit or ''} | {_default(f)} | {f.meaning} |" for f in fields_of(cls)
    ]
    return "\n".join(["| key | value | unit | without it | meaning |", "|---|---|---|---|---|", *rows])


def joint_table() -> str:
    """Return a Markdown table of the joint types with their own keys and their coordinates."""
    rows = []
    for name, kind in JOINTS.items():
        own = "; ".join(f"`{f.name}` [{f.unit}] {f.meaning}" for f in fields_of(kind))
        q = ", ".join(n or name for n in kind.coordinate_names)
        rows.append(f"| `{name}` | {kind.nq} | {kind.nv} | {q} | {own} |")
    return "\n".join(["| type | nq | nv | coordinates | own keys |", "|---|---|---|---|---|", *rows])


def unit_table() -> str:
    """Return a Markdown table of the known units."""
    rows = [f"| `{name}` | {float(unit.factor):.12g} | {base_text(unit)} |" for name, unit in UNITS.items()]
    return "\n".join(["| unit | SI value | of |", "|---|---|---|", *rows])


def _shape(field: Field) -> str:
    return _KINDS.get(field.kind) or _SIZES.get(field.size) or f"{field.size} numbers"


def _default(field: Field) -> str:
    if field.required:
        return "required"
    if field.kind == "pose":
        return "no displacement"
    if field.default in (None, (), "") or field.kind == "record":
        return "none"
    return f"`{list(field.default)}`" if isinstance(field.default, tuple) else f"`{field.default}`"
