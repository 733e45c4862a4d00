"""One row per scalar operation: the C99 expression that computes it. To add an operation add a row here, as in `kernel.ops`.

A row is a template of the operands `{a} {b} {c}`. `$name(` is a function of libm, written `namef(` where numbers are of single
precision; a function whose name begins with `$own_` is in `HELPERS`.
"""

from __future__ import annotations

import math

import casadi as ca

from articulus.kernel import ops

ROWS: dict[int, str] = {
    ca.OP_ASSIGN: "{a}",
    ca.OP_LIFT: "{a}",
    ca.OP_PRINTME: "{a}",
    ca.OP_ADD: "{a} + {b}",
    ca.OP_SUB: "{a} - {b}",
    ca.OP_MUL: "{a} * {b}",
    ca.OP_DIV: "{a} / {b}",
    ca.OP_NEG: "-{a}",
    ca.OP_INV: "1 / {a}",
    ca.OP_SQ: "{a} * {a}",
    ca.OP_TWICE: "{a} + {a}",
    ca.OP_LT: "{a} < {b}",
    ca.OP_LE: "{a} <= {b}",
    ca.OP_EQ: "{a} == {b}",
    ca.OP_NE: "{a} != {b}",
    ca.OP_NOT: "{a} == 0",
    ca.OP_AND: "{a} != 0 && {b} != 0",
    ca.OP_OR: "{a} != 0 || {b} != 0",
    ca.OP_IF_ELSE_ZERO: "{a} != 0 ? {b} : 0",
    ca.OP_SIGN: "$own_sign({a})",
    ca.OP_ERFINV: "$own_erfinv({a})",
    ca.OP_POW: "$pow({a}, {b})",
    ca.OP_CONSTPOW: "$pow({a}, {b})",
    ca.OP_FMOD: "$fmod({a}, {b})",
    ca.OP_ATAN2: "$atan2({a}, {b})",
    ca.OP_HYPOT: "$hypot({a}, {b})",
    ca.OP_REMAINDER: "$remainder({a}, {b})",
    ca.OP_COPYSIGN: "$copysign({a}, {b})",
    ca.OP_FMIN: "$own_min({a}, {b})",
    ca.OP_FMAX: "$own_max({a}, {b})",
    ops.FMA: "{a} * {b} + {c}",
    ops.FMS: "{a} * {b} - {c}",
    ops.FNMA: "{c} - {a} * {b}",
    ops.SELECT: "{a} != 0 ? {b} : {c}",
}
for _op, _name in (
    (ca.OP_EXP, "exp"), (ca.OP_LOG, "log"), (ca.OP_SQRT, "sqrt"), (ca.OP_TAN, "tan"), (ca.OP_ASIN, "asin"),
    (ca.OP_ACOS, "acos"), (ca.OP_ATAN, "atan"), (ca.OP_FLOOR, "floor"), (ca.OP_CEIL, "ceil"), (ca.OP_FABS, "fabs"),
    (ca.OP_ERF, "erf"), (ca.OP_SINH, "sinh"), (ca.OP_COSH, "cosh"), (ca.OP_TANH, "tanh"), (ca.OP_ASINH, "asinh"),
    (ca.OP_ACOSH, "acosh"), (ca.OP_ATANH, "atanh"), (ca.OP_LOG1P, "log1p"), (ca.OP_EXPM1, "expm1"),
):  # fmt: skip
    ROWS[_op] = f"${_name}({{a}})"

