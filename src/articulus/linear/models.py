"""`LinearModels`: linear models with the same names about many operating points, as arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.linear.model import LinearModel

if TYPE_CHECKING:
    import control


@dataclass(frozen=True, eq=False)
class LinearModels(LinearModel):
    """Linear models about many operating points; `models[i]` is the `LinearModel` of one.

    Names, units, time and period are those of all of them. The arrays A, B, C, D have leading axes (..., nx, nx) and so on,
    those of the operating points; C and D may be read-only views of one matrix. `poles` and `response` have them, too.
    """

    @staticmethod
    def of(models: Sequence[LinearModel]) -> LinearModels:
        """Return models of the same names as one; at least one."""
        arrays = {name: np.stack([getattr(m, name) for m in models]) for name in "ABCD"}
        return LinearModels(**{f.name: getattr(models[0], f.name) for f in fields(LinearModel)} | arrays)

    def reshaped(self, shape: tuple[int, ...]) -> LinearModels:
        """Return the same models with other leading axes."""
        arrays = {n: getattr(self, n).reshape(*shape, *getattr(self, n).shape[-2:]) for n in "ABCD"}
        return dataclasses.replace(self, **arrays)

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes: those of the operating points."""
        return self.A.shape[:-2]

    def __len__(self) -> int:
        return len(self.A)

    def __getitem__(self, index: Any) -> LinearModel:
        """Return one model, or those that an index or a slice of the leading axes chooses."""
        points = np.empty(self.shape, dtype=bool)[index].shape
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return (LinearModels if points else LinearModel)(
            **values | {name: values[name][index] for name in "ABCD"}
        )

    def __iter__(self) -> Iterator[LinearModel]:
        return (self[i] for i in range(len(self)))

    def to_control(self) -> control.StateSpace:
        """Raise InputError: python-control has no system for many operating points."""
        raise InputError(
            f"to_control: found models of {self.shape} operating points; expected one: models[i]"
        )

    def _one_by_one(self, omega: Any, matrices: np.ndarray) -> np.ndarray:
        return np.array([model.response(omega) for model in self])
