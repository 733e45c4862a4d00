"""Stable inversion of nonlinear systems x' = f(x) + g(x) u, y = h(x), minimum-phase or not (Chen & Paden)."""
