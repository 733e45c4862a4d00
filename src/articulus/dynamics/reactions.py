"""Forces that joints transmit."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.external import External, taken_up
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.passes import Inline
from articulus.dynamics.tree import Tree


def reactions(tree: Tree, v: SX, vdot: SX, external: External) -> SX:
    """Return the wrench that each joint exerts on its child body, one row a joint.

    Parameters
    ----------
    tree : Tree
        Built with `merge_fixed=False`, so that fixed joints have a row too.
    v, vdot : SX, (nv,)
        Generalised velocities and accelerations.

    Returns
    -------
    SX, (joints, 6) [N m, N]
        Moment about the joint frame's origin and force, in the axes of the child's joint frame. Along the free
        directions it is what actuators, friction and springs give, less what accelerates armature and rotor.

    Source: backward pass of the Newton-Euler recursion.
    """
    motion = newton_euler(Inline(tree), v, vdot, force=taken_up(tree, external))
    rows = []
    for c in tree.description.connections:
        node, X = tree.joint_frame(c.name)
        rows.append(X.force_to_child(motion.F[node]).column().T)
    return ca.vertcat(SX(0, 6), *rows)
