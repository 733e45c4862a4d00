"""Derivatives of a whole loop about a state, in coordinates that are free.

With the state c, held values d and small inputs u the loop is (`system.System`)

    c' = f(c, d, u),   y = h(c, d, u),   and at the instants of sampled component k   d <- r_k(c, d, u).

All derivatives are those of the equations themselves, by algorithmic differentiation, evaluated by the CasADi virtual
machine. Inputs are forces on the joints ("tau"), commands ("u"), signals where they are read, noise ("w") and parameters ("p."); a loop can be
cut at commands and signals. Time and switches of constraints are held fixed. What is no state of motion is omitted: the integrals of
power, the length of quaternions (displacements are in the directions of the velocities), and directions that the constraints
forbid, as in `dynamics.small_motions.closed_model`; those of the first of many states are free at all of them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.loops.free_coordinates import following, split, tangent
from articulus.dynamics.loops.null_space import VelocityPartition
from articulus.dynamics.small_motions import ILL_CONDITIONED
from articulus.errors import Finding, InputError, NumericalError, did_you_mean
from articulus.model.mechanism import Description, Parameter
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.equations import Network
from articulus.simulation.loop.functions import System, native


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
    vdot, balanced : array, (nv,)
        Accelerations at the state, and the size of what they are the sum of, as far as states and unit displacements go.
    """

    rate: np.ndarray
    outputs: np.ndarray
    updates: tuple[np.ndarray, ...]
    states: tuple[str, ...]
    vdot: np.ndarray
    balanced: np.ndarray


