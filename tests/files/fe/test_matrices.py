"""NumPy archives and Matrix Market files, and the message about OP2 without pyyeti."""

import importlib.util
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.model.files import FeGrid, MatrixSet, read_matrices, read_op2, write_matrices

K = np.array([[2.0, -1.0], [-1.0, 1.0]])


def test_archive(tmp_path: Path) -> None:
    data = MatrixSet("x", {}, ((4, 1), (7, 2)), (FeGrid(4, (0.0, 1.0, 2.0)), FeGrid(7, (3.0, 4.0, 5.0))))
    write_matrices(tmp_path / "m.npz", {"K": K, "M": sparse.eye_array(2)}, data=data)
    found = read_matrices(tmp_path / "m.npz")
    np.testing.assert_array_equal(found["K"].toarray(), K)
    np.testing.assert_array_equal(found["M"].toarray(), np.eye(2))
    assert (found.dofs, found.grids) == (data.dofs, data.grids)
    with pytest.raises(InputError, match="'dofs' is taken"):
        write_matrices(tmp_path / "m.npz", {"dofs": K})


def test_sparse_archive_of_scipy(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "K.npz", sparse.csc_array(K))
    np.testing.assert_array_equal(read_matrices(tmp_path / "K.npz")["K"].toarray(), K)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("kind", [np.array, sparse.coo_array])
def test_matrix_market(tmp_path: Path, symmetry: str, kind: type) -> None:
    whole = K - K.T + [[0, 1], [-1, 0]] if symmetry == "skew-symmetric" else K
    io.mmwrite(tmp_path / "K.mtx", kind(whole), comment="two\nlines", symmetry=symmetry)
    io.mmwrite(tmp_path / "M.mtx", kind(np.eye(2)))
    assert list(read_matrices(tmp_path).matrices) == ["K", "M"]
    np.testing.assert_array_equal(read_matrices(tmp_path / "K.mtx")["K"].toarray(), whole)


def test_matrix_market_as_scipy_reads_it(tmp_path: Path) -> None:
    """Whole files: rectangular, sparse with repeated places, lower triangles; exactly SciPy's matrices."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(7, 7))
    cases = {
        "dense": rng.normal(size=(3, 5)),
        "sparse": sparse.random_array((30, 20), density=0.1, rng=rng),
        "symmetric": square + square.T,
        "skew": square - square.T,
        "integer": rng.integers(-5, 5, size=(4, 2)),
    }
    for name, matrix in cases.items():
        io.mmwrite(tmp_path / f"{name}.mtx", matrix)
        found = read_matrices(tmp_path / f"{name}.mtx")[name].toarray()
        read = io.mmread(tmp_path / f"{name}.mtx", spmatrix=False)
        np.testing.assert_array_equal(found, read if isinstance(read, np.ndarray) else read.toarray())
    (tmp_path / "twice.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1.5\n1 2 2\n2 1 4\n"
    )
    np.testing.assert_array_equal(
        read_matrices(tmp_path / "twice.mtx")["twice"].toarray(), [[0, 3.5], [4, 0]]
    )


@pytest.mark.parametrize(
    ("heading", "rest", "text"),
    [
        ("array real symmetric", "1 400\n" + "1\n" * 400, "m.mtx:2: .*1 rows and 400 columns are called symmetric"),
        ("array real general", "0 5\n", "m.mtx:2: .*do not fit the file"),
        ("array integer hermitian", "1 1\n1e400\n", "not finite"),
        ("array unsigned-integer general", "3 1\n1\n1\nx\n", "a word that is no number"),
        ("array real general", "2 2\n1\n2\n3\n", "3 numbers, but its size asks for 4"),
        ("array real general", "2 2\n1\n2\n3\n\0\n", "a word that is no number"),
        ("array real general", "20000 20000\n1\n", "do not fit the file"),
        ("coordinate real general", "2 2 1\n0 1 1\n", "m.mtx:3: .*a place outside 2 rows and 2 columns"),
        ("coordinate real general", "2 2 1\n1.5 1 1\n", "m.mtx:3: .*a place outside"),
        ("coordinate real general", "2 2 -1\n", "m.mtx:2: .*expected 3 whole numbers"),
        ("coordinate pattern general", "1 1 1\n1 1\n", "the field is pattern"),
        ("coordinate real general", "", "the file ends before the size"),
    ],
)  # fmt: skip
def test_damaged_matrix_market(tmp_path: Path, heading: str, rest: str, text: str) -> None:
    """Among them files on which SciPy's own reader corrupts the heap, divides by zero or reads past the end."""
    assert re.search(text, broken(tmp_path / "m.mtx", f"%%MatrixMarket matrix {heading}\n{rest}".encode()))


