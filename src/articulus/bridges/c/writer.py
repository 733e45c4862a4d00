"""A program of the kernel as C99: the same steps in the same slots, calls kept, so that the text grows as the program does.

Every function of a program works on its array of slots `w`, which lies on the stack of the public function: nothing is allocated,
nothing is kept between calls. In the texts `@` stands for the ending of a constant and `$name` for a function of libm; `finish` fills
them in. The type of a number is `real`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from articulus.bridges.c import operations
from articulus.kernel import lower, ops, product
from articulus.kernel.graph import (
    Call,
    Elementwise,
    Lookup,
    MatrixProduct,
    Procedure,
    RoutineCall,
    SelectionLoop,
    Step,
    StraightCode,
)
from articulus.kernel.lower import Place, Placed
from articulus.kernel.program import Program

SIGNS = {ca.OP_ADD: "+", ca.OP_SUB: "-", ca.OP_MUL: "*"}
COPIED_SINGLY = 4
"""Runs of copies up to which each is a statement or a loop of its own; more are a table."""
PRODUCT = """static void matrix_product(const real *l, int ld, int la, const real *r, int rd, int ra, const real *s, int sd, int sa, real *o, int od,
    int oa, int n, int m, int k, real sign)
{
    int i, j, q;
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            real sum = s ? s[i * sd + j * sa] : 0;
            for (q = 0; q < k; q++)
                sum += sign * l[i * ld + q * la] * r[q * rd + j * ra];
            o[i * od + j * oa] = sum;
        }
}
"""


class Writer:
    """The C functions of programs; equal names never occur twice.

    Attributes
    ----------
    parts : list of str
        Texts of static functions and tables, each after those that it needs.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._product = False

    def program(self, program: Program, name: str) -> int:
        """Write `static void <name>(real *w)`, which runs a program on its slots; return how many slots it needs."""
        return _Body(self, program, name).slots

    def product(self) -> None:
        """Write the function of matrix products, once."""
        if not self._product:
            self.parts.append(PRODUCT)
            self._product = True

    def straight(
        self, placed: Placed, name: str, pointers: Sequence[str] = ("w",)
    ) -> list[tuple[str, list[str]]]:
        """Write the functions of straight-line code; return the name of each with the pointers that it takes."""
        out = []
        for k, (start, stop) in enumerate(placed.chunks):
            lines = _Chunk(placed, name).lines(start, stop)
            text = "\n".join(lines)
            used = [p for p in pointers if re.search(rf"\b{p}\[", text)]
            self.function(f"{name}_{k}", used, lines)
            out.append((f"{name}_{k}", used))
        return out

    def function(self, name: str, pointers: Sequence[str], lines: Iterable[str]) -> None:
        """Write one function; pointers that begin with i are only read."""
        arguments = ", ".join(f"{'const ' if p.startswith('i') else ''}real *restrict {p}" for p in pointers)
        body = "\n".join(f"    {line}" for line in lines)
        self.parts.append(f"static void {name}({arguments or 'void'})\n{{\n{body}\n}}\n")

    def table(self, name: str, values: np.ndarray, kind: str = "real") -> None:
        """Write a table of constants."""
        texts = (operations.number(x) if kind == "real" else str(int(x)) for x in values.ravel().tolist())
        rows = itertools.batched(texts, 12) if hasattr(itertools, "batched") else _batch(texts, 12)
        body = ",\n    ".join(", ".join(row) for row in rows)
        self.parts.append(f"static const {kind} {name}[{max(values.size, 1)}] = {{\n    {body or '0'}\n}};\n")


def _batch(values: Iterable[str], n: int) -> Iterable[tuple[str, ...]]:
    held = list(values)
    return [tuple(held[k : k + n]) for k in range(0, len(held), n)]


