"""A recording: what the operator did and what the machine did, as a Run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from articulus.browser.drive.plant import SAMPLE, Plant
from articulus.browser.export import export_html
from articulus.errors import InputError
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.results.provenance import provenance
from articulus.simulation.results.run import Run
from articulus.simulation.results.status import RunStatus

MOST_SAMPLES = 360_000
"""Samples after which a recording ends: an hour."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of a machine that was driven.

    Parameters
    ----------
    plant : Plant
    samples : array, (time, logged)
        Continuous states and held values, one every `SAMPLE` steps.
    """

    plant: Plant
    samples: np.ndarray

    @property
    def t(self) -> np.ndarray:
        """Times from its begin [s]."""
        return np.arange(len(self.samples)) * (SAMPLE * self.plant.h)

    @property
    def duration(self) -> float:
        """Its length [s]."""
        return max(len(self.samples) - 1, 0) * SAMPLE * self.plant.h

    def at(self, t: float) -> np.ndarray:
        """Return the sample at a time, held until the next one, (logged,)."""
        row = int(t / (SAMPLE * self.plant.h) + 1e-9)
        return self.samples[min(max(row, 0), len(self.samples) - 1)]

    @functools.cached_property
    def run(self) -> Run:
        """The recording with all its signals."""
        system, h = self.plant.system, self.plant.h
        signals = Outputs(system).signals(
            self.samples[None], self.plant.p[None], np.zeros((1, len(self.t), system.nw)), self.t, h, True
        )
        settings = {
            "driven": True,
            "sample": SAMPLE * h,
            "components": [f"{c.type_name} {c.name}" for c in system.network.components],
        }
        mechanism = self.plant.machine.mechanism
        steps = max(len(self.samples) - 1, 0) * SAMPLE
        return Run(
            mechanism,
            self.t,
            signals,
            status=RunStatus.COMPLETE,
            statistics={"steps": steps, "evaluations": 4 * steps, "rejected": 0},
            meta=provenance(mechanism, method="rk4", step=h, seed=None, settings=settings),
        )

    def save(self, folder: Path, name: str) -> Path:
        """Write it to a new netCDF file (a CSV file without the extra `data`) and, beside it, to a page that plays it.

        Returns
        -------
        Path
            Path of the file with all signals; the page has the same name and ends with .html.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return self._write(folder, name)
        except OSError as error:
            raise InputError(f"{folder}: the recording cannot be written: {error.strerror}") from None

    def _write(self, folder: Path, name: str) -> Path:
        if can_store():
            path = _free_path(folder, name, ".nc")
            self.run.save(path)
        else:
            path = _free_path(folder, name, ".csv")
            self.run.to_csv(path)
        export_html(self.run, path.with_suffix(".html"), title=f"{self.plant.machine.title}, driven")
        return path


def can_store() -> bool:
    """Whether the extra `data` is here; its packages are loaded if so."""
    try:
        import h5netcdf  # noqa: F401
        import xarray  # noqa: F401
    except ImportError:
        return False
    return True


def _free_path(folder: Path, name: str, suffix: str) -> Path:
    path, count = folder / f"{name}{suffix}", 2
    while path.exists():
        path, count = folder / f"{name}-{count}{suffix}", count + 1
    return path
