"""What every component of a loop is: a frozen class that reads and writes signals, on symbols.

To add a component: one file with one frozen dataclass in `components`, one line in `ALL_COMPONENTS`. It derives from
`Sensor`, `Controller`, `Actuator` or `Disturbance`; components work in that order, and in the given order within a kind.

A component with a `period` is sampled: it works at t = 0, period, 2 period, ... and everything it writes, commands or
pushes with is held in between. A component without one is continuous.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from casadi import SX

from articulus.model.mechanism import Description, Number


class Scope(Protocol):
    """What a component sees while it works. All expressions are CasADi SX columns."""

    description: Description
    t: SX
    """Time [s]."""
    q: SX
    v: SX
    vdot: SX
    """Accelerations under the present forces. What rests on them may be measured, not fed back without sampling."""
    h: SX
    """Step of the integration [s]."""

    def number(self, x: Number) -> SX:
        """Return a number as an expression; a Parameter becomes one of the run's parameters."""

    def ask(self, quantity: str, *inputs: SX, frames: Sequence[str] = (), tree: bool = False) -> Any:
        """Return a quantity of the mechanism at the given inputs, e.g. ask("pose", s.q, frames=["tool"]).

        Those that constraints change, such as "inverse_dynamics", can only be asked of the mechanism with every loop cut: `tree=True`.
        """

    def joint_q(self, joint: str) -> SX:
        """Return the coordinates of a joint; a wrong name is an error that says so."""

    def joint_v(self, joint: str) -> SX:
        """Return the velocities of a joint."""

    def reaction(self, joint: str) -> SX:
        """Return moment and force that a joint exerts on its child in the child's joint frame, (6,), under all present loads.

        Like `vdot`, it may be measured, not fed back without sampling.
        """

    def multipliers(self, constraint: str) -> SX:
        """Return the multipliers of a constraint's rows: minus the forces along them. They may be measured, not fed back without sampling."""

    # states

    def state(self, name: str, initial: Any) -> SX:
        """Return a continuous state of this component, which starts at `initial` (a number or a sequence)."""

    def rate(self, name: str, value: SX) -> None:
        """Give the time derivative of a continuous state."""

    def peer(self, name: str) -> Component:
        """Return another component of the run by its name."""

    def state_of(self, component: str, name: str) -> SX:
        """Return a continuous state, of one number, of a component that works later: what a sensor on an actuator sees."""

    def memory(self, name: str, initial: Any) -> SX:
        """Return what a sampled component remembered at its last instant."""

    def remember(self, name: str, value: SX) -> None:
        """Give what is remembered from this instant on."""

    # signals

    def write(self, name: str, value: SX) -> None:
        """Publish a signal as "<component>.<name>"; it can be read by later components and logged."""

    def read(self, signal: str) -> SX:
        """Return a signal by its full name, such as "gyro.rate"; also "q", "v" and "t"."""

    def command(self, value: SX) -> None:
        """Add to the commands of all actuators, (nu,): one per degree of freedom where the run has no actuators."""

    def replace_commands(self, places: Sequence[int], value: SX) -> None:
        """Put values, (len(places),), in the place of the commands so far; commands of later controllers are added to them."""

    @property
    def commands(self) -> SX:
        """Return the sum of all commands so far, (nu,)."""

    @property
    def command_names(self) -> tuple[str, ...]:
        """Return what is commanded: the actuators, or the coordinates of all velocities in a run without actuators."""

    @property
    def command_joints(self) -> tuple[str, ...]:
        """Return the joint that each command drives, empty for actuators that push elsewhere."""

    @property
    def driven(self) -> bool:
        """Whether the run has actuators; without them commands are joint forces."""

    def own_command(self) -> SX:
        """Return the command of the actuator that is working."""

    # effects

    def force(self, joint: str, value: SX) -> None:
        """Add a force to a joint's degrees of freedom, (nv of the joint,) [N m or N].

        Its power counts as input, unless the component keeps an energy account.
        """

    def wrench(self, frame: str, value: SX) -> None:
        """Add a moment about a frame's origin and a force, ground axes, (6,) [N m, N]; its power counts as `force` says."""

    def modal_force(self, body: str, value: SX) -> None:
        """Add forces on the modal coordinates of a flexible body, (modes,) [J]; their power counts as `force` says."""

    def meets(self, gaps: Callable[[], list[tuple[SX, Any]]]) -> None:
        """Say what may meet: a function that returns gaps, positive while apart, and the size of what meets, in the same unit.

        Methods that choose their steps do not step over the end of a gap. A size of 0 is for what cannot be stepped through, as
        a stop. Forces do not rest on it.
        """

    # the energy account: a component that calls any of the three accounts for all power of its forces and wrenches

    def stores(self, energy: SX) -> None:
        """Add to the energy that this component holds, e.g. in a spring [J]; it is part of the run's potential energy."""

    def dissipates(self, power: SX) -> None:
        """Add to the power that this component turns into heat, >= 0 [W]; its integral is part of the dissipated work."""

    def supplies(self, power: SX) -> None:
        """Add to the power that this component takes in from outside, e.g. from a pump [W]; its integral is input work."""

    def noise(self, count: int) -> SX:
        """Return independent normal numbers of unit variance, new at every step (at every instant when sampled)."""


