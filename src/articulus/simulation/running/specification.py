"""Complete, validated specification of a run; `Run.again` runs it again."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.loops.forms import AUTO, DEFAULT, SMOOTH
from articulus.dynamics.loops.rank import require_full_rank
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import (
    DoubtfulModel,
    InputError,
    MovedStart,
    UnsupportedOperation,
    did_you_mean,
    doubtful,
)
from articulus.model.mechanism.numbers import as_array, value_of
from articulus.model.mechanism.physical import require_in_range
from articulus.simulation.integrate import method as find_method
from articulus.simulation.loop.components import Contact, Contacts, GroundContact
from articulus.simulation.loop.events import Event, Switching, description, switched_on
from articulus.simulation.loop.functions import System, native
from articulus.simulation.loop.python_controller import PythonController
from articulus.simulation.running.choose_engine import engine_for
from articulus.simulation.running.runner import LOG_BYTES, Runner
from articulus.simulation.running.servo_start import check_servo_constraints
from articulus.simulation.running.settings import RunSettings
from articulus.simulation.running.steppers import stepper_of
from articulus.simulation.running.tolerance import recorded_tolerance
from articulus.simulation.solve.assembly import assemble, independent_rows, moving_dofs

CONTACTS_NOTED = "note on contacts"
"""Kind of a finding of a model file that has shapes that touch."""
ADMISSIBLE = 1e-9
"""Residual of the constraints up to which an initial state is taken as it is [rad, or over the mechanism's length; rates over the largest speed]."""
MOVED = 0.01
"""Change of an initial position, over a large displacement, or of a velocity, over the largest one, above which closing warns [-]."""


@dataclass(frozen=True, eq=False)
class Specification:
    """One call of `simulate` or `rollout`, with its equations.

    Parameters
    ----------
    mechanism : Mechanism
    system : System
        The equations of the whole loop; kept so that a repeated run need not rebuild them.
    outside : PythonController, optional
    q0, v0 : array, optional
        As given: loops are closed again in every run, since parameters may move them.
    params : dict of parameter name to number or array (batch,)
        As given.
    single : bool
        Whether the result has no batch axis.
    settings : RunSettings
    """

    mechanism: Mechanism
    system: System
    outside: PythonController | None
    q0: Any
    v0: Any
    params: Mapping[str, Any]
    single: bool
    settings: RunSettings

    def with_params(self, params: Mapping[str, Any]) -> Specification:
        """Return the same with other values of some parameters; arrays (batch,) make a batch of a single run.

        Raises
        ------
        UnsupportedOperation
            A Python controller of a single run would see a batch.
        """
        many = any(np.ndim(value) for value in params.values())
        if many and self.single and self.outside is not None:
            raise UnsupportedOperation(
                f"again: the Python controller '{self.outside.name}' was written for one run; expected one number per "
                "parameter, or a controller of components, for a batch"
            )
        return dataclasses.replace(self, params={**self.params, **params}, single=self.single and not many)

    def start(self) -> tuple[np.ndarray, np.ndarray, list[tuple[int, ...]], dict[str, Any]]:
        """Return initial states (rows, nc), with loops closed, parameters (rows, np), and what `_closed` found."""
        system, s = self.system, self.settings
        c0, p = _initial(self.mechanism, system, self.q0, self.v0, self.params, self.single)
        _check_form(system, find_method(s.method), s.events)
        independent, start = self._closed(c0, p)
        _require_regular(self.mechanism, system, c0, p, s.t0)
        _begin(system, c0, p, s.t0, s.step)
        return c0, p, independent, start

    def runner(self) -> Runner:
        """Return the simulation, ready to go."""
        system, s = self.system, self.settings
        method = find_method(s.method)
        if s.max_step is not None and not method.controls_error:
            raise InputError(
                f"max_step: found {s.max_step:g} s with method '{method.name}', whose steps are all of `step`; expected a method that "
                "chooses its steps, such as dormand_prince, rosenbrock or cvodes"
            )
        _check_jumps(system, method, s.t0, s.t_end, s.step)
        c0, p, independent, start = self.start()
        setup = self._in_smooth_form() if self._contradictory(c0, p, start) else self
        system = setup.system
        check_servo_constraints(system, c0[0], p[0], s.t0, s.t_end)
        _tell_missing_contacts(self.mechanism, system)
        engine = engine_for(system, method, s, independent, self.single)
        size = 8 * len(c0) * (s.steps // s.every + 2) * engine.logged
        if size > LOG_BYTES:
            raise InputError(
                f"simulate: the log would take {size / 2**30:.3g} GiB; expected at most {LOG_BYTES >> 30}. Give a longer `sample`"
            )
        if s.outputs is None and system.left_out:
            warnings.warn(
                f"'{self.mechanism.name}': the signals {' and '.join(system.left_out)} are omitted, because their equations take minutes to "
                "derive with beams of so many elements in closed loops; name them in `outputs` if you need them",
                RuntimeWarning,
                stacklevel=5,
            )
        return Runner(setup, engine, c0, p, independent, start)

    def _contradictory(self, c: np.ndarray, p: np.ndarray, start: Mapping[str, Any]) -> bool:
        """Whether the method leaves the constraints where rows that are redundant on them contradict each other.

        The stages of adaptive methods lie off the constraints. Rows that keep a planar loop in its plane are redundant there too;
        those of a spatial loop that moves by its special dimensions, such as Bricard's, are not.
        """
        method = find_method(self.settings.method)
        leaves = method.controls_error and not method.keeps_constraints and self.system.form.name == DEFAULT
        if not (leaves and start.get("redundant")):
            return False
        holding = _holding(self.mechanism, switched_on(self.settings.events))
        names = [x.name for x in self.system.network.parameters]
        own = {x.name for x in holding.description.parameters}
        q = c[0, self.system.places["q"]]
        off = holding.integrate_position(q, np.random.default_rng(0).uniform(0.1, 1.0, holding.nv))
        params = {name: x for name, x in zip(names, p[0]) if name in own}
        found = independent_rows(holding, off, self.settings.t0, params=params)
        return len(found) > start["rows"] - len(start["redundant"])

    def _in_smooth_form(self) -> Specification:
        """Return the same with a form that suits such rows, or say that the one that was asked for does not."""
        if self.system.loops == AUTO:
            return dataclasses.replace(self, system=self.system.smooth)
        doubtful(
            f"'{self.mechanism.name}': loops = '{self.system.loops}' with method '{self.settings.method}': off the constraints, where the "
            "method has its stages, redundant rows contradict each other, and errors are larger than the tolerances; expected "
            f"loops = '{AUTO}' or '{SMOOTH}'"
        )
        return self

    def record(self) -> dict[str, Any]:
        """Return what was asked for, for the record."""
        return {
            **self.settings.record(),
            "sample": self.settings.every * self.settings.step,
            "loops": self.system.form.name if self.system.closing else "",
            "components": [f"{c.type_name} {c.name}" for c in self.system.network.components],
            "paths": [list(c.path) for c in self.system.network.components if c.path],
            "controller": self.outside.name if self.outside else "",
            "events": [description(e) for e in self.settings.events],
            "atol": recorded_tolerance(self.system, self.settings.atol),
        }

    def _closed(self, c: np.ndarray, p: np.ndarray) -> tuple[list[tuple[int, ...]], dict[str, Any]]:
        """Close the loops of every row that is off its constraints.

        Returns
        -------
        list of tuple of int
            Independent constraint rows of each run, for a method that works with them; else of the first alone. All rows where
            events switch constraints: which rows imply the others then changes.
        dict
            What was found, for the record: names of redundant rows, largest changes of q and v.
        """
        mechanism, system = self.mechanism, self.system
        holding = _holding(mechanism, switched_on(self.settings.events))
        moving_dofs(mechanism, self.settings.fixed, "fixed")
        chooses = stepper_of(find_method(self.settings.method)).chooses_rows
        switched = chooses and any(isinstance(event, Switching) for event in self.settings.events)
        every = tuple(range(len(mechanism.constraint_names))) if switched else ()
        if not holding.description.constraints:
            return [every], {}
        before = c.copy()
        q, v = (c[:, system.places[name]] for name in "qv")
        own = {x.name for x in holding.description.parameters}
        names = [x.name for x in system.network.parameters]
        values = [{name: x for name, x in zip(names, row) if name in own} for row in p]
        t0 = self.settings.t0
        for row, params in enumerate(values):
            scales = holding.description.scales(params)
            allowed = ADMISSIBLE * (
                scales.row_sizes(holding.constraint_jacobian(q[row], t0, params=params))
                if np.isnan(scales.rows).any()
                else scales.rows
            )
            off = np.abs(holding.constraint_residual(q[row], t0, params=params))
            fast = np.abs(holding.constraint_rate(q[row], v[row], t0, params=params))
            if not ((off <= allowed).all() and (fast <= allowed * scales.speed(v[row])).all()):
                assembly = assemble(holding, q[row], v[row], self.settings.fixed, t0, params=params)
                q[row], v[row] = assembly.q, assembly.v
        moved = {name: np.abs(c - before)[:, system.places[name]] for name in "qv"}
        if max(change.max(initial=0.0) for change in moved.values()) > 0:
            self._warn_of(moved, before, c)
        runs = len(q) if chooses else 1
        kept = [
            independent_rows(holding, q[row], self.settings.t0, params=values[row]) for row in range(runs)
        ]
        record = {
            "moved": {name: float(change.max(initial=0.0)) for name, change in moved.items()},
            "rows": len(holding.constraint_names),
            "redundant": [name for name in holding.constraint_names if name not in kept[0]],
        }
        if switched:
            return [every], record
        place = {name: i for i, name in enumerate(mechanism.constraint_names)}
        return [tuple(place[n] for n in names) for names in kept], record

    def _warn_of(self, moved: Mapping[str, np.ndarray], before: np.ndarray, c: np.ndarray) -> None:
        """Warn when a start that was given is not the one that the run has."""
        d = self.mechanism.description
        scales = d.scales(self.params)
        large = {"q": d.position_sizes(scales), "v": scales.displacement}
        large["v"] = large["v"] * scales.speed(before[:, self.system.places["v"]])
        for name, given in (("q", self.q0), ("v", self.v0)):
            at, share = self.system.places[name], moved[name] / large[name]
            if given is None or not share.max(initial=0.0) > MOVED:
                continue
            row, k = np.unravel_index(share.argmax(), share.shape)
            labels = self.mechanism.description.coordinate_names()
            label = f" ({labels[k]})" if len(labels) == at.stop - at.start else ""
            where = "" if self.single else f" in run {self.settings.first_run + row}"
            warnings.warn(
                f"'{self.mechanism.name}': {name}0 is off the constraints and was moved onto them: {name}0[{k}]{label} from "
                f"{before[row, at][k]:.6g} to {c[row, at][k]:.6g}{where}; expected a start that "
                "closes the loops. Name in `fixed` the joints that shall stay, or close the loops first with `assemble`",
                MovedStart,
                stacklevel=6,
            )


def _initial(
    mechanism: Mechanism,
    system: System,
    q0: Any,
    v0: Any,
    params: Mapping[str, Any] | None,
    single: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the initial continuous states (rows, nc) and the parameters (rows, np)."""
    q = _state("q0", q0, mechanism.neutral, single)
    v = _state("v0", v0, np.zeros(mechanism.nv), single)
    mechanism.description.require_rotations(q[0] if single else q)
    q = mechanism.description.with_unit_quaternions(q, "q0")
    given = dict(params or {})
    columns = []
    for parameter in system.network.parameters:
        value = _numbers(parameter.name, given.pop(parameter.name, value_of(parameter)), single)
        columns.append(value)
    if given:
        name = next(iter(given))
        known = [p.name for p in system.network.parameters]
        raise InputError(f"params: no parameter '{name}'; {did_you_mean(name, known)}")
    values = dict(zip((p.name for p in system.network.parameters), columns))
    chosen = {name: values[name] for name in params or {}}
    mechanism.description.physical.require(chosen)
    require_in_range(system.network.parameters, chosen)
    counts = {len(x) for x in (q, v) if len(x) > 1} | {len(x) for x in columns if x.ndim and len(x) > 1}
    if len(counts) > 1:
        raise InputError(f"rollout: found batches of {sorted(counts)} runs; expected one size")
    rows = counts.pop() if counts else 1
    c = np.tile(system.c0, (rows, 1))
    c[:, system.places["q"]], c[:, system.places["v"]] = q, v
    p = np.zeros((rows, len(columns)))
    for i, value in enumerate(columns):
        p[:, i] = value
    return c, p


def _numbers(name: str, given: Any, single: bool) -> np.ndarray:
    """Return the value of a parameter, or one per run."""
    value = as_array(f"params: '{name}'", given)
    if not np.isfinite(value).all() or not value.size or value.ndim > (0 if single else 1):
        raise InputError(f"params: '{name}' = {given!r}; expected finite numbers, one per run")
    return value


def _check_jumps(system: System, method: Any, t0: float, t_end: float, step: float) -> None:
    """Refuse fixed steps across a jump of an input: their order would be lost without a word."""
    if method.controls_error:
        return
    for time in system.jumps:
        count = (time - t0) / step
        if t0 < time < t_end and abs(count - round(count)) > 1e-6:
            raise InputError(
                f"an input jumps or bends at t = {time:.9g} s, inside a step of {step:.9g} s; expected it between two steps. "
                "Choose a step that divides its times, or an adaptive method such as dormand_prince"
            )


def _check_form(system: System, method: Any, events: Sequence[Event]) -> None:
    """Refuse a form of loops that cannot serve the mechanism, the method or the events."""
    form = system.form
    if system.closing is None or form.name == DEFAULT:
        return
    reason = form.refusal(system.description)
    if method.keeps_constraints:
        reason = f"has no place in method '{method.name}', which keeps the constraints itself; expected loops = '{DEFAULT}'"
    elif form.methods and method.name not in form.methods:
        reason = f"is for the methods {', '.join(form.methods)}; found '{method.name}'"
    elif form.own and events:
        reason = (
            f"has states of its own, which know nothing of the event '{events[0].name}'; expected no events"
        )
    elif not form.switches and any(isinstance(e, Switching) for e in events):
        reason = "cannot switch constraints; expected another for such events"
    if reason:
        raise UnsupportedOperation(f"loops: the form '{form.name}' {reason}")


def _require_regular(mechanism: Mechanism, system: System, c: np.ndarray, p: np.ndarray, t0: float) -> None:
    """Refuse rows that start where the form of loops cannot find its closure forces."""
    matrix = system.closing.regular() if system.closing is not None else None
    if matrix is None:
        return
    q, v = (c[:, system.places[name]] for name in "qv")
    own = p[:, : len(system.description.parameters)]
    for row in range(len(c)):
        require_full_rank(
            np.array(matrix(q[row], v[row], t0, _all_on(system), own[row])),
            mechanism.constraint_names,
            f"loops: the form '{system.form.name}' needs rows that the chains alone can fulfil, each independent of the others",
            f"Use loops = '{DEFAULT}', or close the chains by fewer rows.",
        )


def _all_on(system: System) -> np.ndarray:
    """Return the switches of constraints that all hold, with no residual kept."""
    return np.append(np.ones(len(system.description.constraints)), np.zeros(system.network.kept.numel()))


def _begin(system: System, c: np.ndarray, p: np.ndarray, t0: float, h: float) -> None:
    """Let the loop form's own states begin with q and v, row by row."""
    if system.beginning is not None:
        begun = native(system.beginning)
        for row, values in zip(c, p):
            row[:] = np.ravel(begun(row, system.d0, values, np.zeros(system.nw), t0, h))


def _holding(mechanism: Mechanism, off: set[str]) -> Mechanism:
    """Return the mechanism without the constraints that do not hold yet."""
    if not off:
        return mechanism
    d = mechanism.description
    kept = tuple(c for c in d.constraints if c.name not in off)
    return Mechanism.from_description(dataclasses.replace(d, constraints=kept))


def _state(name: str, value: Any, default: np.ndarray, single: bool) -> np.ndarray:
    """Return an initial state as rows."""
    array = default if value is None else as_array(name, value)
    good = array.shape == default.shape or (
        not single and array.ndim == 2 and array.shape[1:] == default.shape
    )
    if not good:
        expected = default.shape if single else ("batch", *default.shape)
        raise InputError(f"{name}: found shape {array.shape}; expected {expected}")
    if not len(np.atleast_2d(array)):
        raise InputError(f"{name}: found an empty batch; expected at least one run")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: found a value that is not finite")
    return np.atleast_2d(array)


_told_of_contacts: set[str] = set()


def _tell_missing_contacts(mechanism: Mechanism, system: System) -> None:
    """Warn once of a model whose file has shapes that touch, in a run without any contact."""
    noted = [f for f in mechanism.findings if f.kind == CONTACTS_NOTED]
    if not noted or mechanism.description.fingerprint in _told_of_contacts:
        return
    if any(isinstance(c, Contact | Contacts | GroundContact) for c in system.network.components):
        return
    _told_of_contacts.add(mechanism.description.fingerprint)
    doubtful(
        f"'{mechanism.name}': its file has {noted[0].found}, and the run has no contact: bodies fall through the floor and through each "
        "other. contacts=True makes contacts of them, `Contact`, `Contacts` and `GroundContact` are your own",
        DoubtfulModel,
    )
