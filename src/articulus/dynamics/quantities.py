"""Everything that can be asked of a mechanism, by name: which symbols go in, which expressions come out.

To add a quantity: one algorithm file, one row in `QUANTITIES`. A row holds all there is to know about the quantity: what it needs, what
couplings and constraints make of it, and its forms, written out and as a graph of calls for long mechanisms; `form` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics import (
    composite,
    constrained_forward,
    constraints,
    coriolis,
    energy,
    forward,
    inverse,
    inverse_derivatives,
    jacobians,
    kinematics,
    operators,
    reactions,
    regressor,
    rolled,
)
from articulus.dynamics import coupled as couplings
from articulus.dynamics.analytic_jacobians import DERIVATIVES, with_jacobian
from articulus.dynamics.external import External, applied_wrenches
from articulus.dynamics.flexible.derivatives import WrittenDerivatives
from articulus.dynamics.flexible.factors import mass_matrix_factors
from articulus.dynamics.loops import ConstraintProblem
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.mass_matrix import mass_matrix, mass_matrix_of_columns
from articulus.dynamics.passive import passive_forces, passive_rates
from articulus.dynamics.recursion import Inline, Rolled, Runner
from articulus.dynamics.tree import Tree, tree_of
from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.model.mechanism import Description


@dataclass(frozen=True)
class Question:
    """The symbols that an expression may use: SX, or MX with `calls`, which then runs the passes."""

    tree: Tree
    symbols: dict[str, Any]
    frames: tuple[str, ...]
    external: External
    calls: Rolled | None = None

    def __getitem__(self, name: str) -> Any:
        return self.symbols[name]

    @property
    def masses(self) -> Tree:
        """The tree for masses and forces; `tree` is that for positions and motions."""
        return self.tree.inertial

    @property
    def run(self) -> Runner:
        """What runs the passes of a recursion over the tree."""
        return self.calls or Inline(self.masses)

    @property
    def passive(self) -> Any:
        """Friction and spring forces, (nv,)."""
        return self.run.expression(passive_forces(self.tree, self.tree.v))

    def zero(self) -> Any:
        """Return zero velocities or accelerations, (nv,)."""
        return (SX if self.calls is None else MX)(ca.DM.zeros(self.tree.description.nv))


Answer = Callable[[Question], tuple]


@dataclass(frozen=True)
class Quantity:
    """One quantity.

    Parameters
    ----------
    inputs, outputs : tuple of str
        Names; inputs are among q, q_end, v, vdot, tau, t, multipliers.
    answer : callable
        From the symbols to one expression for each output.
    flexible : bool
        Whether the answer holds for mechanisms with flexible bodies; else they are refused.
    rolled : callable, optional
        The same by passes that may be called; often the same callable.
    roll_from : int
        Nodes from which native code is made of calls and not written out. Measured with 256-bit vectors: inverse dynamics
        runs faster this way at 30 nodes, forward dynamics about as fast, and both compile several times faster.
    roll_modes_from : int, optional
        Nodes, stations among them, from which native code of a mechanism with flexible bodies is made of calls; also from
        `roll_from` rigid nodes. None: it is written out. Measured as `roll_from`, on arms with three modes a link.
    recursive : callable, optional
        The same by a recursion with fewer operations in long mechanisms.
    recursive_from, recursive_modes_from : int
        The same two numbers for it.
    ranks : tuple of int
        Whether each output is a number (0), a vector (1) or a matrix (2).
    frames : int
        How many frame names the question needs.
    external : bool
        Whether wrenches on frames may be added.
    merge_fixed : bool
        Whether bodies behind fixed joints are one with their parent.
    regroup : bool
        Whether inertia that a hinge does not move may be counted with its parent: for joint forces and
        accelerations, not for what bodies do by themselves. Constraint rows know no inertia: they share the tree of the
        closed equations.
    inverts : bool
        Whether the mass matrix is inverted, so that every degree of freedom has to move inertia.
    kinematic : bool
        Whether no mass matrix has a part in it: it can be asked where that is indefinite.
    constraints : {"same", "closed", "open only"}
        What constraints make of it. "same": nothing, the answer holds for a closed mechanism too. "closed": the answer is that of the
        mechanism without constraints, and the method of `Mechanism` gives the numbers of the closed one. "open only": a closed
        mechanism has no such quantity.
    instead : str
        Quantity to ask of a closed mechanism in its place.
    coupled : callable, optional
        What coupled joints make of it, from a `CoupledQuestion`: mostly `same`, `forces` or `columns` of `dynamics.coupled`.
        Without one, mechanisms with coupled joints are refused.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    answer: Answer
    flexible: bool = False
    rolled: Answer | None = None
    roll_from: int = 0
    roll_modes_from: int | None = None
    recursive: Answer | None = None
    recursive_from: int = 0
    recursive_modes_from: int = 0
    ranks: tuple[int, ...] = (1,)
    frames: int = 0
    external: bool = False
    merge_fixed: bool = True
    regroup: bool = False
    inverts: bool = False
    kinematic: bool = False
    constraints: Literal["same", "closed", "open only"] = "same"
    instead: str = ""
    coupled: couplings.Answer | None = None

    def rolls(self, tree: Tree) -> bool:
        """Whether native code of a mechanism is made of calls."""
        return self.rolled is not None and self._is_long(tree, self.roll_from, self.roll_modes_from)

    def by_calls(self, tree: Tree) -> Answer | None:
        """Return the answer by calls for a mechanism; None where there is none."""
        recurses = self.recursive and self._is_long(tree, self.recursive_from, self.recursive_modes_from)
        return self.recursive if recurses else self.rolled

    def _is_long(self, tree: Tree, nodes: int, with_modes: int | None) -> bool:
        if not tree.flexible:
            return len(tree) >= nodes
        rigid = sum(not (station or modes) for station, modes in zip(tree.stations, tree.modes))
        return with_modes is not None and (rigid >= nodes or len(tree) >= with_modes)