class Component(abc.ABC):
    """A part of a loop.

    Attributes
    ----------
    type_name : str
        Name in study files.
    signals : dict of str to str
        Unit of each signal that it writes.
    name : str
        Unique among the components of a run.
    period : number or None [s]
        Sampling period; a whole number of steps. None: continuous.
    """

    in_file = "component"

    type_name: ClassVar[str]
    signals: ClassVar[dict[str, str]] = {}
    floors: ClassVar[dict[str, tuple[float, str]]] = {}
    """Signals of one entry below whose value the component does not hold any more, and what that means; runs that report them warn."""
    name: str
    period: float | None = None

    @abc.abstractmethod
    def work(self, s: Scope) -> None:
        """Read what is needed, write what follows."""

    def signal_units(self) -> dict[str, str]:
        """Return the unit of each signal that it writes."""
        return self.signals

    @property
    def path(self) -> tuple[str, ...]:
        """Return the frames along which it is drawn as a line, such as those of a spring or cable; none if it is not."""
        return ()

    @property
    def times(self) -> tuple[float, ...]:
        """Return the instants at which what it does may jump or bend, from its tables, ascending [s]."""
        held: list[Any] = (
            [getattr(self, f.name) for f in dataclasses.fields(self)]
            if dataclasses.is_dataclass(self)
            else []
        )
        return tuple(sorted({t for x in held for t in getattr(x, "times", ())}))


class Sensor(Component):
    """Makes signals from the state of the mechanism."""

    @abc.abstractmethod
    def measure(self, s: Scope) -> dict[str, SX]:
        """Return the signals by name."""

    def work(self, s: Scope) -> None:
        for name, value in self.measure(s).items():
            s.write(name, value)


class Controller(Component):
    """Makes commands from signals."""


class Actuator(Component):
    """Makes forces from its own command. A run with actuators has one command for each."""

    joint: str = ""
    """Joint (of one degree of freedom) that it drives; empty for one that pushes elsewhere."""
    command_in: ClassVar[str] = "-"
    """Unit of its command; "-" for a pure number, "N m or N" where it follows from the joint."""

    def command_unit(self) -> str:
        """Return the unit of its command."""
        return self.command_in

    @abc.abstractmethod
    def drive(self, s: Scope, command: SX) -> None:
        """Turn a command into forces."""

    def work(self, s: Scope) -> None:
        self.drive(s, s.own_command())


class Disturbance(Component):
    """Makes forces and wrenches from time."""
