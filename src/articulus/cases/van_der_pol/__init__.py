"""Integration formulas of Kasahara, Honda & Narita 1989."""
