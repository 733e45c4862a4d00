"""The test program of exported C: it calls every function on stored inputs and compares with what Python computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from articulus import kernel
from articulus.bridges.c.module import REALS, CFunction, CModule
from articulus.kernel.program import trailing_shape

COMPARE = """
static int compare(const char *name, int n, const {real} *found, const {real} *expected, {real} size)
{{
    {real} off = 0;
    int k;
    for (k = 0; k < n; k++) {{
        const {real} d = found[k] > expected[k] ? found[k] - expected[k] : expected[k] - found[k];
        const {real} s = expected[k] < 0 ? -expected[k] : expected[k];
        if (s > size)
            size = s;
        if (!(d <= off))
            off = d;
    }}
    printf("%-40s %g of %g\\n", name, (double)off, (double)size);
    return !(off <= ({real}){tolerance!r} * size);
}}
"""


def expected(f: CFunction, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return what the kernel makes of one set of inputs, flat."""
    shapes = [trailing_shape(*f.function.size_in(k)) for k in range(f.function.n_in())]
    given = (np.reshape(inputs[a.name], shape) for a, shape in zip(f.inputs, shapes))
    found = kernel.compile(f.function, finite=False)(*given)
    found = found if isinstance(found, tuple) else (found,)
    return [np.ravel(x) for x in found]


def program(
    module: CModule,
    cases: Mapping[str, Sequence[Mapping[str, np.ndarray]]],
    more: str = "",
    calls: str = "",
    growth: float = 1.0,
    locals_: str = "",
) -> str:
    """Return the text of the test program.

    Parameters
    ----------
    module : CModule
    cases : dict of function name to list of dict of input to array
    more, calls, locals_ : str
        Further tables, statements that add to `failed`, and variables of these.
    growth : float
        What the tolerance of a single result is multiplied by.
    """
    n, real = module.name, module.real
    tables, lines = list[str](), list[str]()
    by_name = {f.name: f for f in module.functions}
    for name, sets in cases.items():
        f = by_name[name]
        for number, inputs in enumerate(sets):
            tag, arguments, checks = f"{name}_{number}", list[str](), list[str]()
            for k, a in enumerate(f.inputs):
                if k == f.parameters:
                    arguments.insert(0, f"&{n}_default_parameters")
                elif a.size and not a.shape:
                    arguments.append(literal(float(np.ravel(inputs[a.name])[0]), real))
                elif a.size:
                    tables.append(table(f"{tag}_in{k}", inputs[a.name], real))
                    arguments.append(f"{tag}_in{k}")
            for k, (a, values) in enumerate(zip(f.outputs, expected(f, inputs))):
                if a.size:
                    tables.append(table(f"{tag}_out{k}", values, real))
                    tables.append(f"static {real} {tag}_found{k}[{a.size}];")
                    arguments.append(f"{tag}_found{k}")
                    checks.append(
                        f'failed += compare("{name} {a.name}", {a.size}, {tag}_found{k}, {tag}_out{k}, 0);'
                    )
            lines += [f"{n}_{name}({', '.join(arguments)});", *checks]
    body = "\n    ".join(lines)
    return "\n".join(
        [
            f'#include "{n}.h"\n',
            "#include <stdio.h>",
            COMPARE.format(real=real, tolerance=growth * REALS[real]),
            "\n".join(tables),
            more,
            f"int main(void)\n{{\n    int failed = 0;\n{locals_}    {body}\n{calls}"
            '    if (failed)\n        printf("%d results differ\\n", failed);\n    else\n        printf("all results agree\\n");\n'
            "    return failed != 0;\n}\n",
        ]
    )


def literal(x: float, real: str) -> str:
    """Return the text of a number."""
    return f"{x!r}{'f' if real == 'float' else ''}"


def table(name: str, values: np.ndarray, real: str) -> str:
    """Return the text of a table of numbers."""
    texts = ", ".join(literal(float(x), real) for x in np.ravel(values))
    return f"static const {real} {name}[{max(np.size(values), 1)}] = {{{texts or '0'}}};"
