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
    """Return x - n pi/2 as high + low; the first step is exact, the rounding of the second is kept."""
    first, second, third = map(w.constant, HALF_PI_53)
    minus = w.neg(n)
    r = w.fma(minus, first, x)
    high = w.fma(minus, second, r)
    low = w.fma(minus, third, w.fma(minus, second, w.sub(r, high)))
    return high, low


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


# Scalar inverse error function: rational start (Giles 2010, central and tail form), then Newton steps on erf.
def erfinv() -> str:
    """Return the text of the scalar function `@scalar.erfinv`."""
    w = Writer(Target(1, fma=False))
    one = w.constant(1.0)
    product = w.mul(w.sub(one, "%x"), w.add(one, "%x"))
    level = w.neg(w.do(f"call double @log(double {product})"))
    near = _polynomial(w, w.sub(level, w.constant(2.5)), _GILES_CENTRE)
    root = w.sub(w.do(f"call double @llvm.sqrt.f64(double {level})"), w.constant(3.0))
    far = _polynomial(w, root, _GILES_TAIL)
    y = w.mul(w.select(w.compare("olt", level, w.constant(5.0)), near, far), "%x")
    for _ in range(2):
        y = _newton(w, y)
    magnitude = w.fabs("%x")
    infinite = w.do(f"call double @llvm.copysign.f64(double {w.constant(float('inf'))}, double %x)")
    y = w.select(w.compare("oeq", magnitude, one), infinite, y)
    w.line(f"ret double {w.select(w.compare('oeq', magnitude, w.constant(0.0)), '%x', y)}")
    return w.function("internal double @scalar.erfinv(double %x)")


_GILES_CENTRE = (1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.000218580870, -4.39150654e-06,
                 -3.5233877e-06, 3.43273939e-07, 2.81022636e-08)  # fmt: skip
_GILES_TAIL = (2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
               0.00134934322, 0.000100950558, -0.000200214257)  # fmt: skip


def _newton(w: Writer, y: str) -> str:
    """Return y - (erf(y) - x) sqrt(pi)/2 exp(y^2), through erfc where erf has no digits left."""
    magnitude = w.fabs(y)
    target = w.sub(w.constant(1.0), w.fabs("%x"))
    by_erfc = w.sub(target, w.do(f"call double @erfc(double {magnitude})"))
    by_erf = w.sub(w.do(f"call double @erf(double {magnitude})"), w.fabs("%x"))
    residual = w.select(w.compare("ogt", magnitude, w.constant(0.5)), by_erfc, by_erf)
    slope = w.do(f"call double @exp(double {w.mul(y, y)})")
    step = w.mul(w.mul(residual, w.constant(0.886226925452758)), slope)
    return w.do(f"call double @llvm.copysign.f64(double {w.sub(magnitude, step)}, double %x)")


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
