"""The table of a campaign as one file for other programs: Parquet or comma-separated values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError, require_package
from articulus.model.files.storage import StrPath, as_path, replacing

if TYPE_CHECKING:
    from articulus.study.campaign.table import CampaignTable

ROWS = 100_000
"""Rows that are written at once."""


def save_table(table: CampaignTable, path: StrPath) -> None:
    """Write the table of a campaign; an existing file is replaced.

    Columns are the number of the run, its status and cause as words, the time at which it ended [s], its wall-clock time [s], then
    inputs and figures; a figure that has the name of an input gets "figure." before it.

    Parameters
    ----------
    table : CampaignTable
    path : path
        Ends in .parquet (extra `parquet`) or .csv.
    """
    place = as_path(path)
    if place.suffix not in (".parquet", ".csv"):
        raise InputError(
            f"table: found the file name {place.name}; expected one that ends in .parquet or .csv"
        )
    columns = _columns(table)
    with replacing(place) as temporary:
        if place.suffix == ".csv":
            _write_csv(columns, len(table), temporary)
        else:
            _write_parquet(columns, len(table), temporary)


def _columns(table: CampaignTable) -> dict[str, np.ndarray]:
    words = {"status": (table.status_texts, table.status), "cause": (table.cause_texts, table.cause)}
    out: dict[str, np.ndarray] = {"run": table.index}
    out |= {name: np.array(texts)[codes] for name, (texts, codes) in words.items()}
    out |= {"ended": table.end_times, "seconds": table.seconds}
    out |= {(f"input.{name}" if name in out else name): table.inputs[name] for name in table.inputs}
    out |= {(f"figure.{name}" if name in out else name): table.figures[name] for name in table.figures}
    return out


def _write_csv(columns: dict[str, np.ndarray], rows: int, path: Any) -> None:
    import csv

    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        for first in range(0, rows, ROWS):
            out.writerows(zip(*(x[first : first + ROWS].tolist() for x in columns.values())))


def _write_parquet(columns: dict[str, np.ndarray], rows: int, path: Any) -> None:
    parquet = require_package("pyarrow.parquet", "table", "parquet", ", or a file that ends in .csv")
    table = require_package("pyarrow", "table", "parquet").table(columns)
    parquet.write_table(table, path, row_group_size=max(min(ROWS, rows), 1))
