"""A plant of four sampled blocks, stable or with a few unstable poles (Bennett 1989, eqs. 2.1-2.3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from articulus.control.analysis.stable import stabsep
from articulus.control.connect import select
from articulus.control.plant import Group, PlantPartition, as_plant
from articulus.control.reduction.minimal import minreal
from articulus.control.sampled_response.coprime import CoprimeFactors
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampled_response.realize import unstable_part
from articulus.errors import Finding, InputError
from articulus.linear import LinearModel

Samples = Callable[[np.ndarray], Any] | np.ndarray | float
STABLE = 1e-3
"""Share of anticausal terms in a response beyond which it is not that of something stable."""


@dataclass(frozen=True, eq=False)
class SampledPlant:
    """y = -G_yu u + G_ye e, z = G_zu u + G_ze e: commands u (m), exogenous inputs e (k), measured outputs y (p), errors z (l).

    Parameters
    ----------
    grid : FrequencyGrid
    yu, ye, zu, ze : functions of omega (n,) [rad/s] to (n, rows, columns), or samples on the grid
    unstable : LinearModel, int or None
        The poles of G_yu that are not stable: a model of its unstable part, strictly proper and minimal (which may have poles on the
        imaginary axis), or how many there are right of it, to be found from the samples. All unstable poles of the other blocks are
        among them.
    anticausal : float
        Share of anticausal terms that stable responses may have, by noise of measurements.
    """

    grid: FrequencyGrid
    yu: Any
    ye: Any
    zu: Any
    ze: Any
    unstable: LinearModel | int | None = None
    anticausal: float = STABLE

    def __post_init__(self) -> None:
        for name in ("yu", "ye", "zu", "ze"):
            object.__setattr__(self, name, samples_of(getattr(self, name), self.grid, name))
        (p, m), (l, k) = self.yu.shape[1:], self.ze.shape[1:]
        for name, shape in (("ye", (p, k)), ("zu", (l, m))):
            if getattr(self, name).shape[1:] != shape:
                raise InputError(
                    Finding(
                        f"sampled plant, {name}",
                        f"entries of shape {getattr(self, name).shape[1:]}",
                        f"{shape}, as yu is {(p, m)} and ze {(l, k)}",
                    )
                )
        object.__setattr__(self, "unstable", self._unstable_model())
        self._require_stable_rest()

    @staticmethod
    def of(plant: Any, grid: FrequencyGrid, *, commands: Group, measured: Group) -> SampledPlant:
        """Return the samples of a model (see `as_plant`); its other inputs and outputs are e and z. It may have poles on the axis."""
        part = PlantPartition.of(plant, commands, measured, "SampledPlant.of")
        if part.model.period is not None:
            raise InputError(
                Finding(
                    "SampledPlant.of", f"a plant sampled every {part.model.period:g} s", "a continuous one"
                )
            )
        values = part.model.response(grid.omega)
        if not np.isfinite(values).all():
            raise InputError(Finding("SampledPlant.of", "a pole at a frequency of the grid", "another scale"))
        yu, ye, zu, ze = (
            values[np.ix_(np.arange(grid.count), rows, columns)]
            for rows, columns in ((part.y, part.u), (part.y, part.w), (part.z, part.u), (part.z, part.w))
        )
        rest = stabsep(select(part.model, part.u, part.y))[1]
        rest = minreal(rest) if len(rest.A) else rest
        return SampledPlant(grid, -yu, ye, zu, ze, _negative(as_plant(rest)))

    @property
    def unstable_model(self) -> LinearModel:
        """The unstable part of G_yu, without states where it is stable."""
        assert isinstance(self.unstable, LinearModel)
        return self.unstable

    @cached_property
    def stable_part(self) -> np.ndarray:
        """P_S = G_yu - P_U, (frequencies, p, m)."""
        return self.yu - self.unstable_model.response(self.grid.omega)

    @cached_property
    def factors(self) -> CoprimeFactors:
        return CoprimeFactors.of(self.stable_part, self.unstable_model, self.grid)

    @cached_property
    def central(self) -> np.ndarray:
        """G_ze + G_zu D Y G_ye: from e to z with the controller X^-1 Y, stable, (frequencies, l, k)."""
        return self.ze + self.zu @ self.factors.D @ self.factors.Y @ self.ye

    def _unstable_model(self) -> LinearModel:
        p, m = self.yu.shape[1:]
        unstable = self.unstable
        if unstable is None or isinstance(unstable, int | np.integer):
            return unstable_part(self.yu, self.grid, int(unstable or 0))
        model = as_plant(unstable, "wiener_hopf, unstable")
        if model.B.shape[1] != m or len(model.C) != p or model.D.any() or model.period is not None:
            raise InputError(
                Finding(
                    "wiener_hopf, unstable",
                    f"a model from {model.B.shape[1]} inputs to {len(model.C)} outputs"
                    + (", with feedthrough" if model.D.any() else ""),
                    f"a continuous one from {m} to {p}, strictly proper",
                )
            )
        if np.any(model.poles.real < -1e-9 * np.abs(model.poles)):
            raise InputError(
                Finding(
                    "wiener_hopf, unstable",
                    f"a stable pole at {min(model.poles, key=lambda s: s.real):.4g} rad/s",
                    "unstable poles alone",
                    "`stabsep` divides a model.",
                )
            )
        return model

    def _require_stable_rest(self) -> None:
        f = self.factors
        known = len(self.unstable_model.A)
        for name, values, beside in (
            ("commands to measured outputs", self.stable_part, f.N),
            ("commands to errors", self.zu @ f.D, None),
            ("exogenous inputs to measured outputs", f.Dl @ self.ye, None),
            ("exogenous inputs to errors", self.central, None),
        ):
            share = self.grid.anticausal_share(values, beside)
            if share > self.anticausal:
                raise InputError(
                    Finding(
                        "wiener_hopf",
                        f"a response from {name} of which {100 * share:.2g} % is not causal beside {known} unstable poles",
                        f"at most {100 * self.anticausal:.2g} %",
                        "An unstable plant needs `unstable=` (a model or how many poles); a lightly damped one needs a finer grid; "
                        "a measured one needs less noise, or a larger `anticausal=`.",
                    )
                )


def samples_of(
    given: Any, grid: FrequencyGrid, name: str, shape: tuple[int, int] | None = None
) -> np.ndarray:
    """Return samples (frequencies, rows, columns) of a function, samples or a number; of a square shape, numbers are on its diagonal."""
    values = np.asarray(given(grid.omega) if callable(given) else given, dtype=complex)
    if values.ndim == 0:
        values = np.broadcast_to(values, grid.count)
    if values.ndim == 1:
        values = values[:, None, None] * np.eye(*(shape or (1, 1)))
    if values.ndim == 2 and shape == values.shape:
        values = np.broadcast_to(values, (grid.count, *shape))
    if len(values) != grid.count or values.ndim != 3 or (shape is not None and values.shape[1:] != shape):
        wanted = "" if shape is None else f" of shape {shape}"
        raise InputError(
            f"wiener_hopf, {name}: found samples of shape {values.shape}; expected {grid.count} of them{wanted}"
        )
    if not np.isfinite(values).all():
        raise InputError(
            f"wiener_hopf, {name}: found values that are not finite on the grid; expected a response without poles on the axis"
        )
    return values


def _negative(model: LinearModel) -> LinearModel:
    return dataclasses.replace(model, C=-model.C, D=np.zeros_like(model.D))
