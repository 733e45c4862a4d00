"""Panels unfold and latch, come into sunlight and bend, while attitude and vibrations are controlled: four fields in one run."""

# %% A craft in orbit just before it leaves the shadow, with two flexible wings along y, folded along x
import casadi as ca
import numpy as np

import articulus as art
from articulus import spacecraft as sc
from articulus.model.mechanism import Lock
from articulus.simulation.loop import components as c
from articulus.structure import beam_body

LENGTH, EI, RHO, EPOCH = 5.0, 600.0, 2.0, "2025-03-20T09:01:00Z"  # the Sun stands along x
HEAT, LAG = 2e-4, 4.0  # curvature of a wing in full light [1/m], and its lag [s]
wing = beam_body(LENGTH, EI=EI, mass_per_length=RHO, modes=2, planes="y", damping=0.005)
craft = art.Mechanism("craft", gravity=(0, 0, 0))
craft.body("hub", 300.0, inertia=(120.0, 100.0, 120.0)).joint("flight", art.Free(), "ground", "hub")
for side, turn in (("left", np.pi / 2), ("right", -np.pi / 2)):
    craft.flexible(side, wing)
    spring = {"stiffness": 4.0, "rest": np.copysign(0.2, turn), "damping": 16.0}
    at = art.Pose((0, np.copysign(0.6, turn), 0), (0, 0, turn))
    craft.joint(f"{side}_hinge", art.Revolute((0, 0, 1)), "hub", side, at, **spring)
    craft.constrain(Lock(f"{side}_bolt", f"{side}_hinge", (0.0,)))
    for name, node in (("root", "root"), ("middle", "middle"), ("tip", "tip")):
        craft.frame(f"{side}_{name}", side, node=node)

# %% Attitude by three wheels, vibrations by patches that oppose the rate of bending, heat by the light that falls on each wing
AXES, WHEELS = np.eye(3), ("wheel_x", "wheel_y", "wheel_z")
rates = [f"{side}_{place}_gyro.rate" for side in ("left", "right") for place in ("root", "middle")]
inputs = [ca.SX.sym(f"w{k}", 3) for k in range(4)]
damp = [-20.0 * (inputs[2 * k + 1][2] - inputs[2 * k][2]) for k in range(2)]
law = ca.Function("damp", inputs, [ca.vertcat(0, 0, 0, *damp)])


sides = ("left", "right")
bend, authority = c.spacecraft.ThermalBending, art.Parameter("authority", 0.4)
heat = art.Parameter("heat", HEAT)
parts = [
    c.spacecraft.SpaceEnvironment("hub", EPOCH),
    c.CentralGravity(),
    c.spacecraft.InertialPointing(),
    *(c.RateGyro(rate.removesuffix("_gyro.rate"), name=rate.removesuffix(".rate")) for rate in rates),
    c.spacecraft.MrpFeedback("hub", stiffness=8.0, damping=90.0, name="law"),
    c.spacecraft.TorqueAllocation("law.torque", AXES, WHEELS),
    c.Expression(law, rates),
    *(c.ReactionWheel("hub", 0.05, axis, name=name) for axis, name in zip(AXES, WHEELS)),
    *(c.PiezoPair(f"{side}_root", f"{side}_middle", authority, name=f"{side}_patch") for side in sides),
    *(bend(f"{side}_root", f"{side}_tip", EI, heat, LAG, name=f"{side}_heat") for side in sides),
]
latches = [art.events.Latch(f"{side}_bolt", name=side) for side in sides]

# %% The orbit lies in the plane of the Sun, light comes half a minute after the start; runs with all, without patches, without heat
orbit = sc.Orbit(7.0e6, inclination=np.radians(23.4), anomaly=np.radians(245.7 - 1.9))
state = orbit.state()
q0, v0 = craft.neutral.copy(), np.zeros(craft.nv)
q0[4:7], v0[3:6] = state.position, state.velocity
q0[craft.description.q_slices["left_hinge"]] = -np.pi / 2
q0[craft.description.q_slices["right_hinge"]] = np.pi / 2
loop, start = art.Loop(craft, components=parts), (np.tile(q0, (3, 1)), np.tile(v0, (3, 1)))
numbers = {"authority": [0.4, 0.0, 0.4], "heat": [HEAT, HEAT, 0.0]}
given = {"method": "rk4", "step": 0.01, "sample": 0.1, "outputs": ["space.sunlight"], "params": numbers}
runs = loop.rollout(120.0, *start, events=latches, **given)
latched = [event.time for event in runs.events if event.run == 0]
light = runs.t[runs["space.sunlight"][0].ravel() > 0][0]
print(f"wings latch at {latched[0]:.2f} and {latched[1]:.2f} s, light comes at {light:.1f} s")

# %% What the patches do between latch and light, and what heat does to a wing in the end
bent = runs.q[:, :, craft.description.mode_slices("left")[1]]  # modal coordinates of the left wing
ringing = np.ptp(bent[:, (runs.t > 20) & (runs.t < light), 0], axis=1)
root, tip = (craft.pose(f"left_{place}", runs.q[[0, 2], -1]) for place in ("root", "tip"))
there = np.einsum("kij,ki->kj", root[:, :3, :3], tip[:, :3, 3] - root[:, :3, 3])[:, 1]  # tip across the wing
still = HEAT * LENGTH**2 / 2
turned = np.degrees(2 * np.linalg.norm(runs.q[:, -1, 1:4], axis=1))
print(f"vibration after the latch with patches over that without: {ringing[0] / ringing[1]:.2f}")
print(f"heat moves the tip by {1e3 * (there[0] - there[1]):.2f} mm, two of all modes of {1e3 * still:.2f} mm")
print(f"the hub is off by {turned.max():.3f} degrees")
assert runs.ok
assert len(runs.events) == 6
assert ringing[0] < 0.5 * ringing[1]
assert abs(there[0] - there[1] - still) < 0.05 * still
