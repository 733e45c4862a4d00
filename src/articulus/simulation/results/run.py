"""`Run`: what `simulate` and `rollout` return. Signals over time, how it ended, and its diagnostics."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.model.files.storage import StrPath
from articulus.model.late import late_function
from articulus.simulation.results.recipe import Recipe
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import Failure, FinalState, Occurrence, RunStatus, RunWarning

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from articulus.linear import LinearModel, Ports


ALWAYS_THERE = ("vdot", "u", "tau", "energy", "momentum")
"""Signals that every run can report; a rollout keeps those that `outputs` names."""


class Origin(Protocol):
    """How a run was made."""

    def again(self, params: Mapping[str, Any]) -> Run:
        """Return the same run with other values of some parameters."""

    def linearize(
        self,
        run: Run,
        at: Any,
        index: int,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...] | None,
        opened: tuple[str, ...],
    ) -> LinearModel:
        """Return the linear model of the loop about the state of a run at a time, or those at many."""

    def ports(self, run: Run) -> Ports:
        """Return names and units of the inputs and outputs of `linearize`."""

    def recipe(self) -> Recipe:
        """Return the same as data, for files and other processes."""


@dataclass(frozen=True, eq=False)
class ParameterValue:
    """A named parameter of a run.

    Parameters
    ----------
    name : str
    value : float, or array (batch,)
        With which it ran.
    default : float
        The value in the mechanism or in the component.
    range : two floats
        Declared with the parameter; None if it may have any value.
    """

    name: str
    value: Any
    default: float
    range: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run, or a batch of runs at the same times.

    After a run failed or was stopped by an event, all its values are NaN.

    Parameters
    ----------
    mechanism : Mechanism
    t : array, (time,) [s]
    signals : dict of name to Signal
        "q" and "v" always; values are (time, n) for one run, (batch, time, n) for a batch.
    status : RunStatus, or int array (batch,)
        How each run ended.
    failures : tuple of Failure
        One for each run that could not go on.
    warnings : tuple of RunWarning
        Figures of runs that did not fail, but whose answer may be wrong; with the likely cause.
    events : tuple of Occurrence
        What happened, in the order of time.
    statistics : dict
        "steps", "evaluations", "rejected" (counts), "wall_seconds" [s], "real_time_ratio" (simulated seconds of all
        runs per second of wall-clock time).
    meta : dict
        Where it comes from: see `provenance`. Plain numbers, texts, lists and dicts only.
    final : results.status.State
        What the runs need to go on; None where this is not known.
    origin : Origin or Recipe
        What `again` and `linearize` need; None for a run that was put together by hand. Equations exist in one process only: files
        and other processes get a `Recipe`, from which they are built again when they are needed.
    """

    mechanism: Mechanism
    t: np.ndarray
    signals: Mapping[str, Signal]
    status: Any = RunStatus.COMPLETE
    failures: tuple[Failure, ...] = ()
    events: tuple[Occurrence, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    final: FinalState | None = None
    warnings: tuple[RunWarning, ...] = ()
    origin: Origin | Recipe | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "t", np.asarray(self.t, dtype=np.float64))
        put(self, "failures", tuple(self.failures))
        put(self, "warnings", tuple(self.warnings))
        put(self, "events", tuple(self.events))
        self._check_signals()
        put(self, "status", self._checked_status())
        put(self, "signals", self._blank_after_end(dict(self.signals)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "origin": self.recipe}

    @property
    def recipe(self) -> Recipe | None:
        """How it was made, as data; None where this is not known."""
        return self.origin if self.origin is None or isinstance(self.origin, Recipe) else self.origin.recipe()

    def _check_signals(self) -> None:
        for name in ("q", "v"):
            if name not in self.signals:
                raise InputError(f'run: found no signal \'{name}\'; expected "q" and "v" among the signals')
        expected = (*self.signals["q"].values.shape[:-2], self.t.size)
        for name, signal in self.signals.items():
            if name != signal.name:
                raise InputError(f"run: signal '{signal.name}' stands under the name '{name}'")
            if signal.values.shape[:-1] != expected:
                raise InputError(
                    f"run: signal '{name}' has shape {signal.values.shape}; expected {(*expected, len(signal.labels))}"
                )

    def _checked_status(self) -> Any:
        if self.batch is None:
            return RunStatus(int(self.status))
        status = np.array(np.broadcast_to(self.status, (self.batch,)), dtype=np.int64)
        for code in np.unique(status):
            RunStatus(int(code))
        return status

    def _blank_after_end(self, signals: dict[str, Signal]) -> dict[str, Signal]:
        """Return the signals with NaN after the end of each run that ended early."""
        ends = [(f.run, f.time) for f in self.failures] + [(e.run, e.time) for e in self.events if e.stop]
        late = [(run, self.t > time) for run, time in ends]
        if not any(mask.any() for _, mask in late):
            return signals
        return {name: _blank(signal, late) for name, signal in signals.items()}

    # what it holds

    @property
    def batch(self) -> int | None:
        """Number of runs in a batch; None for one run by itself."""
        q = self.signals["q"].values
        return len(q) if q.ndim == 3 else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the signals."""
        return tuple(self.signals)

    @property
    def q(self) -> np.ndarray:
        """Positions, (..., time, nq) [rad, m]."""
        return self["q"]

    @property
    def v(self) -> np.ndarray:
        """Velocities, (..., time, nv) [rad/s, m/s]."""
        return self["v"]

    @property
    def u(self) -> np.ndarray:
        """Commands of the actuators, (..., time, nu)."""
        return self["u"]

    @property
    def tau(self) -> np.ndarray:
        """Joint forces, (..., time, nv) [N m, N]."""
        return self["tau"]

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a signal, (..., time, n), or by a name such as "q.lift" one entry of it, (..., time)."""
        if name in self.signals:
            return self.signals[name].values
        signal = self.select(name)
        return signal.values[..., 0]

    def select(self, name: str) -> Signal:
        """Return a signal by its name, or one with a single entry by a name such as "q.lift"."""
        if name in self.signals:
            return self.signals[name]
        for signal in self.signals.values():
            if name in signal.columns:
                k = signal.columns.index(name)
                part = signal.values[..., k : k + 1]
                return dataclasses.replace(
                    signal, values=part, labels=signal.labels[k : k + 1], unit=signal.units[k : k + 1]
                )
        known = [*self.signals, *(column for s in self.signals.values() for column in s.columns)]
        whole = str(name).split(".")[0]
        if whole in ALWAYS_THERE and whole not in self.signals:
            raise InputError(
                f"no signal '{name}' in this run, which recorded only {', '.join(self.signals)}; run it with outputs=['{whole}']"
            )
        near = did_you_mean(str(name), known)
        raise InputError(
            f"no signal '{name}' in this run; {near if near.startswith('did') else did_you_mean('', self.signals)}"
        )

    @property
    def failed(self) -> np.ndarray:
        """Indices of the runs that failed."""
        return np.flatnonzero(np.atleast_1d(self.status) == RunStatus.FAILED)

    @property
    def doubtful(self) -> np.ndarray:
        """Indices of the runs that did not fail, but whose answer may be wrong: `warnings` says why."""
        return np.unique([d.run for d in self.warnings]).astype(np.int64)

    @property
    def ok(self) -> bool:
        """Whether no run failed and none is doubtful. Which ones did is in `failed` and `doubtful`."""
        return not self.failed.size and not self.warnings

    def raise_if_failed(self) -> Run:
        """Return this run, or raise NumericalError, which holds it, when any of its runs failed."""
        if self.failed.size:
            shown = "\n".join(map(str, self.failures[:5])) or f"runs {self.failed[:5].tolist()} failed"
            more = f"\nand {len(self.failures) - 5} more" if len(self.failures) > 5 else ""
            raise NumericalError(f"'{self.mechanism.name}': {shown}{more}", result=self, rows=self.failed)
        return self

    # with other numbers

    @property
    def parameters(self) -> tuple[ParameterValue, ...]:
        """Named parameters of the mechanism and of the components, with the values of this run."""
        found = self.meta.get("parameters", {})
        return tuple(
            ParameterValue(
                name, self._each(p["value"]), p["default"], tuple(p["range"]) if "range" in p else None
            )
            for name, p in found.items()
        )

    def _each(self, value: Any) -> Any:
        """Return a number, or for a batch one per run."""
        return value if self.batch is None else np.broadcast_to(np.asarray(value, dtype=float), (self.batch,))

    def again(self, params: Mapping[str, Any] | None = None) -> Run:
        """Return the same run with other values of some parameters; equations and native code are those of this run.

        A run from a file or another process builds them again from its components, once.

        Parameters
        ----------
        params : dict of parameter name to number or array (batch,)
            Those that are not named keep the values of this run. Arrays make a batch, in which a run that fails stops
            alone; a Python controller of a single run cannot be in a batch.
        """
        return self.require_origin("again").again(params or {})

    def linearize(
        self,
        at: Any = None,
        run: int = 0,
        *,
        inputs: Sequence[str] = ("tau",),
        outputs: Sequence[str] | None = None,
        opened: Sequence[str] = (),
    ) -> LinearModel:
        """Return the linear model of the whole loop, mechanism and components, about a state of this run, or those along it.

        Parameters
        ----------
        at : float or array (times,) [s]
            Time; the last sample not after it is taken. The end if not given. For many times, such as `run.t`, all models come
            from one call of native code, as a `LinearModels` with the times of the samples as `t`.
        run : int
            Index in a batch.
        inputs, opened : sequence of str
            As those of `Loop.linearize`.
        outputs : sequence of str
            Signals or entries of them, and no others; those of the run if not given.

        Raises
        ------
        UnsupportedOperation
            The loop has a Python controller, whose derivatives are not known; or the run comes from a file or another process,
            and its components cannot be written as text.
        NumericalError
            The equations have no finite derivative at that state.
        InputError
            Of many times, the coordinates that are free under the constraints at the first are not free at another.
        """
        names = [
            None if x is None else (x,) if isinstance(x, str) else tuple(x) for x in (inputs, outputs, opened)
        ]
        return self.require_origin("linearize").linearize(
            self, at, run, names[0] or (), names[1], names[2] or ()
        )

    def save_study(self, path: StrPath, *, name: str = "", purpose: str = "") -> Path:
        """Write how this run was made as a study, for `articulus run` and `articulus campaign`; see `Loop.save_study`."""
        return Path(late_function("save_run")(self, path, name=name, purpose=purpose))

    def require_origin(self, what: str) -> Origin:
        """Return how it was made; raise UnsupportedOperation when this is not known, or cannot be built again."""
        if self.origin is None:
            raise UnsupportedOperation(
                f"{what}: this run was put together by hand, or comes from a file of an earlier version; expected one that "
                "simulate or rollout returned"
            )
        if not isinstance(self.origin, Recipe):
            return self.origin
        try:
            found = late_function("origin")(self, self.origin)
        except UnsupportedOperation as error:
            raise UnsupportedOperation(f"{what}: {error}") from None
        object.__setattr__(self, "origin", found)
        return found

    # run diagnostics

    def __repr__(self) -> str:
        runs = "" if self.batch is None else f"{self.batch} runs, "
        end = f"{self.t[0]:g} to {self.t[-1]:g} s" if self.t.size else "no time"
        ending = str(self.status.name).lower() if self.batch is None else self._endings()
        doubtful = ", doubtful" if self.warnings else ""
        return f"<Run of '{self.mechanism.name}': {runs}{end}, {self.t.size} rows, {ending}{doubtful}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: plots, a page that plays, diagnostics."""
        return str(late_function("run_html")(self))

    def _endings(self) -> str:
        counts = {code: int((self.status == code).sum()) for code in RunStatus}
        return ", ".join(f"{count} {code.name.lower()}" for code, count in counts.items() if count)

    def figures(self) -> list[tuple[str, str]]:
        """Return the run diagnostics, which show whether it can be trusted, and its provenance, as pairs of name and text."""
        from articulus.simulation.results.diagnostics import figures

        return figures(self)

    def summary(self) -> str:
        """Return the run diagnostics as a table in plain text."""
        rows = self.figures()
        width = max(len(name) for name, _ in rows)
        return "\n".join([repr(self), *(f"  {name:<{width}}  {text}" for name, text in rows)])

    # handing it on

    def to_xarray(self) -> xarray.Dataset:
        """Return all signals as an xarray Dataset with units and meanings; needs the extra `data`."""
        from articulus.simulation.results.store import dataset

        return dataset(self)

    def to_pandas(self) -> Any:
        """Return all signals as a pandas DataFrame: a row per sample, a column per entry such as "q.lift"; needs pandas (extra `data`).

        The index is the time [s], of a batch the run and the time; units are in `frame.attrs["units"]`.
        """
        from articulus.simulation.results.frame import data_frame

        return data_frame(self)

    def to_polars(self) -> Any:
        """Return all signals as a polars DataFrame (extra `polars`): `run` (of a batch), `t` [s], a column for each entry such as "q.lift"."""
        return late_function("to_polars")(self)

    def save(self, path: StrPath) -> None:
        """Write everything to a file, whole or not at all; its ending says which kind.

        A netCDF4 file (extra `data`) holds all there is and `Run.load` reads it. `.mcap` is a log for Foxglove (extra `mcap`), `.rrd` a
        recording for Rerun (extra `rerun`): motion, shapes and signals of a single run. `.parquet` (extra `polars`) and `.mat` (version 5) hold
        all signals as tables.
        """
        suffix = Path(path).suffix.lower()
        if suffix in (".mcap", ".rrd", ".parquet", ".mat"):
            late_function(f"save_{suffix[1:]}")(self, path)
            return
        from articulus.simulation.results.store import save

        save(self, path)

    @staticmethod
    def load(path: StrPath, mechanism: Mechanism | None = None) -> Run:
        """Return the run that a file holds.

        Parameters
        ----------
        path : path of a file written by `save`
        mechanism : Mechanism
            Only for a run whose mechanism could not be written as text (a joint or constraint of your own).
        """
        from articulus.simulation.results.store import load

        return load(path, mechanism)

    def to_csv(self, path: StrPath) -> None:
        """Write all signals as one table with names and units in its first line; a batch has a column `run`."""
        from articulus.simulation.results.csv import write_csv

        write_csv(self, path)

    def plot(self, *names: str) -> Figure:
        """Return a figure of signals, or of single entries such as "q.lift"; of positions and velocities if none is named.

        The figure is a matplotlib Figure without a window: `run.plot("q").savefig("q.png")`; a notebook shows it.
        """
        from articulus.simulation.results.plots import plot

        return plot({"": self}, *names)

    def view(self, **options: Any) -> Any:
        """Open the run in the browser: playback, plots, posing, modes, and sliders over its parameters that run it again.

        The options are those of `articulus.browser.view`, which also shows several runs over each other. Returns an
        `articulus.browser.Viewing`.
        """
        return late_function("view")(self, **options)


def _blank(signal: Signal, late: list[tuple[int, np.ndarray]]) -> Signal:
    values = signal.values.copy()
    rows = values if values.ndim == 3 else values[None]
    for run, mask in late:
        rows[run, mask] = np.nan
    return dataclasses.replace(signal, values=values)
