"""Figures of a run as SVG inside a page: its fonts, its colors, its light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from articulus.simulation.results.plots import COLORS, plot
from articulus.simulation.results.run import Run
from articulus.study.report.markup import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONTS = ["DejaVu Sans", "Verdana", "sans-serif"]
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
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
    **dict.fromkeys(("#404040", "#595959", "#737373"), "var(--soft)"),
}
"""What the page's own colors mean."""

_HEAD = re.compile(r"^.*?(?=<svg)", re.S)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
_NAMESPACE = re.compile(r'\s+xmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')
_SIZE = re.compile(r'\s(?:width|height)="[\d.]+pt"')
_PATH = re.compile(r'\bd="[^"]*"')
_DECIMALS = re.compile(r"(?<=\d\.\d\d)\d+")


def chart(run: Run, names: Sequence[str], title: str, prefix: str) -> Markup:
    """Return signals over time as an <svg> element.

    Parameters
    ----------
    run : Run
    names : sequence of str
        Signals or entries; the usual ones if there are none.
    title : str
        What it shows, for those who cannot see it.
    prefix : str
        Beginning of all its identifiers, different for each figure of a page.
    """

    def draw() -> Figure:
        figure = plot({"": run}, *names)
        figure.suptitle("")
        return figure

    return drawing(draw, title, prefix)


def drawing(drawn: Callable[[], Figure], title: str, prefix: str) -> Markup:
    """Return any figure, drawn when it is asked for, as an <svg> element; see `chart`."""
    import matplotlib
    from cycler import cycler

    cycle = cycler(color=COLORS)
    settings = {**SETTINGS, "svg.hashsalt": prefix, "axes.prop_cycle": cycle}
    with matplotlib.rc_context(settings), io.StringIO() as file:
        figure = drawn()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        text = file.getvalue()
    text = _METADATA.sub("", _HEAD.sub("", text))
    text = _NAMESPACE.sub("", text)
    text = _ID.sub(rf"\g<1>{prefix}-", text)
    text = _PATH.sub(lambda match: _DECIMALS.sub("", match[0]), text)
    text = _SIZE.sub("", text, count=2)
    for color, ink in (INKS | {c: f"var(--series-{k})" for k, c in enumerate(COLORS)}).items():
        text = text.replace(color, ink)
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1))
