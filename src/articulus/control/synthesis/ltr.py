"""Loop transfer recovery at the plant's input and output (`ltrsyn` in MATLAB; `ltru`, `ltry` of older toolboxes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.analysis.zeros import tzero
from articulus.control.connect import select, series
from articulus.control.modes import require_stabilizable, unstable
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.riccati import regulator, weight
from articulus.control.synthesis.kalman import NoiseCovariance, gains
from articulus.control.synthesis.lqg import LqgDesign, join_regulator_and_filter
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel


@dataclass(frozen=True, eq=False, kw_only=True)
class RecoveryDesign(LqgDesign):
    """A controller that recovers the loop of a regulator or of a filter.

    Parameters
    ----------
    mismatch : float
        Largest difference of the loops over frequency, over I + target.
    target : LinearModel
        Loop that is recovered.
    loop : LinearModel
        Loop that was reached.
    """

    mismatch: float
    target: LinearModel
    loop: LinearModel


def ltru(
    plant: Any,
    Q: Any,
    R: Any,
    W: Any,
    V: Any,
    recovery: float,
    *,
    commands: Group = None,
    measured: Group = None,
) -> RecoveryDesign:
    """Return an LQG controller whose loop, opened at the plant's input, tends to that of the regulator, K (sI - A)^-1 B.

    The filter is designed for the noise W + recovery B B' on the states: the larger, the nearer to the regulator's loop
    and its margins, and the higher the gain. Zeros in the right half plane limit what can be recovered (warning).

    Parameters
    ----------
    plant : see `as_plant`
        As many measured outputs as commands, or more. Of a sampled plant the newest measurement is used at once.
    Q, R : see `lqr`
    W, V : see `kalman`
        W acts on the states.
    recovery : float
        At least 0; 0 is plain LQG.
    commands, measured : names or number of inputs and of outputs

    Returns
    -------
    Design
        Figures of `lqg` and: `target`, `loop` (LinearModel), the loop to recover and the one obtained (of -u); `mismatch`, the
        largest ||loop - target|| / ||I + target|| up to ten times the fastest pole of the regulator.
    """
    model, u, y, q, r, noise = _data(plant, Q, R, W, V, commands, measured, recovery, "ltru")
    B = model.B[:, u]
    _zeros_warned(model, u, y, "ltru", len(y) >= len(u), "commands", "measured outputs")
    K = regulator(model, u, q, r, None, "ltru").gain
    target = of_matrices(model.A, B, K, period=model.period)
    more = NoiseCovariance(noise.W + recovery * B @ B.T, noise.V, noise.S)
    design = join_regulator_and_filter("ltru", model, u, y, (q, r, None), more, model.period is not None)
    plain = select(model, u, y)
    return _compare_with_target(design, target, series(plain, _minus(design.controller)), model.A - B @ K)


def ltry(
    plant: Any,
    Q: Any,
    R: Any,
    W: Any,
    V: Any,
    recovery: float,
    *,
    commands: Group = None,
    measured: Group = None,
) -> RecoveryDesign:
    """Return an LQG controller whose loop, opened at the plant's output, tends to that of the filter, C (sI - A)^-1 L.

    The regulator is designed for the weight Q + recovery C'C; see `ltru` for the rest.
    """
    model, u, y, q, r, noise = _data(plant, Q, R, W, V, commands, measured, recovery, "ltry")
    C = model.C[y]
    _zeros_warned(model, u, y, "ltry", len(u) >= len(y), "measured outputs", "commands")
    L = gains(model, y, noise, "ltry").L
    target = of_matrices(model.A, L, C, period=model.period)
    more = q + recovery * C.T @ C
    design = join_regulator_and_filter("ltry", model, u, y, (more, r, None), noise, model.period is not None)
    plain = select(model, u, y)
    return _compare_with_target(design, target, series(_minus(design.controller), plain), model.A - L @ C)


def _data(
    plant: Any, Q: Any, R: Any, W: Any, V: Any, commands: Group, measured: Group, recovery: float, method: str
) -> tuple[LinearModel, np.ndarray, np.ndarray, np.ndarray, np.ndarray, NoiseCovariance]:
    model = as_plant(plant, method)
    u = places(model.inputs, commands, "input", method)
    y = places(model.outputs, measured, "output", method)
    if not 0.0 <= recovery < np.inf:
        raise InputError(f"{method}: found recovery {recovery}; expected a number of at least 0")
    require_stabilizable(model, model.B[:, u], method, tuple(model.inputs[i] for i in u))
    n = len(model.A)
    q, r = weight(Q, n, "Q", method, False), weight(R, len(u), "R", method, True)
    w, v = weight(W, n, "W", method, False), weight(V, len(y), "V", method, True)
    return model, u, y, q, r, NoiseCovariance(w, v, np.zeros((n, len(y))))


def _minus(controller: LinearModel) -> LinearModel:
    return of_matrices(controller.A, controller.B, -controller.C, -controller.D, controller.period)


def _compare_with_target(
    design: LqgDesign, target: LinearModel, loop: LinearModel, regulated: np.ndarray
) -> RecoveryDesign:
    rates = np.abs(of_matrices(regulated, np.eye(len(regulated)), period=target.period).poles)
    rates = rates[np.isfinite(rates) & (rates > 0)]
    top = 10 * rates.max(initial=1e-3) if target.period is None else np.pi / target.period
    omega = np.geomspace(min(0.1 * rates.min(initial=top), 0.1 * top), 0.999 * top, 80)
    wanted, found = target.response(omega), loop.response(omega)
    eye = np.eye(wanted.shape[-1])
    off = np.linalg.norm(found - wanted, 2, axis=(1, 2)) / np.linalg.norm(eye + wanted, 2, axis=(1, 2))
    return RecoveryDesign(
        design.method, design.plant, design.controller, design.closed, design.checks,
        **design.figures, mismatch=float(off.max()), target=target, loop=loop,
    )  # fmt: skip


def _zeros_warned(
    model: LinearModel, u: np.ndarray, y: np.ndarray, method: str, enough: bool, some: str, others: str
) -> None:
    """Refuse too few signals; warn of zeros outside the region of stability, which recovery cannot cancel."""
    if not enough:
        raise InputError(
            f"{method}: found more {some} than {others}; expected at most as many, else nothing is recovered"
        )
    zeros = tzero(select(model, u, y)).transmission
    bad = zeros[unstable(zeros, model.period, np.abs(zeros).max(initial=1.0))]
    if len(bad):
        doubtful(
            f"{method}: the plant has zeros on or beyond the boundary of stability ({', '.join(f'{z:.4g}' for z in bad[:4])}); "
            "the loop is recovered only well below them; see the figure 'mismatch'"
        )