@dataclass(frozen=True)
class DerivativeRows:
    """Rows G v + g_t = 0 that hold at a state.

    Parameters
    ----------
    G : array, (m, nv)
    by_q : array, (m, nq)
        Of the velocity residuals.
    g_by_p, by_p : array, (m, np)
        Of the position and of the velocity residuals by the parameters of the mechanism.
    holonomic : array of bool, (m,)
        Which are on positions.
    plain : array, (m, nv) [-]
        G without units (`Scales.plain`), by which free coordinates are chosen.
    """

    G: np.ndarray
    by_q: np.ndarray
    g_by_p: np.ndarray
    by_p: np.ndarray
    holonomic: np.ndarray
    plain: np.ndarray

    def with_stopped(self, places: Sequence[int]) -> DerivativeRows:
        """Return the same with rows that hold velocities at some places."""
        n = len(places)
        blank = (np.zeros((n, part.shape[1])) for part in (self.by_q, self.g_by_p, self.by_p))
        parts = (np.eye(self.G.shape[1])[list(places)], *blank)
        old = (self.G, self.by_q, self.g_by_p, self.by_p)
        G, by_q, g_by_p, by_p = (np.vstack(pair) for pair in zip(old, parts))
        plain = np.vstack([self.plain, parts[0]])
        return DerivativeRows(G, by_q, g_by_p, by_p, np.append(self.holonomic, np.ones(n, dtype=bool)), plain)


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
                    Finding("linearize", f"the loop opened at '{name}'", f"one of the inputs {ports}")
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
            found = self._locate(name, places)
            self.sizes[name] = len(found)
            self._places += found

    def _locate(self, name: str, places: dict[str, int]) -> list[tuple[str, int]]:
        """Return where the entries of an input are: in "p", the parameters, or in "w", the noise."""
        if name == "tau":
            return [("p", places[f"_push_{k}"]) for k in joint_dofs(self.system.description)]
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
        """((c, d, u), p, w, t, h) -> derivatives by (c, d, u) of the rates of c, of the outputs, of each update; the rates."""
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
            push[joint_dofs(s.description)] = u[first : first + self.sizes["tau"]]
        shown = {name: ca.vec(y) - (push if name == "tau" else 0) for name, y in zip(names, values)}
        out = [rate[0], ca.vertcat(kind(0, 1), *shown.values()), *(d[0] for d in renewed)]
        found = [*(ca.densify(ca.jacobian(y, x)) for y in out), ca.densify(rate[0])]
        return ca.Function(
            "derivatives", [x, p, w, t, h], found, list("xpwth"), [f"o{i}" for i in range(len(found))]
        )

    @functools.cached_property
    def _kinematics(self) -> ca.Function:
        """(q, v) -> derivative of q' by v, (nq, nv), and of the rate of a small displacement by itself, (nv, nv)."""
        net = self.system.network
        E = ca.jacobian(net.ask("position_rate", net.q, net.v), net.v)
        out = [ca.densify(E), ca.densify(net.ask("tangent_rate", net.v))]
        return ca.Function("kinematics", [net.q, net.v], out, list("qv"), ["E", "turning"])

    @functools.cached_property
    def _rows(self) -> ca.Function:
        """(q, v, t, p) -> G, the derivative of the velocity residuals by q, those of the position and velocity residuals by p."""
        closing = self.system.closing
        assert closing is not None
        tree, rows = closing.tree, closing.rows
        by = [ca.jacobian(rows.rate, tree.q), ca.jacobian(rows.g, tree.p), ca.jacobian(rows.rate, tree.p)]
        into, names = [tree.q, tree.v, closing.t, tree.p], ["G", "by_q", "g_by_p", "by_p"]
        return ca.Function("rows", into, [ca.densify(x) for x in (rows.G, *by)], list("qvtp"), names)

    def about(self, x: np.ndarray, p: np.ndarray, t: np.ndarray, h: float) -> list[Linear]:
        """Return the derivatives at states (c, d), (count, nc + nd), with parameters p (count, np) at times t (count,), for steps h.

        Many states are one call of native code, one is left to the CasADi virtual machine.

        Raises
        ------
        NumericalError
            A rate or a sampled component has no finite derivative. An output without one is NaN.
        InputError
            The coordinates that are free at the first state are not free at another.
        """
        s, inputs = self.system, self._nominal(x, p, t, h)
        *found, rates = _values(self._jacobian, len(x), np.hstack([x, inputs]), p, np.zeros(s.nw), t, h)
        kinematics = _values(self._kinematics, len(x), x[:, s.places["q"]], x[:, s.places["v"]])
        rows = self._constraints(x, p, t)
        chosen = split(rows[0].plain[rows[0].holonomic]), split(rows[0].plain)
        out = []
        for k, each in enumerate(rows):
            _require_same(k, each, rows[0], chosen)
            self._require_finite(found[0][k], [J[k] for J in found[2:]], float(t[k]))
            E, turning = (m[k] for m in kinematics)
            vdot = np.ravel(rates[k])[s.places["v"]]
            by_state = np.abs(found[0][k][s.places["v"], : s.nc + s.nd])
            balanced = by_state @ np.abs(x[k]) + by_state[:, s.places["q"]].sum(axis=1)
            linear = self._about([J[k] for J in found], E, turning, each, chosen)
            out.append(dataclasses.replace(linear, vdot=vdot, balanced=balanced))
        return out

    def _about(
        self,
        found: list[np.ndarray],
        E: np.ndarray,
        turning: np.ndarray,
        rows: DerivativeRows,
        chosen: tuple[VelocityPartition, VelocityPartition],
    ) -> Linear:
        """Return the derivatives at one state from those of the equations."""
        s, nv, nu = self.system, self._nv, len(self._places)
        found[1][~np.isfinite(found[1]).all(axis=1)] = np.nan
        moving, free = self._free(rows, chosen, E)
        nz, nd = len(free), len(self._held)
        positions, rest = list(_range(s.places["q"])), [*_range(s.places["v"]), *self._own]
        moved = np.hstack([moving[:, :nz], np.zeros((len(moving), nd)), moving[:, nz:]])
        by_free = np.zeros((s.nc + s.nd + nu, nz + nd + nu))  # of (c, d, u) by (z, d, u)
        by_free[positions] = E @ moved[:nv]
        by_free[rest] = moved[nv:]
        by_free[[s.nc + k for k in self._held], range(nz, nz + nd)] = 1.0
        by_free[s.nc + s.nd :, nz + nd :] = np.eye(nu)
        rate, y, *updates = (J @ by_free for J in found)
        displacement = turning @ moved[:nv] + moved[nv : 2 * nv]
        rate = np.vstack([displacement, rate[rest]])[free]
        y = np.vstack([by_free[positions], by_free[s.places["v"]], y])
        none = np.zeros(0)
        return Linear(rate, y, tuple(u[list(self._held)] for u in updates), self._states(free), none, none)

    def _nominal(self, x: np.ndarray, p: np.ndarray, t: np.ndarray, h: float) -> np.ndarray:
        """Return the inputs at the states: zero, but where the loop is cut what the closed loop has there."""
        s = self.system
        out = {name: np.zeros((len(x), size)) for name, size in self.sizes.items()}
        if self._opened:
            given = x[:, : s.nc], x[:, s.nc :], p, np.zeros(s.nw), t, h
            values = _values(s.reporting(self._opened), len(x), *given)
            out |= {name: value.reshape(len(x), -1) for name, value in zip(self._opened, values)}
        return np.hstack([np.zeros((len(x), 0)), *out.values()])

    def _free(
        self, rows: DerivativeRows, chosen: tuple[VelocityPartition, VelocityPartition], E: np.ndarray
    ) -> tuple[np.ndarray, list[int]]:
        """Return how displacements, velocities and states of components follow from the free ones and the inputs; which are free.

        Displacements keep the rows on positions, delta = T delta_i; velocities keep all rows, dv = S dv_j + W delta_i. A
        parameter in the rows moves the dependent ones.
        """
        nv = self._nv
        n = 2 * nv + len(self._own)
        moving = np.hstack([np.eye(n), np.zeros((n, len(self._places)))])
        G, holonomic = rows.G, rows.holonomic
        if not len(G):
            return moving, list(range(n))
        position, velocity = chosen
        i, j = list(position.independent), list(velocity.independent)
        free = [*i, *(nv + k for k in j), *range(2 * nv, n)]
        moving[:nv, i] = tangent(G[holonomic], position)
        moving[:nv, n:] = -following(G[holonomic], position, self._by_inputs(rows.g_by_p[holonomic]))
        late = rows.by_q @ E
        moving[nv : 2 * nv, i] = -following(G, velocity, late @ moving[:nv, i])
        moving[nv : 2 * nv, [nv + k for k in j]] = tangent(G, velocity)
        moving[nv : 2 * nv, n:] = -following(G, velocity, self._by_inputs(rows.by_p) + late @ moving[:nv, n:])
        return np.hstack([moving[:, free], moving[:, n:]]), free

    def _by_inputs(self, by_p: np.ndarray) -> np.ndarray:
        """Return derivatives by the inputs from those by the parameters of the mechanism."""
        out = np.zeros((len(by_p), len(self._places)))
        for k, (which, place) in enumerate(self._places):
            if which == "p" and place < by_p.shape[1]:
                out[:, k] = by_p[:, place]
        return out

    def _constraints(self, x: np.ndarray, p: np.ndarray, t: np.ndarray) -> list[DerivativeRows]:
        """Return all that holds at each state, loops and joints at rest on a stop."""
        s = self.system
        d = s.description
        count = len(d.parameters)
        empty = DerivativeRows(
            np.zeros((0, d.nv)),
            np.zeros((0, d.nq)),
            np.zeros((0, count)),
            np.zeros((0, count)),
            np.zeros(0, dtype=bool),
            np.zeros((0, d.nv)),
        )
        out = [empty] * len(x)
        if s.closing is not None:
            matrices = _values(self._rows, len(x), x[:, s.places["q"]], x[:, s.places["v"]], t, p[:, :count])
            for k, holding in enumerate(map(self._holding, x)):
                G, by_q, g_by_p, by_p = (m[k][holding] for m in matrices)
                plain = d.scales(dict(zip([q.name for q in d.parameters], p[k]))).plain(matrices[0][k])[
                    holding
                ]
                out[k] = DerivativeRows(G, by_q, g_by_p, by_p, d.holonomic_rows[holding], plain)
        if s.network.stops:
            resting = x[:, s.nc :][:, s.held_places["resting"]] > 0
            out = [
                rows.with_stopped([at for at, on in zip(s.stop_places, rests) if on])
                for rows, rests in zip(out, resting)
            ]
        return out

    def _holding(self, x: np.ndarray) -> np.ndarray:
        """Return which constraint rows hold at a state."""
        s = self.system
        assert s.closing is not None
        active = x[s.nc :][s.held_places["active"]] > 0
        on = {c.name for c, holds in zip(s.description.constraints, active) if holds}
        return np.array([name in on for name in s.closing.names], dtype=bool)

    def _states(self, free: Sequence[int]) -> tuple[str, ...]:
        dofs = self.system.description.coordinate_names(rates=True)
        names = [f"{kind}.{name}" for kind in "qv" for name in dofs] + list(self._own.values())
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


