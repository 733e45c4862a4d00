"""Controllers in Python: sampled by nature, called between native steps with signals of their choice."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.numbers import as_array

STATE = ("t", "q", "v")
"""What a controller is given where it declares no inputs."""


@dataclass(frozen=True)
class PythonController:
    """A Python function, object or generator that gives the commands, held until its next call.

    Parameters
    ----------
    function : callable, class or generator function
        From its inputs to the commands (nu,); in a rollout every input but t is (batch, n), and the result (batch, nu) or (nu,).
        The arrays are read-only copies, which it may keep. A class is made anew for every run, without arguments, and
        its object called; a generator function is begun anew, and is sent a tuple of its inputs at each `yield`, the first of
        which gives nothing. An object may have `reset()`, called before every run, and `seed(number)`, called with the seed of
        the run.
    period : number [s]
        Time between calls, a whole number of steps; every step if not given.
    name : str
    inputs : names
        What it is given, in this order: "t" [s], "q", "v" and signals such as "gyro.rate", as a sampled component would read
        them at that instant, with the sampling, delay and noise of their sensors. t, q and v if not given.
    """

    function: Callable[..., Any]
    period: float | None = None
    name: str = "python"
    inputs: tuple[str, ...] = STATE

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                Finding(
                    f"controller '{self.name}'",
                    repr(self.function),
                    "a function of t, q and v, a class or a generator function",
                )
            )
        given = (self.inputs,) if isinstance(self.inputs, str) else tuple(self.inputs)
        object.__setattr__(self, "inputs", given)

    @property
    def stateful(self) -> bool:
        """Whether it has a state of its own that is made anew for every run."""
        made = isinstance(self.function, type) or inspect.isgeneratorfunction(self.function)
        return made or callable(getattr(self.function, "reset", None))

    def begin(self, seed: int) -> Callable[..., Any]:
        """Return the law of a new run: from the inputs to the commands."""
        law = self.function() if isinstance(self.function, type) else self.function
        if not callable(law):
            raise InputError(
                f"controller '{self.name}': a {type(law).__name__} has no `__call__`; expected one"
            )
        if callable(reset := getattr(law, "reset", None)):
            reset()
        if callable(sow := getattr(law, "seed", None)):
            sow(seed)
        if not inspect.isgeneratorfunction(law):
            return law
        going = law()
        next(going)
        return lambda *values: going.send(values)

    def commands(
        self, law: Callable[..., Any], t: float, values: Sequence[Any], shape: tuple[int, ...]
    ) -> np.ndarray:
        """Return the commands of a begun law at time t, (rows, nu) or (nu,), for the values of its inputs."""
        try:
            value = law(*values)
        except StopIteration:
            raise InputError(
                f"controller '{self.name}' at t = {t:.9g} s: the generator has ended; expected a `yield` for every call"
            ) from None
        except Exception as error:
            error.add_note(f"raised by the controller '{self.name}' at t = {t:.9g} s")
            raise
        if type(value) is np.ndarray and value.shape == shape[1:] and value.dtype == np.float64:
            return value  # the short way: this is called at every step
        return self._check_result(value, shape, t)

    def _check_result(self, value: Any, shape: tuple[int, ...], t: float) -> np.ndarray:
        """Return what the function returned as numbers, or raise what is wrong with it."""
        command = as_array(f"controller '{self.name}' at t = {t:.6g} s returned", value)
        if command.shape not in (shape, shape[1:]):
            raise InputError(
                f"controller '{self.name}' at t = {t:.6g} s returned shape {command.shape}; "
                f"expected {shape[1:]}, one number per command"
            )
        return command
