"""The files of a study as one text, for workers that have no folder in common with the driver.

The driver packs every file that reading the study opened. A worker writes them to a private folder, laid out as they lie at the
driver's, reads the study there, and then compares what it opened with what was packed: a worker that would read anything else
does not take part.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path, PurePosixPath

from articulus.errors import InputError
from articulus.model.files.asset_paths import PACKAGE_MARKS, package_folder
from articulus.model.files.storage import load_bytes
from articulus.study.campaign.design import Campaign

LIMIT = 64 << 20
"""Most that the files of a study may hold together [bytes]."""
PACKAGE = "articulus:"
"""Beginning of the place of a file that is part of articulus, and not sent."""


def pack(campaign: Campaign) -> str:
    """Return the files that a study reads as a text; each has its whole path, so that they lie to each other as they do here.

    Raises
    ------
    InputError
        They are too large, or one has changed since the study was read.
    """
    study, home = Path(os.path.normpath(campaign.folder)), _home()
    own: dict[str, str] = {}
    contents: dict[str, bytes] = {}
    folders = {_place(study)}
    marks: set[str] = set()
    for path in campaign.study_files:
        content = _require_unchanged(path, campaign.files)
        if path.is_relative_to(home):
            own[PACKAGE + path.relative_to(home).as_posix()] = _digest(content)
            continue
        place = _place(_lexical(path, study))
        if contents.setdefault(place, content) != content:
            raise InputError(
                f"campaign: found two files at /{place}, because a folder in its path is a link; expected one for a cluster"
            )
        folders |= {_place(f) for f in _ways(path)}
        marks |= {_place(_lexical(m, study)) for m in _marks(path)}
    _require_size(contents)
    return json.dumps(
        {
            "study": _place(study),
            "folders": sorted(folders),
            "marks": sorted(marks - set(contents)),
            "files": {place: [_digest(x), base64.b64encode(x).decode()] for place, x in contents.items()},
            "own": own,
        }
    )


def digest_of(parcel: str) -> str:
    """Return by what a parcel is called."""
    return _digest(parcel.encode())


def _home() -> Path:
    return Path(str(files("articulus")))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _place(path: Path) -> str:
    return path.as_posix().lstrip("/")


def _lexical(path: Path, study: Path) -> Path:
    """Return a path without "..", in the folder of the study where it was spelled by what that is a link to."""
    plain = Path(os.path.normpath(path))
    real = study.resolve()
    return study / plain.relative_to(real) if plain.is_relative_to(real) else plain


def _ways(path: Path) -> list[Path]:
    """Return the folders that a path goes into and out of again, as in "a/../b"."""
    parts = path.parts
    return [Path(os.path.normpath(Path(*parts[:k]))) for k, part in enumerate(parts) if part == ".."]


def _marks(path: Path) -> list[Path]:
    """Return the files that make the folder of a model part of a package; only that they are there counts."""
    package = package_folder(path.parent)
    return [package / m for m in PACKAGE_MARKS if (package / m).is_file()]


def _require_unchanged(path: Path, known: dict[str, str]) -> bytes:
    content = load_bytes(path)
    if not _digest(content).startswith(known.get(str(path), "none")):
        raise InputError(
            f"campaign: found that {path} has changed since the study was read; expected the same content"
        )
    return content


def _require_size(contents: dict[str, bytes]) -> None:
    total = sum(map(len, contents.values()))
    if total > LIMIT:
        largest = max(contents, key=lambda place: len(contents[place]))
        raise InputError(
            f"campaign: found files of {total / 2**20:.1f} MB that the study reads, the largest {largest} with "
            f"{len(contents[largest]) / 2**20:.1f} MB; expected at most {LIMIT / 2**20:g} MB in all, which go to each worker of a cluster. Meshes "
            "that are only shown can be left out of the model or made coarser"
        )


class Unpacked:
    """A parcel on a worker: a private folder with the files, as long as this object is not closed.

    Parameters
    ----------
    parcel : str
        As `pack` made it.
    inside : path
        Where the folder is made; the system's place for temporary files if not given.

    Raises
    ------
    InputError
        The parcel is damaged, or names a place outside of its folder.
    """

    def __init__(self, parcel: str, inside: str | None = None):
        held = json.loads(parcel)
        contents = {place: _check(place, *entry) for place, entry in held["files"].items()}
        _require_size(contents)
        self._expected = held["own"] | {place: digest for place, (digest, _) in held["files"].items()}
        places = {p: _safe(p) for p in (held["study"], *held["folders"], *held["marks"], *contents)}
        self._root = Path(tempfile.mkdtemp(prefix="articulus-files-", dir=inside)).resolve()
        self._remove = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self.folder = self._root / places[held["study"]]
        for folder in held["folders"]:
            (self._root / places[folder]).mkdir(parents=True, exist_ok=True)
        for place, content in {**dict.fromkeys(held["marks"], b""), **contents}.items():
            path = self._root / places[place]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def require(self, opened: Iterable[Path]) -> None:
        """Raise InputError unless the files that were opened are those of the driver, with the same content."""
        found = {self._name(path): _digest(load_bytes(path)) for path in opened}
        for name in {**self._expected, **found}:
            if found.get(name) != self._expected.get(name):
                does = "does not read" if name not in found else "reads"
                which = "" if name not in found or name not in self._expected else ", with another content"
                raise InputError(
                    f"found that a worker {does} {name.removeprefix(PACKAGE)}{which}; expected the files of the driver. Those are sent that a "
                    "study names by a path that starts from its own folder; a file that is named by an absolute path, or found on a path "
                    "of ROS, has to be there on every worker"
                )

    def _name(self, path: Path) -> str:
        """Return what a file is called in the parcel."""
        plain, home = Path(os.path.normpath(path)), _home()
        if plain.is_relative_to(home):
            return PACKAGE + plain.relative_to(home).as_posix()
        return _place(plain.relative_to(self._root) if plain.is_relative_to(self._root) else plain)

    def close(self) -> None:
        """Remove the folder."""
        self._remove()


def _check(place: str, digest: str, text: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        content = b""
    if _digest(content) != digest:
        raise InputError(
            f"campaign: found a parcel whose file {place} is damaged; expected the content that was packed"
        )
    return content


def _safe(place: str) -> PurePosixPath:
    """Return a place below the private folder; raise InputError for one that leads elsewhere."""
    path = PurePosixPath(place)
    if path.is_absolute() or ".." in path.parts or "\\" in place or "\0" in place:
        raise InputError(
            f"campaign: found a parcel with the place {place!r}; expected one inside of its folder"
        )
    return path
