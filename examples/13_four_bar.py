"""A four-bar linkage falls through its singular positions; nothing but the closing joint is said about the loop."""

# %% A tree of three links, and the joint that closes it
import numpy as np

import articulus as art

linkage = art.Mechanism("four-bar")
for name in ("crank", "coupler", "rocker"):
    linkage.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(1e-4, 1 / 12, 1 / 12))
hinge = art.Revolute(axis=(0, -1, 0))
linkage.joint("base", hinge, parent="ground", child="crank")
linkage.joint("elbow", hinge, parent="crank", child="coupler", at=(1, 0, 0))
linkage.joint("pivot", hinge, parent="ground", child="rocker", at=(1, 0, 0))
linkage.loop("pin", hinge, parent="coupler", child="rocker", at=(1, 0, 0), child_at=(1, 0, 0))

# %% The loop is closed by the least change of an estimate
found = art.assemble(linkage, guess=[1.4, -1.5, 1.6], velocity_guess=[-1, 1, -1], fixed=["base"])
print(
    "assembled at",
    found.q.round(4),
    "with",
    found.dofs,
    "degree of freedom; redundant rows:",
    found.redundant,
)

# %% Ten seconds; in its stretched positions rows of the loop become dependent
run = art.simulate(linkage, 10.0, q0=found.q, v0=found.v, step=1e-3)
print(run.summary())
turns = run.q[-1, 0] / (2 * np.pi)
print(
    f"the crank has turned {turns:.2f} times; crank and rocker stay parallel to {np.abs(run.q[:, 0] - run.q[:, 2]).max():.1e} rad"
)

# %% Checks: the loop stays closed, the energy is kept
assert run["constraint"].max() < 1e-8
assert np.abs(run["energy.balance"]).max() < 1e-5
