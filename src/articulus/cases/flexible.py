"""What the cases of flexible bodies ask of a mechanism."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import numpy as np
from scipy.linalg import block_diag, eigh

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError
from articulus.model.mechanism.modes import Modes


@contextlib.contextmanager
def beyond_modes() -> Iterator[None]:
    """Silence, for a function or a block, the warning of bodies that the source bends or spins beyond the range of their modes; others stay."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*over its (length|first frequency)", DoubtfulResult)
        yield


def modes(arm: Mechanism, body: str) -> Modes:
    """Return the data of a flexible body."""
    held = arm.description.bodies[arm.body_names.index(body)].modes
    if held is None:
        raise InputError(f"body '{body}' is rigid; expected a flexible one")
    return held


def modal(arm: Mechanism, *bodies: str) -> list[int]:
    """Return the places of the modal coordinates of some bodies in v; those of all bodies if none is named."""
    return [i for i, name in enumerate(arm.v_names) if name.split(".")[0] in (bodies or arm.body_names)]


def locked_frequencies(arm: Mechanism, q: np.ndarray, *bodies: str) -> np.ndarray:
    """Return the frequencies with all joints locked and only the named bodies (all, if none) flexible [rad/s]."""
    chosen = bodies or [b.name for b in arm.description.bodies if b.modes is not None]
    mine = modal(arm, *chosen)
    K = block_diag(*(modes(arm, body).stiffness for body in chosen))
    return np.sqrt(eigh(K, arm.mass_matrix(q)[np.ix_(mine, mine)], eigvals_only=True))
