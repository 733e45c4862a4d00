"""Partitioned control-structure interaction: three masses, a truss, a satellite, the limit of the step; heat and motion."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control import lqr
from articulus.control.interaction import (
    Partitioned,
    Thermoelastic,
    direct_step_limit,
    feedback_step_limit,
    modal_filter,
    modal_gains,
    observer_step_limit,
)
from articulus.linear import LinearModel, SecondOrder
from articulus.model.library import structure
from articulus.structure import Structure, normal_modes

START = np.array([1.0, 0.5, -0.3])
"""Displacements of the three masses at the start [m]."""
MODES = 12
"""Modes that the gains of truss and satellite act on."""


def compute() -> dict:
    return {**three_masses(), **identity(), **large(), **model_problem(), **heat()}


def three_masses() -> dict:
    """Return where the masses are after 5 s, by the schemes of the source and by the exact closed loop."""
    s, F, L = _design()
    exact = scipy.linalg.expm(5.0 * _whole(s, F, L)) @ np.concatenate([START, np.zeros(9)])
    out = {"three masses, exact closed loop: q(5 s) [m]": exact[:3]}
    schemes: dict[str, dict[str, Any]] = {
        "predictor of eq. 35": {"predictor": "last"},
        "linear predictor": {},
        "sampled": {"sampled": True},
    }
    for name, options in schemes.items():
        run = Partitioned(s, 0.01, F[:, :3], F[:, 3:], L[:3], L[3:], **options).run(5.0, START)
        out[f"three masses, {name}, h = 0.01 s: q(5 s) [m]"] = run.q
    gaps = []
    for h in (0.04, 0.02, 0.01):
        run = Partitioned(s, h, F[:, :3], F[:, 3:], L[:3], L[3:]).run(4.0, START)
        there = scipy.linalg.expm(4.0 * _whole(s, F, L)) @ np.concatenate([START, np.zeros(9)])
        gaps.append(np.abs(run.q - there[:3]).max())
    out["three masses, linear predictor: order of the error at 4 s"] = np.log2(gaps[-2] / gaps[-1])
    return out


def identity() -> dict:
    """Return how far a step in momenta is from the mid-point rule on the filter of first order, with the same u and innovation."""
    s, F, L = _design()
    m, h = s.first_order(), 0.02
    rng = np.random.default_rng(3)
    q, v, qe, ve = rng.normal(size=(4, 3))
    run = Partitioned(s, h, F[:, :3], F[:, 3:], L[:3], L[3:]).run(h, q, v, estimate=(qe, ve))
    assert run.estimate is not None
    x = np.concatenate([qe, ve])
    middle = np.linalg.solve(np.eye(6) - h / 2 * m.A, x + h / 2 * (m.B @ run.u[1] + L @ run.innovation[1]))
    ours = np.concatenate(run.estimate)
    return {
        "one step of the filter in momenta against the mid-point rule": np.abs(2 * middle - x - ours).max()
    }


def large() -> dict:
    """Return how partition and monolithic mid-point rule differ on the truss and the satellite."""
    out = {}
    for name, h, label in (("truss54", 2e-4, "truss, 54"), ("satellite582", 2e-3, "satellite, 582")):
        s = structure(name)
        F, L = gains(s, MODES)
        kick = s.B[:, 0] / (s.M.diagonal().max())
        gaps = []
        for step in (h, h / 2) if name == "truss54" else (h,):
            run = Partitioned(s, step, *F, *L).run(50 * h, None, kick)
            z = monolithic(s, F, L, step, round(50 * h / step), kick)
            gaps.append(np.abs(run.z[-1] - z).max() / np.abs(run.z).max())
        out[f"{label} degrees of freedom: partition beside one system, after 50 steps, relative"] = gaps[0]
        if len(gaps) > 1:
            radius = Partitioned(s, h, *F, *L).spectral_radius()
            out[f"{label} degrees of freedom: a step is stable (1 = yes)"] = radius <= 1 + 1e-9
            out[f"{label} degrees of freedom: order of that difference"] = np.log2(gaps[0] / gaps[1])
    return out


def model_problem() -> dict:
    """Return the limits of the step of y'' + w^2 y = -u, u = eta wc^2 y + zeta wc y'."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for w, wc, eta, zeta, h in 10.0 ** rng.uniform(-0.7, 0.7, size=(200, 5)):
        d = h / 2
        z = np.roots(
            [d**3 * zeta * wc * w**2 - d**2 * eta * wc**2 + 1, d * zeta * wc, d**2 * (eta * wc**2 + w**2)]
        )
        roots = np.abs((1 + z) / (1 - z)).max()
        worst = max(worst, abs(_one(w, wc, eta, zeta, h).spectral_radius() - roots) / roots)
    eta = 0.5
    threshold = np.sqrt(4 * eta**3 / 27)
    lasting = [
        max(_one(2.0, 2.0, eta, k * threshold, h).spectral_radius() for h in np.geomspace(0.5, 50, 120))
        for k in (0.99, 1.01)
    ]
    return {
        "model problem: roots of eq. 9.56 against the step, 200 sets, relative": worst,
        "model problem: limit of the step, displacement feedback [s]": _limit(lambda h: _one(2.0, 2.0, eta, 0.0, h)),
        "model problem: the same from the feedback alone [s]": _one(2.0, 2.0, eta, 0.0, 1.0).step_limit,
        "model problem: stable for every step at 1.01 of the threshold of zeta, not at 0.99 (1 = yes)": lasting[1] <= 1 + 1e-12 and lasting[0] > 1 + 1e-6,
        "model problem: eq. 9.58 as a function, eta = 0.5, w_c = 2 rad/s [s]": feedback_step_limit(eta, 2.0),
        "model problem: eq. 9.59 as a function, the same with zeta = 0.1 [s]": direct_step_limit(eta, 2.0, 0.1),
        "model problem: limit of the step without stabilization, w = 2 rad/s [s]": _direct_limit(2.0, 2.0, eta, 0.1),
        "model problem: eq. 9.61 over the limit of the scheme with an observer, 20 sets": _observers(rng),
    }  # fmt: skip


