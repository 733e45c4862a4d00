"""Elementary functions as internal functions of the emitted module.

Sine and cosine are computed in all lanes at once, both in one evaluation. The argument is reduced to
r = x - n pi/2, |r| <= pi/4, as an unevaluated sum of two doubles (Cody and Waite 1980), and the two kernels are
the minimax polynomials of fdlibm (Sun Microsystems 1993). Beyond `BOUND` the lane takes the C library's result.
Everything else is one call of the C library per lane.
"""

from __future__ import annotations

from .ops import LIBM_1, LIBM_2
from .target import Target
from .writer import Writer

TWO_OVER_PI = 0.6366197723675814
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, held in the low bits
# pi/2 in parts of 53 bits (with FMA) and of 33 bits (without: n * part is exact for n < 2**20).
HALF_PI_53 = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"),
              float.fromhex("-0x1.f1976b7ed8fbcp-110"))  # fmt: skip
HALF_PI_33 = (float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a6p-34"),
              float.fromhex("0x1.3198a2e0p-69"), float.fromhex("0x1.b839a252049c1p-104"))  # fmt: skip
BOUND_FMA = 2.0**30
BOUND_PLAIN = 2.0**20

SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip


def sincos(target: Target) -> str:
    """Return the text of `@lanes.sincos`: sine and cosine, error below 1 ulp up to the bound."""
    w = Writer(target)
    t = target.type
    n, quadrant = _nearest_quarter(w, "%x")
    high, low = (_reduce_fma if target.fma else _reduce_plain)(w, "%x", n)
    sine, cosine = _by_quadrant(w, quadrant, _sine(w, high, low), _cosine(w, high, low))
    sine = w.select(w.compare("oeq", "%x", w.constant(0.0)), "%x", sine)  # keeps the sign of zero
    bound = w.constant(BOUND_FMA if target.fma else BOUND_PLAIN)
    far = w.compare("ogt", w.fabs("%x"), bound)
    w.line(f"br i1 {w.any(far)}, label %far, label %near, !prof !0")
    w.label("near")
    _return_pair(w, sine, cosine)
    w.label("far")
    far_sine = w.select(far, w.do(f"call {t} @lanes.sin({t} %x)"), sine)
    far_cosine = w.select(far, w.do(f"call {t} @lanes.cos({t} %x)"), cosine)
    _return_pair(w, far_sine, far_cosine)
    return w.function(f"internal {{ {t}, {t} }} @lanes.sincos({t} %x)", "nounwind noinline")


def _nearest_quarter(w: Writer, x: str) -> tuple[str, str]:
    """Return n = round(2 x / pi) as a double, and as an integer of which the low two bits are right."""
    shifted = w.fma(x, w.constant(TWO_OVER_PI), w.constant(ROUND))
    quadrant = w.do(f"bitcast {w.target.type} {shifted} to {w.target.of('i64')}")
    return w.sub(shifted, w.constant(ROUND)), quadrant


def _reduce_fma(w: Writer, x: str, n: str) -> tuple[str, str]:
    """Return x - n pi/2 as high + low.

    The first step is exact. In the second the difference loses nothing either, because r is a multiple of 2**-52 and
    so of the last place of n times the second part.
    """
    first, second, third = map(w.constant, HALF_PI_53)
    minus = w.neg(n)
    r = w.fma(minus, first, x)
    part = w.mul(n, second)
    part_error = w.fma(n, second, w.neg(part))
    high = w.sub(r, part)
    error = w.sub(w.sub(r, high), part)
    return high, w.fma(minus, third, w.sub(error, part_error))


def _reduce_plain(w: Writer, x: str, n: str) -> tuple[str, str]:
    """The same without fused multiply-add: products with 33-bit parts are exact, differences compensated."""
    first, second, third, fourth = map(w.constant, HALF_PI_33)
    r = w.sub(x, w.mul(n, first))
    r, error_2 = _two_difference(w, r, w.mul(n, second))
    r, error_3 = _two_difference(w, r, w.mul(n, third))
    error = w.sub(w.add(error_2, error_3), w.mul(n, fourth))
    high = w.add(r, error)
    return high, w.add(w.sub(r, high), error)


