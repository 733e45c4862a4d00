"""Adams-Bashforth of order 2."""

from articulus.simulation.integrate.adams import AdamsBashforth


class AB2(AdamsBashforth):
    """Adams-Bashforth of order 2. Source: Kasahara, Honda & Narita 1989, table I. Printed there under the name "Trapezoidal"."""

    name, order, past = "ab2", 2, 1
    weights = (3 / 2, -1 / 2)
