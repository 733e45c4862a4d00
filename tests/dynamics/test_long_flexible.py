"""Long mechanisms of rigid bodies with a flexible one become graphs of calls, as those without it do."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.dynamics.quantities import QUANTITIES, compilable
from articulus.structure import beam_body


@pytest.mark.parametrize("name", ["inverse_dynamics", "derivatives"])
def test_native_code_is_the_function(name: str) -> None:
    row = QUANTITIES[name]
    arm, links = art.Mechanism("arm"), 1 + max(row.roll_from, row.recursive_from)
    soft = beam_body(1.0, EI=50.0, mass_per_length=1.0, modes=1, elements=2)
    for i in range(links):
        parent, node = (f"link{i - 1}", "tip") if i == 1 else (f"link{i - 1}" if i else "ground", "")
        if i:
            arm.body(f"link{i}", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
        else:
            arm.flexible("link0", soft)
        arm.joint(f"joint{i}", art.Revolute(axis=(0, 0, 1)), parent=parent, child=f"link{i}", node=node)
    assert compilable(arm.description, name).is_a("MXFunction")
    q, v, tau = 0.1 * np.random.default_rng(1).normal(size=(3, arm.nv))
    function = arm.function(name)
    found, expected = getattr(arm, name)(q, v, tau), function(q, v, tau)
    pairs = zip(found, expected) if isinstance(found, tuple) else [(found, expected)]
    for ours, exact in pairs:
        exact = np.array(exact)
        np.testing.assert_allclose(
            ours, exact.reshape(ours.shape), rtol=1e-9, atol=1e-9 * np.abs(exact).max()
        )
