"""The one linear model that mechanisms, loops and structures have in common."""

from articulus.linear.model import LinearModel, plain_labels

__all__ = ["LinearModel", "plain_labels"]
