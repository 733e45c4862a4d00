"""Runs as tables that every spreadsheet reads."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from articulus.model.files.storage import StrPath, replacing

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run


def write_csv(run: Run, path: StrPath) -> None:
    """Write all signals as one table, whole or not at all.

    The first line names the columns with their units, such as "q.lift [rad]". Every number has the digits that give the
    same number back. Cells are empty after the end of a run that failed or was stopped.
    """
    signals = run.signals.values()
    header = [f"{name} [{unit}]" for s in signals for name, unit in zip(s.columns, s.units)]
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*([] if run.batch is None else ["run"]), "t [s]", *header])
        for k in range(1 if run.batch is None else run.batch):
            values = [s.values if run.batch is None else s.values[k] for s in signals]
            prefix = [] if run.batch is None else [k]
            for row in np.column_stack([run.t, *values]).tolist():
                writer.writerow([*prefix, *("" if x != x else x for x in row)])
