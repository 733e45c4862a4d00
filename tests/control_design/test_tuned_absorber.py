"""A tuned proof mass on an oscillator against the closed form, and on a truss."""

import numpy as np
import pytest

from articulus.control.synthesis import tuned_absorber
from articulus.errors import InputError
from articulus.model.library import structure
from articulus.structure import Lumped, Spring, Structure


def oscillator():
    held = ("y", "z", "rx", "ry", "rz")
    s = Structure.assemble(
        np.zeros((1, 3)),
        [Lumped("0", 2.0), Spring("0", None, (8.0, 0, 0, 0, 0, 0))],
        names=("0",),
        fixed={"0": held},
    )
    return s.with_input("f", "0", {"x": 1.0})


def test_one_mass_is_den_hartogs_absorber():
    """Without housing: w_a = w / (1 + mu), the classical tuning; force and structure as by hand."""
    found = tuned_absorber(oscillator(), "f", 1, 0.2)
    assert found.frequency == pytest.approx(2.0 / 1.1)
    np.testing.assert_allclose(found.model.M.toarray(), np.diag([2.0, 0.2]))
    k, c = found.stiffness, found.damping
    np.testing.assert_allclose(found.model.K.toarray(), [[8.0 + k, -k], [-k, k]])
    np.testing.assert_allclose(found.model.D.toarray(), [[c, -c], [-c, c]])
    np.testing.assert_allclose(found.model.B, [[1.0, 1.0], [0.0, -1.0]])
    assert found.ratios[0] > 0.05
    assert found.ratios[1] == 0.0


def test_on_a_truss_and_what_cannot_be():
    truss = structure("minas_truss").with_input("8z", "8", {"z": 1.0})
    found = tuned_absorber(truss, "8z", 4, 0.225, 0.682)
    assert found.ratios[0] > 10 * found.ratios[1]
    with pytest.raises(InputError, match="no input '9z'"):
        tuned_absorber(truss, "9z", 4, 0.225)
    with pytest.raises(InputError, match="mode 0"):
        tuned_absorber(truss, "8z", 0, 0.225)
