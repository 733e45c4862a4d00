"""A Gaussian limit state: pass rates, rare failures, worst case and sensitivity of a sliding mass."""