def _two_difference(w: Writer, a: str, b: str) -> tuple[str, str]:
    """Return a - b and its rounding error (Knuth)."""
    s = w.sub(a, b)
    bb = w.sub(s, a)
    return s, w.sub(w.sub(a, w.sub(s, bb)), w.add(b, bb))


def _polynomial(w: Writer, z: str, coefficients: tuple[float, ...]) -> str:
    value = w.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = w.fma(value, z, w.constant(c))
    return value


def _sine(w: Writer, x: str, y: str) -> str:
    """Return sin(x + y) = x - ((z (y/2 - x z P) - y) - x z S1), z = x^2."""
    z = w.mul(x, x)
    v = w.mul(z, x)
    p = _polynomial(w, z, SINE[1:])
    inner = w.sub(w.mul(w.constant(0.5), y), w.mul(v, p))
    outer = w.sub(w.fma(z, inner, w.neg(y)), w.mul(v, w.constant(SINE[0])))
    return w.sub(x, outer)


def _cosine(w: Writer, x: str, y: str) -> str:
    """Return cos(x + y) = u + (((1 - u) - z/2) + (z^2 P - x y)), u = 1 - z/2."""
    z = w.mul(x, x)
    half = w.mul(w.constant(0.5), z)
    u = w.sub(w.constant(1.0), half)
    p = _polynomial(w, z, COSINE)
    tail = w.fma(w.mul(z, z), p, w.neg(w.mul(x, y)))
    return w.add(u, w.add(w.sub(w.sub(w.constant(1.0), u), half), tail))


