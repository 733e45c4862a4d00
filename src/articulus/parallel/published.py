"""Operation counts that the literature prints, as functions of the number of joints n.

A row is one algorithm for one task on one processor or on many; `multiplications` and `additions` take n (and whatever the row says)
as a `Fraction` and are exact. Corrections of misprints are told in `note`. To add a count add a row to `SERIAL` or `PARALLEL`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

Polynomial = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class PublishedCount:
    """Operations of a published algorithm.

    Attributes
    ----------
    method : str
        Authors of the algorithm.
    task : str
        "force vector", "inertia matrix", "solver", "forward dynamics", ...
    source : str
        Where the count is printed.
    multiplications, additions : callable
        From n to the number of operations.
    note : str
        What the count leaves out, or what was corrected.
    """

    method: str
    task: str
    source: str
    multiplications: Polynomial
    additions: Polynomial
    note: str = ""

    def at(self, n: int) -> tuple[Fraction, Fraction]:
        """Return multiplications and additions for n joints."""
        size = Fraction(n)
        return self.multiplications(size), self.additions(size)


def half_up(n: Fraction) -> int:
    """Return (n + 1)/2, rounded up."""
    return -(-(n.numerator + 1) // 2)


def lg(n: Fraction | int) -> int:
    """Return the number of doublings from 1 to n or more: the logarithm to base 2, rounded up."""
    return (int(n) - 1).bit_length()


TABLE_21 = "Wong 1991, table 2.1"
TABLE_31 = "Wong 1991, table 3.1"
FORCE, INERTIA, SOLVER, ALL = "force vector", "inertia matrix", "solver", "forward dynamics"

SERIAL = (
    PublishedCount("Walker & Orin", ALL, TABLE_21,
                   lambda n: n**3 / 6 + 27 * n**2 / 2 + 577 * n / 3 - 49, lambda n: n**3 / 6 + 8 * n**2 + 1001 * n / 6 - 64),
    PublishedCount("Angeles & Ma", ALL, TABLE_21,
                   lambda n: 7 * n**3 / 6 + 21 * n**2 + 539 * n / 6 - 91, lambda n: n**3 + 16 * n**2 + 75 * n - 90),
    PublishedCount("Brandl, Johanni & Otter", ALL, TABLE_21, lambda n: 250 * n - 222, lambda n: 220 * n - 198),
    PublishedCount("Featherstone", ALL, TABLE_21, lambda n: 199 * n - 198, lambda n: 174 * n - 173, "without the force vector"),
    PublishedCount("Bae, Hwang & Haug", ALL, TABLE_21,
                   lambda n: 3 * n**2 + 186 * n - 36, lambda n: 5 * n**2 / 2 + 411 * n / 2 - 78, "without the solver"),
    PublishedCount("Wong 1991", ALL, TABLE_31,
                   lambda n: 7 * n**3 / 6 + 24 * n**2 + 311 * n / 6 - 36, lambda n: n**3 + 37 * n**2 / 2 + 81 * n / 2 - 38),
    PublishedCount("Fijany & Bejczy 1989 (articulated body)", ALL, "Fijany & Bejczy 1989, sec. 4",
                   lambda n: 380 * n - 198, lambda n: 302 * n - 173),
    PublishedCount("Angeles & Ma", FORCE, TABLE_31, lambda n: 105 * n - 99, lambda n: 90 * n - 95),
    PublishedCount("Wong 1991", FORCE, TABLE_31, lambda n: 3 * n**2 + 77 * n - 44, lambda n: 3 * n**2 + 62 * n - 43,
                   "its parts as printed add to 3 n^2 + 77 n - 46 and 3 n^2 + 63 n - 44"),
    PublishedCount("Walker & Orin", FORCE, TABLE_31, lambda n: 137 * n - 22, lambda n: 101 * n - 11),
    PublishedCount("He & Goldenberg", FORCE, TABLE_31, lambda n: 91 * n - 97, lambda n: 86 * n - 96),
    PublishedCount("Angeles & Ma", INERTIA, TABLE_31,
                   lambda n: n**3 + 39 * n**2 / 2 - 33 * n / 2 + 8, lambda n: 5 * n**3 / 6 + 29 * n**2 / 2 - 46 * n / 3 + 5),
    PublishedCount("Wong 1991", INERTIA, TABLE_31,
                   lambda n: n**3 + 39 * n**2 / 2 - 49 * n / 2 + 8, lambda n: 5 * n**3 / 6 + 29 * n**2 / 2 - 61 * n / 3 + 5),
    PublishedCount("Walker & Orin", INERTIA, TABLE_31, lambda n: 12 * n**2 + 56 * n - 27, lambda n: 7 * n**2 + 67 * n - 53),
    PublishedCount("Fijany & Bejczy 1989", INERTIA, TABLE_31,
                   lambda n: 9 * n**2 / 2 + 231 * n / 2 - 181, lambda n: 4 * n**2 + 88 * n - 137),
    PublishedCount("Lilly & Orin I", INERTIA, TABLE_31,
                   lambda n: n**3 + 22 * n**2 - 35 * n + 12, lambda n: n**3 + 15 * n**2 - 26 * n + 10),
    PublishedCount("Lilly & Orin III", INERTIA, TABLE_31,
                   lambda n: 25 * n**2 / 2 + 49 * n / 2 - 37, lambda n: 8 * n**2 + 40 * n - 48),
    PublishedCount("Angeles & Ma", SOLVER, TABLE_31,
                   lambda n: n**3 / 6 + 3 * n**2 / 2 + 4 * n / 3, lambda n: n**3 / 6 + 3 * n**2 / 2 + n / 3),
    PublishedCount("Wong 1991", SOLVER, TABLE_31,
                   lambda n: n**3 / 6 + 3 * n**2 / 2 - 2 * n / 3, lambda n: n**3 / 6 + n**2 - 7 * n / 6),
    PublishedCount("Walker & Orin", SOLVER, TABLE_31,
                   lambda n: n**3 / 6 + 3 * n**2 / 2 - 2 * n / 3, lambda n: n**3 / 6 + n**2 - 7 * n / 6),
    PublishedCount("Chen & Ou 1989", "inertia matrix and bias", "Chen & Ou 1989, table 1",
                   lambda n: 11 * n * (n - 1) + 150 * (n - 1) - 15, lambda n: 7 * n * (n - 1) + 119 * (n - 1) - 14,
                   "1075 printed for n = 6, where the formula gives 1065"),
    PublishedCount("Chou 1989 (full Jacobian)", "Newton iteration", "Chou 1989, table 1",
                   lambda n: 915 * n**3 + 196 * n**2 - 5 * n, lambda n: 915 * n**3 + 196 * n**2 - 19 * n, "n bodies on spherical joints"),
    PublishedCount("Chou 1989 (reduced)", "Newton iteration", "Chou 1989, table 1",
                   lambda n: 33 * n**3 + 129 * n**2 + 50 * n, lambda n: 25 * n**3 + 51 * n**2 + 25 * n, "n bodies on spherical joints"),
    PublishedCount("Chou 1989 (linear)", "Newton iteration", "Chou 1989, eq. 63",
                   lambda n: 657 * n - 324, lambda n: 15 * n**2 + 574 * n - 321, "n bodies on spherical joints"),
)  # fmt: skip
"""One processor, serial chains of n revolute joints if the note says nothing else."""

TABLE_48 = "Wong 1991, table 4.8"
BOTH = "inertia matrix and solver"

PARALLEL = (
    PublishedCount("Lee & Chang", INERTIA, TABLE_48,
                   lambda n: Fraction(9 * half_up(n) + 31 * lg(n) + 116), lambda n: 5 * half_up(n) + 28 * lg(n) + 3 * n + 92, "n processors, cube"),
    PublishedCount("Lee & Chang", BOTH, TABLE_48,
                   lambda n: 9 * half_up(n) + 31 * lg(n) + 7 * n + 111, lambda n: 5 * half_up(n) + 28 * lg(n) + 10 * n + 87,
                   "n (n + 1)/2 processors, mesh"),
    PublishedCount("Wong 1991", FORCE, TABLE_48, lambda n: 24 * n + 27, lambda n: 19 * n + 25, "n processors, pipe"),
    PublishedCount("Wong 1991", INERTIA, TABLE_48, lambda n: 22 * n + 24, lambda n: 22 * n + 5, "n (n + 1)/2 processors, mesh"),
    PublishedCount("Wong 1991", BOTH, TABLE_48, lambda n: 26 * n + 25, lambda n: 26 * n + 5, "n (n + 1)/2 + n processors, mesh"),
    PublishedCount("Fijany & Bejczy 1989", INERTIA, TABLE_48,
                   lambda n: Fraction(48 * lg(n) + 102), lambda n: Fraction(63 * lg(n) + 66), "n (n + 1)/2 processors, mesh"),
    PublishedCount("Fijany & Bejczy 1989", BOTH, TABLE_48,
                   lambda n: 48 * lg(n) + 7 * n + 97, lambda n: 63 * lg(n) + 7 * n + 61, "n (n + 1)/2 processors, mesh; solver 7 n - 5"),
    PublishedCount("Hwang", INERTIA, TABLE_48,
                   lambda n: 27 * lg(n) + 6 * n + 109, lambda n: 31 * lg(n) + 5 * n + 92,
                   "n processors, pipe; the parts in table 4.9 add to 89 additions instead of 92"),
    PublishedCount("Hwang", BOTH, TABLE_48,
                   lambda n: 27 * lg(n) + 13 * n + 104, lambda n: 31 * lg(n) + 12 * n + 87, "n (n + 1)/2 processors, mesh"),
    PublishedCount("Fijany & Bejczy 1989", "forward dynamics", "Fijany & Bejczy 1989, sec. 4",
                   lambda n: 3 * n + 33 * lg(n) + 248, lambda n: 2 * n + 48 * lg(n) + 171,
                   "n (n + 1)/2 processors; 238 printed where the parts add to 248"),
)  # fmt: skip
"""Many processors, as the authors count: what the busiest one does, without communication."""

MULTIPLICATION, ADDITION = Fraction(1), Fraction(1, 2)
"""Times of the processor that Wong assumes [us]."""


def time(row: PublishedCount, n: int) -> Fraction:
    """Return the time of a count for n joints on the processor of Wong 1991: 1 us a multiplication, 0.5 us an addition.

    Parameters
    ----------
    row : PublishedCount
    n : int
    """
    mul, add = row.at(n)
    return mul * MULTIPLICATION + add * ADDITION


def find(task: str, method: str = "", table: tuple[PublishedCount, ...] = SERIAL) -> list[PublishedCount]:
    """Return the published counts of a task, by all authors or by those whose name begins with `method`.

    Parameters
    ----------
    task : str
        "force vector", "inertia matrix", "solver", "forward dynamics", ...
    method : str
    table : tuple of PublishedCount
        `SERIAL` or `PARALLEL`.
    """
    return [row for row in table if row.task == task and row.method.startswith(method)]


def last_size(first: PublishedCount, rest: list[PublishedCount], sizes: range) -> int:
    """Return the largest size up to which `first` takes less time than each of the others; 0 if it never does.

    Parameters
    ----------
    first : PublishedCount
    rest : list of PublishedCount
    sizes : range
        Sizes to look at, rising.
    """
    best = 0
    for n in sizes:
        if any(time(other, n) <= time(first, n) for other in rest):
            break
        best = n
    return best


@dataclass(frozen=True)
class CountPhase:
    """A phase of Wong's inertia matrix: how often it runs for n joints, and its cost each time."""

    name: str
    times: Polynomial
    multiplications: int
    additions: int


