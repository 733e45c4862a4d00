"""A control law in compiled C, from a library that the user names."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from articulus.errors import Finding, InputError


class CompiledLaw:
    """A function of a shared library, `void step(const double *in, double *out, double *state)`, as a law of a `FlightTask` or a `PythonController`.

    The library runs in this process with all its rights: name only what you trust. No file that is read can name one.

    Parameters
    ----------
    library : str or Path
        Path of the shared library.
    inputs, outputs : int
        How many numbers it reads and writes; inputs of several numbers follow one another.
    state : int
        How many numbers it keeps from call to call; zero at the start of every run.
    function : str
        Its name.
    """

    def __init__(
        self, library: str | Path, inputs: int, outputs: int, state: int = 0, function: str = "step"
    ):
        place = Path(library).resolve()
        if not place.is_file():
            raise InputError(
                Finding("CompiledLaw.library", f"no file {library}", "the path of a shared library")
            )
        try:
            self._call = getattr(ctypes.CDLL(str(place)), function)
        except OSError as error:
            raise InputError(
                Finding("CompiledLaw.library", f"{place.name}: {error}", "a shared library for this machine")
            ) from None
        except AttributeError:
            raise InputError(
                Finding(
                    "CompiledLaw.function",
                    f"no function '{function}' in {place.name}",
                    "a function that it exports",
                    'C++ needs extern "C"',
                )
            ) from None
        pointer = ctypes.POINTER(ctypes.c_double)
        self._call.argtypes, self._call.restype = (pointer, pointer, pointer), None
        self._in, self._out, self._state = np.zeros(inputs), np.zeros(outputs), np.zeros(state)
        self._pointers = [each.ctypes.data_as(pointer) for each in (self._in, self._out, self._state)]

    def reset(self) -> None:
        """Begin a run: its state is zero."""
        self._state[:] = 0.0

    def __call__(self, *inputs: np.ndarray) -> np.ndarray:
        """Return what it writes, (outputs,)."""
        given = np.concatenate([np.ravel(x) for x in inputs]) if inputs else np.zeros(0)
        if given.size != self._in.size:
            raise InputError(
                f"CompiledLaw: {given.size} numbers come in; expected {self._in.size}, as it was declared"
            )
        self._in[:] = given
        self._call(*self._pointers)
        return self._out.copy()
