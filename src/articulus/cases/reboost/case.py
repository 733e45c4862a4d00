"""A satellite of 582 degrees of freedom under the thrust of a re-boost, and a truss of 54 after a push: open loop, full state, Kalman filter.

Numbers of degrees of freedom, actuators and sensors are the source's; geometry, gains and loads, which it does not tell, are assumed. The exact
motions beside which the partitioned scheme is put are exponentials in normal modes.
"""

import numpy as np
import scipy.linalg

from articulus.cases.park_interaction.case import MODES, gains
from articulus.control.interaction import Partitioned, PartitionedRun
from articulus.linear import SecondOrder
from articulus.model.library import structure
from articulus.structure import Structure, normal_modes

END, BURN = 6.0, 2.0
"""Time, and that of the thrust or push [s]."""
THRUST = {"satellite582": ("95", "x", 400.0), "truss54": ("9", "y", 1000.0)}
"""Node, direction and force [N]; the filter does not know it."""
STEP = {"satellite582": 4e-3, "truss54": 5e-4}
KEPT = {"satellite582": 50, "truss54": 54}
"""Modes of the exact motions."""


def compute() -> dict:
    return {**study("satellite582", "satellite"), **study("truss54", "truss")}


def study(name: str, label: str) -> dict:
    s = structure(name)
    node, component, force = THRUST[name]
    push = force * s.rows(node)["xyz".index(component)]
    F, L = gains(s, MODES)
    runs = {
        "open loop": fly(name, s, push, (0.0 * F[0], 0.0 * F[1]), None),
        "full state": fly(name, s, push, F, None),
        "Kalman filter": fly(name, s, push, F, L),
    }
    out = {}
    for how, run in runs.items():
        z = exact(name, s, push, None if how == "open loop" else F, L if how == "Kalman filter" else None)
        largest = np.abs(run.z).max()
        out[f"{label}, {how}: measurements after 6 s less the exact ones, over the largest"] = float(
            np.abs(run.z[-1] - z).max() / largest
        )
    if name == "satellite582":
        along = (s.dofs[:, 1] == 0).astype(float)
        out["satellite, open loop: momentum along the thrust after 6 s [N s]"] = float(
            along @ (s.M @ runs["open loop"].v)
        )
        z, h = exact(name, s, push, F, None), STEP[name]
        gaps = [np.abs(fly(name, s, push, F, None, h / k).z[-1] - z).max() for k in (1, 2)]
        out["satellite, full state: order of the error"] = float(np.log2(gaps[0] / gaps[1]))
    return out


def fly(
    name: str, s: Structure, push: np.ndarray, F: tuple, L: tuple | None, step: float = 0.0
) -> PartitionedRun:
    """Return the run of the partitioned scheme, by the step of the structure if none is given."""
    parts = Partitioned(s, step or STEP[name], *F, *(L or ()))
    return parts.run(END, disturbance=lambda t: push * (t < BURN))


def exact(name: str, s: Structure, push: np.ndarray, F: tuple | None, L: tuple | None) -> np.ndarray:
    """Return what the sensors measure in the end: exponentials of structure, feedback and filter in normal modes."""
    modes = normal_modes(s, KEPT[name])
    X, k = modes.shapes, KEPT[name]
    modal = SecondOrder(np.eye(k), X.T @ (s.D @ X), np.diag(modes.omega**2), X.T @ s.B, s.H @ X, s.H_rate @ X)
    m = modal.first_order()
    G = np.zeros((m.B.shape[1], 2 * k)) if F is None else np.hstack([F[0] @ X, F[1] @ X])
    A, force, C = m.A - m.B @ G, np.concatenate([np.zeros(k), X.T @ push]), m.C
    if L is not None:
        pick = X.T @ s.M
        J = np.vstack([pick @ L[0], pick @ L[1]])
        A = np.block([[m.A, -m.B @ G], [J @ m.C, m.A - m.B @ G - J @ m.C]])
        force, C = np.concatenate([force, np.zeros(2 * k)]), np.hstack([m.C, 0.0 * m.C])
    n = len(A)
    whole = scipy.linalg.expm(BURN * np.block([[A, force[:, None]], [np.zeros((1, n + 1))]]))
    return C @ scipy.linalg.expm((END - BURN) * A) @ whole[:n, n]
