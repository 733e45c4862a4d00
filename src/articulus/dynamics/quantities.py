"""Everything that can be asked of a mechanism, by name: which symbols go in, which expressions come out.

To add a quantity: one algorithm file, one row in `QUANTITIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics import energy, forward, inverse, kinematics, linearise, operators, reactions
from articulus.dynamics.external import External, taken_up
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passes import Inline, Rolled
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import Tree
from articulus.errors import InputError, did_you_mean
from articulus.mechanism import Description


@dataclass(frozen=True)
class Question:
    """The symbols that an expression may use."""

    tree: Tree
    symbols: dict[str, SX]
    frames: tuple[str, ...]
    external: External

    def __getitem__(self, name: str) -> SX:
        return self.symbols[name]


Answer = Callable[[Question], tuple[SX, ...]]


@dataclass(frozen=True)
class Quantity:
    """One quantity.

    Parameters
    ----------
    inputs, outputs : tuple of str
        Names; inputs are among q, v, vdot, tau.
    answer : callable
        From the symbols to one expression for each output.
    frames : int
        How many frame names the question needs.
    external : bool
        Whether wrenches on frames may be added.
    merge_fixed : bool
        Whether bodies behind fixed joints are one with their parent.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    answer: Answer
    frames: int = 0
    external: bool = False
    merge_fixed: bool = True


def forward_dynamics(s: Question) -> SX:
    """Return vdot that tau, friction, springs and external wrenches give."""
    tau = s["tau"] + passive_forces(s.tree, s["v"])
    return forward.forward_dynamics(Inline(s.tree), s["v"], tau, taken_up(s.tree, s.external))


def inverse_dynamics(s: Question, vdot: SX) -> SX:
    """Return what the actuators must give: friction and springs included, external wrenches taken off."""
    motion = inverse.newton_euler(Inline(s.tree), s["v"], vdot, force=taken_up(s.tree, s.external))
    return motion.tau - passive_forces(s.tree, s["v"])


def bias(s: Question) -> SX:
    """Return inverse dynamics at zero acceleration."""
    return inverse_dynamics(s, SX.zeros(s.tree.description.nv))


def gravity(s: Question) -> SX:
    """Return the joint forces that hold the mechanism at rest against gravity alone."""
    zero = SX.zeros(s.tree.description.nv)
    return inverse.newton_euler(Inline(s.tree), zero, zero).tau


