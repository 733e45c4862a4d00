"""Forces that act in the joints themselves: viscous and dry friction, linear springs."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.integrals import sparse
from articulus.dynamics.tree import Tree


@dataclass(frozen=True)
class PassiveCoefficients:
    """Friction and spring coefficients, one value per degree of freedom."""

    damping: SX
    coulomb: SX
    coulomb_speed: SX
    stiffness: SX
    stretch: SX
    """Position minus rest position where there is a spring."""


def coefficients(tree: Tree) -> PassiveCoefficients:
    """Return the friction and spring coefficients of every degree of freedom."""
    rows = []
    for c in tree.description.connections:
        columns = [c.per_dof(name) for name in ("damping", "coulomb", "stiffness", "rest")]
        q0 = tree.description.q_slices[c.name].start
        for k, (damping, coulomb, stiffness, rest) in enumerate(zip(*columns)):
            stretch = tree.q[q0 + k] - tree.number(rest) if c.joint.nq == c.joint.nv else SX(0)
            symbols = map(tree.number, (damping, coulomb, c.coulomb_speed, stiffness))
            rows.append(ca.horzcat(*symbols, stretch))
        modes, _ = tree.description.mode_slices(c.child)
        rows += [SX([[0, 0, 1, 0, 0]])] * (modes.stop - modes.start)
    table = ca.vertcat(SX(0, 5), *rows)
    return PassiveCoefficients(*(table[:, j] for j in range(5)))


def passive_forces(tree: Tree, v: SX) -> SX:
    """Return -damping v - coulomb v / sqrt(v^2 + s^2) - stiffness (q - rest), (nv,) [N m or N]."""
    c = coefficients(tree)
    return -_friction(c, v) - c.stiffness * c.stretch


def dissipated_power(tree: Tree, v: SX) -> SX:
    """Return the power that friction in the joints and damping of the modes take out of the mechanism [W]."""
    power = ca.dot(_friction(coefficients(tree), v), v)
    for body, data in tree.data.items():
        rates = v[tree.description.mode_slices(body)[0], :]
        power = power + ca.dot(rates, ca.mtimes(sparse(data.array("damping")), rates))
    return power


def _friction(c: PassiveCoefficients, v: SX) -> SX:
    """Return damping v + coulomb v / sqrt(v^2 + s^2), (nv,) [N m or N]: what resists the motion v."""
    return c.damping * v + c.coulomb * v / ca.sqrt(v**2 + c.coulomb_speed**2)


def spring_energy(tree: Tree) -> SX:
    """Return the energy stored in the joint springs [J]."""
    c = coefficients(tree)
    return 0.5 * ca.dot(c.stiffness, c.stretch**2)


def passive_rates(tree: Tree, v: SX) -> tuple[SX, SX]:
    """Return the derivatives of the passive forces by q and by v, both diagonal, as (nv,) vectors."""
    c = coefficients(tree)
    root = ca.sqrt(v**2 + c.coulomb_speed**2)
    return -c.stiffness, -c.damping - c.coulomb * c.coulomb_speed**2 / root**3
