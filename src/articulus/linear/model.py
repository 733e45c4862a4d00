"""`LinearModel`: a linear system with names, of a mechanism, a loop or a structure."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.linear.connect import append_models, back, lower, places, product, select, total
from articulus.linear.figures import bode, pole_map, step, step_response
from articulus.linear.mat import fields_from, parts_of
from articulus.linear.response import Transfer
from articulus.model.late import late_function

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure

Names = str | int | Sequence[str] | Sequence[int] | None
"""Inputs or outputs: a name, several, numbers, or what several names begin with; all for None."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """x' = A x + B u, y = C x + D u; with a period x is taken at its multiples and x' is the next x.

    Parameters
    ----------
    A, B, C, D : arrays, (nx, nx), (nx, nu), (ny, nx), (ny, nu)
        Rows of C and D are NaN for outputs that have no finite derivative at the state.
    states : tuple of str
        Small displacements ("q.", in the directions of the velocities), velocities ("v."), states of components, held values.
    inputs, outputs : tuple of str
    input_units, output_units : tuple of str
    t : float [s]
        Time of the state that it is about.
    period : float [s]
        Least common multiple of the sampling periods; None for a loop without sampled components. The inputs hold for a
        period; x is what it was just before the sampled components work, y just after.
    name : str
        Name of the system.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    t: float = 0.0
    period: float | None = None
    name: str = ""

    __array_ufunc__ = None  # array * model asks the model

    @property
    def poles(self) -> np.ndarray:
        """Poles by rising size, (nx,) [rad/s]; of a discrete model log(z) / period, -inf for what is forgotten within one."""
        return poles(self.A, self.period)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: sizes, names, and the poles with frequency and damping."""
        kind = "continuous" if self.period is None else f"period {self.period:g} s"
        title = f"{self.name or 'linear model'}: {len(self.A)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind}"
        names = "".join(
            f"<p>{what}: {html.escape(', '.join(held[:30]))}{' ...' if len(held) > 30 else ''}</p>"
            for what, held in (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        )
        rows = "".join(
            f"<tr><td>{p.real:.5g} {p.imag:+.5g} j</td><td>{abs(p) / (2 * np.pi):.5g}</td><td>{_damping(p)}</td></tr>"
            for p in self.poles[:60]
            if p.imag >= 0
        )
        table = f"<table><tr><th>pole [rad/s]</th><th>frequency [Hz]</th><th>damping ratio</th></tr>{rows}</table>"
        return f"<p><b>{html.escape(title)}</b></p>{table}<details><summary>Names</summary>{names}</details>"

    def response(self, omega: Any) -> np.ndarray:
        """Return the frequency response C (s I - A)^-1 B + D at s = j omega, or at z = exp(j omega period).

        Parameters
        ----------
        omega : array, (n,) [rad/s]

        Returns
        -------
        complex array, (n, ny, nu)
            Infinite at a pole.
        """
        s = 1j * np.atleast_1d(np.asarray(omega, dtype=float))
        places = s if self.period is None else np.exp(s * self.period)
        return self._transfer(places)

    def _transfer(self, places: np.ndarray) -> np.ndarray:
        return Transfer(self.A, self.B, self.C, self.D)(places)

    def between(self, input: str, output: str) -> LinearModel:
        """Return the model with one input and one output."""
        return select(self, [_place(self.inputs, input, "input")], [_place(self.outputs, output, "output")])

    def select(self, inputs: Names = None, outputs: Names = None) -> LinearModel:
        """Return the model with some of its inputs and outputs, in the order given.

        Parameters
        ----------
        inputs, outputs : name, names or numbers
            Names such as "u.motor", or what several begin with: "tau" means every "tau.<joint>"; all if not given.
        """
        return select(self, places(self.inputs, inputs, "input"), places(self.outputs, outputs, "output"))

    def rename(
        self,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        name: str | None = None,
    ) -> LinearModel:
        """Return the same with other names of all inputs or outputs."""
        chosen: dict[str, Any] = {} if name is None else {"name": name}
        for field, labels in (("inputs", inputs), ("outputs", outputs)):
            held = getattr(self, field)
            if labels is None:
                continue
            if isinstance(labels, str) or len(labels) != len(held):
                raise InputError(
                    f"rename: found {labels!r} as {field}; expected {len(held)} names, for {', '.join(held[:6])}"
                )
            chosen[field] = tuple(labels)
        return dataclasses.replace(self, **chosen)

    # figures

    @property
    def zeros(self) -> np.ndarray:
        """Transmission zeros [rad/s]; of a discrete model values of z. `control.tzero` tells more."""
        return np.asarray(late_function("tzero")(self).transmission)

    def bode(self, omega: Any = None) -> Figure:
        """Return a figure: gain and phase from each input to each output over frequency.

        Parameters
        ----------
        omega : array, (n,) [rad/s]
            A decade beyond the slowest and the fastest pole if not given.
        """
        return bode(self._alone(), omega)

    def step(self, t: Any = None) -> Figure:
        """Return a figure: the outputs after a unit step of each input; `step_response` has the numbers.

        Parameters
        ----------
        t : array, (n,) [s]
            Evenly spaced from 0 s on; until the slowest mode has died out if not given.
        """
        return step(self._alone(), t)

    def step_response(self, t: Any) -> np.ndarray:
        """Return the outputs after unit steps of each input, (n, ny, nu), at evenly spaced times t (n,) from 0 s on [s]."""
        return step_response(self._alone(), np.asarray(t, dtype=float))

    def plot(self) -> Figure:
        """Return a figure: poles and transmission zeros in the complex plane."""
        return pole_map(self._alone())

    # connections

    def __mul__(self, other: Any) -> LinearModel:
        """Return self after other, `self * other`: the outputs of the other are the inputs of this one.

        One of one input and one output acts on every signal of the other, as a number does.
        """
        return product(self._alone(), self._model(other, len(self.inputs)))

    def __rmul__(self, other: Any) -> LinearModel:
        return product(self._model(other, len(self.outputs)), self._alone())

    def __add__(self, other: Any) -> LinearModel:
        """Return both side by side from the same inputs, their outputs added, by number; names are those of the first."""
        return total(self._alone(), self._summand(other))

    def __radd__(self, other: Any) -> LinearModel:
        return total(self._summand(other), self._alone())

    def __sub__(self, other: Any) -> LinearModel:
        return total(self._alone(), self._summand(other), -1.0)

    def __rsub__(self, other: Any) -> LinearModel:
        return total(self._summand(other), self._alone(), -1.0)

    def __neg__(self) -> LinearModel:
        return dataclasses.replace(self, C=-self.C, D=-self.D)

    def feedback(self, other: Any = 1.0, sign: float = -1.0) -> LinearModel:
        """Return this model with another one from its outputs back to its inputs: u = r + sign H y.

        The inputs and outputs of this model stay. They are connected by the names of the other's signals if these are some of this
        model's, so that a controller finds its commands and measured outputs, else by number.

        Parameters
        ----------
        other : LinearModel, number, matrix or what `as_plant` takes
        sign : float
            -1: negative feedback; +1 for controllers with their sign included, such as `Design.law`.
        """
        if sign not in (-1, 1):
            raise InputError(f"feedback: found sign {sign!r}; expected -1 or +1")
        return back(self._alone(), self._model(other, len(self.outputs)), float(sign))

    def lft(self, other: Any) -> LinearModel:
        """Return the lower linear fractional transformation: the other closes the loop u = K y and its signals vanish.

        Connected by names as in `feedback`, else the last inputs and outputs of this model are those of the other.
        """
        return lower(self._alone(), self._model(other, None))

    def append(self, *others: Any) -> LinearModel:
        """Return this model and others side by side: all inputs, all outputs, block-diagonal."""
        return append_models(self._alone(), *(self._model(other, 1) for other in others))

    def _alone(self) -> LinearModel:
        return self

    def _model(self, other: Any, size: int | None) -> LinearModel:
        """Return something as a model; a number as that many gains, a matrix as gains."""
        if isinstance(other, LinearModel):
            return other._alone()
        if isinstance(other, int | float | np.number) and size is not None:
            return gain(float(other) * np.eye(size), self.period)
        if isinstance(other, np.ndarray):
            return gain(other, self.period)
        return late_function("as_plant")(other, "linear model")

    def _summand(self, other: Any) -> LinearModel:
        if isinstance(other, int | float | np.number) and self.D.shape != (1, 1):
            raise InputError(
                f"sum: found the number {other!r} beside {len(self.outputs)} outputs and {len(self.inputs)} inputs; expected a model or a "
                "matrix, such as numpy.eye(n)"
            )
        return self._model(other, 1)

    def to_mat(self, path: str | Path) -> None:
        """Write a MAT file of version 5: A, B, C, D, Ts (0: continuous), Name, and the cells StateName, InputName, OutputName, InputUnit, OutputUnit.

        In MATLAB: `m = load("m.mat"); sys = ss(m.A, m.B, m.C, m.D, m.Ts, "StateName", m.StateName, "InputName", m.InputName, ...)`.
        """
        import scipy.io  # late: few write these

        with late_function("replacing")(path) as place, place.open("wb") as file:
            scipy.io.savemat(file, parts_of(self))

    @staticmethod
    def from_mat(path: str | Path) -> LinearModel:
        """Return the model of a MAT file of version 5 with A, B, C and D, and the names that `to_mat` writes as far as they are there."""
        return LinearModel(**fields_from(path))

    def to_control(self) -> control.StateSpace:
        """Return it as a python-control system; dots in names become underscores."""
        import control

        names = (plain_labels(x) for x in (self.states, self.inputs, self.outputs))
        labels = dict(zip(("states", "inputs", "outputs"), names))
        name = {"name": self.name.replace(".", "_")} if self.name else {}
        return control.StateSpace(self.A, self.B, self.C, self.D, self.period or 0, **labels, **name)


def gain(D: Any, period: float | None = None) -> LinearModel:
    """Return a matrix of gains (ny, nu) as a model without states; its signals have no names of their own."""
    D = np.atleast_2d(np.asarray(D, dtype=float))
    if D.ndim != 2 or not np.isfinite(D).all():
        raise InputError(
            f"linear model: found an array of shape {D.shape} as gains; expected a finite matrix"
        )
    ny, nu = D.shape
    return LinearModel(
        np.zeros((0, 0)),
        np.zeros((0, nu)),
        np.zeros((ny, 0)),
        D,
        (),
        tuple(f"u.{k}" for k in range(nu)),
        tuple(f"y.{k}" for k in range(ny)),
        ("-",) * nu,
        ("-",) * ny,
        period=period,
    )


def poles(A: np.ndarray, period: float | None) -> np.ndarray:
    """Return the poles of matrices A (..., nx, nx) by rising size, (..., nx) [rad/s]; see `LinearModel.poles`."""
    found = rates(np.linalg.eigvals(A), period)
    return np.take_along_axis(found, np.argsort(np.abs(found), axis=-1, kind="stable"), axis=-1)


def rates(values: np.ndarray, period: float | None) -> np.ndarray:
    """Return eigenvalues as poles [rad/s]: log(z) / period of those of a discrete model, -inf of zero."""
    found = np.array(values, dtype=complex)
    if period is not None:
        with np.errstate(divide="ignore"):
            found.real, found.imag = np.log(np.abs(found)) / period, np.angle(found) / period
    return found


def _place(names: Sequence[str], name: str, kind: str) -> int:
    if name not in names:
        raise InputError(f"linear model: no {kind} '{name}'; {did_you_mean(str(name), names)}")
    return names.index(name)


def plain_labels(names: Sequence[str]) -> list[str]:
    """Return signal names without the dots that python-control keeps for itself, all different."""
    plain = [s.replace(".", "_") for s in names]
    return [s if plain.count(s) == 1 else f"{s}_{i}" for i, s in enumerate(plain)]


def _damping(pole: complex) -> str:
    return f"{-pole.real / abs(pole):.4g}" if abs(pole) > 0 else ""


@dataclass(frozen=True)
class Ports:
    """Names and units of what goes into the linear model of a loop and comes out of it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
