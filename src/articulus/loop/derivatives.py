"""Derivatives of a whole loop about a state, in coordinates that are free.

With the state c, held values d and small inputs u the loop is (`system.System`)

    c' = f(c, d, u),   y = h(c, d, u),   and at the instants of sampled component k   d <- r_k(c, d, u).

All derivatives are those of the equations themselves, by algorithmic differentiation, evaluated by the CasADi virtual
machine. Inputs are forces on the joints ("tau"), commands ("u"), signals where they are read, noise ("w") and parameters ("p."); a loop can be
cut at commands and signals. Time and switches of constraints are held fixed. What is no state of motion is left out: the integrals of
power, the length of quaternions (displacements are in the directions of the velocities), and directions that the constraints
forbid, as in `dynamics.small_motions.closed_model`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.loops.free_coordinates import following, split, tangent
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.loop.component import Disturbance, Scope
from articulus.loop.equations import Network
from articulus.loop.functions import System, native
from articulus.mechanism import Description, Parameter


@dataclass(frozen=True)
class Linear:
    """Derivatives by (z, d, u): free states of motion and states of components, held values, inputs.

    Parameters
    ----------
    rate : array, (nz, nz + nd + nu)
        Of z'.
    outputs : array, (ny, nz + nd + nu)
        Of q, v and the outputs that were asked for.
    updates : tuple of arrays, (nd, nz + nd + nu)
        Of the held values, one for each sampled component.
    states : tuple of str
        Names of z and d.
    """

    rate: np.ndarray
    outputs: np.ndarray
    updates: tuple[np.ndarray, ...]
    states: tuple[str, ...]


class LoopDerivatives:
    """The derivatives of a loop as functions of its state.

    Parameters
    ----------
    system : System
    names : tuple of str
        Outputs besides q and v.
    inputs : tuple of str
        "tau", "u", signals, "w", "p.<parameter>".
    opened : tuple of str
        Those of the inputs at which the loop is cut.

    Attributes
    ----------
    sizes : dict of str to int
        Number of entries of each input.
    """

    def __init__(
        self,
        system: System,
        names: tuple[str, ...],
        inputs: tuple[str, ...] = ("tau",),
        opened: tuple[str, ...] = (),
    ):
        d = system.description
        self.system, self._nq, self._nv = system, d.nq, d.nv
        own = [name for name in system.places if name not in ("q", "v") and not name.startswith("work.")]
        held = [
            name
            for name in system.held_places
            if name not in ("outside", "active", "kept", "resting", "push")
        ]
        self._own = _entries(system.places, own)
        self._held = _entries(system.held_places, held)
        self._with_inputs(inputs, opened)
        self._jacobian = self._jacobians(names)

    def _with_inputs(self, inputs: tuple[str, ...], opened: tuple[str, ...]) -> None:
        """Build the loop with its inputs: each is an entry of the parameters or of the noise."""
        s, net = self.system, self.system.network
        ports = tuple(name for name in inputs if name not in ("tau", "w") and not name.startswith("p."))
        known = ("tau", "u", "w", *net.signals, *(f"p.{p.name}" for p in net.parameters))
        for name in (*inputs, *opened):
            if name not in known:
                raise InputError(f"linearize: no input '{name}'; {did_you_mean(name, known)}")
        for name in opened:
            if name not in ports:
                raise InputError(
                    f"linearize: found the loop opened at '{name}'; expected one of the inputs {ports}"
                )
        self._opened = opened
        push = [_Push()] if "tau" in inputs else []
        self._loop = System(
            Network(s.description, (*net.components, *push), False, net.stops, ports, opened), s.form.name
        )
        places = {p.name: i for i, p in enumerate(self._loop.network.parameters)}
        self.sizes: dict[str, int] = {}
        self._places: list[tuple[str, int]] = []
        for name in inputs:
            found = self._found(name, places)
            self.sizes[name] = len(found)
            self._places += found

    def _found(self, name: str, places: dict[str, int]) -> list[tuple[str, int]]:
        """Return where the entries of an input are: in "p", the parameters, or in "w", the noise."""
        if name == "tau":
            return [("p", places[f"_push_{k}"]) for k in joint_freedoms(self.system.description)]
        if name == "w":
            return [("w", k) for k in range(self.system.nw)]
        if name.startswith("p."):
            return [("p", places[name.removeprefix("p.")])]
        if name not in self._loop.network.injected:
            raise InputError(
                f"linearize: nothing reads the signal '{name}'; expected one that acts on the loop"
            )
        symbols = self._loop.network.injected[name]
        return [("p", places[symbols[k].name()]) for k in range(symbols.numel())]

    def _jacobians(self, names: Sequence[str]) -> ca.Function:
        """((c, d, u), p, w, t, h) -> derivatives by (c, d, u) of the rates of c, of the outputs, of each update."""
        s, loop = self.system, self._loop
        parts = [loop.rhs, *(u.function for u in loop.updates), loop.reporting(names or ("vdot",))]
        kind: Any = SX if all(f.is_a("SXFunction") for f in parts) else ca.MX
        sizes = (s.nc + s.nd + len(self._places), *s.sizes[2:])
        x, p, w, t, h = (kind.sym(name, size) for name, size in zip("xpwth", sizes))
        u = x[s.nc + s.nd :]
        given, places = kind.zeros(loop.np), {each.name: i for i, each in enumerate(loop.network.parameters)}
        for i, each in enumerate(s.network.parameters):
            given[places[each.name]] = p[i]
        into = {"p": given, "w": kind(w)}
        for k, (which, place) in enumerate(self._places):
            into[which][place] += u[k]
        rate, *renewed, values = (
            f.call([x[: s.nc], x[s.nc : s.nc + s.nd], into["p"], into["w"], t, h]) for f in parts
        )
        push = kind.zeros(self._nv)
        if "tau" in self.sizes:  # what is pushed with is no force of the loop's own
            first = list(itertools.accumulate(self.sizes.values(), initial=0))[list(self.sizes).index("tau")]
            push[joint_freedoms(s.description)] = u[first : first + self.sizes["tau"]]
        shown = {name: ca.vec(y) - (push if name == "tau" else 0) for name, y in zip(names, values)}
        out = [rate[0], ca.vertcat(kind(0, 1), *shown.values()), *(d[0] for d in renewed)]
        found = [ca.densify(ca.jacobian(y, x)) for y in out]
        return ca.Function(
            "derivatives", [x, p, w, t, h], found, list("xpwth"), [f"o{i}" for i in range(len(found))]
        )

    @functools.cached_property
    def _kinematics(self) -> ca.Function:
        """(q, v) -> derivative of q' by v, (nq, nv), and of the rate of a small displacement by itself, (nv, nv)."""
        net = self.system.network
        E = ca.jacobian(net.ask("position_rate", net.q, net.v), net.v)
        return ca.Function(
            "kinematics", [net.q, net.v], [ca.densify(E), ca.densify(net.ask("tangent_rate", net.v))]
        )

    @functools.cached_property
    def _rows(self) -> ca.Function:
        """(q, v, t, p) -> G and the derivative of the velocity residuals by q."""
        closing = self.system.closing
        assert closing is not None
        tree, rows = closing.tree, closing.rows
        out = [ca.densify(rows.G), ca.densify(ca.jacobian(rows.rate, tree.q))]
        return ca.Function("rows", [tree.q, tree.v, closing.t, tree.p], out)

    def about(self, x: np.ndarray, p: np.ndarray, t: float, h: float) -> list[Linear]:
        """Return the derivatives at states (c, d), (count, nc + nd), with parameters p (count, np) at time t, for steps h.

        Many states are one call of native code, one is left to the CasADi virtual machine.

        Raises
        ------
        NumericalError
            A rate or a sampled component has no finite derivative. An output without one is NaN.
        """
        inputs = np.array([self._nominal(x_k, p_k, t, h) for x_k, p_k in zip(x, p)])
        given = np.hstack([x, inputs]), p, np.zeros(self.system.nw), t, h
        if len(x) == 1:
            found = [np.array(J)[None] for J in self._jacobian.call([given[0][0], p[0], *given[2:]])]
        else:
            found = list(native(self._jacobian)(*given))
        return [self._about(x_k, p_k, t, [J[k] for J in found]) for k, (x_k, p_k) in enumerate(zip(x, p))]

    def _about(self, x: np.ndarray, p: np.ndarray, t: float, found: list[np.ndarray]) -> Linear:
        """Return the derivatives at one state from those of the equations."""
        s, nv, nu = self.system, self._nv, len(self._places)
        self._require_finite(found[0], found[2:], t)
        found[1][~np.isfinite(found[1]).all(axis=1)] = np.nan
        E, turning = (np.array(m) for m in self._kinematics(x[s.places["q"]], x[s.places["v"]]))
        moving, free = self._free(x, p, t, E)
        nz, nd = len(free), len(self._held)
        positions, rest = list(_range(s.places["q"])), [*_range(s.places["v"]), *self._own]
        by_free = np.zeros((s.nc + s.nd + nu, nz + nd + nu))  # of (c, d, u) by (z, d, u)
        by_free[positions, :nz] = E @ moving[:nv]
        by_free[rest, :nz] = moving[nv:]
        by_free[[s.nc + k for k in self._held], range(nz, nz + nd)] = 1.0
        by_free[s.nc + s.nd :, nz + nd :] = np.eye(nu)
        rate, y, *updates = (J @ by_free for J in found)
        displacement = np.zeros((nv, nz + nd + nu))
        displacement[:, :nz] = turning @ moving[:nv] + moving[nv : 2 * nv]
        rate = np.vstack([displacement, rate[rest]])[free]
        y = np.vstack([by_free[positions], by_free[s.places["v"]], y])
        return Linear(rate, y, tuple(u[list(self._held)] for u in updates), self._states(free))

    def _nominal(self, x: np.ndarray, p: np.ndarray, t: float, h: float) -> np.ndarray:
        """Return the inputs at the state: zero, but where the loop is cut what the closed loop has there."""
        s, out = self.system, {name: np.zeros(size) for name, size in self.sizes.items()}
        if self._opened:
            values = s.reporting(self._opened).call([x[: s.nc], x[s.nc :], p, np.zeros(s.nw), t, h])
            out |= {name: np.array(value).ravel() for name, value in zip(self._opened, values)}
        return np.concatenate([np.zeros(0), *out.values()])

    def _free(self, x: np.ndarray, p: np.ndarray, t: float, E: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """Return how displacements, velocities and states of components follow from the free ones; which these are.

        Displacements keep the rows on positions, delta = T delta_i; velocities keep all rows, dv = S dv_j + W delta_i.
        """
        nv = self._nv
        n = 2 * nv + len(self._own)
        moving = np.eye(n)
        G, by_q, holonomic = self._constraints(x, p, t)
        if not len(G):
            return moving, list(range(n))
        (T, i), (S, j) = _independent(G[holonomic]), _independent(G)
        free = [*i, *(nv + k for k in j), *range(2 * nv, n)]
        moving[:nv, i] = T
        moving[nv : 2 * nv, i] = -following(G, split(G), by_q @ E @ T)
        moving[nv : 2 * nv, [nv + k for k in j]] = S
        return moving[:, free], free

    def _constraints(
        self, x: np.ndarray, p: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return G of all that holds, loops and joints at rest on a stop, its rate by q, and which rows are on positions."""
        s = self.system
        d = s.description
        G, by_q, holonomic = np.zeros((0, d.nv)), np.zeros((0, d.nq)), np.zeros(0, dtype=bool)
        if s.closing is not None:
            holding = self._holding(x)
            found = self._rows(x[s.places["q"]], x[s.places["v"]], t, p[: len(d.parameters)])
            (G, by_q), holonomic = (np.array(m)[holding] for m in found), d.holonomic_rows[holding]
        rests: np.ndarray | list[bool] = x[s.nc :][s.held_places["resting"]] > 0 if s.network.stops else []
        stopped = np.eye(d.nv)[[place for place, on in zip(s.stop_places, rests) if on]]
        return (
            np.vstack([G, stopped]),
            np.vstack([by_q, np.zeros((len(stopped), d.nq))]),
            np.append(holonomic, np.ones(len(stopped), dtype=bool)),
        )

    def _holding(self, x: np.ndarray) -> np.ndarray:
        """Return which constraint rows hold at a state."""
        s = self.system
        assert s.closing is not None
        active = x[s.nc :][s.held_places["active"]] > 0
        on = {c.name for c, holds in zip(s.description.constraints, active) if holds}
        return np.array([name in on for name in s.closing.names], dtype=bool)

    def _states(self, free: Sequence[int]) -> tuple[str, ...]:
        freedoms = self.system.description.coordinate_names(rates=True)
        names = [f"{kind}.{name}" for kind in "qv" for name in freedoms] + list(self._own.values())
        return (*(names[k] for k in free), *self._held.values())

    def _require_finite(self, rate: np.ndarray, updates: Sequence[np.ndarray], t: float) -> None:
        """Raise NumericalError where the motion itself has no derivative."""
        rates = _entries(self.system.places, ["v"]) | self._own
        maps = {f"the rate of {name}": rate[k] for k, name in rates.items()}
        maps |= {f"sampled component '{u.name}'": J for u, J in zip(self.system.updates, updates)}
        for name, J in maps.items():
            if not np.isfinite(J).all():
                raise NumericalError(
                    f"linear: {name} has no finite derivative at t = {t:.9g} s. A root or a division at its bound is likely; "
                    "choose another time"
                )


def joint_freedoms(description: Description) -> list[int]:
    """Return the degrees of freedom on which forces u act: those of joints, without those of modes."""
    return sorted(k for at in description.v_slices.values() for k in _range(at))


@functools.lru_cache(maxsize=32)
def loop_derivatives(
    system: System, names: tuple[str, ...], inputs: tuple[str, ...] = ("tau",), opened: tuple[str, ...] = ()
) -> LoopDerivatives:
    """Return the derivatives of a loop; those of the last few are kept."""
    return LoopDerivatives(system, names, inputs, opened)


@dataclass(frozen=True)
class _Push(Disturbance):
    """A force on every degree of freedom of every joint, each a parameter that is zero."""

    name: str = "_push"
    type_name = "_push"

    def work(self, s: Scope) -> None:
        for joint, at in s.description.v_slices.items():
            forces = [s.number(Parameter(f"_push_{k}", 0.0)) for k in _range(at)]
            if forces:
                s.force(joint, ca.vertcat(*forces))


def _independent(G: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return T with x = T x_i for every x with G x = 0, and which x_i are."""
    if not len(G):
        return np.eye(G.shape[1]), list(range(G.shape[1]))
    p = split(G)
    return tangent(G, p), list(p.independent)


def _range(at: slice) -> range:
    return range(at.start, at.stop)


def _entries(places: dict[str, slice], chosen: Sequence[str]) -> dict[int, str]:
    """Return place and name of every entry of the chosen ones."""
    out = {}
    for name in chosen:
        at = places[name]
        for i, k in enumerate(_range(at)):
            out[k] = name if at.stop - at.start == 1 else f"{name}.{i}"
    return out
