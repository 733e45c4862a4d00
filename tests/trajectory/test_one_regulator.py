"""One linear-quadratic problem for every solver: random masses with springs and dampers, x' = A x + B u, least x' P x + integral of x' Q x + u' R u.

With P of the algebraic Riccati equation (here SciPy's) as the cost of the end, the best motion over any duration is that of the linear regulator:
x = exp((A - B K) t) x0 and u = -K x, which costs x0' P x0. Transcriptions, solvers of their programs, recursions, controllers and feedback along a motion
are all asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

import articulus as art
from articulus.motion.lqr_tracking import feedback_along
from articulus.motion.trajectory import FunctionCost, Phase, RecedingHorizon, ode, plan, solve_problem
from articulus.motion.trajectory.schemes import ALL_SCHEMES, scheme
from articulus.motion.trajectory.stages import Stages
from articulus.motion.trajectory.staircase import solve_staged, to_stages
from articulus.motion.trajectory.task import Task
from articulus.numerics.differential_riccati import riccati_along

SEEDS = 1, 2
T = 0.8


@dataclass(frozen=True)
class Regulator:
    """Two sliders in a row with springs and dampers, driven both, by random numbers."""

    mechanism: art.Mechanism
    A: np.ndarray
    B: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    x0: np.ndarray

    @staticmethod
    def random(seed: int) -> Regulator:
        rng = np.random.default_rng(seed)
        m, before = art.Mechanism(f"sliders {seed}"), "ground"
        for k in range(2):
            m.body(f"mass{k}", mass=rng.uniform(0.5, 2.0), inertia=[1.0, 1.0, 1.0])
            numbers = {"stiffness": rng.uniform(1, 9), "damping": rng.uniform(0.1, 1.0)}
            m.joint(f"slide{k}", art.Prismatic((1, 0, 0)), before, f"mass{k}", **numbers)
            before = f"mass{k}"
        m = m.with_gravity((0.0, 0.0, 0.0))
        model = m.linearize()
        Q, R = (X @ X.T + 0.1 * np.eye(len(X)) for X in (rng.normal(size=(4, 4)), rng.normal(size=(2, 2))))
        return Regulator(m, model.A, model.B, Q, R, rng.uniform(-1, 1, 4))

    @property
    def P(self) -> np.ndarray:
        return solve_continuous_are(self.A, self.B, self.Q, self.R)

    @property
    def K(self) -> np.ndarray:
        return np.linalg.solve(self.R, self.B.T @ self.P)

    @property
    def cost(self) -> float:
        return float(self.x0 @ self.P @ self.x0)

    def states(self, t: np.ndarray) -> np.ndarray:
        return np.array([expm((self.A - self.B @ self.K) * s) @ self.x0 for s in t])

    def phase(self) -> Phase:
        """Return it as equations."""
        x, u = SX.sym("x", 4), SX.sym("u", 2)
        rates = ca.mtimes(ca.DM(self.A), x) + ca.mtimes(ca.DM(self.B), u)
        running = ca.bilin(ca.DM(self.Q), x, x) + ca.bilin(ca.DM(self.R), u, u)
        final = ca.bilin(ca.DM(self.P), x, x)
        return ode(x, u, rates, duration=T, start=list(self.x0), running=running, final=final)

    @property
    def task(self) -> Task:
        q, v = np.split(self.x0, 2)
        return Task(self.mechanism, q, q, T, tuple(self.costs()), v0=v, goal_velocity="free")

    def motion(self) -> Phase:
        """Return it as a motion of the mechanism whose end is left to its costs."""
        phase = self.task.phase()
        return replace(phase, end=(phase.lower, phase.upper))

    def costs(self) -> list[FunctionCost]:
        """Return its costs as those of the mechanism's motion."""

        def quadratic(X: np.ndarray, x: SX) -> SX:
            return ca.bilin(ca.DM(X), x, x)

        return [
            FunctionCost(lambda m: quadratic(self.Q, ca.vertcat(m.q, m.v)) + quadratic(self.R, m.u)),
            FunctionCost(lambda m: quadratic(self.P, ca.vertcat(m.q, m.v)), when="end"),
        ]


@pytest.fixture(params=SEEDS, scope="module")
def problem(request: pytest.FixtureRequest) -> Regulator:
    return Regulator.random(request.param)


