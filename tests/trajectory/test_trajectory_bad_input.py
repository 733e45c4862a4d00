"""Tasks that cannot be: each is refused with what is wrong, before the search; Ctrl-C keeps the motion so far."""

from __future__ import annotations

import os
import signal

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory import Ball, Clear, Hull, PhaseLink, Problem, ode, plan, solve_problem
from articulus.motion.trajectory.program import NonlinearProgram

TIP = Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1)
START, GOAL = np.array([-0.4, 0.3]), np.array([0.9, -0.5])


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link")


def test_the_reach_is_told(arm: art.Mechanism) -> None:
    """Two links of 2 m and 1.5 m or so: the farthest of many positions at random is within 1 % of the sum of the lengths."""
    most = np.linalg.norm(arm.pose("tip", np.zeros(2))[:3, 3])  # stretched out
    far = art.goals.FramePoint("tip", (90.0, 0.0, 0.0))
    with pytest.raises(
        InputError, match=r"'tip' is .* to .* m from the ground's origin, the target 90 m"
    ) as told:
        plan(arm, START, far, duration=1.0, torque_limit=1e5)
    found = float(str(told.value).split(" to ")[1].split(" m ")[0])
    assert 0.99 * most <= found <= 1.001 * most


@pytest.mark.parametrize("duration", [None, "2 s", (1.0,), (0.1, None)])
def test_durations_that_are_none(arm: art.Mechanism, duration) -> None:
    with pytest.raises(InputError, match=r"A duration that is free needs both"):
        plan(arm, START, GOAL, duration=duration)


@pytest.mark.parametrize("duration", [(0.0, 2.0), (1.0, np.inf), (2.0, 1.0), -1.0])
def test_durations_without_bounds(arm: art.Mechanism, duration) -> None:
    with pytest.raises(InputError, match=r"expected positive, finite bounds, the lower one first"):
        plan(arm, START, GOAL, duration=duration)


def test_obstacles_around_the_ends(arm: art.Mechanism) -> None:
    tip = Hull("tip", (0, 0, 0), (0, 0, 0), 0.05, balls=1)
    for where, q in (("q0", START), ("goal", GOAL)):
        post = Clear(Ball(tuple(arm.pose("tip", q)[:3, 3]), 0.1, name="post"), (tip,))
        with pytest.raises(InputError, match=rf"{where}: found tip clear of post off by 0.15"):
            plan(arm, START, GOAL, duration=1.0, torque_limit=1e5, obstacles=[post])