class _Chunk:
    """Writes the statements of one piece of straight-line code."""

    def __init__(self, placed: Placed, name: str):
        self._placed, self._name = placed, name
        self._known: set[int] = set()
        self._read = {x for row in placed.rows for x in (row[2][:1] if row[0] == ops.SINCOS else row[2])}

    def lines(self, start: int, stop: int) -> list[str]:
        """Return the statements of the rows [start, stop)."""
        out: list[str] = []
        for kind, result, operands in self._placed.rows[start:stop]:
            if kind == lower.STORE:
                out.append(f"{_at(result)} = {self._operand(operands[0])};")
            elif kind == lower.CLEAR:
                first, n = result[0], len(result)
                base, begin = (
                    ("w", first) if not isinstance(first, Place) else (first.base[1:], first.element)
                )
                out.append(f"{{ int k; for (k = {begin}; k < {begin + n}; k++) {base}[k] = 0; }}")
            elif kind == ops.SINCOS:
                out += self._sine_and_cosine(result, operands)
            else:
                names = dict(zip("abc", map(self._operand, operands)))
                value = operations.expression(kind, names, self._name)
                out += self._make(result, f"const real v{result} = {value};")
        return out

    def _sine_and_cosine(self, sine: int, operands: tuple[int, ...]) -> list[str]:
        argument, cosine = self._operand(operands[0]), operands[1]
        wanted = [x in self._read for x in (sine, cosine)]
        if all(wanted):
            first = [f"real v{sine}, v{cosine};", f"$own_sincos({argument}, &v{sine}, &v{cosine});"]
            return [*self._make(sine, "\n    ".join(first)), *self._make(cosine, "")]
        which, value = ("sin", sine) if wanted[0] else ("cos", cosine)
        return self._make(value, f"const real v{value} = ${which}({argument});")

    def _make(self, value: int, text: str) -> list[str]:
        """Return the statement of a value, and the one that stores it where later code reads it."""
        self._known.add(value)
        slot = self._placed.slot.get(value)
        stored = [] if slot is None else [f"{_at(slot)} = v{value};"]
        return ([text] if text else []) + stored

    def _operand(self, value: int) -> str:
        if value in self._known:
            return f"v{value}"
        if value in self._placed.constant:
            return operations.number(self._placed.constant[value])
        return _at(self._placed.slot[value])


def _at(slot: int | Place) -> str:
    return f"w[{slot}]" if not isinstance(slot, Place) else f"{slot.base[1:]}[{slot.element}]"


