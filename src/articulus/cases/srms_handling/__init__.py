"""The shuttle's arm carries, places and hands over a payload, and slides along a surface."""
