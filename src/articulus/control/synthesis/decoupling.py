"""Feedback that makes every joint an oscillator of its own: decoupling PD on the linear model.

T.-C. Lin and K. H. Yae, Recursive Linearization of Multibody Dynamics and Application to Control Design, 3rd Annual Conference on
Aerospace Computational Control, JPL, 1989, eqs. 36-39, with the signs put right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.design import Check, GainDesign, check_design, named_controller, static
from articulus.control.plant import Group, as_plant, places, with_states
from articulus.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class DecouplingDesign(GainDesign):
    """Proportional and derivative gains that decouple.

    Parameters
    ----------
    kp : array, (n, n)
        Gains of positions.
    kd : array, (n, n)
        Gains of velocities.
    """

    kp: np.ndarray
    kd: np.ndarray


def decoupling_pd(
    plant: Any, frequency: Any, damping: Any = 0.7, *, commands: Group = None
) -> DecouplingDesign:
    """Return u = -K_P dq - K_V dq' with which dq'' + 2 damping frequency dq' + frequency^2 dq = 0 in every coordinate.

    Parameters
    ----------
    plant : LinearModel with states (q, v), such as that of `Mechanism.linearize`
        Continuous, with an independent input for each degree of freedom.
    frequency : float or (n,) [rad/s]
    damping : float or (n,) [-]
    commands : names or number
        Inputs that the feedback drives; all if not given.

    Returns
    -------
    Design
        Its plant has the states as outputs. Figures: `kp`, `kd` (n, n), `gain` (n, 2 n).
    """
    model = as_plant(plant, "decoupling_pd")
    u = places(model.inputs, commands, "input", "decoupling_pd")
    n = len(model.A) // 2
    second = (
        len(model.A) == 2 * n
        and np.allclose(model.A[:n], np.eye(n, 2 * n, n), atol=1e-9)
        and not model.B[:n].any()
    )
    if model.period is not None or not second:
        kind = "a sampled plant" if model.period is not None else f"states {', '.join(model.states[:6])}"
        raise InputError(
            f"decoupling_pd: found {kind}; expected a continuous model with states (q, v) and q' = v, such as mechanism.linearize(q) at rest"
        )
    B2 = model.B[n:, u]
    if B2.shape != (n, n) or 1.0 / np.linalg.cond(B2) < 1e-12:
        raise InputError(
            f"decoupling_pd: found {len(u)} inputs for {n} degrees of freedom; expected an independent one for each"
        )
    w, xi = (np.broadcast_to(np.asarray(x, dtype=float), n) for x in (frequency, damping))
    if not ((w > 0).all() and (xi > 0).all() and np.isfinite(w).all() and np.isfinite(xi).all()):
        raise InputError("decoupling_pd: expected frequencies and damping ratios above 0")
    kp = np.linalg.solve(B2, np.diag(w**2) + model.A[n:, :n])
    kd = np.linalg.solve(B2, np.diag(2 * xi * w) + model.A[n:, n:])
    K = np.hstack([kp, kd])
    seen = with_states(model)
    after = (model.A - model.B[:, u] @ K)[n:]
    off = float(
        np.abs(after + np.hstack([np.diag(w**2), np.diag(2 * xi * w)])).max()
        / max((w**2).max(), (xi * w).max())
    )
    controller = named_controller(seen, static(-K), u, np.arange(2 * n), "decoupling pd")
    check = Check("coupling left, relative", off, 1e-8, off < 1e-8)
    return check_design(
        DecouplingDesign,
        "decoupling pd",
        seen,
        controller,
        u,
        np.arange(2 * n),
        {"kp": kp, "kd": kd, "gain": K},
        [check],
    )