def test_archive_with_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("K.txt", "no array")
    with pytest.raises(ModelError, match=r"a\.npz: found .*'K\.txt' is no array"):
        read_matrices(tmp_path / "a.npz")


def broken(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_matrices(path)
    return str(caught.value)


def test_broken(tmp_path: Path) -> None:
    assert "m.npz: found a file that cannot be read" in broken(tmp_path / "m.npz", b"no archive")
    assert "expected .npz, .mtx or a folder" in broken(tmp_path / "m.mat", b"")
    assert "a real matrix in Matrix Market form" in broken(tmp_path / "m.mtx", b"hello\n")
    head = b"%%MatrixMarket matrix coordinate real general\n"
    assert "do not fit the file" in broken(tmp_path / "m.mtx", head + b"999999999 2 1\n1 1 1.0\n")
    assert "m.mtx:3: found" in broken(tmp_path / "m.mtx", head + b"2 2 1\n5 1 1.0\n")
    assert "not finite" in broken(tmp_path / "m.mtx", head + b"2 2 1\n1 1 nan\n")
    assert "complex" in broken(tmp_path / "m.mtx", head.replace(b"real", b"complex") + b"1 1 1\n1 1 1 2\n")
    with pytest.raises(ModelError, match="no such file"):
        read_matrices(tmp_path / "none.npz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"no \.mtx file"):
        read_matrices(tmp_path / "empty")


def test_archives_that_disagree(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", K=K, dofs=[[1, 1]])
    with pytest.raises(ModelError, match="1 degrees of freedom, square matrices of 2 rows"):
        read_matrices(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", K=K, dofs=[1.0])
    with pytest.raises(ModelError, match=r"dofs: found an array of shape \(1,\)"):
        read_matrices(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", K=np.array([{}], dtype=object))
    with pytest.raises(ModelError, match="cannot be read"):
        read_matrices(tmp_path / "a.npz")


def test_op2_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "m.op2").write_bytes(b"\0" * 64)
    if importlib.util.find_spec("pyyeti") is None:
        with pytest.raises(UnsupportedOperation, match=r"articulus\[fe\]"):
            read_op2(tmp_path / "m.op2")
    else:
        with pytest.raises(ModelError, match="an OP2 file"):
            read_op2(tmp_path / "m.op2")
    with pytest.raises(ModelError, match="no such file"):
        read_op2(tmp_path / "none.op2")


def test_op2_of_both_byte_orders() -> None:
    pyyeti = pytest.importorskip(
        "pyyeti", reason="OP2 is read with pyyeti (extra fe), which is not installed"
    )
    folder = Path(pyyeti.__file__).parent / "tests" / "nastran_op2_data"
    little, big = (read_op2(folder / f"double_{order}.op2") for order in ("le", "be"))
    assert {name: m.shape for name, m in little.matrices.items()} == dict.fromkeys(
        ("ZUZR01", "ZUZR02", "ZUZR03"), (25, 31)
    )
    for name, matrix in little.matrices.items():
        assert matrix.nnz > 0
        np.testing.assert_array_equal(matrix.toarray(), big[name].toarray())
