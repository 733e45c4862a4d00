"""`CModule`: functions as one C99 source with its header, a Makefile and a test program that checks stored vectors."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.bridges.c import operations
from articulus.bridges.c.writer import Writer, finish
from articulus.errors import InputError
from articulus.kernel import program as programs
from articulus.model.files.storage import StrPath, as_path, write_text

KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "real",
        "w",
        "p",
    ]
)
REALS = {"double": 1e-13, "float": 2e-4}
"""Types of a number, and the largest error over the size of a result that the test program allows: rounding of a few hundred operations, for
`float` with factors of cancellation."""


def identifier(text: str) -> str:
    """Return a text as a C identifier: other characters become underscores."""
    made = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "x"
    made = f"n{made}" if made[0].isdigit() else made
    return f"{made}_" if made in KEYWORDS else made


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return identifiers of names, numbered where two would be the same."""
    out: list[str] = []
    for name in map(identifier, names):
        same = next(n for n in itertools.count() if (name if not n else f"{name}_{n}") not in out)
        out.append(name if not same else f"{name}_{same}")
    return tuple(out)


def comment(text: str) -> str:
    """Return a text that may stand in a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")


@dataclass(frozen=True)
class Argument:
    """An array that a C function reads or writes.

    Parameters
    ----------
    name : str
    shape : tuple of int
    labels, units : tuple of str
        Labels and units of the elements, if they have any.
    """

    name: str
    shape: tuple[int, ...]
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    def describe(self) -> str:
        """Return what the header says of it."""
        size = " x ".join(map(str, self.shape)) or "1"
        units = self.units or ("",) * len(self.labels)
        parts = [f"{label} [{unit}]" if unit else label for label, unit in zip(self.labels, units)]
        return comment(f"{self.name} ({size}){': ' + ', '.join(parts) if parts else ''}")


@dataclass(frozen=True)
class CFunction:
    """A public function: where its arguments lie in the slots of its body."""

    name: str
    meaning: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    parameters: int
    """Place of the parameters among the inputs; -1 if it takes none."""
    slots: int
    operations: int
    function: ca.Function = field(repr=False, compare=False)


class CModule:
    """C99 functions with one prefix.

    Parameters
    ----------
    name : str
        Prefix of all public names, and of the files.
    parameters : dict of name to (value, unit)
        Members of the struct `<name>_parameters`.
    real : str
        "double" or "float".
    about : str
        First line of the header.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, tuple[float, str]] | None = None,
        real: str = "double",
        about: str = "",
    ):
        if real not in REALS:
            raise InputError(f"export of C: found numbers of type {real!r}; expected 'double' or 'float'")
        if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
            raise InputError(
                f"export of C: found the name {name!r}; expected letters, digits and underscores"
            )
        self.name, self.real, self.about = name, real, about or name
        self.parameters = dict(parameters or {})
        self.members = distinct(self.parameters)
        self.functions: list[CFunction] = []
        self._writer = Writer()
        self._declared: list[str] = []
        self._defined: list[str] = []

    # functions

    def body(self, function: ca.Function, name: str) -> tuple[Any, int]:
        """Write the static body of a function over its slots; return its kernel program, and how many slots it needs."""
        made = programs.build(function)
        return made, self._writer.program(made, f"{name}_body")

    def add(
        self,
        function: ca.Function,
        name: str,
        meaning: str,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
    ) -> CFunction:
        """Add a public function `<module>_<name>` of arrays.

        Parameters
        ----------
        function : casadi.Function
        name, meaning : str
        inputs, outputs : sequence of Argument
            In the order of the function; an input `p` is the struct of parameters.
        """
        made, slots = self.body(function, name)
        at = next((k for k, a in enumerate(inputs) if a.name == "p"), -1)
        added = CFunction(
            name,
            meaning,
            tuple(inputs),
            tuple(outputs),
            at,
            slots,
            made.signature.instruction_count,
            function,
        )
        self.functions.append(added)
        self._declared.append(self._document(added))
        self._defined.append(self._definition(added))
        return added

    def declare(self, text: str) -> None:
        """Add a text to the header."""
        self._declared.append(text)

    def define(self, text: str) -> None:
        """Add a text to the source, after everything that was added before."""
        self._defined.append(text)

    def table(self, name: str, values: np.ndarray) -> None:
        """Add a static table of numbers to the source."""
        self._writer.table(name, values)

    def _arguments_of(self, f: CFunction) -> str:
        names = distinct(a.name for a in (*f.inputs, *f.outputs))
        texts = list[str]()
        for k, (argument, name) in enumerate(zip((*f.inputs, *f.outputs), names)):
            if k == f.parameters:
                texts.insert(0, f"const {self.name}_parameters *p")
            elif argument.size and not argument.shape and k < len(f.inputs):
                texts.append(f"{self.real} {name}")
            elif argument.size:
                texts.append(f"{'const ' if k < len(f.inputs) else ''}{self.real} {name}[{argument.size}]")
        return ", ".join(texts) or "void"

    def _document(self, f: CFunction) -> str:
        rows = [f"   in   {a.describe()}" for k, a in enumerate(f.inputs) if k != f.parameters and a.size]
        rows += [f"   out  {a.describe()}" for a in f.outputs if a.size]
        bytes_ = f.slots * (8 if self.real == "double" else 4)
        head = f"/* {comment(f.meaning)}; {f.operations} operations, {bytes_} bytes of stack"
        return "\n".join([head, *rows]) + f" */\nvoid {self.name}_{f.name}({self._arguments_of(f)});\n"

    def _definition(self, f: CFunction) -> str:
        names = distinct(a.name for a in (*f.inputs, *f.outputs))
        lines, at = [f"    real w[{f.slots}];"], 0
        for k, (argument, name) in enumerate(zip((*f.inputs, *f.outputs), names)):
            if k == len(f.inputs):
                lines.append(f"    {f.name}_body(w);")
            if k == f.parameters:
                lines.append(self.parameters_to("w", at))
            elif not argument.size:
                pass
            elif k < len(f.inputs):
                given = name if argument.shape else f"&{name}"
                lines.append(f"    copy({argument.size}, {given}, w + {at});")
            else:
                lines.append(f"    copy({argument.size}, w + {at}, {name});")
            at += argument.size
        return f"void {self.name}_{f.name}({self._arguments_of(f)})\n{{\n" + "\n".join(lines) + "\n}\n"

    def parameters_to(self, array: str, at: int) -> str:
        """Return the statements that copy the struct of parameters `p` into an array."""
        return "\n".join(f"    {array}[{at + k}] = p->{member};" for k, member in enumerate(self.members))

    # texts

    def header(self) -> str:
        """Return the text of the header."""
        guard = f"ARTICULUS_{self.name.upper()}_H"
        parts = [
            f"/* {comment(self.about)}\n\n   C99, written by articulus. Nothing is allocated, nothing is kept between calls; only libm is needed.\n"
            "   SI units and radians; angular parts of spatial vectors first; matrices row by row. */",
            f"#ifndef {guard}\n#define {guard}\n",
        ]
        if self.members:
            rows = [
                f"    {self.real} {member}; /* {comment(f'{name} [{unit}]' if unit else name)} */"
                for member, (name, (_, unit)) in zip(self.members, self.parameters.items())
            ]
            parts.append("typedef struct {\n" + "\n".join(rows) + f"\n}} {self.name}_parameters;\n")
            parts.append(f"extern const {self.name}_parameters {self.name}_default_parameters;\n")
        return "\n".join([*parts, *self._declared, "#endif"]) + "\n"

    def source(self) -> str:
        """Return the text of the source."""
        code = finish("\n".join(self._writer.parts), self.real)
        public = "\n".join(self._defined)
        copy = (
            "static void copy(int n, const real *from, real *to)\n{\n    int k;\n"
            "    for (k = 0; k < n; k++)\n        to[k] = from[k];\n}\n"
        )
        defaults = ""
        if self.members:
            values = ", ".join(
                operations.number(v).replace("@", "f" if self.real == "float" else "")
                for v, _ in self.parameters.values()
            )
            defaults = f"const {self.name}_parameters {self.name}_default_parameters = {{{values}}};\n"
        return "\n".join(
            [
                f'#include "{self.name}.h"\n',
                "#include <math.h>\n",
                f"typedef {self.real} real;\n",
                code,
                copy if "copy(" in public else "",
                defaults,
                finish(public, self.real),
            ]
        )

    def makefile(self) -> str:
        """Return the text of the Makefile: `make` builds the library, `make test` runs the test program."""
        n = self.name
        return (
            "CFLAGS ?= -O2 -std=c99 -Wall -Wextra -Wpedantic\n\n"
            f"lib{n}.a: {n}.o\n\t$(AR) rcs $@ $^\n\n"
            f"{n}.o: {n}.c {n}.h\n\t$(CC) $(CFLAGS) -c -o $@ {n}.c\n\n"
            f"test_{n}: test_{n}.c lib{n}.a\n\t$(CC) $(CFLAGS) -o $@ test_{n}.c lib{n}.a -lm\n\n"
            f"test: test_{n}\n\t./test_{n}\n\n"
            f"clean:\n\trm -f {n}.o lib{n}.a test_{n}\n\n.PHONY: test clean\n"
        )

    def write(self, folder: StrPath, test: str) -> list[Path]:
        """Write source, header, Makefile and a test program into a folder, which is made if need be; return the paths."""
        place = as_path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{place}: cannot be made ({error.strerror or error})") from None
        n = self.name
        texts = {
            f"{n}.h": self.header(),
            f"{n}.c": self.source(),
            "Makefile": self.makefile(),
            f"test_{n}.c": test,
        }
        for name, text in texts.items():
            write_text(place / name, text)
        return [place / name for name in texts]
