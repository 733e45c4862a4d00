"""OP4 files of every layout give the matrices that were written; broken ones are refused."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articulus.errors import InputError, ModelError
from articulus.model.files import parse_op4, read_op4

from .support import DATA, binary_op4, tridiagonal

REAL = np.array([[1.0, 0, -2.5], [0, 0, 3], [4, 0, 0], [5, 0, 0.125]])
COMPLEX = np.array([[1 - 2j, 0], [0, 0.5j], [-3, 0]])


@pytest.mark.parametrize("form", ["dense", "bigmat", "nonbigmat"])
def test_text_by_pyyeti(form: str) -> None:
    found = read_op4(DATA / f"pyyeti_{form}.op4")
    np.testing.assert_array_equal(found["KAA"].toarray(), tridiagonal())
    np.testing.assert_array_equal(
        found["CPX"].toarray(), [[0, 0, 3], [1 - 2j, 0, 0], [0, 0, 0], [0, 0, 0.5j]]
    )


@pytest.mark.parametrize("form", ["dense", "bigmat", "nonbigmat"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("word", [4, 8])
@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("A", [REAL, COMPLEX, np.zeros((2, 3))], ids=["real", "complex", "zero"])
def test_binary(form: str, order: str, word: int, double: bool, A: np.ndarray) -> None:
    content = binary_op4(A, form, order, word, double)
    np.testing.assert_array_equal(parse_op4(content)["KAA"].toarray(), A)
    assert parse_op4(content)["KAA"].nnz == np.count_nonzero(A)


def test_text_of_other_formats() -> None:
    """Exponents with D, five numbers a line by default, headers of 16 columns."""
    wide = f"{2:16}{-2:16}{2:8}{2:8}{'KAA':8}1P,2D16.8|I16\n{1:8}{0:8}{6:8}\n{5:8}{1:8}\n  1.50000000D+00 -2.0000000D-01\n"
    wide = wide.replace("  1.50000000D+00 -2.0000000D-01", "  1.50000000D+00 -2.00000000D-01")
    end = f"{3:8}{1:8}{1:8}\n  1.00000000E+00\n"
    np.testing.assert_array_equal(parse_op4((wide + end).encode())["KAA"].toarray(), [[1.5, 0], [-0.2, 0]])
    plain = (
        f"{1:8}{6:8}{2:8}{1:8}KAA\n{1:8}{1:8}{6:8}\n"
        + "".join(f"{k:16.9E}" for k in range(1, 6))
        + f"\n{6:16.9E}\n"
    )
    end = f"{2:8}{1:8}{1:8}\n{1:16.9E}\n"
    np.testing.assert_array_equal(
        parse_op4((plain + end).encode())["KAA"].toarray().ravel(), [1, 2, 3, 4, 5, 6]
    )


def test_name_that_is_missing() -> None:
    with pytest.raises(InputError, match="no matrix 'KAB'; did you mean 'KAA'"):
        read_op4(DATA / "pyyeti_dense.op4")["KAB"]


def text(**change: object) -> str:
    values = {
        "columns": 1,
        "rows": 2,
        "type": 2,
        "name": "KAA",
        "row": 1,
        "length": 2,
        "number": f"{1:23.16E}",
    } | change
    head = "{columns:8}{rows:8}{form:8}{type:8}{name:8}1P,3E23.16\n".format(form=2, **values)
    return head + "{:8}{row:8}{length:8}\n{number}{number}\n{:8}{:8}{:8}\n{number}\n".format(
        1, 2, 1, 1, **values
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (text(columns=99999999), r"m\.op4:1: found 'KAA' of 2 rows and 99999999 columns; expected sizes"),
        (text(type=7), r"m\.op4:1: found type 7 of 'KAA'; expected 1 or 2 \(real\)"),
        (text(name="1K"), r"m\.op4:1: found the name '1K'"),
        (
            text(row=2),
            r"m\.op4:3: found 2 numbers from row 2 on in column 1 of 'KAA'; expected rows of 1 to 2",
        ),
        (text(number=" " * 20 + "abc"), r"m\.op4:3: found '.*abc.*'; expected 2 numbers in fields of 23"),
        (text(number=f"{'1.E+999':>23}"), r"m\.op4:3: found a number that is not finite in column 1"),
        (text(length=900), r"m\.op4:\d: found .*; expected 3 numbers"),
        (text() + text(), r"a second matrix 'KAA'; expected names that differ"),
        (text()[:80], r"m\.op4:3: found '.*' *; expected|the end of the file"),
        ("hello\n", r"m\.op4:1: found 'hello'; expected 4 integers in fields of 8 characters"),
        ("", "found no matrix; expected an OP4 file"),
        ("\0\0\0\7" + "x" * 40, r"m\.op4: byte 0: found the bytes 00 00 00 07"),
    ],
)
def test_broken(content: str, message: str) -> None:
    assert parse_op4(text().encode())["KAA"].shape == (2, 1)
    with pytest.raises(ModelError, match=message):
        parse_op4(content.encode(), "m.op4")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_mutations(data: st.DataObject) -> None:
    """Bytes that are changed or cut off give matrices or a refusal, nothing else."""
    source = data.draw(
        st.sampled_from(
            [
                binary_op4(REAL, "dense"),
                binary_op4(COMPLEX, "bigmat", ">"),
                binary_op4(REAL, "nonbigmat", word=8),
            ]
            + [(DATA / f"pyyeti_{f}.op4").read_bytes() for f in ("dense", "bigmat", "nonbigmat")]
        )
    )
    content = bytearray(source)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ModelError):
        parse_op4(bytes(content[: data.draw(st.integers(0, len(content)))]))
