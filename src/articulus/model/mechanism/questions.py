"""Names of the questions whose answers constraints change."""

from __future__ import annotations

OPEN_AND_CLOSED = (
    "inverse_dynamics",
    "forward_dynamics",
    "gravity",
    "mass_matrix_inverse",
    "solve_mass_matrix",
    "operational_inertia",
    "derivatives",
    "inverse_dynamics_derivatives",
    "parameter_derivatives",
    "inverse_dynamics_parameter_derivatives",
)
"""The expressions under these names are those of the tree that is left when every loop is cut, which "tree_" before the
name says aloud; `Mechanism` answers the plain names for the closed mechanism."""

ONLY_OPEN = ("parameter_derivatives", "inverse_dynamics_parameter_derivatives")
"""Those of them that have no answer for a closed mechanism."""

TREE = "tree_"


def plain_name(name: str) -> str:
    """Return the name of a quantity without the "tree_" that it may have before it."""
    return name.removeprefix(TREE) if name.removeprefix(TREE) in OPEN_AND_CLOSED else name
