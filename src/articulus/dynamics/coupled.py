"""Mechanisms with coupled joints: every quantity of the independent coordinates, from those of the tree.

    q_t = S(q),   v_t = T v,   vdot_t = T vdot + (dT/dt) v,   tau = T^T tau_t

The tree keeps a node for every joint; S puts in the positions of the joints that follow others, and T, its derivative, is the
identity with a row more for each coupled joint. It follows for the equations of motion (d'Alembert's principle)

    M = T^T M_t T,   bias = T^T (M_t (dT/dt) v + bias_t),   J = J_t T.

Forces in a coupled joint (springs, friction, rotors) stay there and act through its row of T.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics import constrained_forward
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.flexible.factors import mass_matrix_factors as factors
from articulus.dynamics.loops import ConstraintProblem
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.operators import inward, next_inward
from articulus.dynamics.tree import tree_of
from articulus.model.mechanism import Description, Number
from articulus.model.mechanism.expression import evaluate


class Coupled:
    """Positions and velocities of all joints by the independent ones, on symbols.

    Attributes
    ----------
    description : Description
    q, v, p : SX
        Independent positions and velocities, named parameters.
    kept_q, kept_v : list of int
        Entries of the tree's q and v that are independent.
    """

    def __init__(self, description: Description):
        self.description = description
        self.q, self.v = SX.sym("q", description.nq), SX.sym("v", description.nv)
        self.p = SX.sym("p", len(description.parameters))
        self.kept_q, self.kept_v = description.independent_places

    @functools.cached_property
    def positions(self) -> SX:
        """S, the positions of all joints, (nq of the tree,)."""
        tree = self.description.uncoupled
        out = SX.zeros(tree.nq)
        out[self.kept_q] = self.q
        for c in self.description.couplings:
            followed = [out[tree.q_slices[name].start] for name in c.to]
            out[tree.q_slices[c.joint].start] = c.position(followed, self.number)
        return out

    @functools.cached_property
    def T(self) -> SX:
        """dS by displacements in the directions of v, (nv of the tree, nv), sparse."""
        tree = self.description.uncoupled
        out = SX(tree.nv, self.description.nv)
        for k, at in enumerate(self.kept_v):
            out[at, k] = 1
        for name in self.description.coupled:
            out[tree.v_slices[name].start, :] = self.by_displacement(
                self.positions[tree.q_slices[name].start]
            )
        return ca.sparsify(out)

    @functools.cached_property
    def rate(self) -> SX:
        """dT/dt, (nv of the tree, nv), sparse."""
        rates = ca.mtimes(self._directions, self.v)
        return ca.sparsify(ca.reshape(ca.jtimes(ca.vec(ca.densify(self.T)), self.q, rates), self.T.shape))

    @functools.cached_property
    def convective_acceleration(self) -> SX:
        """(dT/dt) v, the accelerations of the coupled joints at constant v, (nv of the tree,)."""
        return ca.mtimes(self.rate, self.v)

    def by_displacement(self, expression: SX) -> SX:
        """Return the derivative of an expression of followed joints by displacements, (rows, nv)."""
        return ca.mtimes(ca.jacobian(expression, self.q), self._directions)

    @functools.cached_property
    def _directions(self) -> SX:
        """dq/dt by v for the joints that others may follow, those of one degree of freedom, (nq, nv)."""
        d = self.description
        out = SX(d.nq, d.nv)
        for c in d.connections:
            if c.joint.nv == 1 and c.name not in d.coupled:
                out[d.q_slices[c.name].start, d.v_slices[c.name].start] = 1
        return out

    def number(self, x: Number) -> SX:
        """Return a number of the model, parameters in it as their symbols."""
        names = [p.name for p in self.description.parameters]
        return SX(evaluate(x, lambda p: self.p[names.index(p.name)], ca))


def every_joint(description: Description) -> ca.Function:
    """(q, v, p) -> positions and velocities of all joints, and T: the state of the tree."""
    m = Coupled(description)
    outputs = [m.positions, ca.densify(ca.mtimes(m.T, m.v)), m.T]
    return ca.Function("every_joint", [m.q, m.v, m.p], outputs, ["q", "v", "p"], ["q_tree", "v_tree", "T"])


@dataclass(frozen=True)
class CoupledQuestion:
    """A question about a mechanism with couplings.

    Parameters
    ----------
    name : str
        Name of the quantity.
    motion : Coupled
    symbols : dict of str to SX or MX
        By name: q, v, vdot, tau, t, multipliers of the independent coordinates, and p.
    frames : tuple of str
    wrenches : dict of str to SX or MX
        External wrenches by frame.
    functions : callable
        (name of a quantity, frames) -> the function of the tree.
    """

    name: str
    motion: Coupled
    symbols: dict[str, Any]
    frames: tuple[str, ...]
    wrenches: dict[str, Any]
    functions: Callable[[str, tuple[str, ...]], ca.Function]

    def __getitem__(self, name: str) -> Any:
        return self.symbols[name]

    def of(self, expression: SX, held: SX | None = None, value: Any = None) -> Any:
        """Return an expression of `motion` on the symbols of the question; `held` is a symbol more in it, with its value."""
        if expression.is_constant():
            return type(self["q"])(ca.DM(expression))
        m, more = self.motion, [] if held is None else [(held, value)]
        pairs = [(m.q, self["q"]), (m.v, self["v"]), (m.p, self["p"]), *more]
        symbols, values = zip(*((x, at) for x, at in pairs if ca.depends_on(expression, x)))
        return ca.Function("of", symbols, [expression])(*values)

    @functools.cached_property
    def T(self) -> Any:
        """T on the symbols of the question."""
        return self.of(self.motion.T)

    @functools.cached_property
    def convective_acceleration(self) -> Any:
        """(dT/dt) v on the symbols of the question."""
        return self.of(self.motion.convective_acceleration)

    def of_tree(self, name: str, frames: tuple[str, ...] = (), **others: Any) -> tuple:
        """Return a quantity of the tree at the positions, velocities and accelerations of all joints.

        Parameters
        ----------
        name : str
        frames : tuple of str
        **others
            Inputs that are given as the tree takes them, for example vdot=....
        """
        found = self.functions(name, frames)
        labels = found.name_in()
        inputs = [others[label] if label in others else self._of_tree(label, found) for label in labels]
        return tuple(found.call(inputs))

    def _of_tree(self, label: str, found: ca.Function) -> Any:
        match label:
            case "q":
                return self.of(self.motion.positions)
            case "v":
                return ca.mtimes(self.T, self["v"])
            case "vdot":
                return ca.mtimes(self.T, self["vdot"]) + self.convective_acceleration
            case "p":
                return self["p"][: found.numel_in("p")]
            case "t" | "multipliers":
                return self[label]
        return list(self.wrenches.values())[int(label.removeprefix("wrench_"))]

    # the reduced equations

    def mass(self) -> Any:
        """Return T^T M_t T with its zeros between branches."""
        (M,), tree = self.of_tree("mass_matrix"), self.motion.description.uncoupled
        M = ca.sparsify(M) if isinstance(M, SX) else ca.project(M, _pattern(tree))
        return ca.mtimes([self.T.T, M, self.T])

    def bias(self) -> Any:
        """Return the forces at zero acceleration of the independent coordinates; external wrenches are taken off."""
        return ca.mtimes(self.T.T, self.of_tree("inverse_dynamics", vdot=self.convective_acceleration)[0])

    def solve(self, M: Any, b: Any) -> Any:
        """Return M^-1 b."""
        return _apply_to_scalars(lambda M, b: (ca.densify(Factorization(M).solve(b)),), M, b)[0]

    def factors(self) -> tuple:
        """Return L, D and L^-1 of M = L D L^T."""
        return _apply_to_scalars(lambda M: factors(_symmetric(M)), self.mass())

    def inverse_mass(self) -> Any:
        """Return M^-1."""
        return self.solve(self.mass(), type(self["q"]).eye(self.motion.description.nv))


def _apply_to_scalars(algorithm: Callable[..., tuple], *matrices: Any) -> tuple:
    """Return what an algorithm on scalars makes of matrices; on a graph of calls it is one call."""
    if isinstance(matrices[0], SX):
        return algorithm(*matrices)
    symbols = [SX.sym("x", x.sparsity()) for x in matrices]
    return tuple(ca.Function("written", symbols, list(algorithm(*symbols))).call(list(matrices)))


def _pattern(tree: Description) -> ca.Sparsity:
    """Return which entries of the mass matrix of a tree of rigid bodies are not zero: those of degrees of freedom on one path."""
    chain = next_inward(tree_of(tree, regroup=True))
    pairs = [(k, i) for k in range(tree.nv) for i in [k, *inward(chain, k)]]
    rows, columns = zip(*pairs, *((i, k) for k, i in pairs))
    return ca.Sparsity.triplet(tree.nv, tree.nv, rows, columns)


Answer = Callable[[CoupledQuestion], tuple]


# what the couplings make of quantities, by kind


def same(s: CoupledQuestion) -> tuple:
    """Return what bodies and frames do: the tree's answer at the positions of all joints."""
    return s.of_tree(s.name, s.frames)


