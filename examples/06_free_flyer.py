"""A spacecraft with an arm: nothing outside acts on it, so its momentum stays, whatever the arm does."""

# %% Free base, two-joint arm, no gravity
import numpy as np

import articulus as art

craft = art.Mechanism("craft", gravity=(0, 0, 0))
craft.body("bus", mass=50, inertia=(5, 6, 7))
craft.body("boom", mass=5, com=(0.6, 0, 0), inertia=(0.02, 0.6, 0.6))
craft.body("hand", mass=3, com=(0.4, 0, 0), inertia=(0.01, 0.2, 0.2))
craft.joint("base", art.Free(), parent="ground", child="bus")
craft.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="bus", child="boom", at=(0.5, 0, 0.2))
craft.joint("wrist", art.Revolute(axis=(0, 1, 0)), parent="boom", child="hand", at=(1.2, 0, 0))
print(craft, "nq", craft.nq, "nv", craft.nv, craft.q_names)

# %% Start: tumbling slowly; the arm's motors push, nothing pushes the base
q = craft.neutral
v = np.array([0.02, -0.01, 0.03, 0.1, 0.0, 0.0, 0.0, 0.0])
start = craft.momentum(q, v)


def motors(t: float) -> np.ndarray:
    return np.array([0.0] * 6 + [2.0 * np.cos(t), -np.sin(2 * t)])


# %% The midpoint rule: positions are advanced on their own manifold, so that the quaternion stays unit
h, steps = 0.002, 2500
for k in range(steps):
    a = craft.forward_dynamics(q, v, motors(k * h))
    q_mid, v_mid = craft.integrate_position(q, v * h / 2), v + a * h / 2
    v = v + h * craft.forward_dynamics(q_mid, v_mid, motors((k + 0.5) * h))
    q = craft.integrate_position(q, v_mid * h)

# %% The bus has turned by the motion of the arm; momentum has not changed
w, x, y, z = q[:4]
turned = np.degrees(2 * np.arccos(abs(w)))
change = np.abs(craft.momentum(q, v) - start).max()
print(f"after {steps * h:.0f} s the bus has turned by {turned:.1f} deg; momentum changed by {change:.1e}")

assert turned > 5
assert change < 1e-4
assert np.isclose(np.linalg.norm(q[:4]), 1, atol=1e-12)
