"""The closed loop as functions: accelerations, rates, maps of sampled components, corrections after a step, outputs.

All functions share their arguments: continuous states c, held values d, parameters p, noise w, time t, step h.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.dynamics import quantities
from articulus.dynamics.loops.forms import AUTO, DUAL, SMOOTH, LoopForm
from articulus.dynamics.loops.forms import form as find_form
from articulus.dynamics.passive import dissipated_power
from articulus.dynamics.tree import tree_of
from articulus.model.mechanism import TimeFunction
from articulus.simulation.loop.bends import Bends, bends_of
from articulus.simulation.loop.constraint_equations import ClosingEquations
from articulus.simulation.loop.equations import DISSIPATED, INPUT, PROJECTED, Network
from articulus.simulation.loop.identity import identity

ARGUMENTS = ("c", "d", "p", "w", "t", "h")
SOLVED = ("vdot", "multipliers", "own_rate")
LONG_BEAM = 8
"""Elements of beams in a mechanism with constraints up to which its accelerations are derived unasked: some 30 s."""
BEYOND = 0.1
"""Part of the size of what meets by which a gap is followed beyond its end [-]."""
NEVER = 1e30
"""Time after which a gap closes that does not [s]."""
OWN = "loops."
"""Beginning of the name of a loop form's own states."""


@functools.lru_cache(maxsize=512)
def native(function: ca.Function) -> kernel.Kernel:
    """Return a function of (c, d, p, w, t, h, ...) as native code; columns stay columns whatever their length."""
    inputs = tuple(0 if function.name_in(i) in ("t", "h") else 1 for i in range(function.n_in()))
    outputs = tuple(1 if function.size2_out(i) == 1 else 2 for i in range(function.n_out()))
    return kernel.compile(function, finite=False, ranks=(inputs, outputs))


@dataclass(frozen=True)
class Update:
    """The map that renews the held values of one sampled component."""

    name: str
    period: float
    function: ca.Function
    """(c, d, p, w, t, h) -> d."""


