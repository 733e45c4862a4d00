"""Computational control of articulated mechanisms."""

from importlib import import_module as _import
from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

from articulus import kernel, spatial
from articulus.api import Mechanism
from articulus.errors import ArticulusError, InputError, ModelError, NumericalError, UnsupportedOperation
from articulus.late import register as _register
from articulus.load import load
from articulus.mechanism import (
    Coupling,
    CustomConstraint,
    CustomVelocityConstraint,
    Cylindrical,
    Distance,
    Expression,
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
    Rotor,
    Spherical,
    Touching,
    Universal,
    visual,
)

if TYPE_CHECKING:
    from articulus import campaign, control, inversion, trajectory
    from articulus.loop import PythonController, components, events
    from articulus.results import Run, RunStatus, load_run, plot
    from articulus.results.compare import compare
    from articulus.running import Loop, RunSettings, rollout, simulate
    from articulus.running.trim import trim
    from articulus.solve import goals
    from articulus.solve.assembly import assemble, independent_rows
    from articulus.solve.equilibrium import equilibrium
    from articulus.solve.inverse_kinematics import inverse_kinematics

_LATE = {
    "solve": ("goals",),
    "solve.assembly": ("assemble", "independent_rows"),
    "solve.equilibrium": ("equilibrium",),
    "solve.inverse_kinematics": ("inverse_kinematics",),
    "loop": ("PythonController", "components", "events"),
    "results": ("Run", "RunStatus", "compare", "load_run", "plot"),
    "running": ("Loop", "RunSettings", "rollout", "simulate"),
    "running.trim": ("trim",),
}
"""Names that are imported when first asked for: a script that computes dynamics need not wait for what runs need."""

_register("view", "articulus.browser", "view")
_register("mechanism_html", "articulus.browser.notebook", "mechanism_html")
_register("run_html", "articulus.browser.notebook", "run_html")
_register("loop_text", "articulus.study.loop_text", "loop_text")
_register("save_loop", "articulus.study.writer", "save_loop")
_register("save_run", "articulus.study.writer", "save_run")
_register("origin", "articulus.study.loop_text", "origin_of")
_register("as_plant", "articulus.control.plant", "as_plant")
_register("components_of", "articulus.loop.components.devices", "components_of")
_register("joint_stops", "articulus.running.joint_limits", "joint_stops")


def __getattr__(name: str) -> _Any:
    if name in ("campaign", "control", "inversion", "trajectory"):  # packages of methods
        return _import(f"articulus.{name}")
    for module, held in _LATE.items():
        if name in held:
            found = getattr(_import(f"articulus.{module}"), name)
            globals()[name] = found
            return found
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
    "Expression",
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
    "Rotor",
    "Run",
    "RunSettings",
    "RunStatus",
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
    "independent_rows",
    "inverse_kinematics",
    "inversion",
    "kernel",
    "load",
    "load_run",
    "plot",
    "rollout",
    "simulate",
    "spatial",
    "trajectory",
    "trim",
    "visual",
]
