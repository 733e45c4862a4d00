"""The order of every method on closed loops, against scipy on the accelerations of `forward_dynamics`."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.simulation.integrate import ALL_METHODS
from closed_zoo import four_bar, skew_four_bar
from selection import in_turn

WAY = np.array([1.0, -1.0, 1.0])
END = 0.25
LINKAGES = ("plane", "redundant", "spatial")
FIXED = [m for m in ALL_METHODS if m.kind not in ("adaptive", "casadi", "residual") and m.order <= 4]


def tilted_four_bar() -> art.Mechanism:
    """Return a four-bar linkage in a tilted plane, closed by a hinge: three of its five rows are redundant.

    Out of the plane these rows are zero but for rounding, which the penalties must not take for a mass.
    """
    turn = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()
    x, y, z = turn.T
    m = art.Mechanism("tilted four-bar")
    for name, parent, at, along in (
        ("crank", "ground", 0 * x, z),
        ("coupler", "crank", z, x),
        ("rocker", "ground", x, z),
    ):
        m.body(name, 1.0, tuple(along / 2), (0.1, 0.1, 0.1))
        m.joint(f"{name}_pin", art.Revolute(tuple(-y)), parent, name, at=tuple(at))
    m.loop("pin", art.Revolute(tuple(-y)), "coupler", "rocker", at=tuple(x), child_at=tuple(z))
    return m


@functools.cache
def linkage(name: str) -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    """Return a mechanism with a position and a velocity on its constraints, far from singular ones."""
    if name == "spatial":
        m = skew_four_bar()
        found = art.assemble(m, np.array([0.5, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
        return m, found.q, found.v * (3.0 / np.abs(found.v).max())
    m = four_bar(closed_by=None) if name == "plane" else tilted_four_bar()
    return m, 2.5 * WAY, 3.0 * WAY


@functools.cache
def reference(name: str) -> np.ndarray:
    """Return position and velocity at END by scipy; its tolerances are at rounding."""
    m, q, v = linkage(name)
    assert m.nq == m.nv
    none = np.zeros(m.nv)

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[m.nv :], m.forward_dynamics(x[: m.nv], x[m.nv :], none)])

    found = solve_ivp(rate, (0, END), np.concatenate([q, v]), method="DOP853", rtol=1e-13, atol=1e-13)
    return found.y[:, -1]


def error(name: str, method: str, step: float, **options: float) -> float:
    m, q, v = linkage(name)
    run = art.simulate(m, END, q0=q, v0=v, method=method, step=step, sample=END, outputs=(), **options)
    return float(np.abs(np.concatenate([run.q[-1], run.v[-1]]) - reference(name)).max())


def steps(order: int) -> list[float]:
    """Return three steps, each half of the one before, at which the error is clear of rounding and of higher orders.

    Their numbers are even: what Newmark's rule leaves undamped in the constraint forces changes its sign with every step.
    """
    finest = END / {1: 8000, 2: 512, 3: 400, 4: 200}[order]
    return [4 * finest, 2 * finest, finest]


@pytest.mark.parametrize(
    ("method", "name"),
    [
        pytest.param(method, name, id=f"{method.name}-{name}")
        for turn, method in enumerate(FIXED)
        for name in in_turn(LINKAGES, turn, 2)
    ],
)
def test_order_on_loops(name: str, method: art.integrate.Integrator) -> None:
    """Halving the step divides the error by 2 to the power of the order, within a fifth of an order; two linkages each, all nightly."""
    assert method.order is not None
    errors = [error(name, method.name, h) for h in steps(method.order)]
    slopes = [math.log2(a / b) for a, b in itertools.pairwise(errors)]
    assert slopes == pytest.approx([method.order] * 2, abs=0.2), errors


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize(("method", "count", "bound"), [("rk8", 8, 100.0), ("am10", 24, 200.0)])
def test_high_orders_on_loops(name: str, method: str, count: int, bound: float) -> None:
    """Two halvings lie between "not yet of its order" and rounding: the error falls by more than 2^6.6 and 2^7.6 in one."""
    coarse, fine = (error(name, method, END / n) for n in (count, 2 * count))
    assert coarse < 1e-6
    assert fine < max(coarse / bound, 1e-12)


def test_runge_kutta_falls_to_rounding() -> None:
    """RK4 at 0.2 ms has an error of its own of about 1e-15; scipy's reference is good to about 1e-13."""
    assert error("spatial", "rk4", END / 1250) < 1e-12


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize(
    ("method", "grown"), [("dormand_prince", 10), ("rosenbrock", 10), ("cvodes", 300), ("idas", 100)]
)
def test_tolerances_are_kept_whatever_the_step_of_the_output(name: str, method: str, grown: float) -> None:
    """Errors at the end are some tolerances, with one output or with ten; the state is of the order of 1 to 10.

    Those of SUNDIALS add up to more: 120 tolerances of CVODES and 21 of IDAS at the end, measured.
    """
    for step in (END, END / 10):
        assert error(name, method, step, rtol=1e-10, atol=1e-12) < grown * 1e-10