def _direct_limit(w: float, wc: float, eta: float, zeta: float) -> float:
    """Return the step at which the partition grows when the law itself is taken at the displacement of the last step (eqs. 9.48, 9.50)."""

    def radius(h: float) -> float:
        d, damping = h / 2, zeta * wc
        columns = []
        for y, rate in np.eye(2):
            u = eta * wc**2 * y + damping * rate
            middle = (y + d * rate - d * d * u) / (1 + d * d * w * w)
            columns.append([2 * middle - y, 2 * (middle - y) / d - rate])
        return float(np.abs(np.linalg.eigvals(np.array(columns).T)).max())

    return next(h for h in np.arange(1e-3, 3.0, 1e-3) if radius(h) > 1 + 1e-9)


def _observers(rng: np.random.Generator) -> float:
    """Return the largest ratio, or its inverse, of eq. 9.61 to the step at which the scheme with an observer grows."""
    worst = 1.0
    for w, wc, eta, l21 in 10.0 ** rng.uniform(-0.5, 0.5, size=(20, 4)):
        s = SecondOrder([[1.0]], [[0.0]], [[w * w]], [[1.0]], [[1.0], [0.0]], [[0.0], [1.0]])
        limit = observer_step_limit(eta, wc, l21)
        F, L = ([[eta * wc**2]], [[0.0]]), (np.zeros((1, 2)), [[l21, 0.0]])
        stable = [Partitioned(s, k * limit, *F, *L).spectral_radius() <= 1 + 1e-7 for k in (0.999, 1.001)]
        worst = max(worst, 1.0 if stable == [True, False] else 2.0)
    return worst


