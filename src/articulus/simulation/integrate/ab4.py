"""Adams-Bashforth of order 4."""

from articulus.simulation.integrate.adams import AdamsBashforth


class AB4(AdamsBashforth):
    """Adams-Bashforth of order 4. Source: Kasahara, Honda & Narita 1989, table I."""

    name, order, past = "ab4", 4, 3
    weights = (55 / 24, -59 / 24, 37 / 24, -9 / 24)
