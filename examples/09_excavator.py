"""Caterpillar 215B: where its actuators hold the linkage, and with how much to spare."""

# %% The machine, its actuator limits (Wong 1991, table 5.2) and a grid of postures
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulus as art

machine = art.load("cat215b")
limit = np.array([c.limits.effort[0] for c in machine.description.connections])
boom, stick = np.meshgrid(np.radians(np.linspace(-30, 60, 181)), np.radians(np.linspace(-150, -10, 141)))
q = np.zeros((*boom.shape, machine.nq))
q[..., 1], q[..., 2], q[..., 3] = boom, stick, np.radians(-45)

# %% Gravity torque and bucket position over the whole workspace: two calls
torque = machine.gravity(q)
used = np.abs(torque) / limit
tip = machine.pose("wrist", q)[..., :3, 3]
worst = used.max(axis=-1)
print("largest share of the limit, joint by joint:", used.max(axis=(0, 1)).round(3))

# %% What the bucket can still carry at the wrist: the payload that uses up the weakest joint
unit = np.zeros((*boom.shape, 6))
unit[..., 5] = -9.81  # the weight of one kilogram
zero = np.zeros(machine.nv)
per_kilogram = machine.inverse_dynamics(q, zero, zero, wrenches={"wrist": unit}) - torque
with np.errstate(divide="ignore"):
    spare = (limit - np.sign(per_kilogram) * torque) / np.abs(per_kilogram)
payload = np.where(np.abs(per_kilogram) > 1e-9, spare, np.inf).min(axis=-1)
print(f"payload at the wrist: {payload.min():.0f} kg to {payload.max():.0f} kg")

# %% Picture
figure, axes = plt.subplots(figsize=(7, 5))
shades = axes.contourf(np.hypot(tip[..., 0], tip[..., 1]), tip[..., 2], payload / 1000, levels=20)
axes.set(xlabel="reach [m]", ylabel="height [m]", title="payload at the wrist [t]", aspect="equal")
figure.colorbar(shades)
path = Path(tempfile.mkdtemp()) / "excavator.png"
figure.savefig(path)
print("picture", path)

assert worst.max() < 1
assert np.isclose(machine.gravity(np.zeros(4))[1], 120131.298, atol=1e-3)
assert path.stat().st_size > 10_000
