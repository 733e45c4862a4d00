"""A ball on a slide bounces: impacts are found between the steps, and their times are those of the closed form."""

# %% A ball that can only move up and down
import numpy as np

import articulus as art

slide = art.Mechanism("ball")
slide.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
slide.joint("height", art.Prismatic(axis=(0, 0, 1)), parent="ground", child="ball")

# %% The floor gives back 80 percent of the speed
floor = art.events.Bounce("height", at=0.0, side=-1, restitution=0.8)
run = art.simulate(slide, 3.0, q0=[1.0], events=[floor], step=0.01)

# %% Checks: times of the impacts by the closed form
first = np.sqrt(2 / 9.81)
expected = first * (1 + 2 * np.cumsum(0.8 ** np.arange(1, len(run.events))))
times = np.array([event.time for event in run.events])
print("impacts at", times.round(4), "s")
assert np.abs(times[1:] - expected).max() < 1e-9
