"""`Loop`: a mechanism with its controller and components, closed: what is simulated, linearized and passed on."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.dynamics.flexible import validity
from articulus.dynamics.loops.forms import AUTO
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.kernel.interrupts import heed_interrupts
from articulus.linear import LinearModel, LinearModels
from articulus.model.late import late_function
from articulus.model.mechanism.numbers import parameters_in
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import BeamForces, Expression
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.equilibrium import LoopEquilibrium, LoopRest
from articulus.simulation.loop.events import Event, keeps_found
from articulus.simulation.loop.events import stops as event_stops
from articulus.simulation.loop.functions import System, native
from articulus.simulation.loop.linear_model import asked_signals, linear_models, names_of, require_derivatives
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.loop.python_controller import PythonController
from articulus.simulation.loop.stuck_friction import check_stuck_friction
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.simulation.running.checkpoint import require_place
from articulus.simulation.running.settings import RunSettings, as_tuple, number
from articulus.simulation.running.specification import Specification
from articulus.simulation.running.steppers import beams_of
from articulus.simulation.running.trim import Trim, find_trim, hold_commands
from articulus.simulation.solve.assembly import independent_rows

Controller = Component | PythonController | ca.Function | Callable | Sequence[Component]

MOST_EQUATIONS = 8
"""Loops of one mechanism whose equations it keeps."""
FUNCTIONS = ("rhs", "acceleration", "correction")
"""Functions that `Loop.function` gives."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A mechanism with its controller and components.

    Parameters
    ----------
    mechanism : Mechanism
    controller : component, casadi.Function, or Python function of t, q, v
        What commands the actuators; several in a list add up. See `simulate`.
    components : sequence of Component
        Actuators, sensors, disturbances, further controllers. Without actuators a command is a joint force.
    loops : str
        Form in which kinematic loops are closed; see `articulus.dynamics.loops.FORMS`. "auto" is "regularized", and "lagrange" in runs of
        over-constrained loops with an adaptive method.

    Its equations are made once, when first needed, and kept as long as the loop is.
    """

    mechanism: Mechanism
    controller: Controller | None = None
    components: Sequence[Component] = ()
    loops: str = AUTO

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InputError(
                f"simulate: found {self.mechanism!r}; expected a Mechanism, for example art.load('puma600')"
            )
        object.__setattr__(self, "components", as_tuple("components", self.components))

    def __getstate__(self) -> dict[str, Any]:
        """Return what the loop is made of: a copy makes its own equations, which are symbols."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    # equations

    @functools.cached_property
    def _split(self) -> tuple[list[Component], PythonController | None]:
        return _controllers(self.controller)

    @property
    def outside(self) -> PythonController | None:
        """The controller that is a Python function, if there is one."""
        return self._split[1]

    @functools.cached_property
    def system(self) -> System:
        """The equations without events."""
        return self.equations()

    @heed_interrupts()
    def equations(self, events: Sequence[Event] = ()) -> System:
        """Return the equations, with places for what the given events hold.

        The mechanism keeps those of its last few loops until it is changed: the same run is often asked for again.
        """
        (inside, outside), d = self._split, self.mechanism.description
        parts = ((*inside, *self.components), outside is not None, event_stops(d, events))
        found = keeps_found(events), tuple(parameters_in(tuple(events)))
        kept: OrderedDict[Any, System] = self.mechanism.__dict__.setdefault("_equations", OrderedDict())
        key = (*parts, *found, self.loops)
        try:
            system = kept.pop(key, None)
        except TypeError:  # a component that holds something unhashable, such as an array
            return System(Network(d, *parts, as_found=found[0], of_events=found[1]), self.loops)
        if system is None:
            system = System(Network(d, *parts, as_found=found[0], of_events=found[1]), self.loops)
        kept[key] = system
        while len(kept) > MOST_EQUATIONS:
            kept.popitem(last=False)
        return system

    @property
    def signals(self) -> dict[str, Signal]:
        """Everything that a run reports, by name, with units and no sample."""
        return Outputs(self.system).blank()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of mechanism and components, in the order of the argument p of `function`."""
        return tuple(p.name for p in self.system.network.parameters)

    def function(self, name: str = "rhs") -> ca.Function:
        """Return the equations as a casadi.Function of (c, d, p, w, t, h).

        c : continuous states: q, v, states of components, energy put in and dissipated (`loop.system.places`)
        d : held values of sampled components (`loop.system.held_places`)
        p : parameters (`loop.parameters`);  w : noise, normal numbers;  t : time [s];  h : step [s] for which noise holds

        Parameters
        ----------
        name : str
            "rhs": c';  "acceleration": v' and constraint multipliers;  "correction": c back on the constraints, with unit
            quaternions.
        """
        if name not in FUNCTIONS:
            raise InputError(f"loop: no function '{name}'; {did_you_mean(name, FUNCTIONS)}")
        found = getattr(self.system, name)
        if found is None:
            raise UnsupportedOperation(
                "loop: nothing to correct: the mechanism has neither constraints nor quaternions"
            )
        return found

    # in time

    def simulate(
        self,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_interval: float = 30.0,
        keep_checkpoint: bool = False,
        **settings: Any,
    ) -> Run:
        """Return one run; the arguments are those of `articulus.simulate`, settings those of `RunSettings`."""
        return self.run(
            RunSettings.of(t_end, settings), q0, v0, params=params, checkpoint=checkpoint,
            checkpoint_interval=checkpoint_interval, keep_checkpoint=keep_checkpoint,
        )  # fmt: skip

    def rollout(
        self,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_interval: float = 30.0,
        keep_checkpoint: bool = False,
        **settings: Any,
    ) -> Run:
        """Return many runs at once; the arguments are those of `articulus.rollout`."""
        given = {"outputs": (), "sample": None} | settings
        if given["sample"] is None:
            given["sample"] = number("t_end", t_end) - number("t0", given.get("t0", 0.0))
        return self.run(
            RunSettings.of(t_end, given), q0, v0, params=params, batch=True, checkpoint=checkpoint,
            checkpoint_interval=checkpoint_interval, keep_checkpoint=keep_checkpoint,
        )  # fmt: skip

    def run(
        self,
        settings: RunSettings,
        q0: Any = None,
        v0: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        batch: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_interval: float = 30.0,
        keep_checkpoint: bool = False,
    ) -> Run:
        """Return one run, or with `batch` many at once, with settings that were made before; the arguments are those of `articulus.simulate`."""
        setup = self.setup(settings, q0, v0, params, not batch)
        return _run(setup, checkpoint, checkpoint_interval, keep_checkpoint)

    def gradient(
        self,
        figure: Any,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        by: Sequence[str] | str | None = None,
        params: Mapping[str, Any] | None = None,
        mode: str = "auto",
        **settings: Any,
    ) -> Any:
        """Return a figure of a run and its exact derivatives, a `simulation.gradients.Gradient`.

        They are those of the run as computed, step for step: maps of sampled components, noise and saturations are gone through as the run
        went through them.

        Parameters
        ----------
        figure : str, callable or Figure
            An entry of a signal at the end, such as "q.lift", or a function of the signals there, `lambda s: ca.sumsqr(s["q"])`; or
            `Final`, `Mean`, `Rms`, `Largest` or `Smallest` of either (`articulus.simulation.gradients`), over the samples of the run.
            For a list of figures the run is taken once, and a list is returned.
        t_end, q0, v0, params, settings :
            As those of `simulate`; a method of fixed explicit steps, no events.
        by : sequence of str
            Parameters (`loop.parameters`) and entries of the initial state, "q0.lift", "v0.lift"; all parameters if not given.
        mode : str
            "forward": a tangent for each parameter; "adjoint": back from the figure to all parameters at once; "auto": the faster one.

        Raises
        ------
        UnsupportedOperation
            What has no derivative, by name: events, Python controllers, methods that choose their steps, parameters that move the start
            of closed loops.
        """
        given = {"outputs": (), "sample": None} | settings
        setup = self.setup(RunSettings.of(t_end, given), q0, v0, params, True)
        return late_function("run_gradient")(setup, figure, by, mode)

    def sensitivities(
        self,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        by: Sequence[str] | str | None = None,
        outputs: Sequence[str] = ("q", "v"),
        params: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Any:
        """Return signals of a run with their exact derivatives over time, a `simulation.gradients.Sensitivities`.

        Parameters
        ----------
        outputs : sequence of str
            Signals, or entries of them.
        t_end, q0, v0, by, params, settings :
            As those of `gradient`.
        """
        setup = self.setup(RunSettings.of(t_end, {"outputs": ()} | settings), q0, v0, params, True)
        return late_function("run_sensitivities")(setup, by, outputs)

    def save_study(
        self,
        path: str | Path,
        t_end: float,
        q0: Any = None,
        v0: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        name: str = "",
        purpose: str = "",
        **settings: Any,
    ) -> Path:
        """Write a run of this loop as a study, for `articulus run` and `articulus campaign`; return its path.

        The model goes beside it, with the ending .model.toml. The study is read again: it has the same equations bit for bit.

        Parameters
        ----------
        path : path
            Ends in .toml.
        t_end, q0, v0, params, settings :
            As those of `simulate`.
        name : str
            Name of the study; that of the file if not given.
        purpose : str
            What it is for, for the report.

        Raises
        ------
        InputError
            A value cannot be written to a file: a Python function as a controller, a class of your own.
        """
        write = late_function("save_loop")
        return Path(write(self, path, t_end, q0, v0, params=params, name=name, purpose=purpose, **settings))

    def export_c(self, folder: str | Path, q0: Any = None, v0: Any = None, **given: Any) -> list[Path]:
        """Write C99 source of one step of this loop; return the paths. See `articulus.bridges.c.export_loop`."""
        return list(late_function("export_c")(self, folder, q0, v0, **given))

    def export_fmu(self, path: str | Path, q0: Any = None, v0: Any = None, **given: Any) -> Path:
        """Write this loop as a functional mock-up unit (FMI 2.0 or 3.0); return its path. See `articulus.bridges.fmi.export_fmu`."""
        return Path(late_function("export_fmu")(self, path, q0, v0, **given))

    def setup(
        self, settings: RunSettings, q0: Any, v0: Any, params: Mapping[str, Any] | None, single: bool
    ) -> Specification:
        """Return the specification of one run, or of many at once unless `single`."""
        if not isinstance(params or {}, Mapping):
            raise InputError(f"params: found {params!r}; expected a dict from name to value")
        given = {name: copy.copy(value) for name, value in (params or {}).items()}
        system = self.equations(settings.events) if settings.events else self.system
        state = (
            self.mechanism.positions(q0, "q0") if isinstance(q0, Mapping) else copy.copy(q0),
            self.mechanism.velocities(v0, "v0") if isinstance(v0, Mapping) else copy.copy(v0),
        )
        return Specification(self.mechanism, system, self.outside, *state, given, single, settings)

    # linear models

    def linearize(
        self,
        q: Any = None,
        v: Any = None,
        u: Any = None,
        *,
        t: float = 0.0,
        step: float = 1e-3,
        params: Mapping[str, float] | None = None,
        inputs: Sequence[str] = ("tau",),
        outputs: Sequence[str] | None = None,
        opened: Sequence[str] = (),
        fixed: Sequence[str] = (),
        trimmed: bool = False,
    ) -> LinearModel:
        """Return the linear model of the whole loop about a state, or those about many; sampled components make it discrete.

        Parameters
        ----------
        q, v : array, (nq,), (nv,), or (states, nq), (states, nv)
            Position and velocity; neutral and at rest if not given. Loops are closed first, as in `simulate`. About many
            states the result is a `LinearModels`: arrays with a leading axis, and a `LinearModel` behind every index.
        u : array, (nu,), or dict of command to number
            Constant commands beside those of the controllers, as `trim` finds them; none if not given.
        t : float [s]
        step : float [s]
            Sampling periods are whole multiples of it.
        params : dict of parameter name to number
        inputs : sequence of str
            Small inputs: "tau", forces on the joints; "u", added to the commands; a signal such as "gyro.rate", added to it
            wherever it is read; "w", the noise of all components; "p.<name>", a parameter. Also entries: "u.motor", "gyro.rate.2".
        outputs : sequence of str
            Signals or entries of them, such as "q", "encoder.q", "star.rpy.2": these and no others. q, v and all signals if not given.
        opened : sequence of str
            Those of the inputs "u" and signals at which the loop is cut: what is read there is the input alone, while the output
            of the same name is what arrives. From the one to the other is the loop gain.
        fixed : sequence of str
            Joints that stay where they are when the loops are closed.
        trimmed : bool
            About the state of rest near q that `equilibrium` finds, states of components (integrators, motors) included; without it
            these have their first values, and the state need not be one of rest. One state, without v.

        Warns
        -----
        DoubtfulResult
            Without velocities, where the mechanism accelerates: what is meant to be a state of rest is none. `trim` finds commands
            that hold it.
        """
        if u is not None:
            given: dict[str, Any] = {"inputs": inputs, "outputs": outputs, "opened": opened, "fixed": fixed}
            return self.hold(u).linearize(q, v, t=t, step=step, params=params, trimmed=trimmed, **given)
        if trimmed:
            if v is not None or fixed or (not isinstance(q, Mapping) and np.ndim(q) > 1):
                raise InputError(
                    "linearize: found trimmed=True with v, with fixed joints or with many states; expected one estimate q of a state of rest"
                )
            return self.equilibrium(q, t=t, step=step, params=params).linearize(inputs, outputs, opened)
        single = max((np.ndim(x) for x in (q, v) if not isinstance(x, Mapping)), default=1) < 2
        setup = self.setup(RunSettings(t + step, t, step, fixed=tuple(fixed)), q, v, params, single)
        system = setup.system
        require_derivatives(system, setup.outside)
        c, d, p = begin_states(setup)
        resting = None if c[:, system.places["v"]].any() else self.mechanism
        self._look("linearize", setup, c, p)
        found = linear_models_about(system, step, np.hstack([c, d]), p, t, inputs, outputs, opened, resting)
        return found[0] if single else found

    def hold(self, u: Any) -> Loop:
        """Return the loop with constant commands added to those of its controllers.

        Parameters
        ----------
        u : array, (nu,), or dict of command to number
            One number for each actuator, in their order (`run["u"]`); for each degree of freedom where there are no actuators.
        """
        return hold_commands(self, u)

    def trim(
        self,
        q: Any = None,
        v: Any = None,
        *,
        t: float = 0.0,
        step: float = 1e-3,
        params: Mapping[str, float] | None = None,
        commands: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        tolerance: float = 1e-9,
    ) -> Trim:
        """Return the constant commands that hold a state; see `articulus.trim`."""
        return find_trim(self, q, v, t, step, params, commands, fixed, tolerance)

    def equilibrium(
        self,
        guess: Any = None,
        *,
        t: float = 0.0,
        step: float = 1e-3,
        params: Mapping[str, float] | None = None,
        tolerance: float = 1e-9,
    ) -> LoopEquilibrium:
        """Return a state near an estimate at which the whole loop is at rest, stable or not.

        Velocities are zero, states of components (integrators, motors) do not change, and sampled components repeat their
        values; noise is zero. `articulus.equilibrium` is that of a mechanism under constant joint forces.

        Parameters
        ----------
        guess : array, (nq,)
            Estimate of the position; neutral if not given. Loops are closed first.
        t : float [s]
            Time at which references and prescribed motions are held.
        step : float [s]
            Sampling periods are whole multiples of it.
        params : dict of parameter name to number
        tolerance : float [-]
            Largest imbalance (accelerations, rates and changes, in their units), over the largest at the estimate (or 1).

        Raises
        ------
        NumericalError
            With the imbalance that was reached, and where.
        """
        setup = self.setup(RunSettings(t + step, t, step), guess, None, params, True)
        system = setup.system
        require_derivatives(system, setup.outside)
        c, d, p = (rows[0] for rows in begin_states(setup))
        rest = LoopRest(self.mechanism, system, c, d, p, t, step)
        residuals = self._beams_at_rest(rest, p, t, step)
        if residuals is None:
            residuals = rest.find(tolerance)
        x = np.concatenate([rest.c, rest.d])
        self._look("equilibrium", setup, rest.c[None], p[None])

        def linearized(
            inputs: tuple[str, ...], outputs: tuple[str, ...] | None, opened: tuple[str, ...]
        ) -> LinearModel:
            check_stuck_friction(system, rest.c[None], p[None])
            return linear_models_about(system, step, x[None], p[None], t, inputs, outputs, opened)[0]

        return rest.report(linearized, residuals)

    def _look(self, what: str, setup: Specification, c: np.ndarray, p: np.ndarray) -> None:
        """Warn of states (rows, nc) for which the flexible bodies are not made."""
        places, own = setup.system.places, setup.system.description.parameters
        params = {x.name: p[:, k] for k, x in enumerate(own)}
        validity.look(self.mechanism, what, c[:, places["q"]], c[:, places["v"]], params)
        if what == "linearize":
            check_stuck_friction(setup.system, c, p)

    def _beams_at_rest(
        self, rest: LoopRest, p: np.ndarray, t: float, step: float
    ) -> tuple[float, ...] | None:
        """Move the position of a loop with beams of large deflection to rest; None for other loops."""
        system, places = rest.system, rest.system.places
        if rest.own or rest.held or not any(isinstance(c, BeamForces) for c in system.network.components):
            return None
        from articulus.simulation.running.beam_rest import at_rest  # late: few loops have beams

        names = self.mechanism.constraint_names
        kept = independent_rows(self.mechanism, rest.c[places["q"]], t, params=rest.params) if names else ()
        beams = beams_of(system, [names.index(name) for name in kept])
        if beams is None:
            return None
        problem = beams.problem(rest.d, p, np.zeros(system.nw), step)
        q, v = problem.begin(rest.c[places["q"]], rest.c[places["v"]])
        q, residuals = at_rest(problem, t, q, v, len(kept), self.mechanism.description.scales().time)
        problem.joints(t, q, v, rest.c)
        return residuals


def linear_models_about(
    system: System,
    step: float,
    x: np.ndarray,
    p: np.ndarray,
    t: float,
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
    opened: Sequence[str],
    resting: Mechanism | None = None,
) -> LinearModels:
    """Return the linear models about states, with what was asked for; see `linear_models`."""
    into, out = (None if names is None else names_of(names) for names in (inputs, outputs))
    signals = asked_signals(system, out)
    return linear_models(system, step, signals, x, p, t, into or (), names_of(opened), out, resting)


def begin_states(setup: Specification) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return continuous states and held values after all sampled components have worked once, and the parameters; rows each."""
    c, p, *_ = setup.start()
    system, s = setup.system, setup.settings
    d = np.tile(system.d0, (len(c), 1))
    for update in system.updates:
        d = np.reshape(native(update.function)(c, d, p, np.zeros(system.nw), s.t0, s.step), d.shape)
    return c, d, p


