"""The field tables of `docs/toml.md`, from the declarations of the mechanism's classes."""

from __future__ import annotations

from articulus.model.files.toml.beam import Beam
from articulus.model.files.toml.fields import CONSTRAINTS, JOINTS, TIME_FUNCTIONS, VISUALS, Field, fields_of
from articulus.model.files.units import UNITS, base_text
from articulus.model.mechanism import Body, Connection, Coupling, Frame, Joint, Limits, LoopJoint, Pose, Rotor

TABLES: dict[str, type] = {
    "body": Body,
    "beam": Beam,
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

MEANINGS: dict[tuple[type, str], str] = {
    (Body, "massless"): "why the body has neither mass nor inertia",
    (Body, "doubtful"): "why the body has moments that no rigid body has, or an inertia without mass",
    (Body, "visuals"): "what is drawn for it; without any, a skeleton from its joints",
    (Connection, "parent"): "body that carries the joint, or `ground`",
    (Connection, "child"): "body that hangs on it",
    (Connection, "at"): "pose of the joint's frame in the parent's body frame",
    (Connection, "child_at"): "pose of the joint's frame in the child's body frame",
    (Connection, "rotor"): "geared rotor on the parent, for a joint with one degree of freedom",
    (Connection, "limits"): "range of position, largest speed and effort",
    (
        Connection,
        "node",
    ): "station of a flexible parent that carries the joint; `at` is then a pose in the station's frame",
    (
        Connection,
        "massless",
    ): "why the joint moves nothing that has inertia; there is no forward dynamics then",
    (
        Frame,
        "node",
    ): "station of a flexible body that carries the frame; `at` is then a pose in the station's frame",
    (Beam, "planes"): "directions of deflection: `y`, `z` or `both`",
    (Beam, "root"): "support of the root: `clamped`, `pinned` or `free`",
    (Beam, "tip"): "support of the tip",
    (Beam, "level"): "`consistent`, `inconsistent` or `ruthless`",
    (Frame, "body"): "body that carries the frame, or `ground`",
    (Frame, "at"): "pose in the body frame",
}
"""Meaning of the keys that hold no numbers, whose declarations carry none."""

UNLESS_MASSLESS = ((Body, "mass"), (Body, "inertia"))
"""Keys that a file has to give although the classes have a default for them."""

_KINDS = {
    "text": "text",
    "pose": "pose",
    "record": "table",
    "function": "function of time",
    "visuals": "list of tables",
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
        f"| `{f.name}` | {_shape(f)} | {f.unit} | {_default(cls, f)} | {f.meaning or MEANINGS[cls, f.name]} |"
        for f in fields_of(cls)
    ]
    return "\n".join(["| key | value | unit | without it | meaning |", "|---|---|---|---|---|", *rows])


def joint_table() -> str:
    """Return a Markdown table of the joint types with their own keys and their coordinates."""
    rows = []
    for name, kind in JOINTS.items():
        own = "; ".join(f"`{f.name}` [{f.unit}] {f.meaning}" for f in fields_of(kind))
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
    return f"`{list(field.default)}`" if isinstance(field.default, tuple) else f"`{field.default}`"
