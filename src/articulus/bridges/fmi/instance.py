"""One instance of somebody's functional mock-up unit, in this process or in one of its own. It runs native code of the file."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from articulus.bridges.extra import require
from articulus.errors import InputError, NumericalError

LARGEST = 1 << 30
"""Bytes that the files of a unit may have when unpacked."""


class Instance(Protocol):
    """A unit that goes forward in time."""

    def begin(self, t: float, values: Sequence[float]) -> list[float]:
        """Initialize at a time with values of the inputs; return the outputs."""

    def go(self, t: float, values: Sequence[float]) -> list[float]:
        """Step to a time with the inputs so far, then take new ones; return the outputs."""

    def close(self) -> None:
        """Let it go."""


class Here:
    """An instance in this process.

    Parameters
    ----------
    path : path
    inputs, outputs : sequence of int
        Value references.
    start : dict of value reference to number
        Parameters.
    """

    def __init__(self, path: str, inputs: Sequence[int], outputs: Sequence[int], start: Mapping[int, float]):
        fmpy = require("fmpy", "fmu", "fmi")
        self._inputs, self._outputs, self._start = list(inputs), list(outputs), dict(start)
        self._folder = tempfile.mkdtemp(prefix="articulus_fmu_")
        _unpack(Path(path), self._folder)
        described = fmpy.read_model_description(path)
        three = described.fmiVersion.startswith("3")
        module = require("fmpy.fmi3" if three else "fmpy.fmi2", "fmu", "fmi")
        kind = module.FMU3Slave if three else module.FMU2Slave
        self._three, self._error = three, require("fmpy.fmi1", "fmu", "fmi").FMICallException
        try:
            self._fmu = kind(
                guid=described.guid, unzipDirectory=self._folder,
                modelIdentifier=described.coSimulation.modelIdentifier, instanceName="unit",
            )  # fmt: skip
            self._fmu.instantiate()
        except Exception as error:  # noqa: BLE001  (fmpy raises plain exceptions)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise InputError(f"fmu: {path}: cannot be instantiated here ({error})") from None
        self._t = 0.0

    def begin(self, t: float, values: Sequence[float]) -> list[float]:
        """Initialize at a time with values of the inputs; return the outputs."""
        with self._refuse("its initialization"):
            self._set(list(self._start), list(self._start.values()))
            if self._three:
                self._fmu.enterInitializationMode(startTime=t)
            else:
                self._fmu.setupExperiment(startTime=t)
                self._fmu.enterInitializationMode()
            self._set(self._inputs, values)
            self._fmu.exitInitializationMode()
            self._t = t
            return self._get()

    def go(self, t: float, values: Sequence[float]) -> list[float]:
        """Step to a time with the inputs so far, then take new ones; return the outputs."""
        with self._refuse(f"the step from t = {self._t:.9g} s to {t:.9g} s"):
            self._fmu.doStep(currentCommunicationPoint=self._t, communicationStepSize=t - self._t)
            self._t = t
            self._set(self._inputs, values)
            return self._get()

    def close(self) -> None:
        """Let it go."""
        with contextlib.suppress(self._error):
            self._fmu.terminate()
        self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextlib.contextmanager
    def _refuse(self, what: str) -> Any:
        try:
            yield
        except self._error as error:
            raise NumericalError(f"fmu: the unit refused {what}: {error}") from None

    def _set(self, references: Sequence[int], values: Sequence[float]) -> None:
        if references:
            (self._fmu.setFloat64 if self._three else self._fmu.setReal)(list(references), list(values))

    def _get(self) -> list[float]:
        found = (self._fmu.getFloat64 if self._three else self._fmu.getReal)(self._outputs)
        return [float(x) for x in found]


class SeparateProcess:
    """An instance in a process of its own: where the unit crashes, this one continues. The arguments are those of `Here`."""

    def __init__(self, path: str, inputs: Sequence[int], outputs: Sequence[int], start: Mapping[int, float]):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "articulus.bridges.fmi.instance"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self._ask(["make", path, list(inputs), list(outputs), [[k, x] for k, x in start.items()]])

    def begin(self, t: float, values: Sequence[float]) -> list[float]:
        """Initialize at a time with values of the inputs; return the outputs."""
        return self._ask(["begin", t, list(values)])

    def go(self, t: float, values: Sequence[float]) -> list[float]:
        """Step to a time with the inputs so far, then take new ones; return the outputs."""
        return self._ask(["go", t, list(values)])

    def close(self) -> None:
        """Let it go."""
        with contextlib.suppress(OSError, NumericalError, InputError):
            self._ask(["close"])
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self._process.wait(timeout=10)

    def _ask(self, question: list[Any]) -> Any:
        try:
            self._process.stdin.write(json.dumps(question) + "\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
            answer = self._process.stdout.readline()  # type: ignore[union-attr]
        except OSError:
            answer = ""
        if not answer:
            code = self._process.wait(timeout=10)
            raise NumericalError(f"fmu: the unit ended its process at '{question[0]}' (exit code {code})")
        kind, value = json.loads(answer)
        if kind == "input":
            raise InputError(value)
        if kind == "numerical":
            raise NumericalError(value)
        return value


def _unpack(path: Path, folder: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
            if size > LARGEST:
                raise InputError(
                    f"fmu: {path}: found {size >> 20} MB unpacked; expected at most {LARGEST >> 20}"
                )
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(f"fmu: {path}: cannot be unpacked ({error})") from None


def _serve() -> None:
    """Answer questions on standard input until there are no more; what the unit prints goes to standard error."""
    import os

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    unit: Here | None = None
    for line in sys.stdin:
        word, *given = json.loads(line)
        try:
            value: Any = None
            if word == "make":
                path, inputs, outputs, start = given
                unit = Here(path, inputs, outputs, dict(map(tuple, start)))
            elif word == "close":
                unit.close()  # type: ignore[union-attr]
            else:
                value = getattr(unit, {"begin": "begin", "go": "go"}[word])(*given)
            answer = ["value", value]
        except InputError as error:
            answer = ["input", str(error)]
        except NumericalError as error:
            answer = ["numerical", str(error)]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
