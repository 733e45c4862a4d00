"""The shuttle's arm slews on its floating base, rigid and flexible."""
