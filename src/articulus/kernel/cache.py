"""Object code on disk: checked completely on reading, written atomically, never trusted when in doubt.

A file is: magic, length of the header, header (JSON text with the format version and every key field), payload,
SHA-256 over all that. Anything that does not match to the letter is ignored, and rebuilt by the caller.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct
import tempfile
import warnings
from functools import cache
from pathlib import Path

MAGIC = b"articulus kernel\n"
VERSION = 1
_LENGTH = struct.Struct("<Q")
_DIGEST = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Return the cache folder, made if need be, or None when caching is off or the folder is not safe."""
    chosen = os.environ.get("ARTICULUS_CACHE")
    if chosen is not None and chosen.lower() in ("off", "0", ""):
        return None
    path = Path(chosen) if chosen else _default_folder()
    return path if _usable(str(path)) else None


def _default_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "articulus"


@cache
def _usable(path: str) -> bool:
    """Make the folder and check that nobody else can write there; warn once if not."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        reason = _unsafe(os.stat(path))
    except OSError as error:
        reason = str(error)
    if reason:
        warnings.warn(f"kernel cache {path} is not used: {reason}", RuntimeWarning, stacklevel=2)
    return not reason


def _unsafe(status: os.stat_result) -> str:
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it (chmod go-w)"
    return ""


@cache
def source_digest() -> str:
    """Return the digest of this package's own source: another version makes other code."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _header(fields: dict[str, str]) -> bytes:
    return json.dumps({"format": VERSION, **fields}, sort_keys=True).encode()


def _path(base: Path, header: bytes) -> Path:
    return base / f"{hashlib.sha256(header).hexdigest()}.kernel"


def load(fields: dict[str, str]) -> bytes | None:
    """Return the payload stored under exactly these fields, or None."""
    base = folder()
    if base is None:
        return None
    header = _header(fields)
    try:
        content = _path(base, header).read_bytes()
    except OSError:
        return None
    start = MAGIC + _LENGTH.pack(len(header)) + header
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not body.startswith(start) or hashlib.sha256(body).digest() != digest:
        return None
    return body[len(start) :]


def store(fields: dict[str, str], payload: bytes) -> None:
    """Store a payload; a failure to write is no error, the cache only saves time."""
    base = folder()
    if base is None:
        return
    header = _header(fields)
    body = MAGIC + _LENGTH.pack(len(header)) + header + payload
    with contextlib.suppress(OSError):
        _write(_path(base, header), body + hashlib.sha256(body).digest())


def _write(path: Path, content: bytes) -> None:
    """Write to a temporary file in the same folder, then rename: readers see all or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
