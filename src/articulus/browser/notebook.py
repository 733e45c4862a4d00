"""What mechanisms and runs show in a notebook: a picture, a table, plots, and a page that plays."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from articulus.browser.export import replay_fragment
from articulus.browser.picture import picture
from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism.inertias import body_mass

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run

MOST_ROWS = 40
"""Bodies of a table; the others are counted."""
MOST_BYTES = 4_000_000
"""Characters of a page that plays up to which it is part of the notebook."""


def mechanism_html(mechanism: Mechanism) -> str:
    """Return a picture of a mechanism and the table of its bodies and joints."""
    d = mechanism.description
    title = f"{d.name}: {len(d.bodies)} bodies, {d.nv} degrees of freedom"
    shown = f'<img width="420" alt="{html.escape(d.name)}" src="data:image/png;base64,{_text(picture(mechanism))}">'
    rows = [
        (
            c.child,
            f"{body_mass(body)[0]:.6g}" + ("" if body.modes is None else ", flexible"),
            c.name,
            c.joint.type_name,
            c.parent,
        )
        for c in d.connections[:MOST_ROWS]
        for body in d.bodies
        if body.name == c.child
    ]
    more = f"<p>and {len(d.connections) - MOST_ROWS} more</p>" if len(d.connections) > MOST_ROWS else ""
    return f"<p><b>{html.escape(title)}</b></p>{shown}{_table(('body', 'mass [kg]', 'joint', 'type', 'on'), rows)}{more}"


def run_html(run: Run) -> str:
    """Return a run's diagnostics, its plots, and a page that plays it."""
    parts = [f"<p><b>{html.escape(repr(run).strip('<>'))}</b></p>"]
    try:
        out = io.BytesIO()
        run.plot().savefig(out, format="png", dpi=90)
        parts.append(f'<img alt="signals" src="data:image/png;base64,{_text(out.getvalue())}">')
    except ImportError:  # without matplotlib there are no plots
        pass
    page = replay_fragment(run) if run.t.size else ""
    if page and len(page) <= MOST_BYTES:
        sized = page.replace("<iframe ", '<iframe width="100%" height="520" style="border:0" ', 1)
        parts.append(f"<details><summary>Play</summary>{sized}</details>")
    parts.append(f"<details><summary>Diagnostics</summary>{_table(('', ''), run.figures())}</details>")
    return "".join(parts)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(x))}</td>" for x in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{''.join(f'<th>{html.escape(h)}</th>' for h in head)}</tr>{cells}</table>"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
