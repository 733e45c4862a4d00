"""Quantities of long mechanisms as graphs of calls: the form that makes the best native code.

Only parameter-free mechanisms of rigid bodies without external wrenches take this way; all others, and short ones, are
written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
from casadi import MX, SX

from articulus.dynamics import forward, inverse, linearise, operators
from articulus.dynamics.passes import Rolled
from articulus.dynamics.passive import passive_forces, passive_rates
from articulus.dynamics.quantities import QUANTITIES, function
from articulus.dynamics.tree import Tree
from articulus.mechanism import Description
from articulus.mechanism.questions import plain_name

ROLL_FROM = {"forward_dynamics": 28, "inverse_dynamics": 16, "bias": 16, "gravity": 16, "derivatives": 10}
"""Nodes from which a quantity is called and not written out. Measured with 256-bit vectors: inverse dynamics runs faster
this way at 30 nodes, forward dynamics about as fast, and both compile several times faster."""


def compilable(
    description: Description, name: str, frames: Sequence[str] = (), wrenches: Sequence[str] = ()
) -> ca.Function:
    """Return a quantity in the form that makes the best native code: like `function`, or a graph of calls."""
    name = plain_name(name)
    simple = not (wrenches or description.parameters or description.flexible)
    if name in ROLL_FROM and simple:
        tree = Tree(description, regroup=True)
        if len(tree) >= ROLL_FROM[name]:
            return rolled(tree, name)
    return function(description, name, frames, wrenches)


def rolled(tree: Tree, name: str) -> ca.Function:
    """Return a quantity as a graph of calls."""
    quantity = QUANTITIES[name]
    sizes = {"q": tree.description.nq}
    symbols = {n: MX.sym(n, sizes.get(n, tree.description.nv)) for n in quantity.inputs}
    outputs = _ANSWERS[name](Rolled(tree, symbols["q"]), symbols)
    return ca.Function(name, list(symbols.values()), list(outputs), list(symbols), list(quantity.outputs))


def _passive(tree: Tree, s: dict[str, MX]) -> MX:
    """Return the friction and spring forces; a structural zero where there are none."""
    forces = passive_forces(tree, tree.v)
    if forces.is_zero():
        return MX(tree.description.nv, 1)
    return ca.Function("passive", [tree.q, tree.v], [ca.densify(forces)])(s["q"], s["v"])


def _forward(run: Rolled, s: dict[str, MX]) -> tuple[MX]:
    return (forward.forward_dynamics(run, s["v"], s["tau"] + _passive(run.tree, s)),)


def _inverse(run: Rolled, s: dict[str, MX]) -> tuple[MX]:
    return (inverse.newton_euler(run, s["v"], s["vdot"]).tau - _passive(run.tree, s),)


def _bias(run: Rolled, s: dict[str, MX]) -> tuple[MX]:
    zero = MX(ca.DM.zeros(run.tree.description.nv))
    return (inverse.newton_euler(run, s["v"], zero).tau - _passive(run.tree, s),)


def _gravity(run: Rolled, s: dict[str, MX]) -> tuple[MX]:
    zero = MX(ca.DM.zeros(run.tree.description.nv))
    return (inverse.newton_euler(run, zero, zero).tau,)


def _derivatives(run: Rolled, s: dict[str, MX]) -> tuple[MX, MX, MX]:
    tree, v = run.tree, s["v"]
    vdot, factors = forward.accelerations_and_factors(run, v, s["tau"] + _passive(tree, s))
    inverse_mass = _inverse_mass(tree)(*factors)
    columns = linearise.columns(run, v, vdot)
    by_q, by_v = _pairs(tree)(*columns.matrices(), v)
    return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass


def _inverse_mass(tree: Tree) -> ca.Function:
    nv = tree.description.nv
    S, K, D_inverse = SX.sym("S", 6, nv), SX.sym("K", 6, nv), SX.sym("D_inverse", nv)
    factors = operators.Factors.of_matrices(S, K, D_inverse, tree)
    return ca.Function("inverse_mass", [S, K, D_inverse], [operators.mass_matrix_inverse(factors)])


def _pairs(tree: Tree) -> ca.Function:
    nv, same = tree.description.nv, len(linearise.same_joint(tree))
    sizes = (6, 3, 6, 6, 6, 6, 6, 3)
    symbols = [SX.sym(f"c{k}", rows, nv) for k, rows in enumerate(sizes)] + [SX.sym("same", 3, same)]
    by_q, by_v, _ = linearise.pairs(tree, linearise.Columns(*symbols))
    position, rate = passive_rates(tree, tree.v)
    outputs = [ca.densify(by_q - ca.diag(position)), ca.densify(by_v - ca.diag(rate))]
    return ca.Function("pairs", [*symbols, tree.v], outputs)


_ANSWERS: dict[str, Callable[[Rolled, dict[str, MX]], tuple]] = {
    "forward_dynamics": _forward,
    "inverse_dynamics": _inverse,
    "bias": _bias,
    "gravity": _gravity,
    "derivatives": _derivatives,
}
