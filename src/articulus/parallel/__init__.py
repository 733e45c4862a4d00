"""How fast one step of one mechanism can be: counts, task graphs, schedules, machines, deadlines."""

from articulus.parallel import published
from articulus.parallel.counts import Growth, Operations, count, growth, operations

__all__ = ["Growth", "Operations", "count", "growth", "operations", "published"]
