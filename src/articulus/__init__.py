"""Computational control of articulated mechanisms."""

from importlib import import_module as _import
from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

from articulus import kernel as kernel
from articulus import spatial as spatial
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, InputError, ModelError, NumericalError, UnsupportedOperation
from articulus.model.late import register as _register
from articulus.model.load import load
from articulus.model.mechanism import (
    Coupling,
    CustomConstraint,
    CustomVelocityConstraint,
    Cylindrical,
    Distance,
    Fixed,
    Free,
    Harmonic,
    Helical,
    Limits,
    Lock,
    NoSlip,
    Parameter,
    Planar,
    PointOnPoint,
    Polynomial,
    Pose,
    Prescribed,
    PrescribedPoint,
    Prismatic,
    Revolute,
    RollingContact,
    Rotor,
    SlidingContact,
    Spherical,
    Touching,
    Universal,
    visual,
)

if TYPE_CHECKING:
    from articulus import control
    from articulus.motion import inversion, trajectory
    from articulus.simulation.loop import PythonController, components, events
    from articulus.simulation.results import Run, RunStatus, load_run, plot
    from articulus.simulation.results.compare import compare
    from articulus.simulation.running import Loop, RunSettings, rollout, simulate
    from articulus.simulation.running.trim import trim
    from articulus.simulation.solve import goals
    from articulus.simulation.solve.assembly import assemble
    from articulus.simulation.solve.equilibrium import equilibrium
    from articulus.simulation.solve.inverse_kinematics import inverse_kinematics
    from articulus.study import campaign

_LATE = {
    "simulation.solve": ("goals",),
    "simulation.solve.assembly": ("assemble"),
    "simulation.solve.equilibrium": ("equilibrium",),
    "simulation.solve.inverse_kinematics": ("inverse_kinematics",),
    "simulation.loop": ("PythonController", "components", "events"),
    "simulation.results": ("Run", "RunStatus", "compare", "load_run", "plot"),
    "simulation.running": ("Loop", "RunSettings", "rollout", "simulate"),
    "simulation.running.trim": ("trim",),
}
"""Names that are imported when first asked for: a script that computes dynamics need not wait for what runs need."""

_PACKAGES = {
    "bridges": "bridges",
    "browser": "browser",
    "campaign": "study.campaign",
    "cases": "cases",
    "control": "control",
    "design": "design",
    "files": "model.files",
    "gym": "bridges.gym",
    "integrate": "simulation.integrate",
    "inversion": "motion.inversion",
    "library": "model.library",
    "linear": "linear",
    "mechanism": "model.mechanism",
    "parallel": "parallel",
    "spacecraft": "spacecraft",
    "structure": "structure",
    "study": "study",
    "trajectory": "motion.trajectory",
}
"""Packages that are imported when first asked for."""

_register("view", "articulus.browser", "view")
_register("mechanism_html", "articulus.browser.notebook", "mechanism_html")
_register("run_html", "articulus.browser.notebook", "run_html")
_register("loop_text", "articulus.study.loop_text", "loop_text")
_register("control_desk", "articulus.study.linear.desk", "ControlDesk")
_register("save_loop", "articulus.study.writer", "save_loop")
_register("save_mcap", "articulus.bridges.mcap", "save_mcap")
_register("save_rrd", "articulus.bridges.rerun", "save_rerun")
_register("save_parquet", "articulus.bridges.tables", "save_parquet")
_register("save_mat", "articulus.bridges.tables", "save_mat")
_register("to_polars", "articulus.bridges.tables", "to_polars")
_register("read_parquet", "articulus.bridges.tables", "read_parquet")
_register("read_bag", "articulus.bridges.ros", "read_bag")
_register("replacing", "articulus.model.files.storage", "replacing")
_register("read_mcap", "articulus.bridges.mcap", "read_mcap")
_register("export_c", "articulus.bridges.c", "export_loop")
_register("export_fmu", "articulus.bridges.fmi", "export_fmu")
_register("save_run", "articulus.study.writer", "save_run")
_register("origin", "articulus.study.loop_text", "origin_of")
_register("tzero", "articulus.control.analysis.zeros", "tzero")
_register("as_plant", "articulus.control.plant", "as_plant")
_register("components_of", "articulus.simulation.loop.components.devices", "components_of")
_register("run_gradient", "articulus.simulation.gradients.gradient", "gradient")
_register("run_sensitivities", "articulus.simulation.gradients.sensitivities", "sensitivities")
_register("shape_contacts", "articulus.simulation.running.shape_contacts", "shape_contacts")
_register("joint_stops", "articulus.simulation.running.joint_limits", "joint_stops")


def __getattr__(name: str) -> _Any:
    if name in _PACKAGES:
        return _import(f"articulus.{_PACKAGES[name]}")
    for module, names in _LATE.items():
        if name in names:
            globals()[name] = value = getattr(_import(f"articulus.{module}"), name)
            return value
    raise AttributeError(f"module 'articulus' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


__version__ = _version("articulus")

__all__ = [
    "ArticulusError",
    "Coupling",
    "CustomConstraint",
    "CustomVelocityConstraint",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Free",
    "Harmonic",
    "Helical",
    "InputError",
    "Limits",
    "Lock",
    "Loop",
    "Mechanism",
    "ModelError",
    "NoSlip",
    "NumericalError",
    "Parameter",
    "Planar",
    "PointOnPoint",
    "Polynomial",
    "Pose",
    "Prescribed",
    "PrescribedPoint",
    "Prismatic",
    "PythonController",
    "Revolute",
    "RollingContact",
    "Rotor",
    "Run",
    "RunSettings",
    "RunStatus",
    "SlidingContact",
    "Spherical",
    "Touching",
    "Universal",
    "UnsupportedOperation",
    "assemble",
    "campaign",
    "compare",
    "components",
    "control",
    "equilibrium",
    "events",
    "goals",
    "inverse_kinematics",
    "inversion",
    "load",
    "load_run",
    "plot",
    "rollout",
    "simulate",
    "trajectory",
    "trim",
    "visual",
]
