"""Reading the matrices of a Nastran OP2 file, with pyyeti."""

from __future__ import annotations

import struct

import numpy as np
from scipy import sparse

from articulus.errors import Finding, ModelError, require_package
from articulus.model.files.fe.data import MatrixSet
from articulus.model.files.storage import StrPath, as_path, load_bytes

MAX_BYTES = 2**30

_BROKEN = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OSError,
    RuntimeError,
    MemoryError,
    OverflowError,
    struct.error,
)


def read_op2(path: StrPath) -> MatrixSet:
    """Return the matrices of an OP2 file (its tables are passed over); raise ModelError where it is broken.

    Parameters
    ----------
    path : path
        The file, at most 1 GB. Needs pyyeti (the extra `fe`).
    """
    place = as_path(path)
    load_bytes(place, MAX_BYTES)
    op2 = require_package(
        "pyyeti.nastran.op2",
        place.name,
        "fe",
        ", or the matrices as OP4 (read_op4) or DMIG (read_dmig)",
    )
    try:
        with op2.OP2(str(place)) as file:
            found = file.rdop2mats(lower=False)
    except _BROKEN as error:
        raise ModelError(
            Finding(place.name, f"a file that cannot be read ({error})", "an OP2 file")
        ) from None
    matrices = {name.upper(): sparse.csr_array(np.atleast_2d(m)) for name, m in found.items()}
    if not matrices:
        hint = "Write M and K to it (OUTPUT2), or read the bulk data (read_bulk)."
        raise ModelError(Finding(place.name, "no matrix, only tables", "an OP2 file with matrices", hint))
    return MatrixSet(place.name, matrices)