COMPOSITE_UP_TO = 9
"""Degrees of freedom up to which the mass matrix is the shorter way to forward dynamics: 1431 operations against 1677 at seven
revolutes in general position, 2172 against 2284 at nine, 2590 against 2589 at ten."""


RECURSIVE_FROM = 18
"""Nodes from which `forward_derivatives` is the faster way to derivatives of forward dynamics; measured with 512-bit vectors,
microseconds per state, beside entries and products with M^-1: 1.46 against 1.31 at 14 nodes, 2.39 against 2.49 at 20, 4.0 against
5.8 at 30."""


RECURSIVE_MODES_FROM = 15
"""Nodes from which derivatives of a mechanism with flexible bodies are found by passes and elimination and not written out; measured
with 512-bit vectors and three modes a link, microseconds per state, beside entries written out and products with M^-1: 4.9 against 4.2
at 11 nodes, 6.3 against 6.4 at 13, 7.8 against 9.1 at 15. Stars of 13 nodes, with fewer pairs, are faster written out."""


def forward_dynamics(s: Question) -> tuple[SX]:
    """Return vdot that tau, friction, springs and external wrenches give, the shorter way."""
    if s.tree.description.nv > COMPOSITE_UP_TO or s.tree.flexible:
        return articulated_forward_dynamics(s)
    return (composite.solve_factored(s.tree, mass_matrix(s.tree), s["tau"] - bias(s)),)


def articulated_forward_dynamics(s: Question) -> tuple[Any]:
    """Return the same by articulated bodies."""
    tau = s["tau"] + s.passive
    return (forward.forward_dynamics(s.run, s["v"], tau, applied_wrenches(s.run, s.external)),)


def inverse_dynamics(s: Question, vdot: Any) -> Any:
    """Return what the actuators must give: friction and springs included, external wrenches taken off."""
    motion = inverse.newton_euler(s.run, s["v"], vdot, force=applied_wrenches(s.run, s.external))
    return motion.tau - s.passive


def bias(s: Question) -> Any:
    """Return inverse dynamics at zero acceleration."""
    return inverse_dynamics(s, s.zero())


def gravity(s: Question) -> Any:
    """Return the forces that hold the mechanism at rest against gravity alone; elastic forces do not count."""
    held = inverse.newton_euler(s.run, s.zero(), s.zero()).tau
    return held - s.run.expression(energy.elastic_forces(s.masses)) if s.tree.flexible else held


def inverse_dynamics_derivatives(s: Question, vdot: SX) -> tuple[SX, SX, SX]:
    """Return d tau/d q, d tau/d v and M, friction and springs included."""
    columns = inverse_derivatives.columns(Inline(s.masses), s["v"], vdot)
    by_q, by_v, M = inverse_derivatives.pairs(s.masses, columns)
    position, rate = passive_rates(s.tree, s["v"])
    return by_q - ca.diag(position), by_v - ca.diag(rate), M


