"""Writing the TOML format of mechanisms (schema 1, `docs/toml.md`), without loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from articulus.declared import Field
from articulus.errors import InputError
from articulus.model.files.mesh.export import mesh_bytes, mesh_files, meshes_of
from articulus.model.files.modes_file import modes_bytes
from articulus.model.files.storage import StrPath, as_path, write_bytes, write_text
from articulus.model.files.toml.couplings import coupling_pairs
from articulus.model.files.toml.equipment import equipment_blocks
from articulus.model.files.toml.fields import CONSTRAINTS, JOINTS, TIME_FUNCTIONS, table_fields
from articulus.model.files.toml.numbers import parameter_text
from articulus.model.files.toml.texts import BARE, key, long_text, quote
from articulus.model.mechanism import (
    Body,
    Connection,
    Constraint,
    Coupling,
    Description,
    Frame,
    Joint,
    LoopJoint,
    Mesh,
    Parameter,
    ParameterExpression,
    Pose,
    TimeFunction,
    Visual,
)
from articulus.model.mechanism.expression import text_of
from articulus.model.mechanism.modes import Modes


def write_toml(description: Description, path: StrPath) -> None:
    """Write a mechanism as a TOML file; reading it back gives an equal mechanism. Written whole or not at all.

    Modes of flexible bodies and meshes go to files beside it, before it: crane.toml has crane.boom.npz, crane.mesh0.obj.
    """
    place = as_path(path)
    stem = f"{place.name.removesuffix('.toml')}."
    text = toml_text(description, stem)
    for filename, content in attached_files(description, stem).items():
        write_bytes(place.parent / filename, content)
    write_text(path, text)


def attached_files(description: Description, stem: str = "") -> dict[str, bytes]:
    """Return the files that the text of a mechanism refers to, content by name; equal modes and equal meshes have one each."""
    modes, meshes = _mode_files(description, stem), mesh_files(description, stem)
    out = {modes[b.name]: modes_bytes(b.modes) for b in description.bodies if b.modes is not None}
    return out | {meshes[m.geometry]: mesh_bytes(m) for m in meshes_of(description)}


def _mode_files(description: Description, stem: str) -> dict[str, str]:
    """Return the file of the modes of each flexible body: that of the first body with equal modes."""
    first: dict[Modes, str] = {}
    for i, b in enumerate(description.bodies):
        if b.modes is not None:
            plain = b.name if BARE.fullmatch(b.name) else f"body {i}"
            first.setdefault(b.modes, f"{stem}{plain}.npz")
    return {b.name: first[b.modes] for b in description.bodies if b.modes is not None}


def toml_text(description: Description, stem: str = "") -> str:
    """Return a mechanism as TOML text; parsing it gives an equal mechanism.

    Modes of flexible bodies and meshes are not part of the text, which names files for them (`attached_files`).
    """
    files, meshes = _mode_files(description, stem), mesh_files(description, stem)
    blocks = ["\n".join(_top(description, meshes))]
    if description.parameters:
        blocks.append("\n".join(["[parameters]", *map(parameter_text, description.parameters)]))
    blocks += ["\n".join(_body(b, files, meshes)) for b in description.bodies]
    blocks += ["\n".join(_connection(c)) for c in description.connections]
    blocks += ["\n".join(_frame(f)) for f in description.frames]
    blocks += ["\n".join(_constraint(c)) for c in description.constraints]
    blocks += ["\n".join(_coupling(c)) for c in description.couplings]
    blocks += equipment_blocks(description.equipment)
    return "\n\n".join(blocks) + "\n"


def _top(description: Description, meshes: Mapping[str, str]) -> Iterator[str]:
    yield "schema = 1"
    yield f"name = {quote(description.name)}"
    if description.source:
        yield f"source = {long_text(description.source)}"
    yield f"gravity = {_vector(description.gravity)}"
    yield from _visuals(description.visuals, meshes)


def _body(body: Body, files: Mapping[str, str], meshes: Mapping[str, str]) -> Iterator[str]:
    yield f"[body.{key(body.name)}]"
    if body.modes is not None:
        yield f"flexible = {quote(files[body.name])}"
        return
    always = ("com", "massless") if body.massless else ("mass", "com", "inertia")
    yield from _pairs(body, always, skip=("visuals",))
    yield from _visuals(body.visuals, meshes)


def _visuals(visuals: tuple[Visual, ...], meshes: Mapping[str, str]) -> Iterator[str]:
    """Yield the list of what is drawn, a line a shape."""
    if visuals:
        yield "visuals = ["
        for v in visuals:
            own = [f"file = {quote(meshes[v.geometry])}"] if isinstance(v, Mesh) else []
            yield "    {" + ", ".join([f"type = {quote(v.type_name)}", *own, *_pairs(v, ())]) + "},"
        yield "]"


def _connection(connection: Connection) -> Iterator[str]:
    yield f"[joint.{key(connection.name)}]"
    yield from _joint_pairs(connection, connection.joint)


def _joint_pairs(thing: Connection | LoopJoint, joint: Joint) -> Iterator[str]:
    """Yield the pairs of a joint in its place."""
    if JOINTS.get(joint.type_name) is not type(joint):
        raise InputError(f"joint '{thing.name}': a {type(joint).__name__} has no name in TOML files")
    yield f"type = {quote(joint.type_name)}"
    own = [f.name for f in table_fields(type(joint))]
    yield from _pairs(thing, ("parent", "child"), only=("parent", "child"))
    yield from _pairs(joint, tuple(own))
    yield from _pairs(thing, (), skip=("parent", "child"))


def _frame(frame: Frame) -> Iterator[str]:
    yield f"[frame.{key(frame.name)}]"
    yield from _pairs(frame, ("body",))


def _constraint(constraint: Constraint) -> Iterator[str]:
    yield f"[{constraint.table}.{key(constraint.name)}]"
    if isinstance(constraint, LoopJoint):
        yield from _joint_pairs(constraint, constraint.joint)
        return
    yield from constraint_pairs(constraint)


def constraint_pairs(constraint: Constraint) -> Iterator[str]:
    """Yield type and keys of a constraint but for its name; raise InputError if it cannot be written to a file."""
    kind = type(constraint)
    if CONSTRAINTS.get(constraint.type_name) is not kind:
        raise InputError(
            f"constraint '{constraint.name}': a {kind.__name__} cannot be written to a TOML file"
        )
    yield f"type = {quote(constraint.type_name)}"
    yield from _pairs(constraint, tuple(f.name for f in table_fields(kind) if f.required))


def _coupling(coupling: Coupling) -> Iterator[str]:
    yield f"[coupling.{key(coupling.joint)}]"
    yield from coupling_pairs(coupling, value_text)


def _pairs(
    thing: Any, always: tuple[str, ...], only: tuple[str, ...] = (), skip: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield `key = value` for the fields that are named in `always` or differ from their default."""
    kind: type = type(thing)
    for field in table_fields(kind):
        if field.name in skip or (only and field.name not in only):
            continue
        held = getattr(thing, field.name)
        if field.name in always or repr(held) != repr(field.default):
            yield f"{field.name} = {value_text(field, held)}"