def _controllers(given: Controller | None) -> tuple[list[Component], PythonController | None]:
    """Return the symbolic controllers and the one outside."""
    items = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    inside: list[Component] = []
    outside: PythonController | None = None
    for i, item in enumerate(items):
        if isinstance(item, Component):
            inside.append(item)
        elif isinstance(item, ca.Function):
            inside.append(Expression(item, name=item.name() if len(items) == 1 else f"{item.name()}{i}"))
        elif outside is None and isinstance(item, PythonController):
            outside = item
        elif outside is None and callable(item) and not _component_class(item):
            outside = PythonController(item)
        else:
            raise InputError(
                f"controller: found {item!r}; expected a component, a casadi.Function or one Python function of t, q, v"
            )
    return inside, outside


def _component_class(item: Any) -> bool:
    """Whether something is the class of a component, without its arguments."""
    return isinstance(item, type) and issubclass(item, Component)


def _run(setup: Specification, checkpoint: str | Path | None, interval: float, leave: bool) -> Run:
    """Run; whether checkpoints can be written is found out before."""
    if number("checkpoint_interval", interval) < 0:
        raise InputError(f"checkpoint_interval: found {interval!r}; expected a time in seconds, not below 0")
    place = None if checkpoint is None else require_place(checkpoint)
    return setup.runner().run(place, interval, leave)