INERTIA_PHASES = (
    CountPhase("A", lambda n: n, 4, 0),
    CountPhase("c", lambda n: (n - 2) * (n - 1) / 2, 8, 5),
    CountPhase("rho", lambda n: n * (n - 1) / 2, 8, 11),
    CountPhase("J c", lambda n: n * (n - 1) / 2, 9, 6),
    CountPhase("m (rho x c)", lambda n: n * (n - 1) / 2, 9, 3),
    CountPhase("H' H", lambda n: n**3 / 6 + n**2 / 2 - 2 * n / 3, 6, 5),
    CountPhase("H' H, terms known off line", lambda n: n * (n - 1) / 2, -1, -1),
)
"""Wong 1991, section 3.2: serial chain, n (sine, cosine) besides."""


def of_phases(phases: tuple[CountPhase, ...], n: int) -> tuple[Fraction, Fraction]:
    """Return multiplications and additions of all phases for n joints.

    Parameters
    ----------
    phases : tuple of CountPhase
    n : int
    """
    size = Fraction(n)
    return (
        sum((p.times(size) * p.multiplications for p in phases), Fraction(0)),
        sum((p.times(size) * p.additions for p in phases), Fraction(0)),
    )


CHEN_EQUATIONS = {
    "22": ((57, -33), (36, -25)),
    "24": ((8, 0), (7, -3)),
    "28": ((8, 0), (5, 0)),
    "29": ((10, 0), (6, 0)),
    "30": ((17, 0), (13, 0)),
    "31": ((6, 0), (9, 1)),
    "36": ((17, 0), (13, 0)),
    "37": ((20, 0), (19, 0)),
    "38": ((15, 3), (15, 1)),
    "40": ((0, 9), (0, 6)),
    "41": ((0, 6), (0, 6)),
}
"""Chen & Ou 1989, per equation: multiplications and additions as a (N - 1) + b; the equation 27 is besides 11 N(N-1) - 8(N-1) and 7 N(N-1) - 4(N-1)."""


