"""The one linear model that mechanisms, loops and structures have in common."""

from articulus.linear.model import LinearModel, Ports, plain_labels
from articulus.linear.models import LinearModels
from articulus.linear.second_order import SecondOrder

__all__ = ["LinearModel", "LinearModels", "Ports", "SecondOrder", "plain_labels"]
