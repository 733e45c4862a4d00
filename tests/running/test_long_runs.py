"""Runs of mechanisms so long that energy and momentum are graphs of calls."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import articulus as art
import zoo
from articulus.dynamics.quantities import QUANTITIES, compilable

LINKS = QUANTITIES["forward_dynamics"].roll_from


@pytest.fixture(scope="module")
def chain() -> art.Mechanism:
    """Return hinges about changing axes, with springs, armatures and a mass that is a parameter."""
    mech, mass = art.Mechanism("chain"), art.Parameter("mass", 0.4)
    for i in range(LINKS):
        axis = ((0, 0, 1), (0, 1, 0), (1, 0, 0))[i % 3]
        parent = f"b{i - 1}" if i else "ground"
        mech.body(f"b{i}", mass if i == 5 else 0.3, (0.1, 0.02, 0.0), (0.002, 0.003, 0.003))
        mech.joint(
            f"j{i}", art.Revolute(axis), parent, f"b{i}", at=(0.2, 0, 0.01), stiffness=1.0, armature=0.01
        )
    return mech


def test_energy_and_momentum_of_a_run_are_those_of_its_states(chain: art.Mechanism) -> None:
    """The run calls passes, the expected numbers come from the written-out expressions; sums in another order, so 1e-12.

    With energy alone among the outputs no acceleration is solved for, and the numbers are the same.
    """
    assert all(compilable(chain.description, name).is_a("MXFunction") for name in ("energy", "momentum"))
    q0, v0 = np.random.default_rng(3).normal(size=(2, LINKS)) * 0.2
    settings = {"q0": q0, "v0": v0, "step": 0.001, "params": {"mass": 0.7}}
    run = art.simulate(chain, 0.002, **settings)
    alone = art.simulate(chain, 0.002, outputs=["energy"], **settings)
    assert np.array_equal(alone.signals["energy"].values, run.signals["energy"].values)
    for k in range(len(run.t)):
        state = run.q[k], run.v[k]
        energies = np.ravel(zoo.ask(chain, "energy", *state, params={"mass": 0.7}))
        momentum = np.ravel(zoo.ask(chain, "momentum", *state, params={"mass": 0.7}))
        np.testing.assert_allclose(run.signals["energy"].values[k, :2], energies, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(run.signals["momentum"].values[k], momentum, rtol=1e-12, atol=1e-12)


def test_a_run_imports_no_scipy() -> None:
    """SciPy takes as long to import as a short run takes to make, and beams of large deflection need it."""
    code = (
        "import sys, articulus as art; art.simulate(art.load('two_link'), 0.01); "
        "sys.exit('scipy' in sys.modules or 'articulus.simulation.exact_beams' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