def _inverse_mass_and_derivatives(s: Question) -> tuple[SX, ...]:
    """Return M^-1 and the derivatives of inverse dynamics at the acceleration that tau gives."""
    tree = s.tree
    inverse_mass = operators.mass_matrix_inverse(operators.factors(tree))
    vdot = ca.mtimes(inverse_mass, s["tau"] - bias(s))
    by_q, by_v, _ = linearise.inverse_dynamics_derivatives(tree, s["v"], vdot)
    return tuple(ca.cse([inverse_mass, by_q, by_v]))


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(
        ("q", "v", "vdot"),
        ("tau",),
        lambda s: (inverse_dynamics(s, s["vdot"]),),
        external=True,
    ),
    "forward_dynamics": Quantity(
        ("q", "v", "tau"),
        ("vdot",),
        lambda s: (forward_dynamics(s),),
        external=True,
    ),
    "mass_matrix": Quantity(("q",), ("M",), lambda s: (mass_matrix(s.tree),)),
    "bias": Quantity(("q", "v"), ("bias",), lambda s: (bias(s),)),
    "gravity": Quantity(("q",), ("gravity",), lambda s: (gravity(s),)),
    "energy": Quantity(
        ("q", "v"),
        ("kinetic", "potential"),
        lambda s: (energy.kinetic_energy(s.tree, s["v"]), energy.potential_energy(s.tree)),
    ),
    "momentum": Quantity(("q", "v"), ("momentum",), lambda s: (energy.momentum(s.tree, s["v"]),)),
    "centroidal_momentum": Quantity(
        ("q", "v"), ("momentum",), lambda s: (energy.centroidal_momentum(s.tree, s["v"]),)
    ),
    "centroidal_momentum_matrix": Quantity(
        ("q",), ("A",), lambda s: (energy.centroidal_momentum_matrix(s.tree),)
    ),
    "center_of_mass": Quantity(("q",), ("com",), lambda s: (energy.center_of_mass(s.tree),)),
    "pose": Quantity(("q",), ("pose",), lambda s: (kinematics.pose(s.tree, s.frames[0]),), frames=1),
    "velocity": Quantity(
        ("q", "v"), ("velocity",), lambda s: (kinematics.velocity(s.tree, s.frames[0], s["v"]),), frames=1
    ),
    "acceleration": Quantity(
        ("q", "v", "vdot"),
        ("acceleration",),
        lambda s: (kinematics.acceleration(s.tree, s.frames[0], s["v"], s["vdot"]),),
        frames=1,
    ),
    "jacobian": Quantity(("q",), ("J",), lambda s: (kinematics.jacobian(s.tree, s.frames[0]),), frames=1),
    "jacobian_rate": Quantity(
        ("q", "v"), ("Jdot",), lambda s: (kinematics.jacobian_rate(s.tree, s.frames[0], s["v"]),), frames=1
    ),
    "position_rate": Quantity(("q", "v"), ("qdot",), lambda s: (kinematics.position_rate(s.tree, s["v"]),)),
    "integrate_position": Quantity(
        ("q", "v"), ("q_next",), lambda s: (kinematics.integrate_position(s.tree, s["v"]),)
    ),
    "tangent_rate": Quantity(("v",), ("rate",), lambda s: (kinematics.tangent_rate(s.tree, s["v"]),)),
    "reactions": Quantity(
        ("q", "v", "vdot"),
        ("reactions",),
        lambda s: (reactions.reactions(s.tree, s["v"], s["vdot"], s.external),),
        external=True,
        merge_fixed=False,
    ),
    "mass_matrix_factors": Quantity(
        ("q",),
        ("L", "D", "L_inverse"),
        lambda s: (
            operators.lower_factor(operators.factors(s.tree)),
            operators.diagonal(operators.factors(s.tree)),
            operators.lower_factor_inverse(operators.factors(s.tree)),
        ),
    ),
    "mass_matrix_inverse": Quantity(
        ("q",), ("M_inverse",), lambda s: (operators.mass_matrix_inverse(operators.factors(s.tree)),)
    ),
    "solve_mass_matrix": Quantity(
        ("q", "tau"), ("vdot",), lambda s: (operators.solve_mass_matrix(operators.factors(s.tree), s["tau"]),)
    ),
    "operational_inertia": Quantity(
        ("q",), ("Lambda",), lambda s: (operators.operational_inertia(s.tree, *s.frames),), frames=2
    ),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "v", "vdot"),
        ("dtau_dq", "dtau_dv", "M"),
        lambda s: linearise.inverse_dynamics_derivatives(s.tree, s["v"], s["vdot"]),
    ),
    "inverse_mass_and_derivatives": Quantity(
        ("q", "v", "tau"), ("M_inverse", "dtau_dq", "dtau_dv"), _inverse_mass_and_derivatives
    ),
}


