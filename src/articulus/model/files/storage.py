"""Files on disk: reading models with a size cap and clear refusals, writing whole or not at all."""

from __future__ import annotations

import contextlib
import contextvars
import io
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from articulus.errors import Finding, InputError, ModelError

MAX_BYTES = 64 * 2**20
"""Largest model file that is read."""
LONGEST_NAME = 255
"""Bytes of the name of a file."""


StrPath = str | os.PathLike[str]
_reading: contextvars.ContextVar[list[Path] | None] = contextvars.ContextVar("reading", default=None)


def load_text(path: StrPath) -> str:
    """Return the text of a UTF-8 model file; raise ModelError when it is missing, too large or no such text."""
    place = as_path(path)
    return decode(load_bytes(place), place.name)


def as_path(path: StrPath) -> Path:
    """Return `path` as a Path; raise InputError when it is none."""
    try:
        place = Path(path)
    except TypeError:
        raise InputError(f"path: found {path!r}; expected the path of a file") from None
    if "\0" in str(place):
        raise InputError(f"path: {str(place)!r} holds a zero character")
    try:
        longest = max((len(os.fsencode(part)) for part in place.parts), default=0)
    except UnicodeEncodeError:
        raise InputError(f"path: {str(place)!r} holds a character that no file name has") from None
    if longest > LONGEST_NAME:
        raise InputError(
            f"path: found a name of {longest} bytes; expected at most {LONGEST_NAME}, as file systems have it"
        )
    return place


def load_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a model file, at most `limit` bytes (MAX_BYTES)."""
    limit = MAX_BYTES if limit is None else limit
    try:
        with open_regular(path) as file:
            content = file.read(limit + 1)
    except IsADirectoryError:
        raise _refusal(path, "a directory", "a model file") from None
    except FileNotFoundError:
        raise _refusal(path, "no such file", "a model file", _neighbors(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(path, f"a file that cannot be read ({reason})", "a readable file") from None
    if len(content) > limit:
        raise _refusal(path, f"more than {limit // 2**20} MB", "a smaller model file")
    return content


def open_regular(path: Path) -> io.BufferedReader:
    """Return a regular file opened for reading; raise OSError for pipes and devices, which may block or never end."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    note_file(path)
    file = open(path, "rb", opener=lambda name, _: os.open(name, flags))  # noqa: SIM115  (the caller's to close)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("a pipe or a device, no regular file")
    return file


def note_file(path: Path) -> None:
    """Add a file to those of `noting_files`: one that another package opens."""
    seen = _reading.get()
    if seen is not None:
        seen.append(path.absolute())


@contextlib.contextmanager
def noting_files() -> Iterator[list[Path]]:
    """Give a list that holds, after the block, the path of every file that was read in it."""
    seen: list[Path] = []
    token = _reading.set(seen)
    try:
        yield seen
    finally:
        _reading.reset(token)


def decode(content: bytes, name: str) -> str:
    """Return UTF-8 bytes as text; raise ModelError with the line where they are something else."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ModelError(Finding(f"{name}:1", "UTF-16 text", "UTF-8", "Save the file again as UTF-8."))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{content[error.start]:02x}, which is no UTF-8"
        raise ModelError(
            Finding(f"{name}:{line}", found, "UTF-8 text", "Save the file again as UTF-8.")
        ) from None


def write_text(path: StrPath, text: str) -> None:
    """Write a UTF-8 file whole or not at all: into a temporary file beside it, to the disk, then renamed."""
    place = as_path(path)
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{place.name}: the character {text[error.start]!r} cannot be written as UTF-8"
        ) from None
    write_bytes(place, content)


def write_bytes(path: StrPath, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextlib.contextmanager
def replacing(path: StrPath) -> Iterator[Path]:
    """Give the path of an empty temporary file beside `path`; what was written to it is on the disk and in place afterwards.

    When the block raises, nothing has changed and the temporary file is gone.
    """
    place = as_path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
        os.close(handle)
        try:
            yield Path(name)
            with open(name, "rb") as file:
                if hasattr(os, "fchmod"):  # not on Windows
                    os.fchmod(file.fileno(), _mode(place))
                os.fsync(file.fileno())
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror or error})") from None


def _mode(place: Path) -> int:
    """Return the permission bits of the file that is replaced, else those of any new file."""
    try:
        return place.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _refusal(path: Path, found: str, expected: str, hint: str = "") -> ModelError:
    return ModelError(Finding(str(path), found, expected, hint))


def _neighbors(path: Path) -> str:
    if not os.path.isdir(path.parent):
        return f"There is no folder '{path.parent}'."
    return ""
