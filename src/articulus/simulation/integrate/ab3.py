"""Adams-Bashforth of order 3."""

from articulus.simulation.integrate.adams import AdamsBashforth


class AB3(AdamsBashforth):
    """Adams-Bashforth of order 3. Source: Kasahara, Honda & Narita 1989, table I."""

    name, order, past = "ab3", 3, 2
    weights = (23 / 12, -16 / 12, 5 / 12)
