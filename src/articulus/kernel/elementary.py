"""Elementary functions as internal functions of the emitted module.

Sine and cosine are computed in all lanes at once, both in one evaluation. The argument is reduced to
r = x - n pi/2, |r| <= pi/4, with pi/2 in several parts (Cody and Waite 1980), and the two kernels are
the minimax polynomials of fdlibm (Sun Microsystems 1993). Beyond `BOUND` the lane takes the C library's result.
The logarithm is that of fdlibm, too: x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). Zero, negative, subnormal and
infinite arguments take the C library's result. Everything else is one call of the C library per lane.
"""

from __future__ import annotations

import struct

from .ops import LIBM_1, LIBM_2
from .target import Target
from .writer import CodeWriter

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
COSINE = (-0.5, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip

SMALLEST, LARGEST = float.fromhex("0x1p-1022"), float.fromhex("0x1.fffffffffffffp+1023")
"""Normal numbers, of which `log` is computed in lanes."""
ROOT_HALF, ONE = 0x3FE6A09E << 32, 0x3FF00000 << 32  # bits of about sqrt(1/2), and of 1
FRACTION = 2**52 - 1  # bits behind the exponent
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LOG_EVEN = (
    6.666666666666735130e-01,
    2.857142874366239149e-01,
    1.818357216161805012e-01,
    1.479819860511658591e-01,
)
LOG_ODD = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)


class _Tabled(CodeWriter):
    """A writer whose constants are loads from a table of whole vectors.

    As immediate operands LLVM would broadcast each from one double, an instruction of its own; a load of the whole
    vector becomes the memory operand of the instruction that uses it.
    """

    def __init__(self, target: Target, name: str):
        super().__init__(target)
        self.name, self.values = name, list[str]()

    def constant(self, value: float) -> str:
        """Return `value` in every lane."""
        return self._entry(self.target.constant(value))

    def integer(self, value: int) -> str:
        """Return an integer in every lane."""
        bits = self._entry(self.target.constant(struct.unpack("<d", struct.pack("<q", value))[0]))
        return self.do(f"bitcast {self.target.type} {bits} to {self.target.of('i64')}")

    def magnitude(self, value: str) -> str:
        """Return the absolute value."""
        t, integer = self.target.type, self.target.of("i64")
        bits = self.do(f"bitcast {t} {value} to {integer}")
        return self.do(
            f"bitcast {integer} {self.do(f'and {integer} {bits}, {self.integer(2**63 - 1)}')} to {t}"
        )

    def _entry(self, text: str) -> str:
        if text not in self.values:
            self.values.append(text)
        return self.load(self.offset(self.name, self.values.index(text) * self.target.bytes))

    def table(self) -> str:
        """Return the text of the table."""
        t = self.target.type
        values = ", ".join(f"{t} {value}" for value in self.values)
        return f"{self.name} = internal constant [{len(self.values)} x {t}] [{values}], align {self.target.bytes}\n"


def sincos(target: Target) -> str:
    """Return the text of `@lanes.sincos`: sine and cosine, error below 1.5 ulp up to the bound."""
    w = _Tabled(target, "@sincos.constants")
    t = target.type
    sine, cosine = _near(w, "%x")
    far = w.compare("ugt", w.magnitude("%x"), w.constant(BOUND_FMA if target.fma else BOUND_PLAIN))
    w.line(f"br i1 {w.any(far)}, label %far, label %near, !prof !0")
    w.label("near")
    _return_pair(w, sine, cosine)
    w.label("far")
    far_sine = w.select(far, w.do(f"call {t} @lanes.sin({t} %x)"), sine)
    far_cosine = w.select(far, w.do(f"call {t} @lanes.cos({t} %x)"), cosine)
    _return_pair(w, far_sine, far_cosine)
    return w.table() + w.function(f"internal {{ {t}, {t} }} @lanes.sincos({t} %x)", "nounwind noinline")


def _near(w: _Tabled, x: str) -> tuple[str, str]:
    """Return sine and cosine of an argument within the bound."""
    n, quadrant = _nearest_quarter(w, x)
    r = (_reduce_fma if w.target.fma else _reduce_plain)(w, x, n)
    z = w.mul(r, r)
    sine, cosine = _by_quadrant(w, quadrant, _sine(w, r, z), _cosine(w, z))
    zero = w.compare("oeq", x, w.target.constant(0.0))
    return w.select(zero, x, sine), cosine  # the sum in `_sine` loses the sign of zero


def _nearest_quarter(w: CodeWriter, x: str) -> tuple[str, str]:
    """Return n = round(2 x / pi) as a double, and as an integer of which the low two bits are right."""
    shifted = w.fma(x, w.constant(TWO_OVER_PI), w.constant(ROUND))
    quadrant = w.do(f"bitcast {w.target.type} {shifted} to {w.target.of('i64')}")
    return w.sub(shifted, w.constant(ROUND)), quadrant


