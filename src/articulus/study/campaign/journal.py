"""What a search has run so far, as a file: the same search again, which asks for the same runs in the same order, continues behind it."""

from __future__ import annotations

import contextlib
import time
import zipfile
from pathlib import Path

import numpy as np

from articulus.errors import InputError
from articulus.model.files.storage import replacing

SAVE_SECONDS = 5.0
"""Wall-clock time after which runs are written [s]."""


class Journal:
    """Runs of a search in the order in which they were asked for.

    Parameters
    ----------
    file : Path or None
        Where they are kept; None keeps nothing.
    dims : int
        Coordinates of a point.
    """

    def __init__(self, file: Path | None, dims: int):
        self.file = file
        self._points, self._figures = np.empty((0, dims)), np.empty(0)
        self._at = 0
        self._model_file = time.monotonic()
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{file.parent}: cannot be made ({error.strerror})") from None
        # a file that is torn or of something else counts for nothing
        with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            with np.load(file) as held:
                points, figures = held["points"], held["figures"]
            if points.shape == (len(figures), dims) and figures.ndim == 1:
                self._points, self._figures = points, figures

    @property
    def done(self) -> int:
        """Runs that have been asked for and are there."""
        return self._at

    @property
    def points(self) -> np.ndarray:
        """Points of the unit cube that were asked for, (done, dims)."""
        return self._points[: self._at]

    @property
    def figures(self) -> np.ndarray:
        """What came out, (done,)."""
        return self._figures[: self._at]

    def look_up(self, points: np.ndarray) -> np.ndarray:
        """Return the figures of the first of these points, as far as they are known; what follows something else is forgotten."""
        held = self._points[self._at : self._at + len(points)]
        differs = np.flatnonzero((held != points[: len(held)]).any(axis=1))
        count = int(differs[0]) if differs.size else len(held)
        if differs.size:
            self._points, self._figures = self._points[: self._at + count], self._figures[: self._at + count]
        self._at += count
        return self._figures[self._at - count : self._at]

    def add(self, points: np.ndarray, figures: np.ndarray) -> None:
        """Add runs behind those that are known."""
        self._points = np.concatenate([self._points[: self._at], points])
        self._figures = np.concatenate([self._figures[: self._at], figures])
        self._at = len(self._figures)
        if time.monotonic() - self._model_file > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write all runs; the file is there as a whole or as it was."""
        self._model_file = time.monotonic()
        if self.file is not None:
            with replacing(self.file) as temporary, temporary.open("wb") as out:
                np.savez(out, points=self._points, figures=self._figures)
