"""NumPy archives and Matrix Market files, and the message about OP2 without pyyeti."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.files import Grid, MatrixSet, read_matrices, read_op2, write_matrices

K = np.array([[2.0, -1.0], [-1.0, 1.0]])


def test_archive(tmp_path: Path) -> None:
    data = MatrixSet("x", {}, ((4, 1), (7, 2)), (Grid(4, (0.0, 1.0, 2.0)), Grid(7, (3.0, 4.0, 5.0))))
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


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("kind", [np.array, sparse.coo_array])
def test_matrix_market(tmp_path: Path, symmetry: str, kind: type) -> None:
    io.mmwrite(tmp_path / "K.mtx", kind(K), symmetry=symmetry)
    io.mmwrite(tmp_path / "M.mtx", kind(np.eye(2)), symmetry=symmetry)
    assert list(read_matrices(tmp_path).matrices) == ["K", "M"]
    np.testing.assert_array_equal(read_matrices(tmp_path / "K.mtx")["K"].toarray(), K)


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
    with pytest.raises(ModelError, match="1 freedoms, square matrices of 2 rows"):
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
