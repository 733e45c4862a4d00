"""A mechanism with its components as one set of equations.

Continuous states, in this order: q, v, the components' own, and two integrals of power (work put in, work dissipated).
Held values follow: what sampled components last wrote, commanded and pushed with, what they remember, the commands
of a controller outside, which constraints hold, and which joints rest on a stop. Every component works once, on symbols; a sampled one is replaced by its held values, and its
expressions become a map that renews them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics import quantities
from articulus.dynamics.coupled import every_joint
from articulus.errors import Finding, InputError, brief, unknown_name
from articulus.model.mechanism import Description, Number, Parameter
from articulus.model.mechanism.expression import evaluate
from articulus.simulation.loop.component import Actuator, Component, Controller, Disturbance, Sensor

KINDS: tuple[type[Component], ...] = (Sensor, Controller, Actuator, Disturbance)

INPUT, DISSIPATED, PROJECTED = "work.input", "work.dissipated", "work.projected"


@dataclass
class Account:
    """Where the power of a component's forces and wrenches comes from and goes to."""

    stored: SX = field(default_factory=lambda: SX(0))
    """Energy that it holds [J]."""
    dissipated: SX = field(default_factory=lambda: SX(0))
    """Power that becomes heat [W]."""
    supplied: SX = field(default_factory=lambda: SX(0))
    """Power from outside [W]."""


@dataclass
class Effects:
    """What one component did while it worked."""

    states: dict[str, tuple[SX, np.ndarray]] = field(default_factory=dict)
    """Symbol and initial value of each continuous state."""
    rates: dict[str, SX] = field(default_factory=dict)
    memories: dict[str, tuple[SX, np.ndarray]] = field(default_factory=dict)
    remembered: dict[str, SX] = field(default_factory=dict)
    signals: dict[str, SX] = field(default_factory=dict)
    forces: dict[str, SX] = field(default_factory=dict)
    wrenches: dict[str, SX] = field(default_factory=dict)
    modal: dict[str, SX] = field(default_factory=dict)
    """Forces on the modes of flexible bodies."""
    command: SX | None = None
    replaced: tuple[int, ...] = ()
    """Places of the commands that its command replaces; it is added to the others."""
    gaps: list[Callable[[], list[tuple[SX, Any]]]] = field(default_factory=list)
    """What gives gaps and sizes."""
    account: Account | None = None
    """None: the power of its forces and wrenches is input."""

    def outward(self) -> dict[tuple[str, str], SX]:
        """Return everything that others see, by kind and name."""
        out = {("signal", name): value for name, value in self.signals.items()}
        out |= {("force", name): value for name, value in self.forces.items()}
        out |= {("wrench", name): value for name, value in self.wrenches.items()}
        out |= {("modal", name): value for name, value in self.modal.items()}
        if self.command is not None:
            out["command", ""] = self.command
        return out

    def with_outward(self, held: dict[tuple[str, str], SX]) -> Effects:
        """Return effects whose outward part is replaced by held values."""
        kinds = ("signal", "force", "wrench", "modal", "command")
        chosen: dict[str, dict[str, SX]] = {kind: {} for kind in kinds}
        for (kind, name), value in held.items():
            chosen[kind][name] = value
        return dataclasses.replace(
            self,
            signals=chosen["signal"],
            forces=chosen["force"],
            wrenches=chosen["wrench"],
            modal=chosen["modal"],
            command=chosen["command"].get(""),
        )


class UnfitComponents(InputError):
    """Components that do not fit the mechanism or each other; `reasons` has the error of each by its place in the list given."""

    def __init__(self, reasons: Mapping[int, InputError]):
        self.reasons = dict(reasons)
        errors = self.reasons.values()
        super().__init__("\n".join(map(str, errors)), [f for error in errors for f in error.findings])

    def __reduce__(self) -> tuple:
        """Return what a copy is made from."""
        return type(self), (self.reasons,)


class _Follows(InputError):
    """A refusal that only follows from that of another component."""


