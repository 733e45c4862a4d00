"""A tetrahedron of bars on three bipods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.errors import InputError
from articulus.structure import Bar, Section, Structure

INCH, FOOT, POUND = 0.0254, 0.3048, 0.45359237
DENSITY = 0.1 * POUND / INCH**3
YOUNG = 2e4 * POUND * 9.80665 / INCH**2
NODES = np.array([
    (0, 0, 10.165), (-5, -2.887, 2), (5, -2.887, 2), (0, 5.7735, 2), (-6, -1.1547, 0), (-4, -4.6188, 0),
    (4, -4.6188, 0), (6, -1.1547, 0), (2, 5.7735, 0), (-2, 5.7735, 0),
]) * FOOT  # fmt: skip
MEMBERS = (
    (1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (2, 4), (2, 5), (2, 6), (3, 7), (3, 8), (4, 9), (4, 10),
)  # fmt: skip
LEGS = MEMBERS[6:]


def draper_tetrahedron(areas: float | Sequence[float] = 100 * INCH**2) -> Structure:
    """Return the DRAPER I structure: 12 bars, nodes "1" to "4" free, 12 degrees of freedom; actuators in the six legs.

    Inputs "leg7" to "leg12" are pulls of the legs [N], "force x" and "force y" act on the vertex [N]; outputs are the
    displacements "vertex x" and "vertex y" of node 1, the line of sight [m]. Damping is left to the user: the paper has
    C = 0.1 M + 0.001 K, and modal ratios of 0.001 omega, which is C = 0.002 K.

    Parameters
    ----------
    areas : float or twelve floats [m^2]
        Cross-sections; 100 in^2 if not given.

    Source: McLaren & Slater 1989, section 5 (density 0.1 lb/in^3, E = 20,000 psi, no mass but that of the bars). Coordinates
    are those of the well-known Draper model, in feet; they and the numbers of the members are inferred from the printed
    weights and responses.
    """
    sizes = np.asarray(areas, dtype=float)
    if sizes.shape not in ((), (len(MEMBERS),)) or not (sizes > 0).all():
        raise InputError(
            f"draper_tetrahedron: areas = {areas}; expected one positive number or {len(MEMBERS)} [m^2]"
        )
    parts = [
        Bar(str(a), str(b), Section(DENSITY * A, YOUNG * A))
        for (a, b), A in zip(MEMBERS, np.broadcast_to(sizes, len(MEMBERS)))
    ]
    names = [str(i + 1) for i in range(len(NODES))]
    out = Structure.assemble(NODES, parts, names=names, fixed={str(i): "all" for i in range(5, 11)})
    for number, (node, foot) in enumerate(LEGS, start=7):
        pull = NODES[foot - 1] - NODES[node - 1]
        pull = pull / np.linalg.norm(pull)
        out = out.with_input(f"leg{number}", str(node), dict(zip("xyz", pull)))
    for axis in "xy":
        out = out.with_input(f"force {axis}", "1", {axis: 1.0}).with_output(
            f"vertex {axis}", "1", {axis: 1.0}
        )
    return out
