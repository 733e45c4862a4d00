"""JSON Schema of models, studies, tasks and campaigns, made of the declarations that their readers read by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from articulus.declared import Field, fields_of
from articulus.declared.json_schema import (
    Schema,
    by_name,
    document,
    field_schema,
    one_of_type,
    ref,
    table_schema,
)
from articulus.errors import InputError, did_you_mean
from articulus.model.files.toml.beam import LISTS, BeamTable
from articulus.model.files.toml.fields import CONSTRAINTS, JOINTS, TIME_FUNCTIONS, VISUALS, table_fields
from articulus.model.mechanism import (
    Body,
    Connection,
    Coupling,
    Description,
    Frame,
    Limits,
    LoopJoint,
    Pose,
    Rotor,
)
from articulus.model.mechanism.denavit_hartenberg import TYPES as DH_TYPES
from articulus.model.mechanism.denavit_hartenberg import DHPlace
from articulus.motion.trajectory.obstacles import Hull
from articulus.simulation.loop.component import Actuator, Sensor
from articulus.simulation.loop.components import Observer
from articulus.simulation.loop.components.executive import ActuatorFailure, SensorFailure
from articulus.simulation.loop.contact import SHAPES
from articulus.study.campaign.figures import FIGURE
from articulus.study.campaign.samplers import SAMPLERS
from articulus.study.campaign.vary_reader import group_kinds, scalar_kinds
from articulus.study.check_reader import CHECK
from articulus.study.components import FILE
from articulus.study.event_reader import EVENTS, event_fields
from articulus.study.executive import FAILURE, TASK
from articulus.study.fields import TYPES
from articulus.study.plans.reader import COST, KEEPS, LIMITS, OBSTACLES, SOLVE
from articulus.study.settings import RUN
from articulus.study.tip import PATHS, PROFILE

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
NAMES: Schema = {"anyOf": [TEXT, TEXTS]}


def json_schema(kind: str) -> Schema:
    """Return the JSON Schema (draft 2020-12) of a kind of file: "model", "study", "task" or "campaign"."""
    if kind not in KINDS:
        raise InputError(f"schema: found '{kind}'; expected {', '.join(KINDS)}; {did_you_mean(kind, KINDS)}")
    return KINDS[kind]()


def _line(cls: type) -> str:
    """Return the first line of the documentation of a class."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _object_schema(field: Field) -> Schema:
    """Return the schema of a value that is an object: a pose, a component, a function of time, ..."""
    if field.kind == "component":
        schemas: dict[type | None, Schema] = {
            Actuator: {"anyOf": [TEXT, ref("actuator")]},
            Sensor: ref("sensor"),
        }
        return schemas.get(field.record, ref("component"))
    if field.kind == "record":
        assert field.record is not None
        return ref(field.record.__name__.lower())
    if field.kind == "shape":
        return (
            {"anyOf": [ref("shape"), {"type": "array", "items": ref("shape")}]}
            if not field.many
            else ref("shape")
        )
    if field.kind == "constraint":
        one = {"anyOf": [TEXT, ref("constraint")]}
        return {"anyOf": [one, {"type": "array", "items": one}]}
    return {"pose": ref("pose"), "function": ref("function"), "visual": ref("visual"), "model": TEXT}[
        field.kind
    ]


def _table(cls: type, fields: Iterable[Field] | None = None, **more: Any) -> Schema:
    return table_schema(
        fields_of(cls) if fields is None else fields, _object_schema, description=_line(cls), **more
    )


