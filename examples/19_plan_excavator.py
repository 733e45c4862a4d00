"""Caterpillar 215B: the bucket over a wall in the least time, proved by a simulation with the planned forces alone; needs the extra `data`."""

# %% The machine, and a wall across its way
import tempfile
from pathlib import Path

import numpy as np

import articulus as art
from articulus.motion import trajectory

machine = art.load("cat215b")
wall = trajectory.Rod((3.0, 0.0, 1.0), (9.0, 0.0, 1.0), radius=1.5, name="wall")
here = (0.0, 0.0, 0.0)
hulls = (
    trajectory.Hull("wrist", here, here, radius=0.4, balls=1),
    trajectory.Hull("bucket_tip", here, here, radius=0.3, balls=1),
)

ground = [trajectory.InBox(h.body, (0, 0, 4), (30, 30, 11.4)) for h in hulls]  # above -1.7 m

# %% A quarter turn; limits of the torques are those of the model, of the speeds ours
posture = {"boom": 0.0, "stick": np.radians(-60), "bucket": np.radians(-30)}
plan = trajectory.plan(
    machine,
    {"swing": np.radians(-45), **posture},
    {"swing": np.radians(45), **posture},
    duration=(0.5, 20.0),
    cost={"time": 1.0, "effort": 0.02, "acceleration": 2e-3},
    velocity_limit={"swing": 1.2, "boom": 0.8, "stick": 1.0, "bucket": 1.5},
    obstacles=[trajectory.Clear(wall, hulls, margin=0.1)],
    keep=ground,
)
print(plan)
print("at a limit:", ", ".join(f"{name} {share:.0%}" for name, share in plan.at_limits(0.1)))

# %% Proof: the machine moves as planned with these forces, and keeps clear between the points of the mesh, too
run = plan.run(track=False)
wrist = machine.pose("wrist", run.q)[:, :3, 3]
along = np.clip(wrist[:, 0], 3.0, 9.0)
clear = np.linalg.norm(wrist - np.stack([along, 0 * along, 0 * along + 1.0], axis=1), axis=1) - 1.5 - 0.4
print(f"simulated end off by {plan.end_error:.1e} rad, wrist {clear.min():.3f} m from the wall")

# %% Keep it; plan.view() shows it with the wall and the trace of the wrist
path = Path(tempfile.mkdtemp()) / "excavator.nc"
plan.save(path)
again = trajectory.load_plan(path)

assert 2.5 < plan.duration < 2.8
assert plan.end_error < 1e-3
assert abs(clear.min() - 0.1) < 5e-3  # the wall decides where the wrist passes
assert np.array_equal(again.q, plan.q)
