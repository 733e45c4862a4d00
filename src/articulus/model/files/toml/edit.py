"""Changes of a TOML text that leave all else as it was written: comments, order, blank lines, ways to write a number.

Every function takes a valid text and returns the changed one; whether that is still a good model, its reader says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from articulus.errors import Finding, ModelError, did_you_mean
from articulus.model.files.toml.lines import Places, places
from articulus.model.files.toml.texts import key, quote
from articulus.model.files.units import parse_unit

_INDEX = re.compile(r"\[\d+\]")
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = re.compile(rf"[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART})*[ \t]*=[ \t]*\Z")
"""A key with its equals sign, at the end of what stands before its value."""
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)\s*")
FREE_TEXTS = ("name", "source", "description", "purpose", "type", "massless", "doubtful", "color", "file")
"""Keys whose texts name no other part."""


def set_value(text: str, table: str, name: str, value: str) -> str:
    """Return a text in which a key of a table has a value, written as TOML; a missing key is added at the table's end.

    Parameters
    ----------
    text : str
    table : str
        Path of the table, such as "joint.lift"; "" for the top of the file.
    name : str
        Key, dotted for one inside an inline table ("at.xyz").
    value : str
        For example "[0, 0, 1.5]" or '"tower"'.

    Raises
    ------
    ModelError
        There is no such table.
    """
    text = text.replace("\r\n", "\n")
    found = places(text)
    span = found.values.get(f"{table}.{name}" if table else name)
    if span is not None:
        return text[: span[0]] + value + text[span[1] :]
    outer, dot, last = name.rpartition(".")
    if dot and table:
        path = f"{table}.{outer}"
        if path in found.headings:
            return set_value(text, path, last, value)
        if path in found.values:
            return _into_inline(text, found.values[path], path, f"{last} = {value}")
        if not any(known.startswith(f"{path}.") for known in found.values):
            return set_value(text, table, outer, f"{{{last} = {value}}}")
    if table and table not in found.headings:
        hint = did_you_mean(table, found.headings)
        raise ModelError(Finding(table, "no such table", "a table with its own heading", hint))
    at = _end_of_entries(text, found, table)
    rest = text[at:].lstrip("\n")
    return f"{text[:at].rstrip()}\n{name} = {value}\n" + (f"\n{rest}" if rest else "")


def _into_inline(text: str, span: tuple[int, int], path: str, pair: str) -> str:
    """Return a text with another pair at the end of a table in braces."""
    start, end = span
    if text[start] != "{":
        raise ModelError(Finding(path, text[start:end], "a table in braces", "Give the whole value."))
    inside = text[start + 1 : end - 1].strip()
    return f"{text[:start]}{{{inside}{', ' if inside else ''}{pair}}}{text[end:]}"


def remove_value(text: str, table: str, name: str) -> str:
    """Return a text without a key of a table, and without the comment on its line; a key that is not there changes nothing.

    Parameters
    ----------
    text : str
    table : str
        Path of the table; "" for the top of the file.
    name : str
        Key, dotted for one inside a table; of a nested table all goes.
    """
    text = text.replace("\r\n", "\n")
    path = f"{table}.{name}" if table else name
    while True:
        found = places(text)
        if path in found.headings:
            return remove_value(remove_table(text, path), table, name)
        leaves = [
            p for p in found.values if p == path or (p.startswith(f"{path}.") and path not in found.values)
        ]
        if not leaves:
            return text
        text = _without_pair(text, found.values[leaves[0]])


def _without_pair(text: str, span: tuple[int, int]) -> str:
    """Return a text without the pair whose value stands somewhere: a line of its own, or one of several in braces."""
    before = _KEY.sub("", text[: span[0]])
    start, end = len(before), span[1]
    if not before or before.endswith("\n"):
        stop = text.find("\n", end)
        return before + (text[stop + 1 :] if stop >= 0 else "")
    after = text[end:].lstrip(" \t")
    if after.startswith(","):
        return before + after[1:].lstrip(" \t")
    return before.rstrip(" \t").removesuffix(",") + text[end:] if start else text


def set_numbers(text: str, table: str, name: str, numbers: Sequence[float]) -> str:
    """Return a text in which numbers of a list have other values: those that stay are left as they were written, the others keep their units.

    Parameters
    ----------
    text : str
    table, name : str
        Of the list; of a pose its position is meant.
    numbers : sequence of float
        In SI units.

    Raises
    ------
    ModelError
        One that would change follows a parameter, or there is no such table.
    """
    text = text.replace("\r\n", "\n")
    found = places(text)
    path = f"{table}.{name}"
    if f"{path}.xyz" in found.values:
        return set_numbers(text, table, f"{name}.xyz", numbers)
    span = found.values.get(path)
    written = "[" + ", ".join(f"{x:.12g}" for x in numbers) + "]"
    if span is None or text[span[0]] != "[":
        inside = span is not None or path in found.headings
        return set_value(text, table, f"{name}.xyz" if inside else name, written)
    held = tomllib.loads(f"k = {text[span[0] : span[1]]}")["k"]
    if len(held) != len(numbers):
        return set_value(text, table, name, written)
    for i in reversed(range(len(held))):
        start, end = found.values[f"{path}[{i}]"]
        text = text[:start] + _write_moved(path, held[i], numbers[i], text[start:end]) + text[end:]
    return text


def _write_moved(path: str, held: Any, value: float, written: str) -> str:
    """Return how a number is written that was written in some way before."""
    if isinstance(held, dict):
        now = ", ".join(f"{k} '{x}'" for k, x in held.items())
        raise ModelError(
            Finding(path, f"a number that follows the {now}", "a plain one", "Change the parameter instead.")
        )
    parts = _QUANTITY.fullmatch(held) if isinstance(held, str) else None
    if parts is None:
        return written if held == value else f"{value:.12g}"
    factor = float(parse_unit(parts[2]).factor)
    if abs(float(parts[1]) * factor - value) <= 1e-12 * max(1.0, abs(value)):
        return written
    return quote(f"{value / factor:.12g} {parts[2]}")


def add_table(text: str, table: str, entries: dict[str, str]) -> str:
    """Return a text with another table, after the last one of its kind (the first part of its path), else at the end.

    Parameters
    ----------
    text : str
    table : str
        Kind and name, such as "joint.lift"; the name may hold anything.
    entries : dict of key to value, written as TOML
    """
    text = text.replace("\r\n", "\n")
    found = places(text)
    kind, _, name = table.partition(".")
    block = "\n".join([f"[{kind}.{key(name)}]", *(f"{k} = {v}" for k, v in entries.items())])
    alike = [path for path in found.headings if path.split(".")[0] == kind]
    if not alike:
        return f"{text.rstrip()}\n\n{block}\n"
    at = _end_of_entries(text, found, max(alike, key=lambda path: found.headings[path]))
    rest = text[at:].lstrip("\n")
    return f"{text[:at].rstrip()}\n\n{block}\n" + (f"\n{rest}" if rest else "")


def remove_table(text: str, table: str) -> str:
    """Return a text without a table and those below it, and without the comments that stand right above or in them."""
    text = text.replace("\r\n", "\n")
    while True:
        found = places(text)
        mine = [path for path in found.headings if path == table or path.startswith(f"{table}.")]
        if not mine:
            return text
        start = _start_with_comments(text, found.headings[mine[0]][0])
        end = _end_of_entries(text, found, mine[0])
        pieces = (text[:start].rstrip(), text[end:].strip("\n"))
        text = "\n\n".join(piece for piece in pieces if piece) + "\n"


def rename_part(text: str, kind: str, old: str, new: str) -> str:
    """Return a text in which a part has another name, in its headings and wherever a text refers to it.

    Parameters
    ----------
    text : str
    kind : str
        "body", "joint", "frame", "loop", "constraint" or "component".
    old, new : str
    """
    text = text.replace("\r\n", "\n")
    found = places(text)
    changes = [*_headings(text, found, kind, old, new), *_references(text, found, kind, old, new)]
    for start, end, words in sorted(changes, reverse=True):
        text = text[:start] + words + text[end:]
    return text


def _headings(text: str, found: Places, kind: str, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Yield the changes of headings; couplings bear the names of joints."""
    kinds = (kind, "coupling") if kind == "joint" else (kind,)
    for path, (start, end) in found.headings.items():
        for k in kinds:
            below = path.removeprefix(f"{k}.{old}")
            if below != path and (not below or below.startswith(".")):
                tail = "".join(f".{key(part)}" for part in below.split(".")[1:])
                yield start, end, f"[{k}.{key(new)}{tail}]"


