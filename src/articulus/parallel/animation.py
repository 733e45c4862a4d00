"""Animated pictures of machines: which cell does what, one cycle after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

from articulus.errors import InputError

SIZE, MARGIN, TOP = 74, 10, 30
"""Width of a cell, edge of the picture and height of its heading [pixels]."""


@dataclass(frozen=True)
class CellWork:
    """What one cell does in one cycle, or in several.

    Attributes
    ----------
    row, column : int
        Place of the cell in the picture, from 0.
    begin, end : int
        First and last cycle, from 1.
    text : str
        At most some ten letters.
    """

    row: int
    column: int
    begin: int
    end: int
    text: str


def animate(
    cells: Sequence[tuple[int, int]],
    work: Iterable[CellWork],
    cycles: int | Sequence[str],
    cycle_duration: float = 1.0,
    heads: Sequence[str] = (),
) -> str:
    """Return an animated SVG picture of cells in rows and columns; a cell that works is colored.

    Parameters
    ----------
    cells : sequence of (int, int)
        Row and column of each cell, from 0.
    work : iterable of CellWork
    cycles : int or sequence of str
        How many there are, or the heading of each.
    cycle_duration : float [s]
        Time for which a cycle is shown.
    heads : sequence of str
        Headings of the columns.
    """
    if not cycle_duration > 0:
        raise InputError(f"cycle_duration = {cycle_duration!r}; expected a time above zero")
    titles = [f"cycle {c}" for c in range(1, cycles + 1)] if isinstance(cycles, int) else list(cycles)
    rows, columns = (1 + max(place[k] for place in cells) for k in range(2))
    top = TOP + (20 if heads else 0)
    width, height = SIZE * columns + 2 * MARGIN, SIZE * rows + top + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for k, head in enumerate(heads):
        parts.append(
            f'<text x="{MARGIN + SIZE * (k + 0.5):g}" y="{TOP + 10}" font-size="12">{escape(head)}</text>'
        )
    parts += [_box(row, column, top, "#eef3f8", "/>") for row, column in cells]
    whole = len(titles) * cycle_duration
    for k, title in enumerate(titles):
        parts.append(
            _text(title, width / 2, 20.0, _appearance(k / len(titles), (k + 1) / len(titles), whole), "")
        )
    for each in work:
        blink = _appearance((each.begin - 1) / len(titles), each.end / len(titles), whole)
        parts.append(_box(each.row, each.column, top, "#fdd49e", f' opacity="0">{blink}</rect>'))
        x, y = MARGIN + SIZE * (each.column + 0.5), top + 6 + SIZE * (each.row + 0.5)
        squeeze = f' textLength="{SIZE - 14}" lengthAdjust="spacingAndGlyphs"' if len(each.text) > 8 else ""
        parts.append(_text(each.text, x, y, blink, squeeze))
    return "\n".join([*parts, "</svg>", ""])


def _box(row: int, column: int, top: int, color: str, end: str) -> str:
    left, upper = MARGIN + SIZE * column, top + SIZE * row
    return (
        f'<rect x="{left + 4}" y="{upper + 4}" width="{SIZE - 8}" height="{SIZE - 8}" rx="5" fill="{color}" '
        f'stroke="#333333"{end}'
    )


def _text(text: str, x: float, y: float, blink: str, more: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="14" opacity="0"{more}>{escape(text)}{blink}</text>'


def _appearance(begin: float, end: float, whole: float) -> str:
    """Return the animation that shows something between two parts of the whole time."""
    marks = [(0.0, 0), (begin, 1), (end, 0)]
    kept = [(t, x) for (t, x), (following, _) in pairwise([*marks, (1.0, 0)]) if following > t]
    times, values = ";".join(f"{t:.4f}" for t, _ in kept), ";".join(str(x) for _, x in kept)
    return (
        f'<animate attributeName="opacity" calcMode="discrete" values="{values}" keyTimes="{times}" '
        f'dur="{whole:g}s" repeatCount="indefinite"/>'
    )


__all__ = ["CellWork", "animate"]