def derivatives(s: Question) -> tuple[SX, SX, SX]:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics."""
    if s.tree.flexible:
        by_q, by_v, inverse_mass = WrittenDerivatives(s.masses, s["tau"]).inverse_dynamics()
        return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass
    inverse_mass = operators.mass_matrix_inverse(operators.factors(s.tree))
    vdot = ca.mtimes(inverse_mass, s["tau"] - bias(s))
    by_q, by_v, _ = inverse_dynamics_derivatives(s, vdot)
    return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass


def state_space(s: Question, found: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Return A and B of x' = A x + B tau for small displacements and velocities x, from the derivatives `found`.

    A = [[G, 1], [d vdot/d q, d vdot/d v]], B = [0; M^-1], with G of `kinematics.tangent_rate`.
    """
    by_q, by_v, inverse_mass = found
    kind: Any = SX if s.calls is None else MX
    turning = ca.densify(s.run.expression(kinematics.tangent_rate(s.tree, s.tree.v)))
    one = np.eye(s.tree.description.nv)
    zero, one = kind(ca.DM(0 * one)), kind(ca.DM(one))
    return ca.vertcat(ca.horzcat(turning, one), ca.horzcat(by_q, by_v)), ca.vertcat(zero, inverse_mass)


def inverse_dynamics_parameter_derivatives(s: Question, vdot: SX) -> SX:
    """Return d tau/d p, a column per named parameter: forward differentiation of the recursion."""
    return ca.jacobian(inverse_dynamics(s, vdot), s.tree.p)


def parameter_derivatives(s: Question) -> tuple[SX]:
    """Return d vdot/d p = -M^-1 d tau/d p, at the acceleration that the joint forces give."""
    (vdot,) = forward_dynamics(s)
    by_p = inverse_dynamics_parameter_derivatives(s, (at := SX.sym("vdot", vdot.numel())))
    by_p = ca.substitute(by_p, at, vdot)
    return (-ca.mtimes(mass_inverse(s), by_p),)


def rolled_parameter_derivatives(s: Question) -> tuple[MX]:
    """Return the same as a graph of calls; d tau/d p is written out, short since a parameter is in few bodies."""
    tree, at = s.tree, SX.sym("vdot", s.tree.description.nv)
    written = Question(tree, {"q": tree.q, "v": tree.v, "p": tree.p}, (), {})
    by_p = ca.densify(inverse_dynamics_parameter_derivatives(written, at))
    slopes = ca.Function("slopes", [tree.q, tree.v, tree.p, at], [by_p])
    vdot, inverse_mass = rolled.accelerations_and_inverse_mass(s)
    return (-ca.mtimes(inverse_mass, slopes(s["q"], s["v"], s["p"], vdot)),)


def innovations(s: Question) -> tuple[Any, Any, Any]:
    """Return the diagonalized velocities, the innovations of the forces, and D."""
    if not s.tree.flexible:
        return forward.innovations(s.run, s["v"], s["tau"])
    L, D, L_inverse = mass_factors(s)
    return ca.mtimes(L.T, s["v"]), ca.mtimes(L_inverse, s["tau"]), D


def constraint_rows(s: Question) -> constraints.Constraints:
    """Return all constraint rows at the state and time in question."""
    return constraints.constraints(s.tree, s["v"], s["t"])


def constraint_acceleration(s: Question) -> SX:
    """Return G vdot + gamma, what accelerations are off by."""
    rows = constraint_rows(s)
    return ca.mtimes(rows.G, s["vdot"]) + rows.gamma


def equations(s: Question) -> tuple[SX, SX]:
    """Return the mass matrix and the bias."""
    return mass_matrix(s.masses), bias(s)


def stored_energy(s: Question) -> SX:
    """Return kinetic and potential energy together [J]."""
    return energy.kinetic_energy(s.masses, s["v"]) + energy.potential_energy(s.tree)


def mass_factors(s: Question) -> tuple[SX, SX, SX]:
    """Return the factors L and D of M = L D L', and L^-1."""
    if s.tree.flexible:
        return mass_matrix_factors(mass_matrix(s.masses))
    factors = operators.factors(s.tree)
    return (
        operators.lower_factor(factors),
        operators.diagonal(factors),
        operators.lower_factor_inverse(factors),
    )


