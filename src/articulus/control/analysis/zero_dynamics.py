"""Zero dynamics: what continues inside a plant while one input keeps one output at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import ROUNDING, stable_poles
from articulus.control.analysis.zeros import without_forced_states
from articulus.control.plant import as_plant
from articulus.errors import InputError, doubtful


@dataclass(frozen=True, eq=False)
class ZeroDynamics:
    """Motion of the states of a plant while an output is held at zero by an input.

    Parameters
    ----------
    input, output : str
    relative_degree : int
        How many times the output is differentiated (of a sampled plant: steps waited) until the input appears in it.
    A : array, (r, r)
        x = V z, z' = A z.
    V : array, (n, r)
        Basis of the states that are possible.
    zeros : complex array, (r,) [rad/s]
        Eigenvalues of A; of a sampled plant values of z [-].
    minimum_phase : bool
        All zeros are asymptotically stable.
    """

    input: str
    output: str
    relative_degree: int
    A: np.ndarray
    V: np.ndarray
    zeros: np.ndarray
    minimum_phase: bool

    def __str__(self) -> str:
        kind = "minimum phase" if self.minimum_phase else "not minimum phase"
        zeros = ", ".join(f"{z:.6g}" for z in self.zeros) or "none"
        return f"{self.input} -> {self.output}: relative degree {self.relative_degree}, {kind}, zeros {zeros}"


def zero_dynamics(plant: Any, input: str | None = None, output: str | None = None) -> ZeroDynamics:
    """Return the zero dynamics of a pair of input and output; warns (DoubtfulResult) if it is not asymptotically stable.

    Parameters
    ----------
    plant : see `as_plant`
    input, output : str
        Names; may be omitted where the plant has only one.
    """
    model = as_plant(plant, "zero_dynamics")
    input = _only(model.inputs, input, "input")
    output = _only(model.outputs, output, "output")
    pair, d = scale_states(model.between(input, output))
    A, B, C, D, V = without_forced_states(pair.A, pair.B, pair.C, pair.D)
    if not len(D):
        raise InputError(
            f"zero_dynamics: found no way from input {input} to output {output}; expected a transfer function that is not zero"
        )
    inside = A - B @ np.linalg.solve(D, C)
    V = d[:, None] * V
    # the orthogonal transformations before have rounded by the size of A
    zeros, good = stable_poles(inside, pair.period, ROUNDING * float(np.linalg.norm(pair.A)))
    if not good.all():
        worst = zeros[~good][np.argmax(zeros[~good].real if pair.period is None else np.abs(zeros[~good]))]
        doubtful(
            f"zero_dynamics: from {input} to {output} the plant is not minimum phase, zero at {worst:.6g}; inverting it (computed "
            "torque at the tip, exact tracking, high gain) makes the internal dynamics diverge"
        )
    return ZeroDynamics(
        input, output, len(pair.A) - len(A), inside, V, zeros.astype(complex), bool(good.all())
    )


def _only(names: tuple[str, ...], name: str | None, kind: str) -> str:
    if name is not None:
        return name
    if len(names) != 1:
        raise InputError(
            f"zero_dynamics: found {len(names)} {kind}s; expected the name of one: {', '.join(names[:8])}"
        )
    return names[0]
