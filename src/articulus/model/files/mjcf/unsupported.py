"""What a compiled MuJoCo model holds that a Description cannot say: refused, left out and listed, or noted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulus.errors import UnsupportedOperation

CONTACT = "CONTACT"


LEFT_OUT = "nothing of this kind: it is left out, and the motion differs"
NOT_MEASURED = "nothing of this kind: it is left out; the motion is the same"
NOTED = "nothing of this kind: a mechanism by itself has none"


class Omission(NamedTuple):
    """One thing that is omitted or doubtful: path of the object, what it is, what it is counted as, what was expected."""

    path: str
    found: str
    kind: str
    expected: str = LEFT_OUT


def refuse_unsupported(model: Any, name: str) -> None:
    """Raise UnsupportedOperation for what holds bodies together: without it there is no mechanism."""
    found = [f"flexible bodies ({model.nflex} flex)"] if model.nflex else []
    for i in np.flatnonzero(np.asarray(model.body_plugin) >= 0):
        found.append(f"a plugin of body '{model.body(int(i)).name or i}'")
    if found:
        raise UnsupportedOperation(
            f"{name}: the model holds what this version cannot represent, and without it the bodies fall apart:\n"
            + "\n".join(f"- {thing}" for thing in found)
        )


def omissions(model: Any) -> Iterator[Omission]:
    """Yield what acts on the bodies and joints and is omitted."""
    yield from _whole(model)
    yield from _joints(model)
    yield from _tendons(model)
    yield from _actuators(model)


def notes(model: Any, disabled: set[str]) -> Iterator[Omission]:
    """Yield what is omitted of every MJCF model: nothing that a mechanism by itself has."""
    touching = np.flatnonzero(np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity))
    if len(touching) and CONTACT not in disabled:
        yield Omission("", f"{len(touching)} geoms that can touch", "note on contacts", NOTED)
    if model.nmocap:
        names = [model.body(i).name or str(i) for i in np.flatnonzero(np.asarray(model.body_mocapid) >= 0)]
        yield Omission(
            "", f"mocap bodies that stand still: {', '.join(names)}", "note on mocap bodies", NOTED
        )
    if np.any(model.body_gravcomp):
        names = [model.body(int(i)).name or str(i) for i in np.flatnonzero(model.body_gravcomp)]
        found = f"gravity compensation, one of Mechanism.components(): {', '.join(names)}"
        yield Omission("", found, "note on gravity compensation", NOTED)
    idle = [model.eq(i).name or str(i) for i in range(model.neq) if not model.eq_active0[i]]
    if idle:
        yield Omission(
            "", f"equality constraints that are not active: {', '.join(idle)}", "note on equalities", NOTED
        )


def _whole(m: Any) -> Iterator[Omission]:
    if m.opt.density or m.opt.viscosity:
        found = f"a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
        yield Omission("", found, "omitted fluid")


def _joints(m: Any) -> Iterator[Omission]:
    for j in range(m.njnt):
        name = m.jnt(j).name or str(j)
        scalar = m.jnt_type[j] >= 2
        dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + (1 if scalar else 6 if m.jnt_type[j] == 0 else 3))
        for found in (*_ball_and_free(m, j, scalar, dofs), *_nonlinear(m, j, dofs)):
            yield Omission(f"joint.{name}", f"{found} in joint '{name}'", "omitted joint force")


def _ball_and_free(m: Any, j: int, scalar: bool, dofs: slice) -> Iterator[str]:
    if m.jnt_stiffness[j] and not scalar:
        yield "a spring that turns freely in space"
    if m.jnt_type[j] == 0 and np.any(m.dof_armature[dofs]):
        yield "armature of free motion"
    if m.jnt_type[j] == 0 and np.any(m.dof_frictionloss[dofs]):
        yield "dry friction of free motion"


def _nonlinear(m: Any, j: int, dofs: slice) -> Iterator[str]:
    if np.any(_field(m, "jnt_stiffnesspoly", j)):
        yield "a nonlinear spring"
    if np.any(_field(m, "dof_dampingpoly", dofs)):
        yield "nonlinear damping"
    if np.any(_field(m, "jnt_springyield", j)):
        yield "a plastic spring"


def _field(m: Any, field: str, index: Any) -> Any:
    """Return part of a field that older versions of MuJoCo do not have."""
    held = getattr(m, field, None)
    return 0 if held is None else held[index]


def _tendons(m: Any) -> Iterator[Omission]:
    forces = ("stiffness", "damping", "armature", "frictionloss", "stiffnesspoly", "dampingpoly")
    for i in range(m.ntendon):
        name = m.tendon(i).name or str(i)
        acting = [p for p in forces if np.any(_field(m, f"tendon_{p}", i))]
        if acting:
            found = f"tendon '{name}' with {', '.join(acting)}"
            yield Omission(f"tendon.{name}", found, "omitted tendon force")
        if m.tendon_limited[i]:
            yield Omission(f"tendon.{name}", f"limits of tendon '{name}'", "omitted tendon limit")


def _actuators(m: Any) -> Iterator[Omission]:
    for i in range(len(m.actuator_trntype)):
        acting = [p for p in ("armature", "damping", "dampingpoly") if np.any(_field(m, f"actuator_{p}", i))]
        if acting:
            name = m.actuator(i).name or str(i)
            found = f"actuator '{name}' with {', '.join(acting)}"
            yield Omission(f"actuator.{name}", found, "omitted actuator inertia or damping")
