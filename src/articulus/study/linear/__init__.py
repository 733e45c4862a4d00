"""Linear models of studies and models as files, and what is done with them from the command line: reduction, design, inversion."""

from articulus.study.linear.model_file import OperatingModel, read_linear_model, write_linear_model
from articulus.study.linear.runner import run_design, run_inversion, run_linearization, run_reduction
from articulus.study.linear.source import PlantSource
from articulus.study.linear.tasks import DesignTask, InversionTask, read_design, read_inversion

__all__ = [
    "DesignTask",
    "InversionTask",
    "OperatingModel",
    "PlantSource",
    "read_design",
    "read_inversion",
    "read_linear_model",
    "run_design",
    "run_inversion",
    "run_linearization",
    "run_reduction",
    "write_linear_model",
]
