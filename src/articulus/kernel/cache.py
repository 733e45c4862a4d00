"""Object code on disk: checked completely on reading, written atomically, never trusted when in doubt.

A file is: magic, length of the header, header (JSON text with the format version and every key field), payload, HMAC-SHA-256
over all that. The key of the HMAC is a secret of the user's: random bytes in a file of the folder that only the user may
read. So an entry that somebody else put there, while the folder was open to others, is no entry. Anything that does not
match to the letter is ignored, and rebuilt by the caller.

The folder has a largest size. Beyond it the entries that were not used for longest go; processes that do this at the same time
remove each other's candidates, never an entry that is being read: its content stays until the reader is done.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import json
import os
import secrets
import stat
import struct
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

MAGIC = b"articulus kernel\n"
VERSION = 2
SECRET = "secret"
"""Name of the file with the secret."""
LARGEST = 4 << 30
"""Size of the folder from which old entries are removed [bytes]; `ARTICULUS_CACHE_SIZE` [MB] in its place."""
KEPT = 0.8
"""Share of the largest size that is left."""
LOOKED = 32
"""Entries that a process stores before it looks at the size again; it does so at the first."""
USED = 3600.0
"""Time after which the use of an entry is noted again [s]."""
_stored = itertools.count()
_LENGTH = struct.Struct("<Q")
_DIGEST = hashlib.sha256().digest_size
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def folder() -> Path | None:
    """Return the cache folder, made if need be, or None when caching is off or the folder is not safe."""
    chosen = os.environ.get("ARTICULUS_CACHE")
    if chosen is not None and chosen.lower() in ("off", "0", ""):
        return None
    path = Path(chosen) if chosen else _default_folder()
    return path if path is not None and _secret(str(path)) else None


def _default_folder() -> Path | None:
    """Return the folder of the user's own; None for a user without a home, as in some containers."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "articulus"
    try:
        return Path.home() / ".cache" / "articulus"
    except RuntimeError as error:
        _warn_homeless(str(error))
        return None


@cache
def _warn_homeless(reason: str) -> None:
    warnings.warn(
        f"no kernel cache is used: {reason}. ARTICULUS_CACHE names a folder, or is off",
        RuntimeWarning,
        stacklevel=2,
    )


@cache
def _secret(path: str) -> bytes | None:
    """Return the secret of a folder, both made if need be; None, with one warning, where others can write or read."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        reason = _unsafe(os.stat(path), _WRITABLE)
        secret = b"" if reason else _load_secret(Path(path) / SECRET)
    except OSError as error:
        reason = str(error)
    if not reason:
        return secret
    warnings.warn(f"kernel cache {path} is not used: {reason}", RuntimeWarning, stacklevel=2)
    return None


def _unsafe(status: os.stat_result, forbidden: int) -> str:
    """Return why a file or folder cannot be trusted; `forbidden` are permissions that others must not have."""
    if not hasattr(os, "getuid"):
        return ""
    advice = "what lies there may not be yours. Delete it"
    if status.st_uid != os.getuid():
        return f"it belongs to another user; {advice}"
    if status.st_mode & forbidden:
        return f"it is open to others (mode {stat.S_IMODE(status.st_mode):o}); {advice}"
    return ""


def _load_secret(path: Path) -> bytes:
    """Return the secret in a file, written if there is none; raise OSError where the file cannot be trusted."""
    if not os.path.lexists(path):
        _write(path, secrets.token_bytes(_DIGEST), _place_first)
    found = _read(path, stat.S_IRWXG | stat.S_IRWXO)
    if len(found) != _DIGEST:
        raise OSError(f"its file '{SECRET}' is damaged; delete the folder")
    return found


def _place_first(temporary: str, path: Path) -> None:
    """Give a file its name unless another process was faster; it is on the disk by then, since a damaged one is told, not replaced."""
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    except (
        OSError
    ):  # a file system without links: two processes at once may write two secrets, and share nothing
        os.replace(temporary, path)


def _read(path: Path, forbidden: int) -> bytes:
    """Return the content of a regular file of the user's own; raise PermissionError where it is none."""
    with open(path, "rb", opener=lambda name, _: os.open(name, _FLAGS)) as file:
        status = os.fstat(file.fileno())
        reason = _unsafe(status, forbidden) if stat.S_ISREG(status.st_mode) else "it is no regular file"
        if reason:
            raise PermissionError(f"{path.name}: {reason}")
        return file.read()


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


def _sign(base: Path, body: bytes) -> bytes:
    """Return the HMAC of a body with the secret of its folder."""
    return hmac.digest(_secret(str(base)) or b"", body, "sha256")


def load(fields: dict[str, str]) -> bytes | None:
    """Return the payload stored under exactly these fields, or None."""
    base = folder()
    if base is None:
        return None
    header = _header(fields)
    try:
        path = _path(base, header)
        content = _read(path, _WRITABLE)
    except PermissionError as error:
        warnings.warn(f"kernel cache {base}: an entry is ignored, {error}", RuntimeWarning, stacklevel=2)
        return None
    except OSError:
        return None
    start = MAGIC + _LENGTH.pack(len(header)) + header
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not body.startswith(start) or not hmac.compare_digest(_sign(base, body), digest):
        return None
    _note_use(path)
    return body[len(start) :]


def _note_use(path: Path) -> None:
    """Let an entry be young again, by the time of its file."""
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > USED:
            os.utime(path)


def store(fields: dict[str, str], payload: bytes) -> None:
    """Store a payload; a failure to write is no error, the cache only saves time."""
    base = folder()
    if base is None:
        return
    header = _header(fields)
    body = MAGIC + _LENGTH.pack(len(header)) + header + payload
    with contextlib.suppress(OSError):
        _write(_path(base, header), body + _sign(base, body))
    if next(_stored) % LOOKED == 0:
        trim(base, _largest())


def _largest() -> int:
    """Return the largest size of the folder [bytes]."""
    try:
        return int(float(os.environ["ARTICULUS_CACHE_SIZE"]) * 2**20)
    except (KeyError, ValueError, OverflowError):
        return LARGEST


def trim(base: Path, largest: int) -> None:
    """Remove the entries that were not used for longest from a folder that is too large, and what killed writers left."""
    found = []
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # another process was faster
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".kernel"):
                    found.append((status.st_mtime, status.st_size, entry.path))
                elif entry.name.endswith(".tmp") and time.time() - status.st_mtime > USED:
                    os.unlink(entry.path)
    size = sum(held for _, held, _ in found)
    if size <= largest:
        return
    for _, held, path in sorted(found):
        if size <= KEPT * largest:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        size -= held


def _write(path: Path, content: bytes, publish: Callable[[str, Path], None] = os.replace) -> None:
    """Write to a temporary file in the same folder, then rename (or link): readers see all or nothing.

    Nothing waits for the disk, which may take 10 ms an entry: what a loss of power leaves half written fails its HMAC, and is
    rebuilt.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        publish(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
