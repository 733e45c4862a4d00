"""Time to the first result in a new process: with an empty kernel cache, with a filled one, and the import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from articulus import Mechanism
from articulus.bench.child import one_core_json

ONE_STATE, BATCH = 0, 8

_CHILD = """
import json, sys, time
start = time.perf_counter()
import articulus
imported, busy = time.perf_counter(), time.process_time()
import numpy as np
mechanism = articulus.load(sys.argv[1])
rows = int(sys.argv[2])
lead = (rows,) if rows else ()
x = np.full((*lead, mechanism.nv), 0.1)
{first}
end = time.perf_counter()
print(json.dumps([imported - start, end - imported, time.process_time() - busy, busy]))
"""
DYNAMICS = "mechanism.forward_dynamics(x, x, x)"
RUN = "articulus.simulate(mechanism, 1.0, x, controller=articulus.components.PD(kp=50.0, kd=1.0))"
LOOPS = "articulus.simulate(mechanism, 0.1)"
"""What a new process may do first."""


class Saved(Protocol):
    """A mechanism with a name for its file."""

    @property
    def name(self) -> str: ...

    @property
    def mechanism(self) -> Mechanism: ...


@dataclass(frozen=True)
class LibraryModel:
    """A mechanism of the library."""

    name: str
    mechanism: Mechanism


@dataclass(frozen=True)
class Start:
    """Seconds of one new process: the import, from there to the first result, the processor time of the latter and that before it."""

    imported: float
    first: float
    processor: float
    before: float


class Starter:
    """Starts processes that load a saved mechanism and compute something, on one core."""

    def __init__(self, folder: Path, first: str = DYNAMICS):
        self.folder, self._code = folder, _CHILD.format(first=first)

    def cold(self, model: Saved, rows: int, repeats: int = 1) -> Start:
        """Return the fastest of some starts, each with an empty cache."""
        path = self._model_file(model)
        starts = []
        for _ in range(repeats):
            with TemporaryDirectory(dir=self.folder) as cache:
                starts.append(self._start(path, rows, cache))
        return _fastest(starts)

    def warm(self, model: Saved, rows: int, repeats: int = 5) -> Start:
        """Return the fastest of some starts with a cache that an earlier process filled."""
        path = self._model_file(model)
        with TemporaryDirectory(dir=self.folder) as cache:
            self._start(path, rows, cache)
            return _fastest([self._start(path, rows, cache) for _ in range(repeats)])

    def _model_file(self, model: Saved) -> Path:
        path = self.folder / f"{model.name}.toml"
        if not path.exists():
            model.mechanism.save(path)
        return path

    def _start(self, path: Path, rows: int, cache: str) -> Start:
        variables = {"ARTICULUS_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""}  # bytecode is kept
        return Start(*one_core_json(["-c", self._code, str(path), str(rows)], variables))


@contextmanager
def starter(first: str = DYNAMICS) -> Iterator[Starter]:
    """Yield a starter whose files are removed afterwards."""
    with TemporaryDirectory(prefix="articulus-bench-") as folder:
        yield Starter(Path(folder), first)


def _fastest(starts: list[Start]) -> Start:
    return Start(
        *(min(getattr(s, name) for s in starts) for name in ("imported", "first", "processor", "before"))
    )
