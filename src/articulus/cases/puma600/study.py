"""The PUMA 600 study as a whole: the motion, its torques, the open-loop run, key figures and a plot."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.api import Mechanism
from articulus.cases.open_loop import extreme, profile, replay, torques

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERIOD, STEP = 10.0, 0.01
COLOURS = ("#1b4f72", "#2e86c1", "#17a589", "#d4ac0d", "#ca6f1e", "#a93226")


@dataclass(frozen=True)
class Study:
    """Results over time.

    Parameters
    ----------
    t : array, (steps + 1,) [s]
    desired : array, (steps + 1, 6) [deg]
        Position of the joints that is asked for.
    torque : array, (steps + 1, 6) [N m]
    position, velocity, acceleration : arrays, (steps + 1, 6) [deg, deg/s, deg/s^2]
        Errors, desired minus actual.
    seconds : float [s]
        How long the run took.
    """

    t: np.ndarray
    desired: np.ndarray
    torque: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    seconds: float

    def figures(self) -> list[tuple[str, str]]:
        """Return the key figures as pairs of name and text."""
        top = np.abs(self.torque).max(axis=0)
        peaks = [extreme(e[:, 5]) for e in (self.position, self.velocity, self.acceleration)]
        return [
            ("motion", f"all six joints 0 to 180 deg in {PERIOD:g} s, RK4 with h = {STEP:g} s, no feedback"),
            ("largest torques", ", ".join(f"{x:.3g}" for x in top) + " N m"),
            ("joint 6, extreme errors", f"{peaks[0]:.3g} deg, {peaks[1]:.3g} deg/s, {peaks[2]:.3g} deg/s^2"),
            ("  the thesis says", "-1e-4 deg, -5e-5 deg/s, 6e-5 deg/s^2"),
            ("largest error of a joint", f"{np.abs(self.position).max():.3g} deg"),
            ("time of the run", f"{self.seconds:.2g} s, {PERIOD / self.seconds:.0f} times real time"),
            ("  the thesis says", "71.12 s on one T800 transputer"),
        ]


def study(arm: Mechanism) -> Study:
    """Return the study: torques of the motion, and the run that plays them back."""
    torques(arm, 0.0, PERIOD), arm.forward_dynamics(*np.zeros((3, 6)))  # compile first
    begin = time.perf_counter()
    t, position, velocity, acceleration = replay(arm, PERIOD, STEP)
    seconds = time.perf_counter() - begin
    desired = np.degrees(profile(t, PERIOD, 6)[0])
    torque = torques(arm, t, PERIOD)
    return Study(t, desired, torque, position, velocity, acceleration, seconds)


def plot(result: Study, path: Path) -> None:
    """Write the study as a picture: motion, error, torques of the arm and of the wrist."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    (motion, arm), (error, wrist) = figure.subplots(2, 2, sharex=True)
    _motion(motion, result)
    _curves(arm, result.t, result.torque, range(3), "Torque of the arm", "N m")
    _curves(wrist, result.t, result.torque, range(3, 6), "Torque of the wrist", "N m")
    _curves(
        error,
        result.t,
        np.maximum(np.abs(result.position), 1e-12),
        range(6),
        "Size of the position error",
        "deg",
    )
    error.set_yscale("log")
    error.set_xlim(0, PERIOD)
    for axes in (error, wrist):
        axes.set_xlabel("time [s]")
    figure.suptitle(
        "PUMA 600: torques from inverse dynamics, played back open loop", fontsize=15, weight="bold"
    )
    lines = [*arm.lines, *wrist.lines]
    figure.legend(handles=lines, loc="outside lower center", ncols=6, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _motion(axes: Axes, result: Study) -> None:
    _curves(axes, result.t, result.desired - result.position, range(6), "Joint angle", "deg")
    every = slice(None, None, 50)
    dots: dict[str, Any] = {
        "ls": "none",
        "marker": "o",
        "mfc": "white",
        "mec": "0.2",
        "ms": 5,
        "clip_on": False,
    }
    axes.plot(result.t[every], result.desired[every, 0], label="desired, the same for every joint", **dots)
    axes.legend(handles=axes.lines[-1:], frameon=False, loc="upper left")
    axes.set_yticks(range(0, 181, 45))


def _curves(axes: Axes, t: np.ndarray, values: np.ndarray, joints: range, title: str, unit: str) -> None:
    for k in joints:
        axes.plot(t, values[:, k], color=COLOURS[k], lw=1.6, label=f"joint {k + 1}")
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_ylabel(f"[{unit}]")
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