def mass_inverse(s: Question) -> SX:
    """Return M^-1."""
    if s.tree.flexible:
        return Factorization(mass_matrix(s.masses)).inverse()
    return operators.mass_matrix_inverse(operators.factors(s.tree))


def solve_mass(s: Question) -> Any:
    """Return M^-1 tau."""
    if s.tree.flexible:
        return Factorization(mass_matrix(s.masses)).solve(s["tau"])
    return forward.solve_mass_matrix(s.run, s["tau"])


def operational_inertia(s: Question) -> SX:
    """Return J_a M^-1 J_b', (6, 6)."""
    if not s.tree.flexible:
        return operators.operational_inertia(s.tree, *s.frames)
    J_a, J_b = (kinematics.jacobian(s.masses, frame) for frame in s.frames)
    return ca.mtimes(J_a, Factorization(mass_matrix(s.masses)).solve(ca.densify(J_b.T)))


def closed_dynamics(s: Question) -> tuple[SX, SX]:
    """Return vdot and multipliers that tau, friction, springs, external wrenches and constraints give."""
    M, opposing = equations(s)
    problem = ConstraintProblem(M, s["tau"] - opposing, constraint_rows(s))
    solution = constrained_forward.closed_dynamics(problem)
    return solution.vdot, solution.multipliers


def constraint_forces(s: Question) -> tuple[SX, SX]:
    """Return what the constraints add to the joint forces, -G' lambda, and the multipliers."""
    _, multipliers = closed_dynamics(s)
    return -ca.mtimes(constraint_rows(s).G.T, multipliers), multipliers


def closed_reactions(s: Question) -> SX:
    """Return the joint reactions with the constraints' wrenches on the bodies."""
    external = dict(s.external)
    for body, wrench in constraints.wrenches(s.tree, s["v"], s["t"], s["multipliers"]).items():
        external[body] = external.get(body, SX.zeros(6)) + wrench
    return reactions.reactions(s.run, s["v"], s["vdot"], external)


def local_jacobian(s: Question) -> tuple[SX]:
    """Return the Jacobian of a frame in its own axes."""
    R = s.tree.world_frame(s.frames[0]).R
    return (jacobians.in_axes(R, kinematics.jacobian(s.tree, s.frames[0])),)


def center_of_mass_jacobian(s: Question) -> tuple[SX]:
    """Return the Jacobian of the center of mass."""
    if s.tree.flexible:
        return (constraints.by_displacement(s.tree, energy.center_of_mass(s.tree)),)
    return (jacobians.center_of_mass_jacobian(s.tree),)


def coriolis_matrix(s: Question) -> tuple[SX]:
    """Return the Coriolis matrix."""
    if s.tree.flexible:
        return (coriolis.coriolis_matrix_of(s.tree, mass_matrix(s.masses), s["v"]),)
    return (coriolis.coriolis_matrix(s.run, s["v"]),)


def all_poses(s: Question) -> tuple[SX]:
    """Return the poses of all bodies, then of all frames, one below the other, (4 of each, 4)."""
    names = [b.name for b in s.tree.description.bodies] + [f.name for f in s.tree.description.frames]
    return (ca.vertcat(SX(0, 4), *(kinematics.pose(s.tree, name) for name in names)),)


