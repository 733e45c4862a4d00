"""Poles by state feedback (`place` in MATLAB)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from articulus.control.analysis.scaling import scale_states
from articulus.control.design import Check, GainDesign, check_design, named_controller, static
from articulus.control.modes import heaviest, out_of_reach
from articulus.control.plant import Group, as_plant, places, with_states
from articulus.errors import InputError

DEPENDENT = 1e-10
"""Singular value of B over the largest below which inputs count as doing the same."""


def place(plant: Any, poles: Sequence[complex], *, commands: Group = None) -> GainDesign:
    """Return the state feedback u = -K x whose closed loop has the given poles, as insensitive as the inputs allow.

    By the iteration of Yang & Tits on the eigenvectors (SciPy), the successor of that of Kautsky, Nichols & Van Dooren.

    Parameters
    ----------
    plant : see `as_plant`
    poles : sequence of complex, (n,)
        In the s plane [rad/s], of a sampled plant in the z plane; none more often than there are inputs.
    commands : names or number
        Inputs that the feedback drives; all if not given.

    Returns
    -------
    Design
        Its plant has the states as outputs. Figures: `gain` K (m, n).
    """
    model = as_plant(plant, "place")
    u = places(model.inputs, commands, "input", "place")
    alike, d = scale_states(model)
    A, B = alike.A, alike.B[:, u]
    wanted = np.atleast_1d(np.asarray(poles, dtype=complex))
    if not len(A):
        raise InputError("place: found a plant without states; expected at least one")
    if wanted.shape != (len(A),):
        raise InputError(f"place: found {wanted.size} poles; expected {len(A)}, one per state")
    fixed = out_of_reach(A, B)
    if fixed:
        raise InputError(
            f"place: no input moves the mode at {fixed[0]:.6g} ({heaviest(model, fixed[0])}); expected a controllable plant: leave it out"
        )
    K = _gain(A, B, wanted) / d
    distances = np.abs(np.linalg.eigvals(model.A - model.B[:, u] @ K)[:, None] - wanted)
    off = distances[linear_sum_assignment(distances)].max() / max(np.abs(wanted).max(), np.finfo(float).tiny)
    seen = with_states(model)
    controller = named_controller(seen, static(-K), u, np.arange(len(A)), "place")
    check = Check("distance of the poles, relative", float(off), 1e-5, bool(off < 1e-5))
    return check_design(GainDesign, "place", seen, controller, u, np.arange(len(A)), {"gain": K}, [check])


def _gain(A: np.ndarray, B: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return K; where inputs do the same (a mechanism with closed loops and all joints driven), that with the least commands."""
    from scipy.signal import place_poles  # late: a fifth of the time to import this package

    U, sizes, Vt = np.linalg.svd(B, full_matrices=False)
    r = np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0))
    basis, spread = (U[:, :r] * sizes[:r], Vt[:r].T) if r < B.shape[1] else (B, np.eye(B.shape[1]))
    try:
        return spread @ place_poles(A, basis, wanted, rtol=1e-6, maxiter=100).gain_matrix
    except ValueError as error:
        raise InputError(f"place: {error}") from error
