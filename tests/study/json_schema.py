"""A compact validator of JSON Schema: the keywords of draft 2020-12 that `articulus schema` writes, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}
SILENT = {"then", "else", "$schema", "$defs", "title", "description", "default"}


def errors(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = ""
) -> Iterator[str]:
    """Yield what is wrong with a value; an unknown keyword of the schema is an error of the schema."""
    root = root or schema
    for key, held in schema.items():
        if key not in SILENT:
            yield from KEYWORDS[key](value, held, schema, root, at)


def _ref(value: Any, held: str, schema: dict, root: dict, at: str) -> Iterator[str]:
    found = root
    for part in held.removeprefix("#/").split("/"):
        found = found[part]
    yield from errors(value, found, root, at)


def _type(value: Any, held: str, schema: dict, root: dict, at: str) -> Iterator[str]:
    whole = held == "integer" and isinstance(value, float) and value.is_integer()
    if not (isinstance(value, TYPES[held]) or whole) or (
        isinstance(value, bool) and held in ("integer", "number")
    ):
        yield f"{at}: {value!r} is no {held}"


def _properties(value: Any, held: dict, schema: dict, root: dict, at: str) -> Iterator[str]:
    for key, inner in held.items():
        if isinstance(value, dict) and key in value:
            yield from errors(value[key], inner, root, f"{at}.{key}")


def _additional(value: Any, held: Any, schema: dict, root: dict, at: str) -> Iterator[str]:
    for key in value if isinstance(value, dict) else ():
        if key not in schema.get("properties", {}):
            yield from (
                [f"{at}.{key}: unknown key"]
                if held is False
                else errors(value[key], held, root, f"{at}.{key}")
            )


def _required(value: Any, held: list, schema: dict, root: dict, at: str) -> Iterator[str]:
    yield from (f"{at}: no {key}" for key in held if isinstance(value, dict) and key not in value)


def _items(value: Any, held: dict, schema: dict, root: dict, at: str) -> Iterator[str]:
    for i, item in enumerate(value if isinstance(value, list) else ()):
        yield from errors(item, held, root, f"{at}[{i}]")


def _any(value: Any, held: list, schema: dict, root: dict, at: str, most: int = 10**9) -> Iterator[str]:
    found = [list(errors(value, each, root, at)) for each in held]
    if not 1 <= found.count([]) <= most:
        yield from min(found, key=len) or [f"{at}: more than one form fits"]


def _one(value: Any, held: list, schema: dict, root: dict, at: str) -> Iterator[str]:
    yield from _any(value, held, schema, root, at, 1)


def _if(value: Any, held: dict, schema: dict, root: dict, at: str) -> Iterator[str]:
    chosen = "else" if list(errors(value, held, root, at)) else "then"
    yield from errors(value, schema.get(chosen, {}), root, at)


def _limit(word: str, good: Any) -> Any:
    def check(value: Any, held: Any, schema: dict, root: dict, at: str) -> Iterator[str]:
        if not good(value, held):
            yield f"{at}: {value!r}, {word} {held}"

    return check


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


KEYWORDS = {
    "$ref": _ref,
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "anyOf": _any,
    "oneOf": _one,
    "if": _if,
    "const": _limit("not", lambda x, held: x == held and isinstance(x, bool) == isinstance(held, bool)),
    "enum": _limit("not one of", lambda x, held: x in held),
    "pattern": _limit("not like", lambda x, held: not isinstance(x, str) or re.search(held, x) is not None),
    "minimum": _limit("below", lambda x, held: not _number(x) or x >= held),
    "exclusiveMinimum": _limit("not above", lambda x, held: not _number(x) or x > held),
    "minItems": _limit("fewer than", lambda x, held: not isinstance(x, list) or len(x) >= held),
    "maxItems": _limit("more than", lambda x, held: not isinstance(x, list) or len(x) <= held),
}