def forces(s: CoupledQuestion) -> tuple:
    """Return joint forces: T^T times those of the tree."""
    return tuple(ca.mtimes(s.T.T, x) for x in s.of_tree(s.name))


def columns(s: CoupledQuestion) -> tuple:
    """Return matrices with a column per velocity: those of the tree times T."""
    return tuple(ca.mtimes(x, s.T) for x in s.of_tree(s.name, s.frames))


def positions(s: CoupledQuestion) -> tuple:
    """Return what has the entries of q: those of the independent joints."""
    return tuple(x[s.motion.kept_q] for x in s.of_tree(s.name))


# what the couplings make of single quantities


def tangent_rate(s: CoupledQuestion) -> tuple:
    """Return the rows and columns of the independent joints."""
    kept, n = s.motion.kept_v, s.motion.description.uncoupled.nv
    v = ca.mtimes(ca.DM.eye(n)[:, kept], s["v"])  # joints that others follow turn no directions
    return tuple(x[kept, kept] for x in s.of_tree("tangent_rate", v=v))


def jacobian_rate(s: CoupledQuestion) -> tuple:
    """Return (dJ_t/dt) T + J_t dT/dt."""
    (rate,), (J,) = s.of_tree(s.name, s.frames), s.of_tree("jacobian", s.frames)
    return (ca.mtimes(rate, s.T) + ca.mtimes(J, s.of(s.motion.rate)),)