class System:
    """A mechanism with its components as functions of numbers.

    Parameters
    ----------
    network : Network
    loops : str
        Name of the form in which loops are closed; see `articulus.dynamics.loops.FORMS`. "auto": a run may choose another than the
        default.

    Attributes
    ----------
    loops : str
        As given.
    form : Form
    places, held_places : dict of name to slice
        The place of each state in c, and of each held value in d.
    c0, d0 : array
        Initial values.
    sizes : tuple of int
        Sizes of c, d, p, w, t and h; the first four are also nc, nd, np and nw.
    recurrences : dict
        Native time loops made so far, by method and length of its history.
    """

    def __init__(self, network: Network, loops: str = AUTO):
        network.check_feedback()
        network.description.require_inertia("motion in time")
        self.network, self.description = network, network.description
        self.loops = loops
        self.form: LoopForm = find_form(loops)
        self._own_states = SX.sym("own", self.closing.n_own if self.closing else 0)
        states, held = self._continuous(), network.discrete
        self.places, self.c0 = _places(states), _initial(states)
        self.held_places, self.d0 = _places(held), _initial(held)
        self._c = ca.vertcat(*(symbol for symbol, _ in states.values()))
        self._d = ca.vertcat(SX(0, 1), *(symbol for symbol, _ in held.values()))
        self._p, self._w = network.parameter_symbols, network.noise_symbols
        self.arguments = [self._c, self._d, self._p, self._w, network.t, network.h]
        self.sizes = tuple(x.numel() for x in self.arguments)
        self.nc, self.nd, self.np, self.nw = self.sizes[:4]
        self.recurrences: dict[tuple[str, int], kernel.Recurrence] = {}
        self._reports: dict[tuple[str, ...], ca.Function] = {}
        self._quantities: dict[str, ca.Function] = {}

    @functools.cached_property
    def smooth(self) -> System:
        """The same equations with loops closed in a form that is smooth off the constraints, though rows be redundant."""
        return System(self.network, SMOOTH)

    def _continuous(self) -> dict[str, tuple[SX, np.ndarray]]:
        """Return symbol and initial value of every state: those of the network, and before the work the form's own."""
        states, own = self.network.continuous, self._own_states
        work = {name: entry for name, entry in states.items() if name.startswith("work.")}
        first = {name: entry for name, entry in states.items() if name not in work}
        extra = {OWN + self.form.own: (own, np.zeros(own.numel()))} if own.numel() else {}
        return first | extra | work

    @functools.cached_property
    def identity(self) -> str | None:
        """A text that decides the equations; None where there is none (see `loop.identity`)."""
        return identity(self.network, self.form.name)

    @functools.cached_property
    def jumps(self) -> tuple[float, ...]:
        """Times at which an input of a continuous component may jump or kink, or a prescribed acceleration jumps [s], ascending."""
        continuous = [c for c in self.network.components if c.period is None]
        found = {t for c in continuous for t in c.times}
        for constraint in self.description.constraints:
            held = [getattr(constraint, f.name) for f in dataclasses.fields(constraint)]  # type: ignore[arg-type]
            found |= {t for f in held if isinstance(f, TimeFunction) for t in f.jumps}
        return tuple(sorted(found))

    @functools.cached_property
    def _bends(self) -> list[Bends]:
        """Bends of functions of time that continuous components hold."""
        return [bends for component in self.network.components for bends in bends_of(component)]

    def jumps_between(self, t0: float, t1: float) -> tuple[float, ...]:
        """Return `jumps`, and the times after t0 and before t1 at which functions of time jump or bend [s], ascending."""
        if not self._bends:
            return self.jumps
        return tuple(sorted({*self.jumps, *(t for bends in self._bends for t in bends.between(t0, t1))}))

    @functools.cached_property
    def meeting(self) -> ca.Function | None:
        """(c, d, p, w, t, h, rate of c) -> time in which the first gap of a component may close, 1e30 if none [s]; None without gaps.

        A gap x with its rates x' and x'' along the motion is followed to x = 0, and by a tenth of the size of what meets beyond it, so
        that nobody steps through; what has no size is followed to x = 0 from within too, where its force bends. Where it turns before it closes by as much, it is followed to the turn.
        """
        net = self.network
        gaps = [each for effects in net.effects for gap in effects.gaps for each in gap()]
        if not gaps:
            return None
        x, size = (ca.vertcat(*(SX(each[i]) for each in gaps)) for i in (0, 1))
        speed, rate = net.ask("position_rate", net.q, net.v), SX.sym("rate", self.nc)
        u = ca.jtimes(x, net.q, speed) + ca.jtimes(x, net.t, SX(1))
        a = (
            ca.jtimes(u, net.q, speed)
            + ca.jtimes(u, net.v, rate[self.places["v"]])
            + ca.jtimes(u, net.t, SX(1))
        )
        side = ca.if_else(ca.logic_and(size == 0, x < 0), -1, 1)
        x, u, a = side * x, side * u, side * a
        way = ca.fmax(x, 0) + BEYOND * size
        root = u**2 - 2 * a * way
        ends = 2 * way / ca.fmax(ca.sqrt(ca.fmax(root, 0)) - u, 1e-30)
        turns = ca.if_else(ca.logic_and(u < 0, u**2 >= 2 * a * ca.fmax(x, 0)), -u / ca.fmax(a, 1e-30), NEVER)
        closing = ca.logic_and(ca.logic_or(u < 0, a < 0), way > 0)
        time = ca.if_else(closing, ca.if_else(root >= 0, ends, turns), NEVER)
        out = [ca.cse(ca.fmin(ca.mmin(time), NEVER))]
        return ca.Function("meeting", [*self.arguments, rate], out, [*ARGUMENTS, "rate"], ["time"])

    @functools.cached_property
    def gaps(self) -> ca.Function | None:
        """(c, d, p, w, t, h) -> the gaps of all components that may meet something, negative while they do; None without any."""
        found = [x for effects in self.network.effects for gap in effects.gaps for x, _ in gap()]
        if not found:
            return None
        out = [ca.cse(ca.densify(ca.vertcat(*map(SX, found))))]
        return ca.Function("gaps", self.arguments, out, list(ARGUMENTS), ["gaps"])

    @functools.cached_property
    def noisy(self) -> bool:
        """Whether rates depend on noise directly, so that they jump at every step."""
        return self.nw > 0 and self.rhs.jac_sparsity(0, ARGUMENTS.index("w")).nnz() > 0

    # forces and accelerations

    @functools.cached_property
    def loads(self) -> ca.Function:
        """(c, d, p, w, t, h) -> joint forces (nv,), wrenches (6,) each."""
        out = [self.network.joint_forces(), *self.network.wrenches().values()]
        return self.function("loads", out)

    @functools.cached_property
    def closing(self) -> ClosingEquations | None:
        """The constraints on symbols; None where there are none."""
        return (
            ClosingEquations(self.description, self.form, self.network.as_found)
            if self.description.constraints
            else None
        )

    @functools.cached_property
    def acceleration(self) -> ca.Function:
        """(c, d, p, w, t, h) -> accelerations (nv,), multipliers of the constraints (m,), rates of the form's own states.

        Joints that rest on a stop have none.
        """
        if not self.network.stops:
            return self._free_accelerations
        symbols, held = self._stopping
        moving, *others = self._free_accelerations.call(self._with_stop_forces(symbols, held[0]))
        resting = symbols[1][self.held_places["resting"]]
        for i, place in enumerate(self.stop_places):  # zero but for rounding: now exactly
            moving[place] *= 1 - resting[i]
        return ca.Function("acceleration", symbols, [moving, *others], list(ARGUMENTS), list(SOLVED))

    @functools.cached_property
    def stopping(self) -> ca.Function:
        """(c, d, p, w, t, h) -> forces of the stops on which joints rest, accelerations that they alone cause, (stops,) each.

        A joint that is let go accelerates against the second; without a stop at which it rests both are zero.
        """
        symbols, held = self._stopping
        return ca.Function("stopping", symbols, held, list(ARGUMENTS), ["force", "effect"])

    @property
    def stop_places(self) -> list[int]:
        """The places in v of the velocities of the joints that may rest on a stop."""
        return [self.description.v_slices[joint].start for joint in self.network.stops]

    @functools.cached_property
    def _stopping(self) -> tuple[list[Any], list[Any]]:
        """Return symbols and, at them, forces and effects of the stops.

        Accelerations are a + R f with forces f in the joints. Of those that rest R_rr f_r = -a_r.
        """
        short, n = self._free_accelerations.is_a("SXFunction"), len(self.network.stops)
        kind: Any = SX if short else ca.MX
        symbols: list[Any] = [kind.sym(name, size) for name, size in zip(ARGUMENTS, self.sizes)]
        free, *pushed = (
            self._at_stops(self._free_accelerations.call(self._with_stop_forces(symbols, push))[0])
            for push in (kind.zeros(n), *(kind(ca.DM.eye(n)[:, i]) for i in range(n)))
        )
        R = ca.horzcat(*(each - free for each in pushed))
        resting = symbols[1][self.held_places["resting"]]
        on = ca.diag(resting)
        matrix = ca.mtimes([on, R, on]) + kind.eye(n) - on
        force = resting * ca.solve(matrix, -resting * free)
        return symbols, [force, ca.diag(R) * force]

    def _at_stops(self, x: Any) -> Any:
        """Return the entries of x (nv,) of the joints that have stops, one for each stop."""
        return ca.vertcat(*(x[place] for place in self.stop_places))

    def _with_stop_forces(self, symbols: list[Any], push: Any) -> list[Any]:
        """Return the arguments with forces in the joints that have stops."""
        c, d, *others = symbols
        at = self.held_places["push"]
        return [c, ca.vertcat(d[: at.start], push, d[at.stop :]), *others]

    @functools.cached_property
    def _free_accelerations(self) -> ca.Function:
        """The accelerations with no joint resting on a stop."""
        short = self._solving.is_a("SXFunction")
        symbols: list[Any] = self.arguments if short else self.graph_symbols()
        out = self._solve(symbols, self.loads.call(symbols), self._solving)
        return ca.Function("acceleration", symbols, out, list(ARGUMENTS), list(SOLVED))

    @functools.cached_property
    def _solving(self) -> ca.Function:
        """The mechanism alone: accelerations under joint forces and wrenches; with constraints what `_form_arguments` says."""
        frames = tuple(self.network.wrenches())
        if self.closing is not None:
            return self.closing.acceleration(frames)
        return quantities.compilable(self.description, "forward_dynamics", (), frames)

    def _solve(self, symbols: list[Any], loads: list[Any], solving: ca.Function) -> list[Any]:
        """Return accelerations, multipliers and rates of the form's own states from arguments and loads."""
        if self.closing is not None:
            return solving.call(self._form_arguments(symbols, loads))
        (c, _, p, *_), (tau, *wrenches) = symbols, loads
        model = [p[: len(self.description.parameters)]] if self.description.parameters else []
        vdot = solving.call([c[self.places["q"]], c[self.places["v"]], tau, *model, *wrenches])[0]
        none = type(vdot)(0, 1)
        return [vdot, none, none]

    def graph_symbols(self) -> list[ca.MX]:
        """Return symbols of the arguments for a graph of calls."""
        return [ca.MX.sym(name, size) for name, size in zip(ARGUMENTS, self.sizes)]

    def _form_arguments(self, symbols: list[Any], loads: list[Any]) -> list[Any]:
        """Return (q, v, tau, t, active, p, h, own, wrenches ...) of arguments and loads."""
        (c, d, p, _, t, h), (tau, *wrenches) = symbols, loads
        own = c[self.places[OWN + self.form.own]] if self._own_states.numel() else type(c)(0, 1)
        q, v, active = c[self.places["q"]], c[self.places["v"]], self._switches(d)
        return [q, v, tau, t, active, p[: len(self.description.parameters)], h, own, *wrenches]

    def _switches(self, d: Any) -> Any:
        """Return which constraints hold, and the residuals that they keep, from the held values."""
        kept = [d[self.held_places["kept"]]] if self.network.as_found else []
        return ca.vertcat(d[self.held_places["active"]], *kept)

    @property
    def model(self) -> SX:
        """The parameters of the mechanism itself."""
        return self._p[: len(self.description.parameters)]

    @functools.cached_property
    def multipliers(self) -> SX:
        """Symbols of the multipliers, (m,)."""
        return SX.sym("multipliers", len(self.closing.names) if self.closing else 0)

    @functools.cached_property
    def _stop_forces(self) -> SX:
        """Symbols of the forces of the stops on which joints rest."""
        return SX.sym("stops", len(self.network.stops))

    @functools.cached_property
    def _own_rate(self) -> SX:
        """Symbols of the rates of the form's own states."""
        return SX.sym("own_rate", self._own_states.numel())

    @functools.cached_property
    def _call_results(self) -> dict[str, tuple[ca.Function, SX]]:
        """Quantities of a run that are graphs of calls, with symbols for their results; those of short mechanisms are not."""
        found = {name: quantities.compilable(self.description, name) for name in ("energy", "momentum")}
        return {
            name: (f, SX.sym(name, sum(f.numel_out(k) for k in range(f.n_out()))))
            for name, f in found.items()
            if not f.is_a("SXFunction")
        }

    def _quantity_of_state(self, name: str) -> SX:
        """Return energy or momentum, as a column: an expression, or symbols that `with_acceleration` knows."""
        if name in self._call_results:
            return self._call_results[name][1]
        found = self.network.ask(name, self.network.q, self.network.v)
        return SX(ca.vertcat(*found)) if isinstance(found, tuple) else found

    def with_acceleration(
        self, name: str, expressions: Sequence[SX], names: Sequence[str], rarely: bool = False
    ) -> ca.Function:
        """Return expressions that may use accelerations, multipliers, energy and momentum as a function of the arguments.

        Code that is run `rarely` is rather short than fast.
        """
        expressions = [self._with_reactions(SX(e)) for e in expressions]
        dense = [ca.densify(SX(e)) for e in expressions]
        everything = ca.vertcat(*map(ca.vec, dense))
        called = [each for each in self._call_results.values() if ca.depends_on(everything, each[1])]
        found = [*self._solution, *(symbol for _, symbol in called)]
        if not ca.depends_on(everything, ca.vertcat(*found)):
            return self.function(name, expressions, names)
        solved = ca.depends_on(everything, ca.vertcat(*self._solution))
        solving = None
        if solved and rarely and self.closing is not None and not self.network.stops:
            solving = self.closing.short_acceleration(tuple(self.network.wrenches()))
        elif solved:  # long beams in loops take minutes
            solving = self._solving
        short = solving is not None and solving.is_a("SXFunction")
        symbols: list[Any] = self.arguments if short else self.graph_symbols()
        c, _, p, *_ = symbols
        state = [c[self.places["q"]], c[self.places["v"]]]
        state += [p[: len(self.description.parameters)]] if self.description.parameters else []
        quantities = [ca.vertcat(*f.call(state)) for f, _ in called]
        if short or self.network.stops or solving is None:
            inner = ca.Function(name, [*self.arguments, *found], ca.cse(dense))
            out: Any = inner.call([*symbols, *self._solution_at(symbols, everything), *quantities])
        else:
            out = self._with_shared_loads(name, dense, symbols, found, quantities, solving)
        return ca.Function(name, symbols, ca.cse(out) if short else out, list(ARGUMENTS), list(names))

    @property
    def _solution(self) -> list[SX]:
        """Symbols of accelerations, multipliers, rates of the form's own states and forces of the stops."""
        return [self.network.vdot, self.multipliers, self._own_rate, self._stop_forces]

    def _solution_at(self, symbols: list[Any], expression: SX) -> list[Any]:
        """Return the values of `_solution` at given arguments; zeros for those on which the expression does not rest."""
        values: list[Any] = [ca.DM.zeros(x.numel()) for x in self._solution]
        if ca.depends_on(expression, ca.vertcat(*self._solution[:3])):
            values[:3] = self.acceleration.call(symbols)
        if ca.depends_on(expression, self._stop_forces):
            values[3] = self.stopping.call(symbols)[0]
        return values

    def _with_shared_loads(
        self,
        name: str,
        dense: list[SX],
        symbols: list[Any],
        found: list[SX],
        quantities: list[Any],
        solving: ca.Function,
    ) -> list[Any]:
        """Return expressions at the symbols of a graph. Elements that rest on nothing in `found` are computed with the loads.

        So that what both need is computed once, above all the contacts.
        """
        everything = ca.vertcat(*map(ca.vec, dense))
        late = ca.jacobian_sparsity(everything, ca.vertcat(*found))
        rests = np.zeros(everything.numel(), dtype=bool)
        rests[late.row()] = True
        early, rest = (np.flatnonzero(which).tolist() for which in (~rests, rests))
        loads = [self.network.joint_forces(), *self.network.wrenches().values()]
        values, *pushes = self.function(f"{name}_loads", [everything[early], *loads]).call(symbols)
        solved = [*self._solve(symbols, pushes, solving), ca.DM.zeros(0)]
        inner = ca.Function(name, [*self.arguments, *found], ca.cse([everything[rest]]))
        others = inner.call([*symbols, *solved, *quantities])[0]
        whole = _merge(rests, values, others)
        parts = ca.vertsplit(whole, np.cumsum([0, *(e.numel() for e in dense)]).tolist())
        return [ca.reshape(part, *e.shape) for part, e in zip(parts, dense)]

    def _with_reactions(self, expression: SX) -> SX:
        """Return an expression with the joint reactions put in: those under all wrenches and closure forces."""
        net = self.network
        if net.multipliers.numel() and ca.depends_on(expression, net.multipliers):
            expression = ca.substitute(expression, net.multipliers, self.multipliers)
        if not ca.depends_on(expression, net.reactions):
            return expression
        wrenches = net.wrenches()
        given = [net.q, net.v, net.vdot, *([self.multipliers, net.t] if self.closing else [])]
        name = "closed_reactions" if self.closing else "reactions"
        rows = net.ask(name, *given, *wrenches.values(), wrenches=tuple(wrenches))
        return ca.substitute(expression, net.reactions, ca.vec(rows.T))

    def function(self, name: str, expressions: Sequence[SX], names: Sequence[str] = ()) -> ca.Function:
        """Return expressions of the state alone as a function of the arguments."""
        dense = ca.cse([ca.densify(SX(e)) for e in expressions])
        labels = list(names) or [f"o{i}" for i in range(len(dense))]
        return ca.Function(name, self.arguments, dense, list(ARGUMENTS), labels)

    def mass_matrix(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the mechanism with its loops cut, (nv, nv)."""
        return np.array(self._quantity("mass_matrix", p, q))

    @functools.cached_property
    def whole_energy(self) -> ca.Function:
        """(c, d, p, w, t, h) -> kinetic and potential energy together, with what components hold [J]."""
        whole = ca.sum1(self._quantity_of_state("energy")) + self.network.stored_energy()
        return self.with_acceleration("whole_energy", [whole], ["energy"])

    def _quantity(self, name: str, p: np.ndarray, *inputs: np.ndarray) -> Any:
        """Return a quantity of the mechanism by the CasADi virtual machine: for the few questions of an event."""
        if name not in self._quantities:
            self._quantities[name] = quantities.function(self.description, name)
        return self._quantities[name](*inputs, *([p] if self.description.parameters else []))

    def switch(self, constraint: str) -> int:
        """Return where d says whether a constraint holds."""
        names = [c.name for c in self.description.constraints]
        return self.held_places["active"].start + names.index(constraint)

    def applied_forces(self) -> SX:
        """Return all forces of components in the directions of the joints, (nv,)."""
        net, total = self.network, self.network.joint_forces()
        for frame, wrench in net.wrenches().items():
            total = total + ca.mtimes(net.ask("jacobian", net.q, frames=[frame]).T, wrench)
        if net.stops:
            for place, force in zip(self.stop_places, ca.vertsplit(self.stopping.call(self.arguments)[0])):
                total[place] += force
        return total

    def constraint_terms(self) -> ca.Function:
        """(q, v, t, p) -> g, G, gamma."""
        assert self.closing is not None
        tree, rows = self.closing.tree, self.closing.rows
        return ca.Function("terms", [tree.q, tree.v, self.closing.t, tree.p], [rows.g, rows.G, rows.gamma])

    # in time

    @functools.cached_property
    def rhs(self) -> ca.Function:
        """(c, d, p, w, t, h) -> time derivative of c."""
        found = self.with_acceleration("rhs", [self._rates()], ["rate"])
        if self.closing is None or self.form.velocity is None:
            return found
        return self.function("rhs", [found(self._with_velocity(), *self.arguments[1:])], ["rate"])

    def _rates(self) -> SX:
        """Return the time derivative of c, in which accelerations and multipliers are symbols."""
        net = self.network
        rates = [net.ask("position_rate", net.q, net.v), net.vdot]
        for effects in net.effects:
            rates += [effects.rates[name] for name in effects.states]
        power = net.power()
        if self.closing is not None:
            power = power + self.closing.power()(net.q, net.t, self.model, self.multipliers)
        projected = SX.zeros(int(self.closing is not None))  # `correction` changes it
        rates += [self._own_rate, projected, power, self.dissipation() + net.lost()]
        return ca.vertcat(*rates)

    def rate_of_accelerations(self) -> SX:
        """Return the time derivative of c with the accelerations of the network as symbols, for systems without constraints and stops."""
        return self._with_reactions(self._rates())

    def descriptor(self, rows: Sequence[int]) -> ca.Function:
        """(c, d, p, w, t, h, z) -> time derivative of c, and what vanishes: M vdot + G' lambda - f, G vdot + gamma.

        z holds the accelerations and the multipliers of the given constraint rows, which imply the others. A row gives
        way by 1 / DUAL of the mobility it has, so that singular positions have an answer; one that does not hold has
        no multiplier.
        """
        net, rates = self.network, self._with_reactions(self._rates())
        multipliers = SX.sym("lambda", len(rows))
        force = self.applied_forces() - net.ask("bias", net.q, net.v)
        balance = ca.mtimes(net.ask("mass_matrix", net.q), net.vdot) - force
        if self.closing is not None:
            everything = SX.zeros(self.multipliers.shape)
            everything[list(rows)] = multipliers
            rates = ca.substitute(rates, self.multipliers, everything)
            _, G, gamma = (x[list(rows), :] for x in self.constraint_terms()(net.q, net.v, net.t, self.model))
            on, mass = (x[list(rows)] for x in (self.closing.holding()(net.switches), self.closing.masses))
            yielding = multipliers / (DUAL * mass)
            closed = on * (ca.mtimes(G, net.vdot) + gamma) - ca.if_else(on > 0, yielding, multipliers)
            balance = ca.vertcat(balance + ca.mtimes(G.T, on * multipliers), closed)
        z = ca.vertcat(net.vdot, multipliers)
        out = ca.cse([ca.densify(rates), ca.densify(balance)])
        return ca.Function("descriptor", [*self.arguments, z], out, [*ARGUMENTS, "z"], ["rate", "balance"])

    def _with_velocity(self) -> SX:
        """Return the state with the velocities that follow from the form's own states."""
        assert self.closing is not None
        net, state = self.network, SX(self._c)
        tau = SX.zeros(self.description.nv)
        state[self.places["v"]] = self.closing.velocity()(
            net.q, net.v, tau, net.t, net.switches, self.model, net.h, self._own_states
        )
        return state

    @functools.cached_property
    def beginning(self) -> ca.Function | None:
        """(c, d, p, w, t, h) -> c with the form's own states that go with q and v; None where there are none."""
        if self.closing is None or self.form.begin is None:
            return None
        begun = SX(self._c)
        found = self.closing.beginning(tuple(self.network.wrenches()))
        given = self._form_arguments(self.arguments, self.loads.call(self.arguments))
        (begun[self.places[OWN + self.form.own]],) = found.call(given)
        return self.function("beginning", [begun], ["c_next"])

    def dissipation(self) -> SX:
        """Return the power that friction in the joints and damping of the modes take [W]."""
        tree = tree_of(self.description)
        found = ca.Function("dissipation", [tree.q, tree.v, tree.p], [dissipated_power(tree, tree.v)])
        q, v, _ = self.network.every_joint
        return found(q, v, self.model[: tree.p.numel()])

    @property
    def sampled_components(self) -> list[tuple[str, float]]:
        """Name and period [s] of every sampled component, in the order in which they work."""
        pairs = zip(self.network.components, self.network.fired)
        return [(c.name, float(c.period)) for c, fired in pairs if fired is not None]  # type: ignore[arg-type]

    @functools.cached_property
    def updates(self) -> tuple[Update, ...]:
        """The maps of sampled components, in the order in which they work."""
        net, out = self.network, []
        for component, fired, effects, held in zip(net.components, net.fired, net.effects, net.held):
            if fired is None:
                continue
            renewed = ca.SX(self._d)
            for name in effects.memories:
                at = self.held_places[f"{component.name}.{name} remembered"]
                renewed[at] = fired.remembered.get(name, effects.memories[name][0])
            outward = fired.outward()
            for kind, name in held:
                at = self.held_places[f"{component.name}.{kind} {name}".strip()]
                renewed[at] = outward[kind, name]
            function = self.with_acceleration("update", [renewed], ["d_next"])
            out.append(Update(component.name, float(component.period), function))  # type: ignore[arg-type]
        return tuple(out)

    @functools.cached_property
    def correction(self) -> ca.Function | None:
        """(c, d, p, w, t, h) -> c on the constraints and with quaternions of unit length; None where none is needed."""
        d, net = self.description, self.network
        way = None if self.closing is None else self.closing.projection()
        following = self.closing is not None and self.form.velocity is not None
        if d.nq == d.nv and way is None and not following:
            return None
        corrected = self._with_velocity() if following else SX(self._c)
        if way is not None and not way.is_a("SXFunction"):
            return self._called_correction(way)
        q, v = self._unit_quaternions(), corrected[self.places["v"]]
        if way is not None:
            q, v, change = way(q, v, net.t, net.switches, self.model)
            corrected[self.places[PROJECTED]] += ca.fabs(change)
        corrected[self.places["q"]], corrected[self.places["v"]] = q, v
        return self.function("correction", [corrected], ["c_next"])

    def _called_correction(self, way: ca.Function) -> ca.Function:
        """Return `correction` as a graph of calls."""
        symbols = self.graph_symbols()
        c, d, p, _, t, _ = symbols
        unit = self.function("unit", [self._unit_quaternions()])
        active, model = self._switches(d), p[: len(self.description.parameters)]
        q, v, change = way.call([unit.call(symbols)[0], c[self.places["v"]], t, active, model])
        corrected = ca.MX(c)
        corrected[self.places["q"]], corrected[self.places["v"]] = q, v
        corrected[self.places[PROJECTED]] += ca.fabs(change)
        return ca.Function("correction", symbols, [corrected], list(ARGUMENTS), ["c_next"])

    def _unit_quaternions(self) -> SX:
        """Return the position with every quaternion brought to unit length."""
        d, q = self.description, SX(self.network.q)
        for c in d.connections:
            if c.joint.nq != c.joint.nv:
                at = slice(d.q_slices[c.name].start, d.q_slices[c.name].start + 4)
                q[at] = q[at] / ca.norm_2(q[at])
        return q

    # what a run reports

    @functools.cached_property
    def left_out(self) -> tuple[str, ...]:
        """Outputs that a run reports only where they are named: accelerations and multipliers of loops with long beams.

        Their equations in the coordinates of the joints take minutes to derive; implicit methods do without them.
        """
        beams = [c for c in self.network.components if c.type_name == "beam_forces"]
        elements: int = sum(len(getattr(c, "joints")) for c in beams)  # noqa: B009 (known by its base class here)
        return ("vdot", "multipliers") if self.closing is not None and elements > LONG_BEAM else ()

    @functools.cached_property
    def outputs(self) -> Mapping[str, SX]:
        """Every signal of a run but q and v, as expressions; each is built when first looked up."""
        net = self.network
        ways: dict[str, Callable[[], SX]] = {
            "vdot": lambda: net.vdot,
            "u": lambda: net.asked if "u" in net.injected else net.commands,
            "tau": net.joint_forces,
            "energy": self._energies,
            "momentum": lambda: self._quantity_of_state("momentum"),
        }
        closing = self.closing
        if closing is not None:
            ways["constraint"] = lambda: closing.residual()(net.q, net.v, net.t, net.switches, self.model)
            ways["projected"] = lambda: net.continuous[PROJECTED][0]
            ways["multipliers"] = lambda: self.multipliers
        if self.description.couplings:
            ways["coupled"] = self._coupled_positions
        if net.stops:
            ways["stops"] = lambda: self._stop_forces
        return _Lazy(ways | {name: functools.partial(SX, value) for name, value in net.signals.items()})

    def _coupled_positions(self) -> SX:
        """Return the positions of the coupled joints, in the order of the joints."""
        slices, q = self.description.uncoupled.q_slices, self.network.every_joint[0]
        return ca.vertcat(*(q[slices[name]] for name in slices if name in self.description.coupled))

    def size(self, name: str) -> int:
        """Return the number of entries of an output, without building it where that is known."""
        d, closing = self.description, self.closing
        known = {"vdot": d.nv, "tau": d.nv, "energy": 4, "momentum": 6, "constraint": 2, "projected": 1}
        if closing is not None:
            known["multipliers"] = len(closing.names)
        return known[name] if name in known else self.outputs[name].numel()

    def _energies(self) -> SX:
        net, states = self.network, self.network.continuous
        kinetic, potential = ca.vertsplit(self._quantity_of_state("energy"))
        return ca.vertcat(kinetic, potential + net.stored_energy(), states[INPUT][0], states[DISSIPATED][0])

    def reporting_kernel(self, names: Sequence[str]) -> kernel.Kernel:
        """Return `reporting` as native code; nothing is derived when the cache holds it."""
        if self.identity is None:
            return native(self.reporting(names))
        key, ones = f"outputs {list(names)} {self.identity}", (1,) * len(names)
        ranks = tuple(0 if name in ("t", "h") else 1 for name in ARGUMENTS), ones
        return kernel.cached(
            key, lambda: self.reporting(names), finite=False, ranks=lambda: ranks, hurried=True
        )

    def reporting(self, names: Sequence[str]) -> ca.Function:
        """(c, d, p, w, t, h) -> the named outputs; the same function whenever the same names are asked."""
        key = tuple(names)
        if key not in self._reports:
            labels = [f"o{i}" for i in range(len(key))]
            expressions = [self.outputs[name] for name in key]
            self._reports[key] = self.with_acceleration("outputs", expressions, labels, rarely=True)
        return self._reports[key]


class _Lazy(Mapping[str, SX]):
    """Expressions that are built when first looked up."""

    def __init__(self, ways: dict[str, Callable[[], SX]]):
        self._ways, self._built = ways, dict[str, SX]()

    def __getitem__(self, name: str) -> SX:
        if name not in self._built:
            self._built[name] = self._ways[name]()
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._ways

    def __iter__(self) -> Iterator[str]:
        return iter(self._ways)

    def __len__(self) -> int:
        return len(self._ways)


def _merge(second: np.ndarray, a: Any, b: Any) -> Any:
    """Return a column with the elements of b where `second` says so and those of a elsewhere, each in order.

    Of whole pieces: derivatives of picked elements would be written into place one by one.
    """
    starts = np.flatnonzero(np.diff(second.astype(int))) + 1
    pieces = np.split(second, starts)
    cuts = [
        np.cumsum([0, *(len(piece) for piece in pieces if piece[0] == which)]).tolist()
        for which in (False, True)
    ]
    taken = [iter(ca.vertsplit(x, cut)) if x.numel() else iter(()) for x, cut in zip((a, b), cuts)]
    return ca.vertcat(*(next(taken[int(piece[0])]) for piece in pieces))


def _places(states: dict[str, tuple[SX, np.ndarray]]) -> dict[str, slice]:
    out, at = {}, 0
    for name, (symbol, _) in states.items():
        out[name] = slice(at, at + symbol.numel())
        at += symbol.numel()
    return out


def _initial(states: dict[str, tuple[SX, np.ndarray]]) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(start for _, start in states.values())])
