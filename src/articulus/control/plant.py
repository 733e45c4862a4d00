"""What a design method is given, as one `LinearModel`; its inputs and outputs in groups."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.analysis.scaling import scale_states
from articulus.control.transfer import Matrices, is_coefficients, is_fraction, proper_fraction, realize
from articulus.errors import InputError, brief, did_you_mean
from articulus.linear import LinearModel, LinearModels

Group = str | int | Sequence[str] | None
"""Inputs or outputs of a plant: names, a name that begins theirs ("tau" for "tau.shoulder"), or how many of the last."""


def as_plant(plant: Any, method: str = "plant", like: LinearModel | None = None) -> LinearModel:
    """Return a plant as a `LinearModel`.

    Parameters
    ----------
    plant : LinearModel, ReducedModel, control.StateSpace, control.TransferFunction, Structure, Reduction, (A, B, C, D[, period]), or (num, den)
        Of (A, B), the outputs are the states. Two lists of coefficients in falling powers of s are numerator and denominator.
    method : str
        Who asks, for messages.
    like : LinearModel
        With the names and units that inputs and outputs shall have, where there are as many; python-control changes and loses names.
    """
    found = _finite(_to_linear_model(plant, method), method)
    if like is None:
        return found
    labels: dict[str, Any] = {}
    for kind in ("input", "output"):
        if len(getattr(like, f"{kind}s")) == len(getattr(found, f"{kind}s")):
            labels |= {field: getattr(like, field) for field in (f"{kind}s", f"{kind}_units")}
    return dataclasses.replace(found, **labels)


def _to_linear_model(plant: Any, method: str) -> LinearModel:
    if isinstance(plant, LinearModels):
        raise InputError(
            f"{method}: found models about {plant.shape} operating points; expected one: models[i]"
        )
    if isinstance(plant, LinearModel):
        return plant
    if isinstance(getattr(plant, "full", None), LinearModel):  # a reduced model with what it was made from
        return plant.model
    if is_fraction(plant):
        return of_matrices(*realize([[proper_fraction(plant[0], plant[1], method)]]))
    if isinstance(plant, tuple | list):
        if not 2 <= len(plant) <= 5 or all(map(is_coefficients, plant)):
            raise InputError(
                f"{method}: found {brief(repr(plant))} as a plant; expected (A, B), (A, B, C), (A, B, C, D), (A, B, C, D, period) or (num, den)"
            )
        return of_matrices(*plant)
    if isinstance(plant, np.ndarray):
        raise InputError(
            f"{method}: found a matrix {plant.shape} as the plant; expected the matrices together: {method}((A, B), ...) in place of "
            f"{method}(A, B, ...)"
        )
    if hasattr(plant, "pade"):
        raise InputError(
            f"{method}: found a DelayedModel, which has no finite number of states; expected its .pade(order), or a sampled model "
            "with the delay as states: sample(plant, period, delay=...)"
        )
    if hasattr(plant, "with_rayleigh_damping") or hasattr(plant, "H_rate"):
        from articulus.structure.state_space import state_space

        return state_space(plant)
    if hasattr(plant, "dt") and hasattr(plant, "ninputs"):
        return _of_control(plant, method)
    raise InputError(
        f"{method}: found {type(plant).__name__}; expected a LinearModel, a python-control system, a structure or (A, B, C, D)"
    )


def of_matrices(
    A: Any,
    B: Any,
    C: Any = None,
    D: Any = None,
    period: float | None = None,
    *,
    states: Sequence[str] = (),
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    name: str = "",
) -> LinearModel:
    """Return a `LinearModel` of matrices; names are x.0, u.0, y.0 and so on where none are given."""
    A, B = _matrix("A", A), _matrix("B", B)
    n = len(A)
    C = np.eye(n) if C is None else _matrix("C", C)
    D = np.zeros((len(C), B.shape[1])) if D is None else _matrix("D", D)
    shapes = (A.shape, B.shape, C.shape, D.shape)
    if shapes != ((n, n), (n, D.shape[1]), (len(D), n), D.shape):
        raise InputError(
            f"plant: found A, B, C, D of shapes {', '.join(map(str, shapes))}; expected (n, n), (n, m), (p, n), (p, m)"
        )
    counts = ((states, "x", n), (inputs, "u", B.shape[1]), (outputs, "y", len(C)))
    labels = [tuple(names) or tuple(f"{letter}.{i}" for i in range(count)) for names, letter, count in counts]
    return LinearModel(
        A,
        B,
        C,
        D,
        states=labels[0],
        inputs=labels[1],
        outputs=labels[2],
        input_units=("-",) * B.shape[1],
        output_units=("-",) * len(C),
        period=period or None,
        name=name,
    )


def _matrix(name: str, given: Any) -> np.ndarray:
    """Return a matrix of numbers; raise InputError for what is none."""
    try:
        found = np.atleast_2d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise InputError(
            f"plant: found {brief(repr(given))} as {name}; expected a matrix of real numbers"
        ) from None
    if found.ndim != 2:
        raise InputError(f"plant: found {name} of shape {found.shape}; expected a matrix")
    return found


def with_states(model: LinearModel) -> LinearModel:
    """Return a model whose outputs are its states: the plant of state feedback; units are those of outputs of the same names."""
    n, m = model.B.shape
    units = dict(zip(model.outputs, model.output_units))
    return dataclasses.replace(
        model,
        C=np.eye(n),
        D=np.zeros((n, m)),
        outputs=model.states,
        output_units=tuple(units.get(name, "-") for name in model.states),
    )


def _of_control(system: Any, method: str) -> LinearModel:
    """Return a python-control system; names that nobody gave are those of `of_matrices`."""
    import control

    if isinstance(system, control.StateSpace):
        matrices = system.A, system.B, system.C, system.D
    elif isinstance(system, control.TransferFunction):
        matrices = _of_transfer_matrix(system, method)
    else:
        raise InputError(
            f"{method}: found a python-control {type(system).__name__}; expected a StateSpace or a TransferFunction: a system with states"
        )
    if system.dt is True:
        raise InputError(
            f"{method}: found a discrete system without a sampling period; expected dt in seconds"
        )
    return of_matrices(
        *matrices,
        system.dt,
        states=_labels(system.state_labels if len(matrices[0]) == len(system.state_labels or ()) else ()),
        inputs=_labels(system.input_labels),
        outputs=_labels(system.output_labels),
        name="" if (system.name or "").startswith("sys[") else system.name or "",
    )


def _of_transfer_matrix(system: Any, method: str) -> Matrices:
    """Return (A, B, C, D) of a python-control transfer function, entry by entry; no Slycot is needed."""
    rows, columns = range(system.noutputs), range(system.ninputs)
    where = method if len(rows) == len(columns) == 1 else f"{method}, entry ({{}}, {{}})"
    return realize(
        [
            [proper_fraction(system.num[i][j], system.den[i][j], where.format(i, j)) for j in columns]
            for i in rows
        ]
    )


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return names, those that python-control makes up ("u[0]") as ours ("u.0")."""
    return tuple(re.sub(r"^([uxy])\[(\d+)\]$", r"\1.\2", name) for name in names)


