"""Three transfer functions with uncertain coefficients as M and Delta: sizes of Delta, and that they are the same functions."""

from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise

import numpy as np

from articulus.control import uncertain
from articulus.control.robust import UncertainModel, cascade

FIRST = {
    "al1": 1.3,
    "al2": 2.1,
    "a1": 0.7,
    "a2": 3.2,
    "be1": 1.1,
    "be2": 0.4,
    "be3": 0.9,
    "be4": 1.7,
    "b1": 0.6,
    "b2": 1.9,
    "b3": 2.4,
}
SECOND = {"t1": 1.0, "t2": 2.0, "b1": 0.5, "b2": 1.5, "b3": 3.0}
THIRD = {"sigma": 0.2, "w": 2.5}


def compute() -> dict:
    out: dict = {}
    for name, build, exact, nominal in (
        ("7.1", first, first_exact, FIRST),
        ("7.2", second, second_exact, SECOND),
        ("7.3", third, third_exact, THIRD),
    ):
        model = uncertain(build, {n: (0.8 * x, 1.25 * x) for n, x in nominal.items()})
        out[f"example {name}: size of Delta"] = model.structure.rows
        out[f"example {name}: response over that of the transfer function, real and imaginary part"] = ratio(
            model, exact
        )
        one, two = (weigh(found) for found in terms(model, nominal))
        out[f"example {name}: terms of first order, entries weighed by 1, 2, 3, ... row by row"] = one
        out[f"example {name}: terms of second order, likewise"] = two
        if name == "7.1":
            out["example 7.1: highest order of cross terms"] = order(model)
    return out


def terms(model: UncertainModel, nominal: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return what does not depend on the scaling of Delta: terms of the state matrices in the parameters and in pairs of them."""
    M, k = model.model, model.structure.rows
    L, R, D = np.vstack([M.B[:, :k], M.D[k:, :k]]), np.hstack([M.C[:k], M.D[:k, k:]]), M.D[:k, :k]
    ends = np.cumsum([0, *(block.rows for block in model.structure.blocks)])
    own = [np.arange(a, b) for a, b in pairwise(ends)]
    half = [0.225 * x for x in nominal.values()]  # Delta is 1 at the ends of the ranges
    one = [L[:, i] @ R[i] / r for i, r in zip(own, half)]
    two = []
    for (a, i), (b, j) in combinations_with_replacement(enumerate(own), 2):
        across = L[:, i] @ D[np.ix_(i, j)] @ R[j]
        if a != b:
            across = across + L[:, j] @ D[np.ix_(j, i)] @ R[i]
        two.append(across / (half[a] * half[b]))
    return np.array(one), np.array(two)


def weigh(found: np.ndarray) -> np.ndarray:
    """Return one number for each matrix, in which no two entries count alike."""
    flat = found.reshape(len(found), -1)
    return flat @ np.arange(1, flat.shape[1] + 1)


def first(p: dict) -> tuple:
    return cascade(
        [
            ([p["be1"], p["be2"]], [1, p["al1"]]),
            ([p["be3"], p["be4"]], [1, p["al2"]]),
            ([p["b1"], p["b2"], p["b3"]], [1, p["a1"], p["a2"]]),
        ]
    )


def first_exact(p: dict, s: complex) -> complex:
    top = (p["be1"] * s + p["be2"]) * (p["be3"] * s + p["be4"]) * (p["b1"] * s**2 + p["b2"] * s + p["b3"])
    return top / ((s + p["al1"]) * (s + p["al2"]) * (s**2 + p["a1"] * s + p["a2"]))


def second(p: dict) -> tuple:
    return cascade([([p["b1"], p["b2"], p["b3"]], [1, p["t1"] + p["t2"], p["t1"] * p["t2"]])])


def second_exact(p: dict, s: complex) -> complex:
    return (p["b1"] * s**2 + p["b2"] * s + p["b3"]) / ((s + p["t1"]) * (s + p["t2"]))


def third(p: dict) -> tuple:
    return cascade([([1.0], [1, 2 * p["sigma"], p["w"] ** 2])])


def third_exact(p: dict, s: complex) -> complex:
    return 1.0 / (s**2 + 2 * p["sigma"] * s + p["w"] ** 2)


def ratio(model: UncertainModel, exact: Callable[[dict, complex], complex]) -> np.ndarray:
    """Return the ratio farthest from one, over random parameters and frequencies."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        p = {n: rng.uniform(*r) for n, r in model.ranges.items()}
        w = rng.uniform(0.1, 5.0)
        found.append(model.at(p).response(w)[0, 0, 0] / exact(p, 1j * w))
    worst = max(found, key=lambda z: abs(z - 1.0))
    return np.array([worst.real, worst.imag])


def order(model: UncertainModel) -> int:
    """Return the largest r with D_qp^r other than zero."""
    N = model.M.D
    return max(r for r in range(len(N) + 1) if np.abs(np.linalg.matrix_power(N, r)).max() > 1e-10)
