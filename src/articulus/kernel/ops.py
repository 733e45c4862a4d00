"""One row per scalar operation: the text that computes it in every lane.

A row is a template. `{r}` is the result, `{a} {b} {c}` are operands, `{p} {q}` the truth of the first two; the capital and `@`
fields are filled in once per target: `{T}` the value type, `{B}` the truth type, `{S}` the intrinsic suffix, `{ZERO}`, `{ONE}`.
To add an operation add a row here, and its line in `tests/kernel/test_ops.py`. A template that calls
`@lanes.x` needs a helper `x` in `elementary.py`; names of the C library are helpers already.
"""

from __future__ import annotations

import casadi as ca

from ..errors import UnsupportedOperation
from .target import Target

# Rows made by fusing an addition with the multiplication that feeds it: a*b + c, a*b - c, c - a*b.
FMA, FMS, FNMA = -1, -2, -3
SINCOS = -4  # two results: sine and cosine of one argument
SELECT = -5  # made of the two halves of CasADi's if_else: b where a holds, else c

LIBM_1 = ("exp", "log", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
          "erf", "log1p", "expm1")  # fmt: skip
LIBM_2 = ("pow", "fmod", "atan2", "hypot", "remainder")


def _intrinsic(name: str) -> str:
    return f"{{r}} = call {{T}} @llvm.{name}.{{S}}({{T}} {{a}})"


def _helper(name: str) -> str:
    return f"{{r}} = call {{T}} @lanes.{name}({{T}} {{a}})"


def _helper2(name: str) -> str:
    return f"{{r}} = call {{T}} @lanes.{name}({{T}} {{a}}, {{T}} {{b}})"


def _truth(condition: str) -> str:
    """Row of a comparison: 1.0 where the condition `{r}.t` holds, else 0.0."""
    return condition + "\n{r} = select {B} {r}.t, {T} {ONE}, {T} {ZERO}"


def _either(prefer: str) -> str:
    """Row of fmin or fmax by the C rule: a NaN operand loses. The first choice alone is one instruction of most processors."""
    return (
        f"{{r}}.o = fcmp {prefer} {{T}} {{b}}, {{a}}\n"
        "{r}.m = select {B} {r}.o, {T} {b}, {T} {a}\n"
        "{r}.n = fcmp uno {T} {a}, {a}\n"
        "{r} = select {B} {r}.n, {T} {b}, {T} {r}.m"
    )


def _logic(operation: str) -> str:
    """Row of `and`/`or` on numbers: a value other than zero is true, NaN included."""
    return _truth(f"{{r}}.t = {operation} {{B}} {{p}}, {{q}}")


_SIGN = (
    "{r}.n = fcmp olt {T} {a}, {ZERO}\n"
    "{r}.p = fcmp ogt {T} {a}, {ZERO}\n"
    "{r}.u = select {B} {r}.p, {T} {ONE}, {T} {a}\n"
    "{r} = select {B} {r}.n, {T} {MINUS_ONE}, {T} {r}.u"
)
_IF_ELSE_ZERO = "{r} = select {B} {p}, {T} {b}, {T} {ZERO}"
_SELECT_ROW = "{r} = select {B} {p}, {T} {b}, {T} {c}"
_SAME = "{r} = select {B} {TRUE}, {T} {a}, {T} {a}"

