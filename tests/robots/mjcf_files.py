"""The MJCF files of installed packages, what becomes of each here, and how far it is from MuJoCo.

PYTHONPATH=build/models python tests/robots/mjcf_files.py      # prints the table of docs/robots_mjcf.md
"""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np

import articulus as art
from articulus.errors import DoubtfulModel

if __package__:
    from .mujoco_twin import Twin
else:
    from mujoco_twin import Twin

PACKAGES = ("dm_control", "gymnasium", "gymnasium-robotics", "robosuite")
_MODEL = re.compile(rb"<mujoco[\s>]")


def files_of(package: str) -> list[Path]:
    """Return the MJCF files of an installed package, sorted; none where it is not installed."""
    try:
        found = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    paths = sorted(Path(str(f.locate())).resolve() for f in found if f.suffix == ".xml")
    return [path for path in paths if _MODEL.search(path.read_bytes())]


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep warnings of both programs out of the output."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulModel)
        warnings.filterwarnings("ignore", message=".*MuJoCo says")
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(before)


def theirs(path: Path) -> mujoco.MjModel | None:
    """Return MuJoCo's model of a file; None when it refuses it."""
    with _quietly():
        try:
            return mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            return None


def ours(path: Path) -> art.Mechanism:
    """Return the mechanism of a file; what is doubtful is in its findings."""
    with _quietly():
        return art.load(path)


@dataclass
class Row:
    """What is counted of a package."""

    files: int = 0
    theirs: int = 0
    bodies: int = 0
    loaded: int = 0
    worst: dict[str, float] = field(default_factory=dict)
    left_out: Counter = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def row_of(package: str) -> Row:
    """Return the counts of a package."""
    row = Row()
    for path in files_of(package):
        row.files += 1
        model = theirs(path)
        if model is None:
            continue
        row.theirs += 1
        row.bodies += model.nbody > 1
        try:
            arm = ours(path)
        except art.ModelError as error:
            if model.nbody > 1:
                row.refused.append(f"{path.name}: {error}")
            continue
        row.loaded += 1
        row.left_out.update({f.kind for f in arm.findings if not f.kind.startswith("note")})
        for name, error in Twin(arm, model).errors(np.random.default_rng(1)).items():
            row.worst[name] = max(row.worst.get(name, 0.0), error)
    return row


def table(rows: dict[str, Row]) -> str:
    """Return the table as Markdown."""
    names = ("mass matrix", "bias", "forward dynamics", "poses")
    out = ["| package | files | MuJoCo loads | with a body | loaded here | " + " | ".join(names) + " |"]
    out.append("|---" * (5 + len(names)) + "|")
    for package, r in rows.items():
        counts = (package, r.files, r.theirs, r.bodies, r.loaded)
        out.append(
            "| " + " | ".join([*map(str, counts), *(f"{r.worst.get(n, 0.0):.0e}" for n in names)]) + " |"
        )
    total = sum((Counter(r.left_out) for r in rows.values()), Counter())
    out += [
        "",
        "| left out | files |",
        "|---|---|",
        *(f"| {kind} | {n} |" for kind, n in total.most_common()),
    ]
    return "\n".join(out)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    found = {f"{p} {metadata.version(p)}": row_of(p) for p in PACKAGES if files_of(p)}
    print(table(found))
    print(*(line for r in found.values() for line in r.refused), sep="\n")
