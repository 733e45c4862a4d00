"""What joins grids in bulk data: RBE2, RBE3, CELAS2, CMASS2."""

from __future__ import annotations

import re

from articulus.model.files.fe.data import Dof, MeanElement, Rigid, ScalarElement
from articulus.model.files.fe.fields import Fields, real

MAX_RANGE = 1_000_000
"""Most ids that A THRU B may mean."""


def rigid(f: Fields) -> Rigid:
    """Return the rigid element of an RBE2 card; thermal expansion (ALPHA) is read over."""
    places = [i for i in range(3, len(f.card.fields)) if f.card.get(i)]
    if places and _is_real(f.card.get(places[-1])):
        places.pop()
    components = f.components(2, "CM")
    if components == (0,):
        f.refuse(2, "CM", "no component", "digits of 1 to 6")
    dependents = _ids(f, places, "GM")
    grid = f.integer(1, "GN")
    for i in places:
        if f.card.get(i) == str(grid):
            f.refuse(i, "GM", f"grid {grid}, which leads", "other grids")
    return Rigid(f.integer(0, "EID"), grid, components, dependents)


def mean(f: Fields) -> MeanElement:
    """Return the weighted mean of an RBE3 card."""
    grid = f.integer(2, "REFGRID")
    components = f.components(3, "REFC")
    if components == (0,):
        f.refuse(3, "REFC", "no component", "digits of 1 to 6")
    starts, last = [], len(f.card.fields)
    for i in range(4, len(f.card.fields)):
        text = f.card.get(i).upper()
        if text == "UM":
            f.refuse(i, "UM", "UM", "nothing: it is not read here", "Let REFGRID be the grid that follows.")
        if text in ("UM", "ALPHA"):
            last = min(last, i)
        if _is_real(text) and i < last:
            starts.append(i)
    sets = []
    for first, end in zip(starts, [*starts[1:], last]):
        places = [i for i in range(first + 2, end) if f.card.get(i)]
        if not f.real(first, "WT") > 0:
            f.refuse(first, "WT", f.card.get(first), "a weight above zero")
        counts = f.components(first + 1, "C")
        if counts == (0,):
            f.refuse(first + 1, "C", "no component", "digits of 1 to 6")
        sets.append((f.real(first, "WT"), counts, _ids(f, places, "G")))
    if not sets:
        f.refuse(4, "WT1", "no weight", "WT, C and grids, at least once")
    return MeanElement(f.integer(0, "EID"), grid, components, tuple(sets))


def scalar(f: Fields) -> ScalarElement:
    """Return the spring or mass of a CELAS2 or CMASS2 card; damping GE and stress S are read over."""
    f.ends(8 if f.card.name == "CELAS2" else 6)
    value = f.real(1, "K" if f.card.name == "CELAS2" else "M", None, 0.0)
    ends = [_end(f, i) for i in (2, 4)]
    given = [end for end in ends if end is not None]
    if not given:
        f.refuse(2, "G1", "no grid", "at least one grid and its component")
        given = [(1, 1)]
    return ScalarElement(f.integer(0, "EID"), value, given[0], given[1] if len(given) > 1 else None)


def _end(f: Fields, index: int) -> Dof | None:
    if f.card.get(index) in ("", "0"):
        return None
    components = f.components(index + 1, "C")
    if len(components) != 1:
        f.refuse(index + 1, "C", f.card.get(index + 1), "one component")
        return None
    return f.integer(index, "G"), components[0]


def _ids(f: Fields, places: list[int], label: str) -> tuple[int, ...]:
    """Return the ids of some fields, A THRU B written out."""
    out: list[int] = []
    texts = [f.card.get(i).upper() for i in places]
    skip = 0
    for k, i in enumerate(places):
        if skip:
            skip -= 1
        elif k + 2 < len(places) and texts[k + 1] == "THRU":
            first, last = f.integer(i, label), f.integer(places[k + 2], label)
            if not first <= last <= first + MAX_RANGE:
                f.refuse(places[k + 2], label, str(last), f"an id of {first} to {first + MAX_RANGE}")
                last = first
            out += range(first, last + 1)
            skip = 2
        else:
            out.append(f.integer(i, label))
    if not out:
        f.refuse(3, label, "no grid", "at least one grid")
    return tuple(out)


def _is_real(text: str) -> bool:
    return real(text) is not None and not re.fullmatch(r"[+-]?\d+", text)
