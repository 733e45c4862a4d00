"""Sampled regulators and LQG controllers for continuous costs and noise (`lqrd`, `kalmd` in MATLAB)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.connect import select
from articulus.control.design import RegulatorDesign, check_design, named_controller, static
from articulus.control.plant import Group, as_plant, places, with_states
from articulus.control.riccati import cross_weight, regulator, residual_check, weight
from articulus.control.sampling import TO_ROUNDING, sample
from articulus.control.synthesis.kalman import NoiseCovariance, noise_of
from articulus.control.synthesis.lqg import LqgDesign, command_places, join_regulator_and_filter
from articulus.errors import InputError
from articulus.linear import LinearModel


def lqrd(
    plant: Any,
    Q: Any,
    R: Any,
    period: float,
    N: Any = None,
    *,
    delay: float = 0.0,
    commands: Group = None,
) -> RegulatorDesign:
    """Return the sampled state feedback with the least integral of x'Qx + u'Ru + 2 x'Nu of a continuous plant.

    Between the samples the plant moves as it does: the cost is the integral over continuous time, not a sum over samples.

    Parameters
    ----------
    plant : see `as_plant`
        Continuous.
    Q, R, N : see `lqr`
    period : float [s]
    delay : float [s]
        Delay of the commands, any number of periods and parts of one; commands under way become states.
    commands : names or number of inputs

    Returns
    -------
    Design
        Its plant is the sampled one, with all states as outputs. Figures: `gain`, `cost` X: the cost from x is x'Xx.
    """
    model = _continuous(plant, "lqrd")
    u = places(model.inputs, commands, "input", "lqrd")
    q, r = weight(Q, len(model.A), "Q", "lqrd", False), weight(R, len(u), "R", "lqrd", True)
    cross = cross_weight(N, q, r, "lqrd")
    driven = with_states(select(model, u, range(len(model.outputs))))
    sampled = sample(driven, period, delay=delay)
    whole = with_states(sampled)
    Qd, Rd, Nd = sampled_cost(driven, q, r, cross, period, delay)
    n, m = whole.B.shape
    found = regulator(whole, np.arange(m), Qd, Rd, Nd, "lqrd")
    controller = named_controller(whole, static(-found.gain), np.arange(m), np.arange(n), "lqrd")
    figures = {"gain": found.gain, "cost": found.X}
    return check_design(
        RegulatorDesign,
        "lqrd",
        whole,
        controller,
        np.arange(m),
        np.arange(n),
        figures,
        [residual_check(found)],
    )


def lqgd(
    plant: Any,
    Q: Any,
    R: Any,
    W: Any,
    V: Any,
    period: float,
    *,
    delay: float = 0.0,
    noise: Group = None,
    commands: Group = None,
    measured: Group = None,
    current: bool = False,
) -> LqgDesign:
    """Return the sampled LQG controller of a continuous plant for its continuous cost and noise.

    Parameters
    ----------
    plant : see `as_plant`
        Continuous, without feedthrough from the noise to the measured outputs.
    Q, R, W, V, noise, commands, measured : see `lqg`
        Weights and intensities of continuous time. A sample of a measured output has the covariance V / period.
    period, delay : float [s]
        See `lqrd`.
    current : bool
        Use the newest measurement at once instead of one period later.

    Returns
    -------
    Design
        Its plant is the sampled one. Figures: those of `lqg`; `cost` is the mean of the continuous x'Qx + u'Ru, with what
        the noise adds between the samples.
    """
    model = _continuous(plant, "lqgd")
    y = places(model.outputs, measured, "output", "lqgd")
    continuous, which = noise_of(model, y, W, V, noise, "lqgd")
    if continuous.S.any():
        raise InputError("lqgd: found noise that passes directly into measured outputs; expected none")
    u = command_places(model, which, commands, "lqgd")
    q, r = weight(Q, len(model.A), "Q", "lqgd", False), weight(R, len(u), "R", "lqgd", True)
    driven = select(model, u, y)
    sampled = sample(driven, period, delay=delay)
    weights = sampled_cost(driven, q, r, None, period, delay)
    n, p, rest = len(model.A), len(y), len(sampled.A) - len(model.A)
    Wd = scipy.linalg.block_diag(_integral(model.A.T, continuous.W, period), np.zeros((rest, rest)))
    noises = NoiseCovariance(Wd, continuous.V / period, np.zeros((n + rest, p)))
    design = join_regulator_and_filter(
        "lqgd", sampled, np.arange(len(u)), np.arange(p), weights, noises, current
    )
    between = np.trace(continuous.W @ _double_integral(model.A, q, period))
    mean = (design.cost + float(between)) / period
    return dataclasses.replace(design, cost=mean)


def sampled_cost(
    model: LinearModel, Q: np.ndarray, R: np.ndarray, N: np.ndarray | None, period: float, delay: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q, R, N of the sampled model: the integral of the cost over a period, exactly (Van Loan 1978)."""
    n, m = model.B.shape
    whole = int(np.floor(delay / period + TO_ROUNDING))
    late = max(delay - whole * period, 0.0)
    late = 0.0 if late < TO_ROUNDING * period else late
    steps = whole + (late > 0.0)
    total = n + steps * m + m  # x, u one instant ago, ..., the new u
    cross = np.zeros((n, m)) if N is None else N
    M = np.block([[Q, cross], [cross.T, R]])
    F = np.block([[model.A, model.B], [np.zeros((m, n + m))]])
    state = np.eye(n, total)
    cost = np.zeros((total, total))
    for span, ago in ((late, whole + 1), (period - late, whole)):
        if span <= 0.0:
            continue
        held = np.zeros((m, total))
        start = n + (ago - 1) * m if ago else total - m
        held[:, start : start + m] = np.eye(m)
        both = np.vstack([state, held])
        cost += both.T @ _integral(F, M, span) @ both
        state = (scipy.linalg.expm(F * span) @ both)[:n]
    k = total - m
    return _even(cost[:k, :k]), _even(cost[k:, k:]), cost[:k, k:]


def _integral(F: np.ndarray, M: np.ndarray, span: float) -> np.ndarray:
    """Return the integral of exp(F's) M exp(F s) over a span."""
    n = len(F)
    both = scipy.linalg.expm(span * np.block([[-F.T, M], [np.zeros((n, n)), F]]))
    return _even(both[n:, n:].T @ both[:n, n:])


def _double_integral(F: np.ndarray, M: np.ndarray, span: float) -> np.ndarray:
    """Return the integral of (span - s) exp(F's) M exp(F s) over a span."""
    n = len(F)
    none, eye = np.zeros((n, n)), np.eye(n)
    both = scipy.linalg.expm(span * np.block([[-F.T, eye, none], [none, -F.T, M], [none, none, F]]))
    return _even(both[2 * n :, 2 * n :].T @ both[:n, 2 * n :])


def _even(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)


def _continuous(plant: Any, method: str) -> LinearModel:
    model = as_plant(plant, method)
    if model.period is not None:
        raise InputError(
            f"{method}: found a plant sampled every {model.period:g} s; expected a continuous one, which is sampled here"
        )
    return model
