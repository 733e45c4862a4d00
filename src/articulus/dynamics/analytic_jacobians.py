"""Functions that know their own Jacobian: forward and inverse dynamics with the analytic derivatives of the recursion.

CasADi's own derivative of a recursion grows much faster with the number of joints than the recursive one; a function with the
Jacobian attached uses the latter wherever it is called on MX symbols, in ipopt for instance. Derivatives by coordinates follow from
those by displacements, the directions of the velocities: q' = E(q) v, and E has orthogonal columns of a constant length. Quaternions are
normalized first, so that lengths other than one, as an optimizer tries them, have a meaning and a derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism import Description

DERIVATIVES = {
    "forward_dynamics": ("derivatives", "parameter_derivatives"),
    "inverse_dynamics": ("inverse_dynamics_derivatives", "inverse_dynamics_parameter_derivatives"),
}
"""The quantities that hold the derivatives of a function: by displacement, velocity and force or acceleration; by parameters."""

Make = Callable[[str], ca.Function]


def with_jacobian(description: Description, name: str, make: Make) -> ca.Function:
    """Return forward or inverse dynamics as a function that carries its analytic Jacobian.

    Parameters
    ----------
    description : Description
    name : str
        Key of `DERIVATIVES`.
    make : callable
        Gives a quantity of this mechanism as a function, by its name.
    """
    plain = make(name)
    names, output = plain.name_in(), plain.name_out(0)
    symbols = [SX.sym(n, plain.size1_in(i)) for i, n in enumerate(names)]
    q, lengths = _normalized(description, symbols[0])
    at = [q, *symbols[1:]]
    by_displacement, by_v, by_force = make(DERIVATIVES[name][0])(*at)
    blocks = [ca.mtimes(by_displacement, _displacements(description, make, q, lengths)), by_v, by_force]
    if description.parameters:
        blocks.append(make(DERIVATIVES[name][1])(*at))
    nominal = SX.sym(f"out_{output}", plain.size1_out(0))
    jacobian = ca.Function(
        f"jac_{name}",
        [*symbols, nominal],
        blocks,
        [*names, f"out_{output}"],
        [f"jac_{output}_{n}" for n in names],
    )
    options: Any = {"custom_jacobian": jacobian, "jac_penalty": 0}
    return ca.Function(name, symbols, [plain(*at)], names, [output], options)


def _normalized(description: Description, q: SX) -> tuple[SX, SX]:
    """Return positions with quaternions of length one, and for every coordinate the length it was divided by."""
    out, lengths = SX(q), SX.ones(q.numel())
    for _, start in description.quaternions:
        part = slice(start, start + 4)
        lengths[part] = ca.norm_2(q[part])
        out[part] = q[part] / lengths[part]
    return out, lengths


def _displacements(description: Description, make: Make, q: SX, lengths: SX) -> SX:
    """Return what a change of the coordinates displaces the mechanism by, (nv, nq): the pseudo-inverse of E(q)."""
    x, v = SX.sym("x", description.nq), SX.sym("v", description.nv)
    more = [SX.sym("p", len(description.parameters))] if description.parameters else []
    rate = ca.Function("E", [x, *more], [ca.jacobian(make("position_rate")(x, v, *more), v)])
    squares = (np.array(rate(description.neutral, *(np.zeros(p.numel()) for p in more))) ** 2).sum(axis=0)
    E = rate(q, *(SX.zeros(p.numel()) for p in more))
    return ca.mtimes(ca.diag(ca.DM(1 / squares)), ca.mtimes(E.T, ca.diag(1 / lengths)))
