"""What an operator does, from a file: sticks over time in place of a person's hands."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

import numpy as np

from articulus.browser.drive.machine import Machine
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.recording import Recording
from articulus.browser.drive.session import DriveSession
from articulus.errors import Finding, ModelError, NumericalError, did_you_mean
from articulus.model.files.storage import StrPath, as_path, load_text

EACH = 10
"""Steps from one look at the file to the next."""
LONGEST = 3600.0
"""Longest file [s]."""


@dataclass(frozen=True, eq=False)
class Commands:
    """Sticks over time.

    Parameters
    ----------
    t : array, (rows,) [s]
        From 0 on; a time that stands twice is a jump.
    axes : array, (rows, axes) [-]
        Deflections from -1 to 1, linear between the rows.
    modes : array of int, (rows,)
    soil : array of bool, (rows,)
        Both hold until the next row.
    """

    t: np.ndarray
    axes: np.ndarray
    modes: np.ndarray
    soil: np.ndarray

    def at(self, t: float) -> tuple[tuple[float, ...], int, bool]:
        """Return sticks, mode and switch of the soil at a time."""
        k = max(int(np.searchsorted(self.t, t, side="right")) - 1, 0)
        row = self.axes[k]
        if k + 1 < len(self.t):
            span = self.t[k + 1] - self.t[k]
            share = min(max((t - self.t[k]) / span, 0.0), 1.0) if span > 0 else 0.0
            row = row + share * (self.axes[k + 1] - row)
        return tuple(map(float, row)), int(self.modes[k]), bool(self.soil[k])


def read_commands(path: StrPath, machine: Machine) -> Commands:
    """Return the commands of a CSV file for a machine.

    The first row names the columns: `t` [s], any axes of the machine (those that are missing rest), and if wanted `mode` (a name) and `soil` (0 or 1). Rows whose first
    entry begins with # are comments.

    Raises
    ------
    ModelError
        With everything that is wrong.
    """
    place = as_path(path)
    rows = [
        (number, row)
        for number, row in enumerate(csv.reader(io.StringIO(load_text(place))), 1)
        if row and any(x.strip() for x in row) and not row[0].lstrip().startswith("#")
    ]
    findings: list[Finding] = []
    names = [x.strip() for x in rows[0][1]] if rows else []
    known = [axis.name for axis in machine.axes]
    if "t" not in names:
        raise ModelError(
            Finding(
                f"{place.name}:1",
                ", ".join(names) or "an empty file",
                f"columns t, {', '.join(known)}, mode, soil",
            )
        )
    for name in names:
        if name not in (*known, "t", "mode", "soil"):
            findings.append(
                Finding(
                    f"{place.name}:{rows[0][0]}",
                    f"column '{name}'",
                    f"an axis of {machine.title}",
                    did_you_mean(name, known),
                )
            )
        elif names.count(name) > 1:
            findings.append(Finding(f"{place.name}:{rows[0][0]}", f"column '{name}' twice", "each once"))
    lines = [
        _line(
            f"{place.name}:{number}", dict(zip(names, row)), len(row) == len(names), machine, known, findings
        )
        for number, row in rows[1:]
    ]
    if findings:
        raise ModelError(findings)
    if not lines:
        raise ModelError(Finding(place.name, "no rows", "rows of numbers below the names of the columns"))
    t = np.array([line[0] for line in lines])
    if t[0] < 0 or (np.diff(t) < 0).any() or t[-1] > LONGEST:
        expected = f"times from 0 s on that do not fall, up to {LONGEST:g} s"
        raise ModelError(Finding(f"{place.name}: t", f"times from {t[0]:g} to {t[-1]:g} s", expected))
    return Commands(
        t,
        np.array([line[1] for line in lines]),
        np.array([line[2] for line in lines]),
        np.array([line[3] for line in lines]),
    )


def _line(
    where: str, row: dict[str, str], whole: bool, machine: Machine, known: list[str], findings: list[Finding]
) -> tuple[float, list[float], int, bool]:
    """Return time, sticks, mode and soil of a row; what is wrong goes to the findings."""
    if not whole:
        findings.append(Finding(where, f"{len(row)} entries", "as many as there are columns"))
        return 0.0, [0.0] * len(known), 0, False
    numbers: dict[str, float] = {}
    for name, text in row.items():
        if name == "mode":
            continue
        try:
            numbers[name] = float(text)
        except ValueError:
            numbers[name] = math.nan
        if not math.isfinite(numbers[name]):
            findings.append(Finding(f"{where}: {name}", f"'{text}'", "a finite number"))
        elif name in known and abs(numbers[name]) > 1:
            findings.append(Finding(f"{where}: {name}", text, "a deflection from -1 to 1"))
        elif name == "soil" and numbers[name] not in (0, 1):
            findings.append(Finding(f"{where}: soil", text, "0 or 1"))
    mode = row.get("mode", machine.modes[0]).strip()
    if mode not in machine.modes:
        findings.append(Finding(f"{where}: mode", f"'{mode}'", " or ".join(machine.modes)))
        mode = machine.modes[0]
    return (
        numbers["t"],
        [numbers.get(name, 0.0) for name in known],
        machine.modes.index(mode),
        numbers.get("soil", 0.0) == 1,
    )


class _StepClock:
    """A clock that goes with the machine."""

    time = 0

    def now(self) -> int:
        return self.time

    def processor_time(self) -> int:
        return self.time

    def wait(self, until: int) -> None:
        self.time = max(self.time, until)


def replay(machine: Machine, commands: Commands) -> Recording:
    """Return what a machine does under commands, as fast as this computer can.

    Raises
    ------
    NumericalError
        It diverged; its `result` is the recording until then.
    """
    clock = _StepClock()
    session = DriveSession(Plant(machine), clock)
    session.record()
    steps = round(commands.t[-1] / session.plant.h)
    for k in range(0, steps, EACH):
        axes, session.mode, soil = commands.at(k * session.plant.h)
        if soil != session.soil:
            session.switch_soil(soil)
        for group in machine.groups:
            session.move(group, axes)
        session.work(min(EACH, steps - k))
        clock.time += round(1e9 * EACH * session.plant.h)
        if session.plant.failed:
            raise NumericalError(
                f"drive: '{machine.title}' diverged {k * session.plant.h:.3g} s after the start of the commands",
                result=session.last,
            )
    session.stop_recording()
    assert session.last is not None
    return session.last
