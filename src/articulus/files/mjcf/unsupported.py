"""What a compiled MuJoCo model holds that changes its smooth dynamics and that a Description cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from articulus.errors import UnsupportedOperation


def refuse_unsupported(model: Any, name: str) -> None:
    """Raise UnsupportedOperation that names everything in the model that cannot be represented."""
    found = [*_whole(model), *_bodies(model), *_joints(model), *_couplings(model), *_actuators(model)]
    if found:
        raise UnsupportedOperation(
            f"{name}: the model holds what this version cannot represent, and leaving it out would change its motion:\n"
            + "\n".join(f"- {thing}" for thing in found)
        )


def _whole(m: Any) -> Iterator[str]:
    if m.opt.density or m.opt.viscosity:
        yield f"a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
    if m.nflex:
        yield f"flexible bodies ({m.nflex} flex)"


def _bodies(m: Any) -> Iterator[str]:
    for i in np.flatnonzero(m.body_gravcomp):
        yield f"gravity compensation of body '{m.body(int(i)).name or i}'"
    for i in np.flatnonzero(np.asarray(m.body_plugin) >= 0):
        yield f"a plugin of body '{m.body(int(i)).name or i}'"


def _joints(m: Any) -> Iterator[str]:
    for j in range(m.njnt):
        name = f"joint '{m.jnt(j).name or j}'"
        scalar = m.jnt_type[j] >= 2
        dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + (1 if scalar else 6 if m.jnt_type[j] == 0 else 3))
        if m.jnt_stiffness[j] and not scalar:
            yield f"a spring in {name}, which turns freely in space"
        if m.jnt_type[j] == 0 and np.any(m.dof_armature[dofs]):
            yield f"armature of the free {name}"
        if m.jnt_type[j] == 0 and np.any(m.dof_frictionloss[dofs]):
            yield f"dry friction of the free {name}"
        yield from _nonlinear(m, name, j, dofs)


def _nonlinear(m: Any, name: str, j: int, dofs: slice) -> Iterator[str]:
    if np.any(_field(m, "jnt_stiffnesspoly", j)):
        yield f"a nonlinear spring in {name}"
    if np.any(_field(m, "dof_dampingpoly", dofs)):
        yield f"nonlinear damping in {name}"
    if np.any(_field(m, "jnt_springyield", j)):
        yield f"a plastic spring in {name}"


def _field(m: Any, field: str, index: Any) -> Any:
    """Return part of a field that older versions of MuJoCo do not have."""
    held = getattr(m, field, None)
    return 0 if held is None else held[index]


def _couplings(m: Any) -> Iterator[str]:
    for i in range(m.neq):
        if m.eq_active0[i]:
            yield f"equality constraint '{m.eq(i).name or i}'"
    for i in range(m.ntendon):
        parts = (
            "stiffness",
            "damping",
            "armature",
            "frictionloss",
            "limited",
            "stiffnesspoly",
            "dampingpoly",
        )
        acting = [p for p in parts if np.any(_field(m, f"tendon_{p}", i))]
        if acting:
            yield f"tendon '{m.tendon(i).name or i}' with {', '.join(acting)}"


def _actuators(m: Any) -> Iterator[str]:
    count = len(m.actuator_trntype)
    for i in range(count):
        acting = [p for p in ("armature", "damping", "dampingpoly") if np.any(_field(m, f"actuator_{p}", i))]
        if acting:
            yield f"actuator '{m.actuator(i).name or i}' with {', '.join(acting)}"
