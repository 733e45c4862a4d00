"""Forces that joints transmit."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External, applied_wrenches
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import Node
from articulus.spatial import Force, Transform


def reactions(run: Runner, v: Any, vdot: Any, external: External) -> Any:
    """Return the wrench that each joint exerts on its child body, one row per joint.

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree, built with `merge_fixed=False`, so that fixed joints have a row too.
    v, vdot : (nv,)
        Generalized velocities and accelerations.

    Returns
    -------
    (joints, 6) [N m, N]
        Moment about the joint frame's origin and force, in the axes of the child's joint frame. Along the free
        directions it is what actuators, friction and springs give, less what accelerates armature and rotor.

    Source: backward pass of the Newton-Euler recursion.
    """
    motion = newton_euler(run, v, vdot, force=applied_wrenches(run, external))
    rows: list = []
    for c in run.tree.description.connections:
        node, X = run.tree.joint_frame(c.name)
        rows += run(in_joint_axes, node, motion.F[node], run.value(X))
    return ca.horzcat(*rows).T if rows else SX(0, 6)


def in_joint_axes(_: Node, F: Force, X: Transform) -> tuple[SX]:
    """Return the force that a node's joint transmits, about the joint frame's origin and in its axes, (6,)."""
    return (X.force_to_child(F).column(),)
