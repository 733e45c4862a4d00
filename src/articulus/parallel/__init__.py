"""How fast one step of one mechanism can be: counts, task graphs, schedules, machines, deadlines."""

from articulus.parallel import neighborhood, published
from articulus.parallel.branch_and_bound import df_ihs
from articulus.parallel.counts import Growth, Operations, count, growth, operations
from articulus.parallel.doubling import prefixes
from articulus.parallel.grains import call_graph, mechanism_graph, ode_graph, operation_graph, step_graph
from articulus.parallel.graph import TaskGraph
from articulus.parallel.list_schedule import cp_dt_misf, cp_misf
from articulus.parallel.listing import Program, block_diagram, read_diagram, read_listing
from articulus.parallel.real_time import Deadline, Timing, deadline, measure
from articulus.parallel.schedule import Schedule, waits

__all__ = [
    "Deadline",
    "Growth",
    "Operations",
    "Program",
    "Schedule",
    "TaskGraph",
    "Timing",
    "block_diagram",
    "call_graph",
    "count",
    "cp_dt_misf",
    "cp_misf",
    "deadline",
    "df_ihs",
    "growth",
    "measure",
    "mechanism_graph",
    "neighborhood",
    "ode_graph",
    "operation_graph",
    "operations",
    "prefixes",
    "published",
    "read_diagram",
    "read_listing",
    "step_graph",
    "waits",
]
