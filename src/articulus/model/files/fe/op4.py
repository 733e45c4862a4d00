"""Reading Nastran OP4 files, text and binary; the layout is told from the content."""

from __future__ import annotations

from articulus.model.files.fe.data import MatrixSet
from articulus.model.files.fe.op4_binary import BinarySource
from articulus.model.files.fe.op4_source import MAX_BYTES, Op4Source
from articulus.model.files.fe.op4_text import TextSource
from articulus.model.files.storage import StrPath, as_path, load_bytes


def read_op4(path: StrPath) -> MatrixSet:
    """Return the matrices of an OP4 file; raise ModelError where it is broken.

    Parameters
    ----------
    path : path
        The file, at most 1 GB: text, or binary of either byte order with words of four or eight bytes; dense or
        sparse, single or double precision, real or complex.
    """
    place = as_path(path)
    return parse_op4(load_bytes(place, MAX_BYTES), place.name)


def parse_op4(content: bytes, name: str = "matrices.op4") -> MatrixSet:
    """Return the matrices of the content of an OP4 file; `name` stands for the file in messages."""
    source: Op4Source = BinarySource(content, name) if b"\0" in content[:4] else TextSource(content, name)
    matrices = {}
    while (header := source.header()) is not None:
        if header.name in matrices:
            source.refuse(
                f"a second matrix '{header.name}'", "names that differ", "Write them to files of their own."
            )
        matrices[header.name] = source.matrix(header)
    if not matrices:
        source.refuse("no matrix", "an OP4 file")
    return MatrixSet(name, matrices)
