"""Geared motors: what their rotors do to a seven-joint arm (Chen & Ou 1989)."""

# %% The arm as it is, without rotors, and with the reflected inertia alone
import dataclasses

import numpy as np

import articulus as art

arm = art.load("rrc7")
joints = arm.description.connections


def variant(name: str, change) -> art.Mechanism:
    description = dataclasses.replace(arm.description, name=name, connections=tuple(map(change, joints)))
    return art.Mechanism.from_description(description)


direct = variant("direct", lambda c: dataclasses.replace(c, rotor=None))
reflected = variant(
    "reflected",
    lambda c: dataclasses.replace(c, rotor=None, armature=(c.rotor.ratio**2 * c.rotor.inertia,)),
)

# %% The mass matrix: mu^2 J on the diagonal, and couplings between a rotor and the joints that carry it
q = np.zeros(arm.nq)
added = arm.mass_matrix(q) - direct.mass_matrix(q)
print("diagonal", added.diagonal().round(3), "kg m^2")
print("largest coupling", np.abs(added - np.diag(added.diagonal())).max(), "kg m^2")

# %% Gyroscopic torque: a fast rotor resists when the link that carries it turns
rng = np.random.default_rng(3)
bent, v = rng.uniform(-1, 1, (2, arm.nv))
gyroscopic = arm.bias(bent, v) - direct.bias(bent, v)
print("gyroscopic", gyroscopic.round(4), "N m; an armature has none")

# %% The same torque on the first joint accelerates a geared arm much less
tau = np.zeros(arm.nv)
tau[0] = 100.0
weightless = {
    m: m.forward_dynamics(q, np.zeros(arm.nv), tau + m.gravity(q))[0] for m in (direct, arm, reflected)
}
print({m.name: round(float(a), 4) for m, a in weightless.items()}, "rad/s^2")

# %% Checks: the diagonal is mu^2 J, the energy that of the mass matrix, the accelerations those of the case gear_rotors
kinetic, _ = arm.energy(bent, v)
ratio, inertia = np.array([(c.rotor.ratio, c.rotor.inertia) for c in joints]).T

assert np.allclose(added.diagonal(), ratio**2 * inertia)
assert np.abs(gyroscopic).max() > 1e-3
assert np.allclose(reflected.bias(bent, v), direct.bias(bent, v))
assert np.isclose(kinetic, v @ arm.mass_matrix(bent) @ v / 2)
assert np.isclose(weightless[direct], 16.73, atol=0.005)
assert np.isclose(weightless[arm], 1.113, atol=0.0005)
