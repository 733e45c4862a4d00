"""The design desk: a run made again with other parameters, with the linear model of its loop, as plain data for the page.

`Desk(run).describe()` is sent once:

    title       str       name of the mechanism
    span        [t0, t1]  start and end of the run [s]
    parameters  [{name, value, default, low, high}]   numbers; a slider each, `low` < `high`
    inputs      [{name, unit}]   disturbances of the loop: "tau.lift", a force on one degree of freedom of a joint
    outputs     [{name, unit}]   entries of logged signals: "q.lift", "v.lift", "pd.error.0"
    input, output   str   the pair that is shown when none is asked for
    linear      str or null   why there is no linear model; null when there is one (else inputs, outputs are empty)
    front       null, or designs to choose from, see `articulus.browser.desk_front`

`desk.design(values, vary=None, at=None, input=None, output=None)` answers a change of sliders:

    values      {name: number}   of all parameters
    failure     str or null      why the run could not go on
    run         recording of `articulus.browser.recording`, for the player; null when there is no sample
    loop        null, or
        failure   str or null   why there is no linear model; the rest is then missing
        t         number        time of the state that it is about [s]
        period    number or null   of the discrete model of a loop with sampled components [s]
        poles     [{re, im, omega, zeta}]   [rad/s; rad/s; rad/s; -], by rising omega; zeta null at the origin;
                                            poles at -infinity (values that are only passed on) are omitted
        states    int           number of states, poles at -infinity included
        response  null where nothing can be pushed (no joint has a degree of freedom), or {input, output, unit, omega, magnitude, phase}
                                lists of equal length: [rad/s], rising; output over input [unit], may be 0; [deg], unwrapped;
                                magnitude and phase are null where they are not finite (a pole on the axis)
    family      null when `vary` is null or the run failed, or
        name      str           the parameter that goes over its range
        failure   str or null   why it could not be run; lines is then empty
        labels, units   [str]   of the entries of q
        lines     [{value, failure, t, q, poles}]   eight of them, by rising value
                                t, q: packed tables (`packing.pack`, unpack.js), (time, 1) and (time, nq), to the end of this run;
                                poles: as above; none where the run failed or has no linear model

`desk.margins(values, at=None)` answers separately, so that a slow analysis keeps no run waiting:

    values      {name: number}   of all parameters
    controlled  bool    whether the run has a controller; nothing is shown of one without
    failure     str or null      why there are no margins
    note        str     what to keep in mind, may be empty
    t           number  time of the state [s]
    poles       [{re, im, omega, zeta}]   the least damped ones of the closed loop, at most `LEAST_DAMPED`
    channels    [{name, gain_up, gain_down, phase, omega, delay, disk, sensitivity}]   one for each command; factors [-], [deg],
                frequency of the least phase [rad/s], [s], [-], [-]; null where there is no limit
    all         null for one channel, or {disk, sensitivity} of all of them at once

All numbers are finite. Angles are in rad but for phases.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.browser.desk_front import front_for_page
from articulus.browser.packing import chosen_rows, pack
from articulus.browser.recording import Lane, recording
from articulus.errors import ArticulusError, InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.linear import LinearModel, Ports
from articulus.simulation.results import Run

if TYPE_CHECKING:
    from articulus.control.analysis.margins import ChannelMargins

FAMILY = 8
"""Runs over the range of a parameter."""
SHARE = 0.1
"""Part of the bytes of a page that a recording of the desk may have: it is sent at every change of a slider."""
CURVE_ROWS = 400
"""Most rows of a curve of the family."""
ORIGIN = 1e-9
"""Size below which a pole is taken for one at the origin, of which rounding is left [rad/s]."""
FREQUENCIES = 200
DECADES = 3
"""Frequencies go at most that far to either side of the middle pole."""
LEAST_DAMPED = 3
KEPT = 4
"""Runs that are kept for questions about them."""


@dataclass(frozen=True)
class Slider:
    """A parameter with its range."""

    name: str
    value: float
    default: float
    low: float
    high: float

    def steps(self, count: int) -> np.ndarray:
        """Return values from low to high, in equal ratios where both are positive."""
        return (np.geomspace if self.low > 0 else np.linspace)(self.low, self.high, count)


class Desk:
    """A single run whose parameters can be changed.

    Parameters
    ----------
    run : Run
        From `simulate`.
    ranges : dict of parameter name to (low, high)
        Otherwise the range that was declared with the parameter, or a quarter to four times a positive value, as far to either side of zero for a negative one, -1 to 1
        for zero.
    wrenches : dict of signal name to frame
        See `export_html`.
    designs : Front, or sequence of dicts of name to number
        Designs to choose from; see `front_for_page`.

    Raises
    ------
    InputError
        A batch, a range that is none, or designs without parameters of the run.
    UnsupportedOperation
        The run cannot be made again.
    """

    def __init__(
        self,
        run: Run,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        wrenches: Mapping[str, str] | None = None,
        designs: Any = None,
    ):
        if run.batch is not None:
            raise InputError(f"desk: found a batch of {run.batch} runs; expected a single run")
        run.require_origin("desk")
        given, self.run, self.wrenches = dict(ranges or {}), run, wrenches
        self.sliders = {
            p.name: Slider(p.name, p.value, p.default, *_range(p.name, p.value, given.pop(p.name, p.range)))
            for p in run.parameters
        }
        for name in given:
            self._slider(name)
        self.front = None if designs is None else front_for_page(designs, list(self.sliders))
        self._ports, self._why_not = _ports(run)
        self._kept: dict[tuple[float, ...], tuple[Run | None, str | None]] = {}
        self._making = threading.Lock()

    def describe(self) -> dict[str, Any]:
        """Return what the page needs to know at first; see the module."""
        io = self._ports
        return {
            "title": self.run.mechanism.name,
            "span": [float(self.run.t[0]), float(self.run.t[-1])],
            "parameters": [vars(slider) for slider in self.sliders.values()],
            "inputs": [{"name": n, "unit": u} for n, u in zip(io.inputs, io.input_units)],
            "outputs": [{"name": n, "unit": u} for n, u in zip(io.outputs, io.output_units)],
            "input": self._pair(None, None)[0],
            "output": self._pair(None, None)[1],
            "linear": self._why_not,
            "front": self.front,
        }

    def design(
        self,
        values: Mapping[str, float],
        vary: str | None = None,
        at: float | None = None,
        input: str | None = None,
        output: str | None = None,
    ) -> dict[str, Any]:
        """Return the run with other values, its linear model, and a family of runs; see the module.

        Parameters
        ----------
        values : dict of parameter name to number
            Those that are not named keep the value of the run.
        vary : str
            Parameter that goes over its range in the family.
        at : float [s]
            Time of the state that the linear models are about; the end if not given.
        input, output : str
            Input and output of the frequency response.

        Raises
        ------
        InputError
            A name that is not known, or a value that is not finite.
        """
        chosen = self._all_parameters(values)
        varied = None if vary is None else self._slider(vary)
        pair = self._pair(input, output)
        run, failure = self._attempt(chosen)
        answer: dict[str, Any] = {"values": chosen, "failure": failure, "loop": None, "family": None}
        answer["run"] = (
            None if run is None else recording(Lane("design", run, 0), SHARE, wrenches=self.wrenches)
        )
        if run is not None and failure is None:
            answer["loop"] = _loop(run, at, *pair)
            answer["family"] = None if varied is None else self._family(chosen, varied, at)
        return answer

    def margins(self, values: Mapping[str, float], at: float | None = None) -> dict[str, Any]:
        """Return the stability margins of the run with other values about a time [s], the end if not given; see the module."""
        from articulus.control.proof.run_margins import NO_CONTROLLER, run_margins

        chosen = self._all_parameters(values)
        run, failure = self._attempt(chosen)
        blank = {
            "values": chosen,
            "controlled": True,
            "note": "",
            "t": at,
            "poles": [],
            "channels": [],
            "all": None,
        }
        if run is None or failure is not None:
            return {**blank, "failure": "the run failed"}
        margins_now = run_margins(run, at)
        answer = {
            **blank,
            "controlled": margins_now.reason != NO_CONTROLLER,
            "failure": margins_now.reason or None,
            "note": margins_now.note,
            "t": margins_now.t,
            "poles": _plain(margins_now.least_damped[:LEAST_DAMPED]),
        }
        if margins_now.margins is None:
            return answer
        both = margins_now.margins
        several = len(both.channels) > 1
        return {
            **answer,
            "channels": [_channel(c) for c in both.channels],
            "all": _finite_values(disk=both.disk.size, sensitivity=both.sensitivity.value)
            if several
            else None,
        }

    def _all_parameters(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the values of all parameters, some of them given."""
        chosen = {name: slider.value for name, slider in self.sliders.items()}
        for name, value in values.items():
            self._slider(name)
            if not math.isfinite(value):
                raise InputError(f"desk: parameter '{name}' = {value!r}; expected a finite number")
            chosen[name] = float(value)
        return chosen

    def _attempt(self, chosen: Mapping[str, float]) -> tuple[Run | None, str | None]:
        """Return the run with these values, and why it ended early; the last few are kept for questions that follow."""
        key = tuple(chosen.values())
        with self._making:
            if key not in self._kept:
                self._kept[key] = _attempt(self.run, chosen)
                while len(self._kept) > KEPT:
                    self._kept.pop(next(iter(self._kept)))
            return self._kept[key]

    def _family(self, chosen: Mapping[str, float], varied: Slider, at: float | None) -> dict[str, Any]:
        """Return runs over the range of a parameter, all in one batch."""
        values, q = varied.steps(FAMILY), self.run.signals["q"]
        about = {"name": varied.name, "labels": list(q.labels), "units": list(q.units)}
        try:
            batch = self.run.again({**chosen, varied.name: values})
        except ArticulusError as error:
            return {**about, "failure": str(error), "lines": []}
        failures = {f.run: str(f) for f in batch.failures}
        return {
            **about,
            "failure": None,
            "lines": [
                {
                    "value": float(x),
                    "failure": failures.get(k),
                    **_curve(batch, k),
                    "poles": [] if k in failures else _poles_of(batch, at, k),
                }
                for k, x in enumerate(values)
            ],
        }

    def _slider(self, name: str) -> Slider:
        if name not in self.sliders:
            raise InputError(f"desk: no parameter '{name}'; {did_you_mean(str(name), self.sliders)}")
        return self.sliders[name]

    def _pair(self, input: str | None, output: str | None) -> tuple[str, str]:
        """Return an input and an output: those asked for, or the first input and the position that it moves."""
        io = self._ports
        for name, known in ((input, io.inputs), (output, io.outputs)):
            if name is not None and name not in known:
                raise InputError(f"desk: no signal '{name}'; {did_you_mean(str(name), known)}")
        chosen = input or next(iter(io.inputs), "")
        moved = f"q.{chosen.partition('.')[2]}"
        return chosen, output or (moved if moved in io.outputs else next(iter(io.outputs), ""))


