"""Every form of closed loops in which a run can be made, by name.

To add a form: its function from `Given` to `Solved`, one row in `FORMS`; tests and documentation go by that list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.kinematics import position_rate
from articulus.dynamics.loops.absolute import absolute as absolute_equations
from articulus.dynamics.loops.augmented import augmented, augmented_solve
from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution, suggested_penalty
from articulus.dynamics.loops.canonical import Canonical, CanonicalSymbols, canonical
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.loops.lagrange import lagrange
from articulus.dynamics.loops.operator_form import by_secondary, mobility, operator_form
from articulus.dynamics.loops.park import penalty_multipliers
from articulus.dynamics.loops.penalty import generic_penalty
from articulus.dynamics.loops.pivoted import independent
from articulus.dynamics.loops.regularized import regularized_dynamics
from articulus.dynamics.tree import Tree
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import GROUND, Description, Free

AUTO = "auto"
"""The default form, or `SMOOTH` where a run needs it; see `Specification.runner`."""
DEFAULT = "regularized"
SMOOTH = "lagrange"
"""For adaptive methods on over-constrained loops. Their stages lie off the constraints by some d, where rows that are redundant on
them contradict each other by d: a compliance 1 / a lets accelerations be wrong by a d^2 of themselves, rows that are omitted by nothing."""
FREQUENCY = 20.0
"""Natural frequency with which forms without projection take violations back, critically damped [rad/s]."""
PRIMAL = 1e6
"""Penalty number of the forms that add G' a G to the masses; rounding grows with it (`suggested_penalty`)."""
DUAL = 1e10
"""Penalty number of the forms that put 1 / a on G M^-1 G'. Every iteration divides the error by about as much over the
condition number of the constraints; multipliers of redundant rows are rounded to about this times 1e-16."""
ITERATIONS = 3
"""Of the default form, as in `dynamics.closed`. With one, RK4 meets the error of the accelerations, 1e-8, at 1e-3 s."""
STIFFNESS = 1e10
"""Stiffness over mass of Park's penalty [1/s^2]: rows are violated by about their acceleration over it."""
WIDEST = 2_000
"""Rows times velocities times rank up to which independent velocities are chosen anew at every evaluation: about 60
operations for each in a step of RK4."""


@dataclass(frozen=True)
class Given:
    """What a form starts from.

    Parameters
    ----------
    tree : Tree or Coupled
        On whose symbols q, v, p everything is written; forms that go along the joints refuse coupled ones.
    problem : Problem
        M, f and the constraint rows; rows that are switched off are zero.
    tau : SX, (nv,)
        Joint forces and, in the directions of the joints, external wrenches.
    mass : SX, (m,)
        That each row feels at one position.
    on : SX, (m,)
        1 for every row that holds, 0 for the others.
    t, h : SX [s]
        Time, and the step of the run.
    own : SX
        The form's own states.
    """

    tree: Any
    problem: ConstraintProblem
    tau: SX
    mass: SX
    on: SX
    t: SX
    h: SX
    own: SX


@dataclass(frozen=True)
class Solved:
    """Accelerations, multipliers, and rates of the form's own states."""

    vdot: SX
    multipliers: SX
    own_rate: SX


@dataclass(frozen=True)
class LoopForm:
    """One form.

    Parameters
    ----------
    name : str
    what : str
        In a few words.
    source : str
    solve : callable
        Given -> Solved.
    back : "projection", "dependent" or None
        How a step returns to the constraints: by the least change in the measure of the masses, by the dependent
        coordinates alone, or not at all.
    own : str
        Name of the form's own states; empty without.
    size : callable
        (nv, m) -> number of own states.
    begin : callable, optional
        Given -> own states at the start, from q and v.
    velocity : callable, optional
        Given -> v, where velocities follow from own states.
    refusal : callable
        Mechanism -> why the form cannot serve it; empty when it can.
    methods : tuple of str
        Methods of integration that it is for; all that leave accelerations to the form if empty.
    switches : bool
        Whether constraints may be switched on and off.
    regular : callable, optional
        Given -> a matrix, one row for each constraint row, that has to be regular at the start.
    """

    name: str
    what: str
    source: str
    solve: Callable[[Given], Solved]
    back: Literal["projection", "dependent"] | None = "projection"
    own: str = ""
    size: Callable[[int, int], int] = lambda nv, m: 0
    begin: Callable[[Given], SX] | None = None
    velocity: Callable[[Given], SX] | None = None
    refusal: Callable[[Description], str] = lambda description: ""
    methods: tuple[str, ...] = ()
    switches: bool = True
    regular: Callable[[Given], SX] | None = None


def form(name: str) -> LoopForm:
    """Return the form of a name, such as "regularized"; of "auto" the default one."""
    by_name = {f.name: f for f in FORMS}
    by_name[AUTO] = by_name[DEFAULT]
    if name not in by_name:
        raise InputError(f"loops: no form '{name}'; {did_you_mean(str(name), by_name)}")
    return by_name[name]


