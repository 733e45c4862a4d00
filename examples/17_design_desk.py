"""Gains on sliders: a two-link arm is tuned while it moves. `python 17_design_desk.py --show` opens the page."""

# %% An arm that swings to a target and holds it; its gains and its payload stay open
import sys

import numpy as np

import articulus as art

kp, kd, payload = art.Parameter("kp", 60.0), art.Parameter("kd", 8.0), art.Parameter("payload", 1.0)
arm = art.Mechanism("arm")
arm.body("upper", mass=3.0, com=(0.4, 0, 0), inertia=(0.02, 0.2, 0.2))
arm.body("fore", mass=2.0, com=(0.3, 0, 0), inertia=(0.01, 0.1, 0.1))
arm.body("load", mass=payload, com=(0, 0, 0), inertia=(0.01, 0.01, 0.01))
arm.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="ground", child="upper")
arm.joint("elbow", art.Revolute(axis=(0, 0, 1)), parent="upper", child="fore", at=(0.8, 0, 0))
arm.joint("grip", art.Fixed(), parent="fore", child="load", at=(0.6, 0, 0))

target = [0.8, -1.2]
run = art.simulate(
    arm, 8.0, q0=[0, 0], controller=art.components.PD(kp, kd, target=target), step=1e-3, sample=0.01
)

# %% The same numbers as in the page, without a page: poles of the loop where the arm has come to rest
before = run.linearize().poles
after = run.again({"kd": 20.0}).linearize().poles


def damping(poles: np.ndarray) -> float:
    """Return the least damping ratio."""
    return float((-poles.real / np.abs(poles)).min())


print(f"damping ratio {damping(before):.2f} with kd = 8, {damping(after):.2f} with kd = 20")

# %% The desk: sliders for kp, kd and payload, with ranges of your own
if "--show" in sys.argv:
    from articulus.browser import view

    view(run, title="Tune the arm", ranges={"kp": (10, 400), "kd": (0.5, 40), "payload": (0, 10)})

# %% Checks: the PD law is a spring and a damper, M s^2 + kd s + kp = 0 about the target
M = arm.mass_matrix(target)
state = np.block([[np.zeros((2, 2)), np.eye(2)], [-60 * np.linalg.inv(M), -8 * np.linalg.inv(M)]])
expected = np.linalg.eigvals(state)
assert damping(after) > damping(before)
assert np.allclose(np.sort_complex(before), np.sort_complex(expected), rtol=1e-3)  # it still swings a little
