"""The same physics as symbols: the posture of least holding torque with the tool on a point."""

# %% Functions of the mechanism for CasADi's optimizer
import casadi as ca
import numpy as np

import articulus as art

arm = art.load("puma600")
gravity, pose = arm.function("gravity"), arm.function("pose", frames=["tool"])
print(gravity, pose)

# %% A point that can be reached, and the posture we happen to know for it
known = np.array([0.4, -0.6, 0.9, 0.2, 0.5, 0.0])
target = arm.pose("tool", known)[:3, 3]
before = arm.gravity(known)
print("known posture: torque norm", np.linalg.norm(before).round(3), "N m")

# %% Minimize the squared torque over the posture
opti = ca.Opti()
q = opti.variable(arm.nq)
tau = gravity(q)
opti.minimize(ca.sumsqr(tau) + 1e-3 * ca.sumsqr(q - known))
opti.subject_to(pose(q)[:3, 3] == target)
opti.subject_to(opti.bounded(-np.pi, q, np.pi))
opti.set_initial(q, known)
opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
best = opti.solve().value(q)

# %% Check with the compiled methods
after = arm.gravity(best)
reached = arm.pose("tool", best)[:3, 3]
print("best posture", best.round(3), "torque norm", np.linalg.norm(after).round(3), "N m")

assert np.abs(reached - target).max() < 1e-6
assert np.linalg.norm(after) < np.linalg.norm(before)
