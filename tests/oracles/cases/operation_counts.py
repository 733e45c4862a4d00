"""Operation counts from whole-number arithmetic on the coefficients of the sources."""

from math import ceil, log2


def cost(n, names):
    """Microseconds of table 4.8: coefficients of ceil((n + 1)/2), ceil(log2 n), n and 1, for multiplications and additions."""
    table = {
        "Lee M": ((9, 31, 0, 116), (5, 28, 3, 92)),
        "Wong M": ((0, 0, 22, 24), (0, 0, 22, 5)),
        "Fijany M": ((0, 48, 0, 102), (0, 63, 0, 66)),
        "Hwang M": ((0, 27, 6, 109), (0, 31, 5, 92)),
        "Lee": ((9, 31, 7, 111), (5, 28, 10, 87)),
        "Wong": ((0, 0, 26, 25), (0, 0, 26, 5)),
        "Fijany": ((0, 48, 7, 97), (0, 63, 7, 61)),
        "Hwang": ((0, 27, 13, 104), (0, 31, 12, 87)),
    }
    size = (ceil((n + 1) / 2), ceil(log2(n)), n, 1)
    return [sum(a * (2 * m + s) for a, m, s in zip(size, *table[name])) / 2 for name in names]


def last(names):
    n = 2
    while all(cost(n, names)[0] < other for other in cost(n, names)[1:]):
        n += 1
    return n - 1


def expected():
    chain = [[1318, 1153], [1779, 1392], [105, 71], [128, 84], [36, 36], [36, 36]]
    chains = [3 * sum(c[0] for c in chain) + 86, 3 * sum(c[1] for c in chain) + 27 * 3 + 71]
    chou = [
        f(n)
        for f in (
            lambda n: ((915 * n + 196) * n - 5) * n,
            lambda n: ((33 * n + 129) * n + 50) * n,
            lambda n: 657 * n - 324,
        )
        for n in (3, 10)
    ]
    parts = [27 + 6, 18 + 15], [76 + 30 + 3, 48 + 21 + 2]  # doublings and once, of the inertia matrix
    doublings = sum(parts[0]) + 15
    once = sum(parts[1]) + 141 + 101 + 5 * 5 + 2
    return {
        "table 4.8: largest n for which the mesh is cheapest, inertia matrix": last(
            ["Wong M", "Lee M", "Fijany M", "Hwang M"]
        ),
        "table 4.8: largest n for which the mesh is cheapest, inertia matrix and solver": last(
            ["Wong", "Lee", "Fijany", "Hwang"]
        ),
        "table 4.8: inertia matrix and solver, n = 4 [us]": cost(4, ["Lee", "Wong", "Fijany", "Hwang"]),
        "Chen & Ou: N = 6": [11 * 30 + 150 * 5 - 15, 7 * 30 + 119 * 5 - 14],
        "Fijany & Bejczy: parallel, n = 6, of its parts": doublings * 3 + once,
        "Lilly & Orin: three chains": chains,
        "Chou: three schemes, n = 3 and 10: multiplications": chou,
    }