def of_chen_equations(n: int) -> tuple[int, int]:
    """Return multiplications and additions of all equations of Chen & Ou 1989 for n joints.

    Parameters
    ----------
    n : int
    """
    mul = 11 * n * (n - 1) - 8 * (n - 1) + sum(m[0] * (n - 1) + m[1] for m, _ in CHEN_EQUATIONS.values())
    add = 7 * n * (n - 1) - 4 * (n - 1) + sum(a[0] * (n - 1) + a[1] for _, a in CHEN_EQUATIONS.values())
    return mul, add


def flexible_inverse_dynamics(n: int, m: int) -> tuple[int, int]:
    """Return multiplications and additions of inverse dynamics of n flexible links with m modes each (King 1988, sec. 2.8).

    Parameters
    ----------
    n, m : int
    """
    return 32 * n * m**2 + 105 * n * m + 300 * n - 93, 35 * n * m**2 + 49 * n * m + 244 * n - 91


def flexible_inertia_matrix(n: int, m: int) -> int:
    """Return the multiplications of the inertia matrix of n flexible links with m modes each (King 1988, sec. 2.8).

    Parameters
    ----------
    n, m : int

    Returns
    -------
    int
        The line of the additions is damaged in the source.
    """
    twice = (
        6 * n**2 * m**2
        + 2 * n * m**2
        + 33 * n**2 * m
        + 27 * n**2
        - 5 * m**2
        + 87 * n * m
        + 237 * n
        - 131 * m
        - 190
    )
    return twice // 2


