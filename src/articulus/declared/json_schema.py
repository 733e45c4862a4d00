"""JSON Schema (draft 2020-12) of declared fields: what editors complete and check while somebody types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from articulus.declared.field import NO_FORM, Field

Schema = dict[str, Any]
Nested = Callable[[Field], Schema]
"""Returns the schema of a field whose value is an object of another class."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
QUANTITY = r"^\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*[^\s\d.].*$"
"""A number with a unit, such as "20 mm"."""


def ref(name: str) -> Schema:
    """Return the reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def one_of_type(tables: Mapping[str, Schema]) -> Schema:
    """Return the schema of a table whose key `type` says which of several tables it is."""
    return {"oneOf": [_with_type(name, table) for name, table in tables.items()]}


def _with_type(name: str, table: Schema) -> Schema:
    properties = {"type": {"const": name, "description": table.get("description", "")}}
    return table | {
        "title": name,
        "properties": properties | table["properties"],
        "required": ["type", *table.get("required", [])],
    }


def table_schema(
    fields: Iterable[Field],
    nested: Nested,
    *,
    more: Mapping[str, Schema] | None = None,
    optional: Iterable[str] = (),
    description: str = "",
) -> Schema:
    """Return the schema of a table with the keys of some fields; any other key is refused.

    Parameters
    ----------
    fields : iterable of Field
    nested : callable
    more : mapping of str to schema
        Further keys, none of them required.
    optional : iterable of str
        Fields that need not be there although they have no default.
    description : str
    """
    held, left_out = [f for f in fields if f.kind not in NO_FORM], set(optional)
    found: Schema = {"description": description} if description else {}
    found |= {
        "type": "object",
        "properties": {f.name: field_schema(f, nested) for f in held} | dict(more or {}),
    }
    required = [f.name for f in held if f.required and f.name not in left_out]
    return found | ({"required": required} if required else {}) | {"additionalProperties": False}


def by_name(table: Schema, description: str = "") -> Schema:
    """Return the schema of tables under names of the user's, such as [body.boom]."""
    return ({"description": description} if description else {}) | {
        "type": "object",
        "additionalProperties": table,
    }


def field_schema(field: Field, nested: Nested) -> Schema:
    """Return the schema of the value of one key, with its meaning, unit and default."""
    return _description(field) | _value(field, nested)


def _description(field: Field) -> Schema:
    unit = f" [{field.unit}]" if field.unit and field.unit != "-" else ""
    found: Schema = {"description": f"{field.meaning}{unit}".strip()} if field.meaning or unit else {}
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    if field.words:
        default = next((word for word, value in field.words.items() if value == field.default), None)
    plain = isinstance(default, (bool, int, float, str)) and not (
        isinstance(default, float) and not math.isfinite(default)
    )
    return found | ({"default": default} if plain and default != "" and not field.required else {})


def _value(field: Field, nested: Nested) -> Schema:
    match field.kind:
        case "number" | "vector":
            return _numbers(field)
        case "integer":
            return {"type": "integer"} | ({} if field.least is None else {"minimum": field.least})
        case "flag":
            return {"type": "boolean"}
        case "text" | "refers" | "signal":
            return {"type": "string"}
        case "choice":
            return {"enum": list(field.words)}
        case "moment":
            return {"anyOf": [{"enum": list(field.words)}, ref("number")]}
        case "names":
            return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    one = nested(field)
    return {"type": "array", "items": one} if field.many else one


def _numbers(field: Field) -> Schema:
    """Return the schema of numbers: as many as the size says, plain, with units or as parameters; over time where that is allowed."""
    if field.in_time:
        return ref("numbers")
    if field.kind == "number":
        bound = {"minimum": field.least} if field.least is not None else {}
        bound |= {"exclusiveMinimum": field.above} if field.above is not None else {}
        return (
            {"anyOf": [{"type": "number"} | bound, ref("quantity"), ref("varying")]}
            if bound
            else ref("number")
        )
    counts = [int(x) for x in field.size.split(" or ") if x.isdigit()]
    counts += [3] if field.size == "6" else []
    array: Schema = {"type": "array", "items": ref("number")}
    if counts and " x " not in field.size and not set(field.size.split(" or ")) - {str(c) for c in counts}:
        array |= {"minItems": min(counts), "maxItems": max(counts)}
    if field.size in ("nv", "nq", "any") or counts[:1] == [1] or field.size.startswith("1 or"):
        return {"anyOf": [ref("number"), array]}
    return ref("numbers") if " x " in field.size else array


NUMBERS: dict[str, Schema] = {
    "quantity": {
        "description": 'a number with its unit, such as "20 mm"',
        "type": "string",
        "pattern": QUANTITY,
    },
    "varying": {
        "description": "a parameter by its name, or an expression of parameters",
        "oneOf": [
            {
                "type": "object",
                "properties": {key: {"type": "string"}},
                "required": [key],
                "additionalProperties": False,
            }
            for key in ("parameter", "expression")
        ],
    },
    "number": {"anyOf": [{"type": "number"}, ref("quantity"), ref("varying")]},
    "numbers": {
        "description": "a number, a list of numbers or a matrix, a table over time or a function of time",
        "anyOf": [
            ref("number"),
            {"type": "array", "items": ref("numbers")},
            ref("table over time"),
            ref("function"),
        ],
    },
    "table over time": {
        "oneOf": [
            {
                "type": "object",
                "properties": {
                    "times": {"type": "array", "items": ref("number")},
                    "values": {"type": "array"},
                    "hold": {"type": "boolean"},
                },
                "required": ["times", "values"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {
                    "csv": {"type": "string", "description": "file with the columns t and values"},
                    "columns": {"type": "array", "items": {"type": "string"}},
                    "hold": {"type": "boolean"},
                },
                "required": ["csv"],
                "additionalProperties": False,
            },
        ]
    },
    "parameters": {
        "description": "numbers that a run can change, by name",
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"type": "number"},
                ref("quantity"),
                {
                    "type": "object",
                    "properties": {
                        "value": {"anyOf": [{"type": "number"}, ref("quantity")]},
                        "range": {
                            "type": "array",
                            "items": {"anyOf": [{"type": "number"}, ref("quantity")]},
                            "minItems": 2,
                            "maxItems": 2,
                        },
                    },
                    "required": ["value", "range"],
                    "additionalProperties": False,
                },
            ]
        },
    },
}
"""Definitions of numbers, which every document has."""


def document(title: str, table: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a whole schema: a table of the top level and what it refers to."""
    return (
        {"$schema": DIALECT, "title": title}
        | table
        | {"$defs": dict(sorted((NUMBERS | dict(definitions)).items()))}
    )
