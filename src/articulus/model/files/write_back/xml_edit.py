"""Changes of an XML text that leave all else as it was written: attributes of start tags, and new elements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from articulus.model.files.xml_tree import parse_xml

_TAG = re.compile(rb"<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*(/?)>")


@dataclass
class TagPlace:
    """Where an element stands: its start tag in bytes, its parent, its tag and attributes."""

    tag: str
    attributes: dict[str, str]
    parent: int | None
    start: int
    stop: int
    empty: bool


class XmlText:
    """An XML text that is changed in place; the changes are made all at once at the end."""

    def __init__(self, text: str, name: str):
        parse_xml(text, name)  # refuses what is broken, or holds entities
        self.content = text.encode("utf-8")
        self.places: list[TagPlace] = []
        self._changes: list[tuple[int, int, bytes]] = []
        self._open: list[int] = []
        parser = expat.ParserCreate("utf-8")
        self._parser = parser
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.Parse(self.content, True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        at = self._parser.CurrentByteIndex
        match = _TAG.match(self.content, at)
        assert match is not None
        parent = self._open[-1] if self._open else None
        self._open.append(len(self.places))
        self.places.append(TagPlace(tag, attributes, parent, at, match.end(), bool(match[1])))

    def _end(self, _tag: str) -> None:
        self._open.pop()

    def find(self, tag: str, name: str) -> list[int]:
        """Return the elements with a tag and a name."""
        return [i for i, p in enumerate(self.places) if p.tag == tag and p.attributes.get("name") == name]

    def child(self, of: int, tag: str) -> int | None:
        """Return the first child with a tag."""
        return next((i for i, p in enumerate(self.places) if p.parent == of and p.tag == tag), None)

    def set(self, at: int, values: dict[str, str], drop: tuple[str, ...] = ()) -> None:
        """Give an element attributes, in the places where it has them; take others away."""
        p = self.places[at]
        tag = self.content[p.start : p.stop]
        for name in drop:
            tag = re.sub(rb"\s+" + name.encode() + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", b"", tag)
        for name, value in values.items():
            pair = f"{name}={quoteattr(value)}".encode()
            there = re.search(rb"(?<=\s)" + name.encode() + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", tag)
            if there:
                tag = tag[: there.start()] + pair + tag[there.end() :]
            else:
                cut = len(tag) - (2 if p.empty else 1)
                tag = tag[:cut].rstrip() + b" " + pair + tag[cut:]
        self._changes.append((p.start, p.stop, tag))

    def insert(self, into: int, element: str) -> None:
        """Put an element right behind the start tag of another one, a line of its own, two spaces further in."""
        p = self.places[into]
        line = self.content.rfind(b"\n", 0, p.start) + 1
        indent = re.match(rb"[ \t]*", self.content[line : p.start])
        space = b"\n" + (indent[0] if indent else b"")
        if p.empty:
            tag = self.content[p.start : p.stop]
            whole = (
                tag[:-2].rstrip() + b">" + space + b"  " + element.encode() + space + f"</{p.tag}>".encode()
            )
            self._changes.append((p.start, p.stop, whole))
        else:
            self._changes.append((p.stop, p.stop, space + b"  " + element.encode()))

    def text(self) -> str:
        """Return the changed text."""
        out = self.content
        for start, stop, new in sorted(self._changes, key=lambda c: c[:2], reverse=True):
            out = out[:start] + new + out[stop:]
        return out.decode("utf-8")
