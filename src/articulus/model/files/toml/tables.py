"""The field tables of `docs/toml.md`, from the declarations of the mechanism's classes."""

from __future__ import annotations

from articulus.declared import Field
from articulus.model.files.toml.beam import BeamTable
from articulus.model.files.toml.fields import CONSTRAINTS, JOINTS, TIME_FUNCTIONS, VISUALS, table_fields
from articulus.model.files.units import UNITS, base_text
from articulus.model.mechanism import Body, Connection, Coupling, Frame, Joint, Limits, LoopJoint, Pose, Rotor

TABLES: dict[str, type] = {
    "body": Body,
    "beam": BeamTable,
    "joint": Connection,
    "frame": Frame,
    "at": Pose,
    "rotor": Rotor,
    "limits": Limits,
    "loop": LoopJoint,
    "coupling": Coupling,
    **CONSTRAINTS,
    **TIME_FUNCTIONS,
    **VISUALS,
}
"""Kind of table in the file, and the class it describes."""

UNLESS_MASSLESS = ((Body, "mass"), (Body, "inertia"))
"""Keys that a file has to give although the classes have a default for them."""

_KINDS = {
    "flag": "true or false",
    "text": "text",
    "refers": "text",
    "pose": "pose",
    "record": "table",
    "function": "function of time",
    "visual": "list of tables",
    "names": "text or list of texts",
}
_SIZES = {
    "1": "number",
    "nv": "one number per degree of freedom",
    "nq": "one number per coordinate",
    "any": "numbers",
}


def field_table(cls: type) -> str:
    """Return a Markdown table of the keys of one kind of TOML table."""
    rows = [
        f"| `{f.name}` | {_shape(f)} | {f.unit} | {_default(cls, f)} | {f.meaning} |"
        for f in table_fields(cls)
    ]
    return "\n".join(["| key | value | unit | without it | meaning |", "|---|---|---|---|---|", *rows])


def joint_table() -> str:
    """Return a Markdown table of the joint types with their own keys and their coordinates."""
    rows = []
    for name, kind in JOINTS.items():
        own = "; ".join(f"`{f.name}` [{f.unit}] {f.meaning}" for f in table_fields(kind))
        rows.append(f"| `{name}` | {kind.nq} | {kind.nv} | {_coordinates(kind)} | {own} |")
    return "\n".join(["| type | nq | nv | coordinates | own keys |", "|---|---|---|---|---|", *rows])


def unit_table() -> str:
    """Return a Markdown table of the known units."""
    rows = [f"| `{name}` | {float(unit.factor):.12g} | {base_text(unit)} |" for name, unit in UNITS.items()]
    return "\n".join(["| unit | SI value | of |", "|---|---|---|", *rows])


def _shape(field: Field) -> str:
    return _KINDS.get(field.kind) or _SIZES.get(field.size) or f"{field.size} numbers"


def _coordinates(kind: type[Joint]) -> str:
    """Return the coordinates of a joint with their units; a lone one, which has no name, by what it is."""
    names = [n or ("angle" if kind.rotational[0] else "displacement") for n in kind.coordinate_names]
    if kind.nq == kind.nv:
        units = [" [rad]" if turns else " [m]" for turns in kind.rotational]
    else:  # a quaternion, then lengths
        units = ["" if i < 4 else " [m]" for i in range(kind.nq)]
    return ", ".join(n + unit for n, unit in zip(names, units))


def _default(cls: type, field: Field) -> str:
    if (cls, field.name) in UNLESS_MASSLESS:
        return "required unless `massless`, `flexible` or `beam`"
    if field.required:
        return "required"
    if field.kind == "pose":
        return "no displacement"
    if field.default in (None, (), "") or field.kind == "record":
        return "none"
    if field.kind == "flag":
        return f"`{str(field.default).lower()}`"
    return f"`{list(field.default)}`" if isinstance(field.default, tuple) else f"`{field.default}`"
