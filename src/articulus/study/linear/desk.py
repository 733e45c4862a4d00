"""Controllers designed on a page: the plant of a run, a design from a form, its curves, and the run with it, as plain data.

`ControlDesk(run).describe()` is sent once:

    methods    [{name, meaning, fields: [{key, kind, meaning, value}]}]   kind: "number", "integer", "flag", "weight", ...; value: text of TOML
    parameters [str]   numbers of the run that may be uncertain
    refused    str or null   why there is nothing to design for; methods is then empty

`plant(at)` answers with the linear model about the state at a time, held there by constant commands, without the run's own controllers:

    t          float [s]
    commands, outputs   [{name, unit}]
    measured   [str]   outputs that a controller has if nothing else is said: those of sensors, else positions
    states     [str]
    poles      [{re, im, omega, zeta}]
    pairs      see `curves.pairs`
    notes      [str]

`design(form)` answers with a controller, `form` being {at, method, commands, measured, arguments: {key: text}, period: text}:

    number     int    by which `robustness` finds it again
    failure    str or null; findings [{key, text}]   what is wrong in which field, "" for the whole
    notes      [str]   warnings
    summary    [str]; checks [{what, found, bound, passed}]
    curves     see `curves.curves`; null without a controller
    run        recording of the run with the controller in place of its own; null where there is none
    run_failure   str or null
    toml, python   str   the component as a study reads it; the call that gives it

`robustness(number, percent, parameters)` answers with mu (`curves.robustness`), of parameters within some percent of their values where any are named.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulus import control
from articulus.browser.recording import Lane, recording
from articulus.control import Design
from articulus.control.connect import select
from articulus.errors import ArticulusError, Finding, InputError, ModelError, NumericalError
from articulus.linear import LinearModel
from articulus.simulation.loop.component import Component, Controller, Sensor
from articulus.simulation.loop.components import LinearController
from articulus.simulation.results import Run
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.rerun import RunOrigin
from articulus.study.linear.curves import curves, cut, pairs, parameter_robustness, plain_poles, robustness
from articulus.study.linear.methods import METHODS
from articulus.study.linear.model_file import OperatingModel, component_text
from articulus.study.linear.runner import as_component
from articulus.study.linear.source import PlantSource, linear_plant
from articulus.study.linear.tasks import read_arguments

NAME = "designed"
SHARE = 0.1
"""Part of the bytes of a page that a recording of the desk may have."""
KEPT = 20
"""Designs that are kept for questions about them."""

MEANINGS = {
    "Q": "weight of the states: a number, a list, or a table by names; q stands for every q.<name>",
    "R": "weight of the commands",
    "W": "noise of the states",
    "V": "noise of the measurements",
    "W1": "weight of the sensitivity over frequency",
    "W2": "weight of the commands over frequency",
    "W3": "weight of the complementary sensitivity over frequency",
    "crossover": "frequency at which the gain of the loop is one [rad/s]",
    "phase_margin": "phase margin there [deg]",
    "integral": "with an integral part",
    "order": "states of the controller",
    "effort": "weight of the commands",
    "errors": "weight of the measured outputs",
    "disturbances": "size of the white noise at the commands",
    "noise": "size of the white noise of the measurements",
    "h2": "weight of the H2 norm",
    "hinf": "weight of the Hinf norm",
    "damping": "least damping ratio of the poles",
    "decay": "least distance of the poles from the imaginary axis [1/s]",
    "starts": "searches, of which the best counts",
    "poles": "poles of the closed loop: numbers and pairs [real, imaginary] [rad/s]",
    "gamma": "norm that is enough; the least if empty",
    "relax": "part by which the norm may lie above the least",
}
"""What stands beside the fields of the forms."""

FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "lqr": ("state feedback with the least cost x'Qx + u'Ru", {"Q": "", "R": "0.01"}),
    "lqg": ("observer and state feedback under white noise", {"Q": "", "R": "0.01", "W": "0.001", "V": "1e-6"}),
    "mixsyn": (
        "shapes sensitivity, commands and complementary sensitivity by weights",
        {"W1": "{num = [0.5, 3], den = [1, 0.003]}", "W2": "0.001", "W3": "", "gamma": "", "relax": "0.01"},
    ),
    "pidtune": ("PID for one command and one measurement", {"crossover": "10", "phase_margin": "60", "integral": "true"}),
    "fixed_order": (
        "a controller of few states with the least norms",
        {"order": "1", "errors": "1", "effort": "0.01", "disturbances": "1", "noise": "0.001", "h2": "1", "hinf": "0", "damping": "", "decay": "", "starts": "3"},
    ),
    "ncfsyn": ("loop shaping: weights before and after the plant", {"W1": "1", "W2": "1", "relax": "0.1"}),
    "place": ("state feedback that gives the closed loop these poles", {"poles": ""}),
}  # fmt: skip
"""Methods that have a form, with what stands in their fields at first."""


class ControlDesk:
    """A single run for whose mechanism, actuators and sensors controllers are designed.

    Parameters
    ----------
    run : Run
        From `simulate`; its own controllers are taken out.
    """

    def __init__(self, run: Run):
        self.run, self._refused = run, None
        self._plants: dict[float, OperatingModel] = {}
        self._notes: dict[float, list[str]] = {}
        self._designs: dict[int, tuple[float, LinearModel, Design]] = {}
        self._numbers = itertools.count(1)
        try:
            origin = run.require_origin("design of controllers")
            assert isinstance(origin, RunOrigin)
            self._setup = origin.setup
            parts = self._setup.system.network.components
            self._bare = Loop(
                self._setup.mechanism,
                components=[c for c in parts if not isinstance(c, Controller)],
                loops=self._setup.system.loops,
            )
        except ArticulusError as error:
            self._refused = str(error)

    @functools.cached_property
    def _values(self) -> dict[str, float]:
        """Values of the parameters that the loop has without its controllers."""
        known = {each.name for each in self._bare.system.network.parameters}
        return {p.name: float(p.value) for p in self.run.parameters if p.name in known}

    def describe(self) -> dict[str, Any]:
        """Return what the page needs to know at first; see the module."""
        return {
            "methods": [] if self._refused else [_form(name) for name in FORMS],
            "parameters": [] if self._refused else list(self._values),
            "refused": self._refused,
        }

    def plant(self, at: float | None) -> dict[str, Any]:
        """Return the linear model about the state at a time, the end if not given; see the module."""
        t, held = self._plant(at)
        model = held.model
        sensors = [n for n in model.outputs if n[:2] not in ("q.", "v.")]
        return {
            "t": t,
            "commands": [{"name": n, "unit": u} for n, u in zip(model.inputs, model.input_units)],
            "outputs": [{"name": n, "unit": u} for n, u in zip(model.outputs, model.output_units)],
            "measured": sensors or [n for n in model.outputs if n.startswith("q.")],
            "states": list(model.states),
            "poles": plain_poles(model.poles),
            "pairs": pairs(model),
            "notes": self._notes[t],
            "weights": _state_weights(model),
        }

    def design(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """Return the controller that a form asks for, its curves and the run with it; see the module."""
        answer: dict[str, Any] = {
            "failure": None, "findings": [], "notes": [], "summary": [], "checks": [], "curves": None,
            "run": None, "run_failure": None, "toml": "", "python": "",
        }  # fmt: skip
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                t, held = self._plant(form.get("at"))
                model, arguments = self._problem(held, form)
                try:
                    found = METHODS[form["method"]].function(model, **arguments)
                except NumericalError as error:
                    answer["failure"] = str(error)
                    if not isinstance(error.result, Design):
                        return answer
                    found = error.result
            answer["notes"] = list(dict.fromkeys(str(each.message) for each in told))
        except ArticulusError as error:
            return answer | {"failure": str(error), "findings": _findings(error)}
        plant = model if set(found.controller.inputs) <= set(model.outputs) else found.plant
        number = next(self._numbers)
        self._designs[number] = t, plant, found
        while len(self._designs) > KEPT:
            self._designs.pop(next(iter(self._designs)))
        component = as_component(found, held, NAME)
        return answer | {
            "number": number,
            "summary": [line.strip() for line in str(found).splitlines() if "bound" not in line],
            "checks": [{"what": c.what, "found": _plain(c.found), "bound": _plain(c.bound), "passed": bool(c.passed)} for c in found.checks],
            "curves": curves(plant, found.controller),
            **self._run_with(component),
            "toml": component_text(component, "toml", f"{form['method']} about t = {t:g} s of a run of {self.run.mechanism.name}"),
            "python": self._python(t, held, form, arguments, component),
        }  # fmt: skip

    def robustness(self, number: int, percent: float, parameters: Sequence[str] = ()) -> dict[str, Any]:
        """Return mu of a design over frequency, with the worst perturbation; see the module."""
        if number not in self._designs:
            raise InputError(
                f"robustness: found design {number}; expected one of the last {KEPT}: design it again"
            )
        t, plant, design = self._designs[number]
        if not parameters:
            return robustness(cut(plant, design.controller), percent)
        if not 0.0 < percent < 100.0:
            raise InputError(
                f"uncertainty: found {percent:g} % for parameters; expected a number above 0, below 100"
            )
        known = self._values
        for name in parameters:
            if name not in known:
                raise InputError(f"robustness: no parameter '{name}'; expected {', '.join(known) or 'none'}")
        spread = {name: 0.01 * percent * (abs(known[name]) or 1.0) for name in parameters}
        ranges = {name: (known[name] - x, known[name] + x) for name, x in spread.items()}
        held = self._plant(t)[1]
        loop = self._with(as_component(design, held, NAME))
        others = {name: x for name, x in known.items() if name not in ranges}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = control.uncertain(loop, ranges, held.q, params=others, step=self._setup.settings.step)
            found = control.robstab(model)
        return parameter_robustness(found, ranges, {})

    # parts of answers

    def _plant(self, at: float | None) -> tuple[float, OperatingModel]:
        """Return the time of a state of the run and the linear model about it."""
        if self._refused:
            raise InputError(self._refused)
        good = np.flatnonzero(np.isfinite(self.run.q).all(axis=1))
        wanted = self.run.t[-1] if at is None else float(at)
        row = int(good[max(0, np.searchsorted(self.run.t[good], wanted * (1 + 1e-12), side="right") - 1)])
        t = float(self.run.t[row])
        if t not in self._plants:
            params = self._values
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                source = PlantSource(self.run.mechanism.name, trim=True)
                found = source.about(self._bare, self.run.q[row], None, params, self._setup.settings, t)
            named = found.model.rename(name=self.run.mechanism.name)
            known = _measurable(named, [c.name for c in self._bare.components if isinstance(c, Sensor)])
            self._plants[t] = dataclasses.replace(
                found, model=select(named, range(len(named.inputs)), known), outputs=found.outputs[known]
            )
            self._notes[t] = list(dict.fromkeys(str(each.message) for each in told))
        return t, self._plants[t]

    def _problem(self, held: OperatingModel, form: Mapping[str, Any]) -> tuple[LinearModel, dict[str, Any]]:
        """Return plant and arguments of a form; raise ModelError with everything that is wrong in it."""
        method = form.get("method")
        if method not in FORMS:
            raise InputError(f"method: found {method!r}; expected {', '.join(FORMS)}")
        commands, measured = form.get("commands") or list(held.model.inputs), form.get("measured") or None
        if measured is None:
            raise ModelError(Finding("measured", "nothing", "at least one measured output", field="measured"))
        kinds, table, findings = METHODS[method].kinds, {}, []
        for key, text in {**form["arguments"], "period": form.get("period") or ""}.items():
            if not str(text).strip():
                continue
            try:
                table[key] = tomllib.loads(f"value = {text}")["value"]
            except (tomllib.TOMLDecodeError, KeyError, RecursionError):
                expected = "a number, a list or a table, as in TOML: 10, [1, 2], {q = 100, v.lift = 1}"
                findings.append(Finding(f"arguments.{key}", f"'{text}'", expected))
        period = table.pop("period", None)
        if period is not None and (
            isinstance(period, bool) or not isinstance(period, int | float) or not 0 < period < math.inf
        ):
            findings.append(Finding("arguments.period", f"{period}", "a sampling period [s], above 0"))
        if findings:
            raise ModelError(findings)
        model = linear_plant(held, period).select(commands, measured)
        ports = {"commands": list(commands), "measured": list(measured)}
        required = {key: value for key, value in ports.items() if key in METHODS[method].required}
        for key in METHODS[method].required:
            if key not in table and key not in required:
                findings.append(Finding(f"arguments.{key}", "nothing", f"{key}, as {method} needs it"))
        if findings:
            raise ModelError(findings)
        return model, read_arguments(method, {**table, **required}, model) | (
            {"integral": False} if kinds.get("integral") and not table.get("integral") else {}
        )

    def _with(self, component: Component) -> Loop:
        return dataclasses.replace(self._bare, components=(*self._bare.components, component))

    def _run_with(self, component: LinearController) -> dict[str, Any]:
        """Return the run with a controller in place of its own, or why there is none."""
        setup = self._setup
        try:
            run = self._with(component).run(setup.settings, setup.q0, setup.v0, params=self._values)
        except NumericalError as error:
            shown = recording(Lane(NAME, error.result, 0), SHARE) if isinstance(error.result, Run) else None
            return {"run": shown, "run_failure": str(error)}
        except ArticulusError as error:
            return {"run": None, "run_failure": str(error)}
        return {"run": recording(Lane(NAME, run, 0), SHARE), "run_failure": None}

    def _python(
        self,
        t: float,
        held: OperatingModel,
        form: Mapping[str, Any],
        arguments: Mapping[str, Any],
        component: LinearController,
    ) -> str:
        """Return the call that gives the same controller, for a loop without a controller and the position."""
        method, settings = form["method"], self._setup.settings
        function = METHODS[method].function
        home = "control" if hasattr(control, function.__name__) else "control.synthesis"
        given = ", ".join(f"{key}={_python_text(value)}" for key, value in arguments.items())
        commands, measured = form.get("commands") or list(held.model.inputs), form["measured"]
        period = str(form.get("period") or "").strip()
        point = {key: getattr(component, key) for key in ("y0", "u0", "q0")}
        shown = ", ".join(f"{key}={_python_text(value)}" for key, value in point.items() if value is not None)
        return "\n".join(
            [
                "import articulus as art",
                "",
                "",
                "def controller(loop, q):",
                f'    """Return a controller for a loop of {held.model.name} that has none, about the position q (t = {t:g} s of the run)."""',
                f"    held = loop.trim(q, t={t!r}, step={settings.step!r}, params={self._values!r})",
                f"    plant = held.linearize({_python_text(tuple(commands))}, {_python_text(tuple(measured))})",
                *([f"    plant = art.control.sample(plant, {period})"] if period else []),
                f"    design = art.{home}.{function.__name__}(plant, {given})",
                f"    return design.component(name={NAME!r}, {shown})",
                "",
            ]
        )  # fmt: skip


def _form(method: str) -> dict[str, Any]:
    meaning, values = FORMS[method]
    kinds = METHODS[method].kinds
    fields = [
        {"key": key, "kind": kinds[key], "meaning": MEANINGS[key], "value": value}
        for key, value in values.items()
    ]
    return {"name": method, "meaning": meaning, "fields": fields}


def _state_weights(model: LinearModel) -> str:
    """Return weights of states to begin with: positions a hundred times velocities, other states none."""
    entries = [
        f"{kind} = {weight}"
        for kind, weight in (("q", 100), ("v", 1))
        if any(name.startswith(f"{kind}.") for name in model.states)
    ]
    return f"{{{', '.join(entries)}}}" if entries else "1"


def _measurable(model: LinearModel, sensors: Sequence[str]) -> list[int]:
    """Return the outputs that a controller may measure: positions, velocities and what sensors give, as far as they have derivatives."""
    finite = np.isfinite(model.C).all(axis=1) & np.isfinite(model.D).all(axis=1)
    kinds = ("q", "v", *sensors)
    return [k for k, name in enumerate(model.outputs) if finite[k] and name.split(".")[0] in kinds]


def _findings(error: ArticulusError) -> list[dict[str, str]]:
    """Return what an error says of the fields of a form, "" where it is about no field."""
    out = []
    for finding in getattr(error, "findings", ()):
        tail = finding.where.rpartition("arguments.")[2] if "arguments." in finding.where else finding.field
        out.append(
            {"key": tail.split(".")[0].split("[")[0], "text": str(dataclasses.replace(finding, where=""))}
        )
    return out


def _plain(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _python_text(value: Any) -> str:
    """Return a value as Python text: arrays as lists."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, tuple):
        return f"({', '.join(map(_python_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_python_text, value))}]"
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value)
