"""DMIG cards give their matrices on all degrees of freedom they name."""

import numpy as np
import pytest

from articulus.errors import ModelError
from articulus.model.files import parse_dmig, read_dmig

from .support import DATA, small, tridiagonal

HEADER = small("DMIG", "K", 0, 6, 1, 0)


def test_punch_file_by_pyyeti() -> None:
    found = read_dmig(DATA / "pyyeti.pch")
    assert found.dofs == ((1, 1), (1, 5), (2, 1), (2, 5), (9, 0), (12, 3))
    np.testing.assert_allclose(found["KAA"].toarray(), tridiagonal(), rtol=1e-9)  # the file has ten digits
    np.testing.assert_array_equal(found["UNSYM"].toarray(), np.arange(36.0).reshape(6, 6))


def test_small_fields_two_terms_a_line() -> None:
    """Example of the manuals' form: a second term on the continuation, the other triangle by symmetry."""
    text = HEADER + small(
        "DMIG", "K", 27, 1, None, 27, 1, "3.+5", None, 27, 3, "2.5+10", None, 50, None, "1.0"
    )
    found = parse_dmig("GRID,1,,0.,0.,0.\n" + text)
    assert found.dofs == ((27, 1), (27, 3), (50, 0))
    np.testing.assert_array_equal(found["K"].toarray(), [[3e5, 2.5e10, 1], [2.5e10, 0, 0], [1, 0, 0]])


def test_complex_polar_and_numbered_columns() -> None:
    polar = small("DMIG", "C", 0, 1, 3, 0, 1) + small("DMIG", "C", 1, 1, None, 1, 1, "2.", "90.")
    np.testing.assert_allclose(parse_dmig(polar)["C"].toarray(), [[2j]], atol=1e-15)
    numbered = small("DMIG", "B", 0, 9, 1, 0, None, None, 3) + small("DMIG", "B", 2, None, None, 8, 4, "5.")
    found = parse_dmig(numbered)
    assert found.dofs == ((8, 4),)
    np.testing.assert_array_equal(found["B"].toarray(), [[0, 5, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            small("DMIG", "K", 1, 1, None, 1, 1, "1."),
            r"m\.pch:1: DMIG K, field 2 \(NAME\): found a column of 'K' without",
        ),
        (HEADER + HEADER, "a second header of 'K'"),
        (small("DMIG", "K", 0, 4, 1), r"field 4 \(IFO\): found 4; expected 1 \(square\)"),
        (small("DMIG", "K", 0, 6, 8), r"field 5 \(TIN\): found 8"),
        (HEADER + small("DMIG", "K", 1, 7, None, 1, 1, "1."), r"m\.pch:2: DMIG K, field 4 \(C\): found 7"),
        (
            HEADER + small("DMIG", "K", 1, 1, None, 1, 1, "1"),
            r"field 8 \(AI\): found '1'; .*Write 1\. with a decimal",
        ),
        (
            HEADER + small("DMIG", "K", 1, 1, None, 1, 2, "1.") + small("DMIG", "K", 1, 2, None, 1, 1, "1."),
            r"a second term of \(1, 1\) and \(1, 2\)",
        ),
        ("GRID,1,,0.,0.,0.\n", r"m\.pch: found no DMIG card"),
    ],
)
def test_broken(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_dmig(text, "m.pch")