# relative errors of the cost and, over the largest, of the states with 30 intervals; the input at the start, over the largest
CLOSE = {
    "hermite_simpson": (1e-6, 1e-5, 3e-3),
    "radau 3": (1e-8, 1e-6, 1e-2),
    "lobatto 4": (1e-8, 1e-6, 1e-3),
    "shooting": (1e-3, 1e-3, 1e-2),
    "weak": (1e-3, 5e-3, 5e-2),
    "riccati": (5e-2, 5e-2, 5e-2),
    "riccati semi_implicit_euler": (5e-2, 5e-2, 5e-2),
}
"""By orders: 4, 5 and 6 of the states; 2 where inputs are linear or constant in an interval (and 1 of the input at the start, which is that of
the whole first element); 1 of steps whose cost is taken at their beginning."""


def require_regulator(name: str, problem: Regulator, cost: float, t, x, u0) -> None:
    off_cost, off_states, off_input = CLOSE[name]
    assert cost == pytest.approx(problem.cost, rel=off_cost)
    assert np.abs(x - problem.states(t)).max() < off_states * np.abs(problem.x0).max()
    expected = -problem.K @ problem.x0
    assert np.abs(u0 - expected).max() < off_input * np.abs(expected).max()


@pytest.mark.parametrize("name", [n for n in CLOSE if "euler" not in n])
def test_schemes_on_equations(problem: Regulator, name: str) -> None:
    found = solve_problem(problem.phase(), scheme=name, intervals=30, tolerance=1e-10)
    ends = np.append(found.layouts[0].intervals[:, 0], -1)
    z = found.courses[0].z
    require_regulator(name, problem, found.cost, found.t[ends], z[ends][:, :4], z[0, 8:])


@pytest.mark.parametrize("name", CLOSE)
def test_schemes_on_the_mechanism(problem: Regulator, name: str) -> None:
    """The same as the motion of a mechanism, with ends that are free; Hermite-Simpson by the solver of its own structure."""
    found = solve_problem(problem.motion(), scheme=name, intervals=30, tolerance=1e-10, task=problem.task)
    ends, z = np.append(found.layouts[0].intervals[:, 0], -1), found.courses[0].z
    require_regulator(
        name, problem, found.cost, found.t[ends], z[ends][:, :4], z[0, list(found.problem.phases[0].inputs)]
    )


def test_every_scheme_is_asked() -> None:
    assert {scheme(n).name for n in CLOSE} >= set(ALL_SCHEMES)


def test_solvers_of_programs_agree(problem: Regulator) -> None:
    """The own interior point method and ipopt on one program; tolerance 1e-10 of both, square roots of it in the inputs."""
    own, other = (
        solve_problem(problem.motion(), intervals=30, tolerance=1e-10, options=options)
        for options in (None, {"ipopt.mu_strategy": "monotone"})
    )
    assert own.cost == pytest.approx(other.cost, rel=1e-9)
    assert own.courses[0].z == pytest.approx(other.courses[0].z, abs=1e-4)


def test_costates_are_the_slope_of_the_cost(problem: Regulator) -> None:
    """dJ/dx = 2 P x all the way; one more order is lost by shooting and by elements."""
    for name, close in (("radau 3", 1e-4), ("lobatto 4", 1e-4), ("hermite_simpson", 1e-3), ("weak", 0.05)):
        found = solve_problem(problem.phase(), scheme=name, intervals=30, tolerance=1e-10)
        nodes = found.layouts[0].intervals[:, 0]
        expected = 2 * problem.states(found.t[nodes]) @ problem.P
        assert np.abs(found.costates[0][nodes] - expected).max() < close * np.abs(expected).max()


def test_steps_are_those_of_the_discrete_recursion(problem: Regulator) -> None:
    """Riccati steps and a staircase of quadratic programs have one transcription: steps of RK4, cost at their beginning. Both are the recursion's to rounding."""
    N = 20
    h, A, B = T / N, problem.A, problem.B
    M = h * A
    Phi = np.eye(4) + M + M @ M / 2 + M @ M @ M / 6 + M @ M @ M @ M / 24
    G = h * (np.eye(4) + M / 2 + M @ M / 6 + M @ M @ M / 24) @ B
    V = problem.P
    for _ in range(N):
        K = np.linalg.solve(h * problem.R + G.T @ V @ G, G.T @ V @ Phi)
        V = h * problem.Q + Phi.T @ V @ (Phi - G @ K)
    least = problem.x0 @ V @ problem.x0
    steps = solve_problem(problem.phase(), scheme="riccati", intervals=N, tolerance=1e-12)
    assert steps.cost == pytest.approx(least, rel=1e-9)
    assert steps.gains[0] == pytest.approx(-K, abs=1e-8 * np.abs(K).max())
    assert steps.courses[0].z[0, 8:] == pytest.approx(-K @ problem.x0, abs=1e-7)
    for method in ("interior_point", "hpipm"):
        staged = solve_staged(to_stages(problem.phase(), N), method=method)
        closer = np.abs(staged.x - steps.courses[0].z[:, :4]).max()
        assert closer < 0.2 * np.abs(problem.x0).max()  # its cost is that of the continuous motion
        assert staged.cost == pytest.approx(problem.cost, rel=2e-2)


