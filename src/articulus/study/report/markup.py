"""Pieces of HTML. Every text is escaped unless it is Markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from articulus.errors import brief, doubtful


class Markup(str):
    """A text that is HTML and stays as it is."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """Return a text as HTML that shows it."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def join(parts: Iterable[Any]) -> Markup:
    """Return pieces one after another."""
    return Markup("\n".join(escape(part) for part in parts))


def element(tag: str, content: Any = "", **attributes: str) -> Markup:
    """Return an element; `class_` is the attribute class."""
    given = "".join(f' {_attribute(name)}="{html.escape(text)}"' for name, text in attributes.items())
    return Markup(f"<{tag}{given}>{escape(content)}</{tag}>")


def section(title: str, *parts: Any, anchor: str) -> Markup:
    """Return a section with a heading; nothing when it would be empty."""
    content = join(part for part in parts if part)
    if not content:
        return Markup()
    head = element("h2", title, id=f"{anchor}-title")
    return Markup(f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n{head}\n{content}\n</section>')


def written_or_told(title: str, anchors: Mapping[str, str], write: Callable[[], Markup]) -> Markup:
    """Return a section of a report; in place of one that cannot be written, why: the others are not lost with it."""
    try:
        return write()
    except Exception as error:  # noqa: BLE001  (hours of computation must not be lost to a table)
        reason = f"{type(error).__name__}: {brief(error)}"
        doubtful(f"report: the section '{title}' could not be written ({reason}); the others are complete")
        return section(
            title, element("p", f"This section could not be written: {reason}."), anchor=anchors[title]
        )


def table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], numbers: Sequence[int] = ()
) -> Markup:
    """Return a table whose first column names its rows; nothing without rows.

    Columns counted in `numbers` are set as numbers, to the right.
    """
    if not rows:
        return Markup()
    kinds = ["number" if k in numbers else "text" for k in range(len(columns))]
    head = join(element("th", c, scope="col", class_=kind) for c, kind in zip(columns, kinds))
    lines = []
    for row in rows:
        first = element("th", row[0], scope="row")
        lines.append(
            element("tr", join([first, *(element("td", x, class_=k) for x, k in zip(row[1:], kinds[1:]))]))
        )
    body = element("tbody", join(lines))
    inner = join([element("caption", caption), element("thead", element("tr", head)), body])
    return element(
        "div", element("table", inner), class_="scroll", tabindex="0", role="region", aria_label=caption
    )


def number(x: float) -> str:
    """Return a number as tables show it: six digits, a true minus sign."""
    if x != x:
        return "–"
    return f"{x + 0.0:.6g}".replace("-", "−")


def ratio(x: float) -> str:
    """Return a ratio with three digits, without a power of ten."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def readable(text: str) -> str:
    """Return a text whose powers are typeset: 2e-08 m^2 becomes 2 × 10⁻⁸ m²."""
    text = _EXPONENT.sub(lambda match: f" × 10{_superscript(str(int(match[1])))}", text)
    return _POWER.sub(lambda match: _superscript(match[1]), text)


_EXPONENT = re.compile(r"(?<=\d)e([+-]\d+)\b")
_POWER = re.compile(r"(?<=[a-z])\^([+-]?\d+)\b(?!\.)")


def _superscript(digits: str) -> str:
    return digits.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
