"""A thin writer of LLVM text: names the results, knows the lane type, has no other opinion."""

from __future__ import annotations

from .target import Target


class CodeWriter:
    """Collects the lines of one function body.

    Every method that computes something appends one line (or two) and returns the name of the result.
    No method sets fast-math flags, so that LLVM may not change a rounding.
    """

    def __init__(self, target: Target):
        self.target = target
        self.lines: list[str] = []
        self._count = 0

    def line(self, text: str) -> None:
        """Append a line that has no result."""
        self.lines.append(text)

    def do(self, text: str) -> str:
        """Append `name = text` and return the name."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"{name} = {text}")
        return name

    def phi(self, type: str, value: str, label: str) -> str:
        """Open a loop variable that is `value` when coming from `label`; `close` completes it."""
        return self.do(f"phi {type} [ {value}, %{label} ]")

    def close(self, variable: str, value: str, label: str) -> None:
        """Give a loop variable its value on coming from `label`."""
        place = next(k for k, line in enumerate(self.lines) if line.startswith(f"{variable} = phi"))
        self.lines[place] += f", [ {value}, %{label} ]"

    def label(self, name: str) -> None:
        """Start the basic block `name`."""
        self.lines.append(f"{name}:")

    def constant(self, value: float) -> str:
        """Return `value` in every lane."""
        return self.target.constant(value)

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.do(f"fadd {self.target.type} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """Return a - b."""
        return self.do(f"fsub {self.target.type} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        """Return a * b."""
        return self.do(f"fmul {self.target.type} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        """Return a / b."""
        return self.do(f"fdiv {self.target.type} {a}, {b}")

    def neg(self, a: str) -> str:
        """Return -a."""
        return self.do(f"fneg {self.target.type} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """Return a*b + c, in one rounding where the target can."""
        if not self.target.fma:
            return self.add(self.mul(a, b), c)
        t = self.target.type
        return self.do(f"call {t} @llvm.fma.{self.target.suffix}({t} {a}, {t} {b}, {t} {c})")

    def fabs(self, a: str) -> str:
        """Return |a|."""
        return self.do(f"call {self.target.type} @llvm.fabs.{self.target.suffix}({self.target.type} {a})")

    def compare(self, relation: str, a: str, b: str) -> str:
        """Return the truth of `a relation b` per lane."""
        return self.do(f"fcmp {relation} {self.target.type} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """Return a where the condition holds, else b."""
        t = self.target.type
        return self.do(f"select {self.target.of('i1')} {condition}, {t} {a}, {t} {b}")

    def any(self, condition: str) -> str:
        """Return the i1 that is true if the condition holds in some lane."""
        lanes = self.target.lanes
        if lanes == 1:
            return condition
        bits = self.do(f"bitcast <{lanes} x i1> {condition} to i{lanes}")
        return self.do(f"icmp ne i{lanes} {bits}, 0")

    def lane(self, value: str, index: int) -> str:
        """Return the scalar in one lane."""
        if self.target.lanes == 1:
            return value
        return self.do(f"extractelement {self.target.type} {value}, i64 {index}")

    def pack(self, scalars: list[str]) -> str:
        """Return the value whose lanes are the given scalars."""
        if self.target.lanes == 1:
            return scalars[0]
        value = "poison"
        for index, scalar in enumerate(scalars):
            value = self.do(f"insertelement {self.target.type} {value}, double {scalar}, i64 {index}")
        return value

    def splat(self, scalar: str, count: int) -> str:
        """Return a vector of so many equal doubles."""
        one = self.do(f"insertelement <{count} x double> poison, double {scalar}, i64 0")
        return self.do(
            f"shufflevector <{count} x double> {one}, <{count} x double> poison, <{count} x i32> zeroinitializer"
        )

    def offset(self, pointer: str, count: int | str) -> str:
        """Return `pointer` moved by a number of bytes."""
        return self.do(f"getelementptr inbounds i8, ptr {pointer}, i64 {count}")

    def load(self, pointer: str, type: str | None = None, align: int | None = None) -> str:
        """Load one value (or one `type`)."""
        return self.do(f"load {type or self.target.type}, ptr {pointer}, align {align or self.target.bytes}")

    def store(self, value: str, pointer: str, type: str | None = None, align: int | None = None) -> None:
        """Store one value (or one `type`)."""
        self.line(
            f"store {type or self.target.type} {value}, ptr {pointer}, align {align or self.target.bytes}"
        )

    def function(self, signature: str, attributes: str = "nounwind") -> str:
        """Return the text of the whole function, e.g. for `internal void @f(ptr %w)`."""
        body = "\n".join(self.lines)
        return f"define {signature} {attributes} {{\n{body}\n}}\n"
