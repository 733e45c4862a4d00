"""Parameters of known machines from simulated noisy records: an arm, an excavator, a flexible beam that decays."""

import warnings

import numpy as np

import articulus as art
from articulus.design import excitation, inertial_fit
from articulus.design.modal import decay_fit
from articulus.design.regression import Regression
from articulus.errors import DoubtfulResult
from articulus.study.records import Record

ROOT = 1.8751040687119611
"""First root of 1 + cos x cosh x = 0."""
LENGTH, MASS_PER_LENGTH, EI, RATIO = 1.2, 0.8, 40.0, 0.012
"""Of the beam [m, kg/m, N m^2, -], assumed."""


def recovered(name: str, seed: int) -> np.ndarray:
    """Return estimates less true values over their standard deviations, of forces with noise of 2 % of each joint's rms."""
    arm = art.load(name)
    motion = excitation(arm, 10.0, terms="damping", velocity_limit=1.0, iterations=20)
    q, v, vdot, tau = motion.at(np.linspace(0, 10, 1001))
    assert tau is not None
    noise = 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(seed).standard_normal(tau.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        found = inertial_fit(arm, q, v, vdot, tau + noise, "damping")
    return (found.values - found.base.of(Regression(arm, ("damping",)).values())) / found.deviations


def beam() -> np.ndarray:
    """Return EI and damping ratio from the decay of a beam's tip, less the true ones over their deviations."""
    body = art.structure.beam_body(LENGTH, EI=EI, mass_per_length=MASS_PER_LENGTH, modes=3, damping=RATIO)
    m = art.Mechanism("beam").flexible("beam", body)
    m.joint("root", art.Fixed(), "ground", "beam")
    q0 = np.zeros(m.nq)
    q0[0] = 2e-3  # small: large ones swing slower
    run = art.Loop(m).simulate(4.0, q0=q0, step=2e-4, sample=2e-3)
    random = np.random.default_rng(1)
    record = Record(
        "decay", run.t, {"bend": run["q"][:, 0] + 1e-5 * random.standard_normal(len(run.t))}, {"bend": "m"}
    )
    f = decay_fit(record, "bend")
    w = f.frequencies[0]
    found = (w * LENGTH**2 / ROOT**2) ** 2 * MASS_PER_LENGTH
    return np.array(
        [
            (found - EI) / (2 * found * f.frequency_deviations[0] / w),
            (f.damping[0] - RATIO) / f.damping_deviations[0],
            found,
            f.damping[0],
        ]
    )


def compute() -> dict:
    out = {}
    for name in ("puma600", "cat215b"):
        away = recovered(name, 0)
        out[f"{name}: errors over standard deviations, rms"] = np.sqrt(np.mean(away**2))
        out[f"{name}: largest error is below 4 standard deviations (1 = yes)"] = np.abs(away).max() < 4
    away = beam()
    out["beam: EI from the decay [N m^2]"] = away[2]
    out["beam: damping ratio from the decay"] = away[3]
    out["beam: errors of EI and of the damping ratio are below 4 standard deviations (1 = yes)"] = (
        np.abs(away[:2]).max() < 4
    )
    return out
