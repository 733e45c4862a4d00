"""Small MJCF models, each with what one part of the reader is for; other tests may compare the dynamics on them."""

CHAIN = """<mujoco model="chain">
  <compiler angle="degree"/>
  <worldbody>
    <body name="a" pos="0 0 1" euler="10 20 30">
      <joint name="h" axis="0 1 0" pos="0.1 0 0" damping="0.1" armature="0.01"/>
      <inertial pos="0.1 0.2 0.3" quat="0.9 0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body name="b" pos="0 0 0.5" quat="0.5 0.5 0.5 -0.5">
        <joint name="s" type="slide" axis="1 1 0" range="-0.1 0.2" limited="true"/>
        <inertial pos="0 0 0.1" mass="1" fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/>
        <site name="tip" pos="0 0 0.3" euler="0 0 90"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

SPRINGS = """<mujoco model="springs">
  <compiler angle="radian"/>
  <option gravity="1 2 -3"/>
  <worldbody>
    <body name="a">
      <joint name="h" axis="0.6 0 0.8" pos="0.1 0.2 0" ref="0.3" stiffness="3" springref="0.5" damping="0.2"/>
      <geom type="capsule" size="0.1 0.3" pos="0.1 0 0.2" euler="0.3 0.2 0.1"/>
      <body name="b" pos="1 0 0">
        <joint name="s" type="slide" axis="0 0.6 0.8" ref="-0.2" stiffness="5" springref="0.1" armature="0.3"/>
        <geom type="box" size="0.1 0.2 0.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

SEVERAL = """<mujoco model="several joints on one body">
  <worldbody>
    <body name="a" pos="0 0 1" quat="0.8 0.6 0 0">
      <joint name="x" type="slide" axis="1 0 0" ref="0.3"/>
      <joint name="y" type="slide" axis="0 1 0" pos="0.1 0.2 0.3"/>
      <joint name="turn" type="hinge" axis="0 0.6 0.8" pos="0.1 0.2 0.3" ref="20"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0 0"/>
      <body name="b" pos="0.5 0 0">
        <joint name="p" axis="1 0 0"/>
        <joint name="q" axis="0 1 0" pos="0 0 0.1"/>
        <geom type="cylinder" size="0.1 0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

BALL = """<mujoco model="ball">
  <worldbody>
    <body name="a" pos="0.1 0.2 0.3" quat="0.5 0.5 0.5 0.5">
      <joint name="ball" type="ball" pos="0 0 0.2" damping="0.3" armature="0.02"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
      <body name="fixed" pos="0 0 -0.4"><geom size="0.1"/></body>
    </body>
  </worldbody>
</mujoco>"""

FREE = """<mujoco model="free">
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="hull" pos="1 2 3" quat="0.8 0 0.6 0">
      <freejoint name="float"/>
      <geom type="box" size="0.3 0.2 0.1" pos="0.05 0 0"/>
      <body name="arm" pos="0.3 0 0">
        <joint name="hinge" axis="0 1 0" pos="0 0 0.05"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

STATIC = """<mujoco model="static parts and names that meet">
  <worldbody>
    <site name="ground" pos="1 0 0"/>
    <body name="ground" pos="0 0 1">
      <geom size="0.2"/>
      <body pos="0 1 0" euler="0 90 0">
        <joint axis="0 0 1" frictionloss="0.2" actuatorfrcrange="-3 5" actuatorfrclimited="true"/>
        <geom size="0.1" pos="0 0 0.2"/>
        <site name="ground_body"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""

MODELS = {
    "chain": CHAIN,
    "springs": SPRINGS,
    "several": SEVERAL,
    "ball": BALL,
    "free": FREE,
    "static": STATIC,
}


def mujoco_position(q: object, description: object) -> object:
    """Return MuJoCo's qpos for our q: only free joints differ, whose position MuJoCo puts first."""
    import numpy as np

    out = np.array(q, dtype=float)
    for part in description.q_slices.values():  # type: ignore[attr-defined]
        if part.stop - part.start == 7:
            out[part] = np.roll(out[part], 3)
    return out
