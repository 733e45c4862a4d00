"""Linear models at singular positions are told as doubtful."""

import numpy as np
import pytest

import articulus as art
from articulus.cases.slider_crank.mechanism import linkage
from articulus.errors import DoubtfulResult
from articulus.simulation.solve.assembly import independent_rows

TURN = np.array([1.0, -1.0, 1.0, -1.0, 1.0])


def test_rows_that_vanish_are_dependent():
    # all bars level: three degrees of freedom instead of one (Bayo & Avello 1994, sec. 6.3); slider under the crank's pin: two
    bars, crank = art.load("n_four_bar", n=2), linkage()
    assert bars.nv - len(independent_rows(bars, np.pi / 2 * TURN)) == 3
    assert bars.nv - len(independent_rows(bars, 0.3 * TURN)) == 1
    assert crank.nv - len(independent_rows(crank, [np.pi / 2, -np.pi])) == 2
    assert art.assemble(crank, [np.pi / 2, -np.pi]).dofs == 2


def test_a_linear_model_at_a_singular_position_warns():
    bars = art.load("n_four_bar", n=2)
    with pytest.warns(DoubtfulResult, match="found 2 independent constraint rows; expected 4") as told:
        bars.linearize(np.pi / 2 * TURN)
    assert told[0].filename == __file__
    assert len(bars.linearize(0.3 * TURN).states) == 2  # and says nothing


def test_redundant_rows_are_no_singularity():
    # three equal bars that carry one beam: the third bar's rows follow from the others, but only in closed positions
    m = art.Mechanism("parallel")
    for i in range(3):
        m.body(f"bar{i}", 1.0, (0, 0, 0.5), (0.1, 0.1, 0.1))
        m.joint(f"pin{i}", art.Revolute((0, 1, 0)), "ground", f"bar{i}", at=(i, 0, 0))
    m.body("beam", 1.0, (1, 0, 0), (0.1, 0.1, 0.1))
    m.joint("knee", art.Revolute((0, 1, 0)), "bar0", "beam", at=(0, 0, 1))
    for i in (1, 2):
        m.frame(f"top{i}", f"bar{i}", at=(0, 0, 1)).frame(f"seat{i}", "beam", at=(i, 0, 0))
        m.constrain(art.PointOnPoint(f"seat{i}", f"top{i}", f"seat{i}"))
    q = np.array([-0.4 if name == "knee" else 0.4 for name in m.v_names])
    assert art.assemble(m, q).redundant
    assert len(m.linearize(q).states) == 2
