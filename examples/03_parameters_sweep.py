"""Named parameters: one model, a thousand payloads, and a derivative with respect to one of them."""

# %% A crane boom whose payload and rope length are left open
import casadi as ca
import numpy as np

import articulus as art

payload, rope = art.Parameter("payload", 200.0), art.Parameter("rope", -2.0)
crane = art.Mechanism("crane")
crane.body("boom", mass=80, com=(1.5, 0, 0), inertia=(2, 60, 61))
crane.body("load", mass=payload, com=(0, 0, rope), inertia=(1, 1, 1))
crane.joint("lift", art.Revolute(axis=(0, -1, 0)), parent="ground", child="boom")
crane.joint("swing", art.Revolute(axis=(0, -1, 0)), parent="boom", child="load", at=(3, 0, 0))
print("parameters", crane.parameters)

# %% Sweep the payload: parameters broadcast with the states
masses = np.linspace(0.1, 1000, 1000)
torque = crane.gravity([0.0, 0.0], params={"payload": masses})[:, 0]
print(f"lift torque {torque[0]:.0f} N m to {torque[-1]:.0f} N m")

# %% Sweep both at once: frequency of the pendulum on a boom that is held
lengths = np.linspace(0.5, 5, 50)[:, None]
stiffness = 9.81 * masses * lengths
inertia = crane.mass_matrix([0.0, 0.0], params={"payload": masses, "rope": -lengths})[..., 1, 1]
frequency = np.sqrt(stiffness / inertia)
print("frequencies", frequency.shape, f"from {frequency.min():.2f} to {frequency.max():.2f} rad/s")

# %% The derivative by the parameters: they are an input of the symbolic function
gravity = crane.function("gravity")
q, p = ca.SX.sym("q", crane.nq), ca.SX.sym("p", len(crane.parameters))
slope = ca.Function("slope", [q, p], [ca.jacobian(gravity(q, p), p)])
by_payload = float(slope([0, 0], list(crane.parameters.values()))[0, 0])

assert np.allclose(torque, 9.81 * (80 * 1.5 + masses * 3))
assert np.allclose(frequency, np.sqrt(stiffness / (1 + masses * lengths**2)))
assert np.isclose(by_payload, 9.81 * 3)
