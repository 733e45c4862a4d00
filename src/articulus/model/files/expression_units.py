"""What an expression of named parameters measures, from the units that its parameters were declared with.

A plain number in a sum measures whatever the rest of the sum does; a parameter that was declared without a unit leaves the answer open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from articulus.model.files.units import ONE, Unit, UnitError, base_text
from articulus.model.mechanism.expression import Parameter, ParameterExpression, Varying, text_of

_RAD = 3


def dimension_of(x: Any, units: Mapping[str, Unit | None]) -> Unit | None:
    """Return the unit of an expression, None when it is open; raise UnitError when its parts do not fit together.

    Parameters
    ----------
    x : float, Parameter or Expression
    units : dict of parameter name to Unit
        None for a parameter without a unit.
    """
    if isinstance(x, Parameter):
        return units.get(x.name)
    if not isinstance(x, ParameterExpression):
        return None
    parts = [dimension_of(arg, units) for arg in x.args]
    match x.op:
        case "+" | "-":
            return _sum(x, parts)
        case "*" | "/":
            return _product(x, parts)
        case "^":
            return _power(x, parts[0])
        case "sqrt":
            return None if parts[0] is None else _root(x, parts[0])
        case "neg" | "abs":
            return parts[0]
        case _:
            return _function(x, parts)


def _sum(x: ParameterExpression, parts: list[Unit | None]) -> Unit | None:
    left, right = parts
    if left is None or right is None:
        return left or right
    if left.dimension != right.dimension:
        raise UnitError(f"'{text_of(x)}' adds [{base_text(left)}] and [{base_text(right)}]")
    return left


def _product(x: ParameterExpression, parts: list[Unit | None]) -> Unit | None:
    left, right = (ONE if not isinstance(arg, Varying) else unit for arg, unit in zip(x.args, parts))
    if left is None or right is None:
        return None
    return left.times(right if x.op == "*" else right.power(-1))


def _power(x: ParameterExpression, base: Unit | None) -> Unit | None:
    exponent = x.args[1]
    if base is None or base.dimension == ONE.dimension:
        return base
    if isinstance(exponent, Varying):
        raise UnitError(f"'{text_of(x)}' raises [{base_text(base)}] to a power that is not a plain number")
    if exponent == int(exponent) and abs(exponent) <= 9:
        return base.power(int(exponent))
    return _root(x, base) if exponent == 0.5 else None


def _root(x: ParameterExpression, unit: Unit) -> Unit | None:
    if any(n % 2 for n in unit.dimension):
        return None
    kg, m, s, rad = (n // 2 for n in unit.dimension)
    return Unit(ONE.factor, (kg, m, s, rad))


def _function(x: ParameterExpression, parts: list[Unit | None]) -> Unit | None:
    """Return the unit of a function: of an angle or a plain number, or of an angle as its value."""
    if x.op == "atan2":
        _sum(x, parts)
    for unit in parts:
        if x.op != "atan2" and unit is not None and any(unit.dimension[:_RAD]):
            raise UnitError(f"'{text_of(x)}' takes [{base_text(unit)}]; expected a plain number or an angle")
    inverse = x.op in ("asin", "acos", "atan", "atan2")
    return Unit(ONE.factor, (0, 0, 0, 1)) if inverse else None
