"""A cantilevered truss beam of eight bays."""

from __future__ import annotations

import math

from articulus.structure import EulerBernoulli, Section, Spring, Structure
from articulus.structure.element import Element

BAYS, BAY = 8, 1.0
OUTER, WALL = 0.025, 0.002
"""Radius and wall of the tubes [m], assumed."""
GROUND = (1e9, 1e9, 0.0, 0.0, 0.0, 1e7)
"""Stiffness of the supports [N/m, N m], assumed: about a hundred times that of a tube."""
ACTUATORS = (("2", "y"), ("18", "y"), ("9", "y"), ("9", "x"))
RATES, POSITIONS = ACTUATORS, (("9", "y"), ("9", "x"))


def truss54(beta: float = 1e-4) -> Structure:
    """Return a planar truss of 18 nodes with three degrees of freedom each, 54 in all: "1" to "9" below, "10" to "18" above.

    Four actuators and six sensors are where the paper has them: forces "u 2y", ..., rates "rate 2y", ... and positions
    "position 9y", "position 9x".

    Parameters
    ----------
    beta : float [s]
        Damping D = beta K, assumed.

    Source: Park 1993, second-order Kalman filtering, table 1. Geometry, material and damping are assumed: square bays of 1 m,
    one diagonal each, aluminium tubes of 50 mm x 2 mm that bend in the plane. The paper counts 54 degrees of freedom and fixes two nodes;
    here the root nodes "1" and "10" sit on stiff springs, so that all degrees of freedom stay.
    """
    positions = [(i * BAY, row * BAY, 0.0) for row in (0, 1) for i in range(BAYS + 1)]
    names = [str(i + 1) for i in range(len(positions))]
    top = BAYS + 1
    pairs = [(i + 1, i + 2) for i in range(BAYS)] + [(i + 1 + top, i + 2 + top) for i in range(BAYS)]
    pairs += [(i + 1, i + 1 + top) for i in range(top)] + [(i + 1, i + 2 + top) for i in range(BAYS)]
    section = tube(OUTER, WALL)
    parts: list[Element] = [EulerBernoulli(str(a), str(b), section) for a, b in pairs]
    parts += [Spring(root, None, GROUND) for root in ("1", str(1 + top))]
    out = Structure.assemble(positions, parts, names=names, plane="xy").with_rayleigh_damping(0.0, beta)
    return with_ports(out, ACTUATORS, RATES, POSITIONS)


def tube(outer: float, wall: float, E: float = 7e10, density: float = 2700.0) -> Section:
    """Return the section of a tube: outer radius and wall [m], modulus [Pa], density [kg/m^3]; no rotary inertia."""
    inner = outer - wall
    area, second = math.pi * (outer**2 - inner**2), math.pi * (outer**4 - inner**4) / 4
    return Section(density * area, E * area, E * second, E * second, 2 * E / 2.6 * second)


def with_ports(structure: Structure, actuators: tuple, rates: tuple, positions: tuple) -> Structure:
    """Return the structure with inputs "u <node><component>" and outputs "rate ..." and "position ..."."""
    for node, component in actuators:
        structure = structure.with_input(f"u {node}{component}", node, {component: 1.0})
    for node, component in rates:
        structure = structure.with_output(f"rate {node}{component}", node, {component: 1.0}, rate=True)
    for node, component in positions:
        structure = structure.with_output(f"position {node}{component}", node, {component: 1.0})
    return structure
