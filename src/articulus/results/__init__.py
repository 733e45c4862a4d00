"""What a run leaves behind: `Run` with its signals, files, tables, plots, comparison and diagnostics."""

from articulus.results.compare import compare
from articulus.results.plots import plot
from articulus.results.run import Run
from articulus.results.status import RunStatus

load_run = Run.load

__all__ = ["Run", "RunStatus", "compare", "load_run", "plot"]