def function(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity of a mechanism as a CasADi function.

    Parameters
    ----------
    description : Description
    name : str
        Key of `QUANTITIES`, or "derivatives".
    frames : sequence of str
        Bodies or frames that the quantity is about.
    wrenches : sequence of str
        Bodies or frames on which an external wrench acts; each adds an input (6,).

    Returns
    -------
    casadi.Function
        Inputs in the order of the quantity, then `p` (named parameters, when the mechanism has any), then
        `wrench_<frame>`.
    """
    if name == "derivatives":
        return _derivatives(description)
    if name not in QUANTITIES:
        raise InputError(f"no quantity '{name}'; {did_you_mean(name, [*QUANTITIES, 'derivatives'])}")
    quantity = QUANTITIES[name]
    if len(frames) != quantity.frames:
        raise InputError(f"'{name}' is about {quantity.frames} frame(s), found {len(frames)}: {list(frames)}")
    if wrenches and not quantity.external:
        raise InputError(f"'{name}' takes no external wrenches")
    tree = Tree(description, merge_fixed=quantity.merge_fixed)
    external = {frame: SX.sym(f"wrench_{i}", 6) for i, frame in enumerate(wrenches)}
    symbols = {
        "q": tree.q,
        "v": tree.v,
        "vdot": SX.sym("vdot", description.nv),
        "tau": SX.sym("tau", description.nv),
    }
    for frame in (*frames, *wrenches):
        description.carrier(frame)
    outputs = quantity.answer(Question(tree, symbols, tuple(frames), external))
    parameters = {"p": tree.p} if description.parameters else {}
    inputs = {**{i: symbols[i] for i in quantity.inputs}, **parameters}
    inputs |= {f"wrench_{i}": wrench for i, wrench in enumerate(external.values())}
    return ca.Function(
        name, list(inputs.values()), [ca.densify(x) for x in outputs], list(inputs), list(quantity.outputs)
    )


def _rolled_forward(run: Rolled, s: dict[str, ca.MX], passive: ca.MX | None) -> ca.MX:
    tau = s["tau"] if passive is None else s["tau"] + passive
    return forward.forward_dynamics(run, s["v"], tau)


def _rolled_inverse(run: Rolled, s: dict[str, ca.MX], passive: ca.MX | None) -> ca.MX:
    tau = inverse.newton_euler(run, s["v"], s["vdot"]).tau
    return tau if passive is None else tau - passive


ROLLED: dict[str, Callable[[Rolled, dict[str, ca.MX], ca.MX | None], ca.MX]] = {
    "forward_dynamics": _rolled_forward,
    "inverse_dynamics": _rolled_inverse,
}
ROLL_FROM = 16
"""Nodes from which the recursions are called and not written out: measured, see the benchmarks page."""


def compilable(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity in the form that makes the best native code: like `function`, or a graph of calls.

    Long mechanisms get forward and inverse dynamics as calls of shared passes. Parameters and external wrenches
    keep the written-out form.
    """
    if name in ROLLED and not wrenches and not description.parameters:
        tree = Tree(description)
        if len(tree) >= ROLL_FROM:
            return _rolled(tree, name)
    return function(description, name, frames, wrenches)


def _rolled(tree: Tree, name: str) -> ca.Function:
    quantity = QUANTITIES[name]
    sizes = {"q": tree.description.nq}
    symbols = {n: ca.MX.sym(n, sizes.get(n, tree.description.nv)) for n in quantity.inputs}
    passive = passive_forces(tree, tree.v)
    if passive.is_zero():
        joint_forces = None
    else:
        joint_forces = ca.Function("passive", [tree.q, tree.v], [passive])(symbols["q"], symbols["v"])
    output = ROLLED[name](Rolled(tree, symbols["q"]), symbols, joint_forces)
    return ca.Function(name, list(symbols.values()), [output], list(symbols), list(quantity.outputs))


def _derivatives(description: Description) -> ca.Function:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics.

    The products are matrix nodes (MX), so that the kernel makes loops of them.
    """
    parts = function(description, "inverse_mass_and_derivatives")
    inputs = [ca.MX.sym(name, parts.size1_in(i)) for i, name in enumerate(parts.name_in())]
    inverse_mass, by_q, by_v = parts(*inputs)
    outputs = [-ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass]
    return ca.Function("derivatives", inputs, outputs, parts.name_in(), ["dvdot_dq", "dvdot_dv", "M_inverse"])
