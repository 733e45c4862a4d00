"""Operations are those of the instruction list, whatever the mechanism; counts grow as the algorithm says."""

from __future__ import annotations

import json
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

import articulus as art
import zoo
from articulus import cli
from articulus.errors import InputError
from articulus.parallel import Operations, count, growth, operations, published
from articulus.parallel.comparison import compare, is_serial


def test_operations_of_an_expression_written_by_hand():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    r = ca.sqrt(x * x + y * y)
    f = ca.Function("f", [x, y], [ca.sin(x) / r - ca.fmax(x, y), -2 * y + (x * x + y * y)])
    assert operations(f) == Operations(
        multiplications=3, additions=3, divisions=1, square_roots=1, sines=1, others=1
    )
    assert operations(f).total == 10
    assert str(operations(ca.Function("g", [x], [-x]))) == "nothing"


def test_time_is_the_sum_of_the_operations():
    costs = Operations(multiplications=2, additions=1, divisions=10)
    assert Operations(3, 4, 1, 5).time(costs) == 3 * 2 + 4 + 10


@pytest.mark.parametrize("seed", range(3))
def test_simplification_never_adds_operations(seed):
    arm = zoo.random_mechanism(seed, 4)
    for name in ("inverse_dynamics", "mass_matrix"):
        assert 0 < count(arm, name).total < count(arm, name, simplify=False).total


def test_counting_without_simplification_leaves_later_expressions_as_they_were():
    before = count(art.load("puma600"))
    count(art.load("puma600"), simplify=False)
    assert count(art.load("puma600")) == before
    x = ca.SX.sym("x")
    assert (x + 0).is_symbolic()


def test_growth_of_recursions_is_linear_and_of_the_matrix_quadratic():
    chains = {n: art.load("pendulum_chain", n=n) for n in range(2, 10)}
    linear = growth(lambda n: count(chains[n], "inverse_dynamics").total, chains)
    assert linear.coefficients is not None
    assert len(linear.coefficients) == 2
    square = growth(lambda n: count(chains[n], "mass_matrix").total, chains)
    assert square.coefficients is not None
    assert len(square.coefficients) == 3


@pytest.mark.parametrize("seed", range(4))
def test_growth_finds_the_polynomial_and_where_it_begins(seed):
    rng = np.random.default_rng(seed)
    c = [int(x) for x in rng.integers(-9, 10, 4)]
    c[-1] = c[-1] or 2

    def number(n: int) -> int:
        return sum(a * n**k for k, a in enumerate(c)) + (17 if n < 5 else 0)

    found = growth(number, range(2, 16))
    assert found.coefficients == tuple(map(Fraction, c))
    assert found.valid_from == 5
    assert growth(lambda n: 2**n, range(1, 9)).coefficients is None
    assert str(growth(lambda n: 2**n, range(1, 9))) == "no polynomial"


def test_text_of_growth():
    assert str(growth(lambda n: n**3 // 1 - n, range(6, 14))) == "n^3 - n"
    assert str(growth(lambda n: n * (n - 1) // 2, range(6, 14))) == "(1/2) n^2 - (1/2) n"
    assert str(growth(lambda n: 0, range(6, 14))) == "0"
    assert str(growth(lambda n: -3, range(6, 14))) == "-3"


@pytest.mark.parametrize("sizes", [[1, 2], [1, 3, 5, 7], []])
def test_growth_refuses_sizes_with_gaps(sizes):
    with pytest.raises(InputError, match="successive"):
        growth(lambda n: n, sizes)


def test_published_counts_stand_beside_serial_arms_only():
    assert is_serial(art.load("puma600"))
    for name in ("human_torso", "n_four_bar", "stewart_platform", "king_arm"):
        assert not is_serial(art.load(name)), name
    assert {row.who for row in compare(art.load("human_torso"), ("mass_matrix",))} == {"articulus"}
    rows = compare(art.load("puma600"), ("mass_matrix",))
    assert ("Walker & Orin", 741, 601) in [(r.who, r.multiplications, r.additions) for r in rows]
    assert rows[0].total < min(r.total for r in rows[1:])


def test_every_published_count_is_a_whole_number():
    for row in (*published.SERIAL, *published.PARALLEL):
        for n in range(1, 40):
            assert all(x.denominator == 1 for x in row.at(n)), (row.method, n)


def test_wrong_questions_are_refused():
    arm = art.load("puma600")
    with pytest.raises(InputError, match="no quantity 'mas_matrix'"):
        count(arm, "mas_matrix")
    with pytest.raises(InputError, match="frame"):
        count(arm, "pose", simplify=False)
    with pytest.raises(InputError, match="expected a CasADi function"):
        operations("x")  # type: ignore[arg-type]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    return end.value.code, *capsys.readouterr()


def test_command(capsys):
    code, out, _ = run(capsys, "count", "puma600", "--quantity", "mass_matrix", "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert rows[0]["who"] == "articulus"
    assert rows[0]["total"] == count(art.load("puma600"), "mass_matrix").total
    code, out, _ = run(
        capsys, "count", "pendulum_chain", "--quantity", "inverse_dynamics", "--growth", "n=2:6"
    )
    assert code == 0
    assert " n " in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("puma600", "--growth", "n"), "expected NAME=FIRST:LAST"),
        (("puma600", "--growth", "n=5:2"), "three sizes"),
        (("puma600", "--growth", "n=2:9"), "takes no arguments"),
        (("puma600", "--quantity", "torque"), "no quantity 'torque'"),
        (("nothing_like_it",), "nothing_like_it"),
    ],
)
def test_command_refuses(capsys, arguments, said):
    code, _, err = run(capsys, "count", *arguments)
    assert code == 2
    assert said in err
