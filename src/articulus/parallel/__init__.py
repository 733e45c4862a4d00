"""How fast one step of one mechanism can be: counts, task graphs, schedules, machines, deadlines."""

from articulus.kernel import Team
from articulus.parallel import families, log_depth, neighborhood, published
from articulus.parallel.asynchronous import Contraction, contraction, iterate_asynchronously
from articulus.parallel.branch_and_bound import df_ihs
from articulus.parallel.counts import Growth, Operations, count, growth, operations
from articulus.parallel.doubling import prefixes
from articulus.parallel.execution import (
    TeamCosts,
    ThreadedFunction,
    predicted_time,
    run_schedule,
    team_costs,
    timed_schedule,
)
from articulus.parallel.grains import call_graph, mechanism_graph, ode_graph, operation_graph, step_graph
from articulus.parallel.graph import TaskGraph
from articulus.parallel.latency import (
    ControlTask,
    effective_latency,
    mean_square_error,
    nonstrict_delays,
    run_nonstrict,
    strict_delay,
)
from articulus.parallel.list_schedule import cp_dt_misf, cp_misf
from articulus.parallel.listing import ProgramListing, block_diagram, read_diagram, read_listing
from articulus.parallel.real_time import Deadline, Timing, deadline, measure
from articulus.parallel.schedule import Schedule, waits
from articulus.parallel.segments import SegmentedChain
from articulus.parallel.systolic_mesh import MeshRun, run_mesh
from articulus.parallel.systolic_solver import SolverRun, solve_systolic
from articulus.parallel.triangular_array import ArrayRun, run_array

__all__ = [
    "ArrayRun",
    "Contraction",
    "ControlTask",
    "Deadline",
    "Growth",
    "MeshRun",
    "Operations",
    "ProgramListing",
    "Schedule",
    "SegmentedChain",
    "SolverRun",
    "TaskGraph",
    "Team",
    "TeamCosts",
    "ThreadedFunction",
    "Timing",
    "block_diagram",
    "call_graph",
    "contraction",
    "count",
    "cp_dt_misf",
    "cp_misf",
    "deadline",
    "df_ihs",
    "effective_latency",
    "families",
    "growth",
    "iterate_asynchronously",
    "log_depth",
    "mean_square_error",
    "measure",
    "mechanism_graph",
    "neighborhood",
    "nonstrict_delays",
    "ode_graph",
    "operation_graph",
    "operations",
    "predicted_time",
    "prefixes",
    "published",
    "read_diagram",
    "read_listing",
    "run_array",
    "run_mesh",
    "run_nonstrict",
    "run_schedule",
    "solve_systolic",
    "step_graph",
    "strict_delay",
    "team_costs",
    "timed_schedule",
    "waits",
]
