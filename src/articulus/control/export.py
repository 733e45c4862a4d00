"""A sampled controller for other programs: C source, and difference equations with their coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel


def c_source(
    controller: LinearModel, name: str = "controller", *, limit: Any = None, back: Any = None
) -> str:
    """Return C99 source of a sampled controller: a state, `<name>_reset` and `<name>_step`, to be called once per period.

    It allocates nothing and calls nothing; numbers are printed so that they are read back bit by bit.

    Parameters
    ----------
    controller : LinearModel
        Discrete, see `sample`.
    name : str
        Prefix of all names in the source.
    limit : number or (m,)
        Largest size of the commands u, which are held at it; no limit if not given.
    back : (n, m)
        Back-calculation against windup: back (held u - u) is added to the next state; see `LinearController`.
    """
    period = _require_sampled(controller)
    n, p, m = len(controller.A), len(controller.inputs), len(controller.outputs)
    if not (name.isidentifier() and name.isascii()):
        raise InputError(f"c_source: found the name '{name}'; expected letters, digits and underscores")
    limits, returned = _limits(limit, back, n, m)
    declared = [
        f"    if (u[{i}] > {x!r}) u[{i}] = {x!r}; else if (u[{i}] < {-x!r}) u[{i}] = {-x!r};"
        for i, x in enumerate(limits)
    ]
    lines = [
        f"/* {controller.name or 'controller'}: {n} states, sampled every {period!r} s; call {name}_step once per period.",
        *(
            f"   y[{i}]: {_comment(label)} [{_comment(unit)}]"
            for i, (label, unit) in enumerate(zip(controller.inputs, controller.input_units))
        ),
        *(
            f"   u[{i}]: {_comment(label)} [{_comment(unit)}]"
            for i, (label, unit) in enumerate(zip(controller.outputs, controller.output_units))
        ),
        "   All are deviations from the operating point of the design. */",
        f"typedef struct {{ double x[{max(n, 1)}]; }} {name}_state;",
        "",
        f"void {name}_reset({name}_state *s)",
        "{",
        f"    for (int i = 0; i < {max(n, 1)}; i++) s->x[i] = 0.0;",
        "}",
        "",
        f"void {name}_step({name}_state *s, const double y[{p}], double u[{m}])",
        "{",
        f"    double next[{max(n, 1)}] = {{0.0}};",
        *(f"    u[{i}] = {_sum((controller.C[i], 's->x'), (controller.D[i], 'y'))};" for i in range(m)),
        *(f"    next[{i}] = {_sum((controller.A[i], 's->x'), (controller.B[i], 'y'))};" for i in range(n)),
        *(
            [f"    double over[{m}];", f"    for (int i = 0; i < {m}; i++) over[i] = -u[i];"]
            if len(returned)
            else []
        ),
        *declared,
        *([f"    for (int i = 0; i < {m}; i++) over[i] += u[i];"] if len(returned) else []),
        *(f"    next[{i}] += {_sum((row, 'over'))};" for i, row in enumerate(returned)),
        f"    for (int i = 0; i < {max(n, 1)}; i++) s->x[i] = next[i];",
        "}",
        "",
    ]
    return "\n".join(lines)


def _limits(limit: Any, back: Any, n: int, m: int) -> tuple[list[float], np.ndarray]:
    """Return the limits of the commands, (m,) or none, and the rows of back-calculation, (n, m) or none."""
    if limit is None:
        if back is not None:
            raise InputError("c_source: found `back` without `limit`; expected both")
        return [], np.zeros((0, m))
    found = np.asarray(limit, dtype=float)
    rows = np.zeros((0, m)) if back is None else np.asarray(back, dtype=float)
    if found.shape not in ((), (m,)) or not (found >= 0.0).all() or rows.shape not in ((0, m), (n, m)):
        raise InputError(
            f"c_source: found limit of shape {found.shape} and back of shape {rows.shape}; expected numbers of at least 0, one or "
            f"({m},), and ({n}, {m})"
        )
    return [float(x) for x in np.broadcast_to(found, m)], rows


def difference_equation(controller: LinearModel) -> tuple[np.ndarray, np.ndarray]:
    """Return (b, a) of a sampled controller: sum_k a[k] u_i(t - k T) = sum_j sum_k b[i, j, k] y_j(t - k T), a[0] = 1.

    Returns
    -------
    b : array, (m, p, n + 1)
    a : array, (n + 1,)
        One denominator for all: the characteristic polynomial. Beyond some ten states polynomials lose digits; `c_source`
        keeps the state-space form.
    """
    _require_sampled(controller)
    a = np.poly(controller.A) if len(controller.A) else np.ones(1)
    b = np.empty((len(controller.outputs), len(controller.inputs), len(a)))
    for i, j in np.ndindex(b.shape[:2]):
        # det(z - A + B_j C_i) - det(z - A) = C_i adj(z - A) B_j (matrix determinant lemma)
        b[i, j] = (
            np.poly(controller.A - np.outer(controller.B[:, j], controller.C[i])) - a
            if len(controller.A)
            else 0.0
        ) + controller.D[i, j] * a
    return b.real, a.real


def _require_sampled(controller: LinearModel) -> float:
    if controller.period is None:
        raise InputError(
            "export of a controller: found a continuous one; expected a sampled one: sample(controller, period)"
        )
    return controller.period


def _sum(*parts: tuple[Iterable[float], str]) -> str:
    terms = [f"{float(x)!r}*{of}[{k}]" for row, of in parts for k, x in enumerate(row) if x != 0.0]
    return " + ".join(terms).replace("+ -", "- ") or "0.0"


def _comment(text: str) -> str:
    return text.replace("*/", "").replace("\n", " ")