# the forms, each from Given to Solved


def _alone(solution: ConstraintSolution) -> Solved:
    return Solved(solution.vdot, solution.multipliers, SX(0, 1))


def _regularized_form(s: Given) -> Solved:
    return _alone(regularized_dynamics(s.problem, DUAL * s.mass, iterations=ITERATIONS))


def _augmented(s: Given) -> Solved:
    return _alone(augmented(s.problem, PRIMAL * s.mass, iterations=3))


def _penalty(s: Given) -> Solved:
    return _alone(generic_penalty(s.problem, PRIMAL * s.mass, FREQUENCY))


def _baumgarte(s: Given) -> Solved:
    return _alone(lagrange(s.problem, FREQUENCY))


def _lagrange(s: Given) -> Solved:
    return _alone(lagrange(s.problem))


def _independent(s: Given) -> Solved:
    return _alone(independent(s.problem))


def _operator(s: Given) -> Solved:
    return _alone(operator_form(s.tree, s.problem.f, s.problem.constraints))


def _absolute(s: Given) -> Solved:
    """Return V' of all bodies under the rows of all joints, brought back to joint accelerations by B."""
    m = s.on.numel()
    tree = Tree(s.tree.description)
    symbols = [tree.q, tree.v, SX.sym("tau", tree.v.numel()), SX.sym("t"), tree.p, SX.sym("on", m)]
    whole = absolute_equations(tree, tree.v, symbols[2], symbols[3])
    on = ca.vertcat(SX.ones(whole.tree_rows), symbols[5])
    c, M = whole.problem.constraints, whole.problem.M
    D = ca.mtimes(ca.diag(on), c.G)
    penalty = _absolute_penalties(tree, symbols[3], M, c.G)
    found = augmented_solve(M, D, whole.problem.f, on * c.gamma, penalty, iterations=4)
    B = whole.B
    vdot = Factorization(ca.mtimes(B.T, B)).solve(ca.mtimes(B.T, found.vdot - whole.carried))
    out = [ca.densify(vdot), ca.densify(found.multipliers[whole.tree_rows :])]
    vdot, multipliers = ca.Function("absolute", symbols, out)(s.tree.q, s.tree.v, s.tau, s.t, s.tree.p, s.on)
    return _alone(ConstraintSolution(vdot, multipliers))


def _absolute_penalties(tree: Tree, t: SX, M: SX, D: SX) -> SX:
    """Return a penalty for every row; a body without mass inside a joint counts as the lightest with."""
    at = ca.Function("at", [tree.q, t, tree.p], [M, D])
    d = tree.description
    masses, rows = (np.array(x) for x in at(d.neutral, 0.0, [p.value for p in d.parameters]))
    own = np.diag(masses)
    return SX(suggested_penalty(np.diag(np.where(own > 0, own, own[own > 0].min())), rows, PRIMAL))


def _momenta(s: Given) -> tuple[Canonical, SX, SX]:
    """Return the rates of ALF2 with its momenta and integrals."""
    n = s.tree.v.numel()
    p, integral = s.own[:n], s.own[n:]
    at = CanonicalSymbols(s.tree.q, s.tree.v, s.t, position_rate(s.tree, s.tree.v))
    found = canonical(
        s.problem, at, p, integral, DUAL * s.mass, FREQUENCY, iterations=2,
        holonomic=s.tree.description.holonomic_rows.tolist(),
    )  # fmt: skip
    return found, p, integral


def _canonical(s: Given) -> Solved:
    """Return the rates of momenta and integrals; accelerations and multipliers as time derivatives of v and impulses."""
    found, p, integral = _momenta(s)
    rate = ca.vertcat(found.pdot, found.integral_rate)
    along = ca.vertcat(s.tree.q, p, integral, s.t), ca.vertcat(found.qdot, rate, 1)
    vdot, multipliers = (ca.jtimes(x, *along) for x in (found.v, found.sigma))
    return Solved(vdot, multipliers, rate)


def _canonical_begin(s: Given) -> SX:
    """Return M v, with no impulse yet."""
    return ca.vertcat(ca.mtimes(s.problem.M, s.tree.v), SX.zeros(s.on.numel()))


def _canonical_velocity(s: Given) -> SX:
    return _momenta(s)[0].v


def _park(s: Given) -> Solved:
    """Return Park's half step from the present state: the rows' rate at its middle is that with G vdot + gamma."""
    M, f, c = s.problem.M, s.problem.f, s.problem.constraints
    mass, d = Factorization(M), s.h / 2
    inverse = mass.solve(SX.eye(M.shape[0]))
    soft = 1 / (STIFFNESS * s.mass)
    found = penalty_multipliers(inverse, c.G, mass.solve(f), c.rate + d * c.gamma, s.own, soft, s.h)
    return Solved(found.vdot, found.multipliers, (found.multipliers - s.own) / d)