def joint_dofs(description: Description) -> list[int]:
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


def _values(f: ca.Function, count: int, *given: Any) -> list[np.ndarray]:
    """Return the outputs of a function at rows of its arguments, with a leading axis of `count`.

    By native code, but for one row and for long mechanisms, whose derivatives take longer to compile than to evaluate.
    """
    if count > 1 and not f.is_a("SXFunction"):
        found = [
            f.call([_row(f.numel_in(i), np.asarray(x), k) for i, x in enumerate(given)]) for k in range(count)
        ]
        return [np.array([np.array(y) for y in ys]) for ys in zip(*found)]
    if count == 1:
        arguments = [x[0] if np.ndim(x) and len(x) == 1 else x for x in map(np.asarray, given)]
        return [np.array(y)[None] for y in f.call(arguments)]
    found = native(f)(*given)
    return list(found) if isinstance(found, tuple) else [found]


def _row(size: int, x: np.ndarray, k: int) -> np.ndarray:
    """Return row k of an argument of a given size, or what serves all rows."""
    return x[k] if x.ndim == 2 or (x.ndim == 1 and size == 1) else x


def _require_same(
    k: int, rows: DerivativeRows, first: DerivativeRows, chosen: tuple[VelocityPartition, VelocityPartition]
) -> None:
    """Raise InputError unless the coordinates that are free at the first state are free at this one, too."""
    if not k:
        return
    if rows.G.shape != first.G.shape or (rows.holonomic != first.holonomic).any():
        raise InputError(
            f"linearize: at operating point {k} {len(rows.G)} rows of constraints and stops hold; expected the {len(first.G)} of the "
            "first point. Linearize it separately"
        )
    worst = max(
        (p.condition(g) for p, g in zip(chosen, (rows.plain[rows.holonomic], rows.plain)) if p.rows),
        default=1.0,
    )
    if not worst <= ILL_CONDITIONED:
        raise InputError(
            f"linearize: at operating point {k} the states of the first one are not independent (condition {worst:.1e}, expected at "
            f"most {ILL_CONDITIONED:g}). Linearize it separately"
        )


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
