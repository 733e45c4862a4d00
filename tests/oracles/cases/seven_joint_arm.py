"""Eigenvalues of the matrix that Lin & Yae 1989 print in eq. 39: roots of the characteristic polynomials of its two blocks, in 40 digits."""

import mpmath as mp

ROLLS = [["15.737", "-1.607", "-.1451", "-.18e-8"], [".41697", "9.2375", "-.4480", "-.13e-7"], ["-29.11", "3.711", "21.533", ".93e-7"], ["14.914", "5.9428", "-25.38", "-.58e-7"]]  # fmt: skip
PITCHES = [["15.228", "2.8549", "-.3485"], ["-11.44", "-6.361", ".5637"], ["-5.0345", "-13.19", "-15.76"]]


def expected():
    mp.mp.dps = 40
    roots = [r for block in (ROLLS, PITCHES) for r in polynomial_roots(mp.matrix(block))]
    assert all(abs(mp.im(r)) < mp.mpf(10) ** -30 for r in roots)
    return {
        "printed matrix: squares of the poles of its linear model, rolls and pitches [1/s^2]": sorted(
            (float(mp.re(r)) for r in roots), reverse=True
        )
    }


def polynomial_roots(A):
    """Return the roots of det(s - A) by Faddeev and Leverrier."""
    n, M, c = A.rows, mp.eye(A.rows), [mp.mpf(1)]
    for k in range(1, n + 1):
        AM = A * M
        c.append(-sum(AM[i, i] for i in range(n)) / k)
        M = AM + c[-1] * mp.eye(n)
    return mp.polyroots(c[::-1], maxsteps=200, extraprec=200, asc=True)
