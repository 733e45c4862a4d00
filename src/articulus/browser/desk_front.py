"""Designs to choose from on the design desk: those of a front, of a sweep, or of several starts, as plain data for the page.

axes      [str, str]   names of what is drawn across and up
designs   [{x, y, values, rest}]   values {parameter: number} are loaded when the design is chosen; rest {name: number}, what else is known
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from articulus.errors import InputError

MOST = 2000
"""Designs that a page takes."""


def front_for_page(given: Any, parameters: Sequence[str]) -> dict[str, Any]:
    """Return designs as the page takes them; see the module.

    Parameters
    ----------
    given : Front, or sequence of dicts of name to number
        What is named like a parameter of the run is loaded; the costs of a front, or the first two other numbers, are the axes.
    parameters : sequence of str
        Parameters of the run.

    Raises
    ------
    InputError
        No designs, different columns, no parameter of the run, fewer than two other numbers, or numbers that are not finite.
    """
    rows = [dict(row) for row in (given.table() if hasattr(given, "table") else given)]
    if not 1 <= len(rows) <= MOST:
        raise InputError(f"desk: found {len(rows)} designs; expected 1 to {MOST}")
    names = list(rows[0])
    for k, row in enumerate(rows):
        if list(row) != names:
            raise InputError(
                f"desk: design {k} has {', '.join(row)}; expected those of the first one, {', '.join(names)}"
            )
        _require_numbers(k, row)
    known = [n for n in names if n in parameters]
    measures = [n for n in names if n not in parameters]
    axes = list(given.names) if hasattr(given, "names") else measures[:2]
    if not known:
        raise InputError(
            f"desk: designs have {', '.join(names)}; expected a parameter of the run among them, {', '.join(parameters)}: a structure is designed by "
            "sizes that the run has no names for?"
        )
    if len(axes) != 2:
        raise InputError(
            f"desk: designs have {', '.join(measures) or 'nothing'} beside parameters; expected two numbers to draw them by"
        )
    return {
        "axes": axes,
        "designs": [
            {
                "x": float(row[axes[0]]),
                "y": float(row[axes[1]]),
                "values": {n: float(row[n]) for n in known},
                "rest": {n: float(row[n]) for n in measures if n not in axes},
            }
            for row in rows
        ],
    }


def _require_numbers(k: int, row: Mapping[str, Any]) -> None:
    for name, x in row.items():
        try:
            finite = math.isfinite(x)
        except TypeError:
            finite = False
        if not finite:
            raise InputError(f"desk: design {k}, '{name}': found {x!r}; expected a finite number")