def test_more_steps_come_to_the_regulator_by_their_order(problem: Regulator) -> None:
    """Costs at the beginning of steps: four times as many, a quarter of the error; the discrete equation of one step says the same."""
    off = []
    for N in (40, 160):
        found = solve_problem(problem.phase(), scheme="riccati", intervals=N, tolerance=1e-12)
        off.append(float(np.abs(found.gains[0] + problem.K).max()))
    assert 3.0 < off[0] / off[1] < 5.5
    h = T / 160
    Phi, G = expm(h * problem.A), h * problem.B
    X = solve_discrete_are(Phi, G, h * problem.Q, h * problem.R)
    assert np.abs(X - problem.P).max() < 0.1 * np.abs(problem.P).max()


@pytest.mark.parametrize("points", [2, 30])
def test_the_differential_equation_stays_where_it_rests(problem: Regulator, points: int) -> None:
    """P of the algebraic equation is a solution of the differential one; from any other end it comes to it, e^(-2 s t) with the slowest pole s."""
    t = np.linspace(0, T, points)
    A, B = (np.broadcast_to(X, (points, *X.shape)) for X in (problem.A, problem.B))
    still = riccati_along(t, A, B, problem.Q, problem.R, problem.P)
    assert np.abs(still - problem.P).max() < 1e-9 * np.abs(problem.P).max()
    slowest = -np.linalg.eigvals(problem.A - problem.B @ problem.K).real.max()
    long = 15 / slowest
    found = riccati_along(t * long / T, A, B, problem.Q, problem.R, np.zeros((4, 4)))
    assert np.abs(found[0] - problem.P).max() < 1e-6 * np.abs(problem.P).max()


def test_feedback_along_rest_is_the_regulator(problem: Regulator) -> None:
    """Along a motion that rests its gains are those of its own weights, at every time; the loop with them moves as exp((A - B K) t)."""
    m, n = problem.mechanism, 21
    t, still = np.linspace(0, T, n), np.zeros((n, 2))
    law = feedback_along(m, t, still, still, still, m.joint_names, np.array([2.0, 3.0]), 0.1)
    K0, K1 = (np.array(law.K(s)) for s in (0.0, 0.7 * T))
    assert pytest.approx(K1, rel=1e-8) == K0
    Q, R = np.eye(4) / 0.1**2, np.diag([1 / 4.0, 1 / 9.0])
    expected = np.linalg.solve(R, problem.B.T @ solve_continuous_are(problem.A, problem.B, Q, R))
    assert pytest.approx(expected, rel=1e-6) == K0
    run = art.simulate(m, T, *np.split(problem.x0, 2), controller=law, step=T / 400)
    end = expm((problem.A - problem.B @ expected) * T) @ problem.x0
    assert np.append(run.q[-1], run.v[-1]) == pytest.approx(end, abs=1e-6)


def test_a_controller_that_plans_has_the_gains_of_the_regulator(problem: Regulator) -> None:
    """A receding horizon without limits: its first inputs are those of the recursion, its input is linear in the state."""
    m = problem.mechanism
    q, v = np.split(problem.x0, 2)
    stages = Stages(problem.motion(), m, 80)
    law = RecedingHorizon(stages, iterations=10, offset_free=False)
    u = law(0.0, q, v)
    assert u == pytest.approx(-problem.K @ problem.x0, abs=0.05 * np.abs(problem.K @ problem.x0).max())
    law.reset()
    assert law(0.0, -2 * q, -2 * v) == pytest.approx(-2 * u, rel=1e-6)


def test_a_plan_between_points_of_the_regulator_is_its_motion(problem: Regulator) -> None:
    """`plan` with both ends given on the regulator's motion comes to it without the cost of the end (Bellman 1957)."""
    ends = [np.split(x, 2) for x in problem.states(np.array([0.0, T]))]
    (q0, v0), (q1, v1) = ends
    given = {"duration": T, "intervals": 30, "tolerance": 1e-10}
    found = plan(problem.mechanism, q0, q1, v0=v0, goal_velocity=v1, cost=problem.costs()[0], **given)
    assert found.q == pytest.approx(problem.states(found.t)[:, :2], abs=1e-5)
    last = np.append(q1, v1)
    assert found.cost == pytest.approx(problem.cost - last @ problem.P @ last, rel=1e-6)
