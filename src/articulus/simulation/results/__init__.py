"""What a run leaves behind: `Run` with its signals, files, tables, plots, comparison and diagnostics."""

from articulus.simulation.results.compare import compare
from articulus.simulation.results.plots import plot
from articulus.simulation.results.run import Run
from articulus.simulation.results.status import RunStatus

load_run = Run.load

__all__ = ["Run", "RunStatus", "compare", "load_run", "plot"]