def position_difference(s: CoupledQuestion) -> tuple:
    """Return that of the independent joints."""
    d = s.motion.description.uncoupled
    spread = ca.DM.eye(d.nq)[:, s.motion.kept_q]
    ends = {name: ca.mtimes(spread, s[name]) for name in ("q", "q_end")}
    return (s.of_tree(s.name, **ends)[0][s.motion.kept_v],)


def coriolis_matrix(s: CoupledQuestion) -> tuple:
    """Return T^T (C_t T + M_t dT/dt): of M = T^T M_t T, dM/dt - 2 C is skew with it."""
    (C,), (M,) = s.of_tree(s.name), s.of_tree("mass_matrix")
    return (ca.mtimes(s.T.T, ca.mtimes(C, s.T) + ca.mtimes(M, s.of(s.motion.rate))),)


def mass_matrix(s: CoupledQuestion) -> tuple:
    """Return T^T M_t T."""
    return (_symmetric(s.mass()),)


def _symmetric(M: Any) -> Any:
    """Return a matrix that is symmetric but for rounding, symmetric bit for bit."""
    return ca.triu2symm(ca.triu(M))


def bias(s: CoupledQuestion) -> tuple:
    """Return T^T (bias_t + M_t (dT/dt) v)."""
    return (s.bias(),)


def forward_dynamics(s: CoupledQuestion) -> tuple:
    """Return M^-1 (tau - bias)."""
    return (s.solve(s.mass(), s["tau"] - s.bias()),)


def mass_matrix_inverse(s: CoupledQuestion) -> tuple:
    """Return M^-1."""
    return (s.inverse_mass(),)


def solve_mass_matrix(s: CoupledQuestion) -> tuple:
    """Return M^-1 tau."""
    return (s.solve(s.mass(), s["tau"]),)


def mass_matrix_factors(s: CoupledQuestion) -> tuple:
    """Return L, D and L^-1 of M = L D L^T."""
    return s.factors()


def innovations(s: CoupledQuestion) -> tuple:
    """Return L^T v, L^-1 tau and D."""
    L, D, L_inverse = s.factors()
    return ca.mtimes(L.T, s["v"]), ca.mtimes(L_inverse, s["tau"]), D


def operational_inertia(s: CoupledQuestion) -> tuple:
    """Return J_1 M^-1 J_2^T."""
    one, other = (ca.mtimes(s.of_tree("jacobian", (frame,))[0], s.T) for frame in s.frames)
    return (ca.mtimes(one, s.solve(s.mass(), other.T)),)


# derivatives


def _inverse_dynamics_derivatives(s: CoupledQuestion, vdot: Any) -> tuple:
    """Return d tau/d q, d tau/d v and M at accelerations of the independent coordinates.

    tau = T^T tau_t(S, T v, T vdot + (dT/dt) v), so that with polynomials T and dT/dt change with q as well.
    """
    m, T = s.motion, s.T
    at = ca.mtimes(T, vdot) + s.convective_acceleration
    by_q, by_v, M = s.of_tree("inverse_dynamics_derivatives", vdot=at)
    (tau,) = s.of_tree("inverse_dynamics", vdot=at)
    dv_dq, da_dq, da_dv = _motion_derivatives(s, vdot)
    reduced_q = ca.mtimes(by_q, T) + ca.mtimes(by_v, dv_dq) + ca.mtimes(M, da_dq)
    reduced_v = ca.mtimes(by_v, T) + ca.mtimes(M, da_dv)
    return (
        ca.mtimes(T.T, reduced_q) + _force_derivative(s, m.T, tau),
        ca.mtimes(T.T, reduced_v),
        _symmetric(ca.mtimes([T.T, M, T])),
    )


