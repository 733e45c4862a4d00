"""XML as a small tree with line numbers. Document types and entities are refused, size and depth are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from articulus.errors import Finding, ModelError
from articulus.model.files.storage import MAX_BYTES

MAX_DEPTH = 256
MAX_ELEMENTS = 200_000
"""The largest robots have 20,000; this many take half a second and 50 MB."""


@dataclass
class XmlElement:
    """An element of an XML text.

    Parameters
    ----------
    tag : str
    attributes : dict of str to str
    line : int
        Line of its start tag.
    children : list of Element
    text : str
        What stands between its tags, but for its children.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def children_with_tag(self, tag: str) -> list[XmlElement]:
        """Return the children with this tag."""
        return [c for c in self.children if c.tag == tag]

    def everything(self) -> Iterator[XmlElement]:
        """Yield this element and all below it, in the order of the text."""
        todo = [self]
        while todo:
            element = todo.pop()
            yield element
            todo += reversed(element.children)

    def __str__(self) -> str:
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"


def parse_xml(text: str, name: str, max_depth: int = MAX_DEPTH) -> XmlElement:
    """Return the root element of an XML text; raise ModelError with file, line, element and reason."""
    return _Parser(name, max_depth).parse(text)


class _Parser:
    def __init__(self, name: str, max_depth: int):
        self.name = name
        self.max_depth = max_depth
        self.count = 0
        self.root: XmlElement | None = None
        self.stack: list[XmlElement] = []
        self.expat = expat.ParserCreate("utf-8")
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = self.characters
        self.expat.buffer_text = True
        self.expat.StartDoctypeDeclHandler = self.doctype
        self.expat.EntityDeclHandler = self.doctype

    def parse(self, text: str) -> XmlElement:
        try:
            content = text.encode("utf-8")
        except UnicodeEncodeError as error:
            self.refuse(
                text.count("\n", 0, error.start) + 1, "a character that is no Unicode text", "UTF-8 text"
            )
        if len(content) > MAX_BYTES:
            self.refuse(1, f"more than {MAX_BYTES // 2**20} MB of text", "a smaller model file")
        try:
            self.expat.Parse(content, True)
        except expat.ExpatError as error:
            self.syntax_error(error)
        assert self.root is not None
        return self.root

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag, attributes, self.expat.CurrentLineNumber)
        self.count += 1
        if len(self.stack) >= self.max_depth or self.count > MAX_ELEMENTS:
            limit = f"at most {self.max_depth} levels and {MAX_ELEMENTS} elements"
            self.refuse(
                element.line, f"{element} nested {len(self.stack)} levels deep, element {self.count}", limit
            )
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()

    def characters(self, text: str) -> None:
        if self.stack and not text.isspace():
            self.stack[-1].text += text

    def doctype(self, *declaration: object) -> None:
        line = self.expat.CurrentLineNumber
        self.refuse(line, "<!DOCTYPE> or an entity declaration", "none: entities are not read", "Delete it.")

    def syntax_error(self, error: expat.ExpatError) -> None:
        reason = expat.errors.messages.get(error.code, "") or expat.ErrorString(error.code) or "broken XML"
        if self.root is None:
            self.refuse(
                error.lineno, f"{reason} (empty, or no XML)", "an XML file with one element that holds all"
            )
        inside = f" inside {self.stack[-1]} of line {self.stack[-1].line}" if self.stack else ""
        self.refuse(
            error.lineno,
            f"an XML syntax error{inside}: {reason}",
            "well-formed XML",
            "Is a tag missing, misspelled or cut off?",
        )

    def refuse(self, line: int, found: str, expected: str, hint: str = "") -> None:
        raise ModelError(Finding(f"{self.name}:{line}", found, expected, hint))
