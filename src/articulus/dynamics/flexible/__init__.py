"""Trees of rigid and flexible bodies, one algorithm a file."""

from articulus.dynamics.flexible.tree import FlexibleTree, flexible_tree

__all__ = ["FlexibleTree", "flexible_tree"]