class _Body:
    """Writes the steps of one program."""

    def __init__(self, writer: Writer, program: Program, name: str):
        self.writer, self.name = writer, name
        self._procedures: dict[int, tuple[list[tuple[str, list[str]]], Procedure]] = {}
        self._routines: dict[int, tuple[str, int]] = {}
        self._tables: dict[str, str] = {}
        self._first = program.slots
        self._routine_slots(program.steps)
        self._scratch = 0
        lines = [line for k, step in enumerate(program.steps) for line in self._step(step, k)]
        writer.function(name, ["w"], lines or ["(void)w;"])
        self.slots = max(self._first + self._scratch, 1)

    def _routine_slots(self, steps: Sequence[Step]) -> None:
        """Write the routines, and give each its slots."""
        for routine in (step.routine for step in steps if isinstance(step, RoutineCall)):
            if id(routine) not in self._routines:
                name = f"{self.name}_routine{len(self._routines)}"
                self._routines[id(routine)] = name, self._first
                self._first += self.writer.program(routine.program, name)

    def _step(self, step: Step, number: int) -> list[str]:
        """Return the statements that run a step."""
        name = f"{self.name}_{number}"
        if isinstance(step, StraightCode):
            return self._straight(step, name)
        if isinstance(step, Call):
            return self._call(step, name)
        if isinstance(step, RoutineCall):
            return self._routine(step, name)
        if isinstance(step, MatrixProduct):
            return self._product(step)
        if isinstance(step, Elementwise):
            return [self._elementwise(step)]
        if isinstance(step, Lookup):
            return self._lookup(step)
        return self._sweep(step, name)

    def _straight(self, step: StraightCode, name: str) -> list[str]:
        if not step.operations and not step.code.constant:
            values = np.concatenate([np.zeros(0, int), *step.code.outputs]).tolist()
            sources = [int(step.inputs[step.code.first[x]][step.code.second[x]]) for x in values]
            return self._copies(sources, np.concatenate([np.zeros(0, int), *step.outputs]).tolist(), name)
        inputs, outputs = ([x.tolist() for x in each] for each in (step.inputs, step.outputs))
        placed = lower.place(step.code, inputs, outputs, self._first)
        self._scratch = max(self._scratch, placed.scratch)
        return [f"{called}({', '.join(used)});" for called, used in self.writer.straight(placed, name)]

    def _copies(self, sources: Sequence[int], places: Sequence[int], name: str) -> list[str]:
        """Return the statements that copy slots to slots, runs of neighbors by loops, many runs by a table."""
        runs: list[list[int]] = []
        for source, place in zip(sources, places):
            if runs and source == runs[-1][0] + runs[-1][2] and place == runs[-1][1] + runs[-1][2]:
                runs[-1][2] += 1
            else:
                runs.append([source, place, 1])
        if len(runs) <= COPIED_SINGLY:
            return [_copy_statement(*run) for run in runs]
        pairs = np.array([sources, places]).T
        self.writer.table(f"{name}_places", pairs, "unsigned")
        return [
            f"{{ int k; for (k = 0; k < {pairs.size}; k += 2) w[{name}_places[k + 1]] = w[{name}_places[k]]; }}"
        ]

    def _write_shared(self, procedure: Procedure, name: str, scratch: int) -> list[tuple[str, list[str]]]:
        """Write the code that several calls share; return its functions with the pointers that they take."""
        inputs = [[Place(f"%i{k}", j, False) for j in range(n)] for k, n in enumerate(procedure.inputs)]
        outputs = [[Place(f"%o{k}", j, False) for j in range(n)] for k, n in enumerate(procedure.outputs)]
        placed = lower.place(procedure.code, inputs, outputs, scratch)
        self._scratch = max(self._scratch, scratch - self._first + placed.scratch)
        pointers = ["w", *(f"i{k}" for k in range(len(inputs))), *(f"o{k}" for k in range(len(outputs)))]
        return self.writer.straight(placed, name, pointers)

    def _call(self, step: Call, name: str) -> list[str]:
        key = id(step.procedure)
        if key not in self._procedures:
            shared = f"{self.name}_shared{len(self._procedures)}"
            self._procedures[key] = self._write_shared(step.procedure, shared, self._first), step.procedure
        chunks = self._procedures[key][0]
        read = {p for _, used in chunks for p in used}
        pointers = {"w": "w"}
        for k, operand in enumerate(step.inputs):
            if k in step.procedure.constant:
                pointers[f"i{k}"] = self._constants(operand) if f"i{k}" in read else ""
            else:
                pointers[f"i{k}"] = f"w + {int(operand[0]) if len(operand) else 0}"
        for k, result in enumerate(step.outputs):
            pointers[f"o{k}"] = f"w + {int(result[0]) if len(result) else 0}"
        calls = [f"{called}({', '.join(pointers[p] for p in used)});" for called, used in chunks]
        if not step.procedure.conditional or 0 in step.procedure.constant:
            return calls
        zeros = [_zeros(int(o[0]), len(o)) for o in step.outputs if len(o)]
        return [f"if (w[{int(step.inputs[0][0])}] != 0) {{ {' '.join(calls)} }} else {{ {' '.join(zeros)} }}"]

    def _constants(self, values: np.ndarray) -> str:
        """Return the name of a table of constants."""
        key = repr(values.tolist())
        if key not in self._tables:
            self._tables[key] = f"{self.name}_constants{len(self._tables)}"
            self.writer.table(self._tables[key], np.asarray(values, dtype=float))
        return self._tables[key]

    def _routine(self, step: RoutineCall, name: str) -> list[str]:
        called, start = self._routines[id(step.routine)]
        own_in, own_out = (
            (start + np.concatenate([np.zeros(0, int), *slots])).tolist()
            for slots in (step.routine.inputs, step.routine.outputs)
        )
        given, taken = (np.concatenate([np.zeros(0, int), *x]).tolist() for x in (step.inputs, step.outputs))
        return [
            *self._copies(given, own_in, f"{name}_in"),
            f"{called}(w + {start});",
            *self._copies(own_out, taken, f"{name}_out"),
        ]

    def _product(self, step: MatrixProduct) -> list[str]:
        self.writer.product()
        matrices = [step.left, step.right, step.start, step.result]
        arguments = []
        for matrix in matrices:
            if matrix is None:
                arguments.append("0, 0, 0")
                continue
            base, down, across = product.strides(matrix) or (0, 0, 0)
            arguments.append(f"w + {base}, {down}, {across}")
        n, k = step.left.shape
        return [f"matrix_product({', '.join(arguments)}, {n}, {step.right.shape[1]}, {k}, {step.sign});"]

    def _elementwise(self, step: Elementwise) -> str:
        n = len(step.result)
        texts = [f"w[{int(x[0])}{' + k' if len(x) == n else ''}]" for x in step.operands]
        value = f"-{texts[0]}" if step.op == ca.OP_NEG else f" {SIGNS[step.op]} ".join(texts)
        return f"{{ int k; for (k = 0; k < {n}; k++) w[{int(step.result[0])} + k] = {value}; }}"

    def _lookup(self, step: Lookup) -> list[str]:
        n, m = step.table.shape
        if step.name not in self._tables:
            self._tables[step.name] = f"{self.name}_table{len(self._tables)}"
            self.writer.table(self._tables[step.name], step.table)
        table, given = self._tables[step.name], f"w[{int(step.inputs[0][0])}]"
        row = f"const real *row = {table} + {m} * (int)($own_min($own_max(0, {given}), {n - 1}));"
        stores = " ".join(f"w[{slot}] = row[{k}];" for k, slot in enumerate(step.outputs[0].tolist()))
        return [f"{{ {row} {stores} }}"]

    def _sweep(self, step: SelectionLoop, name: str) -> list[str]:
        rule = step.rule
        sizes = [r.size for r in rule.reads]
        results = [a.size for a in rule.adds]
        held = np.cumsum([self._first, 1, *results]).tolist()  # the guard, then the results of a call
        guard = self._write_shared(step.guard, f"{name}_guard", held[-1])
        body = self._write_shared(step.body, f"{name}_body", held[-1])
        self._scratch = max(self._scratch, held[-1] - self._first)
        columns = [int(step.inputs[r.column][0]) + np.array(r.starts) for r in rule.reads]
        columns += [int(step.outputs[a.column][0]) + np.array(a.starts) for a in rule.adds]
        width = len(columns)
        self.writer.table(f"{name}_places", np.stack(columns, axis=1), "unsigned")
        operands = [f"w + at[{k}]" for k in range(len(sizes))]
        asked = {"w": "w", "o0": f"w + {held[0]}"} | {f"i{k}": x for k, x in enumerate(operands)}
        run = {"w": "w", "i0": f"w + {held[0]}"} | {f"i{k + 1}": x for k, x in enumerate(operands)}
        run |= {f"o{k}": f"w + {start}" for k, start in enumerate(held[1:-1])}
        added = [
            f"{{ int j; for (j = 0; j < {n}; j++) w[at[{len(sizes) + k}] + j] += w[{held[1 + k]} + j]; }}"
            for k, n in enumerate(results)
        ]
        lines = [
            *(_zeros(int(o[0]), len(o)) for o in step.outputs if len(o)),
            f"{{ int k; for (k = 0; k < {width * len(rule.reads[0].starts)}; k += {width}) {{",
            f"    const unsigned *at = {name}_places + k;",
            *(f"    {called}({', '.join(asked[p] for p in used)});" for called, used in guard),
            f"    if (w[{held[0]}] != 0) {{",
            *(f"        {called}({', '.join(run[p] for p in used)});" for called, used in body),
            *(f"        {line}" for line in added),
            "    }",
            "} }",
        ]
        return lines


def _copy_statement(source: int, place: int, n: int) -> str:
    """Return the statement that copies n neighbors, in ascending order."""
    if n == 1:
        return f"w[{place}] = w[{source}];"
    return f"{{ int k; for (k = 0; k < {n}; k++) w[{place} + k] = w[{source} + k]; }}"


def _zeros(start: int, n: int) -> str:
    return f"{{ int k; for (k = 0; k < {n}; k++) w[{start} + k] = 0; }}"


def finish(text: str, real: str) -> str:
    """Return a text for one precision: with its type, constants, functions of libm, and the helpers that it needs before it."""
    single = real == "float"
    for name, helper in reversed(operations.HELPERS.items()):
        if f"${name}(" in text:
            if single and name == "own_sincos":
                helper = operations.SINGLE_SINCOS
            text = f"{helper}\n{text}"
    text = re.sub(r"\$(own_\w+)\(", r"\1(", text)
    text = re.sub(r"\$(\w+)\(", r"\1f(" if single else r"\1(", text)
    return text.replace("@", "f" if single else "")
