"""Robustness: structured singular value, uncertain parameters, polynomials with uncertain coefficients."""
