"""Tasks of motions as TOML files: the best motion, its proof by simulation, and a report come out."""

from articulus.study.plans.reader import PlanTask, parse_task, read_task
from articulus.study.plans.runner import PlanFiles, PlanOutcome, run_task

__all__ = ["PlanFiles", "PlanOutcome", "PlanTask", "parse_task", "read_task", "run_task"]