def heat() -> dict:
    """Return stability and order of the thermal-structural scheme."""
    rng = np.random.default_rng(2)
    largest = worst = 0.0
    for m, k, q, g, c, theta0, h in 10.0 ** rng.uniform(-1.5, 1.5, size=(300, 7)):
        step = Thermoelastic([[m]], [[0.0]], [[k]], [[c]], [[q]], [[g]], theta0, h)
        ones = np.eye(3)[..., None]
        eigenvalues = np.linalg.eigvals(np.array([np.concatenate(step.advance(*e)) for e in ones]).T)
        d, w2, b = h / 2, k / m, theta0 * c * c / (q * m)
        z = np.roots([1, d * g / q, d**2 * w2 + d**2 * b * (1 + d**2 * w2), d**3 * g / q * w2])
        expected = np.sort(np.abs((1 + z) / (1 - z)))
        worst, largest = (
            max(worst, np.abs(np.sort(np.abs(eigenvalues)) - expected).max()),
            max(largest, np.abs(eigenvalues).max()),
        )
    A = np.array([[0.0, 1, 0], [-4, -0.1, 1], [0, -0.5, -0.3]])
    there = scipy.linalg.expm(2 * A) @ [1.0, 0.0, 0.2]
    gaps = []
    for h in (0.02, 0.01):
        runs = Thermoelastic([[1.0]], [[0.1]], [[4.0]], [[1.0]], [[1.0]], [[0.3]], 0.5, h).run(
            2.0, [1.0], [0.0], [0.2]
        )
        gaps.append(np.abs(np.concatenate([x[-1] for x in runs[1:]]) - there).max())
    return {
        "heat and motion: largest spectral radius of 300 sets over three decades is at most 1 (1 = yes)": largest
        <= 1 + 1e-9,
        "heat and motion: eigenvalues of a step against eq. 9.76, 300 sets": worst,
        "heat and motion: order": np.log2(gaps[0] / gaps[1]),
    }


def gains(s: Structure, modes: int) -> tuple:
    """Return ((F1, F2), (L1, L2)) of a regulator and a filter that know the lowest modes of a structure."""
    known = normal_modes(s, modes)
    shapes = known.shapes
    D = shapes.T @ (s.D @ shapes)
    model = SecondOrder(
        np.eye(modes), D, np.diag(known.omega**2), shapes.T @ s.B, s.H @ shapes, s.H_rate @ shapes
    ).first_order()
    weight = np.concatenate([np.maximum(known.omega, 1.0) ** 2, np.ones(modes)])
    F = lqr(model, weight, 1e-3).gain
    L = _filter(model, model.B @ model.B.T + 1e-6 * np.eye(2 * modes), 1e-3)
    return modal_gains(s, shapes, F), modal_filter(shapes, L)


def monolithic(s: Structure, F: tuple, L: tuple, h: float, steps: int, kick: np.ndarray) -> np.ndarray:
    """Return the measurements after some steps of the mid-point rule on structure and filter as one system of first order."""
    m = SecondOrder.of(s).first_order()
    whole = _whole(m, np.hstack(F), np.vstack(L))
    n = len(m.A)
    left = scipy.linalg.lu_factor(np.eye(2 * n) - h / 2 * whole)
    x = np.concatenate([np.zeros(n // 2), kick, np.zeros(n)])
    for _ in range(steps):
        x = 2 * scipy.linalg.lu_solve(left, x) - x
    return m.C @ x[:n]


def _design() -> tuple:
    s = SecondOrder.of(structure("three_masses"))
    m = s.first_order()
    noise = m.B @ m.B.T + 1e-9 * np.eye(6)
    return s, lqr(m, 1.0, 0.1).gain, _filter(m, noise, 0.01)


def _whole(s: SecondOrder | LinearModel, F: np.ndarray, L: np.ndarray) -> np.ndarray:
    m = s.first_order() if isinstance(s, SecondOrder) else s
    return np.block([[m.A, -m.B @ F], [L @ m.C, m.A - m.B @ F - L @ m.C]])


def _one(w: float, wc: float, eta: float, zeta: float, h: float) -> Partitioned:
    return Partitioned(SecondOrder([[1.0]], [[0.0]], [[w * w]], [[1.0]]), h, [[eta * wc**2]], [[zeta * wc]])


def _limit(made: Callable[[float], Partitioned]) -> float:
    low, high = 1.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if made(middle).spectral_radius() <= 1 + 1e-9 else (low, middle)
    return low


def _filter(m: LinearModel, process: np.ndarray, sensor: float) -> np.ndarray:
    """Return the gain of the Kalman filter, the regulator of the transposed plant."""
    return lqr((m.A.T, m.C.T), process, sensor).gain.T
