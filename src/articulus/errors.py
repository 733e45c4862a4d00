"""One family of exceptions, and the codes a batch lane reports instead of raising."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntFlag
from pathlib import Path
from typing import Any

LONGEST = 300
"""Characters of somebody's text that a message repeats at most."""
LONGEST_LINE = 1000
"""Characters of a line of a message; of a longer one the middle is omitted."""
MOST_LINES = 100
"""Lines of a message."""


class ArticulusError(Exception):
    """Base of every exception that this package raises on purpose; its text is never longer than some lines."""

    def __init__(self, message: str = ""):
        super().__init__(_cut(str(message)))


@dataclass(frozen=True)
class Finding:
    """One thing wrong or doubtful in a model or an argument: where it is, what was found, what was expected, what to do.

    Parameters
    ----------
    where : str
        The file with its line and the object, "crane.toml:12: body.boom.mass", or the argument; "" where it is plain.
    found, expected : str
        What there is and what there should be; `expected` is "" where `found` is a whole sentence.
    hint : str
        The likely mistake, or what to do.
    kind : str
        What findings are counted by in a grouped warning, in the singular: "doubtful inertia".
    field : str
        Name of the field of the object that is wrong, "mass"; readers of files find its line by it.
    """

    where: str
    found: str
    expected: str
    hint: str = ""
    kind: str = ""
    field: str = ""

    def __str__(self) -> str:
        start = f"{brief(self.where)}: " if self.where else ""
        if not self.expected:
            return f"{start}{self.found}"
        text = f"{start}found {brief(self.found)}; expected {self.expected}"
        return f"{text}. {self.hint}" if self.hint else text

    def within(self, where: str, field: str = "") -> Finding:
        """Return the finding of the object around this one: its place stands in front, its field counts."""
        place = f"{where}: {self.where}" if self.where else where
        return replace(self, where=place, field=field or self.field)


class ModelError(ArticulusError, ValueError):
    """A mechanism or a model file is wrong; `findings` lists every reason found."""

    def __init__(self, findings: Finding | Iterable[Finding]):
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))

    def __reduce__(self) -> tuple:
        """Return what a copy is made from: the findings, not the text (errors of worker processes are pickled)."""
        return type(self), (self.findings,)


class InputError(ArticulusError, ValueError):
    """An argument of a call has the wrong shape, a wrong name or a value that is not finite; `findings` lists why.

    Parameters
    ----------
    reason : str, Finding or iterable of Finding
        What is wrong. A text alone is a finding with this text.
    findings : iterable of Finding
        The same as data, where the text is not that of the findings.
    """

    def __init__(self, reason: str | Finding | Iterable[Finding] = "", findings: Iterable[Finding] = ()):
        own = tuple(findings)
        if isinstance(reason, Finding):
            own = own or (reason,)
        elif not isinstance(reason, str):
            reason = tuple(reason)
            own = own or reason
            reason = "\n".join(map(str, reason))
        super().__init__(str(reason))
        self.findings = own or (Finding("", str(self), ""),)

    def __reduce__(self) -> tuple:
        """Return what a copy is made from: the text and the findings."""
        return type(self), (str(self), self.findings)

    def within(self, where: str, field: str = "") -> InputError:
        """Return the error of the object around: its place stands in front of the text and of each finding."""
        return InputError(f"{where}: {self}", [finding.within(where, field) for finding in self.findings])


def unlike(expected: str, found: str) -> InputError:
    """Return the error for a value that cannot be converted; who converts puts the name in front (`within`)."""
    return InputError(f"expected {expected}, found {found}", [Finding("", found, expected)])


def unknown_name(what: str, name: object, valid: Iterable[str], inside: str = "") -> InputError:
    """Return the error for a name that does not exist: "no joint 'elbo'; did you mean 'elbow'?"."""
    found, hint = f"no {what} '{name}'{inside}", did_you_mean(str(name), valid)
    return InputError(f"{found}; {hint}", [Finding("", found, "a name that exists", hint)])


class NumericalError(ArticulusError, ArithmeticError):
    """A result is not finite although its input was.

    `result` holds what was computed and `rows` the flat batch indices of the failed rows, so that
    the good rows are not lost. `cause` is one of "singular", "step too small", "not converged", "component", or "" where it is not known.
    """

    def __init__(self, message: str, result: object = None, rows: object = None, cause: str = ""):
        super().__init__(message)
        self.result = result
        self.rows = rows
        self.cause = cause


class UnsupportedOperation(ArticulusError, NotImplementedError):
    """Something well formed that this version cannot do; the text names it."""


def require_package(module: str, what: str, extra: str, instead: str = "") -> Any:
    """Return an optional package; raise UnsupportedOperation, which names the extra, where it is not installed.

    Parameters
    ----------
    module : str
        Name to import, such as "pyarrow.parquet".
    what : str
        What asks for it, the beginning of the message.
    extra : str
        Extra that brings it.
    instead : str
        What goes without it, the end of the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UnsupportedOperation(
            f"{what}: the package {module.partition('.')[0]} is not installed; expected the extra `{extra}`: "
            f"pip install 'articulus[{extra}]'{instead}"
        ) from None


class DoubtfulResult(UserWarning):
    """A result was computed, but its own figures say that it may be wrong; the text says which, and the likely cause."""


class MovedStart(UserWarning):
    """A start that was given does not fit the constraints and was moved onto them; the text says how far."""


class DoubtfulModel(UserWarning):
    """A model was loaded, but something in its file is doubtful or was omitted; `Mechanism.findings` lists all of it."""


def doubtful(text: str, category: type[UserWarning] = DoubtfulResult) -> None:
    """Warn of something doubtful, at the place outside this package that asked for it."""
    inside, level, frame = (str(Path(__file__).parent), contextlib.__file__), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):  # contextlib: decorators
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


class KernelError(ArticulusError, RuntimeError):
    """A kernel could not be built or loaded."""


class Status(IntFlag):
    """What a compiled kernel reports about the rows it was given."""

    OK = 0
    INPUT_NOT_FINITE = 1
    OUTPUT_NOT_FINITE = 2


def _cut(message: str) -> str:
    """Return a text without the middle of overlong lines, and without the last of very many lines."""
    lines = message.split("\n", MOST_LINES)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES] = f"and {1 + lines[MOST_LINES].count(chr(10))} more"
    half = LONGEST_LINE // 2 - 3
    return "\n".join(x if len(x) <= LONGEST_LINE else f"{x[:half]} ... {x[-half:]}" for x in lines)


def brief(thing: object) -> str:
    """Return a text, or that of an error, on one line and cut to `LONGEST` characters, as messages show it."""
    text = " ".join(str(thing).split()) or type(thing).__name__
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the nearest valid name, else the list of valid names."""
    options = sorted(valid)
    near = difflib.get_close_matches(str(name), options, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    shown = ", ".join(options[:12]) + (", ..." if len(options) > 12 else "")
    return f"valid names: {shown}" if options else "there are none"
