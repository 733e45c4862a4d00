"""The whole step of a loop as C99: plant, controller, sensors, and what samples work when."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus.bridges.c import operations, vectors
from articulus.bridges.c.module import CModule, comment, distinct, identifier
from articulus.bridges.stepped import SteppedLoop, stepped
from articulus.model.files.storage import StrPath
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.running import Loop

TESTED_STEPS = 50
"""Steps of the run that the test program of an exported loop repeats."""
MOST_GAPS = 200
"""Gaps up to which a unit has event indicators: crowds of contacts have thousands."""
GROWTH = 100.0
"""What rounding may grow by in these steps; the tolerance of a single result times this."""


def export_loop(
    loop: Loop,
    folder: StrPath,
    q0: Any = None,
    v0: Any = None,
    *,
    name: str = "",
    real: str = "double",
    **given: Any,
) -> list[Path]:
    """Write C99 source of the step of a loop, with header, Makefile and a test program that repeats a run; return the paths.

    `<name>_start` gives the state at the start, `<name>_step` takes it one step further, `<name>_report` gives the outputs there,
    `<name>_rates` its time derivative. All are reentrant: the caller owns the state.

    Parameters
    ----------
    loop : Loop
    folder : path
        Made if need be.
    q0, v0 : arrays or dicts
        State at the start, as of `articulus.simulate`.
    name : str
        Prefix of all public names and of the files; that of the mechanism if not given.
    real : str
        Type of a number: "double" or "float".
    **given
        step, method, t0, params, inputs, wrenches, outputs, fixed: see `articulus.bridges.stepped.stepped`.

    Raises
    ------
    UnsupportedOperation
        The loop has a controller in Python, or its method has no single step.
    """
    s = stepped(loop, q0, v0, what="export of C", **given)
    module = LoopModule(s, name, real)
    return module.write(folder, module.test())


class LoopModule(CModule):
    """The C functions of a loop.

    Parameters
    ----------
    s : SteppedLoop
    name, real : str
    derivatives : bool
        Whether rates and outputs have their derivatives in a direction, `<name>_rates_along` and `<name>_report_along`.
    """

    def __init__(self, s: SteppedLoop, name: str = "", real: str = "double", derivatives: bool = False):
        d = s.loop.mechanism.description
        held = {e.name: (e.start, e.unit) for e in s.parameters}
        about = f"Loop of '{d.name}': one step of {s.h:g} s by {s.settings.method}"
        super().__init__(name or identifier(d.name), held, real, about)
        self.s, self.derivatives = s, derivatives
        self.given = sum(s.system.sizes)
        self.input_members = distinct(e.name for e in s.inputs)
        self.output_members = distinct(x.name for x in s.outputs)
        self.slots = 1
        self._bodies()
        self.declare(self._types())
        self.declare(self._prototypes())
        self.define(self._code())

    def _bodies(self) -> None:
        """Write the static functions over slots: updates, step, rates, report."""
        s = self.s
        functions = {f"update{k}": f for k, (_, f) in enumerate(s.updates)} | {
            "step": s.step,
            "rates": s.system.rhs,
        }
        if s.report is not None:
            functions["report"] = s.report
        if self.derivatives and (gaps := gaps_of(s)) is not None:
            functions["gaps"] = gaps
        if self.derivatives:
            functions |= {
                f"{name}_along": _along(functions[name]) for name in ("rates", "report") if name in functions
            }
        self.operations: dict[str, int] = {}
        for name, function in functions.items():
            made, slots = self.body(function, name)
            self.slots = max(self.slots, slots, self.given + 1)
            self.operations[name] = made.signature.instruction_count
        self.table("c_start", s.c0)
        self.table("d_start", s.d0)

    # texts

    def _arguments(self, *before: str) -> str:
        """Return parameters of a function: the state, then the structs and the noise where there are any."""
        n = self.name
        texts = [*before]
        texts += [f"const {n}_parameters *p"] if self.members else []
        texts += [f"const {n}_inputs *u"] if self.input_members else []
        texts += [f"const {self.real} noise[{self.s.system.nw}]"] if self.s.system.nw else []
        return ", ".join(texts)

    @property
    def passed(self) -> str:
        """Names of these arguments, with a comma before each."""
        texts = (["p"] if self.members else []) + (["u"] if self.input_members else [])
        return "".join(f", {x}" for x in texts + (["noise"] if self.s.system.nw else []))

    def _types(self) -> str:
        s, n, system = self.s, self.name, self.s.system
        rows = [
            "typedef struct {",
            "    unsigned long long k; /* steps since the start */",
            "    int fired; /* whether the sampled components that are due at step k have worked */",
            f"    {self.real} ahead; /* time since step k began, for rates between steps [s] */",
            f"    {self.real} t0; /* time at the start [s] */",
            f"    {self.real} c[{max(system.nc, 1)}]; /* continuous states: {comment(_places(system.places))} */",
            f"    {self.real} d[{max(system.nd, 1)}]; /* held values: {comment(_places(system.held_places))} */",
            f"}} {n}_state;\n",
        ]
        if s.inputs:
            rows.append("typedef struct {")
            rows += [
                f"    {self.real} {member}; /* {comment(e.name)} [{comment(e.unit)}] */"
                for member, e in zip(self.input_members, s.inputs)
            ]
            rows.append(f"}} {n}_inputs;\n")
        rows.append("typedef struct {")
        for member, signal in zip(self.output_members, s.outputs):
            size = self._count_reported(signal.name, len(signal.labels))
            told = ", ".join(
                f"{x} [{u}]" if x else f"[{u}]" for x, u in list(zip(signal.labels, signal.units))[:size]
            )
            rows.append(
                f"    {self.real} {member}[{max(size, 1)}]; /* {comment(signal.meaning)}: {comment(told)} */"
            )
        rows.append(f"}} {n}_outputs;\n")
        return "\n".join(rows)

    def _count_reported(self, name: str, labels: int) -> int:
        """Return how many entries of a signal the source reports: of energies all but the balance, which needs the run's start."""
        return labels - 1 if name == "energy" else labels

    def _prototypes(self) -> str:
        n, bytes_ = self.name, self.slots * (8 if self.real == "double" else 4)
        many = sum(self.operations.values())
        noise = (
            f"   noise: {self.s.system.nw} normal numbers of unit variance, new for each step; 0 for none.\n"
            if self.s.system.nw
            else ""
        )
        return (
            f"/* The step is {self.s.h!r} s. {many} operations in all, {bytes_} bytes of stack.\n{noise}"
            "   A sampled component works at the beginning of the step at which it is due; what it holds is reported as of then. */\n"
            f"void {n}_start({n}_state *s);\n"
            f"void {n}_step({self._arguments(f'{n}_state *s')});\n"
            f"void {n}_fire({self._arguments(f'{n}_state *s')}); /* let sampled components that are due work now, not with the step */\n"
            f"void {n}_report({self._arguments(f'const {n}_state *s')}, {n}_outputs *y);\n"
            f"void {n}_rates({self._arguments(f'const {n}_state *s')}, {self.real} rates[{max(self.s.system.nc, 1)}]);\n"
            + "".join(
                f"void {n}_{kind}_along({self._direction(out)});\n" for kind, out in self._directional()
            )
            + (
                f"void {n}_gaps({self._arguments(f'const {n}_state *s')}, {self.real} *gaps);\n"
                if "gaps" in self.operations
                else ""
            )
        )

    def _directional(self) -> list[tuple[str, str]]:
        """Return the kinds of directional derivatives, with the name of their result."""
        return [("rates", "rates"), ("report", "y")] if self.derivatives else []

    def _direction(self, out: str) -> str:
        """Return the arguments of a directional derivative: directions of states, parameters and inputs."""
        seeds = ", ".join(f"const {self.real} *{x}" for x in ("dc", "dp", "du"))
        return f"{self._arguments(f'const {self.name}_state *s')}, {seeds}, {self.real} *{out}"

    def _code(self) -> str:
        s, n, system = self.s, self.name, self.s.system
        nc, nd, at = system.nc, system.nd, system.nc + system.nd
        places = {e.place: f"p->{m}" for m, e in zip(self.members, s.parameters)}
        places |= {e.place: f"u->{m}" for m, e in zip(self.input_members, s.inputs)}
        lines = [f"    w[{at + k}] = {places[k]};" for k in range(system.np)]
        at += system.np
        if system.nw:
            lines.append(
                f"    for (k = 0; k < {system.nw}; k++)\n        w[{at} + k] = noise ? noise[k] : 0;"
            )
            lines.insert(0, "    int k;")
        at += system.nw
        h = operations.number(s.h)
        due = "\n".join(
            f"    if (!s->fired && s->k % {period} == 0) {{\n        update{k}_body(w);\n        copy({nd}, w + {self.given}, w + {nc});\n    }}"
            for k, (period, _) in enumerate(s.updates)
        )
        set_up = (
            f"static void set_up({self._arguments(f'const {n}_state *s')}, real *w)\n{{\n"
            + "\n".join(lines)
            + f"\n    copy({nc}, s->c, w);\n    copy({nd}, s->d, w + {nc});\n"
            f"    w[{at}] = s->t0 + (real)s->k * {h} + s->ahead;\n    w[{at + 1}] = {h};\n{due}\n}}\n"
        )
        return "\n".join([set_up, self._public(nc, nd)])

    def _public(self, nc: int, nd: int) -> str:
        s, n, w = self.s, self.name, f"    real w[{self.slots}];\n"
        state = f"const {n}_state *s"
        call = f"    set_up(s{self.passed}, w);\n"
        t0 = operations.number(s.settings.t0)
        start = (
            f"void {n}_start({n}_state *s)\n{{\n    s->k = 0;\n    s->fired = 0;\n    s->ahead = 0;\n    s->t0 = {t0};\n    copy({nc}, c_start, s->c);\n"
            f"    copy({nd}, d_start, s->d);\n}}\n"
        )
        step = (
            f"void {n}_step({self._arguments(f'{n}_state *s')})\n{{\n{w}{call}    copy({nd}, w + {nc}, s->d);\n    step_body(w);\n"
            f"    copy({nc}, w + {self.given}, s->c);\n    s->k++;\n    s->fired = 0;\n}}\n"
        )
        fire = f"void {n}_fire({self._arguments(f'{n}_state *s')})\n{{\n{w}{call}    copy({nd}, w + {nc}, s->d);\n    s->fired = 1;\n}}\n"
        rates = (
            f"void {n}_rates({self._arguments(state)}, {self.real} rates[{max(nc, 1)}])\n{{\n{w}{call}    rates_body(w);\n"
            f"    copy({nc}, w + {self.given}, rates);\n}}\n"
        )
        ways, at = list[str](), self.given
        for member, signal in zip(self.output_members, s.outputs):
            size = self._count_reported(signal.name, len(signal.labels))
            if signal.name in ("q", "v"):
                ways.append(f"    copy({size}, w + {s.system.places[signal.name].start}, y->{member});")
            else:
                ways.append(f"    copy({size}, w + {at}, y->{member});")
                at += size
        body = "    report_body(w);\n" if s.report is not None else ""
        report = (
            f"void {n}_report({self._arguments(state)}, {n}_outputs *y)\n{{\n{w}{call}{body}"
            + "\n".join(ways)
            + "\n}\n"
        )
        along = [self._along_code(kind, out, call, w) for kind, out in self._directional()]
        if "gaps" in self.operations:
            copied = f"    gaps_body(w);\n    copy({count_gaps(s)}, w + {self.given}, gaps);\n"
            along.append(
                f"void {n}_gaps({self._arguments(state)}, {self.real} *gaps)\n{{\n{w}{call}{copied}}}\n"
            )
        return "\n".join([start, step, fire, rates, report, *along])

    def _along_code(self, kind: str, out: str, call: str, w: str) -> str:
        """Return the code of a directional derivative."""
        s, nc, at = self.s, self.s.system.nc, self.given
        places = {e.place: f"dp[{k}]" for k, e in enumerate(s.parameters)}
        places |= {e.place: f"du[{k}]" for k, e in enumerate(s.inputs)}
        seeds = [f"    copy({nc}, dc, w + {at});"]
        seeds += [f"    w[{at + nc + k}] = {places[k]};" for k in range(s.system.np)]
        seeds += [f"    (void){x};" for x, found in (("dp", s.parameters), ("du", s.inputs)) if not found]
        begin = at + nc + s.system.np
        if kind == "rates":
            results = [f"    rates_along_body(w);\n    copy({nc}, w + {begin}, {out});"]
        else:
            results = ["    report_along_body(w);"] if s.report is not None else []
            place = 0
            for signal in s.outputs:
                size = self._count_reported(signal.name, len(signal.labels))
                if signal.name in ("q", "v"):
                    results.append(
                        f"    copy({size}, w + {at + s.system.places[signal.name].start}, {out} + {place});"
                    )
                else:
                    results.append(f"    copy({size}, w + {begin}, {out} + {place});")
                    begin += size
                place += size
        body = "\n".join([*seeds, *results])
        return f"void {self.name}_{kind}_along({self._direction(out)})\n{{\n{w}{call}{body}\n}}\n"

    # the test program

    def test(self) -> str:
        """Return a program that repeats the first steps of a run and compares all outputs with those of Python."""
        s, n, real = self.s, self.name, self.real
        found, sizes = expected_outputs(s, TESTED_STEPS), _sizes(s)
        tables, calls = list[str](), list[str]()
        states = [f"static {n}_state s;", f"static {n}_outputs y;"]
        states += [f"static const {n}_inputs u;"] if s.inputs else []
        passed = (f", &{n}_default_parameters" if self.members else "") + (", &u" if s.inputs else "")
        passed += ", 0" if s.system.nw else ""
        calls += [
            f"    {n}_start(&s);",
            f"    for (i = 0; i < {TESTED_STEPS}; i++)\n        {n}_step(&s{passed});",
            f"    {n}_report(&s{passed}, &y);",
        ]
        for member, signal in zip(self.output_members, s.outputs):
            size = self._count_reported(signal.name, len(signal.labels))
            if size:
                tables.append(vectors.table(f"{member}_expected", found[signal.name][:size], real))
                calls.append(
                    f'    failed += compare("{member}", {size}, y.{member}, {member}_expected, {vectors.literal(sizes[signal.name], real)});'
                )
        more = "\n".join([*tables, *states])
        return vectors.program(self, {}, more, "\n".join(calls) + "\n", GROWTH, "    int i;\n")


