"""What is wrong with a model file, collected while it is read, each with the line it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from articulus.errors import Finding, InputError, ModelError

UNKNOWN = "unknown name"
"""Kind of a doubt: a name that is nearly, but not quite, a known one."""


class Report:
    """The findings of one file.

    Parameters
    ----------
    name : str
        Name of the file as messages show it.
    lines : mapping of str to int
        Line of each path such as "body.boom.mass"; a path that is missing stands on its parent's line.
    words : mapping of str to str
        What the file calls the first part of a path, where that differs: {"body": "link"}.
    """

    def __init__(self, name: str, lines: Mapping[str, int], words: Mapping[str, str] | None = None):
        self.name = name
        self.lines = lines
        self.words = words or {}
        self.findings: list[Finding] = []
        self.doubts: list[Finding] = []

    def locate(self, path: str) -> str:
        """Return a path with its file and line: "crane.toml:12: body.boom.mass"."""
        at = path
        while at and at not in self.lines:
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        line = self.lines.get(at, 1)
        head, dot, rest = path.partition(".")
        shown = f"{self.words.get(head, head)}{dot}{rest}"
        return f"{self.name}:{line}: {shown}" if path else f"{self.name}:{line}"

    def add(self, path: str, found: str, expected: str, hint: str = "") -> None:
        """Note a finding."""
        self.findings.append(Finding(self.locate(path), found, expected, hint))

    def doubt(self, kind: str, path: str, found: str, expected: str, hint: str = "") -> None:
        """Note a finding that does not stop the model; `kind` in the singular, such as "missing limit"."""
        self.doubts.append(Finding(self.locate(path), found, expected, hint, kind))

    def add_error(self, path: str, error: InputError) -> None:
        """Note what a constructor of the mechanism said about the object at `path`."""
        for f in error.findings:
            where = f"{path}.{f.field}" if f.field else path
            self.add(where, f.found, f.expected or "a value that makes sense", f.hint)

    def raise_if_any(self) -> None:
        """Raise ModelError with every finding in the order of the lines, if there is one.

        Names that are nearly known ones are told with them: a misspelled element is missing elsewhere.
        """
        if self.findings:
            unknown = [f for f in self.doubts if f.kind == UNKNOWN]
            raise ModelError(self.in_order([*self.findings, *unknown]))

    def in_order(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings in the order of the lines."""
        return sorted(findings, key=self._line)

    def _line(self, finding: Finding) -> int:
        digits = re.match(r"\d+", finding.where.removeprefix(f"{self.name}:"))
        return int(digits[0]) if digits else 0