def _range(name: str, value: float, given: Any) -> tuple[float, float]:
    """Return the ends of a slider."""
    if given is None:
        reach = 4 * abs(value) or 1.0
        return (value / 4, reach) if value > 0 else (-reach, reach)
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise InputError(f"desk: range of '{name}': found {given!r}; expected two numbers, low < high")
    return low, high


def _ports(run: Run) -> tuple[Ports, str | None]:
    """Return inputs and outputs of the linear model; none, with the reason, where there is no model."""
    try:
        return run.require_origin("linearize").ports(run), None
    except UnsupportedOperation as error:
        return Ports((), (), (), ()), str(error)


def _attempt(run: Run, values: Mapping[str, float]) -> tuple[Run | None, str | None]:
    """Return the run with other values up to where it ended, and why it ended early."""
    try:
        return run.again(values), None
    except NumericalError as error:
        return (error.result if isinstance(error.result, Run) else None), str(error)
    except ArticulusError as error:
        return None, str(error)


def _loop(run: Run, at: float | None, input: str, output: str) -> dict[str, Any]:
    try:
        model = run.linearize(at)
    except ArticulusError as error:
        return {"failure": str(error)}
    return {
        "failure": None,
        "t": model.t,
        "period": model.period,
        "poles": _poles(model),
        "states": len(model.states),
        "response": _response(model, input, output) if input else None,
    }