class Refusals:
    """Why components do not fit, collected so that all of them are told at once."""

    def __init__(self, given: Sequence[Component]):
        self._given = tuple(given)
        self._errors: dict[int, InputError] = {}

    def __bool__(self) -> bool:
        return bool(self._errors)

    def add(self, component: Component, error: InputError) -> None:
        """Note why a component is refused."""
        self._errors[next(k for k, c in enumerate(self._given) if c is component)] = error

    def of(self, kind: type) -> list[str]:
        """Return the names of the refused components of a kind."""
        refused = (self._given[k] for k in self._errors)
        return [c.name for c in refused if isinstance(c, kind) and isinstance(c.name, str)]

    def check_names(self) -> list[Component]:
        """Return the components but those that are none, and those whose name is no name or comes twice."""
        seen: dict[str, Component] = {}
        for k, c in enumerate(self._given):
            if not isinstance(c, KINDS):
                wrong = Finding("", repr(c), "a sensor, controller, actuator or disturbance")
            elif not isinstance(c.name, str) or not c.name or set("[]").intersection(c.name):
                found = f"the name {brief(repr(c.name))}"
                wrong = Finding("component", found, "a text without brackets, which are for units")
            elif c.name in seen:
                wrong = Finding(f"component '{c.name}'", "the name a second time", "unique names")
            else:
                seen[c.name] = c
                continue
            self._errors[k] = InputError(wrong)
        return list(seen.values())

    def raise_if_any(self) -> None:
        """Raise UnfitComponents with every refusal that does not follow from another one."""
        if self._errors:
            own = {k: e for k, e in sorted(self._errors.items()) if not isinstance(e, _Follows)}
            raise UnfitComponents(own) from next(iter(own.values()))