def gaps_of(s: SteppedLoop) -> ca.Function | None:
    """Return the gaps of a loop whose signs importers watch; None where there is none, or more than anybody watches."""
    found = s.system.gaps
    return found if found is not None and found.numel_out(0) <= MOST_GAPS else None


def count_gaps(s: SteppedLoop) -> int:
    """Return the number of these gaps."""
    found = gaps_of(s)
    return 0 if found is None else int(found.numel_out(0))


def _along(function: ca.Function) -> ca.Function:
    """Return (c, d, p, w, t, h, dc, dp) -> the derivative of each output in that direction."""
    symbols = [ca.MX.sym(function.name_in(k), *function.size_in(k)) for k in range(function.n_in())]
    dc, dp = (ca.MX.sym(f"d{x}", symbols[k].numel()) for x, k in (("c", 0), ("p", 2)))
    seeds = [dc, ca.MX.zeros(symbols[1].shape), dp, *(ca.MX.zeros(x.shape) for x in symbols[3:])]
    outputs = function.call(symbols)
    found = function.forward(1).call([*symbols, *outputs, *seeds])
    return ca.Function(f"{function.name()}_along", [*symbols, dc, dp], [ca.densify(x) for x in found])


def expected_outputs(s: SteppedLoop, steps: int) -> dict[str, np.ndarray]:
    """Return the outputs of Python after so many steps from the start, without inputs and noise."""
    engine = s.engine
    x, p = engine.rows(s.c0[None], s.d0[None]), engine.parameters(s.settings.t0, s.p0)
    w, failed, log = np.zeros((1, steps + 1, s.system.nw)), np.full(1, -1.0), np.zeros((1, 1, engine.logged))
    engine.loop.on(x, p, w, failed, log, every=steps + 1, periods=engine.periods)(0, steps)
    sample = engine.sample(x, p, w[:, steps:], failed, steps)[:, None]
    t = np.array([s.settings.t0 + steps * s.h])
    signals = Outputs(s.system, s.settings.outputs).signals(sample, s.p0[None], w[:, steps:], t, s.h, True)
    return {name: each.values[0] for name, each in signals.items()}


def _sizes(s: SteppedLoop) -> dict[str, float]:
    """Return how large each signal is in a motion of the mechanism's own size: what rounding of a signal near zero is judged by."""
    d, rng = s.system.description, np.random.default_rng(0)
    scales, c = d.scales(), s.c0.copy()
    c[s.system.places["v"]] = rng.uniform(-0.5, 0.5, d.nv) * scales.displacement / scales.time
    out = {
        "q": float(np.max(d.position_sizes(scales), initial=0.0)),
        "v": float(np.abs(c[s.system.places["v"]]).max(initial=0.0)),
    }
    names = [x.name for x in s.outputs if x.name not in out]
    if s.report is not None:
        found = s.report.call([c, s.d0, s.p0, np.zeros(s.system.nw), s.settings.t0, s.h])
        out |= {name: float(np.abs(np.array(x)).max(initial=0.0)) for name, x in zip(names, found)}
    return {name: x if np.isfinite(x) else 0.0 for name, x in out.items()}


def _places(places: dict[str, slice]) -> str:
    parts: Sequence[str] = [
        f"{name} {at.start}..{at.stop - 1}" for name, at in places.items() if at.stop > at.start
    ]
    return ", ".join(parts) or "none"
