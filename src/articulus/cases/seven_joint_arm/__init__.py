"""Linear model of an arm with seven revolute joints, rolls and pitches in turn."""