def _channel(c: ChannelMargins) -> dict[str, Any]:
    """Return the margins of a command as plain data."""
    numbers = _finite_values(
        gain_up=c.gain_up,
        gain_down=c.gain_down,
        phase=math.degrees(c.phase),
        omega=c.omega_phase,
        delay=c.delay,
        disk=c.disk.size,
        sensitivity=c.sensitivity.value,
    )
    return {"name": c.channel.removeprefix("u."), **numbers}


def _finite_values(**values: float) -> dict[str, float | None]:
    return dict(zip(values, _finite(np.array(list(values.values())))))


def _poles(model: LinearModel) -> list[dict[str, float | None]]:
    return _plain(model.poles[np.isfinite(model.poles)])


def _plain(poles: np.ndarray) -> list[dict[str, float | None]]:
    return [
        {"re": s.real, "im": s.imag, "omega": abs(s), "zeta": -s.real / abs(s) if s else None}
        for s in map(complex, np.where(np.abs(poles) < ORIGIN, 0.0, poles))
    ]


def _poles_of(batch: Run, at: float | None, run: int) -> list[dict[str, float | None]]:
    try:
        return _poles(batch.linearize(at, run))
    except ArticulusError:
        return []


def _curve(batch: Run, run: int) -> dict[str, Any]:
    """Return evenly chosen rows of the positions of one run."""
    good = np.flatnonzero(np.isfinite(batch.q[run]).all(axis=-1))
    rows = good[chosen_rows(good.size, 1, CURVE_ROWS)] if good.size else good
    return {"t": pack(batch.t[rows, None]), "q": pack(batch.q[run, rows])}