def _motion_derivatives(s: CoupledQuestion, vdot: Any) -> tuple:
    """Return d(T v)/dq, d(T vdot + (dT/dt) v)/dq and d(T vdot + (dT/dt) v)/dv."""
    m = s.motion
    a = SX.sym("vdot", m.description.nv)
    carried = ca.mtimes(m.T, a) + m.convective_acceleration
    found = [
        m.by_displacement(ca.mtimes(m.T, m.v)),
        m.by_displacement(carried),
        ca.jacobian(carried, m.v),
    ]
    return tuple(s.of(x, a, vdot) for x in found)


def _force_derivative(s: CoupledQuestion, T: SX, tau: Any) -> Any:
    """Return d(T^T tau)/dq at constant tau."""
    held = SX.sym("tau", T.shape[0])
    return s.of(s.motion.by_displacement(ca.mtimes(T.T, held)), held, tau)


def inverse_dynamics_derivatives(s: CoupledQuestion) -> tuple:
    """Return d tau/d q, d tau/d v and M."""
    return _inverse_dynamics_derivatives(s, s["vdot"])


def derivatives(s: CoupledQuestion) -> tuple:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics."""
    inverse = s.inverse_mass()
    by_q, by_v, _ = _inverse_dynamics_derivatives(s, ca.mtimes(inverse, s["tau"] - s.bias()))
    return -ca.mtimes(inverse, by_q), -ca.mtimes(inverse, by_v), inverse


def state_space(s: CoupledQuestion) -> tuple:
    """Return A and B of small displacements and velocities."""
    by_q, by_v, inverse = derivatives(s)
    (turning,), kind, n = tangent_rate(s), type(s["q"]), s.motion.description.nv
    A = ca.vertcat(ca.horzcat(turning, kind(ca.DM.eye(n).full())), ca.horzcat(by_q, by_v))
    return A, ca.vertcat(kind(ca.DM.zeros(n, n)), inverse)


def inverse_dynamics_parameter_derivatives(s: CoupledQuestion) -> tuple:
    (tau,) = forces(dataclasses.replace(s, name="inverse_dynamics"))
    return (ca.jacobian(tau, s["p"]),)


def parameter_derivatives(s: CoupledQuestion) -> tuple:
    (vdot,) = forward_dynamics(dataclasses.replace(s, name="forward_dynamics"))
    (by_p,) = inverse_dynamics_parameter_derivatives(s)
    return (-ca.mtimes(s.inverse_mass(), ca.substitute(by_p, s["vdot"], vdot)),)


# constraints


def closed_dynamics(s: CoupledQuestion) -> tuple:
    """Return accelerations of the independent coordinates and multipliers of the constraints."""
    (g,), (rate,) = s.of_tree("constraint_residual"), s.of_tree("constraint_rate")
    (gamma,) = s.of_tree("constraint_acceleration", vdot=s.convective_acceleration)
    rows = Constraints(g, ca.sparsify(_constraint_jacobian(s)), rate, gamma)
    solution = constrained_forward.closed_dynamics(
        ConstraintProblem(_symmetric(ca.sparsify(s.mass())), s["tau"] - s.bias(), rows)
    )
    return solution.vdot, solution.multipliers


def _constraint_jacobian(s: CoupledQuestion) -> Any:
    return ca.mtimes(s.of_tree("constraint_jacobian")[0], s.T)


def constraint_forces(s: CoupledQuestion) -> tuple:
    """Return -G^T lambda and lambda."""
    _, multipliers = closed_dynamics(s)
    return -ca.mtimes(_constraint_jacobian(s).T, multipliers), multipliers


def constraint_derivatives(s: CoupledQuestion) -> tuple:
    """Return the derivatives of G^T lambda, G v + g_t and G vdot + gamma by the chain rule."""
    T, (G,) = s.T, s.of_tree("constraint_jacobian")
    force, rate, acceleration, acceleration_v = s.of_tree(s.name)
    dv_dq, da_dq, da_dv = _motion_derivatives(s, s["vdot"])
    return (
        ca.mtimes([T.T, force, T]) + _force_derivative(s, s.motion.T, ca.mtimes(G.T, s["multipliers"])),
        ca.mtimes(rate, T) + ca.mtimes(G, dv_dq),
        ca.mtimes(acceleration, T) + ca.mtimes(acceleration_v, dv_dq) + ca.mtimes(G, da_dq),
        ca.mtimes(acceleration_v, T) + ca.mtimes(G, da_dv),
    )