class Network:
    """The equations of a mechanism with its components.

    Parameters
    ----------
    description : Description
    components : sequence of Component
        In any order; they work by kind.
    outside : bool
        Whether a controller outside (a Python function) adds commands.
    stops : sequence of str
        Joints of one degree of freedom that events may hold at a stop.
    ports : sequence of str
        Signals, or "u" for the commands, to which a small input is added wherever they are read.
    opened : sequence of str
        Those of the ports at which the loop is cut: what is read there is the input alone.
    as_found : bool
        Whether events may make constraints keep the residuals that they find.
    of_events : sequence of Parameter
        Parameters that events use.

    Attributes
    ----------
    parameters : tuple of Parameter
        Parameters of the mechanism, then those that only components use, then those that only events use.
    command_names : tuple of str
        One for each actuator; where there is none, one for each degree of freedom.
    driven : bool
        Whether there are actuators.
    """

    def __init__(
        self,
        description: Description,
        components: Sequence[Component] = (),
        outside: bool = False,
        stops: Sequence[str] = (),
        ports: Sequence[str] = (),
        opened: Sequence[str] = (),
        as_found: bool = False,
        of_events: Sequence[Parameter] = (),
    ):
        self.description, self.stops = description, tuple(stops)
        self.ports, self.opened = tuple(ports), tuple(opened)
        self.injected: dict[str, SX] = {}
        self.refusals = Refusals(components)
        self.components = _sort_by_kind(self.refusals.check_names())
        actuators = [c.name for c in self.components if isinstance(c, Actuator)]
        self.command_names = tuple(actuators) or description.coordinate_names(rates=True)
        self.driven = bool(actuators)
        self._parameters = {p.name: p for p in description.parameters}
        self._symbols = {name: SX.sym(name) for name in self._parameters}
        self.t, self.h, self.q, self.v = (
            SX.sym("t"),
            SX.sym("h"),
            SX.sym("q", description.nq),
            SX.sym("v", description.nv),
        )
        self.vdot = SX.sym("vdot", description.nv)
        self.reactions = SX.sym("reactions", 6 * len(description.connections))
        self.multipliers = SX.sym("multipliers", len(description.constraint_rows))
        self.noise: list[SX] = []
        self.signals: dict[str, SX] = {}
        self.commands = SX.zeros(len(self.command_names))
        self.outside = SX.sym("outside", len(self.command_names) if outside else 0)
        self.active = SX.sym("active", len(description.constraints))
        self.as_found = as_found
        self.kept = SX.sym("kept", len(description.constraint_rows) if as_found else 0)
        self.resting = SX.sym("resting", len(self.stops))
        self.push = SX.sym("push", len(self.stops))
        if outside:
            self.commands = self.commands + self.outside
        self.effects: list[Effects] = []
        self.foreseen: dict[tuple[str, str], SX] = {}
        self.fired: list[Effects | None] = []
        self.held: list[dict[tuple[str, str], SX]] = []
        controlled = False
        for component in self.components:
            if isinstance(component, (Actuator, Disturbance)) and not controlled:
                controlled = self._command()
            self._try(component)
        if not controlled:
            self._command()
        self._require_foreseen()
        if self.refusals:
            self.check_feedback()
        for parameter in of_events:
            self._symbol(parameter)
        self.parameters = tuple(self._parameters.values())

    def _require_foreseen(self) -> None:
        """Refuse components of which a state was read that they have not."""
        for component, effects in zip(self.components, self.effects):
            for name in [n for c, n in self.foreseen if c == component.name and n not in effects.states]:
                finding = Finding(
                    f"component '{component.name}'", "no state of that name", f"a state '{name}'"
                )
                self.refusals.add(component, InputError(finding))

    def _try(self, component: Component) -> None:
        """Let a component work; one that is refused has no effects, so that the others are heard too."""
        try:
            self._work(component)
        except InputError as error:
            self.refusals.add(component, error)
            self.fired.append(None)
            self.held.append({})
            self.effects.append(Effects())

    def _work(self, component: Component) -> None:
        effects = Effects()
        component.work(_Scope(self, component, effects))  # type: ignore[arg-type]
        missing = set(effects.states) - set(effects.rates)
        if missing:
            state, expected = f"state '{missing.pop()}'", "`s.rate(name, ...)`"
            finding = Finding("", f"{state} without rate", expected)
            error = InputError(f"{state} has no rate; expected {expected}", [finding])
            raise error.within(f"component '{component.name}'")
        fired: Effects | None = None
        held: dict[tuple[str, str], SX] = {}
        if component.period is not None:
            if effects.states:
                raise InputError(
                    Finding(
                        f"component '{component.name}'",
                        "a continuous state in a sampled component",
                        "`s.memory`",
                    )
                )
            if effects.account is not None:
                raise InputError(
                    Finding(
                        f"component '{component.name}'",
                        "`s.stores`, `s.dissipates` or `s.supplies` in a sampled component",
                        "a continuous one, because forces that are constant between instants do not follow its energy",
                    )
                )
            fired = effects
            held = {
                key: SX.sym(f"{component.name}.{'.'.join(key)}", value.numel())
                for key, value in effects.outward().items()
            }
            effects = effects.with_outward(held)
        elif effects.memories:
            raise InputError(
                Finding(f"component '{component.name}'", "a memory in a continuous component", "`s.state`")
            )
        self.fired.append(fired)
        self.held.append(held)
        self.effects.append(effects)
        self.signals |= effects.signals
        if effects.command is not None:
            kept = [0.0 if k in effects.replaced else 1.0 for k in range(len(self.command_names))]
            before = ca.DM(kept) * self.commands if effects.replaced else self.commands
            self.commands = before + effects.command

    def _command(self) -> bool:
        """Hand the commands over from controllers to actuators, through the port "u" if there is one."""
        self.asked, self.commands = self.commands, self.through("u", self.commands)
        return True

    def through(self, signal: str, value: SX) -> SX:
        """Return what is read of a signal: with the input of its port, if it has one, or that alone if it is cut there."""
        if signal not in self.ports:
            return value
        if signal not in self.injected:
            port = self.ports.index(signal)
            inputs = [Parameter(f"_port{port}_{k}", 0.0) for k in range(value.numel())]
            self.injected[signal] = ca.vertcat(*map(self.number, inputs))
        return self.injected[signal] if signal in self.opened else value + self.injected[signal]

    # symbols for what components ask

    def number(self, x: Number) -> SX:
        """Return a number, a parameter as its symbol."""
        return SX(evaluate(x, self._symbol, ca))

    def _symbol(self, x: Parameter) -> SX:
        known = self._parameters.setdefault(x.name, x)
        if known.value != x.value:
            text = f"parameter '{x.name}': found two values, {known.value!r} and {x.value!r}"
            found = f"two values of parameter '{x.name}', {known.value!r} and {x.value!r}"
            raise InputError(text, [Finding("", found, "one value")])
        return self._symbols.setdefault(x.name, SX.sym(x.name))

    def ask(
        self, quantity: str, *inputs: SX, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
    ) -> Any:
        """Return a quantity of the mechanism on symbols."""
        found = quantities.function(self.description, quantity, tuple(frames), tuple(wrenches))
        plain = len(quantities.QUANTITIES[quantity].inputs)
        model = [self._model_parameters()] if self.description.parameters else []
        return found(*inputs[:plain], *model, *inputs[plain:])

    def refusal(self, quantity: str) -> str:
        """Return why a quantity cannot be asked of a mechanism with constraints; empty where it can."""
        row = quantities.QUANTITIES.get(quantity)
        if row is None or row.constraints == "same" or not self.description.constraints:
            return ""
        return (
            f"'{quantity}' of a mechanism with constraints, which it does not know; expected ask('{quantity}', ..., tree=True), "
            "that of the mechanism with every loop cut"
        )

    def _model_parameters(self) -> SX:
        return ca.vertcat(SX(0, 1), *(self._symbols[p.name] for p in self.description.parameters))

    @functools.cached_property
    def every_joint(self) -> tuple[SX, SX, SX]:
        """Positions and velocities of all joints, coupled ones included, and the matrix T that gives these from v."""
        if not self.description.couplings:
            return self.q, self.v, SX.eye(self.description.nv)
        q, v, T = every_joint(self.description)(self.q, self.v, self._model_parameters())
        return q, v, T

    # the state

    @functools.cached_property
    def continuous(self) -> dict[str, tuple[SX, np.ndarray]]:
        """Return symbol and initial value of every continuous state, in order."""
        d = self.description
        out = {"q": (self.q, d.neutral), "v": (self.v, np.zeros(d.nv))}
        for component, effects in zip(self.components, self.effects):
            out |= {f"{component.name}.{name}": entry for name, entry in effects.states.items()}
        names = [PROJECTED] if d.constraints else []
        return out | {name: (SX.sym(name), np.zeros(1)) for name in (*names, INPUT, DISSIPATED)}

    @functools.cached_property
    def discrete(self) -> dict[str, tuple[SX, np.ndarray]]:
        """Return symbol and initial value of every held value, in order."""
        out: dict[str, tuple[SX, np.ndarray]] = {}
        for component, effects, held in zip(self.components, self.effects, self.held):
            for name, entry in effects.memories.items():
                out[f"{component.name}.{name} remembered"] = entry
            for (kind, name), symbol in held.items():
                out[f"{component.name}.{kind} {name}".strip()] = (symbol, np.zeros(symbol.numel()))
        out["outside"] = (self.outside, np.zeros(self.outside.numel()))
        out["active"] = (self.active, np.ones(self.active.numel()))
        if self.as_found:
            out["kept"] = (self.kept, np.zeros(self.kept.numel()))
        none = np.zeros(len(self.stops))
        return out | ({"resting": (self.resting, none), "push": (self.push, none)} if self.stops else {})

    @property
    def switches(self) -> SX:
        """Return which constraints hold, and the residuals that they keep."""
        return ca.vertcat(self.active, self.kept)

    @property
    def parameter_symbols(self) -> SX:
        """Return the symbols of all parameters, (parameters,)."""
        return ca.vertcat(SX(0, 1), *(self._symbols[p.name] for p in self.parameters))

    @property
    def noise_symbols(self) -> SX:
        """Return the symbols of all noise, (nw,)."""
        return ca.vertcat(SX(0, 1), *self.noise)

    # loads

    def joint_forces(self) -> SX:
        """Return the sum of all joint forces of components, (nv,)."""
        return self.joint_forces_of(self.effects)

    def joint_forces_of(self, chosen: Sequence[Effects]) -> SX:
        """Return the joint forces of the commands, of pushed stops and of the chosen effects, (nv,)."""
        d = self.description
        tau = SX.zeros(d.nv) if self.driven else SX(self.commands)
        for effects in chosen:
            for joint, value in effects.forces.items():
                if joint in d.coupled:
                    row = self.every_joint[2][d.uncoupled.v_slices[joint], :]
                    tau += ca.densify(ca.mtimes(row.T, value))
                else:
                    tau[d.v_slices[joint]] += value
            for body, value in effects.modal.items():
                tau[d.mode_slices(body)[0]] += value
        for i, joint in enumerate(self.stops):  # zero but where the response to it is asked for
            tau[d.v_slices[joint]] += self.push[i]
        return tau

    def wrenches(self) -> dict[str, SX]:
        """Return the sum of all wrenches on every frame."""
        return _wrenches(self.effects)

    # energy

    @property
    def accounts(self) -> list[Account]:
        """Return the energy accounts of the components that keep one."""
        return [effects.account for effects in self.effects if effects.account is not None]

    def power(self) -> SX:
        """Return the power put in [W]: of joint forces and wrenches without an account, and what the accounts say."""
        unaccounted = [effects for effects in self.effects if effects.account is None]
        total = ca.dot(self.joint_forces_of(unaccounted), self.v)
        for frame, wrench in _wrenches(unaccounted).items():
            total = total + ca.dot(self.ask("velocity", self.q, self.v, frames=[frame]), wrench)
        return sum((account.supplied for account in self.accounts), total)

    def lost(self) -> SX:
        """Return the power that components turn into heat by their accounts [W]."""
        return sum((account.dissipated for account in self.accounts), SX(0))

    def stored_energy(self) -> SX:
        """Return the energy that components hold by their accounts [J]."""
        return sum((account.stored for account in self.accounts), SX(0))

    def check_feedback(self) -> None:
        """Raise when a force rests on the accelerations that it makes, or a component was refused."""
        answers = ca.vertcat(self.vdot, self.reactions, self.multipliers)
        for component, effects in zip(self.components, self.effects):
            loads = (*effects.forces.values(), *effects.wrenches.values(), *effects.modal.values())
            asked = loads if effects.command is None else (*loads, effects.command)
            if any(ca.depends_on(value, answers) for value in asked):
                self.refusals.add(component, _feeds_back(component))
        self.refusals.raise_if_any()