def test_limits_that_exclude_an_end() -> None:
    arm = art.Mechanism("arm")
    arm.body("link", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    arm.joint(
        "hinge", art.Revolute(axis=(0, 1, 0)), "ground", "link", limits=art.Limits(lower=-1.0, upper=1.0)
    )
    with pytest.raises(InputError, match=r"q\.hinge at the start .* no number does\. The limits"):
        plan(arm, [1.5], [0.0], duration=1.0)
    with pytest.raises(InputError, match=r"q\.hinge at the end .* no number does\. The limits"):
        plan(arm, [0.0], [1.5], duration=1.0)


def test_ends_that_leave_loops_open() -> None:
    row = art.load("n_four_bar", n=2)
    closed = art.assemble(row).q
    off = closed + np.eye(row.nq)[0] * 0.4
    for where, ends in (("q0", (off, closed)), ("goal", (closed, off))):
        with pytest.raises(InputError, match=rf"{where}: found constraint 'loop1.z' open by 0\.4.*assemble"):
            plan(row, *ends, duration=1.0, actuators=["hinge0"])


@pytest.mark.parametrize("motion", [lambda t: 2 * t, ca.sin])
def test_motions_given_over_time(motion) -> None:
    t = SX.sym("t")
    disc = art.Mechanism("disc")
    disc.body("disc", mass=1.0, inertia=(1.0, 1.0, 1.0))
    disc.joint("plane", art.Planar(), "ground", "disc")
    disc.constrain(art.Prescribed("turned", "plane", ca.Function("f", [t], [motion(t)]), "angle"))
    with pytest.raises(InputError, match=r"found the constraint 'turned', which changes with time"):
        plan(disc, np.zeros(3), np.ones(3), duration=1.0, actuators=["plane"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"actuators": ["joint1", "joint1"]},
            r"actuators: found joint1, joint1; expected joints that move, each once",
        ),
        (
            {"torque_limit": "3 N m"},
            r"torque_limit: found '3 N m' for joint 'joint1'; expected a number above zero",
        ),
        ({"velocity_limit": [1.0]}, r"velocity_limit: found \[1.0\]; expected a number for all joints"),
        (
            {"cost": {"effort": -1.0}},
            r"cost: found \{'effort': -1.0\}; expected nonnegative weights",
        ),
        ({"cost": {}}, r"cost: found \{\}; .* at least one above zero"),
        ({"cost": ["effort"]}, r"cost: found \['effort'\]; expected \"effort\""),
        ({"intervals": 0}, r"intervals: found 0; expected a whole number above zero"),
        ({"intervals": [5, 6]}, r"intervals: found \[5, 6\]; .* one for each phase"),
        ({"intervals": -1, "scheme": "riccati"}, r"intervals: found -1"),
        ({"tolerance": 0.0}, r"tolerance: found 0.0; expected a number above zero"),
        ({"error": -1.0}, r"error: found -1.0; expected a number above zero"),
        ({"options": {"ipopt.tool": 1}}, r"options: found .*No such IPOPT option: tool"),
        ({"options": {"ipopt.tol": 1e-3}, "scheme": "riccati"}, r"riccati: found .* options of ipopt"),
        ({"goal": [0.1]}, r"goal: found \[0.1\]; expected 2 finite numbers, of joint1, joint2"),
        ({"goal": None}, r"goal: found None; expected positions of joint1, joint2"),
        ({"torque_limit": {"jiont1": 3.0}}, r"torque_limit: found joint 'jiont1'; did you mean 'joint1'\?"),
        ({"actuators": ["jiont1"]}, r"actuators: found 'jiont1'; did you mean 'joint1'\?"),
        ({"actuators": "joint1"}, r"actuators: found 'joint1'; expected a list"),
        ({"cost": {"efort": 1.0}}, r"cost: found 'efort'; did you mean 'effort'\?"),
        ({"obstacles": Clear(Ball((5, 5, 5), 0.1), (TIP,))}, r"obstacles: found Clear.*; expected a list"),
        ({"scheme": 3}, r"scheme: found 3; expected a name"),
        ({"guess": 3}, r"guess: found 3; expected a Plan"),
        ({"iterations": 1.5}, r"iterations: found 1.5; expected a whole number above zero"),
        ({"mechanism": "two_link"}, r"mechanism: found 'two_link'; expected a Mechanism"),
        ({"q0": [0.1, np.nan]}, r"q0: found \[0.1, nan\]; expected 2 finite numbers"),
    ],
)
def test_arguments_that_are_none(arm: art.Mechanism, given, told: str) -> None:
    ends = {"mechanism": arm, "q0": START, "goal": GOAL, "duration": 1.0, "torque_limit": 1e5, "intervals": 4}
    with pytest.raises(InputError, match=told):
        plan(**ends | given)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Ball((0, 0, 0), "10 cm"), r"Ball.radius: found '10 cm'; expected metres, above 0"),
        (lambda: Hull("tip", (0, 0, 0), (0, 0, 0), None), r"Hull.radius: found None; expected metres"),
        (lambda: Hull("tip", (0, 0, 0), (0, 0, 0), 0.1, 1.5), r"Hull.balls: found 1.5; expected 1 or more"),
        (lambda: Clear("wall", (TIP,)), r"Clear.obstacle: found 'wall'; expected a Ball, a Rod, a Crate"),
        (lambda: Clear(Ball((0, 0, 0), 1.0), ()), r"Clear.hulls: found \(\); expected one or more Hull"),
        (lambda: Clear(Ball((0, 0, 0), 1.0), (TIP,), np.nan), r"Clear.margin: found nan; expected a finite"),
    ],
)
def test_obstacles_that_are_none(make, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make()


def test_one_hull_needs_no_tuple() -> None:
    assert Clear(Ball((0, 0, 0), 1.0), TIP) == Clear(Ball((0, 0, 0), 1.0), (TIP,))


def test_bounds_the_wrong_way_round() -> None:
    x, u = SX.sym("x", 1), SX.sym("u", 1)
    with pytest.raises(InputError, match=r"constraint 'corridor', row 0: found bounds 2 and 1"):
        ode(x, u, u, duration=1.0, start=[0], running=u**2, path={"corridor": (x, 2.0, 1.0)})


X, U, T = SX.sym("x", 2), SX.sym("u", 1), SX.sym("T")
CART = {"x": X, "u": U, "rates": ca.vertcat(X[1], U), "duration": 1.0, "start": [0, 0], "running": U**2}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rates": X[1]}, r"ode: found 1 rates of 2 states; expected as many"),
        ({"start": [np.nan, 0]}, r"x_0 at the start: found bounds nan and nan; expected numbers"),
        ({"u_bounds": [(np.nan, 1)]}, r"u at every time: found bounds nan and 1; expected numbers"),
        ({"u_bounds": [(0, 1), (2, 3)]}, r"u_bounds: found .*; expected a pair of numbers for each of 1"),
        ({"rates": ca.vertcat(X[1], U * SX.sym("k"))}, r"found the symbol 'k' in an expression"),
        ({"final": T}, r"found the symbol 'T' in an expression; .* given as `time`"),
        ({"path": {"p": (SX.sym("w"), 0, 1)}}, r"found the symbol 'w' in an expression"),
        ({"guess": ([[0, 0, 0]], [[0]])}, r"guess: found states of shape \(1, 3\)"),
    ],
)
def test_equations_that_make_no_sense(given, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ode(**CART | given)


def test_phases_that_do_not_meet() -> None:
    """Found before the search; with a link of one's own, a jump, they may."""
    one, two = (
        ode(**CART, end=[0.5, 0], name="one"),
        ode(**CART | {"start": [2, 0], "name": "two"}, end=[1, 0]),
    )
    with pytest.raises(
        InputError, match=r"x_0 is to lie between 0.5 and 0.5 at the end of 'one' and between 2 and 2"
    ):
        Problem((one, two))
    a, b = SX.sym("a", one.size), SX.sym("b", two.size)
    jump = PhaseLink(ca.Function("jump", [a, b], [b[0] - a[0] - 1.5]))
    assert solve_problem(Problem((one, two), (jump,)), intervals=8).converged
    for problem in ((), (3,)):
        with pytest.raises(InputError, match=r"Problem: found phases .*; expected one or more Phase"):
            Problem(problem)
    with pytest.raises(InputError, match=r"problem: found 3; expected a Problem or a Phase"):
        solve_problem(3)


def test_interrupted_searches_keep_the_motion_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes during the third Hessian; the search ends after that iteration, and Python's own handler is back."""
    x, u = SX.sym("x", 2), SX.sym("u", 1)
    phase = ode(
        x,
        u,
        ca.vertcat(x[1], u - ca.sin(x[0])),
        duration=2.0,
        start=[0, 0],
        end=[3, 0],
        running=u**2 * ca.exp(u),
    )
    calls, real = [], NonlinearProgram.hessian

    def hessian(self: NonlinearProgram, *arguments):
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, *arguments)

    monkeypatch.setattr(NonlinearProgram, "hessian", hessian)
    before = signal.getsignal(signal.SIGINT)
    plan = solve_problem(phase, intervals=10)
    assert signal.getsignal(signal.SIGINT) is before
    assert plan.solution.status == "User_Requested_Stop"
    assert plan.solution.iterations <= 4
    assert np.isfinite(plan.courses[0].z).all()
    with pytest.raises(NumericalError, match="User_Requested_Stop"):
        _ = plan.cost
