"""Linear models connected: side by side, one after another, in feedback.

Signals are connected by number. Names and units of what stays outside are kept; a signal without a name of its own ("u.0", "y.0", as
matrices and filters have) takes that of the signal that it stands for on the other side of the filter.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from articulus.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from articulus.linear.model import LinearModel

M = TypeVar("M", bound="LinearModel")
WELL_POSED = 1e-12
"""Smallest reciprocal condition of I - D_p D_k at which a feedback loop has a solution."""
NAMELESS = {"input": re.compile(r"u\.\d+"), "output": re.compile(r"y\.\d+")}
"""Names that signals have when nobody named them."""


def select(model: M, inputs: Sequence[int] | np.ndarray, outputs: Sequence[int] | np.ndarray) -> M:
    """Return the model with some of its inputs and outputs, by number, in the order given."""
    i, o = np.asarray(inputs, dtype=int), np.asarray(outputs, dtype=int)
    return dataclasses.replace(
        model,
        B=model.B[..., i],
        C=model.C[..., o, :],
        D=model.D[..., o, :][..., i],
        inputs=tuple(model.inputs[k] for k in i),
        outputs=tuple(model.outputs[k] for k in o),
        input_units=tuple(model.input_units[k] for k in i),
        output_units=tuple(model.output_units[k] for k in o),
    )


def places(names: Sequence[str], chosen: Any, kind: str) -> list[int]:
    """Return where names stand, in the order given: whole names, beginnings ("tau" for all "tau.shoulder"), or numbers; all for None."""
    if chosen is None:
        return list(range(len(names)))
    out: list[int] = []
    for name in [chosen] if isinstance(chosen, str | int | np.integer) else chosen:
        if isinstance(name, int | np.integer):
            found = [int(name)] if -len(names) <= name < len(names) else []
        else:
            found = [k for k, held in enumerate(names) if held == name]
            found = found or [k for k, held in enumerate(names) if held.startswith(f"{name}.")]
        if not found:
            raise InputError(f"linear model: no {kind} '{name}'; {did_you_mean(str(name), names)}")
        out += found
    return out


def side_by_side(*models: LinearModel) -> LinearModel:
    """Return the models as one, block-diagonal."""
    from scipy.linalg import block_diag  # late: its import would slow down every first run

    period = same_period(*models)
    joined: dict[str, Any] = {name: block_diag(*(getattr(m, name) for m in models)) for name in "ABCD"}
    for field in ("states", "inputs", "outputs", "input_units", "output_units"):
        joined[field] = tuple(x for m in models for x in getattr(m, field))
    name = " ".join(m.name for m in models if m.name)
    return type(models[0])(**joined, period=period, name=name)


def series(first: LinearModel, second: LinearModel) -> LinearModel:
    """Return second(first): the outputs of the first are the inputs of the second, by number."""
    period = same_period(first, second)
    _fits("series", len(first.outputs), len(second.inputs))
    A = np.block([[first.A, np.zeros((len(first.A), len(second.A)))], [second.B @ first.C, second.A]])
    return type(first)(
        A,
        np.vstack([first.B, second.B @ first.D]),
        np.hstack([second.D @ first.C, second.C]),
        second.D @ first.D,
        first.states + second.states,
        first.inputs,
        second.outputs,
        first.input_units,
        second.output_units,
        period=period,
        name=second.name or first.name,
    )


def parallel(first: LinearModel, second: LinearModel, sign: float = 1.0) -> LinearModel:
    """Return first + sign second: the same inputs go to both, the outputs are added; names are those of the first."""
    _fits("sum", len(first.inputs), len(second.inputs))
    _fits("sum", len(first.outputs), len(second.outputs))
    n, m = len(first.A), len(second.A)
    return dataclasses.replace(
        first,
        A=np.block([[first.A, np.zeros((n, m))], [np.zeros((m, n)), second.A]]),
        B=np.vstack([first.B, second.B]),
        C=np.hstack([first.C, sign * second.C]),
        D=first.D + sign * second.D,
        states=first.states + second.states,
        period=same_period(first, second),
    )


def close(
    plant: LinearModel,
    controller: LinearModel,
    commands: Sequence[int] | np.ndarray,
    measured: Sequence[int] | np.ndarray,
) -> LinearModel:
    """Return the plant with the controller around it: u = K y + u', for the given inputs u and outputs y of the plant.

    All inputs and outputs of the plant stay; at the commands the inputs u' are added to what the controller commands. The
    sign is the controller's (no minus here).
    """
    period = same_period(plant, controller)
    u, y = np.asarray(commands, dtype=int), np.asarray(measured, dtype=int)
    _fits("feedback", len(y), len(controller.inputs))
    _fits("feedback", len(controller.outputs), len(u))
    Bu, Cy, Dyu = plant.B[:, u], plant.C[y], plant.D[np.ix_(y, u)]
    loop = np.eye(len(y)) - Dyu @ controller.D
    if loop.size and 1.0 / np.linalg.cond(loop) < WELL_POSED:
        raise InputError(
            "feedback: plant and controller pass signals on at once, and I - D_plant D_controller is singular"
        )
    # y = S (Cy x + Dyu Ck k + D[y] u'),  u = Dk y + Ck k + u' at the commands
    S = np.linalg.solve(loop, np.eye(len(y)))
    yx, yk, yin = S @ Cy, S @ Dyu @ controller.C, S @ plant.D[y]
    ux, uk, uin = controller.D @ yx, controller.C + controller.D @ yk, controller.D @ yin
    A = np.block([[plant.A + Bu @ ux, Bu @ uk], [controller.B @ yx, controller.A + controller.B @ yk]])
    B = np.vstack([plant.B + Bu @ uin, controller.B @ yin])
    Du = plant.D[:, u]
    return dataclasses.replace(
        plant,
        A=A,
        B=B,
        C=np.hstack([plant.C + Du @ ux, Du @ uk]),
        D=plant.D + Du @ uin,
        states=plant.states + controller.states,
        period=period,
    )


def same_period(*models: LinearModel) -> float | None:
    """Return the period that models have in common; a model without states belongs to any."""
    periods = {m.period for m in models if len(m.A)}
    if len(periods) > 1:
        found = ", ".join("continuous" if p is None else f"{p:g} s" for p in periods)
        raise InputError(
            f"connection of systems: found periods {found}; expected one; sample the continuous one first"
        )
    return periods.pop() if periods else models[0].period


# by names


def product(second: LinearModel, first: LinearModel) -> LinearModel:
    """Return second(first), connected by names if the second's inputs are among the first's outputs, else by number.

    One of them may be of one signal and then acts on each of the other's.
    """
    if set(second.inputs) <= set(first.outputs):
        first = select(first, range(len(first.inputs)), [first.outputs.index(n) for n in second.inputs])
    elif len(first.outputs) != len(second.inputs) and _single(first):
        first = _repeat(first, len(second.inputs))
    elif len(first.outputs) != len(second.inputs) and _single(second):
        second = _repeat(second, len(first.outputs))
    found = series(first, second)
    return dataclasses.replace(
        found,
        **_name_signals("input", first, second.inputs, second.input_units),
        **_name_signals("output", second, first.outputs, first.output_units),
    )


def total(first: LinearModel, second: LinearModel, sign: float = 1.0) -> LinearModel:
    """Return first + sign second, with the names of the first where it has some, else of the second."""
    found = parallel(first, second, sign)
    return dataclasses.replace(
        found,
        **_name_signals("input", first, second.inputs, second.input_units),
        **_name_signals("output", first, second.outputs, second.output_units),
    )


def back(model: LinearModel, other: LinearModel, sign: float) -> LinearModel:
    """Return a model with another one from its outputs back to its inputs, u = r + sign H y."""
    u, y = _match_ports(model, other, last=False)
    return close(model, dataclasses.replace(other, C=sign * other.C, D=sign * other.D), u, y)


def lower(model: LinearModel, other: LinearModel) -> LinearModel:
    """Return the lower linear fractional transformation: the signals that go to the other and come from it are no longer seen."""
    u, y = _match_ports(model, other, last=True)
    closed = close(model, other, u, y)
    w, z = ([k for k in range(len(names)) if k not in taken] for names, taken in ((model.inputs, u), (model.outputs, y)))  # fmt: skip
    return select(closed, w, z)


def append_models(*models: LinearModel) -> LinearModel:
    """Return the models side by side; nameless signals are numbered through."""
    found = side_by_side(*models)
    numbered: dict[str, Any] = {
        f"{kind}s": tuple(
            f"{letter}.{k}" if NAMELESS[kind].fullmatch(name) else name
            for k, name in enumerate(getattr(found, f"{kind}s"))
        )
        for kind, letter in (("input", "u"), ("output", "y"))
    }
    return dataclasses.replace(found, **numbered)


def _single(model: LinearModel) -> bool:
    return len(model.inputs) == len(model.outputs) == 1


def _repeat(model: LinearModel, count: int) -> LinearModel:
    return append_models(*[model] * count)


def _name_signals(kind: str, of: LinearModel, names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    """Return names and units of the inputs or outputs of a model; nameless ones take those given, if there are as many."""
    own, own_units = getattr(of, f"{kind}s"), getattr(of, f"{kind}_units")
    if len(names) == len(own):
        pairs = [
            (name, unit) if NAMELESS[kind].fullmatch(mine) else (mine, my_unit)
            for mine, my_unit, name, unit in zip(own, own_units, names, units)
        ]
        own, own_units = tuple(name for name, _ in pairs), tuple(unit for _, unit in pairs)
    return {f"{kind}s": own, f"{kind}_units": own_units}


def _match_ports(model: LinearModel, other: LinearModel, last: bool) -> tuple[list[int], list[int]]:
    """Return the inputs and outputs of a model to which another one is connected."""
    return (
        matching(model.inputs, other, "output", last=last),
        matching(model.outputs, other, "input", last=last),
    )


def matching(
    names: Sequence[str], other: LinearModel, kind: str, method: str = "feedback", last: bool = False
) -> list[int]:
    """Return which of a model's signals another model's outputs go to, or its inputs come from.

    By their names, also as python-control spells them; without names by number: all, or the last ones.
    """
    wanted = getattr(other, f"{kind}s")
    if set(wanted) <= set(names):
        return [names.index(name) for name in wanted]
    spelt = [name.replace(".", "_") for name in names]
    if len(set(spelt)) == len(spelt) and set(wanted) <= set(spelt):
        return [spelt.index(name) for name in wanted]
    named = [name for name in wanted if name not in names and not NAMELESS[kind].fullmatch(name)]
    fits = len(wanted) <= len(names) if last else len(wanted) == len(names)
    if named or not fits:
        where = "input" if kind == "output" else "output"
        if named:
            raise InputError(
                f"{method}: the plant has no {where} '{named[0]}'; {did_you_mean(named[0], names)} Signals without names are connected by "
                "number (`rename`, `select`)"
            )
        raise InputError(
            f"{method}: found {len(wanted)} {kind}s without names for {len(names)} {where}s, {', '.join(names[:6])}; expected as many, or "
            "their names (`rename`, `select`)"
        )
    first = len(names) - len(wanted)
    return list(range(first, len(names)))


def _fits(what: str, given: int, taken: int) -> None:
    if given != taken:
        raise InputError(f"{what}: found {given} signals; expected {taken}")
