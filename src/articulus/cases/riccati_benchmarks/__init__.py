"""Algebraic Riccati equations with known solutions, Benner, Laub & Mehrmann 1995."""