def _by_quadrant(w: Writer, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
    """Swap in odd quadrants; flip the sine's sign in 2, 3 and the cosine's in 1, 2."""
    integer = w.target.of("i64")
    one, two = w.target.integer(1), w.target.integer(2)
    odd = w.do(f"icmp ne {integer} {w.do(f'and {integer} {quadrant}, {one}')}, {w.target.integer(0)}")
    next_quadrant = w.do(f"add {integer} {quadrant}, {one}")
    sine_sign = w.do(f"shl {integer} {w.do(f'and {integer} {quadrant}, {two}')}, {w.target.integer(62)}")
    cosine_sign = w.do(
        f"shl {integer} {w.do(f'and {integer} {next_quadrant}, {two}')}, {w.target.integer(62)}"
    )
    return (
        _flip(w, w.select(odd, cosine, sine), sine_sign),
        _flip(w, w.select(odd, sine, cosine), cosine_sign),
    )


def _flip(w: Writer, value: str, sign: str) -> str:
    integer = w.target.of("i64")
    bits = w.do(f"bitcast {w.target.type} {value} to {integer}")
    return w.do(f"bitcast {integer} {w.do(f'xor {integer} {bits}, {sign}')} to {w.target.type}")


def _return_pair(w: Writer, sine: str, cosine: str) -> None:
    t = w.target.type
    first = w.do(f"insertvalue {{ {t}, {t} }} poison, {t} {sine}, 0")
    pair = w.do(f"insertvalue {{ {t}, {t} }} {first}, {t} {cosine}, 1")
    w.line(f"ret {{ {t}, {t} }} {pair}")


def per_lane(target: Target, name: str, symbol: str, arguments: int) -> str:
    """Return the text of `@lanes.name`: one call of `@symbol` per lane."""
    w = Writer(target)
    parameters = ["%a", "%b"][:arguments]
    results = []
    for lane in range(target.lanes):
        scalars = ", ".join(f"double {w.lane(p, lane)}" for p in parameters)
        results.append(w.do(f"call double @{symbol}({scalars})"))
    w.line(f"ret {target.type} {w.pack(results)}")
    signature = ", ".join(f"{target.type} {p}" for p in parameters)
    return w.function(f"internal {target.type} @lanes.{name}({signature})", "nounwind noinline")


# Start of the inverse error function: rational approximations for the centre and for the tail, error below 1e-2.
_CENTRE = ((0.886226899, -1.645349621, 0.914624893, -0.140543331),
           (1.0, -2.118377725, 1.442710462, 0.012229801, -0.329097515))  # fmt: skip
_TAIL = ((-1.970840454, -1.624906493, 3.429567803, 1.641345311), (1.0, 3.543889200, 1.637067800))


def erfinv() -> str:
    """Return the text of the scalar function `@scalar.erfinv`: a rational start, then Newton steps on erf."""
    w = Writer(Target(1, fma=False))
    x, one = w.fabs("%x"), w.constant(1.0)
    rest = w.sub(one, x)
    square = w.mul(x, x)
    level = w.neg(w.do(f"call double @log(double {w.mul(w.constant(0.5), rest)})"))
    root = w.do(f"call double @llvm.sqrt.f64(double {level})")
    centre = w.mul(x, w.div(_polynomial(w, square, _CENTRE[0]), _polynomial(w, square, _CENTRE[1])))
    tail = w.div(_polynomial(w, root, _TAIL[0]), _polynomial(w, root, _TAIL[1]))
    y = w.select(w.compare("olt", x, w.constant(0.7)), centre, tail)
    for _ in range(4):
        y = _newton(w, x, rest, y)
    y = w.select(w.compare("oeq", x, one), w.constant(float("inf")), y)
    w.line(f"ret double {w.do(f'call double @llvm.copysign.f64(double {y}, double %x)')}")
    return w.function("internal double @scalar.erfinv(double %x)")


def _newton(w: Writer, x: str, rest: str, y: str) -> str:
    """Return y - (erf(y) - x) sqrt(pi)/2 exp(y^2); the residual by erfc where 1 - x has more digits."""
    by_erfc = w.sub(rest, w.do(f"call double @erfc(double {y})"))
    by_erf = w.sub(w.do(f"call double @erf(double {y})"), x)
    residual = w.select(w.compare("ogt", x, w.constant(0.5)), by_erfc, by_erf)
    slope = w.do(f"call double @exp(double {w.mul(y, y)})")
    return w.sub(y, w.mul(w.mul(residual, w.constant(0.886226925452758)), slope))


def helpers(target: Target, text: str) -> str:
    """Return the definitions of every helper `@lanes.x` that `text` calls, and all declarations."""
    parts = []
    if "@lanes.sincos(" in text:
        parts.append(sincos(target))
        text += parts[-1]
    for arguments, names in ((1, (*LIBM_1, "sin", "cos")), (2, LIBM_2)):
        parts += [per_lane(target, n, n, arguments) for n in names if f"@lanes.{n}(" in text]
    if "@lanes.erfinv(" in text:
        parts += [per_lane(target, "erfinv", "scalar.erfinv", 1), erfinv()]
    return "\n".join([*parts, _declarations(target), '!0 = !{!"branch_weights", i32 1, i32 1000000}\n'])


def _declarations(target: Target) -> str:
    lines = [f"declare double @{n}(double)" for n in (*LIBM_1, "sin", "cos", "erfc")]
    lines += [f"declare double @{n}(double, double)" for n in LIBM_2]
    for suffix, t in {"f64": "double", target.suffix: target.type}.items():
        lines += [f"declare {t} @llvm.{n}.{suffix}({t})" for n in ("sqrt", "floor", "ceil", "fabs")]
        lines += [
            f"declare {t} @llvm.copysign.{suffix}({t}, {t})",
            f"declare {t} @llvm.fma.{suffix}({t}, {t}, {t})",
        ]
    return "\n".join(lines) + "\n"