def _references(text: str, found: Places, kind: str, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Yield the changes of texts that name a part, alone or before the dot of a signal."""
    for path, (start, end) in found.strings.items():
        name = _INDEX.sub("", path).rsplit(".", 1)[-1]
        if name in FREE_TEXTS or not _may_refer(path, name, kind):
            continue
        words = str(tomllib.loads(f"k = {text[start:end]}")["k"])
        head, dot, tail = words.partition(".")
        if words == old:
            yield start, end, quote(new)
        elif dot and head == old:
            yield start, end, quote(f"{new}.{tail}")


def _may_refer(path: str, name: str, kind: str) -> bool:
    """Whether a text may name a part of a kind: a joint and a body may share a name, and parents are bodies."""
    of_body = name in ("parent", "child", "body", "a", "b") or path.startswith(("frame.", "loop."))
    return of_body if kind == "body" and not path.startswith("component.") else kind != "joint" or not of_body


def _end_of_entries(text: str, found: Places, table: str) -> int:
    """Return where the entries of a table end: before the comments above the next heading, or at the end of the text."""
    begin = found.headings[table][0] if table else -1
    after = [start for start, _ in found.headings.values() if start > begin]
    return _start_with_comments(text, min(after)) if after else len(text)


def _start_with_comments(text: str, at: int) -> int:
    """Return where the comment lines begin that stand right above a place at the start of a line."""
    while at:
        line = text.rfind("\n", 0, at - 1) + 1
        if not text[line : at - 1].lstrip().startswith("#"):
            return at
        at = line
    return at
