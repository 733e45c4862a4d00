"""A hundred thousand states in one call, with the same bits as one at a time."""

# %% States: any leading axes, the last one is the coordinate
import time

import numpy as np

import articulus as art

arm = art.load("puma600")
rng = np.random.default_rng(1)
count = 100_000
q, v, tau = rng.uniform(-1, 1, (3, count, arm.nv))
arm.forward_dynamics(q[:8], v[:8], tau[:8])  # compiled here, or found in the cache

# %% One call
start = time.perf_counter()
vdot = arm.forward_dynamics(q, v, tau)
seconds = time.perf_counter() - start
print(
    f"{count} forward dynamics of {arm.nv} joints: {seconds * 1e3:.1f} ms, {seconds / count * 1e9:.0f} ns each"
)

# %% Leading axes broadcast: one torque for all states, or a grid of states
held = arm.forward_dynamics(q, v, np.zeros(arm.nv))
grid = arm.mass_matrix(q.reshape(100, 1000, arm.nq))
print("shapes", vdot.shape, held.shape, grid.shape)

# %% One thread and one state give exactly the same numbers
with art.kernel.threads(1):
    alone = arm.forward_dynamics(q, v, tau)
one = arm.forward_dynamics(q[4711], v[4711], tau[4711])

assert np.array_equal(alone, vdot)
assert np.array_equal(one, vdot[4711])
assert grid.shape == (100, 1000, 6, 6)