@dataclass(frozen=True)
class ChainCount:
    """Operations of one chain of a mechanism of several (Lilly & Orin 1989, table 2): N joints, n_c constrained directions."""

    name: str
    multiplications: Callable[[Fraction, Fraction], Fraction]
    additions: Callable[[Fraction, Fraction], Fraction]


CHAIN = (
    ChainCount("open-chain accelerations", lambda N, c: 250 * N - 182, lambda N, c: 220 * N - 167),
    ChainCount("Omega, inverse of Lambda", lambda N, c: 400 * N - 621, lambda N, c: 320 * N - 528),
    ChainCount(
        "P, R",
        lambda N, c: c**3 / 6 + 13 * c**2 / 2 + 16 * c / 3 + 26,
        lambda N, c: c**3 / 6 + 6 * c**2 + 5 * c / 6 + 10,
    ),
    ChainCount("X' P, X' R", lambda N, c: 36 * c + 20, lambda N, c: 36 * c - 24),
    ChainCount("f", lambda N, c: Fraction(36), lambda N, c: Fraction(36)),
    ChainCount("joint accelerations", lambda N, c: 6 * N, lambda N, c: 6 * N),
)


CUSTOMIZED = (
    ("puma600", "inertia matrix and bias", "Chen & Ou 1989", 351, 281),
    ("puma600", "inertia matrix and bias", "Neuman & Murray, in Chen & Ou 1989", 392, 294),
    ("rrc7", "inertia matrix and bias", "Chen & Ou 1989, direct drive", 548, 439),
    ("rrc7", "inertia matrix and bias", "Chen & Ou 1989, with rotors", 651, 505),
    ("6R, twists 0 or 90 degrees", "inverse dynamics", "Chen & Ou 1989", 340, 290),
    ("6R, simpler geometry", "inverse dynamics", "Chen & Ou 1989", 245, 204),
)
"""Codes customized for one arm: arm, task, who, multiplications, additions. The first names are models of the library."""


def of_chains(
    chains: int, joints: int, constrained: int, reference: bool = True
) -> tuple[Fraction, Fraction]:
    """Return multiplications and additions of equal chains on one reference member (Lilly & Orin 1989, tables 2 and 3).

    Parameters
    ----------
    chains, joints, constrained : int
        Number of chains, joints of each, constrained directions of each contact.
    reference : bool
        Whether the acceleration of the reference member is counted: 86 multiplications, 27 m + 71 additions.
    """
    N, c = Fraction(joints), Fraction(constrained)
    mul = chains * sum((row.multiplications(N, c) for row in CHAIN), Fraction(0))
    add = chains * sum((row.additions(N, c) for row in CHAIN), Fraction(0))
    return (mul + 86, add + 27 * chains + 71) if reference else (mul, add)


def filter_break_even(continuous: bool = False) -> float:
    """Return the bandwidth, as a part of the degrees of freedom, at which second-order filtering costs as much as first-order.

    8 a^2 N^2 + 2 a N^2 + 3 N m + 4 N r = 4 N^2 + 2 N r with m = r = a N (Park 1993, part 2).

    Parameters
    ----------
    continuous : bool
        The continuous-time scheme, 5 N m + 6 N r + (r + m)^2 in place of 3 N m + 4 N r.

    Returns
    -------
    float
    """
    square, linear = (12.0, 11.0) if continuous else (8.0, 7.0)
    return (-linear + (linear**2 + 16 * square) ** 0.5) / (2 * square)
