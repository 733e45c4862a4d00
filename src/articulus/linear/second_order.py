"""`SecondOrder`: M q'' + D q' + K q = B u, y = H q + H_rate q', sparse or full."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.linear.model import LinearModel


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """A linear model that is kept second order: M q'' + D q' + K q = B u, y = H q + H_rate q'.

    Parameters
    ----------
    M, D, K : arrays or sparse arrays, (n, n)
        Kept sparse (columns first). M is not singular.
    B : array, (n, m)
    H, H_rate : array, (p, n)
        Zero if not given.
    inputs, outputs : tuple of str
        u.0, y.0 and so on if not given.
    name : str
    """

    M: Any
    D: Any
    K: Any
    B: Any
    H: Any = None
    H_rate: Any = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        import scipy.sparse as sp  # slow to import, and runs that need no such model import this module

        n = self.M.shape[0] if hasattr(self.M, "shape") else len(self.M)
        for field in ("M", "D", "K"):
            matrix = getattr(self, field)
            matrix = sp.csc_array(matrix if sp.issparse(matrix) else np.asarray(matrix, dtype=float))
            _shape(field, matrix.shape, (n, n))
            if not np.isfinite(matrix.data).all():
                raise InputError(f"second-order model: found {field} that is not finite")
            object.__setattr__(self, field, matrix)
        B = np.asarray(self.B, dtype=float)
        rows = max((np.shape(x)[0] for x in (self.H, self.H_rate) if x is not None), default=0)
        object.__setattr__(self, "B", B)
        _shape("B", B.shape, (n, B.shape[-1]))
        for field in ("H", "H_rate"):
            value = getattr(self, field)
            value = np.zeros((rows, n)) if value is None else np.asarray(value, dtype=float)
            _shape(field, value.shape, (rows, n))
            object.__setattr__(self, field, value)
        for field, letter, count in (("inputs", "u", B.shape[1]), ("outputs", "y", rows)):
            labels = tuple(getattr(self, field)) or tuple(f"{letter}.{i}" for i in range(count))
            if len(labels) != count:
                raise InputError(f"second-order model: found {len(labels)} {field}; expected {count}")
            object.__setattr__(self, field, labels)

    @staticmethod
    def of(system: Any) -> SecondOrder:
        """Return the second-order form of a `Structure`, a `Reduction` or the like: anything with the fields of this class."""
        if isinstance(system, SecondOrder):
            return system
        missing = [f.name for f in fields(SecondOrder)[:6] if not hasattr(system, f.name)]
        if missing:
            raise InputError(
                f"second-order model: found {type(system).__name__} without {', '.join(missing)}; expected a structure, a reduction "
                "or SecondOrder(M, D, K, B, H, H_rate)"
            )
        held = {f.name: getattr(system, f.name) for f in fields(SecondOrder)[:8] if hasattr(system, f.name)}
        return SecondOrder(**held)

    @property
    def count(self) -> int:
        """Number of degrees of freedom."""
        return self.M.shape[0]

    def first_order(self) -> LinearModel:
        """Return the `LinearModel` with x = (q, q'); full matrices."""
        n, m = self.B.shape
        M = self.M.toarray()
        solved = np.linalg.solve(M, np.hstack([-self.K.toarray(), -self.D.toarray(), self.B]))
        return LinearModel(
            np.block([[np.zeros((n, n)), np.eye(n)], [solved[:, : 2 * n]]]),
            np.vstack([np.zeros((n, m)), solved[:, 2 * n :]]),
            np.hstack([self.H, self.H_rate]),
            np.zeros((len(self.H), m)),
            states=tuple(f"{kind}.{i}" for kind in "qv" for i in range(n)),
            inputs=self.inputs,
            outputs=self.outputs,
            input_units=("-",) * m,
            output_units=("-",) * len(self.H),
            name=self.name,
        )

    def response(self, omega: Any) -> np.ndarray:
        """Return (H + j omega H_rate)(K + j omega D - omega^2 M)^-1 B, (n, p, m) complex, by a sparse solution for each omega [rad/s]."""
        import scipy.sparse as sp
        from scipy.sparse.linalg import splu

        found = []
        for w in np.atleast_1d(np.asarray(omega, dtype=float)):
            try:
                q = splu(sp.csc_array(self.K + 1j * w * self.D - w * w * self.M)).solve(
                    self.B.astype(complex)
                )
                found.append((self.H + 1j * w * self.H_rate) @ q)
            except RuntimeError:  # exactly singular: a pole
                found.append(np.full((len(self.H), self.B.shape[1]), np.inf, dtype=complex))
        return np.array(found)


def _shape(field: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if tuple(found) != tuple(expected):
        raise InputError(
            f"second-order model, {field}: found shape {tuple(found)}; expected {tuple(expected)}"
        )
