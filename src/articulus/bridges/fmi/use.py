"""`with_fmu`: a loop with somebody's functional mock-up unit as a sampled controller."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from articulus.bridges.extra import require
from articulus.bridges.fmi.instance import Here, Instance, SeparateProcess
from articulus.errors import Finding, InputError, NumericalError, UnsupportedOperation, did_you_mean
from articulus.model.files.storage import StrPath, as_path
from articulus.model.files.units import UnitError, parse_unit
from articulus.simulation.loop.python_controller import PythonController
from articulus.simulation.running import Loop


def with_fmu(
    loop: Loop,
    path: StrPath,
    *,
    inputs: Mapping[str, str],
    commands: Mapping[str, str],
    period: float,
    start: Mapping[str, float] | None = None,
    trust: bool = False,
    own_process: bool = False,
) -> Loop:
    """Return a loop in which a unit for co-simulation works as a sampled controller: it reads signals and adds to the commands.

    At every instant the unit steps there with the inputs that it had, then takes the signals of the instant; its outputs are held until the
    next. Every run begins with a new instance; of many runs at once each has its own.

    Parameters
    ----------
    loop : Loop
        Without a controller in Python of its own.
    path : path
        Path of the .fmu file, FMI 2.0 or 3.0.
    inputs : dict of input of the unit to entry of a signal
        Such as {"angle": "q.joint1", "rate": "gyro.rate.2"}.
    commands : dict of command to output of the unit
        Such as {"joint1": "torque"}: an actuator, or a coordinate where the loop has none.
    period : float [s]
        Time between its instants.
    start : dict of parameter of the unit to number
    trust : bool
        Whether the native code in the file may run in your name. Nothing of it runs without.
    own_process : bool
        Whether each instance has a process of its own: a unit that crashes ends its run with an error, and nothing else.

    Raises
    ------
    InputError
        `trust` is not given; names that do not exist, units that differ.
    """
    if trust is not True:
        raise InputError(
            Finding(
                f"fmu {as_path(path).name}", "trust=False", "trust=True",
                "An FMU holds native code, which runs with all your rights: give trust=True for one from a source that you trust.",
            )
        )  # fmt: skip
    if loop.outside is not None:
        raise UnsupportedOperation(
            f"fmu: the loop has the Python controller '{loop.outside.name}'; expected components alone"
        )
    if not (isinstance(period, (int, float)) and math.isfinite(period) and period > 0):
        raise InputError(f"fmu: found period {period!r}; expected a positive time in seconds")
    place = as_path(path)
    variables = _variables(place)
    names = loop.system.network.command_names
    signals, entries = _read(loop, inputs, variables)
    rows = [
        (_command(names, command), _variable(variables, out, "output")) for command, out in commands.items()
    ]
    law = _Law(
        str(place.resolve()),
        [_variable(variables, name, "input").valueReference for name in inputs],
        [v.valueReference for _, v in rows],
        {_variable(variables, n, "parameter").valueReference: float(x) for n, x in (start or {}).items()},
        entries,
        np.array([k for k, _ in rows], dtype=int),
        len(names),
        SeparateProcess if own_process else Here,
    )
    outside: Any = PythonController(law, period, place.stem, ("t", *signals))
    return Loop(loop.mechanism, [outside], loop.system.network.components, loop.loops)


def _variables(path: Path) -> dict[str, Any]:
    """Return the variables of a unit by name; only its description is read."""
    fmpy = require("fmpy", "fmu", "fmi")
    if not path.is_file():
        raise InputError(f"fmu: {path}: no such file; expected a functional mock-up unit")
    try:
        described = fmpy.read_model_description(str(path))
    except Exception as error:  # noqa: BLE001  (a file from anywhere; fmpy raises what its parsers raise)
        raise InputError(f"fmu: {path}: its description cannot be read ({error})") from None
    if described.coSimulation is None:
        raise InputError(f"fmu: {path}: found model exchange alone; expected a unit for co-simulation")
    return {v.name: v for v in described.modelVariables}


def _variable(variables: Mapping[str, Any], name: str, causality: str) -> Any:
    """Return a real variable of a unit."""
    known = [n for n, v in variables.items() if v.causality == causality and v.type in ("Real", "Float64")]
    if name not in known:
        raise InputError(f"fmu: no {causality} '{name}' that is a real number; {did_you_mean(name, known)}")
    return variables[name]


def _command(names: tuple[str, ...], command: str) -> int:
    if command not in names:
        raise InputError(f"fmu: nothing commands '{command}'; {did_you_mean(command, names)}")
    return names.index(command)


def _read(
    loop: Loop, inputs: Mapping[str, str], variables: Mapping[str, Any]
) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the signals to read, and for each input its place among them and the place in the signal; units are checked."""
    known = {
        column: (name, k, signal.units[k])
        for name, signal in loop.signals.items()
        for k, column in enumerate(signal.columns)
    }
    signals: dict[str, None] = {}
    found = []
    for name, entry in inputs.items():
        variable = _variable(variables, name, "input")
        if entry not in known:
            raise InputError(f"fmu: no entry '{entry}' of a signal; {did_you_mean(entry, known)}")
        signal, k, unit = known[entry]
        _require_same(name, variable.unit or "", entry, unit)
        signals[signal] = None
        found.append((signal, k))
    return tuple(signals), [(list(signals).index(signal), k) for signal, k in found]


def _require_same(name: str, own: str, entry: str, unit: str) -> None:
    """Refuse units that differ; those that are not told, or not known, are taken as they are."""
    if own == unit or not own or unit in ("", "-"):
        return
    try:
        same = parse_unit(own) == parse_unit(unit)
    except UnitError:
        return
    if not same:
        raise InputError(
            f"fmu: the input '{name}' is in {own}, the signal '{entry}' in {unit}; expected one unit"
        )


class _Law:
    """The law of a unit: an instance for every run."""

    def __init__(
        self,
        path: str,
        inputs: list[int],
        outputs: list[int],
        start: dict[int, float],
        entries: list[tuple[int, int]],
        rows: np.ndarray,
        commands: int,
        kind: Any,
    ):
        self._given = path, inputs, outputs, start
        self._entries, self._rows, self._commands, self._kind = entries, rows, commands, kind
        self._instances: list[Instance] = []
        weakref.finalize(self, _close, self._instances)

    def reset(self) -> None:
        """Let earlier instances go."""
        _close(self._instances)

    def __call__(self, t: float, *signals: np.ndarray) -> np.ndarray:
        """Return the commands, (nu,) or (rows, nu)."""
        single = all(x.ndim == 1 for x in signals)
        every = [np.atleast_2d(x) for x in signals]
        count = len(every[0]) if every else 1
        first = not self._instances
        while len(self._instances) < count:
            self._instances.append(self._kind(*self._given))
        out = np.zeros((count, self._commands))
        for row, instance in enumerate(self._instances):
            values = [float(every[s][row, k]) for s, k in self._entries]
            found = (instance.begin if first else instance.go)(t, values)
            if not np.isfinite(found).all():
                raise NumericalError(f"fmu: found an output that is not finite at t = {t:.9g} s")
            np.add.at(out[row], self._rows, found)
        return out[0] if single else out


def _close(instances: list[Instance]) -> None:
    """Let instances go; the list is empty afterwards."""
    while instances:
        instances.pop().close()