def _park_begin(s: Given) -> SX:
    return regularized_dynamics(s.problem, DUAL * s.mass, iterations=2).multipliers


def _multiple_chains(s: Given) -> Solved:
    held = _grasped_bodies(s.tree.description)
    return _alone(by_secondary(s.tree, s.problem.f, s.problem.constraints, held))


def _grasped_bodies(description: Description) -> list[str]:
    """Return the bodies that fly, with what is attached to them: what chains hold."""
    return [c.child for c in description.connections if isinstance(c.joint, Free) and c.parent == GROUND]


def _mobility_of_chains(s: Given) -> SX:
    return mobility(s.tree, s.problem.constraints, _grasped_bodies(s.tree.description))


# which mechanisms they are for


def _not_flexible(description: Description) -> str:
    return "is for rigid bodies; found flexible ones" if description.flexible else ""


def _not_coupled(description: Description) -> str:
    """Return why a form that goes along the joints of the tree cannot serve a mechanism with couplings."""
    if description.couplings:
        return f"goes along the tree joint by joint; found joint '{description.couplings[0].joint}' coupled to others"
    return _not_flexible(description)


def _not_wide(description: Description) -> str:
    m, n = len(description.holonomic_rows), description.nv
    if m * n * min(m, n) <= WIDEST:
        return ""
    return (
        f"chooses its independent velocities anew at every evaluation, which is too much for {m} rows on {n} velocities; "
        f"expected rows times velocities times rank of at most {WIDEST}"
    )


def _no_rotors(description: Description) -> str:
    for c in description.connections:
        if c.rotor is not None or any(c.per_dof("armature")):
            return f"has no place for armature or a rotor, which belong to no body; found one at joint '{c.name}'"
    return _not_coupled(description)


def _chains_and_member(description: Description) -> str:
    if not _grasped_bodies(description):
        return "is for chains that hold a body; found none on a free joint to the ground"
    return _not_coupled(description)


FORMS = (
    LoopForm(
        DEFAULT,
        "multipliers with a compliance on every row, iterated",
        "Bayo & Avello 1994, equations 26 and 27, transformed",
        _regularized_form,
    ),
    LoopForm("augmented", "augmented Lagrangian ALF1", "Bayo & Avello 1994, equations 26 and 27", _augmented),
    LoopForm(
        "canonical",
        "augmented Lagrangian of momenta, ALF2",
        "Bayo & Avello 1994, equations 32 to 41",
        _canonical,
        back=None,
        own="momenta",
        size=lambda nv, m: nv + m,
        begin=_canonical_begin,
        velocity=_canonical_velocity,
    ),
    LoopForm("penalty", "generic penalty", "Bayo & Avello 1994, equation 23", _penalty, back=None),
    LoopForm(
        "lagrange",
        "multipliers of rows that are independent, the others left out",
        "Nikravesh, Gim, Arabyan & Rein 1989, equations 11 to 14",
        _lagrange,
    ),
    LoopForm(
        "null_space",
        "a basis of the motions that the rows allow",
        "Nikravesh, Gim, Arabyan & Rein 1989, equations 16 to 25",
        _independent,
        refusal=_not_wide,
    ),
    LoopForm(
        "minimal",
        "independent coordinates; the dependent ones follow",
        "Wehage & Haug 1982; Nikravesh, Gim, Arabyan & Rein 1989, equations 16 to 26",
        _independent,
        back="dependent",
        refusal=_not_wide,
    ),
    LoopForm(
        "operator",
        "spatial operators, the mass matrix is never formed",
        "Rodriguez, Jain & Kreutz 1989, equations 3.9 to 3.13",
        _operator,
        refusal=_not_coupled,
    ),
    LoopForm(
        "absolute",
        "every body by itself, every joint a constraint",
        "Nikravesh, Gim, Arabyan & Rein 1989, equations 1 to 7",
        _absolute,
        refusal=_no_rotors,
    ),
    LoopForm(
        "baumgarte",
        "multipliers with Baumgarte's terms",
        "Nikravesh, Gim, Arabyan & Rein 1989, equations 11 to 14",
        _baumgarte,
        back=None,
    ),
    LoopForm(
        "park",
        "stabilized penalty with multipliers as states",
        "Park 1993, equations 9.11 to 9.15",
        _park,
        back=None,
        own="multipliers",
        size=lambda nv, m: m,
        begin=_park_begin,
        methods=("rk4", "lie_rk4"),
    ),
    LoopForm(
        "multiple_chains",
        "closure forces eliminated chain by chain, a solve of the size of what they hold",
        "Lilly & Orin 1989, equations 8 to 12; Rodriguez, Jain & Kreutz 1989, section 3",
        _multiple_chains,
        refusal=_chains_and_member,
        switches=False,
        regular=_mobility_of_chains,
    ),
)
"""All forms; the first is the default."""
