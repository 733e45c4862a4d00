"""Two carts and a spring, the benchmark problem of Wie & Bernstein 1992."""
