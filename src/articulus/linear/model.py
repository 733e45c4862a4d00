"""`LinearModel`: a linear system with names, of a mechanism, a loop or a structure."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.linear.response import Transfer

if TYPE_CHECKING:
    import control


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
        Of what it is a model.
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
        j, i = _place(self.inputs, input, "input"), _place(self.outputs, output, "output")
        return dataclasses.replace(
            self,
            B=self.B[..., [j]],
            C=self.C[..., [i], :],
            D=self.D[..., [i], :][..., [j]],
            inputs=(input,),
            outputs=(output,),
            input_units=(self.input_units[j],),
            output_units=(self.output_units[i],),
        )

    def to_control(self) -> control.StateSpace:
        """Return it as a python-control system; dots in names become underscores."""
        import control

        names = (plain_labels(x) for x in (self.states, self.inputs, self.outputs))
        labels = dict(zip(("states", "inputs", "outputs"), names))
        name = {"name": self.name.replace(".", "_")} if self.name else {}
        return control.StateSpace(self.A, self.B, self.C, self.D, self.period or 0, **labels, **name)


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