def _reduce_fma(w: CodeWriter, x: str, n: str) -> str:
    """Return x - n pi/2.

    The first step is exact: its result is a multiple of 2**-52 below 1. The second rounds once, whatever cancels. The
    third matters next to multiples of pi/2, and rounds once more.
    """
    minus = w.neg(n)
    for part in HALF_PI_53:
        x = w.fma(minus, w.constant(part), x)
    return x


def _reduce_plain(w: CodeWriter, x: str, n: str) -> str:
    """The same without fused multiply-add: products with 33-bit parts are exact, differences compensated."""
    first, second, third, fourth = map(w.constant, HALF_PI_33)
    r = w.sub(x, w.mul(n, first))
    r, error_2 = _two_difference(w, r, w.mul(n, second))
    r, error_3 = _two_difference(w, r, w.mul(n, third))
    return w.add(r, w.sub(w.add(error_2, error_3), w.mul(n, fourth)))


def _two_difference(w: CodeWriter, a: str, b: str) -> tuple[str, str]:
    """Return a - b and its rounding error (Knuth)."""
    s = w.sub(a, b)
    bb = w.sub(s, a)
    return s, w.sub(w.sub(a, w.sub(s, bb)), w.add(b, bb))


def _polynomial(w: CodeWriter, z: str, coefficients: tuple[float, ...]) -> str:
    value = w.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = w.fma(value, z, w.constant(c))
    return value


def _sine(w: CodeWriter, r: str, z: str) -> str:
    """Return sin(r) = r + r z P(z), z = r^2."""
    return w.fma(w.mul(r, z), _polynomial(w, z, SINE), r)


def _cosine(w: CodeWriter, z: str) -> str:
    """Return cos(r) = 1 + z P(z), z = r^2."""
    return w.fma(z, _polynomial(w, z, COSINE), w.constant(1.0))


