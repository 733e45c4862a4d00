"""Changes of a TOML text that leave all else as it was written: comments, order, blank lines, ways to write a number.

Every function takes a valid text and returns the changed one; whether that is still a good model, its reader says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from articulus.errors import Finding, ModelError, did_you_mean
from articulus.model.files.toml.lines import Places, places
from articulus.model.files.toml.texts import key, quote

_INDEX = re.compile(r"\[\d+\]")
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
    if table and table not in found.headings:
        hint = did_you_mean(table, found.headings)
        raise ModelError(Finding(table, "no such table", "a table with its own heading", hint))
    at = _end_of_entries(text, found, table)
    return f"{text[:at].rstrip()}\n{name} = {value}\n{text[at:]}"


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
