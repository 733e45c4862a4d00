"""Matrices from NumPy archives and Matrix Market files, and back."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from articulus.errors import Finding, InputError, ModelError, brief
from articulus.model.files.fe.data import Dof, FeGrid, MatrixSet
from articulus.model.files.fe.matrix_market import parse_matrix_market
from articulus.model.files.fe.op4_source import MAX_BYTES, MAX_SIZE
from articulus.model.files.npz import npz_arrays
from articulus.model.files.storage import StrPath, as_path, load_bytes, replacing

DOFS, GRIDS, POSITIONS = "dofs", "grids", "positions"
"""Arrays of an archive that are no matrices: (n, 2) grid and component of each row, (g,) ids, (g, 3) places [m]."""

_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OSError,
    EOFError,
    MemoryError,
    OverflowError,
    RuntimeError,
)


def read_matrices(path: StrPath) -> MatrixSet:
    """Return the matrices of a `.npz` archive, a `.mtx` file, or a folder of `.mtx` files; raise ModelError if broken.

    A `.mtx` file holds one matrix, named after it. An archive holds matrices under their names, dense (`numpy.savez`) or
    as one sparse matrix (`scipy.sparse.save_npz`), and may hold `dofs`, `grids` and `positions`.

    Parameters
    ----------
    path : path
        File or folder; at most 1 GB a file.
    """
    place = as_path(path)
    if place.is_dir():
        files = sorted(place.glob("*.mtx"))
        if not files:
            raise ModelError(Finding(str(place), "no .mtx file in the folder", "M.mtx, K.mtx, ..."))
        return MatrixSet(place.name, {f.stem: _matrix_market(f) for f in files})
    if place.suffix == ".npz":
        return _archive(place)
    if place.suffix == ".mtx":
        return MatrixSet(place.name, {place.stem: _matrix_market(place)})
    raise ModelError(
        Finding(
            str(place),
            f"the suffix {place.suffix!r}",
            ".npz, .mtx or a folder of .mtx files",
            "OP4: read_op4.",
        )
    )


def write_matrices(path: StrPath, matrices: Mapping[str, Any], *, data: MatrixSet | None = None) -> None:
    """Write matrices as a `.npz` archive that `read_matrices` reads, with the degrees of freedom and grids of `data`.

    Parameters
    ----------
    path : path
        The file; replaced whole or not at all.
    matrices : mapping of str to array or sparse array
    data : MatrixSet
        Where `dofs` and `grids` are taken from.
    """
    arrays = {name: sparse.csr_array(m).toarray() for name, m in matrices.items()}
    taken = {DOFS, GRIDS, POSITIONS} & set(arrays)
    if taken:
        raise InputError(f"write_matrices: the name '{min(taken)}' is taken by the archive; choose another")
    if data is not None and data.dofs:
        arrays[DOFS] = np.array(data.dofs)
    if data is not None and data.grids:
        arrays |= {
            GRIDS: np.array([g.id for g in data.grids]),
            POSITIONS: np.array([g.position for g in data.grids]),
        }
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def _archive(place: Path) -> MatrixSet:
    content = load_bytes(place, MAX_BYTES)
    try:
        arrays: dict[str, Any] = npz_arrays(content, MAX_BYTES)
        if {"format", "shape", "data"} <= set(arrays):
            arrays = {place.stem: _sparse(content, arrays["shape"])}
    except _BROKEN as error:
        raise _broken(place, error) from None
    dofs = tuple((int(a), int(b)) for a, b in _extra(place, arrays, DOFS, 2))
    grids = _grids(place, arrays)
    matrices = {name: _require_matrix(f"{place.name}: {name}", array) for name, array in arrays.items()}
    _check_dofs(place, matrices, dofs)
    return MatrixSet(place.name, matrices, dofs, grids)


def _sparse(content: bytes, shape: np.ndarray) -> Any:
    """Return the sparse matrix of an archive; raise ValueError for a size or indices that SciPy would follow out of its memory."""
    if shape.ndim != 1 or shape.dtype.kind not in "iu" or not (shape >= 0).all() or (shape > MAX_SIZE).any():
        raise ValueError(f"a matrix of shape {shape.tolist()}; at most {MAX_SIZE} rows and columns")
    matrix = sparse.load_npz(io.BytesIO(content))
    if hasattr(matrix, "check_format"):
        if (np.diff(matrix.indptr) < 0).any():  # not looked at by check_format where the last one is zero
            raise ValueError("pointers to rows or columns that go back")
        matrix.check_format(full_check=True)
    return matrix


def _extra(place: Path, arrays: dict[str, Any], name: str, width: int) -> Any:
    """Take an (n, width) array of numbers out of an archive; empty when it is not there."""
    array = arrays.pop(name, np.zeros((0, width)))
    if (
        array.ndim != 2
        or array.shape[1] != width
        or array.dtype.kind not in "iuf"
        or not np.isfinite(array).all()
    ):
        found = f"an array of shape {array.shape} and type {array.dtype}"
        raise ModelError(Finding(f"{place.name}: {name}", found, f"finite numbers of shape (n, {width})"))
    return array


def _grids(place: Path, arrays: dict[str, Any]) -> tuple[FeGrid, ...]:
    positions = _extra(place, arrays, POSITIONS, 3)
    ids = arrays.pop(GRIDS, np.arange(1, len(positions) + 1))
    if ids.shape != (len(positions),) or ids.dtype.kind not in "iu":
        found = f"an array of shape {ids.shape} and type {ids.dtype}"
        raise ModelError(
            Finding(f"{place.name}: {GRIDS}", found, f"{len(positions)} integers, one per position")
        )
    return tuple(FeGrid(int(i), (float(x), float(y), float(z))) for i, (x, y, z) in zip(ids, positions))


def _check_dofs(place: Path, matrices: dict[str, Any], dofs: tuple[Dof, ...]) -> None:
    sizes = {m.shape[0] for m in matrices.values() if m.shape[0] == m.shape[1]}
    if dofs and sizes and sizes != {len(dofs)}:
        found = (
            f"{len(dofs)} degrees of freedom, square matrices of {', '.join(map(str, sorted(sizes)))} rows"
        )
        raise ModelError(Finding(f"{place.name}: {DOFS}", found, "one degree of freedom a row"))


def _matrix_market(place: Path) -> sparse.csr_array:
    content = load_bytes(place, MAX_BYTES)
    try:
        matrix = parse_matrix_market(content, MAX_SIZE)
    except _BROKEN as error:
        raise _broken(place, error) from None
    return _require_matrix(place.name, matrix)


def _require_matrix(where: str, array: Any) -> sparse.csr_array:
    """Return a two-dimensional matrix of finite numbers in rows."""
    if array.ndim != 2 or array.dtype.kind not in "iufc" or 0 in array.shape:
        found = f"an array of shape {array.shape} and type {array.dtype}"
        raise ModelError(Finding(where, found, "a matrix of numbers"))
    matrix = sparse.csr_array(array)
    if not np.isfinite(matrix.data).all():
        raise ModelError(Finding(where, "numbers that are not finite", "finite numbers"))
    return matrix if matrix.dtype.kind == "c" else matrix.astype(float)


def _broken(place: Path, error: BaseException) -> ModelError:
    reason = brief(error)
    kind = "a NumPy archive" if place.suffix == ".npz" else "a real matrix in Matrix Market form"
    line = re.search(r"[Ll]ine (\d+)", reason)
    where = f"{place.name}:{line[1]}" if line else place.name
    return ModelError(Finding(where, f"a file that cannot be read ({reason})", kind))