def by_passes(inputs: tuple[str, ...], outputs: tuple[str, ...], answer: Answer, **others: Any) -> Quantity:
    """Return a quantity whose answer is passes alone, so that it is its own rolled form."""
    return Quantity(inputs, outputs, answer, rolled=answer, **others)


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": by_passes(
        ("q", "v", "vdot"),
        ("tau",),
        lambda s: (inverse_dynamics(s, s["vdot"]),),
        roll_from=16,
        roll_modes_from=27,
        external=True,
        regroup=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.forces,
    ),
    "forward_dynamics": Quantity(
        ("q", "v", "tau"),
        ("vdot",),
        forward_dynamics,
        rolled=articulated_forward_dynamics,
        roll_from=28,
        roll_modes_from=39,
        external=True,
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="closed",
        instead="closed_dynamics",
        coupled=couplings.forward_dynamics,
    ),
    "mass_matrix": Quantity(
        ("q",),
        ("M",),
        lambda s: (mass_matrix(s.masses),),
        ranks=(2,),
        regroup=True,
        flexible=True,
        rolled=lambda s: (mass_matrix_of_columns(s.run),),
        roll_from=70,
        roll_modes_from=23,
        coupled=couplings.mass_matrix,
    ),
    "bias": by_passes(
        ("q", "v"),
        ("bias",),
        lambda s: (bias(s),),
        roll_from=16,
        roll_modes_from=27,
        regroup=True,
        flexible=True,
        coupled=couplings.bias,
    ),
    "gravity": by_passes(
        ("q",),
        ("gravity",),
        lambda s: (gravity(s),),
        roll_from=16,
        roll_modes_from=27,
        regroup=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.forces,
    ),
    "energy": Quantity(
        ("q", "v"),
        ("kinetic", "potential"),
        lambda s: (energy.kinetic_energy(s.masses, s["v"]), energy.potential_energy(s.tree)),
        rolled=lambda s: energy.energy_by_passes(s.run, s["v"]),
        roll_from=16,
        ranks=(0, 0),
        flexible=True,
        coupled=couplings.same,
    ),
    "momentum": Quantity(
        ("q", "v"),
        ("momentum",),
        lambda s: (energy.momentum(s.masses, s["v"]),),
        rolled=lambda s: (energy.momentum_by_passes(s.run, s["v"]),),
        roll_from=16,
        flexible=True,
        coupled=couplings.same,
    ),
    "centroidal_momentum": Quantity(
        ("q", "v"),
        ("momentum",),
        lambda s: (energy.centroidal_momentum(s.masses, s["v"]),),
        flexible=True,
        coupled=couplings.same,
    ),
    "centroidal_momentum_matrix": Quantity(
        ("q",),
        ("A",),
        lambda s: (energy.centroidal_momentum_matrix(s.masses),),
        ranks=(2,),
        flexible=True,
        coupled=couplings.columns,
    ),
    "center_of_mass": Quantity(
        ("q",),
        ("com",),
        lambda s: (energy.center_of_mass(s.tree),),
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "pose": Quantity(
        ("q",),
        ("pose",),
        lambda s: (kinematics.pose(s.tree, s.frames[0]),),
        frames=1,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "all_poses": Quantity(
        ("q",),
        ("poses",),
        all_poses,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "velocity": Quantity(
        ("q", "v"),
        ("velocity",),
        lambda s: (kinematics.velocity(s.tree, s.frames[0], s["v"]),),
        frames=1,
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "acceleration": Quantity(
        ("q", "v", "vdot"),
        ("acceleration",),
        lambda s: (kinematics.acceleration(s.tree, s.frames[0], s["v"], s["vdot"]),),
        frames=1,
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "jacobian": Quantity(
        ("q",),
        ("J",),
        lambda s: (kinematics.jacobian(s.tree, s.frames[0]),),
        frames=1,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.columns,
    ),
    "jacobian_rate": Quantity(
        ("q", "v"),
        ("Jdot",),
        lambda s: (kinematics.jacobian_rate(s.tree, s.frames[0], s["v"]),),
        frames=1,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.jacobian_rate,
    ),
    "local_jacobian": Quantity(
        ("q",),
        ("J",),
        local_jacobian,
        frames=1,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.columns,
    ),
    "relative_jacobian": Quantity(
        ("q",),
        ("J",),
        lambda s: (jacobians.relative_jacobian(s.tree, *s.frames),),
        frames=2,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.columns,
    ),
    "center_of_mass_jacobian": Quantity(
        ("q",),
        ("J",),
        center_of_mass_jacobian,
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.columns,
    ),
    "velocity_transformation": Quantity(
        ("q",),
        ("Hbar",),
        lambda s: (jacobians.velocity_transformation(s.tree),),
        rolled=rolled.velocity_transformation,
        roll_from=28,
        ranks=(2,),
        kinematic=True,
        coupled=couplings.columns,
    ),
    "coriolis_matrix": Quantity(
        ("q", "v"),
        ("C",),
        coriolis_matrix,
        ranks=(2,),
        flexible=True,
        rolled=coriolis_matrix,
        roll_from=40,
        coupled=couplings.coriolis_matrix,
    ),
    "regressor": Quantity(
        ("q", "v", "vdot"),
        ("Y",),
        lambda s: (regressor.regressor(s.tree, s["v"], s["vdot"]),),
        rolled=lambda s: (regressor.regressor_of_columns(s.run, s["v"], s["vdot"]),),
        roll_from=28,
        ranks=(2,),
        coupled=couplings.forces,
    ),
    "position_rate": Quantity(
        ("q", "v"),
        ("qdot",),
        lambda s: (kinematics.position_rate(s.tree, s["v"]),),
        flexible=True,
        kinematic=True,
        coupled=couplings.positions,
    ),
    "integrate_position": Quantity(
        ("q", "v"),
        ("q_next",),
        lambda s: (kinematics.integrate_position(s.tree, s["v"]),),
        flexible=True,
        kinematic=True,
        coupled=couplings.positions,
    ),
    "position_difference": Quantity(
        ("q", "q_end"),
        ("step",),
        lambda s: (kinematics.position_difference(s.tree, s["q_end"]),),
        flexible=True,
        kinematic=True,
        coupled=couplings.position_difference,
    ),
    "tangent_rate": Quantity(
        ("v",),
        ("rate",),
        lambda s: (kinematics.tangent_rate(s.tree, s["v"]),),
        ranks=(2,),
        flexible=True,
        kinematic=True,
        coupled=couplings.tangent_rate,
    ),
    "reactions": by_passes(
        ("q", "v", "vdot"),
        ("reactions",),
        lambda s: (reactions.reactions(s.run, s["v"], s["vdot"], s.external),),
        roll_from=16,
        external=True,
        merge_fixed=False,
        ranks=(2,),
        flexible=True,
        coupled=couplings.same,
    ),
    "constraint_residual": Quantity(
        ("q", "t"),
        ("g",),
        lambda s: (constraint_rows(s).g,),
        regroup=True,
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "constraint_rate": Quantity(
        ("q", "v", "t"),
        ("rate",),
        lambda s: (constraint_rows(s).rate,),
        regroup=True,
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "constraint_acceleration": Quantity(
        ("q", "v", "vdot", "t"),
        ("acceleration",),
        lambda s: (constraint_acceleration(s),),
        regroup=True,
        flexible=True,
        kinematic=True,
        coupled=couplings.same,
    ),
    "constraint_jacobian": Quantity(
        ("q", "t"),
        ("G",),
        lambda s: (constraint_rows(s).G,),
        ranks=(2,),
        regroup=True,
        flexible=True,
        kinematic=True,
        coupled=couplings.columns,
    ),
    "closed_dynamics": Quantity(
        ("q", "v", "tau", "t"),
        ("vdot", "multipliers"),
        closed_dynamics,
        ranks=(1, 1),
        external=True,
        regroup=True,
        inverts=True,
        flexible=True,
        coupled=couplings.closed_dynamics,
    ),
    "constraint_forces": Quantity(
        ("q", "v", "tau", "t"),
        ("forces", "multipliers"),
        constraint_forces,
        ranks=(1, 1),
        external=True,
        regroup=True,
        inverts=True,
        flexible=True,
        coupled=couplings.constraint_forces,
    ),
    "closed_reactions": Quantity(
        ("q", "v", "vdot", "multipliers", "t"),
        ("reactions",),
        lambda s: (closed_reactions(s),),
        external=True,
        merge_fixed=False,
        ranks=(2,),
        flexible=True,
        coupled=couplings.same,
    ),
    "constraint_derivatives": Quantity(
        ("q", "v", "vdot", "multipliers", "t"),
        ("dforce_dq", "drate_dq", "dacceleration_dq", "dacceleration_dv"),
        lambda s: constrained_forward.constraint_derivatives(
            s.tree, constraint_rows(s), s["vdot"], s["multipliers"]
        ),
        ranks=(2, 2, 2, 2),
        flexible=True,
        coupled=couplings.constraint_derivatives,
    ),
    "mass_matrix_factors": Quantity(
        ("q",),
        ("L", "D", "L_inverse"),
        mass_factors,
        rolled=rolled.mass_matrix_factors,
        roll_from=40,
        ranks=(2, 1, 2),
        regroup=True,
        inverts=True,
        flexible=True,
        coupled=couplings.mass_matrix_factors,
    ),
    "mass_matrix_inverse": Quantity(
        ("q",),
        ("M_inverse",),
        lambda s: (mass_inverse(s),),
        rolled=rolled.mass_matrix_inverse,
        roll_from=50,
        roll_modes_from=17,
        ranks=(2,),
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.mass_matrix_inverse,
    ),
    "solve_mass_matrix": by_passes(
        ("q", "tau"),
        ("vdot",),
        lambda s: (solve_mass(s),),
        roll_from=16,
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.solve_mass_matrix,
    ),
    "innovations": by_passes(
        ("q", "v", "tau"),
        ("n", "e", "D"),
        innovations,
        roll_from=16,
        ranks=(1, 1, 1),
        regroup=True,
        inverts=True,
        flexible=True,
        coupled=couplings.innovations,
    ),
    "operational_inertia": Quantity(
        ("q",),
        ("Lambda",),
        lambda s: (operational_inertia(s),),
        rolled=rolled.operational_inertia,
        roll_from=40,
        frames=2,
        ranks=(2,),
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.operational_inertia,
    ),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "v", "vdot"),
        ("dtau_dq", "dtau_dv", "M"),
        lambda s: inverse_dynamics_derivatives(s, s["vdot"]),
        rolled=lambda s: rolled.inverse_dynamics_derivatives(s, s["vdot"]),
        roll_from=60,
        roll_modes_from=23,
        ranks=(2, 2, 2),
        regroup=True,
        flexible=True,
        constraints="open only",
        instead="derivatives",
        coupled=couplings.inverse_dynamics_derivatives,
    ),
    "inverse_dynamics_parameter_derivatives": Quantity(
        ("q", "v", "vdot"),
        ("dtau_dp",),
        lambda s: (inverse_dynamics_parameter_derivatives(s, s["vdot"]),),
        ranks=(2,),
        regroup=True,
        flexible=True,
        constraints="open only",
        coupled=couplings.inverse_dynamics_parameter_derivatives,
    ),
    "parameter_derivatives": Quantity(
        ("q", "v", "tau"),
        ("dvdot_dp",),
        parameter_derivatives,
        rolled=rolled_parameter_derivatives,
        roll_from=32,
        ranks=(2,),
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="open only",
        coupled=couplings.parameter_derivatives,
    ),
    "derivatives": Quantity(
        ("q", "v", "tau"),
        ("dvdot_dq", "dvdot_dv", "M_inverse"),
        derivatives,
        rolled=rolled.derivatives,
        roll_from=10,
        roll_modes_from=0,
        recursive=rolled.derivatives_by_recursion,
        recursive_from=RECURSIVE_FROM,
        recursive_modes_from=RECURSIVE_MODES_FROM,
        ranks=(2, 2, 2),
        regroup=True,
        inverts=True,
        flexible=True,
        constraints="closed",
        coupled=couplings.derivatives,
    ),
    "state_space": Quantity(
        ("q", "v", "tau"),
        ("A", "B"),
        lambda s: state_space(s, derivatives(s)),
        rolled=lambda s: state_space(s, rolled.derivatives(s)),
        roll_from=10,
        roll_modes_from=0,
        recursive=lambda s: state_space(s, rolled.derivatives_by_recursion(s)),
        recursive_from=RECURSIVE_FROM,
        recursive_modes_from=RECURSIVE_MODES_FROM,
        ranks=(2, 2),
        regroup=True,
        inverts=True,
        flexible=True,
        coupled=couplings.state_space,
    ),
}


def function(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity of a mechanism as a CasADi function, written out on SX symbols.

    Parameters
    ----------
    description : Description
    name : str
        Key of `QUANTITIES`. Where constraints change the quantity, the function is that of the mechanism without them.
    frames : sequence of str
        Bodies or frames that the quantity is about.
    wrenches : sequence of str
        Bodies or frames on which an external wrench acts; each adds an input (6,).

    Returns
    -------
    casadi.Function
        Inputs in the order of the quantity, then `p` (named parameters, when the mechanism has any), then
        `wrench_0`, `wrench_1`, ... in the order of `wrenches`.
    """
    tree = _tree_for(description, name, frames, wrenches)
    if description.couplings:
        return _coupled_quantity(description, name, frames, wrenches, calls=False)
    return form(tree, name, frames, wrenches)


def differentiable(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity like `function`; forward and inverse dynamics without wrenches carry their analytic Jacobian."""
    if name not in DERIVATIVES or wrenches or description.nv == 0:
        return function(description, name, frames, wrenches)
    return with_jacobian(description, name, lambda asked: compilable(description, asked))


def compilable(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity in the form that makes the best native code: like `function`, or a graph of calls."""
    tree = _tree_for(description, name, frames, wrenches)
    quantity = QUANTITIES[name]
    calls = quantity.rolls(tree)
    if description.couplings:
        return _coupled_quantity(description, name, frames, wrenches, calls)
    return form(tree, name, frames, wrenches, calls=calls)


def form(
    tree: Tree, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = (), calls: bool = False
) -> ca.Function:
    """Return one form of a quantity: written out, or with `calls` as a graph of calls."""
    quantity, description = QUANTITIES[name], tree.description
    kind: Any = MX if calls else SX
    symbols = _symbols(description, kind)
    if not calls:
        symbols |= {"q": tree.q, "v": tree.v, "p": tree.p}
    external = {frame: kind.sym(f"wrench_{i}", 6) for i, frame in enumerate(wrenches)}
    inputs = _inputs(name, description, symbols)
    answer = quantity.by_calls(tree) if calls else quantity.answer
    assert answer is not None
    run = Rolled(tree.inertial, inputs) if calls else None
    outputs = answer(Question(tree, symbols, tuple(frames), external, run))
    return _function(name, inputs, external, outputs)


INPUTS = ("q", "q_end", "v", "vdot", "tau", "t", "multipliers")


def _symbols(description: Description, kind: Any) -> dict[str, Any]:
    """Return a symbol for everything that goes into quantities, but the wrenches."""
    rows = len(description.constraint_rows)
    sizes = {"q": description.nq, "q_end": description.nq, "t": 1, "multipliers": rows}
    symbols = {n: kind.sym(n, sizes.get(n, description.nv)) for n in INPUTS}
    return symbols | {"p": kind.sym("p", len(description.parameters))}


def _inputs(name: str, description: Description, symbols: dict[str, Any]) -> dict[str, Any]:
    """Return the symbols that go into one quantity."""
    return {n: symbols[n] for n in (*QUANTITIES[name].inputs, *(["p"] if description.parameters else []))}


def _function(
    name: str, inputs: dict[str, Any], external: dict[str, Any], outputs: Sequence[Any]
) -> ca.Function:
    """Return the function of a quantity; the wrenches are its last inputs."""
    inputs = inputs | {f"wrench_{i}": wrench for i, wrench in enumerate(external.values())}
    dense = [ca.densify(x) for x in outputs]
    return ca.Function(name, list(inputs.values()), dense, list(inputs), list(QUANTITIES[name].outputs))


def _coupled_quantity(
    description: Description, name: str, frames: Sequence[str], wrenches: Sequence[str], calls: bool
) -> ca.Function:
    """Return a quantity of a mechanism with coupled joints, from those of its tree."""
    answer = QUANTITIES[name].coupled
    if answer is None:
        raise UnsupportedOperation(f"'{name}' of a mechanism with coupled joints: it has no form for them")
    kind: Any = MX if calls else SX
    make = compilable if calls else function

    def of_tree(asked: str, frames: tuple[str, ...]) -> ca.Function:
        acting = wrenches if QUANTITIES[asked].external else ()
        return make(description.uncoupled, asked, frames, acting)

    symbols = _symbols(description, kind)
    external = {frame: kind.sym(f"wrench_{i}", 6) for i, frame in enumerate(wrenches)}
    motion = couplings.Coupled(description)
    outputs = answer(couplings.CoupledQuestion(name, motion, symbols, tuple(frames), external, of_tree))
    return _function(name, _inputs(name, description, symbols), external, outputs)


def _tree_for(description: Description, name: str, frames: Sequence[str], wrenches: Sequence[str]) -> Tree:
    """Return the tree that answers a question, once the question has been found to make sense."""
    if name not in QUANTITIES:
        raise InputError(f"no quantity '{name}'; {did_you_mean(name, QUANTITIES)}")
    quantity = QUANTITIES[name]
    if len(frames) != quantity.frames:
        raise InputError(f"'{name}' is about {quantity.frames} frame(s), found {len(frames)}: {list(frames)}")
    if wrenches and not quantity.external:
        raise InputError(f"'{name}' takes no external wrenches")
    modal = any(b.modes is not None and b.modes.count for b in description.bodies)
    if modal and not quantity.flexible:
        raise UnsupportedOperation(f"'{name}' of a mechanism with flexible bodies: it has no form for them")
    for frame in (*frames, *wrenches):
        description.carrier(frame)
    if quantity.inverts:
        description.require_inertia(name)
    return tree_of(description, quantity.merge_fixed, quantity.regroup)
