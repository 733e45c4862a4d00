"""Seals: the SHA-256 of a file at its end, looked at before anything else in the file is.

Readers of packed formats such as HDF5 follow what a damaged file says, some of them forever. A sealed file is compared byte by byte
first. HDF5 does not mind what follows its own end, so that a sealed netCDF4 file is one that every other tool reads.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from articulus.model.files.storage import open_regular

MARK = b"articulus sha256"
LENGTH = len(MARK) + hashlib.sha256().digest_size
"""Bytes of a seal."""
BLOCK = 1 << 20
"""Bytes that are read at a time."""


def seal(content: bytes) -> bytes:
    """Return some bytes with their seal at the end."""
    return content + MARK + hashlib.sha256(content).digest()


def why_broken(path: Path) -> str:
    """Return what is wrong with the seal of a file, as the words after "found"; "" for a file that is as it was written.

    Raises
    ------
    OSError
        No such file, no regular file, or one that cannot be read.
    """
    with open_regular(path) as file:
        size = file.seek(0, 2)
        if size < LENGTH:
            return "a file without a seal"
        file.seek(size - LENGTH)
        end = file.read(LENGTH)
        if not end.startswith(MARK):
            return "a file without a seal"
        file.seek(0)
        digest, left = hashlib.sha256(), size - LENGTH
        while left > 0 and (block := file.read(min(BLOCK, left))):
            digest.update(block)
            left -= len(block)
    return "" if digest.digest() == end[len(MARK) :] else "a file whose bytes do not give its checksum"
