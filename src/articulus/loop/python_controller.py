"""Controllers that are Python functions: sampled by nature, called between native steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.mechanism.numbers import as_array


@dataclass(frozen=True)
class PythonController:
    """A Python function that gives the commands, held until its next call.

    Parameters
    ----------
    function : callable
        From time t [s], q (nq,) and v (nv,) to the commands (nu,); in a rollout q is (batch, nq), v (batch, nv) and the
        result (batch, nu) or (nu,). The arrays are read-only copies, which it may keep.
    period : number [s]
        Time between calls, a whole number of steps; every step if not given.
    name : str
    """

    function: Callable[[float, np.ndarray, np.ndarray], Any]
    period: float | None = None
    name: str = "python"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"controller '{self.name}': found {self.function!r}; expected a function of t, q and v"
            )

    def commands(self, t: float, q: np.ndarray, v: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return the commands at time t, (rows, nu) or (nu,), for states (nq,) and (nv,) or (rows, nq) and (rows, nv)."""
        try:
            value = self.function(t, q, v)
        except Exception as error:
            error.add_note(f"raised by the controller '{self.name}' at t = {t:.9g} s")
            raise
        if type(value) is np.ndarray and value.shape == shape[1:] and value.dtype == np.float64:
            return value  # the short way: this is called at every step
        return self._checked(value, shape, t)

    def _checked(self, value: Any, shape: tuple[int, ...], t: float) -> np.ndarray:
        """Return what the function returned as numbers, or raise what is wrong with it."""
        command = as_array(f"controller '{self.name}' at t = {t:.6g} s returned", value)
        if command.shape not in (shape, shape[1:]):
            raise InputError(
                f"controller '{self.name}' at t = {t:.6g} s returned shape {command.shape}; "
                f"expected {shape[1:]}, one number per command"
            )
        return command