def _response(model: LinearModel, input: str, output: str) -> dict[str, Any]:
    single, omega = model.between(input, output), _frequencies(model)
    values = single.response(omega)[:, 0, 0]
    good = np.isfinite(values)
    phase = np.full(omega.size, np.nan)
    phase[good] = np.degrees(np.unwrap(np.angle(values[good])))
    return {
        "input": input,
        "output": output,
        "unit": _ratio(single.output_units[0], single.input_units[0]),
        "omega": omega.tolist(),
        "magnitude": _finite(np.abs(values)),
        "phase": _finite(phase),
    }


def _ratio(above: str, below: str) -> str:
    """Return the unit of a quotient."""
    return f"{'1' if above == '-' else above}/{f'({below})' if ' ' in below else below}"


def _frequencies(model: LinearModel) -> np.ndarray:
    """Return rising frequencies about all poles, at most `DECADES` from the middle one, resonances among them [rad/s]."""
    poles = model.poles
    sizes = np.abs(poles[np.isfinite(poles) & (np.abs(poles) >= ORIGIN)])
    middle = float(np.median(sizes)) if sizes.size else 1.0
    low = max(0.1 * sizes.min(initial=middle), middle / 10**DECADES)
    high = min(10 * sizes.max(initial=middle), middle * 10**DECADES)
    if model.period is not None:
        high = math.pi / model.period
        low = min(low, high / 10)
    resonances = np.abs(poles.imag)
    inside = resonances[(low < resonances) & (resonances < high)]
    return np.union1d(np.geomspace(low, high, FREQUENCIES), inside)


def _finite(values: np.ndarray) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]
