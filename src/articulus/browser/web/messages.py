"""Messages between page and server: JSON objects as texts."""

from __future__ import annotations

import json
from typing import Any

from articulus.errors import ArticulusError

LARGEST = 10_000
"""Size of the largest message that is examined if nothing else is said [bytes]."""


class MessageError(ArticulusError, ValueError):
    """A message that is dropped."""


def object_in(content: str | bytes, largest: int = LARGEST) -> dict[str, Any]:
    """Return the JSON object that a message holds; raise MessageError for anything else."""
    if not isinstance(content, str):
        raise MessageError("found a binary message; expected text")
    if len(content) > largest or len(content.encode()) > largest:
        raise MessageError(f"found {len(content)} characters; expected at most {largest} bytes")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise MessageError("found no JSON") from None
    if not isinstance(found, dict):
        raise MessageError("found no JSON object")
    return found


def text(kind: str, **fields: Any) -> str:
    """Return a message for the page."""
    return json.dumps({"kind": kind, **fields}, allow_nan=False)
