"""The arrays of a NumPy archive, from bytes that nobody vouches for."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib

import numpy as np

from articulus.errors import brief

_BROKEN = (
    ValueError, TypeError, LookupError, OSError, EOFError, MemoryError, OverflowError, RuntimeError, zipfile.BadZipFile,
    zlib.error, SyntaxError, tokenize.TokenError, UnicodeError,
)  # fmt: skip
"""What zipfile, zlib and numpy raise on damaged archives."""


def npz_arrays(content: bytes, limit: int) -> dict[str, np.ndarray]:
    """Return the arrays of an archive by their names, `limit` bytes in all; raise ValueError with what is wrong with it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > limit:
            raise ValueError(f"{size / 2**20:.0f} MB of arrays, more than {limit // 2**20} MB")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except _BROKEN as error:
        raise ValueError(brief(error)) from None
    for name, array in found.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"'{brief(name)}' is no array")
    return found
