"""Reading DMIG cards: matrices term by term, each row and column a grid's component or a scalar point."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

from articulus.errors import Finding, ModelError, did_you_mean
from articulus.model.files.fe.cards import Deck
from articulus.model.files.fe.data import Dof, MatrixSet
from articulus.model.files.fe.fields import Fields
from articulus.model.files.fe.op4_source import MAX_SIZE
from articulus.model.files.storage import StrPath, as_path, load_text

SQUARE, RECTANGULAR, SYMMETRIC, NUMBERED = 1, 2, 6, 9
"""Forms: columns are degrees of freedom in all but the last, where they are numbered from 1."""

TERM = 4
"""Fields of a term: grid, component, real part, imaginary part."""


def read_dmig(path: StrPath) -> MatrixSet:
    """Return the matrices of the DMIG cards of a bulk-data or punch file, on the degrees of freedom that any of them names.

    Other cards are passed over. Rows and columns ascend by grid and component. Raises ModelError with everything that is
    wrong.

    Parameters
    ----------
    path : path
        The file; UTF-8, at most 64 MB.
    """
    place = as_path(path)
    return parse_dmig(load_text(place), place.name, folder=place.parent)


def parse_dmig(text: str, name: str = "matrices.pch", *, folder: Path | None = None) -> MatrixSet:
    """Return the matrices of a text, as `read_dmig` does; `name` stands for the file in messages."""
    deck = Deck(name, folder)
    deck.read(text)
    found: dict[str, _Terms] = {}
    for card in deck.cards:
        if card.name == "DMIG":
            _take(Fields(card, deck.findings), found)
    if not found and not deck.findings:
        deck.findings.append(Finding(name, "no DMIG card", "matrices as DMIG cards"))
    if deck.findings:
        raise ModelError(deck.findings)
    dofs = sorted(set[Dof]().union(*(terms.dofs() for terms in found.values())))
    places = {dof: i for i, dof in enumerate(dofs)}
    return MatrixSet(name, {key: terms.matrix(places) for key, terms in found.items()}, tuple(dofs))


@dataclass
class _Terms:
    """A matrix on its way: form, whether complex (and polar), columns if numbered, and its terms by (row, column)."""

    form: int
    pairs: bool
    polar: bool
    columns: int
    values: dict[tuple[Dof, Dof], complex] = field(default_factory=dict)

    def matrix(self, places: dict[Dof, int]) -> sparse.csr_array:
        """Return the matrix on the degrees of freedom of `places`."""
        entries = dict(self.values)
        if self.form == SYMMETRIC:
            entries |= {(b, a): x for (a, b), x in self.values.items()}
        numbered = self.form == NUMBERED
        rows = [places[row] for row, _ in entries]
        columns = [column[0] - 1 if numbered else places[column] for _, column in entries]
        values = np.array(list(entries.values()), dtype=complex)
        shape = (len(places), self.columns if numbered else len(places))
        terms = values if self.pairs else values.real
        return sparse.coo_array((terms, (rows, columns)), shape=shape).tocsr()

    def dofs(self) -> set[Dof]:
        """Return the degrees of freedom that it names."""
        return {dof for pair in self.values for dof in (pair[:1] if self.form == NUMBERED else pair)}


def _take(f: Fields, found: dict[str, _Terms]) -> None:
    """Take up a card: the header of a matrix when its second field is 0, else a column."""
    name = f.card.get(0).upper()
    if f.integer(1, "GJ", least=0) == 0:
        header = _header(f)
        if name in found:
            f.refuse(0, "NAME", f"a second header of '{name}'", "one header a matrix")
        else:
            found[name] = header
    elif name not in found:
        hint = did_you_mean(name, found)
        f.refuse(
            0, "NAME", f"a column of '{name}' without its header", "DMIG, name, 0, form, type first", hint
        )
    else:
        _column(f, found[name])


def _header(f: Fields) -> _Terms:
    form = f.integer(2, "IFO")
    kind = f.integer(3, "TIN")
    if form not in (SQUARE, RECTANGULAR, SYMMETRIC, NUMBERED):
        f.refuse(2, "IFO", str(form), "1 (square), 2 or 9 (rectangular) or 6 (symmetric)")
    if kind not in (1, 2, 3, 4):
        f.refuse(3, "TIN", str(kind), "1 or 2 (real), 3 or 4 (complex)")
    columns = f.integer(7, "NCOL") if form == NUMBERED else 0
    if columns > MAX_SIZE:
        f.refuse(7, "NCOL", str(columns), f"at most {MAX_SIZE}")
    return _Terms(form, kind > 2, f.integer(5, "POLAR", 0, 0) > 0, columns)


def _column(f: Fields, terms: _Terms) -> None:
    column = f.integer(1, "GJ"), _component(f, 2)
    if terms.form == NUMBERED and column[0] > terms.columns:
        f.refuse(1, "GJ", f"column {column[0]}", f"one of 1 to {terms.columns}")
    for start in range(TERM, len(f.card.fields), TERM):
        if not any(f.card.fields[start : start + TERM]):
            continue
        row = f.integer(start, "GI"), _component(f, start + 1)
        a, b = f.real(start + 2, "AI"), f.real(start + 3, "BI", 0.0) if terms.pairs else 0.0
        pair = (row, column)
        if pair in terms.values or (terms.form == SYMMETRIC and row != column and pair[::-1] in terms.values):
            f.refuse(start, "GI", f"a second term of {row} and {column}", "one, above or below the diagonal")
        terms.values[pair] = cmath.rect(a, math.radians(b)) if terms.polar and terms.pairs else complex(a, b)


def _component(f: Fields, index: int) -> int:
    value = f.integer(index, "C", 0, 0)
    if value > 6:
        f.refuse(index, "C", str(value), "1 to 6, or 0 for a scalar point")
    return value
