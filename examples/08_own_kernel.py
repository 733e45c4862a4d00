"""Any CasADi function of yours in the same native code: here a controller together with its plant."""

# %% Computed torque as an expression: M(q) (K_p e + K_d de) + bias(q, v)
import casadi as ca
import numpy as np

import articulus as art

arm = art.load("two_link")
q, v, goal = (ca.SX.sym(name, arm.nv) for name in ("q", "v", "goal"))
mass_matrix, bias = arm.function("mass_matrix"), arm.function("bias")
forward = arm.function("forward_dynamics")
tau = mass_matrix(q) @ (25 * (goal - q) - 10 * v) + bias(q, v)
vdot = forward(q, v, tau)

# %% One step of the closed loop, semi-implicit Euler, compiled
h = 0.01
v_next = v + h * vdot
loop = ca.Function(
    "loop", [q, v, goal], [q + h * v_next, v_next, tau], ["q", "v", "goal"], ["q+", "v+", "tau"]
)
step = art.kernel.compile(loop)
print(step)

# %% 1000 arms at once
rng = np.random.default_rng(2)
states, rates = rng.uniform(-1, 1, (2, 1000, arm.nv))
goals = np.array([0.5, -0.25])
for _ in range(500):
    states, rates, torque = step(states, rates, goals)
print("largest distance from the goal", np.abs(states - goals).max())

# %% For a loop with one state: fixed arrays, nothing but the native call
x, w, one_goal = np.zeros(2), np.zeros(2), goals.copy()
call = step.bind(x, w, one_goal)
for _ in range(500):
    call()
    x[:], w[:] = call.outputs[0], call.outputs[1]

assert np.abs(states - goals).max() < 1e-8
assert np.allclose(x, goals, atol=1e-8)
assert np.allclose(torque, arm.gravity(goals), atol=1e-5)
