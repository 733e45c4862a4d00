"""MX functions: calls, matrix products, rearrangements, sums folded into products."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import UnsupportedOperation
from articulus.kernel import program
from articulus.kernel.graph import Call, Elementwise, MatrixProduct, RoutineCall

from .support import run, same_bits, targets


def arrays(function: ca.Function, rows: int) -> list[np.ndarray]:
    rng = np.random.default_rng(rows)
    return [
        rng.normal(size=(rows, *program.trailing_shape(*function.size_in(k)))) for k in range(function.n_in())
    ]


def check(function: ca.Function, rows: int = 6) -> program.Program:
    """Compare every target and the public call with CasADi, and one row with the batch."""
    inputs = arrays(function, rows)
    expected = []
    for row in range(rows):
        values = function.call([ca.DM(x[row]) for x in inputs])
        expected.append([v.full() for v in values])
    for target in targets():
        outputs = run(function, [x.reshape(rows, -1) for x in inputs], target)
        for row in range(rows):
            for found, ref in zip(outputs, expected[row]):
                np.testing.assert_allclose(found[row], ref.ravel(), rtol=1e-12, atol=1e-12)
    k = kernel.compile(function)
    batch, single = k(*inputs), k(*(x[2] for x in inputs))
    batch, single = (x if isinstance(x, tuple) else (x,) for x in (batch, single))
    assert all(same_bits(many[2], np.asarray(one)) for many, one in zip(batch, single))
    return program.build(function)


@pytest.mark.parametrize(
    ("m", "k", "n"), [(11, 10, 13), (3, 100, 4), (1, 40, 30), (30, 40, 1), (12, 12, 24), (31, 30, 5)]
)
def test_products(m, k, n):
    a, b = ca.MX.sym("a", m, k), ca.MX.sym("b", k, n)
    built = check(ca.Function("f", [a, b], [a @ b]))
    assert [type(s) for s in built.steps] == [MatrixProduct]


def test_transposed_operands_cost_nothing():
    a, b = ca.MX.sym("a", 12, 11), ca.MX.sym("b", 12, 13)
    built = check(ca.Function("f", [a, b], [a.T @ b, (b.T @ a).T]))
    assert all(isinstance(s, MatrixProduct) for s in built.steps)


def test_stacked_matrices_and_their_rows_cost_nothing():
    a, b, c, d = (ca.MX.sym(name, *size) for name, size in zip("abcd", ((12, 12), (12, 9), (5, 12), (6, 17))))
    stacked = ca.vertcat(a @ b, c @ b)
    built = check(ca.Function("f", [a, b, c, d], [d @ stacked, stacked[2:14, 1::2].T @ a]))
    assert all(isinstance(s, MatrixProduct) for s in built.steps)


def test_slots_serve_again_for_matrices_of_other_sizes():
    """Of a chain of ever larger products two are alive at a time; four serve, since blocks that are free do not always fit."""
    a, b = ca.MX.sym("a", 20, 20), ca.MX.sym("b", 20, 10)
    last = b
    for _ in range(6):
        last = ca.horzcat(a @ last, a @ b[:, :3])
    built = check(ca.Function("f", [a, b], [a @ last]))
    largest = 20 * (10 + 3 * 6)
    assert built.slots <= 400 + 200 + largest + 4 * largest


@pytest.mark.parametrize(
    "make",
    [lambda p, c: -p, lambda p, c: c + p, lambda p, c: p + c, lambda p, c: c - p, lambda p, c: -p.T],
    ids=["-p", "c+p", "p+c", "c-p", "-p.T"],
)
def test_sums_fold_into_products(make):
    a, b, c = ca.MX.sym("a", 12, 12), ca.MX.sym("b", 12, 12), ca.MX.sym("c", 12, 12)
    built = check(ca.Function("f", [a, b, c], [make(a @ b, c)]))
    assert [type(s) for s in built.steps] == [MatrixProduct]


def test_a_product_used_twice_is_kept():
    a, b, c = ca.MX.sym("a", 12, 12), ca.MX.sym("b", 12, 12), ca.MX.sym("c", 12, 12)
    p = a @ b
    built = check(ca.Function("f", [a, b, c], [-p, p, p - c, ca.mac(a, p, c)]))
    assert sum(isinstance(s, MatrixProduct) for s in built.steps) == 2


def test_rearrangements_move_nothing():
    a, b = ca.MX.sym("a", 12, 12), ca.MX.sym("b", 12, 12)
    left, right = ca.horzsplit(a @ b, [0, 5, 12])
    top, bottom = ca.vertsplit(a, [0, 4, 12])
    outputs = [
        ca.horzcat(right, left),
        ca.reshape(a, 6, 24),
        ca.vertcat(bottom, top),
        b[:, 3],
        b[2:9, 4],
        a[::2, 1].T,
    ]
    check(ca.Function("f", [a, b], outputs))


def test_calls_of_sx_functions_and_products():
    x = ca.SX.sym("x", 4)
    inner = ca.Function("inner", [x], [ca.sin(x) @ ca.cos(x).T, ca.sumsqr(x)])
    q, b = ca.MX.sym("q", 4), ca.MX.sym("b", 4, 80)
    m, s = inner(q)
    built = check(ca.Function("f", [q, b], [m @ b, s * 2, ca.solve(m + 5 * ca.MX.eye(4), q, "symbolicqr")]))
    assert any(isinstance(s, MatrixProduct) for s in built.steps)


def test_a_function_called_repeatedly_is_emitted_once():
    x = ca.SX.sym("x", 6)
    y = x
    for _ in range(20):
        y = 0.3 * ca.sin(y) * x + 0.2 * ca.cos(y)
    inner = ca.Function("inner", [x], [y])
    q = ca.MX.sym("q", 6)
    value = q
    for _ in range(5):
        value = value + 0.1 * inner(value)
    built = check(ca.Function("f", [q], [value]))
    calls = [s for s in built.steps if isinstance(s, Call)]
    assert len(calls) == 5
    assert len({id(s.procedure) for s in calls}) == 1


def test_a_graph_called_repeatedly_is_emitted_once():
    """Of calls inside calls: each graph is one routine, whose inputs and outputs are matrices, full or with zeros."""
    x, y = ca.SX.sym("x", 4), ca.SX.sym("y", 4)
    leaf = ca.Function("leaf", [x, y], [ca.sin(x) * y[::-1] + 0.5, ca.dot(x, y)])
    a, b = ca.MX.sym("a", 4, 2), ca.MX.sym("b", ca.Sparsity.lower(2))
    first, one = leaf(a[:, 0], a[:, 1])
    second, two = leaf(first, a[:, 0])
    graph = ca.Function("graph", [a, b], [ca.horzcat(second, first), one * b, two])
    matrix, factor, _ = graph(a, b)
    again = ca.Function("again", [a, b], list(graph(matrix + a, factor)))
    p, q = ca.MX.sym("p", 4, 2), ca.MX.sym("q", ca.Sparsity.lower(2))
    outer, factor, total = again(p, q)
    last = again(outer, 0.5 * factor)
    built = check(ca.Function("f", [p, q], [outer + last[0], last[1], total * last[2]]), rows=30)
    runs = [s for s in built.steps if isinstance(s, RoutineCall)]
    assert len(runs) == 2
    assert runs[0].routine is runs[1].routine
    assert built.signature.instruction_count >= 2 * runs[0].operations > 0


def test_long_copies():
    """Columns of matrices in another order, more of them than are written out."""
    n = 12
    a, b = ca.MX.sym("a", n, n), ca.MX.sym("b", n, n)
    order = list(reversed(range(n)))
    stacked = ca.vertcat(a[order, :], b)
    check(ca.Function("f", [a, b], [stacked.T @ stacked[:, order], stacked[::3, :], ca.vec(a.T)]))


@pytest.mark.parametrize("n", [48, 53, 64])
def test_long_sums_are_loops(n):
    """Sums and products of long columns with each other and with a number, as in a step of RK4; the same bits in every width."""
    x = ca.SX.sym("x", n)
    slope = ca.Function("slope", [x], [x * x[::-1] + 0.5])
    q, h = ca.MX.sym("q", n), ca.MX.sym("h")
    first = slope(q)
    second = slope(q + h * first)
    function = ca.Function("f", [q, h], [q - second * h, -first, first[::-1] + second[::-1], h + second])
    built = check(function)
    assert sum(isinstance(step, Elementwise) for step in built.steps) == 6
    inputs = [x.reshape(5, -1) for x in arrays(function, 5)]
    found = [run(function, inputs, target) for target in targets() if target.fma]
    assert all(same_bits(a, b) for other in found[1:] for a, b in zip(found[0], other))


def test_constant_arguments_of_a_shared_function():
    x, k = ca.SX.sym("x", 3), ca.SX.sym("k", 2)
    inner = ca.Function("inner", [x, k], [ca.sin(x) * k[0] + k[1], ca.dot(x, x)])
    q = ca.MX.sym("q", 3)
    value, total = q, 0
    for i in range(4):
        value, square = inner(value, ca.DM([0.1 * i, 2.0 - i]))
        total = total + square
    check(ca.Function("f", [q], [value, total]))


def test_an_argument_that_is_constant_in_some_calls_only():
    x, k = ca.SX.sym("x", 3), ca.SX.sym("k", 2)
    inner = ca.Function("inner", [x, k], [ca.sin(x) * k[0] + k[1]])
    q, r = ca.MX.sym("q", 3), ca.MX.sym("r", 2)
    check(ca.Function("f", [q, r], [inner(inner(q, ca.DM([0.5, 0.25])), r), ca.MX(ca.DM([1.0, 2.0]))]))


def test_small_graphs_expand():
    a = ca.MX.sym("a", 3, 3)
    built = check(ca.Function("f", [a], [a @ a, ca.det(a), ca.trace(a), ca.norm_fro(a)]))
    assert len(built.steps) == 1


def test_sparse_operands():
    a, b = ca.MX.sym("a", ca.Sparsity.lower(5)), ca.MX.sym("b", 12, 12)
    check(ca.Function("f", [a, b], [a @ a.T, b @ b, ca.diagcat(a, a)]))


def test_elements_that_are_set_and_added():
    """Slices, slices of slices and lists of places; one place may be added to several times."""
    x, y, a = ca.MX.sym("x", 12), ca.MX.sym("y", 3), ca.MX.sym("a", 12, 12)
    listed, sliced, block = ca.MX(x), ca.MX(x), ca.MX(a)
    listed[[0, 5, 2]] = y
    sliced[1:10:3] = y
    block[2:5, 4:7] = ca.repmat(y, 1, 3)
    picked = ca.Function("picked", [x], [x[[0, 2, 2, 5, 2]]])
    twice = picked.reverse(1)(x, ca.MX(5, 1), ca.vertcat(y, y[:2]))
    check(ca.Function("f", [x, y, a], [listed, sliced, block @ a, twice]))


def test_derivatives_of_graphs_of_calls():
    """Jacobians of calls of one function, whose elements are set one by one."""
    q = ca.SX.sym("q", 3)
    turn = ca.Function("turn", [q], [ca.vertcat(ca.sin(q[0]) * q[1], q[2] * q[0], ca.cos(q[1]))])
    x = ca.MX.sym("x", 6)
    y = ca.MX(x)
    for _ in range(3):
        y = ca.vertcat(turn(y[:3]), turn(y[3:]) + y[[5, 0, 0]])
    check(ca.Function("f", [x], [ca.densify(ca.jacobian(y, x))]))


def test_unsupported_nodes_are_named():
    x, a = ca.MX.sym("x"), ca.MX.sym("a", 12, 12)
    roots = ca.rootfinder("r", "newton", {"x": x, "g": x * x - 2})
    with pytest.raises(UnsupportedOperation, match="r "):
        kernel.compile(ca.Function("f", [x], [roots(x0=x)["x"]]))
    with pytest.raises(UnsupportedOperation, match="OP_SOLVE"):
        kernel.compile(ca.Function("f", [a], [ca.solve(a @ a, a, "lapackqr")]))


def test_temporary_values_share_memory():
    a = ca.MX.sym("a", 12, 12)
    value = a
    for _ in range(5):
        value = a @ value / 5
    built = check(ca.Function("f", [a], [value]))
    assert built.slots == 144 * 4 + 1  # input, output, two matrices at a time, and the 5


def test_callbacks_are_refused():
    class Twice(ca.Callback):
        def __init__(self):
            ca.Callback.__init__(self)
            self.construct("twice")

    with pytest.raises(UnsupportedOperation, match="twice"):
        kernel.compile(Twice())


def test_operand_of_a_product_that_several_steps_write_is_not_copied():
    """Blocks of products make the operand of another product, in order and at scattered places."""
    a, b = ca.MX.sym("a", 12, 6), ca.MX.sym("b", 12, 6)
    blocks = [ca.mtimes(x, y.T) for x, y in ((a, b), (b, a))]
    places = np.random.default_rng(3).permutation(288).tolist()
    scattered = ca.reshape(ca.vertcat(*map(ca.vec, blocks))[places], 12, 24)
    check(ca.Function("scattered", [a, b], [ca.mtimes(scattered, ca.vertcat(a, b))]))
    stacked = ca.vertcat(*blocks).T
    made = check(ca.Function("stacked", [a, b], [ca.mtimes(stacked, ca.vertcat(a, b))]))
    assert all(isinstance(step, MatrixProduct) for step in made.steps)
