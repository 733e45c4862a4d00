"""Mean squares of the DRAPER I truss in white noise, from simulated runs, without control and with a printed optimal design."""

import casadi as ca
import numpy as np
from scipy.linalg import solve_continuous_are

import articulus as art
from articulus.cases.draper_tetrahedron.case import DESIGNS, POUND_FORCE, matrices
from articulus.model.library.draper_tetrahedron import INCH, draper_tetrahedron
from articulus.simulation.loop.components import WhiteNoise
from articulus.structure import Structure, modes_of, normal_modes

RUNS = 160
SAMPLE = 0.02  # s
NOISE = WhiteNoise(density=(0, 0, 0, POUND_FORCE**2, POUND_FORCE**2, 0), frame="vertex")


def compute() -> dict:
    control, response = mean_squares()
    return {
        "open loop, C = 0.1 M + 0.001 K, areas 60 in^2: mean square of the vertex, simulated [1e-5 in^2]": 1e5
        * open_loop(),
        "design 1 of table 2, simulated: mean square of the control [lb^2]": control,
        "design 1 of table 2, simulated: mean square of the vertex [1e-5 in^2]": 1e5 * response,
    }


def truss(s: Structure) -> art.Mechanism:
    """Return the structure as a body on the ground with all its modes as coordinates."""
    held = modes_of(
        s, normal_modes(s).shapes, stations={"vertex": "1"}, damping="structure", level="ruthless", origin="5"
    )
    m = art.Mechanism("draper", gravity=(0, 0, 0)).flexible("truss", held)
    return m.joint("base", art.Fixed(), "ground", "truss").frame("vertex", "truss", node="vertex")


def mean_square(values: np.ndarray) -> float:
    return float((values**2).sum(axis=-1).mean())


def open_loop() -> float:
    s = draper_tetrahedron(60 * INCH**2).with_rayleigh_damping(0.1, 0.001)
    m = truss(s)
    run = art.rollout(
        m, 24.0, q0=np.zeros((RUNS, m.nq)), components=[NOISE], step=2e-3, sample=SAMPLE, seed=1
    )
    seen = m.jacobian("vertex", m.neutral)[3:5] / INCH
    return mean_square(run.q[:, run.t > 8.0] @ seen.T)  # the slowest mode decays with 1.8 s


def mean_squares() -> tuple[float, float]:
    """Return the mean squares of control and vertex."""
    areas, lam_u = DESIGNS[1]
    s = draper_tetrahedron([area * INCH**2 for area in areas]).with_rayleigh_damping(0.0, 0.002)
    F, G, _, H = matrices(s)
    R = lam_u / 50 * np.eye(6)
    shapes = normal_modes(s).shapes
    n = shapes.shape[1]
    K = np.linalg.solve(R, G.T @ solve_continuous_are(F, G, H.T @ H / 1e-5, R)) @ np.kron(np.eye(2), shapes)
    legs = shapes.T @ (s.M @ G[n:])
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    feedback = ca.Function(
        "legs", [q, v], [ca.DM(legs) @ (-ca.DM(K) @ ca.vertcat(q, v))], ["q", "v"], ["tau"]
    )
    m = truss(s)
    run = art.rollout(
        m, 14.0, q0=np.zeros((RUNS, n)), controller=feedback, components=[NOISE], step=1e-3, sample=SAMPLE, seed=1
    )  # fmt: skip
    late = run.t > 3.0
    states = np.concatenate([run.q, run.v], axis=-1)[:, late]
    seen = m.jacobian("vertex", m.neutral)[3:5] / INCH
    return mean_square(states @ K.T), mean_square(run.q[:, late] @ seen.T)
