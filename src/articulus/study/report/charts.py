"""Figures of a run as SVG that stands inside a page: its fonts, its colours, its light or dark."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from articulus.simulate.plots import COLOURS
from articulus.study.report.markup import Markup, escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONTS = ["DejaVu Sans", "Verdana", "sans-serif"]
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "path.simplify": True,
    "path.simplify_threshold": 0.25,
    "font.family": "sans-serif",
    "font.sans-serif": FONTS,
}
INKS = {
    "#000000": "currentColor",
    "#111111": "currentColor",
    "#e5e5e5": "var(--line)",
    "#e6e6e6": "var(--line)",
}
"""What the page's own colours stand for."""

_HEAD = re.compile(r"^.*?(?=<svg)", re.S)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
_NAMESPACE = re.compile(r'\s+xmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')
_SIZE = re.compile(r'\s(?:width|height)="[\d.]+pt"')
_DECIMALS = re.compile(r"(?<=\d\.\d\d)\d+")


def svg(figure: Figure, title: str, prefix: str) -> Markup:
    """Return a figure as an <svg> element.

    Parameters
    ----------
    figure : matplotlib Figure
    title : str
        What it shows, for those who cannot see it.
    prefix : str
        Beginning of all its identifiers, different for each figure of a page.
    """
    import matplotlib

    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": prefix}), io.StringIO() as file:
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        text = file.getvalue()
    text = _METADATA.sub("", _HEAD.sub("", text))
    text = _NAMESPACE.sub("", text)
    text = _ID.sub(rf"\g<1>{prefix}-", text)
    text = _DECIMALS.sub("", text)
    text = _SIZE.sub("", text, count=2)
    for colour, ink in (INKS | {c: f"var(--series-{k})" for k, c in enumerate(COLOURS)}).items():
        text = text.replace(colour, ink)
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escaped(title)}"', 1))
