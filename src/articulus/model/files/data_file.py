"""Tables of data files: TOML, or JSON by the ending .json."""

from __future__ import annotations

import json
from typing import Any

from articulus.errors import Finding, ModelError
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.reader import load_tables


def load_data(path: StrPath) -> dict[str, Any]:
    """Return the tables of a TOML or JSON file; raise ModelError for a file that is neither."""
    place = as_path(path)
    text = load_text(place)
    if place.suffix != ".json":
        return load_tables(text, place.name)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        found = f"a syntax error: {error.msg}"
        raise ModelError(Finding(f"{place.name}:{error.lineno}", found, "valid JSON")) from None
    except (RecursionError, ValueError):
        raise ModelError(Finding(place.name, "values that JSON cannot hold", "valid JSON")) from None
    if not isinstance(data, dict):
        raise ModelError(Finding(place.name, short_text(data), "an object with keys"))
    return data
