"""The closed loop as functions: accelerations, rates, maps of sampled components, corrections after a step, outputs.

All functions share their arguments: continuous states c, held values d, parameters p, noise w, time t, step h.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus import dynamics
from articulus.dynamics.passive import coefficients
from articulus.dynamics.tree import Tree
from articulus.simulate.network import DISSIPATED, INPUT, Network

WRITTEN_OUT = 40
"""Freedoms up to which accelerations are written out; beyond, they are calls of shared code. Measured at 30 revolutes: a
step takes 3.3 us written out, 4.1 us called."""

ARGUMENTS = ("c", "d", "p", "w", "t", "h")


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

    Attributes
    ----------
    places, held_places : dict of name to slice
        Where each state stands in c, and each held value in d.
    c0, d0 : array
        Initial values.
    """

    def __init__(self, network: Network):
        network.check_feedback()
        self.network, self.description = network, network.description
        states, held = network.continuous, network.discrete
        self.places, self.c0 = _places(states), _initial(states)
        self.held_places, self.d0 = _places(held), _initial(held)
        self._c = ca.vertcat(*(symbol for symbol, _ in states.values()))
        self._d = ca.vertcat(SX(0, 1), *(symbol for symbol, _ in held.values()))
        self._p, self._w = network.parameter_symbols, network.noise_symbols
        self._arguments = [self._c, self._d, self._p, self._w, network.t, network.h]
        self.nc, self.nd, self.np, self.nw = (x.numel() for x in self._arguments[:4])

    # forces and accelerations

    @functools.cached_property
    def loads(self) -> ca.Function:
        """(c, d, p, w, t, h) -> joint forces (nv,), wrenches (6,) each."""
        out = [self.network.joint_forces(), *self.network.wrenches().values()]
        return self._function("loads", out)

    @functools.cached_property
    def acceleration(self) -> ca.Function:
        """(c, d, p, w, t, h) -> accelerations (nv,), multipliers of the constraints (m,)."""
        d, frames = self.description, tuple(self.network.wrenches())
        name = "closed_dynamics" if d.constraints else "forward_dynamics"
        written_out = d.nv <= WRITTEN_OUT
        make = dynamics.function if written_out else dynamics.compilable
        found = make(d, name, (), frames)
        if found.is_a("SXFunction"):
            symbols, kind = self._arguments, SX
        else:
            symbols, kind = [ca.MX.sym(n, *s.shape) for n, s in zip(ARGUMENTS, self._arguments)], ca.MX
        tau, *wrenches = self.loads.call(symbols)
        c, _, p, _, t, _ = symbols
        given = [c[self.places["q"]], c[self.places["v"]], tau]
        given += [t] if d.constraints else []
        given += [p[: len(d.parameters)]] if d.parameters else []
        out = found.call([*given, *wrenches])
        vdot, multipliers = out if d.constraints else (*out, kind(0, 1))
        return ca.Function("acceleration", symbols, [vdot, multipliers], list(ARGUMENTS), ["vdot", "multipliers"])

    @functools.cached_property
    def multipliers(self) -> SX:
        """Symbols of the multipliers, (m,)."""
        return SX.sym("multipliers", self.acceleration.numel_out(1))

    def _with_acceleration(self, name: str, expressions: Sequence[SX], names: Sequence[str]) -> ca.Function:
        """Return expressions that may use accelerations and multipliers as a function of the arguments."""
        found = [self.network.vdot, self.multipliers]
        dense = ca.cse([ca.densify(SX(e)) for e in expressions])
        if not ca.depends_on(ca.vertcat(*map(ca.vec, dense)), ca.vertcat(*found)):
            return self._function(name, expressions, names)
        inner = ca.Function(name, [*self._arguments, *found], dense)
        short = self.acceleration.is_a("SXFunction")
        symbols = self._arguments if short else self.acceleration.mx_in()
        out = inner.call([*symbols, *self.acceleration.call(symbols)])
        return ca.Function(name, symbols, ca.cse(out) if short else out, list(ARGUMENTS), list(names))

    def _function(self, name: str, expressions: Sequence[SX], names: Sequence[str] = ()) -> ca.Function:
        dense = ca.cse([ca.densify(SX(e)) for e in expressions])
        labels = list(names) or [f"o{i}" for i in range(len(dense))]
        return ca.Function(name, self._arguments, dense, list(ARGUMENTS), labels)

    # in time

    @functools.cached_property
    def rhs(self) -> ca.Function:
        """(c, d, p, w, t, h) -> time derivative of c."""
        net = self.network
        rates = [net.ask("position_rate", net.q, net.v), net.vdot]
        for effects in net.effects:
            rates += [effects.rates[name] for name in effects.states]
        rates += [net.power(), self._dissipation()]
        return self._with_acceleration("rhs", [ca.vertcat(*rates)], ["rate"])

    def _dissipation(self) -> SX:
        """Return the power that friction in the joints takes [W]."""
        tree = Tree(self.description)
        c, v = coefficients(tree), tree.v
        power = ca.dot(c.damping * v + c.coulomb * v / ca.sqrt(v**2 + c.coulomb_speed**2), v)
        found = ca.Function("dissipation", [tree.q, v, tree.p], [power])
        return found(self.network.q, self.network.v, self._p[: len(self.description.parameters)])

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
            function = self._with_acceleration("update", [renewed], ["d_next"])
            out.append(Update(component.name, float(component.period), function))  # type: ignore[arg-type]
        return tuple(out)

    @functools.cached_property
    def correction(self) -> ca.Function | None:
        """(c, d, p, w, t, h) -> c on the constraints and with quaternions of unit length; None where none is needed."""
        d, net = self.description, self.network
        if d.nq == d.nv and not d.constraints:
            return None
        still = SX.zeros(d.nv)
        corrected = SX(self._c)
        corrected[self.places["q"]] = net.ask("integrate_position", net.q, still)
        return self._function("correction", [corrected], ["c_next"])

    # what a run reports

    @functools.cached_property
    def outputs(self) -> dict[str, SX]:
        """Every signal of a run but q and v, as expressions."""
        net = self.network
        kinetic, potential = net.ask("energy", net.q, net.v)
        states = net.continuous
        energy = ca.vertcat(kinetic, potential, states[INPUT][0], states[DISSIPATED][0])
        out = {"vdot": net.vdot, "u": net.commands, "tau": net.joint_forces(), "energy": energy}
        out["momentum"] = net.ask("momentum", net.q, net.v)
        return out | net.signals


def _places(states: dict[str, tuple[SX, np.ndarray]]) -> dict[str, slice]:
    out, at = {}, 0
    for name, (symbol, _) in states.items():
        out[name] = slice(at, at + symbol.numel())
        at += symbol.numel()
    return out


def _initial(states: dict[str, tuple[SX, np.ndarray]]) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(start for _, start in states.values())])
