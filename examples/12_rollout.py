"""A thousand runs at once: which gains bring a two-link arm to rest from anywhere?"""

# %% The gain is a parameter: every run has its own, and its own initial state
import numpy as np

import articulus as art

arm = art.load("two_link")
gain = art.Parameter("gain", 500.0)
rng = np.random.default_rng(7)
runs = 1000

many = art.rollout(
    arm,
    t_end=6.0,
    q0=rng.uniform(-1, 1, (runs, 2)),
    v0=rng.uniform(-1, 1, (runs, 2)),
    controller=art.components.PD(kp=gain, kd=200.0),
    params={"gain": rng.uniform(100.0, 2000.0, runs)},
    sample=0.5,
)

# %% What became of them
at_rest = np.abs(many.v[:, -1]).max(axis=1) < 0.05
straight = np.abs(many.q[:, -1]).max(axis=1) < 0.5
print(f"{many}")
print(f"{at_rest.mean():.0%} at rest, {straight.mean():.0%} straight after {many.t[-1]:g} s")
print(f"{many.statistics['real_time_ratio']:.3g} simulated seconds per second of wall-clock time")

# %% Checks: all samples are there, every run came to its end, and most to rest
assert many.q.shape == (runs, 13, 2)
assert (many.status == art.RunStatus.COMPLETE).all()
assert at_rest.mean() > 0.9