def _finite(model: LinearModel, method: str) -> LinearModel:
    for name in "ABCD":
        matrix = getattr(model, name)
        if not np.isfinite(matrix).all():
            i, j = np.argwhere(~np.isfinite(matrix))[0]
            raise InputError(
                f"{method}: found {matrix[i, j]} in {name}[{i}, {j}] of {model.name or 'the plant'}; expected finite numbers"
                + (f"; output {model.outputs[i]} has no derivative there" if name in "CD" else "")
            )
    return model


def places(names: Sequence[str], group: Group, kind: str, method: str) -> np.ndarray:
    """Return the numbers of the inputs or outputs of a group; all for None."""
    if group is None:
        return np.arange(len(names))
    if isinstance(group, int | np.integer):
        if not 0 <= group <= len(names):
            raise InputError(
                f"{method}: found {group} {kind}s; expected at most the {len(names)} of the plant"
            )
        return np.arange(len(names) - int(group), len(names))
    chosen: list[int] = []
    for name in [group] if isinstance(group, str) else group:
        found = [i for i, held in enumerate(names) if held == name or held.startswith(f"{name}.")]
        if not found:
            raise InputError(f"{method}: no {kind} '{name}'; {did_you_mean(str(name), names)}")
        chosen += [i for i in found if i not in chosen]
    return np.array(chosen, dtype=int)


@dataclass(frozen=True)
class PlantPartition:
    """A plant with its inputs in two groups (w: disturbances, u: commands), its outputs in two (z: errors, y: measured).

    x' = A x + B1 w + B2 u;  z = C1 x + D11 w + D12 u;  y = C2 x + D21 w + D22 u.
    """

    model: LinearModel
    w: np.ndarray
    u: np.ndarray
    z: np.ndarray
    y: np.ndarray

    @staticmethod
    def of(plant: Any, commands: Group, measured: Group, method: str) -> PlantPartition:
        """Divide a plant: `commands` and `measured` are the groups u and y, all other inputs and outputs are w and z."""
        model = as_plant(plant, method)
        u = places(model.inputs, commands, "input", method)
        y = places(model.outputs, measured, "output", method)
        if not len(u) or not len(y):
            raise InputError(
                f"{method}: found {len(u)} commands and {len(y)} measured outputs; expected at least one each"
            )
        w = np.setdiff1d(np.arange(len(model.inputs)), u)
        z = np.setdiff1d(np.arange(len(model.outputs)), y)
        return PlantPartition(model, w, u, z, y)

    def rescale(self) -> tuple[PlantPartition, np.ndarray]:
        """Return the same with states z of like size, and their scales d: x = d z."""
        model, d = scale_states(self.model)
        return dataclasses.replace(self, model=model), d

    @property
    def A(self) -> np.ndarray:
        return self.model.A

    @property
    def B1(self) -> np.ndarray:
        return self.model.B[:, self.w]

    @property
    def B2(self) -> np.ndarray:
        return self.model.B[:, self.u]

    @property
    def C1(self) -> np.ndarray:
        return self.model.C[self.z]

    @property
    def C2(self) -> np.ndarray:
        return self.model.C[self.y]

    @property
    def D11(self) -> np.ndarray:
        return self.model.D[np.ix_(self.z, self.w)]

    @property
    def D12(self) -> np.ndarray:
        return self.model.D[np.ix_(self.z, self.u)]

    @property
    def D21(self) -> np.ndarray:
        return self.model.D[np.ix_(self.y, self.w)]

    @property
    def D22(self) -> np.ndarray:
        return self.model.D[np.ix_(self.y, self.u)]