@dataclass(frozen=True)
class _Scope:
    """What a component sees (`component.Scope`)."""

    network: Network
    component: Component
    effects: Effects

    @property
    def description(self) -> Description:
        return self.network.description

    @property
    def t(self) -> SX:
        return self.network.t

    @property
    def h(self) -> SX:
        return self.network.h

    @property
    def q(self) -> SX:
        return self.network.q

    @property
    def v(self) -> SX:
        return self.network.v

    @property
    def vdot(self) -> SX:
        return self.network.vdot

    @property
    def commands(self) -> SX:
        return self.network.commands

    @property
    def command_names(self) -> tuple[str, ...]:
        return tuple(self.network.command_names)

    @property
    def command_joints(self) -> tuple[str, ...]:
        joints = tuple(c.joint for c in self.network.components if isinstance(c, Actuator))
        return joints if self.network.driven else self.command_names

    @property
    def driven(self) -> bool:
        return self.network.driven

    def reaction(self, joint: str) -> SX:
        self._slice(joint, self.description.v_slices)
        row = next(i for i, c in enumerate(self.description.connections) if c.name == joint)
        return self.network.reactions[6 * row : 6 * row + 6]

    def multipliers(self, constraint: str) -> SX:
        d = self.description
        owners = [c.name for c in d.constraints for _ in c.row_names(d)]
        if constraint not in owners:
            raise self._error(unknown_name("constraint", constraint, owners))
        return self.network.multipliers[[i for i, owner in enumerate(owners) if owner == constraint]]

    def number(self, x: Number) -> SX:
        return self.network.number(x)

    def ask(self, quantity: str, *inputs: SX, frames: Sequence[str] = (), tree: bool = False) -> Any:
        if not tree and (reason := self.network.refusal(quantity)):
            raise self._error(InputError(reason))
        return self.network.ask(quantity, *inputs, frames=frames)

    def joint_q(self, joint: str) -> SX:
        return self.network.every_joint[0][self._slice(joint, self.description.uncoupled.q_slices)]

    def joint_v(self, joint: str) -> SX:
        return self.network.every_joint[1][self._slice(joint, self.description.uncoupled.v_slices)]

    def _slice(self, joint: str, slices: dict[str, slice]) -> slice:
        if joint not in slices:
            raise self._error(unknown_name("joint", joint, slices))
        return slices[joint]

    def _error(self, error: InputError) -> InputError:
        return error.within(f"component '{self.component.name}'")

    def _wrong_size(self, of: str, found: int, expected: str) -> InputError:
        """Return the error for a value with the wrong number of elements; `of` is what it is of, such as "force on joint 'lift'"."""
        text = f"{of}: found {found} elements; expected {expected}"
        return self._error(InputError(text, [Finding("", f"{of} of {found} elements", expected)]))

    def state(self, name: str, initial: Any) -> SX:
        foreseen = self.network.foreseen.get((self.component.name, name))
        if foreseen is not None and name not in self.effects.states:
            self.effects.states[name] = (foreseen, np.atleast_1d(np.asarray(initial, dtype=float)).ravel())
        return self._declare(self.effects.states, name, initial)

    def peer(self, name: str) -> Component:
        by_name = {c.name: c for c in self.network.components}
        if name not in by_name:
            raise self._error(unknown_name("component", name, by_name))
        return by_name[name]

    def state_of(self, component: str, name: str) -> SX:
        key = self.peer(component).name, name
        return self.network.foreseen.setdefault(key, SX.sym(f"{component}.{name}"))

    def rate(self, name: str, value: SX) -> None:
        self._same_size(self.effects.states, name, value)
        self.effects.rates[name] = value

    def memory(self, name: str, initial: Any) -> SX:
        return self._declare(self.effects.memories, name, initial)

    def remember(self, name: str, value: SX) -> None:
        self._same_size(self.effects.memories, name, value)
        self.effects.remembered[name] = value

    def _declare(self, where: dict[str, tuple[SX, np.ndarray]], name: str, initial: Any) -> SX:
        if name not in where:
            start = np.atleast_1d(np.asarray(initial, dtype=float)).ravel()
            where[name] = (SX.sym(f"{self.component.name}.{name}", len(start)), start)
        return where[name][0]

    def _same_size(self, where: dict[str, tuple[SX, np.ndarray]], name: str, value: SX) -> None:
        if name not in where:
            raise self._error(unknown_name("state", name, where))
        if SX(value).numel() != where[name][0].numel():
            expected, found = where[name][0].numel(), SX(value).numel()
            finding = Finding("", f"'{name}' of {found} elements", f"{expected}")
            raise self._error(InputError(f"'{name}' has {expected} elements, found {found}", [finding]))

    def write(self, name: str, value: SX) -> None:
        self.effects.signals[f"{self.component.name}.{name}"] = SX(value)

    def read(self, signal: str) -> SX:
        known = {"q": self.q, "v": self.v, "t": self.t, **self.network.signals, **self.effects.signals}
        if signal not in known:
            if any(signal.startswith(f"{name}.") for name in self.network.refusals.of(Component)):
                raise _Follows(f"no signal '{signal}', whose component is refused")
            raise self._error(unknown_name("signal", signal, known, " so far"))
        return self.network.through(signal, known[signal])

    def command(self, value: SX) -> None:
        nu = len(self.network.command_names)
        if SX(value).numel() != nu:
            if self.network.refusals.of(Actuator):
                raise _Follows("a command for actuators that are refused")
            expected = f"{nu}, one for each of {', '.join(self.network.command_names)}"
            raise self._error(InputError(Finding("", f"a command of {SX(value).numel()} elements", expected)))
        before = self.effects.command
        self.effects.command = SX(value) if before is None else before + value

    def replace_commands(self, places: Sequence[int], value: SX) -> None:
        placed = SX.zeros(len(self.network.command_names))
        placed[list(places)] = value
        self.effects.replaced = tuple(places)
        self.command(placed)

    def own_command(self) -> SX:
        return self.network.commands[self.network.command_names.index(self.component.name)]

    def force(self, joint: str, value: SX) -> None:
        at = self._slice(joint, self.description.uncoupled.v_slices)
        if SX(value).numel() != at.stop - at.start:
            raise self._wrong_size(f"force on joint '{joint}'", SX(value).numel(), f"{at.stop - at.start}")
        self.effects.forces[joint] = self.effects.forces.get(joint, SX(0)) + value

    def wrench(self, frame: str, value: SX) -> None:
        self.description.carrier(frame)
        if SX(value).numel() != 6:
            raise self._wrong_size(f"wrench on '{frame}'", SX(value).numel(), "6")
        self.effects.wrenches[frame] = self.effects.wrenches.get(frame, SX(0)) + value

    def modal_force(self, body: str, value: SX) -> None:
        at = self.description.mode_slices(body)[0]
        if SX(value).numel() != at.stop - at.start:
            size = f"{at.stop - at.start}"
            raise self._wrong_size(f"force on the modes of '{body}'", SX(value).numel(), size)
        self.effects.modal[body] = self.effects.modal.get(body, SX(0)) + value

    def meets(self, gaps: Callable[[], list[tuple[SX, Any]]]) -> None:
        self.effects.gaps.append(gaps)

    def stores(self, energy: SX) -> None:
        self._account.stored += self._scalar("stores", energy)

    def dissipates(self, power: SX) -> None:
        self._account.dissipated += self._scalar("dissipates", power)

    def supplies(self, power: SX) -> None:
        self._account.supplied += self._scalar("supplies", power)

    @property
    def _account(self) -> Account:
        if self.effects.account is None:
            self.effects.account = Account()
        return self.effects.account

    def _scalar(self, where: str, value: SX) -> SX:
        if SX(value).numel() != 1:
            raise self._wrong_size(f"`s.{where}`", SX(value).numel(), "one number")
        return SX(value)

    def noise(self, count: int) -> SX:
        fresh = SX.sym(f"{self.component.name}.noise", count)
        self.network.noise.append(fresh)
        return fresh


def _feeds_back(component: Component) -> InputError:
    """Return the error for a component whose force rests on the accelerations that it makes."""
    where, expected = (
        f"component '{component.name}'",
        "a sampled controller (`period=`) or a filter in between",
    )
    finding = Finding(where, "accelerations fed back without delay", expected)
    return InputError(f"{where} feeds accelerations back without delay; expected {expected}", [finding])


def _wrenches(chosen: Sequence[Effects]) -> dict[str, SX]:
    """Return the sum of the wrenches of effects on every frame."""
    out: dict[str, SX] = {}
    for effects in chosen:
        for frame, value in effects.wrenches.items():
            out[frame] = out[frame] + value if frame in out else value
    return out


def _sort_by_kind(components: Sequence[Component]) -> tuple[Component, ...]:
    """Return the components by kind."""
    rank = {kind: i for i, kind in enumerate(KINDS)}
    return tuple(sorted(components, key=lambda c: next(rank[k] for k in KINDS if isinstance(c, k))))
