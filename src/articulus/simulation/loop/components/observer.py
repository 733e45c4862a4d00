"""Estimate of a state from measurements: Luenberger's observer, and Kalman's with his gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.columns import Rows, as_matrix, plain
from articulus.simulation.loop.components.tracking import names

if TYPE_CHECKING:
    import control


@dataclass(frozen=True)
class Observer:
    """x_hat' = A x_hat + B u + L (y - C x_hat - D u), or the same with x_hat at the next instant on the left.

    All of x, u and y are deviations from the point about which the model is linear. Part of a `StateFeedback`, whose
    period decides between the two forms: the matrices must be those of that form.

    Parameters
    ----------
    A, B, C, L : matrices, (n, n), (n, m), (p, n), (n, p)
        L by pole placement or from `control.lqe` (continuous) or `control.dlqe` (sampled).
    measured : names
        Signals that make up y, one after another; "q" and "v" are the true ones.
    D : matrix, (p, m)
        Zero if not given.
    y0 : numbers
        Measurement at the point about which the model is linear; one for all or one each.
    initial : numbers
        Estimate of the deviation at the start; one for all or one each.
    """

    in_file = "record"

    A: Any = quantity("-", "state matrix", size="n x n")
    B: Any = quantity("-", "input matrix", size="n x m")
    C: Any = quantity("-", "output matrix", size="p x n")
    L: Any = quantity("-", "gain", size="n x p")
    measured: tuple[str, ...] = quantity("-", "signals that make up y", size="names")
    D: Any = quantity("-", "feedthrough", size="p x m", default=None)
    y0: Any = quantity("-", "measurement at the operating point", size="1 or p", default=0.0)
    initial: Any = quantity("-", "estimate at the start", size="1 or n", default=0.0)

    def __post_init__(self) -> None:
        convert(self, A=as_matrix, B=as_matrix, C=as_matrix, L=as_matrix, measured=names)
        n, m, p = len(self.A), len(self.B[0]), len(self.C)
        if self.D is None:
            object.__setattr__(self, "D", np.zeros((p, m)))
        convert(self, D=as_matrix, y0=as_numbers, initial=plain)
        for field, shape in {"A": (n, n), "B": (n, m), "C": (p, n), "L": (n, p), "D": (p, m)}.items():
            rows = getattr(self, field)
            if (found := (len(rows), len(rows[0]))) != shape:
                raise InputError(
                    Finding(
                        f"Observer.{field}",
                        f"{found[0]} x {found[1]}",
                        f"{shape[0]} x {shape[1]}",
                        field=field,
                    )
                )
        for field, size in {"y0": p, "initial": n}.items():
            if len(getattr(self, field)) not in (1, size):
                raise InputError(
                    Finding(
                        f"Observer.{field}",
                        f"{len(getattr(self, field))} numbers",
                        f"1 or {size}",
                        field=field,
                    )
                )

    @staticmethod
    def of(system: control.StateSpace, L: Any, measured: tuple[str, ...], **points: Any) -> Observer:
        """Return the observer of a python-control model, continuous or sampled as the model is."""
        return Observer(system.A, system.B, system.C, L, measured, system.D, **points)

    @property
    def order(self) -> int:
        """Return the number of states."""
        return len(self.A)

    def start(self) -> tuple:
        """Return the estimate at the start, (n,)."""
        return self.initial * self.order if len(self.initial) == 1 else self.initial

    def next(self, s: Scope, x: SX, u: SX) -> SX:
        """Return the rate of the estimate (the next estimate for a sampled model), (n,), from deviations x and u."""
        A, B, C, D, L = (_matrix(s, rows) for rows in (self.A, self.B, self.C, self.D, self.L))
        y = ca.vertcat(*map(s.read, self.measured))
        if y.numel() != len(self.C):
            raise InputError(
                Finding(
                    "Observer.measured",
                    f"{y.numel()} numbers in {list(self.measured)}",
                    f"{len(self.C)}, the rows of C",
                    field="measured",
                )
            )
        if u.numel() != len(self.B[0]):
            raise InputError(
                Finding("Observer.B", f"{len(self.B[0])} columns", f"{u.numel()}, one per command", field="B")
            )
        y0 = ca.vertcat(*map(s.number, self.y0))
        return ca.mtimes(A, x) + ca.mtimes(B, u) + ca.mtimes(L, y - y0 - ca.mtimes(C, x) - ca.mtimes(D, u))


def _matrix(s: Scope, rows: Rows) -> SX:
    return ca.vertcat(*(ca.horzcat(*map(s.number, row)) for row in rows))