def bars_through_singular_positions(method: str, step: float, rtol: float) -> tuple[float, float]:
    """Return the error of the angle after 10 s of two linkages that pass singular positions, and the residual there.

    The bars stay parallel: (bars/3 + connectors) phi'' = (bars/2 + connectors) g sin phi, by scipy.
    """
    bars = art.load("n_four_bar", n=2)
    v0 = [1.0 if name.startswith("hinge") else -1.0 for name in bars.joint_names]
    run = art.simulate(bars, 10.0, v0=v0, method=method, step=step, sample=10.0, rtol=rtol, atol=rtol / 100)
    pendulum = solve_ivp(
        lambda _, y: [y[1], 9.81 * 3.5 / 3 * math.sin(y[0])],
        (0.0, 10.0),
        [0.0, 1.0],
        "DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    return abs(run.q[-1, 0] - pendulum.y[0, -1]), run["constraint.position"][-1]


@pytest.mark.parametrize(
    ("method", "rtol", "grown"),
    [
        ("dormand_prince", 1e-8, 1e3),
        ("dormand_prince", 1e-10, 1e3),
        ("rosenbrock", 1e-8, 1e3),
        ("cvodes", 1e-8, 3e4),
        ("cvodes", 1e-10, 3e4),
        ("idas", 1e-8, 3e4),
    ],
)
def test_adaptive_methods_pass_singular_positions(method: str, rtol: float, grown: float) -> None:
    """The answer does not depend on the output's step: returning to the constraints there only, it was off by 30 rad.

    Errors of 500 to 1000 tolerances (10,000 by the formulas of SUNDIALS) grow in 10 s of motion that passes near its unstable equilibrium. At every singular
    position the loop gives way over 1e-5 rad (`forms.DUAL`), which shows in the angle as 1e-8 in all.
    """
    for step in (0.1, 1.0):
        off, residual = bars_through_singular_positions(method, step, rtol)
        assert off < grown * rtol + 2e-8
        assert residual < 1e-10


def test_multipliers_of_rows_that_are_zero_but_for_rounding() -> None:
    """The hinges of the tree carry what acts out of the plane: multipliers of the rows out of it are rounding.

    1e-5 is 1e-16 / 1e-10, rounding over the compliance of a row (`forms.DUAL`), ten times as much.
    """
    m = tilted_four_bar()
    q, v = 2.5 * WAY, 3.0 * WAY
    run = art.simulate(m, 0.01, q0=q, v0=v, step=1e-3)
    found = np.abs(run["multipliers"])
    largest = np.sort(found, axis=1)[:, ::-1]
    assert (largest[:, 1] > 1.0).all()
    assert (largest[:, 2:] < 1e-5 * largest[:, :1]).all()
    _, at_start = m.closed_dynamics(q, v, np.zeros(3))
    assert np.allclose(at_start, run["multipliers"][0], atol=1e-5 * largest[0, 0])


def test_independent_rows_leave_out_those_that_are_zero_but_for_rounding() -> None:
    """The hinge of a plane linkage binds two of three directions in its plane; tilted or not."""
    for m in (four_bar(), tilted_four_bar()):
        assert art.assemble(m, 2.5 * WAY).rank == 2