ROWS: dict[int, str] = {
    ca.OP_ASSIGN: _SAME,
    ca.OP_ADD: "{r} = fadd {T} {a}, {b}",
    ca.OP_SUB: "{r} = fsub {T} {a}, {b}",
    ca.OP_MUL: "{r} = fmul {T} {a}, {b}",
    ca.OP_DIV: "{r} = fdiv {T} {a}, {b}",
    ca.OP_NEG: "{r} = fneg {T} {a}",
    ca.OP_EXP: _helper("exp"),
    ca.OP_LOG: _helper("log"),
    ca.OP_POW: _helper2("pow"),
    ca.OP_CONSTPOW: _helper2("pow"),
    ca.OP_SQRT: _intrinsic("sqrt"),
    ca.OP_SQ: "{r} = fmul {T} {a}, {a}",
    ca.OP_TWICE: "{r} = fadd {T} {a}, {a}",
    ca.OP_TAN: _helper("tan"),
    ca.OP_ASIN: _helper("asin"),
    ca.OP_ACOS: _helper("acos"),
    ca.OP_ATAN: _helper("atan"),
    ca.OP_LT: _truth("{r}.t = fcmp olt {T} {a}, {b}"),
    ca.OP_LE: _truth("{r}.t = fcmp ole {T} {a}, {b}"),
    ca.OP_EQ: _truth("{r}.t = fcmp oeq {T} {a}, {b}"),
    ca.OP_NE: _truth("{r}.t = fcmp une {T} {a}, {b}"),
    ca.OP_NOT: _truth("{r}.t = xor {B} {p}, {TRUE}"),
    ca.OP_AND: _logic("and"),
    ca.OP_OR: _logic("or"),
    ca.OP_FLOOR: _intrinsic("floor"),
    ca.OP_CEIL: _intrinsic("ceil"),
    ca.OP_FMOD: _helper2("fmod"),
    ca.OP_FABS: _intrinsic("fabs"),
    ca.OP_SIGN: _SIGN,
    ca.OP_COPYSIGN: "{r} = call {T} @llvm.copysign.{S}({T} {a}, {T} {b})",
    ca.OP_IF_ELSE_ZERO: _IF_ELSE_ZERO,
    ca.OP_ERF: _helper("erf"),
    ca.OP_FMIN: _either("olt"),
    ca.OP_FMAX: _either("ogt"),
    ca.OP_INV: "{r} = fdiv {T} {ONE}, {a}",
    ca.OP_SINH: _helper("sinh"),
    ca.OP_COSH: _helper("cosh"),
    ca.OP_TANH: _helper("tanh"),
    ca.OP_ASINH: _helper("asinh"),
    ca.OP_ACOSH: _helper("acosh"),
    ca.OP_ATANH: _helper("atanh"),
    ca.OP_ATAN2: _helper2("atan2"),
    ca.OP_ERFINV: _helper("erfinv"),
    ca.OP_PRINTME: _SAME,
    ca.OP_LIFT: _SAME,
    ca.OP_LOG1P: _helper("log1p"),
    ca.OP_EXPM1: _helper("expm1"),
    ca.OP_HYPOT: _helper2("hypot"),
    ca.OP_REMAINDER: _helper2("remainder"),
}

TRUTHS = frozenset((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR))
"""Operations whose result is one or zero; `{r}.t` is its truth."""
JUDGES = {ca.OP_NOT: 1, ca.OP_AND: 2, ca.OP_OR: 2, ca.OP_IF_ELSE_ZERO: 1, SELECT: 1}
"""Operations of the truth of so many of their first operands."""

_FUSED = {
    FMA: "{r} = call {T} @llvm.fma.{S}({T} {a}, {T} {b}, {T} {c})",
    FMS: "{r}.n = fneg {T} {c}\n{r} = call {T} @llvm.fma.{S}({T} {a}, {T} {b}, {T} {r}.n)",
    FNMA: "{r}.n = fneg {T} {a}\n{r} = call {T} @llvm.fma.{S}({T} {r}.n, {T} {b}, {T} {c})",
}
_UNFUSED = {
    FMA: "{r}.m = fmul {T} {a}, {b}\n{r} = fadd {T} {r}.m, {c}",
    FMS: "{r}.m = fmul {T} {a}, {b}\n{r} = fsub {T} {r}.m, {c}",
    FNMA: "{r}.m = fmul {T} {a}, {b}\n{r} = fsub {T} {c}, {r}.m",
}
_SINCOS_ROW = (
    "{r}.sc = call {{ {T}, {T} }} @lanes.sincos({T} {a})\n"
    "{r} = extractvalue {{ {T}, {T} }} {r}.sc, 0\n"
    "{b} = extractvalue {{ {T}, {T} }} {r}.sc, 1"
)


def templates(target: Target) -> dict[int, str]:
    """Return the rows with everything filled in that depends on the target alone."""
    rows = ROWS | (_FUSED if target.fma else _UNFUSED) | {SINCOS: _SINCOS_ROW, SELECT: _SELECT_ROW}
    fixed = {
        "{T}": target.type,
        "{B}": target.of("i1"),
        "{S}": target.suffix,
        "{ZERO}": target.constant(0.0),
        "{ONE}": target.constant(1.0),
        "{MINUS_ONE}": target.constant(-1.0),
        "{TRUE}": target.splat("i1", "true"),
    }
    return {op: _fill(row, fixed) for op, row in rows.items()}


def _fill(row: str, fixed: dict[str, str]) -> str:
    for field, text in fixed.items():
        row = row.replace(field, text)
    return row


def operation_name(op: int) -> str:
    """Return the CasADi name of an operation code, e.g. `OP_ADD`."""
    return next((name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == op), str(op))


def unsupported(op: int, where: str) -> UnsupportedOperation:
    """Return the error for an operation that has no row."""
    return UnsupportedOperation(
        f"{where}: operation {operation_name(op)} has no row; add one to ROWS in articulus/kernel/ops.py"
    )
