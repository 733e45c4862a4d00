"""Pages of fits and designs: figures, tables and pictures in one HTML file that loads nothing."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from articulus.study.report.markup import Markup, element, join, number, section, table
from articulus.study.report.page import page_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.design.fits.fit import ParameterFit


def page_of(title: str, body: str, figures: Sequence[Figure] = ()) -> str:
    """Return a page with a body, HTML that is safe already, and figures."""
    parts = {"Figures and numbers": section("Figures and numbers", Markup(body), anchor="numbers")}
    if figures:
        parts["Pictures"] = section("Pictures", *map(_picture, figures), anchor="pictures")
    anchors = {"Figures and numbers": "numbers", "Pictures": "pictures"}
    return page_text(
        parts, anchors, kicker="articulus", title=title, purpose="", banner=Markup(""), footer=Markup("")
    )


def fit_page(fits: Mapping[str, ParameterFit]) -> str:
    """Return the page of one or several fits beside each other."""
    blocks = []
    for name, fit in fits.items():
        verdict = element("p", f"{name}: {fit.verdict}", class_="purpose")
        doubts = element("ul", join(element("li", w) for w in fit.warnings)) if fit.warnings else Markup("")
        values = table(
            "Parameters",
            ["parameter", "value", "deviation", "from"],
            [
                [n, number(x), number(s), number(a)]
                for n, x, s, a in zip(fit.names, fit.values, fit.deviations, fit.start)
            ],
            numbers=(1, 2, 3),
        )
        errors = table(
            "Errors",
            ["entry", "error, fitted", "error, held out", "variance explained", "probability of white residuals"],
            [
                [e, number(x), number(fit.validation.get(e, float("nan"))), number(fit.shares.get(e, float("nan"))), number(fit.whiteness.get(e, float("nan")))]
                for e, x in fit.training.items()
            ],
            (1, 2, 3, 4),
        )  # fmt: skip
        ties = table(
            "Correlation",
            ["correlation", *fit.names],
            [[n, *map(number, row)] for n, row in zip(fit.names, fit.correlation)],
            range(1, len(fit.names) + 1),
        )
        blocks.append(join([verdict, doubts, values, errors, ties]))
    return page_of(
        "Fit" if len(fits) == 1 else "Fits", str(join(blocks)), [_histories(f) for f in fits.values()]
    )


def _histories(fit: ParameterFit) -> Any:
    """Return what was measured, what the fitted loop gives, and the residuals."""
    import matplotlib.pyplot as plt

    entries = [(e, k) for e in fit.experiments for k in range(len(e.entries))]
    figure, panels = plt.subplots(
        len(entries), 2, squeeze=False, figsize=(10, 2.3 * len(entries)), sharex="row", layout="constrained"
    )
    for (e, k), (left, right) in zip(entries, panels):
        y, *_ = e.predict(fit.names, fit.values, fit.delay)
        left.plot(e.record.t, e.measured[:, k], ".", markersize=2, color="0.6", label="measured")
        left.plot(e.record.t, y[:, k], color="black", linewidth=0.9, label="fitted")
        right.plot(e.record.t, y[:, k] - e.measured[:, k], linewidth=0.7)
        left.set_ylabel(f"{e.record.name}: {e.entries[k]}", fontsize=8)
        right.set_ylabel("residual", fontsize=8)
    panels[0, 0].legend(fontsize=7)
    for axes in panels[-1]:
        axes.set_xlabel("time [s]")
    return figure


def _picture(figure: Figure) -> Markup:
    import matplotlib.pyplot as plt

    text = io.StringIO()
    figure.savefig(text, format="svg")
    plt.close(figure)
    return Markup(text.getvalue()[text.getvalue().index("<svg") :])
