"""`GymTask`: a loop as a game in equal moves: actions in, observations, rewards and ends out, for many lanes at once in native code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.bridges.stepped import SteppedLoop, of_study, stepped
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.gradients.expressions import SignalSymbols
from articulus.simulation.loop.components import Saturation
from articulus.simulation.loop.displacement import displacement
from articulus.simulation.loop.functions import native
from articulus.simulation.running import Loop
from articulus.simulation.running.shape_contacts import quick_contacts

if TYPE_CHECKING:
    from articulus.study import Study

Start = Callable[[np.random.Generator], tuple[Any, Any]]
Draw = Callable[[np.random.Generator], float]


class MoveSymbols(SignalSymbols):
    """What a reward, an observation or an end may rest on, as symbols.

    Attributes
    ----------
    before : SignalSymbols
        The signals at the beginning of the move: s.before["q.lift"]; s["q.lift"] is at its end.
    action : SX, (nu,)
        What was commanded.
    duration : float
        Duration of a move [s].
    """

    def __init__(self, loop: SteppedLoop, count: int, duration: float):
        super().__init__(loop.system)
        self.before = SignalSymbols(loop.system)
        self.action = SX.sym("action", count)
        self.duration = duration


@dataclass(frozen=True)
class ArrayFunction:
    """A function of arrays, for what no expression says; see `of_arrays`."""

    function: Callable[[dict[str, np.ndarray]], Any]
    signals: tuple[str, ...]


def of_arrays(function: Callable[[dict[str, np.ndarray]], Any], *signals: str) -> ArrayFunction:
    """Return a reward in Python: a function of arrays (lanes, n) by signal, and of "action", that gives one number for each lane.

    It is called once for all lanes after every move. `signals` are those that it reads; "before.q" is q at the beginning of the move.
    """
    return ArrayFunction(function, signals)


@dataclass(frozen=True, eq=False)
class GymTask:
    """A game of equal moves on a loop.

    Parameters
    ----------
    loop : Loop, Mechanism or Study
        A study brings its initial state, step, method and parameters. A mechanism plays with the components of its file, the stops at
        its limits and the `quick_contacts` of its shapes.
    step : float [s]
        Step of the method.
    frames : int
        Steps in a move.
    observations : sequence of str or function
        Signals and entries of them, or functions of `MoveSymbols` (s["q"][2:], ...), one after another.
    actions : sequence of str
        Commands that the player gives, by name; all if not given.
    bounds : two numbers or arrays
        Least and greatest action. Not given: those of the actuators' saturations, of the file or of efforts.
    reward : function of MoveSymbols, or `of_arrays(...)`
        Reward of each move; an expression of CasADi operations is native code.
    terminated : sequence of functions of MoveSymbols
        The game is over where one of them is true, or above 0.
    randomize : mapping of str to distribution
        Parameters that are drawn anew for every game: (least, greatest), a function of a NumPy generator, or a distribution of campaigns.
    start : function of a NumPy generator
        Gives q and v at the beginning of a game; the initial state with `noise` if not given.
    noise : float or two floats
        Largest displacement, and velocity, by which a game begins off the initial state [rad, m; rad/s, m/s].
    time_limit : int
        Moves after which a game is cut off.
    q0, v0 : arrays
        Initial state.
    params : mapping of str to float
    method : str
        Method of fixed steps.
    """

    loop: Loop
    step: float = 0.002
    frames: int = 10
    observations: Sequence[Any] = ("q", "v")
    actions: Sequence[str] | None = None
    bounds: Any = None
    reward: Any = None
    terminated: Sequence[Callable[[MoveSymbols], Any]] = ()
    randomize: Mapping[str, Any] = field(default_factory=dict)
    start: Start | None = None
    noise: float | tuple[float, float] = 0.0
    time_limit: int | None = None
    q0: Any = None
    v0: Any = None
    params: Mapping[str, float] | None = None
    method: str = "semi_implicit_euler"

    def __post_init__(self) -> None:
        if isinstance(self.loop, Mechanism):
            held = [*self.loop.components(limits=True), *quick_contacts(self.loop, self.step)]
            found = Loop(self.loop, components=held)
            object.__setattr__(self, "loop", found)
        elif not isinstance(self.loop, Loop):
            study: Study = self.loop
            held = of_study(study, "gym")
            object.__setattr__(self, "loop", study.loop)
            for name in ("step", "method", "q0", "v0", "params"):
                object.__setattr__(self, name, held[name])
        if not isinstance(self.frames, (int, np.integer)) or self.frames < 1:
            raise InputError(f"gym: frames = {self.frames!r}; expected a whole number of steps in a move")
        if self.time_limit is not None and not self.time_limit >= 1:
            raise InputError(f"gym: time_limit = {self.time_limit!r}; expected at least 1 move, or None")

    @property
    def duration(self) -> float:
        """Of a move [s]."""
        return self.step * self.frames

    @functools.cached_property
    def stepped(self) -> SteppedLoop:
        """The loop with places for actions."""
        found = stepped(
            self.loop,
            self.q0,
            self.v0,
            step=self.step,
            method=self.method,
            params=self.params,
            outputs=(),
            what="gym",
        )
        for (name, _), period in zip(found.system.sampled_components, found.engine.periods):
            if self.frames % period:
                raise InputError(
                    f"gym: component '{name}' works every {period} steps, and a move has {self.frames}; expected moves of whole periods"
                )
        if found.engine.past:
            raise UnsupportedOperation(
                f"gym: the method '{self.method}' looks back over steps; expected one that does not, such as rk4"
            )
        return found

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the actions."""
        known = self.stepped.system.network.command_names
        chosen = tuple(known) if self.actions is None else tuple(self.actions)
        for name in chosen:
            if name not in known:
                raise InputError(f"gym: no command '{name}'; {did_you_mean(name, known)}")
        return chosen

    @functools.cached_property
    def places(self) -> np.ndarray:
        """Where actions are in a row of parameters."""
        by_name = {e.name.removeprefix("command."): e.place for e in self.stepped.inputs}
        if len(self.names) == 1 and self.names[0] not in by_name:
            return np.array([self.stepped.inputs[0].place])
        return np.array([by_name[name] for name in self.names])

    @functools.cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest action."""
        count = len(self.names)
        if self.bounds is not None:
            try:
                low, high = (np.broadcast_to(np.asarray(b, float), (count,)).copy() for b in self.bounds)
            except (TypeError, ValueError):
                low, high = np.full((2, count), np.nan)
            if not (low <= high).all():
                raise InputError(
                    f"gym: bounds = {self.bounds!r}; expected (least, greatest), a number or {count} each: {', '.join(self.names)}"
                )
            return low, high
        found = {
            c.name: (float(value_of(c.lower)), float(value_of(c.upper)))
            for c in self.stepped.system.network.components
            if isinstance(c, Saturation)
        }
        d, effort = self.loop.mechanism.description, self.loop.mechanism.limits.effort
        for name, most in zip(d.coordinate_names(rates=True), effort):
            if np.isfinite(most) and not self.stepped.system.network.driven:
                found.setdefault(name, (-float(most), float(most)))
        missing = [name for name in self.names if name not in found]
        if missing:
            raise InputError(
                f"gym: no bounds of {', '.join(missing)}; expected bounds=(least, greatest), a saturation of the actuator, or an effort limit"
            )
        low, high = np.array([found[name] for name in self.names]).T
        return low, high

    # in native code

    @functools.cached_property
    def look(self) -> kernel.Kernel:
        """(x, x before, p, action) -> observation, reward, whether over, and the arrays that a reward in Python reads."""
        system = self.stepped.system
        s = MoveSymbols(self.stepped, len(self.names), self.duration)
        seen = ca.vertcat(
            SX(0, 1), *(ca.vec(SX(s[o] if isinstance(o, str) else o(s))) for o in self.observations)
        )
        reads = self.reward.signals if isinstance(self.reward, ArrayFunction) else ()
        read = [s.before[name[7:]] if name.startswith("before.") else s[name] for name in reads]
        gained = SX(0) if reads or self.reward is None else _number("reward", self.reward, s)
        over = SX(0)
        for end in self.terminated:
            over = ca.fmax(over, _number("terminated", end, s) > 0)
        wanted = [seen, gained, over, *read]
        engine = self.stepped.engine
        x, x0, p, action = (
            MX.sym(n, size) for n, size in zip("xbpa", (engine.nx, engine.nx, 2 + system.np, len(self.names)))
        )
        given: list[Any] = [s.t, ca.vertcat(SX(0, 1), *s.p.values()), s.action]
        time = p[0] + self.frames * p[1]
        values: list[Any] = [time, p[2:], action]
        for symbols, row, t in ((s, x, time), (s.before, x0, p[0])):
            others = [name for name in symbols.found if name not in ("q", "v")]
            c, d = row[: system.nc], row[system.nc : system.nc + system.nd]
            found = {name: c[system.places[name]] for name in "qv"}
            if others:
                reported = system.reporting(others).call([c, d, p[2:], MX.zeros(system.nw), t, p[1]])
                found |= dict(zip(others, reported))
            given += symbols.found.values()
            values += [found[name] for name in symbols.found]
            if symbols is s.before:
                given += [s.before.t, ca.vertcat(SX(0, 1), *s.before.p.values())]
                values += [t, p[2:]]
        inner = ca.Function("look", given, [ca.densify(e) for e in wanted], {"allow_free": False})
        out = [ca.densify(e) for e in inner.call(values)]
        return native(ca.Function("look", [x, x0, p, action], out))

    @functools.cached_property
    def displaced(self) -> Any:
        """(q, step) -> q displaced, as native code."""
        return kernel.compile(displacement(self.loop.mechanism.description))

    # beginnings

    def begin(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the state (nx,) and the parameters (2 + np,) of a new game."""
        one, system = self.stepped, self.stepped.system
        c = one.c0.copy()
        if self.start is not None:
            q, v = self.start(rng)
            c[system.places["q"]], c[system.places["v"]] = q, v
        elif np.any(self.noise):
            if self.loop.mechanism.description.constraints:
                raise UnsupportedOperation(
                    "gym: noise would open the loops of this mechanism; expected start=, a function that closes them"
                )
            of_q, of_v = np.broadcast_to(self.noise, 2)
            d = self.loop.mechanism.description
            step = rng.uniform(-of_q, of_q, d.nv)
            c[system.places["q"]] = self.displaced(c[system.places["q"]], step)
            c[system.places["v"]] += rng.uniform(-of_v, of_v, d.nv)
        p = np.concatenate([[0.0, self.step], one.p0])
        for place, draw in self._draws:
            p[2 + place] = draw(rng)
        return np.concatenate([c, one.d0]), p

    @functools.cached_property
    def _draws(self) -> list[tuple[int, Draw]]:
        places = {e.name: e.place for e in self.stepped.parameters}
        for name in self.randomize:
            if name not in places:
                raise InputError(f"gym: no parameter '{name}' to randomize; {did_you_mean(name, places)}")
        return [(places[name], _draw(name, given)) for name, given in self.randomize.items()]


def _number(what: str, function: Callable[[MoveSymbols], Any], s: MoveSymbols) -> SX:
    """Return one number that a function of the signals gives."""
    try:
        value = SX(function(s))
    except (NotImplementedError, TypeError, AttributeError) as reason:
        raise InputError(
            f"gym: {what}: {reason}; expected CasADi operations, such as lambda s: s['v'][0] - 0.1 * ca.sumsqr(s.action); a reward of NumPy arrays "
            "is of_arrays(function, 'v')"
        ) from reason
    if value.numel() != 1:
        raise InputError(f"gym: {what}: found {value.numel()} numbers; expected one")
    return value


def _draw(name: str, given: Any) -> Draw:
    """Return a function of a generator that draws a parameter."""
    if callable(given):
        return lambda rng: float(given(rng))
    if hasattr(given, "values") and hasattr(given, "limits"):
        return lambda rng: float(np.ravel(given.values(rng.random((1, 1))))[0])
    if np.shape(given) == (2,):
        low, high = map(float, given)
        return lambda rng: float(rng.uniform(low, high))
    raise InputError(
        f"gym: randomize '{name}': found {given!r}; expected (least, greatest), a function of a generator, or a distribution of campaigns"
    )
