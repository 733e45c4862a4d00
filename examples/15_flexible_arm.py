"""A flexible link in one line: a spinning blade keeps its stiffness only with the terms that the motion brings."""

# %% A beam of 8 m, in one line
import warnings

import numpy as np

import articulus as art
from articulus.structure import beam_body

blade = beam_body(8.0, EI=1.4e4, mass_per_length=1.2, modes=2, damping=0.0)
print("clamped:", (np.sqrt(np.diag(blade.stiffness)) / (2 * np.pi)).round(3), "Hz")

hub = art.Revolute(axis=(0, 0, 1))


def arm(level):
    """Return the beam on a heavy hub, with the terms of a level."""
    made = art.Mechanism(level, gravity=(0, 0, 0))
    made.flexible("blade", blade.at_level(level))
    made.joint("hub", hub, parent="ground", child="blade", armature=1e6)
    made.frame("tip", body="blade", node="tip")
    return made


# %% The frequency at speed: turning stiffens a beam; a model without shortening gets softer instead
def frequency(mechanism, speed):
    """Return the lowest frequency of bending on a hub that turns [rad/s]."""
    v = np.zeros(mechanism.nv)
    v[0] = speed
    poles = np.linalg.eigvals(mechanism.linearize(v=v).A)
    return np.abs(poles[poles.imag > 0.1]).min()


# a warning tells that this model does not know how turning stiffens it: that is what is shown here
warnings.filterwarnings("ignore", r"(?s).*angular rate of 'blade'", art.errors.DoubtfulResult)
speeds = np.array([0.0, 2.0, 4.0])
found = {level: [frequency(arm(level), w) for w in speeds] for level in ("consistent", "inconsistent")}
for level, held in found.items():
    print(f"{level:>12}: {np.round(held, 3)} rad/s at {speeds} rad/s")

# %% Without shortening the square falls by that of the speed, exactly: omega^2 - speed^2
squares = np.array(found["inconsistent"]) ** 2
np.testing.assert_allclose(squares[0] - squares, speeds**2, rtol=1e-3, atol=1e-3)

# %% At full speed the blade is struck: its free motion afterwards
mechanism = arm("consistent")
v0 = np.zeros(mechanism.nv)
v0[:2] = 4.0, 0.5
run = art.simulate(mechanism, 5.0, v0=v0, step=2e-3)
print(run.summary())

# %% Checks: stiffer with speed, and no energy is lost
assert found["consistent"][2] > found["consistent"][0] > found["inconsistent"][2]
assert np.abs(run["energy.balance"]).max() < 1e-6 * run["energy"].max()
