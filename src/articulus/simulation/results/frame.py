"""A run as a pandas DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import require_package

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run


def data_frame(run: Run) -> Any:
    """Return all signals of a run as one table; see `Run.to_pandas`."""
    pandas = require_package("pandas", "to_pandas", "data")
    columns, units = {}, {}
    for signal in run.signals.values():
        values = np.reshape(signal.values, (-1, len(signal.columns)))
        for k, name in enumerate(signal.columns):
            columns[name], units[name] = values[:, k], signal.units[k]
    frame = pandas.DataFrame(columns, index=_index(pandas, run))
    frame.attrs["units"] = units
    return frame


def _index(pandas: Any, run: Run) -> Any:
    if run.q.ndim == 2:
        return pandas.Index(run.t, name="t")
    return pandas.MultiIndex.from_product([range(len(run.q)), run.t], names=["run", "t"])
