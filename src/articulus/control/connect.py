"""Linear models connected, by number: what the design methods use; `LinearModel` has the same by names."""

from articulus.linear.connect import close, parallel, same_period, select, series, side_by_side

__all__ = ["close", "parallel", "same_period", "select", "series", "side_by_side"]