HELPERS = {
    "own_sign": """static real own_sign(real x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}
""",
    # the C rule for fmin and fmax, a NaN operand loses, without a call
    "own_min": """static real own_min(real a, real b)
{
    return b < a ? b : a == a ? a : b;
}
""",
    "own_max": """static real own_max(real a, real b)
{
    return b > a ? b : a == a ? a : b;
}
""",
    # a rational start and Newton steps on erf, the residual by erfc where 1 - x has more digits
    "own_erfinv": """static real own_erfinv(real given)
{
    const real x = $fabs(given), rest = 1 - x, square = x * x;
    real y;
    int i;
    if (x == 1)
        return given * (real)INFINITY;
    if (x < (real)0.7) {
        y = x * ((((real)-0.140543331 * square + (real)0.914624893) * square - (real)1.645349621) * square + (real)0.886226899);
        y /= ((((real)-0.329097515 * square + (real)0.012229801) * square + (real)1.442710462) * square - (real)2.118377725) * square + 1;
    } else {
        const real root = $sqrt(-$log((real)0.5 * rest));
        y = (((real)1.641345311 * root + (real)3.429567803) * root - (real)1.624906493) * root - (real)1.970840454;
        y /= ((real)1.637067800 * root + (real)3.543889200) * root + 1;
    }
    for (i = 0; i < 4; i++)
        y -= (x > (real)0.5 ? rest - $erfc(y) : $erf(y) - x) * (real)0.886226925452758 * $exp(y * y);
    return $copysign(y, given);
}
""",
    # sine and cosine together: reduced by pi/2 in four parts (Cody and Waite 1980), the kernels of fdlibm (Sun 1993); far
    # arguments go to libm. As in `kernel.elementary`.
    "own_sincos": """static void own_sincos(real x, real *sine, real *cosine)
{
    if (!($fabs(x) < 1048576)) {
        *sine = $sin(x);
        *cosine = $cos(x);
    } else {
        const real shifted = x * 0.6366197723675814 + 6755399441055744.0, n = shifted - 6755399441055744.0;
        const int quadrant = (int)n & 3;
        const real p2 = n * 0x1.0b4611a6p-34, p3 = n * 0x1.3198a2e0p-69;
        const real r1 = x - n * 0x1.921fb544p+0;
        const real r2 = r1 - p2, b2 = r2 - r1, e2 = (r1 - (r2 - b2)) - (p2 + b2);
        const real r3 = r2 - p3, b3 = r3 - r2, e3 = (r2 - (r3 - b3)) - (p3 + b3);
        const real r = r3 + ((e2 + e3) - n * 0x1.b839a252049c1p-104), z = r * r;
        const real s = (r * z) * (((((1.58969099521155010221e-10 * z - 2.50507602534068634195e-08) * z + 2.75573137070700676789e-06) * z
            - 1.98412698298579493134e-04) * z + 8.33333333332248946124e-03) * z - 1.66666666666666324348e-01) + r;
        const real c = z * ((((((-1.13596475577881948265e-11 * z + 2.08757232129817482790e-09) * z - 2.75573143513906633035e-07) * z
            + 2.48015872894767294178e-05) * z - 1.38888888888741095749e-03) * z + 4.16666666666666019037e-02) * z - 0.5) + 1;
        const real a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
        *sine = x == 0 ? x : quadrant & 2 ? -a : a;
        *cosine = (quadrant + 1) & 2 ? -b : b;
    }
}
""",
}
"""Functions that are written into a source that uses them; `real` is the type of a number."""
SINGLE_SINCOS = """static void own_sincos(real x, real *sine, real *cosine)
{
    *sine = $sin(x);
    *cosine = $cos(x);
}
"""


def number(x: float) -> str:
    """Return a constant that is read back bit by bit, in parentheses where it is negative."""
    if math.isnan(x):
        return "(real)NAN"
    if math.isinf(x):
        return "(real)INFINITY" if x > 0 else "(-(real)INFINITY)"
    text = repr(float(x))
    text = text.removesuffix(".0") + ".0" if text.endswith(".0") else text
    return f"({text}@)" if text.startswith("-") else f"{text}@"


def expression(op: int, operands: dict[str, str], where: str) -> str:
    """Return the expression of an operation; raise UnsupportedOperation for one without a row."""
    row = ROWS.get(op)
    if row is None:
        raise ops.unsupported(op, where)
    return row.format(**operands)
