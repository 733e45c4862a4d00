"""Trees of rigid and flexible bodies, one algorithm a file."""

from articulus.dynamics.flexible.tree import FlexibleTree

__all__ = ["FlexibleTree"]
