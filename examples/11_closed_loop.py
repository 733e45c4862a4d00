"""A PUMA 600 follows a smooth course under computed torque at 100 Hz while something pulls at its hand."""

# %% The arm, and a course of fifth order from rest to rest
import casadi as ca
import numpy as np

import articulus as art

arm = art.load("puma600")
start, goal, duration = np.zeros(6), np.array([1.0, -0.6, 0.8, 0.3, -0.4, 0.5]), 2.0

t = ca.SX.sym("t")
s = ca.fmin(t / duration, 1)
course = ca.Function(
    "course", [t], [start + (goal - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)], ["t"], ["q"]
)

# %% Computed torque, sampled; the controller does not know of the push
controller = art.components.ComputedTorque(kp=225.0, kd=30.0, target=course, period=0.01)
push = art.components.FrameWrench(arm.body_names[-1], wrench=[0, 0, 0, 0, 0, -20.0])  # 20 N downwards

# %% Three seconds, and what tells whether to trust them
run = art.simulate(arm, 3.0, q0=start, controller=controller, components=[push], step=1e-3, sample=0.01)

print(run.summary())
print("error at the end [rad]:", np.round(run.q[-1] - goal, 4))

# %% Checks: the push leaves a small error, and no energy is unaccounted for
assert np.abs(run.q[-1] - goal).max() < 0.02
assert np.abs(run["energy.balance"]).max() < 1e-3
