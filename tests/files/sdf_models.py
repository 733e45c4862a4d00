"""SDF texts that several tests read."""

from __future__ import annotations

_FRAME = """<sdf version="1.7"><world name="w"><gravity>0 0 -9.8</gravity><model name="four bar"><pose>0 0 1 0 0 0</pose>
{links}
<joint name="a" type="revolute"><parent>world</parent><child>crank</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="b" type="revolute"><parent>crank</parent><child>coupler</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="c" type="revolute"><parent>coupler</parent><child>rocker</child><pose>.1 0 .5 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="d" type="revolute"><parent>world</parent><child>rocker</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></world></sdf>"""
_LINK = (
    '<link name="{}"><pose>{} 0 {} 0 0 0</pose><inertial><pose>{} 0 {} 0 0 0</pose><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz>'
    "</inertia></inertial></link>"
)


def _four_bar() -> str:
    links = (("crank", 0, 0, 0, 0.2), ("coupler", 0, 0.4, 0.3, 0), ("rocker", 0.5, -0.1, 0, 0.2))
    return _FRAME.format(links="".join(_LINK.format(*each) for each in links))


FOUR_BAR = _four_bar()
