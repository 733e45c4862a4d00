"""`Plan.track` without gains: linear-quadratic feedback along plans of every method, of trees, closed loops and flexible links."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.motion.trajectory import plan


def ends(moved, q0, **more) -> tuple[np.ndarray, np.ndarray]:
    """Return where simulations with the planned forces end from another start, with feedback and without, less the planned end."""
    controller, forces = moved.track()
    given = {"q0": q0, "components": forces, "method": "dormand_prince"}
    runs = [art.simulate(moved.mechanism, moved.duration, controller=c, **given) for c in (controller, None)]
    return tuple(run.q[-1] - moved.q[-1] for run in runs)  # type: ignore[return-value]


@pytest.mark.parametrize("scheme", ["hermite_simpson", "riccati"])
def test_arm_returns_to_its_motion(scheme: str) -> None:
    arm = art.load("two_link")
    moved = plan(arm, [0.0, 0.0], [1.0, 0.5], duration=1.0, torque_limit=1000.0, intervals=30, scheme=scheme)
    off = np.array([0.03, -0.03])
    tracked, free = ends(moved, moved.q[0] + off)
    assert np.abs(tracked).max() < 0.2 * np.abs(off).max()
    assert np.abs(free).max() > np.abs(off).max()


def test_closed_loops_return_to_their_motion() -> None:
    """Feedback of the independent coordinate; the loops themselves are closed by the simulation."""
    row = art.load("n_four_bar", n=1)
    start = art.assemble(row).q
    goal, wrong = start.copy(), start.copy()
    goal[0] += 0.4
    wrong[0] += 0.05
    goal, wrong = (art.assemble(row, q, fixed=["hinge0"]).q for q in (goal, wrong))
    moved = plan(row, start, goal, duration=1.0, actuators=["hinge0"], intervals=16)
    tracked, free = ends(moved, wrong)
    assert np.abs(tracked).max() < 0.3 * 0.05
    assert np.abs(free).max() > 0.05


# the motion bends the link by just a tenth of its length; plan and run have the same equations
@pytest.mark.filterwarnings("ignore:(?s).*over its (length|first frequency)")
def test_flexible_link_returns_to_its_motion() -> None:
    link = art.load("bayo_link", modes=1)
    moved = plan(link, [0.0, 0.0], {"hinge": 0.6}, duration=1.0, actuators=["hinge"], intervals=40)
    tracked, free = ends(moved, moved.q[0] + [0.02, 0.0])
    assert abs(tracked[0]) < 0.2 * 0.02
    assert abs(free[0]) > 0.5 * 0.02  # nothing brings it back; the error of the mesh adds to it


def test_one_of_two_gains_is_refused_and_functions_of_wrong_size() -> None:
    arm = art.load("two_link")
    moved = plan(arm, [0.0, 0.0], [0.1, 0.1], duration=1.0, intervals=8)
    with pytest.raises(InputError, match="one of kp and kd"):
        moved.track(kp=3.0)
    with pytest.raises(InputError, match="deviation"):
        moved.track(deviation=0.0)
    t = ca.SX.sym("t")
    wrong = art.components.StateFeedback(K=ca.Function("K", [t], [ca.SX.ones(2, 3)]))
    with pytest.raises(InputError, match="2 x 3 numbers at every time"):
        art.simulate(arm, 0.01, controller=wrong)
