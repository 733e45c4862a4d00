"""Plants augmented by weights for mixed sensitivity (`augw`, `mixsyn` in MATLAB; `augtf`, `augss` of older toolboxes)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.control.connect import select, series, side_by_side
from articulus.control.design import static
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.synthesis.hinfsyn import HinfDesign, hinfsyn
from articulus.control.transfer import companion, is_fraction, proper_fraction
from articulus.errors import InputError
from articulus.linear import LinearModel

Weight = Any
"""A number, a list of one number per signal, (numerator, denominator) in falling powers of s (of z for a sampled plant), or a system."""


def augw(
    plant: Any,
    W1: Weight = None,
    W2: Weight = None,
    W3: Weight = None,
    *,
    commands: Group = None,
    measured: Group = None,
) -> LinearModel:
    """Return the plant with weighted sensitivity W1 S, command W2 K S and complementary sensitivity W3 T as errors.

    Parameters
    ----------
    plant : see `as_plant`
    W1, W2, W3 : number, numbers, (numerator, denominator) or system
        A weight of one signal is used for each of several. W3 may be improper, as s^2 / 40000, where W3 G is proper.
    commands, measured : names or number of inputs and of outputs
        All if not given.

    Returns
    -------
    LinearModel
        Inputs "reference.<y>" and the commands; outputs "W1.<y>", "W2.<u>", "W3.<y>" and the measured <y>, which are G u - r:
        a controller u = K y of this plant is, sign included, that of the plant given.
    """
    whole = as_plant(plant, "augw")
    u = places(whole.inputs, commands, "input", "augw")
    y = places(whole.outputs, measured, "output", "augw")
    model = select(whole, u, y)
    if W1 is None and W2 is None and W3 is None:
        raise InputError("augw: found no weight; expected at least one of W1, W2, W3")
    p, m = len(y), len(u)
    # inputs r, u; outputs e = r - G u, u, G u and the powers of s that an improper W3 asks for
    raised, proper = _differentiate_outputs(model, W3)
    rows = [model, *raised]
    C, D = np.vstack([r.C for r in rows]), np.vstack([r.D for r in rows])
    errors = [(-model.C, np.hstack([np.eye(p), -model.D]), W1, "W1", model.outputs)]
    errors += [
        (np.zeros((m, len(model.A))), np.hstack([np.zeros((m, p)), np.eye(m)]), W2, "W2", model.inputs)
    ]
    errors += [(C, np.hstack([np.zeros((len(C), p)), D]), proper, "W3", model.outputs)]
    used = [e for e in errors if e[2] is not None]
    weights = [
        w if isinstance(w, LinearModel) else weighting(w, len(names), label, model)
        for _, _, w, label, names in used
    ]
    core = of_matrices(
        model.A,
        np.hstack([np.zeros((len(model.A), p)), model.B]),
        np.vstack([e[0] for e in used] + [model.C]),
        np.vstack([e[1] for e in used] + [np.hstack([-np.eye(p), model.D])]),
        model.period,
        states=model.states,
    )
    through = of_matrices(*static(np.eye(p)), period=model.period)
    plant_with_weights = series(core, side_by_side(*weights, through))
    names = [f"{label}.{name}" for _, _, _, label, outputs in used for name in outputs] + list(model.outputs)
    return dataclasses.replace(
        plant_with_weights,
        states=model.states + tuple(f"weight.{i}" for i in range(len(plant_with_weights.A) - len(model.A))),
        inputs=tuple(f"reference.{name}" for name in model.outputs) + model.inputs,
        outputs=tuple(names),
        input_units=model.output_units + model.input_units,
        output_units=("-",) * (len(names) - p) + model.output_units,
        name=f"{model.name} with weights".strip(),
        period=model.period,
    )


def mixsyn(
    plant: Any,
    W1: Weight = None,
    W2: Weight = None,
    W3: Weight = None,
    *,
    commands: Group = None,
    measured: Group = None,
    gamma: float | None = None,
    relax: float = 0.0,
    shift: float | None = None,
    iterations: int = 100,
) -> HinfDesign:
    """Return the controller with the least Hinf norm of [W1 S; W2 K S; W3 T]; see `augw` for weights, `hinfsyn` for the rest.

    The controller is u = K y with its sign (MATLAB's acts on r - y and is minus this one).
    """
    augmented = augw(plant, W1, W2, W3, commands=commands, measured=measured)
    p = sum(name.startswith("reference.") for name in augmented.inputs)
    m = len(augmented.inputs) - p
    return hinfsyn(
        augmented, measured=p, commands=m, gamma=gamma, relax=relax, shift=shift, iterations=iterations
    )


def weighting(W: Weight, count: int, label: str, model: LinearModel) -> LinearModel:
    """Return a weight as a system of as many signals, with the period of the plant."""
    if isinstance(W, int | float | list | np.ndarray | np.number):
        values = np.asarray(W, dtype=float)
        if values.shape not in ((), (1,), (count,)):
            raise InputError(f"{label}: found numbers of shape {values.shape}; expected one, or {count}")
        return of_matrices(*static(np.diag(np.broadcast_to(values, (count,)))), period=model.period)
    fraction = _fraction(W)
    found = (
        as_plant(W, label)
        if fraction is None
        else of_matrices(
            *companion(*proper_fraction(*fraction, label, "only W3 may be improper")), period=model.period
        )
    )
    if len(found.A) and found.period != model.period:
        raise InputError(
            f"{label}: found the period {found.period}; expected that of the plant, {model.period}"
        )
    if len(found.inputs) == len(found.outputs) == 1:
        found = side_by_side(*(found,) * count)
    if len(found.inputs) != count:
        raise InputError(f"{label}: found a weight of {len(found.inputs)} signals; expected 1 or {count}")
    return found


def _fraction(W: Weight) -> tuple[np.ndarray, np.ndarray] | None:
    """Return numerator and denominator of a weight given by them, in falling powers; None for other weights."""
    if is_fraction(W):
        num, den = W
    elif hasattr(W, "num") and hasattr(W, "den") and hasattr(W, "dt") and W.ninputs == W.noutputs == 1:
        num, den = W.num[0][0], W.den[0][0]
    else:
        return None
    num, den = (np.trim_zeros(np.asarray(part, dtype=float), "f") for part in (num, den))
    if not len(den):
        raise InputError("weight: found a denominator of zeros")
    return num, den


def _differentiate_outputs(model: LinearModel, W3: Weight) -> tuple[list[LinearModel], Weight]:
    """Return s G, s^2 G and so on, as far as an improper W3 asks for them, and W3 as a system of G u and these."""
    fraction = _fraction(W3)
    if fraction is None or len(fraction[0]) <= len(fraction[1]):
        return [], W3
    if model.period is not None:
        raise InputError("W3: found an improper weight of a sampled plant; expected one that is proper in z")
    quotient, rest = np.polydiv(*fraction)
    degree = len(quotient) - 1
    raised, last, before = [], model, model
    speed = float(np.abs(np.linalg.eigvals(model.A)).max(initial=0.0)) or np.inf
    for k in range(1, degree + 1):
        rounding = 1e-12 * (np.abs(before.C) @ np.abs(model.B)) / (speed if last is model else 1.0)
        if (np.abs(last.D) > rounding).any():
            raise InputError(
                f"W3: found a weight that grows as s^{degree} on a plant that falls as s^-{k - 1}; expected W3 G to be proper"
            )
        before, last = last, dataclasses.replace(last, C=last.C @ model.A, D=last.C @ model.B)
        raised.append(last)
    base = weighting((rest, fraction[1]), len(model.outputs), "W3", model)
    shares = [c * np.eye(len(model.outputs)) for c in quotient[::-1]]
    zero = np.zeros((len(base.A), degree * len(model.outputs)))
    system = (base.A, np.hstack([base.B, zero]), base.C, np.hstack([base.D + shares[0], *shares[1:]]))
    return raised, of_matrices(*system)