def _objects(kinds: Mapping[str, type], more: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of a table of one of several classes, by its type."""
    return one_of_type({name: _table(cls, table_fields(cls), more=more) for name, cls in kinds.items()})


# models


def _model_definitions() -> dict[str, Schema]:
    spline = {"csv": TEXT, "column": TEXT}
    functions = {name: _table(cls, table_fields(cls)) for name, cls in TIME_FUNCTIONS.items()}
    functions["spline"] |= {
        "properties": functions["spline"]["properties"] | spline,
        "required": [],
        "anyOf": [{"required": functions["spline"].get("required", [])}, {"required": ["csv"]}],
    }
    pose = _table(Pose)
    return {
        "pose": {"description": _line(Pose), "anyOf": [_three(), pose]},
        "function": {"description": "a function of time", "anyOf": [ref("number"), one_of_type(functions)]},
        "visual": _objects(VISUALS),
        "rotor": _table(Rotor),
        "limits": _table(Limits),
        "beam": _beam(),
        "body": _body(),
        "joint": _joints(Connection),
    }


def _three() -> Schema:
    return {"type": "array", "items": ref("number"), "minItems": 3, "maxItems": 3}


def _beam() -> Schema:
    table = _table(BeamTable)
    for key in LISTS:
        table["properties"][key] |= {"description": table["properties"][key].get("description", "")}
    return table


def _body() -> Schema:
    files = {
        "flexible": {"description": "file of modes that makes the body flexible", "type": "string"},
        "beam": ref("beam"),
    }
    table = _table(Body, table_fields(Body), more=files)
    ways = ("massless", "flexible", "beam")
    return table | {"anyOf": [{"required": ["mass", "inertia"]}, *({"required": [way]} for way in ways)]}


def _joints(place: type) -> Schema:
    """Return the schema of a joint in its place, for every type of joint."""
    own = table_fields(place)

    def more(kind: type) -> dict[str, Schema]:
        return {"dh": _table(DHPlace)} if place is Connection and kind in DH_TYPES.values() else {}

    return one_of_type(
        {
            name: table_schema(
                (*table_fields(kind), *own), _object_schema, description=_line(kind), more=more(kind)
            )
            for name, kind in JOINTS.items()
        }
    )


def _model() -> Schema:
    device = {"type": "object", "properties": {"type": TEXT}, "required": ["type"]}
    numbers = by_name({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]})
    state = {
        "type": "object",
        "properties": dict.fromkeys(("positions", "velocities", "commands"), numbers),
        "additionalProperties": False,
    }
    coupling = _table(Coupling, table_fields(Coupling))
    coupling["properties"]["ratio"] = {"anyOf": [ref("number"), {"type": "array", "items": ref("number")}]}
    properties = {
        "schema": {"const": 1},
        "name": {"description": "of the mechanism", "type": "string"},
        **{f.name: field_schema(f, _object_schema) for f in table_fields(Description)},
        "parameters": ref("parameters"),
        "body": by_name(ref("body"), "bodies by name"),
        "joint": by_name(ref("joint"), "joints by name"),
        "frame": by_name(_table(Frame, table_fields(Frame)), "named points on bodies"),
        "loop": by_name(_joints(LoopJoint), "joints that close loops"),
        "constraint": by_name(_objects(CONSTRAINTS), "constraints by name"),
        "coupling": by_name(coupling, "joints that follow others"),
        "component": by_name(device, "devices by name"),
        "state": by_name(state, "named states"),
        "collision": by_name(device, "shapes that may touch, by name"),
    }
    table = {
        "type": "object",
        "properties": properties,
        "required": ["schema", "name"],
        "additionalProperties": False,
    }
    return document("articulus model", table, _model_definitions())


# studies and campaigns


def _study_definitions() -> dict[str, Schema]:
    components = {name: _table(cls) for name, cls in TYPES.items()}
    found = {
        base: one_of_type({n: t for n, t in components.items() if issubclass(TYPES[n], cls)})
        for base, cls in (("actuator", Actuator), ("sensor", Sensor))
    }
    return (
        found
        | {
            "component": one_of_type(components),
            "shape": _objects({kind.type_name: kind for kind in SHAPES}),
            "observer": _table(Observer),
            "constraint": _objects(CONSTRAINTS, {"name": TEXT}),
            "event": one_of_type({name: _event(kind) for name, kind in EVENTS.items()}),
            "distribution": _distribution(),
        }
        | {key: held for key, held in _model_definitions().items() if key in ("pose", "function", "visual")}
    )


def _component() -> Schema:
    """Return the schema of a component: whole, or with its other keys in a file."""
    named = {"description": "TOML or JSON file with the other keys", "type": "string"}
    file = {"type": "object", "properties": {FILE: named}}
    return {"if": {"required": [FILE]}, "then": file, "else": ref("component")}


def _event(kind: type) -> Schema:
    fields = event_fields(kind)
    table = _table(kind, fields, optional=("name",))
    watched = [f.name for f in fields if f.kind == "signal"]
    for name in watched:  # a study watches a signal by its name
        table["properties"]["signal"] = table["properties"].pop(name)
        table["required"] = ["signal" if key == name else key for key in table["required"]]
    return table


def _head(more: Mapping[str, Schema] | None = None) -> Schema:
    properties = {
        "name": {
            "description": "beginning of the names of all files that it writes",
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        },
        "purpose": TEXT,
        "model": {"description": "name of a library model, or path of a model file", "type": "string"},
        "options": {"description": "options of the model", "type": "object"},
    }
    return {
        "type": "object",
        "properties": properties | dict(more or {}),
        "required": ["name", "model"],
        "additionalProperties": False,
    }


def _coordinates() -> Schema:
    some = {"anyOf": [ref("number"), {"type": "array", "items": ref("number")}]}
    return {"anyOf": [{"type": "array", "items": ref("number")}, by_name(some)]}


def _array(table: Schema, description: str) -> Schema:
    return {"description": description, "type": "array", "items": table}


def _study_table() -> Schema:
    plots = {"type": "array", "items": NAMES}
    initial = dict.fromkeys(("q", "v"), _coordinates())
    check = table_schema(CHECK, _object_schema, description="a number of the run against a bound")
    check |= {"oneOf": [{"required": [key]} for key in ("equals", "less", "greater")]}
    properties = {
        "schema": {"const": 1},
        "study": _head(),
        "parameters": ref("parameters"),
        "initial": {"type": "object", "properties": initial, "additionalProperties": False},
        "component": _array(_component(), "actuators, sensors, controllers and disturbances"),
        "executive": _executive(),
        "run": table_schema(RUN, _object_schema, description="how the study is run", optional=("t_end",)),
        "event": _array(ref("event"), "what to look for between steps, and what then happens"),
        "outputs": {
            "type": "object",
            "properties": {"signals": TEXTS, "plots": plots},
            "additionalProperties": False,
        },
        "check": _array(check, "what the run has to keep"),
        "inversion": _inversion(),
        "campaign": _campaign_table(),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["schema", "study"],
        "additionalProperties": False,
    }


def _executive() -> Schema:
    task = table_schema(TASK, _object_schema, description="controllers in the order in which they work")
    inner = ("sensor", "actuator", "name")
    failures = []
    for kind in (SensorFailure, ActuatorFailure):
        fields = [f for f in fields_of(kind) if f.name not in inner]
        failures.append(table_schema((FAILURE, *fields), _object_schema, description=_line(kind)))
    properties = {
        "task": _array(task, "controllers in the order in which they work, and their periods"),
        "failure": _array({"anyOf": failures}, "sensors and actuators that fail"),
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _inversion() -> Schema:
    points = {"type": "array", "items": {"type": "array", "items": ref("number")}}
    keys = {"sweep": ref("number"), "points": points, "file": TEXT, "columns": TEXTS}
    profile = {"duration": ref("number"), "order": {"type": "integer"}, "law": TEXT}
    paths = {
        kind: {
            "type": "object",
            "properties": {name: keys.get(name, points["items"]) for name in names}
            | ({} if kind == "csv" else {name: profile[name] for name in PROFILE}),
            "required": [] if kind == "csv" else ["duration"],
            "additionalProperties": False,
        }
        for kind, names in PATHS.items()
    }
    properties = {
        "tip": {"description": "body or frame whose path is given", "type": "string"},
        "actuators": TEXTS,
        "outputs": TEXTS,
        "path": one_of_type(paths),
        "method": TEXT,
        "shaper": TEXT,
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["tip", "actuators", "path"],
        "additionalProperties": False,
    }


def _study() -> Schema:
    return document("articulus study", _study_table(), _study_definitions())


def _distribution() -> Schema:
    """Return the schema of a distribution of one number."""
    listed = {"type": "array", "items": ref("number")}
    forms = [
        {
            "title": next(iter(kind.lists)),
            "description": _line(kind),
            "type": "object",
            "properties": {
                key: {
                    "description": ", ".join(names),
                    "type": "array",
                    "items": ref("number"),
                    "minItems": len(names),
                    "maxItems": len(names),
                }
                for key, names in kind.lists.items()
            },
            "required": [next(iter(kind.lists))],
            "additionalProperties": False,
        }
        for kind in scalar_kinds().values()
    ]
    spaced = {"from": ref("number"), "to": ref("number"), "count": {"type": "integer", "minimum": 1}}
    forms += [
        listed,
        _keys({"values": listed, "weights": listed}, ["values"]),
        _keys(spaced, list(spaced)),
        _keys({"table": TEXT, "column": TEXT, "weights": TEXT}, ["table", "column"]),
        {"type": "object", "properties": {"stats": TEXT}, "required": ["stats"]},
    ]
    return {"description": "how a number varies", "anyOf": forms}


def _keys(properties: dict[str, Schema], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _groups() -> Schema:
    """Return the schema of numbers that vary together."""
    rows = {"type": "array", "items": {"type": "array", "items": ref("number")}}
    weights = {"type": "array", "items": ref("number")}
    forms = [
        _keys({"vary": by_name(ref("distribution")), "correlation": rows}, ["vary", "correlation"]),
        _keys({"names": TEXTS, "table": TEXT, "columns": TEXTS, "weights": TEXT}, ["names", "table"]),
        _keys({"names": TEXTS, "rows": rows, "weights": weights}, ["names", "rows"]),
    ]
    for key, kind in group_kinds().items():
        fields = [f for f in fields_of(kind) if f.numeric]
        own = table_schema(fields, _object_schema, description=_line(kind))
        forms.append(_keys({"names": TEXTS, key: own}, ["names", key]))
    return {"oneOf": forms}


def _campaign_table() -> Schema:
    figure = table_schema(FIGURE, _object_schema, description="one number of each run")
    properties = {
        "runs": {"description": "number of runs", "type": "integer", "minimum": 1},
        "sampler": {"description": "how runs are chosen", "enum": list(SAMPLERS), "default": "monte carlo"},
        "seed": {"description": "of what is drawn", "type": "integer", "minimum": 0, "default": 0},
        "vary": by_name(
            ref("distribution"), "parameters, initial states and numbers of components that vary"
        ),
        "group": _array(_groups(), "numbers that vary together"),
        "figures": by_name({"anyOf": [TEXT, figure]}, "numbers of each run, by name"),
        "requirements": _array(TEXT, 'bounds on figures, such as "settling < 2 s"'),
        "bands": {"description": "entries of signals whose bands over all runs are kept", **NAMES},
        "keep": by_name({"type": "integer", "minimum": 1}, "how many of the worst runs of a figure are kept"),
        "second_order": {
            "description": "whether interactions of second order are computed",
            "type": "boolean",
        },
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _campaign() -> Schema:
    table = _study_table()
    table["required"] = [*table["required"], "campaign"]
    return document("articulus campaign", table, _study_definitions())


# tasks


def _task() -> Schema:
    numbers = {"anyOf": [ref("number"), by_name(ref("number"))]}
    three = _three()
    pose = _keys({"xyz": three, "rpy": three}, [])
    goal = _keys({"frame": TEXT, "point": three, "pose": pose}, ["frame"])
    position = {"anyOf": [TEXT, goal, _coordinates()]}
    length = {"type": "array", "items": ref("number"), "minItems": 2, "maxItems": 2}
    cost = {"anyOf": [{"enum": ["effort", "time"]}, table_schema(COST, _object_schema)]}
    task = {
        "q0": position,
        "goal": position,
        "duration": {"anyOf": [ref("number"), length]},
        "cost": cost,
        "actuators": TEXTS,
        **dict.fromkeys(LIMITS, numbers),
        "v0": _coordinates(),
        "goal_velocity": {"anyOf": [{"const": "free"}, _coordinates()]},
        "parameters": by_name(length),
    }
    hull = _table(Hull, optional=("start", "end"))
    hulls = _array(hull, "bodies that keep clear")
    more = {"hulls": hulls, "margin": ref("number")}
    obstacles = one_of_type({name: _table(kind, more=more) for name, kind in OBSTACLES.items()})
    for each in obstacles["oneOf"]:
        each["required"] = [*each["required"], "hulls"]
    properties = {
        "schema": {"const": 1},
        "plan": _head({"gravity": three}),
        "task": _keys(task, ["q0", "goal", "duration"]),
        "obstacle": _array(obstacles, "what bodies must not touch"),
        "apart": _array(
            _keys({"first": hull, "second": hull, "margin": ref("number")}, ["first", "second"]),
            "bodies of the mechanism that keep apart",
        ),
        "keep": _array(
            one_of_type({name: _table(kind) for name, kind in KEEPS.items()}), "what frames keep to"
        ),
        "solve": table_schema(SOLVE, _object_schema, description="how the plan is computed"),
    }
    table = {
        "type": "object",
        "properties": properties,
        "required": ["schema", "plan", "task"],
        "additionalProperties": False,
    }
    return document("articulus task", table, {})


KINDS = {"model": _model, "study": _study, "task": _task, "campaign": _campaign}
"""Kinds of files, and what makes their schema."""
