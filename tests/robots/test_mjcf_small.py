"""Small MJCF models against MuJoCo: joints that follow others, and the dynamics of every kind of joint."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulModel
from articulus.model.files import parse_mjcf

from .mujoco_twin import Twin

HAND = """<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="palm"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
      <body name="a" pos="0 0 0.3">
        <joint name="a" axis="0 1 0" ref="0.3" damping="0.2" stiffness="2" frictionloss="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/>
        <body name="b" pos="0.3 0 0">
          <joint name="b" axis="0 0.6 0.8" ref="-0.2" damping="0.1" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
          <body name="c" pos="0.3 0 0">
            <joint name="c" type="slide" axis="1 0 0" stiffness="5" springref="0.1"/>
            <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="one"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/><joint joint="c" coef="0.7"/></fixed>
    <fixed name="two"><joint joint="a" coef="1.5"/></fixed>
    <fixed name="three"><joint joint="b" coef="3"/></fixed>
  </tendon>
  <equality>EQUALITIES</equality>
</mujoco>"""

EQUALITIES = {
    "joint": ('<joint joint1="b" joint2="a" polycoef="0.1 -2 0 0 0"/>', 8),
    "polynomial": ('<joint joint1="b" joint2="a" polycoef="0.1 -0.5 0.3 0.2 -0.1"/>', 8),
    "chain": (
        '<joint joint1="c" joint2="b" polycoef="0 0.2 0.1 0 0"/><joint joint1="b" joint2="a" polycoef="0 0.7 0.2 0 0"/>',
        7,
    ),
    "tendon": ('<tendon tendon1="one" polycoef="0.05 0 0 0 0"/>', 8),
    "two tendons": ('<tendon tendon1="one" tendon2="two" polycoef="0.05 2 0 0 0"/>', 8),
    "bent tendons": ('<tendon tendon1="three" tendon2="two" polycoef="0.05 2 0.3 0 0"/>', 8),
}


@pytest.mark.parametrize("case", EQUALITIES)
def test_coupled_joints_keep_the_equality_and_move_as_in_mujoco(case: str) -> None:
    """To rounding: some 100 operations on numbers of size one."""
    element, nv = EQUALITIES[case]
    text = HAND.replace("EQUALITIES", element)
    arm = art.Mechanism.from_description(parse_mjcf(text, strict=True))
    assert arm.nv == nv
    twin = Twin(arm, mujoco.MjModel.from_xml_string(text))
    assert max(twin.errors(np.random.default_rng(2)).values()) < 1e-12
    mujoco.mj_forward(twin.model, twin.data)
    assert np.abs(twin.data.efc_pos[: twin.data.ne]).max() < 1e-13
    assert np.abs(twin.data.efc_vel[: twin.data.ne]).max() < 1e-12


def test_equalities_that_contradict_each_other_are_listed() -> None:
    circle = '<joint name="there" joint1="b" joint2="a"/><joint name="back" joint1="a" joint2="b"/>'
    with pytest.warns(DoubtfulModel, match="1 omitted equality"):
        d = parse_mjcf(HAND.replace("EQUALITIES", circle))
    assert [c.joint for c in d.couplings] == ["b"]
    assert "'back'" in d.findings[0].found
