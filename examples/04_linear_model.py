"""From a mechanism to a regulator: a pendulum on a cart, held upright by LQR."""

# %% The mechanism
import control
import numpy as np

import articulus as art
from articulus.simulation.integrate import RK4

cart = art.Mechanism("cart_pole")
cart.body("cart", mass=1.0, inertia=(0.01, 0.01, 0.01))
cart.body("pole", mass=0.2, com=(0, 0, 0.3), inertia=(0.006, 0.006, 1e-4))
cart.joint("slide", art.Prismatic(axis=(1, 0, 0)), parent="ground", child="cart", damping=0.1)
cart.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="cart", child="pole")

# %% The linear model about the upright pole, with names; plant.to_control() is a python-control system
plant = cart.linearize(q=[0.0, 0.0])
print(plant.states, plant.inputs)
print("open-loop poles", np.sort(plant.poles.real).round(3))

# %% Only the slide has a motor: LQR on the first input
A, B = plant.A, plant.B[:, :1]
K, _, closed = control.lqr(A, B, np.diag([1.0, 10.0, 0.1, 0.1]), [[0.1]])
print("gains", K.round(2), "closed-loop poles", np.sort(closed.real).round(2))


# %% The nonlinear mechanism under that law, from 0.3 rad
def rate(t: float, x: np.ndarray) -> np.ndarray:
    q, v = x[:2], x[2:]
    tau = np.array([(-K @ x)[0], 0.0])
    return np.concatenate([v, cart.forward_dynamics(q, v, tau)])


t, x = RK4().integrate(rate, 0.0, 10.0, [0.0, 0.3, 0.0, 0.0], steps=1000)
print("pole after 10 s:", x[-1, 1], "rad")

assert plant.poles.real.max() > 1
assert closed.real.max() < -0.3
assert np.abs(x[-1]).max() < 1e-2
