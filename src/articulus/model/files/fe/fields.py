"""Fields of a card as numbers, each mistake noted with file, line, card, field, what was found and what is expected."""

from __future__ import annotations

import math
import re

from articulus.errors import Finding
from articulus.model.files.fe.cards import ROW, Card
from articulus.model.files.fe.data import Vector

_INTEGER = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_REAL = re.compile(r"([+-]?(?:\d+\.\d*|\.\d+))(?:[EDed]?([+-]\d{1,3})|[EDed](\d{1,3}))?", re.ASCII)
_NO_POINT = re.compile(r"[+-]?\d+(?:[EDed][+-]?\d{1,3})?", re.ASCII)


class Fields:
    """The fields of one card.

    Parameters
    ----------
    card : Card
    findings : list of Finding
        Mistakes are appended here; what is read in place of one is a harmless number, and `ok` turns False.
    """

    def __init__(self, card: Card, findings: list[Finding]):
        self.card = card
        self.findings = findings
        self.ok = True

    def refuse(self, index: int, label: str, found: str, expected: str, hint: str = "") -> None:
        """Note a mistake in a data field, counted from 0."""
        self.ok = False
        name = " ".join([self.card.name, self.card.get(0)]).strip()
        where = f"{self.card.where(index)}: {name}, field {index % ROW + 2} ({label})"
        self.findings.append(Finding(where, found, expected, hint))

    def integer(self, index: int, label: str, default: int | None = None, least: int = 1) -> int:
        """Return an integer of at least `least`; a field without a default has to be there."""
        text = self.card.get(index)
        if not text and default is not None:
            return default
        value = int(text) if _INTEGER.fullmatch(text) else None
        if value is None or value < least:
            self.refuse(
                index,
                label,
                repr(text) if text else "nothing",
                f"an integer of at least {least}",
                _shift(text),
            )
            return least if default is None else default
        return value

    def real(self, index: int, label: str, default: float | None = None, least: float = -math.inf) -> float:
        """Return a real number of at least `least`; a field without a default has to be there."""
        text = self.card.get(index)
        if not text and default is not None:
            return default
        value = real(text)
        if value is None:
            hint = f"Write {text}. with a decimal point." if re.fullmatch(r"[+-]?\d+", text) else ""
            if not hint and _NO_POINT.fullmatch(text):
                hint = "Write the decimal point."
            self.refuse(index, label, repr(text) if text else "nothing", "a real number such as 1.5-3", hint)
            return 1.0
        if not value >= least:
            self.refuse(index, label, text, f"a number of at least {least:g}")
            return 1.0
        return value

    def positive(self, index: int, label: str) -> float:
        """Return a number that has to be there and above zero."""
        value = self.real(index, label)
        if self.card.get(index) and value <= 0:
            self.refuse(index, label, self.card.get(index), "a number above zero")
            return 1.0
        return value

    def vector(self, index: int, label: str, default: float | None = 0.0) -> Vector:
        """Return three numbers from three fields."""
        x, y, z = (self.real(index + i, f"{label}{i + 1}", default) for i in range(3))
        return x, y, z

    def components(self, index: int, label: str, default: str | None = None) -> tuple[int, ...]:
        """Return the components of a field such as 1246; (0,) for 0 or nothing, when that is allowed."""
        text = self.card.get(index)
        if not text and default is not None:
            text = default
        if text in ("0", ""):
            return (0,)
        if not re.fullmatch(r"[1-6]{1,6}", text, re.ASCII) or len(set(text)) < len(text):
            self.refuse(index, label, repr(text), "digits of 1 to 6, none twice", _shift(text))
            return ()
        return tuple(sorted(map(int, text)))

    def zeros(self, first: int, last: int, what: str, hint: str) -> None:
        """Note every field of a range that is neither empty nor zero."""
        for index in range(first, min(last, len(self.card.fields) - 1) + 1):
            text = self.card.get(index)
            if text and real(text) != 0 and not re.fullmatch(r"0+", text):
                self.refuse(index, what, repr(text), "nothing: it is not read here", hint)

    def ends(self, count: int) -> None:
        """Note the first field behind the last that the card can have."""
        for index in range(count, len(self.card.fields)):
            if text := self.card.get(index):
                self.refuse(index, "behind the last", repr(text), f"at most {count} fields", _shift(text))
                return

    def ids(self, first: int) -> list[int]:
        """Return the ids of the fields from `first` on: a list, or A THRU B."""
        texts = [t for t in self.card.fields[first:] if t]
        if len(texts) == 3 and self.card.get(first + 1).upper() == "THRU":
            a, b = self.integer(first, "first"), self.integer(first + 2, "last")
            if b < a or b - a > 1_000_000:
                self.refuse(first + 2, "last", str(b), f"an id of {a} to {a + 1_000_000}")
                return []
            return list(range(a, b + 1))
        places = [i for i in range(first, len(self.card.fields)) if self.card.get(i)]
        if not places:
            self.refuse(first, "id", "nothing", "at least one id")
        return [self.integer(i, "id") for i in places]

    @property
    def range(self) -> bool:
        """Whether the card has the form A THRU B, in which points may be missing."""
        return any(t.upper() == "THRU" for t in self.card.fields)


def real(text: str) -> float | None:
    """Return a real number of any form that Nastran takes (1.5, 1.5E-3, 1.5D-3, 1.5-3); None for anything else."""
    match = _REAL.fullmatch(text)
    if match is None:
        return None
    value = float(f"{match[1]}E{match[2] or match[3] or 0}")
    return value if math.isfinite(value) else None


def _shift(text: str) -> str:
    return "Has a field slipped out of its columns?" if " " in text or "." in text else ""
