"""A three-link arm by hand: bodies, joints, a tool frame, and the first answers."""

# %% Build: three slender links of 0.5 m, shoulder yaw, shoulder pitch, elbow pitch
import numpy as np

import articulus as art

arm = art.Mechanism("three_link_arm")
length = 0.5
for name, mass in (("column", 8.0), ("upper", 4.0), ("fore", 2.0)):
    across, along = mass * length**2 / 12, mass * 0.04**2 / 2
    if name == "column":
        arm.body(name, mass=mass, com=(0, 0, length / 2), inertia=(across, across, along))
    else:
        arm.body(name, mass=mass, com=(length / 2, 0, 0), inertia=(along, across, across))
arm.joint("yaw", art.Revolute(axis=(0, 0, 1)), parent="ground", child="column")
arm.joint("shoulder", art.Revolute(axis=(0, -1, 0)), parent="column", child="upper", at=(0, 0, length))
arm.joint("elbow", art.Revolute(axis=(0, -1, 0)), parent="upper", child="fore", at=(length, 0, 0))
arm.frame("tool", body="fore", at=(length, 0, 0))
print(arm, arm.joint_names)

# %% Where is the tool, how does it move
q, v = np.array([0.3, 0.4, -0.9]), np.array([0.1, -0.2, 0.5])
pose = arm.pose("tool", q)
J = arm.jacobian("tool", q)
print("tool at", pose[:3, 3].round(4), "m, moves with", (J @ v)[3:].round(4), "m/s")

# %% What torque does a motion need, what motion does a torque give
vdot = np.array([1.0, 0.0, -1.0])
tau = arm.inverse_dynamics(q, v, vdot)
print("torque", tau.round(3), "N m; of it gravity", arm.gravity(q).round(3), "N m")
again = arm.forward_dynamics(q, v, tau)

# %% Checks: both directions agree, and the energy is that of the mass matrix
kinetic, potential = arm.energy(q, v)
assert np.allclose(again, vdot, rtol=1e-12)
assert np.isclose(kinetic, v @ arm.mass_matrix(q) @ v / 2)
assert np.isclose(pose[2, 3], length + length * np.sin(0.4) + length * np.sin(0.4 - 0.9))
