"""Controllers that plan at every sample: a receding horizon by Riccati sweeps, and thousands of sampled predictions."""

# %% A two-link arm shall reach a position and stay there; what it costs, and how far the controllers look ahead
import numpy as np

import articulus as art
from articulus.motion import trajectory

arm = art.load("two_link")
goal = [1.0, 0.5]
stages = trajectory.reaching(arm, goal, step=0.02, steps=25, torque_limit=3000.0)

# %% One iteration of the Riccati solver per sample, begun with the motion of the last one
horizon = trajectory.RecedingHorizon(stages)
run = art.simulate(arm, 2.0, q0=[0.0, 0.0], controller=horizon.controller(), step=2e-3)
print(f"receding horizon: off by {np.abs(run.q[-1] - goal).max():.4f} rad; {horizon.deadlines}")

# %% 512 predictions per sample with random inputs, weighted by their costs
sampling = trajectory.PathIntegral(stages, samples=512)
other = art.simulate(arm, 2.0, q0=[0.0, 0.0], controller=sampling.controller(), step=2e-3)
print(f"path integral: off by {np.abs(other.q[-1] - goal).max():.4f} rad; {sampling.deadlines}")

# %% Checks: both arrive, the first one closely; the second one goes on trying
assert np.abs(run.q[-1] - goal).max() < 0.01
assert np.abs(other.q[-1] - goal).max() < 0.2
