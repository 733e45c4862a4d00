"""Figures of linear models: Bode diagrams, step responses, poles and zeros. Computed here, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.model.late import late_function

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.linear.model import LinearModel

MOST = 6
"""Inputs, and outputs, that one figure shows."""


def frequencies(model: LinearModel, count: int = 400) -> np.ndarray:
    """Return frequencies that show a model [rad/s]: a decade beyond its slowest and fastest pole, resonances included."""
    sizes = _sizes(model)
    low, high = (0.1 * sizes.min(), 10 * sizes.max()) if len(sizes) else (0.01, 100.0)
    near = np.concatenate([sizes * (1 + x) for x in (-1e-2, -1e-3, 0.0, 1e-3, 1e-2)])
    grid = np.unique(np.concatenate([np.geomspace(low, high, count), near]))
    return grid if model.period is None else grid[grid <= np.pi / model.period]


def times(model: LinearModel, count: int = 500) -> np.ndarray:
    """Return times that show a step response [s]: five time constants of its slowest stable mode, ten periods of undamped ones."""
    found = model.poles[np.isfinite(model.poles)]
    sizes = _sizes(model)
    decays = -found.real[found.real < -1e-3 * np.abs(found)]
    end = 5.0 / decays.min() if len(decays) else 20 * np.pi / sizes.min() if len(sizes) else 1.0
    if model.period is not None:
        return model.period * np.arange(max(10, min(round(end / model.period), 5000)) + 1)
    return np.linspace(0.0, end, count + 1)


def step_response(model: LinearModel, t: np.ndarray) -> np.ndarray:
    """Return the outputs after unit steps of each input at t = 0, (times, ny, nu); exact at evenly spaced times."""
    from scipy.linalg import expm  # late: its import would slow down every first run

    n, m = model.B.shape
    steps = np.diff(t)
    if (
        t.ndim != 1
        or len(t) < 2
        or t[0] != 0.0
        or not np.allclose(steps, steps[0], rtol=1e-6)
        or steps[0] <= 0
    ):
        raise InputError("step response: expected evenly spaced times from 0 s on, rising")
    A, B = model.A, model.B
    if model.period is None:
        both = expm(steps[0] * np.block([[A, B], [np.zeros((m, n + m))]]))
        A, B = both[:n, :n], both[:n, n:]
    elif not np.isclose(steps[0], model.period, rtol=1e-6):
        raise InputError(
            f"step response: found steps of {steps[0]:g} s; expected the period {model.period:g} s"
        )
    x, out = np.zeros((n, m)), np.empty((len(t), *model.D.shape))
    for k in range(len(t)):
        out[k] = model.C @ x + model.D
        x = A @ x + B
    return out


def bode(model: LinearModel, omega: Any = None) -> Figure:
    """Return gain and phase of every input and output over frequency; a column for each input."""
    w = frequencies(model) if omega is None else np.sort(np.asarray(omega, dtype=float))
    response = model.response(w)
    figure, axes = _figure(2, len(model.inputs), "col")
    for j, name in enumerate(model.inputs[:MOST]):
        gain, phase = axes[0, j], axes[1, j]
        for i, output in enumerate(model.outputs[:MOST]):
            values = response[:, i, j]
            gain.loglog(w, np.abs(values), label=f"{output} [{model.output_units[i]}]")
            phase.semilogx(w, np.degrees(np.unwrap(np.angle(values))))
        gain.set_title(f"from {name} [{model.input_units[j]}]", fontsize="medium")
        phase.set_xlabel("frequency [rad/s]")
        if model.period is not None:
            for ax in (gain, phase):
                ax.axvline(np.pi / model.period, color="#808080", lw=0.8, ls=":")
        phase.yaxis.set_major_locator(_angles())
    axes[0, 0].set_ylabel("gain [output per input]")
    axes[1, 0].set_ylabel("phase [deg]")
    axes[0, 0].legend(fontsize="small", frameon=False)
    return figure


def step(model: LinearModel, t: Any = None) -> Figure:
    """Return the outputs after a unit step of each input; a row for each output, a column for each input."""
    at = times(model) if t is None else np.asarray(t, dtype=float)
    values = step_response(model, at)
    figure, axes = _figure(len(model.outputs), len(model.inputs), "row")
    for j, name in enumerate(model.inputs[:MOST]):
        axes[0, j].set_title(f"step of 1 {_unit(model.input_units[j])} in {name}", fontsize="medium")
        axes[-1, j].set_xlabel("t [s]")
        for i in range(len(axes)):
            draw = axes[i, j].plot if model.period is None else axes[i, j].step
            draw(at, values[:, i, j], **({} if model.period is None else {"where": "post"}))
    for i in range(len(axes)):
        axes[i, 0].set_ylabel(f"{model.outputs[i]} [{model.output_units[i]}]")
    return figure


def pole_map(model: LinearModel) -> Figure:
    """Return poles (x) and transmission zeros (o) in the plane of s, or of z with the unit circle."""
    figure, axes = _figure(1, 1, "none")
    ax = axes[0, 0]
    poles = np.linalg.eigvals(model.A)
    zeros = np.asarray(late_function("tzero")(model).transmission) if model.D.size else np.zeros(0)
    ax.plot(poles.real, poles.imag, "x", color="C0", label=f"{len(poles)} poles")
    ax.plot(zeros.real, zeros.imag, "o", mfc="none", color="C1", label=f"{len(zeros)} zeros")
    unit = "rad/s" if model.period is None else "-"
    ax.set_xlabel(f"real part [{unit}]")
    ax.set_ylabel(f"imaginary part [{unit}]")
    if model.period is None:
        ax.axvline(0.0, color="#404040", lw=0.8)
    else:
        turn = np.linspace(0.0, 2 * np.pi, 361)
        ax.plot(np.cos(turn), np.sin(turn), color="#404040", lw=0.8)
        ax.set_aspect("equal")
    ax.axhline(0.0, color="#404040", lw=0.8)
    ax.set_title(model.name or "poles and zeros", fontsize="medium")
    ax.legend(fontsize="small", frameon=False)
    return figure


def _sizes(model: LinearModel) -> np.ndarray:
    sizes = np.abs(model.poles)
    sizes = sizes[np.isfinite(sizes)]
    return sizes[sizes > 1e-8 * sizes.max(initial=0.0)]


def _unit(unit: str) -> str:
    return "" if unit == "-" else unit


def _angles() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, steps=[1, 1.5, 3, 4.5, 9, 10])


def _figure(rows: int, columns: int, share: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    if not rows or not columns:
        raise InputError("figure of a linear model: found no inputs or no outputs; expected some")
    rows, columns = min(rows, MOST), min(columns, MOST)
    figure = Figure(figsize=(2.5 + 3.5 * columns, 1.2 + 2.2 * max(rows, 2)), layout="constrained")
    axes = figure.subplots(
        rows, columns, sharex=share != "none", sharey="row" if share == "row" else False, squeeze=False
    )
    for ax in axes.flat:
        ax.grid(color="#e5e5e5")
    return figure, axes
