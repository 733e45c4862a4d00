"""Names and texts in TOML files."""

from __future__ import annotations

import re

BARE = re.compile(r"[A-Za-z0-9_-]+", re.A)
"""Names that need no quotes."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def key(name: str) -> str:
    """Return a name as a key."""
    return name if BARE.fullmatch(name) else quote(name)


def quote(text: str) -> str:
    """Return a text as a TOML string on one line."""
    return '"' + "".join(map(_escape, text)) + '"'


def long_text(text: str) -> str:
    """Return a text as a TOML string that keeps its line breaks as line breaks."""
    if "\n" not in text:
        return quote(text)
    return '"""\n' + "".join(c if c == "\n" else _escape(c) for c in text) + '"""'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\u{code:04x}" if code < 32 or code == 127 else character
