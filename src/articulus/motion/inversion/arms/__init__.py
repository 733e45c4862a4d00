"""Non-causal inverse dynamics of whole mechanisms with flexible bodies: joint forces that move a tip along a path exactly."""