def _by_quadrant(w: _Tabled, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
    """Swap in odd quadrants; flip the sine's sign in 2, 3 and the cosine's in 1, 2."""
    integer = w.target.of("i64")
    odd = w.do(f"shl {integer} {quadrant}, {w.target.integer(63)}")
    upper = w.do(f"and {integer} {quadrant}, {w.integer(2)}")
    sine_sign = w.do(f"shl {integer} {upper}, {w.target.integer(62)}")
    cosine_sign = w.do(f"xor {integer} {sine_sign}, {odd}")
    swap = w.do(f"icmp slt {integer} {odd}, {w.target.integer(0)}")
    return (
        _flip(w, w.select(swap, cosine, sine), sine_sign),
        _flip(w, w.select(swap, sine, cosine), cosine_sign),
    )


def _flip(w: CodeWriter, value: str, sign: str) -> str:
    integer = w.target.of("i64")
    bits = w.do(f"bitcast {w.target.type} {value} to {integer}")
    return w.do(f"bitcast {integer} {w.do(f'xor {integer} {bits}, {sign}')} to {w.target.type}")


def _return_pair(w: CodeWriter, sine: str, cosine: str) -> None:
    t = w.target.type
    first = w.do(f"insertvalue {{ {t}, {t} }} poison, {t} {sine}, 0")
    pair = w.do(f"insertvalue {{ {t}, {t} }} {first}, {t} {cosine}, 1")
    w.line(f"ret {{ {t}, {t} }} {pair}")


def log(target: Target) -> str:
    """Return the text of `@lanes.log`: the natural logarithm, error below 1 ulp."""
    w = _Tabled(target, "@log.constants")
    t = target.type
    k, f = _exponent_and_fraction(w, "%x")
    s = w.div(f, w.add(f, w.constant(2.0)))
    z = w.mul(s, s)
    square = w.mul(z, z)
    rest = w.fma(square, _polynomial(w, square, LOG_ODD), w.mul(z, _polynomial(w, square, LOG_EVEN)))
    half = w.mul(w.mul(w.constant(0.5), f), f)
    correction = w.fma(s, w.add(half, rest), w.mul(k, w.constant(LN2_LOW)))
    near = w.fma(k, w.constant(LN2_HIGH), w.sub(f, w.sub(half, correction)))
    low, high = w.compare("ult", "%x", w.constant(SMALLEST)), w.compare("ugt", "%x", w.constant(LARGEST))
    far = w.do(f"or {target.of('i1')} {low}, {high}")
    w.line(f"br i1 {w.any(far)}, label %far, label %near, !prof !0")
    w.label("near")
    w.line(f"ret {t} {near}")
    w.label("far")
    w.line(f"ret {t} {w.select(far, w.do(f'call {t} @lanes.far_log({t} %x)'), near)}")
    return w.table() + w.function(f"internal {t} @lanes.log({t} %x)", "nounwind noinline")


def _exponent_and_fraction(w: _Tabled, x: str) -> tuple[str, str]:
    """Return k and f of x = 2^k (1 + f), both as doubles, for a normal number x."""
    t, integer = w.target.type, w.target.of("i64")
    bits = w.do(f"bitcast {t} {x} to {integer}")
    moved = w.do(f"add {integer} {bits}, {w.integer(ONE - ROOT_HALF)}")
    raised = w.do(f"lshr {integer} {moved}, {w.target.integer(52)}")
    number = w.do(f"or {integer} {raised}, {w.integer(0x433 << 52)}")  # of the double 2^52 + k + 1023
    k = w.sub(w.do(f"bitcast {integer} {number} to {t}"), w.constant(2.0**52 + 1023))
    behind = w.do(f"and {integer} {moved}, {w.integer(FRACTION)}")
    mantissa = w.do(f"bitcast {integer} {w.do(f'add {integer} {behind}, {w.integer(ROOT_HALF)}')} to {t}")
    return k, w.sub(mantissa, w.constant(1.0))


def per_lane(target: Target, name: str, symbol: str, arguments: int) -> str:
    """Return the text of `@lanes.name`: one call of `@symbol` per lane."""
    w = CodeWriter(target)
    parameters = ["%a", "%b"][:arguments]
    results = []
    for lane in range(target.lanes):
        scalars = ", ".join(f"double {w.lane(p, lane)}" for p in parameters)
        results.append(w.do(f"call double @{symbol}({scalars})"))
    w.line(f"ret {target.type} {w.pack(results)}")
    signature = ", ".join(f"{target.type} {p}" for p in parameters)
    return w.function(f"internal {target.type} @lanes.{name}({signature})", "nounwind noinline")


# Start of the inverse error function: rational approximations for the center and for the tail, error below 1e-2.
_CENTER = ((0.886226899, -1.645349621, 0.914624893, -0.140543331),
           (1.0, -2.118377725, 1.442710462, 0.012229801, -0.329097515))  # fmt: skip
_TAIL = ((-1.970840454, -1.624906493, 3.429567803, 1.641345311), (1.0, 3.543889200, 1.637067800))


def erfinv() -> str:
    """Return the text of the scalar function `@scalar.erfinv`: a rational start, then Newton steps on erf."""
    w = CodeWriter(Target(1, fma=False))
    x, one = w.fabs("%x"), w.constant(1.0)
    rest = w.sub(one, x)
    square = w.mul(x, x)
    level = w.neg(w.do(f"call double @log(double {w.mul(w.constant(0.5), rest)})"))
    root = w.do(f"call double @llvm.sqrt.f64(double {level})")
    center = w.mul(x, w.div(_polynomial(w, square, _CENTER[0]), _polynomial(w, square, _CENTER[1])))
    tail = w.div(_polynomial(w, root, _TAIL[0]), _polynomial(w, root, _TAIL[1]))
    y = w.select(w.compare("olt", x, w.constant(0.7)), center, tail)
    for _ in range(4):
        y = _newton(w, x, rest, y)
    y = w.select(w.compare("oeq", x, one), w.constant(float("inf")), y)
    w.line(f"ret double {w.do(f'call double @llvm.copysign.f64(double {y}, double %x)')}")
    return w.function("internal double @scalar.erfinv(double %x)")


def _newton(w: CodeWriter, x: str, rest: str, y: str) -> str:
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
    if "@lanes.log(" in text:
        parts += [log(target), per_lane(target, "far_log", "log", 1)]
    others = [name for name in LIBM_1 if name != "log"]
    for arguments, names in ((1, (*others, "sin", "cos")), (2, LIBM_2)):
        parts += [per_lane(target, n, n, arguments) for n in names if f"@lanes.{n}(" in text]
    if "@lanes.erfinv(" in text:
        parts += [per_lane(target, "erfinv", "scalar.erfinv", 1), erfinv()]
    return "\n".join([*parts, _declarations(target), '!0 = !{!"branch_weights", i32 1, i32 1000000}\n'])


def _declarations(target: Target) -> str:
    lines = [f"declare double @{n}(double)" for n in (*LIBM_1, "sin", "cos", "erfc")]
    lines += [f"declare double @{n}(double, double)" for n in LIBM_2]
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)")
    for suffix, t in {"f64": "double", target.suffix: target.type}.items():
        lines += [f"declare {t} @llvm.{n}.{suffix}({t})" for n in ("sqrt", "floor", "ceil", "fabs")]
        lines += [
            f"declare {t} @llvm.copysign.{suffix}({t}, {t})",
            f"declare {t} @llvm.fma.{suffix}({t}, {t}, {t})",
        ]
    return "\n".join(lines) + "\n"
