"""What the emitted text needs to know about the processor: lanes, types, fused multiply-add."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A lane count and the instruction set it is emitted for.

    Parameters
    ----------
    lanes : int
        Doubles per vector value: 1, 2, 4 or 8.
    fma : bool
        Whether the processor has a fused multiply-add.
    registers : int
        Vector registers; decides the tile of matrix products.
    """

    lanes: int
    fma: bool
    registers: int = 16

    @property
    def type(self) -> str:
        """LLVM type of one value (one double per lane)."""
        return self.of("double")

    @property
    def suffix(self) -> str:
        """Suffix of overloaded LLVM intrinsics for that type."""
        return "f64" if self.lanes == 1 else f"v{self.lanes}f64"

    @property
    def bytes(self) -> int:
        """Size and alignment of one value in the workspace."""
        return 8 * self.lanes

    def of(self, scalar: str) -> str:
        """Return the LLVM type of one `scalar` per lane."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def constant(self, value: float) -> str:
        """Return the operand text of a floating-point constant in every lane."""
        return self.splat("double", hexadecimal(value))

    def integer(self, value: int) -> str:
        """Return the operand text of an i64 constant in every lane."""
        return self.splat("i64", str(value))

    def splat(self, scalar: str, text: str) -> str:
        """Return the operand text of one scalar constant in every lane."""
        return text if self.lanes == 1 else f"splat ({scalar} {text})"


def hexadecimal(value: float) -> str:
    """Return the exact LLVM literal of a double.

    >>> hexadecimal(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