def value_text(field: Field, held: Any) -> str:
    """Return the value of a field as TOML."""
    match field.kind:
        case "text" | "refers":
            return quote(held)
        case "flag":
            return str(held).lower()
        case "pose":
            return _pose(held)
        case "number":
            return _number(held)
        case "vector":
            single = field.size in ("nv", "nq") or field.name == "ratio"
            return _number(held[0]) if single and len(held) == 1 else _vector(held)
        case "names":
            return quote(held[0]) if len(held) == 1 else "[" + ", ".join(map(quote, held)) + "]"
        case "function":
            return function_text(held)
        case _:
            return "{" + ", ".join(_pairs(held, ())) + "}"


def function_text(function: TimeFunction) -> str:
    """Return a function of time as an inline table; raise InputError for one of the user's own."""
    kind = type(function)
    if TIME_FUNCTIONS.get(function.type_name) is not kind:
        raise InputError(f"a {kind.__name__} of a prescribed motion cannot be written to a TOML file")
    always = tuple(f.name for f in table_fields(kind) if f.required)
    return "{" + ", ".join([f"type = {quote(function.type_name)}", *_pairs(function, always)]) + "}"


def _pose(pose: Pose) -> str:
    pairs = list(_pairs(pose, ()))
    if len(pairs) == 1 and pairs[0].startswith("xyz"):
        return _vector(pose.xyz)
    return "{" + ", ".join(pairs) + "}"


def _vector(numbers: Any) -> str:
    return "[" + ", ".join(map(_number, numbers)) + "]"


def _number(number: Any) -> str:
    if isinstance(number, Parameter):
        return f"{{parameter = {quote(number.name)}}}"
    if isinstance(number, ParameterExpression):
        return f"{{expression = {quote(text_of(number))}}}"
    return repr(float(number))
